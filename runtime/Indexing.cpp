// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements at positions that data tells. Positions are checked some at a time, then used; nothing is stored before all
/// of them are known to be inside.
#include "runtime/ArrayOps.h"

#include "runtime/ArrayLoops.h"
#include "runtime/Error.h"
#include "runtime/IntegerKernels.h"
#include "runtime/Memory.h"
#include "runtime/Scalar.h"
#include "runtime/Scratch.h"
#include "runtime/ValueRuns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace toy::rt {
namespace {

constexpr int64_t blockSize = 1 << 10, grain = 1 << 15;

/// Calls f(typed elements) of an index.
template <typename F> auto withPositions(const Tensor &index, F f) {
  switch (index.dtype) {
  case DType::U8:
    return f(index.as<uint8_t>());
  case DType::I32:
    return f(index.as<int32_t>());
  default:
    return f(index.as<int64_t>());
  }
}

const PositionKernels &positionKernels() {
  static const PositionKernels kernels = TOY_KERNELS_OF_MACHINE(positionKernels);
  return kernels;
}
template <typename P>
bool addPositions(const P *from, int64_t step, int64_t n, int64_t size, int64_t scale, int64_t *rows) {
  const PositionKernels &kernels = positionKernels();
  if constexpr (std::is_same_v<P, uint8_t>)
    return kernels.ofU8(from, step, n, size, scale, rows);
  else if constexpr (std::is_same_v<P, int32_t>)
    return kernels.ofI32(from, step, n, size, scale, rows);
  else
    return kernels.ofI64(from, step, n, size, scale, rows);
}

template <typename P> bool areInside(const P *positions, int64_t n, int64_t size) {
  const PositionKernels &kernels = positionKernels();
  if constexpr (std::is_same_v<P, uint8_t>)
    return kernels.insideU8(positions, n, size);
  else if constexpr (std::is_same_v<P, int32_t>)
    return kernels.insideI32(positions, n, size);
  else
    return kernels.insideI64(positions, n, size);
}

/// What a `take` reads or a `takeStore` writes: for each combination of positions a run of `inner` elements.
class TakePlan {
public:
  std::vector<int64_t> resultSizes;
  int64_t outer = 1, count = 1, inner = 1, indexed = 1;

  TakePlan(const Tensor &x, std::span<const Tensor *const> indices, int64_t firstAxis)
      : x(x), indices(indices), firstAxis(firstAxis) {
    size_t rank = 0;
    for (const Tensor *index : indices)
      rank = std::max<size_t>(rank, index->rank);
    middle.assign(rank, 1);
    for (const Tensor *index : indices)
      for (int64_t i = 1; i <= index->rank; ++i) {
        int64_t &known = middle[rank - i];
        known = known == 1 ? index->sizes[index->rank - i] : known;
      }
    for (int64_t size : middle)
      count *= size;
    int64_t last = firstAxis + static_cast<int64_t>(indices.size());
    for (int64_t axis = 0; axis < x.rank; ++axis)
      (axis < firstAxis ? outer : axis < last ? indexed : inner) *= x.sizes[axis];
    resultSizes.assign(x.sizes, x.sizes + firstAxis);
    resultSizes.insert(resultSizes.end(), middle.begin(), middle.end());
    resultSizes.insert(resultSizes.end(), x.sizes + last, x.sizes + x.rank);
    for (const Tensor *index : indices)
      strides.push_back(broadcastStrides(*index, middle));
  }

