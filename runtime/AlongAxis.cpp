// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements at positions along one axis, others for each line of the index.
#include "runtime/ArrayOps.h"

#include "runtime/ArrayLoops.h"
#include "runtime/Error.h"
#include "runtime/Memory.h"
#include "runtime/Positions.h"
#include "runtime/Scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace toy::rt {
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
    std::atomic<bool> inside = true;
    withPositions(index, [&](auto *positions) {
      parallelPieces(lines, std::max<int64_t>(1, grain / std::max<int64_t>(line, 1)), [&](int64_t begin, int64_t end) {
        Watch watch;
        for (int64_t number = begin; number < end && inside; ++number) {
          watch(line);
          if (!areInside(positions + number * line, line, size))
            inside = false;
        }
      });
    });
    return inside;
  }
  void failOutside() const {
    Watch watch;
    withPositions(index, [&](auto *positions) {
      for (int64_t i = 0, n = index.count(); i < n; ++i, watch())
        checkIndex(positions[i], size, axis);
    });
  }
  /// A rectangle of the index: some lines, and of each some elements.
  struct Range {
    int64_t begin, end, from, to;
  };
  Range all() const { return {0, lines, 0, line}; }
  /// f(first element of the index, how many, where in x, offsets from there) for the blocks of a range, those of a
  /// column in order; false if one is outside.
  template <typename F> bool each(Range range, F f) const {
    int64_t found[blockSize];
    Watch watch;
    for (int64_t j = range.from, end = range.end; j < range.to; j += width)
      for (int64_t number = range.begin; number < end; ++number) {
        int64_t n = std::min(width, range.to - j);
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
  /// The same of all, on all threads, where all positions are inside. No two threads meet one element of x: lines along
  /// the axis, or the columns of the others, have their own.
  template <typename F> void eachApart(F f) const {
    constexpr int64_t columns = 64;
    if (step == 1 && strides.back() == 0)
      parallelPieces(lines, std::max<int64_t>(1, grain / std::max<int64_t>(line, 1)),
                     [&](int64_t begin, int64_t end) { each({begin, end, 0, line}, f); });
    else
      parallelPieces(
          (line + columns - 1) / columns, std::max<int64_t>(1, grain / columns / std::max<int64_t>(lines, 1)),
          [&](int64_t begin, int64_t end) { each({0, lines, begin * columns, std::min(line, end * columns)}, f); });
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
  if (!plan.allInside() && !plan.each(plan.all(), [](int64_t, int64_t, int64_t, const int64_t *) {}))
    plan.failOutside();
  TensorRef out(unique(x.take()));
  dispatchWidth(out->dtype, [&](auto *type) {
    using E = std::remove_pointer_t<decltype(type)>;
    plan.eachApart([&](int64_t first, int64_t n, int64_t base, const int64_t *offsets) {
      E *to = out->as<E>() + base;
      const E *from = values.as<E>() + first;
      for (int64_t i = 0; i < n; ++i) // in order: the last of equal positions wins
        to[offsets[i]] = from[i];
    });
  });
  return out;
}

} // namespace toy::rt
