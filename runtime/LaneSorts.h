// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows that are longer than those of ShortSorts.h are sorted a row a lane as well, in memory: by Batcher's merge
/// exchange (D. E. Knuth: The Art of Computer Programming, volume 3, algorithm 5.2.2M), for any number of keys.
#pragma once

#include "runtime/ShortSorts.h"

namespace toy::rt {
namespace {

/// As many rows as there are lanes, of up to `longestRowInLanes` values of type T, of which keys are made.
template <typename Key, typename T, bool floats, bool positions> struct LaneRows {
  static constexpr int laneCount = lanes<Key>;
  using V = Lanes<Key>;
  using Values = T __attribute__((ext_vector_type(laneCount)));
  using R = decltype([] {
    if constexpr (positions)
      return int64_t();
    else
      return T();
  }());
  using Results = R __attribute__((ext_vector_type(laneCount)));
  V key[longestRowInLanes], place[positions ? longestRowInLanes : 1];

  // ---- between rows and lanes

  template <int H, int... I> static void swapHalves(V &a, V &b, Indices<I...>) {
    V low = __builtin_shufflevector(a, b, (I & H ? laneCount + I - H : I)...);
    b = __builtin_shufflevector(a, b, (I & H ? laneCount + I : I + H)...);
    a = low;
  }
  template <int H> static void transpose(V *block) {
    if constexpr (H > 0) {
      forEach<laneCount>([&](auto i) {
        if constexpr ((i.value & H) == 0)
          swapHalves<H>(block[i.value], block[i.value + H], UpTo<laneCount>());
      });
      transpose<H / 2>(block);
    }
  }
  static V loaded(const T *from, int64_t count) {
    Values values = {};
    if (count >= laneCount)
      __builtin_memcpy(&values, from, sizeof values);
    else
      for (int64_t i = 0; i < count; ++i)
        values[i] = from[i];
    return __builtin_convertvector(values, V);
  }
  static void put(V v, R *to, int64_t count) {
    auto results = __builtin_convertvector(v, Results);
    if (count >= laneCount)
      __builtin_memcpy(to, &results, sizeof results);
    else
      for (int64_t i = 0; i < count; ++i)
        to[i] = results[i];
  }
  /// The columns of a block of rows that begins at `column`; the last block ends where rows end, if they are that long.
  static int64_t columnOf(int64_t block, int64_t n) {
    const int64_t column = block * laneCount;
    return n > laneCount && column + laneCount > n ? n - laneCount : column;
  }
  static int64_t blocksOf(int64_t n) { return (n + laneCount - 1) / laneCount; }
  /// `here` dense rows; `left` values are left from the first on. Lanes beyond them get the first row.
  void loadDense(const T *from, int64_t n, int64_t here, int64_t left) {
    for (int64_t block = 0; block < blocksOf(n); ++block) {
      const int64_t column = columnOf(block, n);
      V rows[laneCount];
      for (int64_t i = 0; i < laneCount; ++i) {
        const int64_t at = (i < here ? i : 0) * n + column; // of shorter rows the next one's values come along
        rows[i] = loaded(from + at, left - at < laneCount ? left - at : laneCount);
      }
      transpose<laneCount / 2>(rows);
      for (int64_t k = 0; k < laneCount && column + k < n; ++k)
        key[column + k] = rows[k];
    }
  }
  void storeDense(const V *from, R *to, int64_t n, int64_t here) const {
    for (int64_t block = 0; block < blocksOf(n); ++block) {
      const int64_t column = columnOf(block, n);
      V rows[laneCount] = {};
      for (int64_t k = 0; k < laneCount && column + k < n; ++k)
        rows[k] = from[column + k];
      transpose<laneCount / 2>(rows);
      for (int64_t i = 0; i < here; ++i) { // what a shorter row has too much the next one writes over
        const int64_t room = (here - i) * n;
        put(rows[i], to + i * n + column, n >= laneCount || room >= laneCount ? laneCount : room);
      }
    }
  }

  // ---- keys

  /// Whether the keys tell all: not of -0 and NaN, whose bits are to be found again, unless places are wanted.
  bool makeKeys(int64_t n, bool descending) {
    constexpr Key sign = -greatestKey<Key> - 1;
    constexpr Key infinite = sizeof(Key) == 4 ? Key(0x7f800000) : Key(0x7ff0000000000000);
    V special = {};
    const Key flip = descending ? -1 : 0;
    for (int64_t k = 0; k < n; ++k) {
      V x = key[k];
      if constexpr (floats) {
        V isNan = (x & greatestKey<Key>) > infinite, isNegativeZero = x == sign;
        special |= isNan | isNegativeZero;
        V ordered = isNegativeZero ? V(Key(0)) : x ^ ((x >> (width<Key> - 1)) & greatestKey<Key>);
        key[k] = isNan ? V(greatestKey<Key>) : ordered ^ flip;
      } else
        key[k] = x ^ flip;
      if constexpr (positions)
        place[k] = V(static_cast<Key>(k));
    }
    return positions || __builtin_reduce_or(special) == 0;
  }
  void makeValues(int64_t n, bool descending) {
    const Key flip = descending ? -1 : 0;
    for (int64_t k = 0; k < n; ++k) {
      V x = key[k] ^ flip;
      key[k] = floats ? x ^ ((x >> (width<Key> - 1)) & greatestKey<Key>) : x;
    }
  }

  // ---- the network

  void exchange(int64_t i, int64_t j) {
    V a = key[i], b = key[j];
    if constexpr (positions) {
      V p = place[i], q = place[j], swap = (a > b) | ((a == b) & (p > q));
      key[i] = swap ? b : a;
      key[j] = swap ? a : b;
      place[i] = swap ? q : p;
      place[j] = swap ? p : q;
    } else {
      key[i] = __builtin_elementwise_min(a, b);
      key[j] = __builtin_elementwise_max(a, b);
    }
  }
  void sort(int64_t n) {
    int64_t top = 1;
    while (2 * top < n)
      top *= 2;
    for (int64_t p = top; p > 0; p /= 2)
      for (int64_t q = top, r = 0, d = p;; d = q - p, q /= 2, r = p) {
        for (int64_t run = r; run + d < n; run += 2 * p)
          for (int64_t i = run; i < run + p && i + d < n; ++i)
            exchange(i, i + d);
        if (q == p)
          break;
      }
  }
};

template <typename Key, typename T, bool floats, bool positions, typename R>
[[gnu::noinline]] int64_t laneRows(const T *values, R *to, int64_t n, int64_t stride, int64_t rows, bool descending) {
  using Some = LaneRows<Key, T, floats, positions>;
  constexpr int64_t laneCount = Some::laneCount;
  Some some;
  for (int64_t first = 0; first < rows; first += laneCount) {
    const int64_t here = rows - first < laneCount ? rows - first : laneCount;
    if (stride == 1)
      some.loadDense(values + first * n, n, here, (rows - first) * n);
    else
      for (int64_t k = 0; k < n; ++k)
        some.key[k] = Some::loaded(values + k * stride + first, here);
    if (!some.makeKeys(n, descending))
      return first;
    some.sort(n);
    if constexpr (!positions)
      some.makeValues(n, descending);
    const auto *sorted = positions ? some.place : some.key;
    if (stride == 1)
      some.storeDense(sorted, to + first * n, n, here);
    else
      for (int64_t k = 0; k < n; ++k)
        Some::put(sorted[k], to + k * stride + first, here);
  }
  return rows;
}

} // namespace
} // namespace toy::rt