  /// Which rows of the indexed axes are those of positions [begin, end); whether all are inside.
  bool rows(int64_t begin, int64_t end, int64_t *to) const {
    bool inside = true;
    for (size_t k = 0; k < indices.size(); ++k)
      inside &= withPositions(*indices[k], [&](auto *positions) { return add(k, positions, begin, end, to); });
    return inside;
  }
  /// Throws for the first position that is outside: of the first index that has any.
  void failOutside() const {
    for (size_t k = 0; k < indices.size(); ++k) {
      Watch watch;
      int64_t axis = firstAxis + static_cast<int64_t>(k);
      withPositions(*indices[k], [&](auto *positions) {
        for (int64_t i = 0, n = indices[k]->count(); i < n; ++i, watch())
          checkIndex(positions[i], x.sizes[axis], axis);
      });
    }
  }
  /// All of them, checked.
  Scratch<int64_t> allRows() const {
    Scratch<int64_t> all(count);
    for (int64_t begin = 0; begin < count; begin += grain) {
      poll();
      if (!rows(begin, std::min(count, begin + grain), all.data() + begin))
        failOutside();
    }
    return all;
  }

private:
  template <typename P> bool add(size_t k, const P *positions, int64_t begin, int64_t end, int64_t *to) const {
    int64_t size = x.sizes[firstAxis + static_cast<int64_t>(k)], scale = k ? size : 0;
    if (indices[k]->count() == count) // dense
      return addPositions(positions + begin, 1, end - begin, size, scale, to);
    bool inside = true;
    int64_t line = middle.back();
    for (int64_t i = begin, next; i < end; i = next) {
      next = std::min(end, i - i % line + line);
      inside &= addPositions(positions + offsetOf(i, middle, strides[k]), strides[k].back(), next - i, size, scale,
                             to + i - begin);
    }
    return inside;
  }

  const Tensor &x;
  std::span<const Tensor *const> indices;
  int64_t firstAxis;
  std::vector<int64_t> middle; ///< broadcast sizes of the indices
  std::vector<std::vector<int64_t>> strides;
};

/// Rows of `size` bytes from positions, by copies of the row at hand.
template <typename F>
void copyRowsBy(F copy, bool isLarge, const char *from, const int64_t *rows, int64_t n, int64_t size, char *to) {
  constexpr int64_t ahead = 8;
  for (int64_t i = 0; i < n; ++i) {
    if (isLarge && i + ahead < n)
      __builtin_prefetch(from + rows[i + ahead] * size);
    copy(to + i * size, from + rows[i] * size);
  }
}
/// Runs of `inner` elements from `rows` of `all`. A copy of a few bytes that are known to be so many is a move.
template <typename E> void copyRows(const E *from, int64_t all, const int64_t *rows, int64_t n, int64_t inner, E *to) {
  constexpr int64_t cache = 1 << 20;
  if (inner == 1) {
    if (all * static_cast<int64_t>(sizeof(E)) > cache) // misses of many rows at once
      for (int64_t i = 0; i < n; ++i)
        __builtin_prefetch(from + rows[i]);
    for (int64_t i = 0; i < n; ++i)
      to[i] = from[rows[i]];
    return;
  }
  const int64_t size = inner * static_cast<int64_t>(sizeof(E));
  auto by = [&](int64_t known, auto copy) {
    copyRowsBy(copy, all * size > cache, reinterpret_cast<const char *>(from), rows, n, known,
               reinterpret_cast<char *>(to));
    return true;
  };
  auto isOf = [&](auto known) {
    return size == known() && by(known(), [](char *a, const char *b) { std::memcpy(a, b, decltype(known)::value); });
  };
  auto isUpTo = [&](auto half) { // the first and the last bytes
    auto copy = [size](char *a, const char *b) {
      constexpr int64_t part = decltype(half)::value;
      std::memcpy(a, b, part);
      std::memcpy(a + size - part, b + size - part, part);
    };
    return size > half() && size < 2 * half() && by(size, copy);
  };
  auto any = []<int64_t... sizes>(auto is, std::integer_sequence<int64_t, sizes...>) {
    return (is(std::integral_constant<int64_t, sizes>()) || ...);
  };
  using Sizes = std::integer_sequence<int64_t, 2, 4, 8, 12, 16, 24, 32, 64>;
  if (!any(isOf, Sizes()) && !any(isUpTo, std::integer_sequence<int64_t, 2, 4, 8, 16, 32, 64>()))
    by(size, [size](char *a, const char *b) { std::memcpy(a, b, size); });
}

struct TakeJob {
  const TakePlan &plan;
  const Tensor &x;
  Tensor &out;
  const int64_t *rows; ///< null: found block by block
  std::atomic<bool> outside = false;

