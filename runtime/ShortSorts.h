// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of a few values are sorted a row a lane; and what sorting in lanes is made of (runtime/SortKernels.cpp).
#pragma once

#include "runtime/KernelVectors.h"
#include "runtime/SortKernels.h"

namespace toy::rt {
namespace {

template <typename Key> constexpr int lanes = registerLanes<Key>;
template <typename Key> using Lanes = Key __attribute__((ext_vector_type(lanes<Key>)));
template <typename Key> struct UnsignedOf;
template <> struct UnsignedOf<int32_t> {
  using Type = uint32_t;
};
template <> struct UnsignedOf<int64_t> {
  using Type = uint64_t;
};
template <typename Key> constexpr int width = 8 * sizeof(Key);
template <typename Key>
constexpr Key greatestKey = static_cast<Key>(~(typename UnsignedOf<Key>::Type(1) << (width<Key> - 1)));

template <int... I> struct Indices {};
template <int N, int... I> struct Count : Count<N - 1, N - 1, I...> {};
template <int... I> struct Count<0, I...> {
  using Type = Indices<I...>;
};
template <int N> using UpTo = typename Count<N>::Type;
/// f(I) for every I below N, each known where it is compiled.
template <int I> struct Known {
  static constexpr int value = I;
};
template <typename F, int... I> [[gnu::always_inline]] inline void each(Indices<I...>, F &&f) { (f(Known<I>()), ...); }
template <int N, typename F> [[gnu::always_inline]] inline void forEach(F &&f) { each(UpTo<N>(), f); }

/// As many rows as there are lanes, of N values each: neighbours are exchanged where the first is greater, or NaN and
/// the other is none, so that equal values stay in order.
template <typename Key, int N, bool floats, bool positions> struct ShortRows {
  static constexpr int laneCount = lanes<Key>;
  using V = Lanes<Key>;
  using Float = decltype([] {
    if constexpr (sizeof(Key) == 4)
      return 0.0F;
    else
      return 0.0;
  }());
  using Floats = Float __attribute__((ext_vector_type(laneCount)));
  using All = Key __attribute__((ext_vector_type(laneCount * N)));
  static constexpr int64_t bytes = sizeof(V) * N; ///< of a vector of all, which may be followed by nothing
  V value[N], place[N];

  template <int K, int... I> [[gnu::always_inline]] static V column(All all, Indices<I...>) {
    return __builtin_shufflevector(all, all, (K + I * N)...);
  }
  template <int... I> [[gnu::always_inline]] static All together(All columns, Indices<I...>) {
    return __builtin_shufflevector(columns, columns, (I % N * laneCount + I / N)...);
  }
  [[gnu::always_inline]] static V isAbove(V a, V b) {
    if constexpr (floats) {
      auto x = __builtin_bit_cast(Floats, a), y = __builtin_bit_cast(Floats, b);
      return ~(x <= y) & (y == y);
    } else
      return a > b;
  }
  template <int A> [[gnu::always_inline]] void exchange() {
    V swap = isAbove(value[A], value[A + 1]), low = swap ? value[A + 1] : value[A];
    value[A + 1] = swap ? value[A] : value[A + 1];
    value[A] = low;
    if constexpr (positions) {
      V first = swap ? place[A + 1] : place[A];
      place[A + 1] = swap ? place[A] : place[A + 1];
      place[A] = first;
    }
  }
  /// N rounds of neighbours, from even and odd places in turn.
  [[gnu::always_inline]] void sort(Key flip) {
    forEach<N>([&](auto i) {
      value[i.value] ^= flip;
      place[i.value] = i.value;
    });
    forEach<N>([&](auto round) {
      forEach<N / 2>([&](auto i) {
        constexpr int a = 2 * i.value + round.value % 2;
        if constexpr (a + 1 < N)
          exchange<a>();
      });
    });
    forEach<N>([&](auto i) { value[i.value] ^= flip; });
  }
  template <typename R> [[gnu::always_inline]] static void put(V v, R *to) {
    if constexpr (positions && sizeof(Key) == 4) {
      using Wide = int64_t __attribute__((ext_vector_type(laneCount)));
      auto wide = __builtin_convertvector(v, Wide);
      __builtin_memcpy(to, &wide, sizeof wide);
    } else
      __builtin_memcpy(to, &v, sizeof v);
  }
  template <typename R> [[gnu::always_inline]] void dense(const Key *from, R *to, Key flip) {
    All all;
    __builtin_memcpy(&all, from, bytes);
    forEach<N>([&](auto k) { value[k.value] = column<k.value>(all, UpTo<laneCount>()); });
    sort(flip);
    __builtin_memcpy(&all, positions ? place : value, bytes);
    all = together(all, UpTo<laneCount * N>());
    V parts[N];
    __builtin_memcpy(parts, &all, bytes);
    forEach<N>([&](auto k) { put(parts[k.value], to + k.value * laneCount); });
  }
  template <typename R> [[gnu::always_inline]] void apart(const Key *from, R *to, int64_t stride, Key flip) {
    forEach<N>([&](auto k) { __builtin_memcpy(&value[k.value], from + k.value * stride, sizeof(V)); });
    sort(flip);
    forEach<N>([&](auto k) { put(positions ? place[k.value] : value[k.value], to + k.value * stride); });
  }
};

template <typename Key, int N, bool floats, bool positions, typename R>
[[gnu::noinline]] void shortRowsOf(const Key *values, R *to, int64_t stride, int64_t rows, Key flip) {
  constexpr int64_t laneCount = lanes<Key>;
  ShortRows<Key, N, floats, positions> some;
  int64_t whole = rows / laneCount * laneCount, rest = rows - whole;
  for (int64_t i = 0; i < whole; i += laneCount)
    if (stride == 1)
      some.dense(values + i * N, to + i * N, flip);
    else
      some.apart(values + i, to + i, stride, flip);
  if (rest == 0)
    return;
  Key last[laneCount * N] = {};
  R sorted[laneCount * N];
  for (int64_t i = 0; i < rest; ++i)
    for (int64_t k = 0; k < N; ++k)
      last[i * N + k] = stride == 1 ? values[(whole + i) * N + k] : values[k * stride + whole + i];
  some.dense(last, sorted, flip);
  for (int64_t i = 0; i < rest; ++i)
    for (int64_t k = 0; k < N; ++k)
      (stride == 1 ? to[(whole + i) * N + k] : to[k * stride + whole + i]) = sorted[i * N + k];
}

template <typename Key, bool floats, bool positions, typename R>
void shortRows(const Key *values, R *to, int64_t n, int64_t stride, int64_t rows, bool descending) {
  const Key flip = !descending ? 0 : floats ? -greatestKey<Key> - 1 : -1;
  forEach<shortRow>([&](auto i) {
    if (n == i.value + 1)
      shortRowsOf<Key, i.value + 1, floats, positions>(values, to, stride, rows, flip);
  });
}

} // namespace
} // namespace toy::rt
