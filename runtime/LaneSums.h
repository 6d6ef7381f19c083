// SPDX-License-Identifier: Apache-2.0
/// \file
/// What kernels of products by vectors share: registers of a matrix's elements, and pairs of parts of complex numbers.
#pragma once
#include "runtime/LaneTransposes.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace toy::rt {
namespace {

template <typename T> using Vector = Register<T>;
template <typename T> constexpr int lanes = registerLanes<T>;
constexpr int sumLanes = 32; ///< of rule 12
template <typename T> constexpr int registers = sumLanes / lanes<T>;

template <typename T> Vector<T> load(const T *from) {
  Vector<T> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
/// The first n lanes, the others 0; nothing behind them is read.
template <typename T> Vector<T> loadSome(const T *from, int64_t n) {
  if (n >= lanes<T>)
    return load(from);
  Vector<T> v = {};
  if (n <= 0)
    return v;
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == sizeof(float))
    return __builtin_bit_cast(Vector<T>, _mm512_maskz_loadu_ps(static_cast<__mmask16>((1 << n) - 1), from));
  else
    return __builtin_bit_cast(Vector<T>, _mm512_maskz_loadu_pd(static_cast<__mmask8>((1 << n) - 1), from));
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == sizeof(float)) {
    const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), places);
    return __builtin_bit_cast(Vector<T>, _mm256_maskload_ps(from, mask));
  } else {
    const __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
    return __builtin_bit_cast(Vector<T>, _mm256_maskload_pd(from, mask));
  }
#else
  for (int64_t i = 0; i < n; ++i)
    v[i] = from[i];
  return v;
#endif
}

/// The first n lanes; nothing behind them is written.
template <typename T> void storeSome(T *to, Vector<T> v, int64_t n) {
#if defined(__AVX512F__)
  n = n < lanes<T> ? n : lanes<T>;
  if constexpr (sizeof(T) == sizeof(float))
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1 << n) - 1), __builtin_bit_cast(__m512, v));
  else
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1 << n) - 1), __builtin_bit_cast(__m512d, v));
#else
  if (n >= lanes<T>)
    __builtin_memcpy(to, &v, sizeof v);
  else
    for (int64_t i = 0; i < n; ++i)
      to[i] = v[i];
#endif
}

template <typename T> using Lanes = Below<lanes<T>>;

/// Even and odd lanes exchanged; even lanes twice; odd lanes twice.
template <typename V, int... i> V exchanged(V v, Numbers<int, i...>) {
  return __builtin_shufflevector(v, v, (i ^ 1)...);
}
template <typename V, int... i> V evenTwice(V v, Numbers<int, i...>) {
  return __builtin_shufflevector(v, v, (i & ~1)...);
}
template <typename V, int... i> V oddTwice(V v, Numbers<int, i...>) {
  return __builtin_shufflevector(v, v, (i | 1)...);
}
/// -1 and 1 in turn.
template <typename T, int... i> Vector<T> alternating(Numbers<int, i...>) { return Vector<T>{T(i % 2 ? 1 : -1)...}; }

/// Lane i and lane i + 16, then i + 8, and so on.
template <typename V> auto halved(V sum) {
  if constexpr (sizeof(V) == sizeof(sum[0]))
    return sum[0];
  else if constexpr (sizeof(V) == 2 * sizeof(sum[0]))
    return sum[0] + sum[1];
  else
    return halved(sum.lo + sum.hi);
}
template <typename T, int n> T halved(const Vector<T> (&sums)[n]) {
  if constexpr (n == 1)
    return halved(sums[0]);
  else {
    Vector<T> half[n / 2];
    for (int q = 0; q < n / 2; ++q)
      half[q] = sums[q] + sums[q + n / 2];
    return halved<T>(half);
  }
}
#ifdef __AVX512F__
/// Lanes `apart` from one another added, of two vectors in which those of one sum lie together.
template <typename T, int apart, int... i> Vector<T> halvedBoth(Vector<T> a, Vector<T> b, Numbers<int, i...>) {
  return __builtin_shufflevector(a, b, (i / apart * 2 * apart + i % apart)...) +
         __builtin_shufflevector(a, b, (i / apart * 2 * apart + i % apart + apart)...);
}
/// The sum of each vector's lanes, or of its numbers of two parts, in the order of `halved`.
template <typename T, int parts, int n> Vector<T> sumsOf(const Vector<T> (&rows)[n]) {
  if constexpr (n == 1)
    return rows[0];
  else {
    Vector<T> half[n / 2];
    for (int i = 0; i < n / 2; ++i)
      half[i] = halvedBoth<T, n / 2 * parts>(rows[2 * i], rows[2 * i + 1], Below<lanes<T>>());
    return sumsOf<T, parts>(half);
  }
}
#endif

} // namespace
} // namespace toy::rt