  /// Elements of whole rows, some rows for each time that a position is read.
  template <typename E> void columns(int64_t begin, int64_t end) {
    constexpr int64_t together = 4;
    const int64_t count = plan.count, indexed = plan.indexed;
    const E *from = x.as<E>() + begin * indexed;
    E *to = out.as<E>() + begin * count;
    auto some = [&](auto number) {
      for (int64_t j = 0; j < count; ++j)
        for (int64_t row = 0; row < number(); ++row)
          to[row * count + j] = from[row * indexed + rows[j]];
      from += number() * indexed;
      to += number() * count;
    };
    int64_t row = begin;
    for (; row + together <= end; row += together)
      some(std::integral_constant<int64_t, together>());
    for (; row < end; ++row)
      some(std::integral_constant<int64_t, 1>());
  }
  template <typename E> void run(int64_t begin, int64_t end) {
    constexpr int64_t few = 256; // else rows are long enough to be copied one by one
    const int64_t first = (begin + plan.count - 1) / plan.count, last = end / plan.count;
    if (!rows || plan.inner != 1 || plan.count > few || first >= last)
      return runs<E>(begin, end);
    runs<E>(begin, first * plan.count);
    columns<E>(first, last);
    runs<E>(last * plan.count, end);
  }
  template <typename E> void runs(int64_t begin, int64_t end) {
    int64_t found[blockSize], count = plan.count, inner = plan.inner;
    for (int64_t i = begin, next; i < end; i = next) { // positions of one outer element
      int64_t first = i % count;
      next = std::min({end, i + blockSize, i - first + count});
      const int64_t *at = rows ? rows + first : found;
      if (!rows && !plan.rows(first, first + next - i, found)) {
        outside = true;
        return;
      }
      copyRows(x.as<E>() + i / count * plan.indexed * inner, plan.indexed, at, next - i, inner,
               out.as<E>() + i * inner);
    }
  }
};

} // namespace

TensorRef take(const Tensor &x, std::span<const Tensor *const> indices, int64_t firstAxis) {
  TakePlan plan(x, indices, firstAxis);
  TensorRef out(newTensor(x.dtype, plan.resultSizes));
  bool once = plan.outer == 1;
  Scratch<int64_t> rows = once ? Scratch<int64_t>(0) : plan.allRows();
  if (plan.outer == 0 || plan.count == 0 || (plan.inner == 0 && !once))
    return out;
  TakeJob job{plan, x, *out, once ? nullptr : rows.data()};
  dispatchWidth(x.dtype, [&](auto *type) {
    using E = std::remove_pointer_t<decltype(type)>;
    parallelFor(
        plan.outer * plan.count, std::max<int64_t>(1, grain / std::max<int64_t>(plan.inner, 1)),
        [](void *context, int64_t begin, int64_t end) {
          auto &job = *static_cast<TakeJob *>(context);
          int64_t step = std::max<int64_t>(1, (1 << 20) / std::max<int64_t>(job.plan.inner, 1));
          for (int64_t i = begin; i < end && !job.outside; i += step) {
            poll();
            job.run<E>(i, std::min(end, i + step));
          }
        },
        &job);
  });
  if (job.outside)
    plan.failOutside();
  return out;
}

TensorRef takeStore(TensorRef x, const Tensor &values, std::span<const Tensor *const> indices, int64_t firstAxis) {
  TakePlan plan(*x, indices, firstAxis);
  Scratch<int64_t> rows = plan.allRows();
  ValueRuns runs(values, plan.resultSizes, plan.inner);
  TensorRef out(unique(x.take()));
  dispatchWidth(out->dtype, [&](auto *type) {
    using E = std::remove_pointer_t<decltype(type)>;
    Watch watch;
    int64_t inner = plan.inner;
    for (int64_t o = 0; o < plan.outer; ++o) {
      E *to = out->as<E>() + o * plan.indexed * inner;
      for (int64_t i = 0; i < plan.count; ++i, watch(inner)) { // in order: the last of equal positions wins
        const char *from = runs.run(o * plan.count + i);
        if (inner == 1)
          to[rows.data()[i]] = *reinterpret_cast<const E *>(from);
        else
          std::memcpy(to + rows.data()[i] * inner, from, inner * sizeof(E));
      }
    }
  });
  return out;
}

namespace {

/// Lines along the last axis of an index whose positions count along `axis` of x.
class AlongPlan {
public:
  int64_t lines, line;

