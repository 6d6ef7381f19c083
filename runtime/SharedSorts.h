// SPDX-License-Identifier: Apache-2.0
/// \file
/// Keys of one long row, sorted by all threads: they are divided around keys of a sample until there is a part for each
/// thread. Integers have one order, so that the result does not depend on how they are divided.
#pragma once

#include "runtime/Parallel.h"
#include "runtime/Scratch.h"
#include "runtime/SortKernels.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

namespace toy::rt {

/// Keys that are worth a thread.
inline constexpr int64_t sharedKeys = 1 << 14;

/// Calls `f(begin, end)` for pieces of n keys, on all threads if the row is shared.
template <typename F> void piecesOf(int64_t n, bool isShared, F f) {
  if (isShared)
    parallelPieces(n, sharedKeys, f);
  else
    f(int64_t(0), n);
}

/// By all bits of a key, or by some of key - base from bit `from` on, stable.
template <typename Key> struct KeyOrder {
  Key base = 0;
  int from = 0, bits = 0;
};

template <typename Key> class SharedSort {
public:
  SharedSort(const SortKernels<Key> &kernels, KeyOrder<Key> order) : kernels(kernels), order(order) {}

  /// Sorts n keys in place; `scratch` has room for as many.
  void run(Key *keys, int64_t n, Key *scratch) const {
    std::vector<int64_t> ends = {n};
    Key *from = keys, *to = scratch;
    for (int parts = 1; parts < threads() && n / parts >= 2 * sharedKeys; parts *= 2) {
      ends = divided(from, to, ends);
      std::swap(from, to);
    }
    parallelPieces(static_cast<int64_t>(ends.size()), 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t begin = i > 0 ? ends[i - 1] : 0, count = ends[i] - begin;
        alone(from + begin, count, to + begin);
        if (from != keys)
          std::memcpy(keys + begin, from + begin, count * sizeof(Key));
      }
    });
  }

  void alone(Key *keys, int64_t n, Key *scratch) const {
    if (order.bits > 0)
      kernels.sortBits(keys, n, scratch, order.base, order.from, order.bits);
    else
      kernels.sort(keys, n, scratch);
  }

private:
  /// Copies each part of `from` as two, where keys differ, to the same place in `to`; the ends of the new parts.
  std::vector<int64_t> divided(const Key *from, Key *to, const std::vector<int64_t> &ends) const {
    std::vector<int64_t> found;
    int64_t begin = 0;
    for (int64_t end : ends) {
      const int64_t middle = begin + divide(from + begin, end - begin, to + begin);
      if (begin < middle && middle < end)
        found.push_back(middle);
      found.push_back(end);
      begin = end;
    }
    return found;
  }

  /// Threads count first, so that each knows where its own keys belong; how many are in the first part.
  int64_t divide(const Key *keys, int64_t n, Key *to) const {
    const int64_t pieces = std::clamp<int64_t>(n / (sharedKeys / 4), 1, 4 * int64_t(threads())),
                  size = (n + pieces - 1) / pieces;
    const Key pivot = middleOf(keys, n);
    auto rest = [&](int64_t i) { return std::clamp<int64_t>(n - i * size, 0, size); };
    std::vector<int64_t> lows(pieces), places(pieces + 1);
    parallelPieces(pieces, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        lows[i] = kernels.countUpTo(keys + i * size, rest(i), pivot);
    });
    for (int64_t i = 0; i < pieces; ++i)
      places[i + 1] = places[i] + lows[i];
    Key *const high = to + places[pieces];
    parallelPieces(pieces, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        kernels.divide(keys + i * size, rest(i), pivot, to + places[i], high + i * size - places[i]);
    });
    return places[pieces];
  }

  /// Of a sample, not at equal distances, which a pattern in the data might have as well.
  Key middleOf(const Key *keys, int64_t n) const {
    constexpr int64_t samples = 512;
    const int64_t step = n / samples;
    if (step == 0)
      return n > 0 ? keys[n / 2] : Key(0);
    Key sample[samples], spare[samples];
    for (int64_t i = 0; i < samples; ++i)
      sample[i] = keys[i * step + ((i * int64_t(0x9E3779B9)) & 0xFFFF) * step / 0x10000];
    kernels.sort(sample, samples, spare);
    return sample[samples / 2];
  }

  const SortKernels<Key> &kernels;
  const KeyOrder<Key> order;
};

/// Sorts n keys in place.
template <typename Key>
void sortKeys(const SortKernels<Key> &kernels, Key *keys, int64_t n, Key *scratch, KeyOrder<Key> order, bool isShared) {
  const SharedSort<Key> sort(kernels, order);
  if (isShared)
    sort.run(keys, n, scratch);
  else
    sort.alone(keys, n, scratch);
}

} // namespace toy::rt
