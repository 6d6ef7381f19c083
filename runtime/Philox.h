// SPDX-License-Identifier: Apache-2.0
/// \file
/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC'11), a counter for each
/// element, 32 bits of it in each 64-bit lane. Included once for each instruction set, into a namespace of its own.
#pragma once

#include "runtime/KernelVectors.h"
#include "runtime/LaneMath.h"
#include "runtime/RandomKernels.h"

namespace toy::rt::TOY_ISA {
namespace {

constexpr int lanes = registerLanes<double>, counters = (lanes == 8 ? 4 : 2) * lanes; ///< as many as registers hold
constexpr uint64_t low32 = 0xFFFFFFFF;

template <int W> using Words = uint64_t __attribute__((ext_vector_type(W)));

/// The four words of W counters. Elements are below 2^48, attempts below 2^15; the highest bit of the second
/// word stays 0 (see foldIn).
template <int W>
[[gnu::always_inline]] inline void philox(const RandomKey &key, Words<W> number, Words<W> (&c)[4],
                                          uint64_t attempt = 0) {
  c[0] = number;
  c[1] = number >> 32 | attempt << 16;
  c[2] = Words<W>(key.call);
  c[3] = Words<W>(key.call >> 32);
  uint32_t k0 = key.seed, k1 = key.seed >> 32;
  for (int round = 0; round < 10; ++round) { // the upper halves of lanes are anything meanwhile
    Words<W> p0 = (c[0] & low32) * uint64_t(0xD2511F53), p1 = (c[2] & low32) * uint64_t(0xCD9E8D57);
    c[0] = (p1 >> 32) ^ c[1] ^ uint64_t(k0);
    c[1] = p1;
    c[2] = (p0 >> 32) ^ c[3] ^ uint64_t(k1);
    c[3] = p0;
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  for (Words<W> &word : c)
    word &= low32;
}

/// Those from i on.
template <int W> [[gnu::always_inline]] inline Words<W> from(int64_t i) {
  Words<W> number;
  for (int lane = 0; lane < W; ++lane)
    number[lane] = static_cast<uint64_t>(i) + static_cast<uint64_t>(lane);
  return number;
}

template <int W> using Doubles = double __attribute__((ext_vector_type(W)));
/// Exactly x, below 2^52.
template <int W> [[gnu::always_inline]] inline Doubles<W> exactly(Words<W> x) {
  return __builtin_bit_cast(Doubles<W>, x | uint64_t(0x4330000000000000)) - 0x1p52;
}
/// The 53 highest of 64 bits as a fraction; sums and products are exact.
template <int W> [[gnu::always_inline]] inline Doubles<W> unit53(Words<W> high, Words<W> low) {
  return exactly<W>(high) * 0x1p-32 + exactly<W>(low >> 11) * 0x1p-53;
}

/// All of a vector or the first n elements.
template <int W, typename V, typename T> [[gnu::always_inline]] inline void store(T *to, V v, int64_t n) {
  if (n >= W)
    __builtin_memcpy(to, &v, sizeof v);
  else
    __builtin_memcpy(to, &v, n * sizeof(T));
}

/// -2 log of a uniform number's complement, rooted, and an angle: Box and Muller's radius and direction.
template <int N>
[[gnu::always_inline]] inline void boxMuller(Lanes<N> complement, Lanes<N> angle, Lanes<N> &cosine, Lanes<N> &sine) {
  Lanes<N> radius = sqrt<N>(-2 * log<N>(complement, all<N>(0)));
  sincos<N>(angle, sine, cosine);
  cosine *= radius;
  sine *= radius;
}
constexpr double tau = 6.28318530717958647692;

constexpr int few = 2; ///< counters where one or two elements are wanted: as many as a vector of f64 has at least
/// The same function with vectors of two lengths.
template <RandomKernels::Fill many, RandomKernels::Fill some>
void fill(const RandomJob &job, int64_t begin, int64_t end) {
  end - begin > few ? many(job, begin, end) : some(job, begin, end);
}

} // namespace
} // namespace toy::rt::TOY_ISA