  AlongPlan(const Tensor &x, const Tensor &index, int64_t axis)
      : lines(1), line(index.sizes[index.rank - 1]), index(index), axis(axis), size(x.sizes[axis]), strides(x.rank, 1) {
    for (int64_t i = x.rank - 1; i > 0; --i)
      strides[i - 1] = strides[i] * x.sizes[i];
    for (int64_t i = 0; i < x.rank; ++i)
      if (i != axis && index.sizes[i] > x.sizes[i])
        fail(DiagId::BroadcastRun,
             {fmt::format("[{}]", fmt::join(index.shape(), ", ")), fmt::format("[{}]", fmt::join(x.shape(), ", "))});
    lines = line ? index.count() / line : 0;
    step = strides[axis];
    strides[axis] = 0;
    const int64_t all = size * sizeOf(x.dtype); // bytes of a column's elements, each in a cache line of its own
    const int64_t row = step > 1 && all * line > nearCache ? reach() * sizeOf(x.dtype) : all;
    if (step > 1 && row * line > nearCache)
      width = std::clamp<int64_t>(nearCache / std::max<int64_t>(row, 1), 16, blockSize);
  }
  /// Offsets in x, from the one returned on, of `n` elements of a line from element j on.
  int64_t offsets(int64_t number, int64_t j, int64_t n, int64_t *to, bool &inside) const {
    int64_t base = lineOffset(number);
    inside &= withPositions(
        index, [&](auto *positions) { return addPositions(positions + number * line + j, 1, n, size, 0, to); });
    if (step > 1)
      for (int64_t i = 0; i < n; ++i)
        to[i] = to[i] * step + i * strides.back();
    return base + j * strides.back();
  }
  /// Tiles of columns pay where many lines read from them.
  int64_t linesOfPiece() const {
    return std::max<int64_t>(1, (width < blockSize ? grain << 5 : grain) / std::max<int64_t>(line, 1));
  }
  /// The elements at the positions of some lines; false if one is outside.
  template <typename E> bool take(int64_t begin, int64_t end, const E *x, E *out) const {
    return withPositions(index, [&](auto *positions) {
      return step == 1 && strides.back() == 0 ? take<true>(begin, end, positions, x, out)
                                              : take<false>(begin, end, positions, x, out);
    });
  }
  /// Whether all positions are inside, and none is counted from the end.
  bool allInside() const {
    return withPositions(index, [&](auto *positions) {
      Watch watch;
      for (int64_t number = 0; number < lines; ++number) {
        watch(line);
        if (!areInside(positions + number * line, line, size))
          return false;
      }
      return true;
    });
  }
  void failOutside() const {
    Watch watch;
    withPositions(index, [&](auto *positions) {
      for (int64_t i = 0, n = index.count(); i < n; ++i, watch())
        checkIndex(positions[i], size, axis);
    });
  }
  /// f(first element of the index, how many, where in x, offsets from there) for the blocks of some lines, those of a
  /// column in order; false if one is outside.
  template <typename F> bool each(int64_t begin, int64_t end, F f) const {
    int64_t found[blockSize];
    Watch watch;
    for (int64_t j = 0; j < line; j += width)
      for (int64_t number = begin; number < end; ++number) {
        int64_t n = std::min(width, line - j);
        watch(n);
        bool inside = true;
        if (width < blockSize && number + 2 < end)
          withPositions(index, [&](auto *positions) { fetchAhead(positions + number * line + j, n); });
        int64_t base = offsets(number, j, n, found, inside);
        if (!inside)
          return false;
        f(number * line + j, n, base, found);
      }
    return true;
  }

private:
  /// How many elements of a column positions most probably are among: some of them are looked at.
  int64_t reach() const {
    constexpr int64_t samples = 256;
    return withPositions(index, [&](auto *positions) {
      int64_t least = size - 1, greatest = 0;
      for (int64_t i = 0, n = index.count(), next = n / samples + 1; i < n; i += next) {
        const int64_t at = positions[i] < 0 ? positions[i] + size : positions[i];
        least = std::min(least, at);
        greatest = std::max(greatest, at);
      }
      return std::clamp<int64_t>(greatest - least + 1, 1, size);
    });
  }
  /// Where the line begins.
  int64_t lineOffset(int64_t number) const {
    return index.rank == 2 ? number * strides[0] : offsetOf(number, index.shape().first(index.rank - 1), strides);
  }
  template <bool isLast, typename P, typename E>
  bool take(int64_t begin, int64_t end, const P *positions, const E *x, E *out) const {
    const int64_t width = std::min(this->width, blockSize), next = strides.back();
    Watch watch;
    for (int64_t j = 0; j < line; j += width)
      for (int64_t number = begin; number < end; ++number) {
        const int64_t n = std::min(width, line - j), first = number * line + j;
        watch(n);
        if (width < blockSize && number + 2 < end) {
          fetchAhead(positions + first, n);
          fetchAhead(out + first, n);
        }
        const E *from = x + lineOffset(number) + j * next;
        if (!takeSome<isLast>(positions + first, n, from, out + first))
          return false;
      }
    return true;
  }
  /// Of tiles, whose lines are too short for the processor to foresee the next one: what lies two lines further.
  template <typename T> void fetchAhead(const T *from, int64_t n) const {
    const auto *bytes = reinterpret_cast<const char *>(from + 2 * line);
    for (int64_t i = 0, size = n * static_cast<int64_t>(sizeof(T)); i < size; i += 64)
      __builtin_prefetch(bytes + i);
  }
  /// Positions that all are inside, as they mostly are, need no check of their own.
  template <bool isLast, typename P, typename E>
  bool takeSome(const P *positions, int64_t n, const E *from, E *to) const {
    const int64_t next = strides.back();
    auto element = [&](int64_t i, int64_t at) { return isLast ? from[at] : from[at * step + i * next]; };
    constexpr int64_t few = 48; // for which the call costs more
    if (n >= few && areInside(positions, n, size)) {
#pragma clang loop unroll_count(4)
      for (int64_t i = 0; i < n; ++i)
        to[i] = element(i, positions[i]);
      return true;
    }
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = positions[i];
      at += (at >> 63) & size;
      if (static_cast<uint64_t>(at) >= static_cast<uint64_t>(size))
        return false;
      to[i] = element(i, at);
    }
    return true;
  }

