// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements at positions that data tells. Positions are checked some at a time, then used; nothing is stored before all
/// of them are known to be inside.
#include "runtime/ArrayOps.h"

#include "runtime/ArrayLoops.h"
#include "runtime/Error.h"
#include "runtime/Memory.h"
#include "runtime/Positions.h"
#include "runtime/Scalar.h"
#include "runtime/Scratch.h"
#include "runtime/ValueRuns.h"

#include <algorithm>
#include <cstring>

namespace toy::rt {
namespace {

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

} // namespace toy::rt