  const Tensor &index;
  /// Positions along another axis than the last jump from row to row: as many columns go together as stay in the cache.
  static constexpr int64_t nearCache = 1 << 18;
  int64_t axis, size, step, width = blockSize;
  std::vector<int64_t> strides; ///< 0 for the axis
};

struct AlongJob {
  const AlongPlan &plan;
  const Tensor &x;
  Tensor &out;
  std::atomic<bool> outside = false;
};

} // namespace

TensorRef takeAlong(const Tensor &x, const Tensor &index, int64_t axis) {
  TensorRef out(newTensor(x.dtype, index.shape()));
  AlongPlan plan(x, index, axis);
  AlongJob job{plan, x, *out};
  dispatchWidth(x.dtype, [&](auto *type) {
    using E = std::remove_pointer_t<decltype(type)>;
    parallelFor(
        plan.lines, plan.linesOfPiece(),
        [](void *context, int64_t begin, int64_t end) {
          auto &job = *static_cast<AlongJob *>(context);
          if (!job.plan.take(begin, end, job.x.as<E>(), job.out.as<E>()))
            job.outside = true;
        },
        &job);
  });
  if (job.outside)
    plan.failOutside();
  return out;
}

TensorRef putAlong(TensorRef x, const Tensor &index, const Tensor &values, int64_t axis) {
  AlongPlan plan(*x, index, axis);
  if (!plan.allInside() && !plan.each(0, plan.lines, [](int64_t, int64_t, int64_t, const int64_t *) {}))
    plan.failOutside();
  TensorRef out(unique(x.take()));
  dispatchWidth(out->dtype, [&](auto *type) {
    using E = std::remove_pointer_t<decltype(type)>;
    plan.each(0, plan.lines, [&](int64_t first, int64_t n, int64_t base, const int64_t *offsets) {
      E *to = out->as<E>() + base;
      const E *from = values.as<E>() + first;
      for (int64_t i = 0; i < n; ++i) // in order: the last of equal positions wins
        to[offsets[i]] = from[i];
    });
  });
  return out;
}

} // namespace toy::rt
