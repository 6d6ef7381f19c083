// SPDX-License-Identifier: Apache-2.0
/// \file
/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC'11), a counter for each
/// element, 32 bits of it in each 64-bit lane. Built once for each instruction set with TOY_ISA naming it. Nothing of
/// the standard library is used: its inline functions would be shared with code for lesser machines.
#include "runtime/RandomKernels.h"

#include "runtime/LaneMath.h"

namespace toy::rt::TOY_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int counters = 32, lanes = 8;
#elif defined(__AVX2__)
constexpr int counters = 8, lanes = 4;
#else
constexpr int counters = 4, lanes = 2;
#endif
constexpr int block = 256; ///< elements whose words stay in the cache
using Words = uint64_t __attribute__((ext_vector_type(counters)));
constexpr uint64_t low32 = 0xFFFFFFFF;

/// The four words of `counters` elements from i on; the upper halves of lanes are anything meanwhile.
[[gnu::always_inline]] inline void philox(const RandomJob &job, int64_t i, Words (&c)[4]) {
  Words number;
  for (int lane = 0; lane < counters; ++lane)
    number[lane] = static_cast<uint64_t>(i) + static_cast<uint64_t>(lane);
  c[0] = number;
  c[1] = number >> 32;
  c[2] = Words(job.call);
  c[3] = Words(job.call >> 32);
  uint32_t k0 = job.seed, k1 = job.seed >> 32;
  for (int round = 0; round < 10; ++round) {
    Words p0 = (c[0] & low32) * uint64_t(0xD2511F53), p1 = (c[2] & low32) * uint64_t(0xCD9E8D57);
    c[0] = (p1 >> 32) ^ c[1] ^ uint64_t(k0);
    c[1] = p1;
    c[2] = (p0 >> 32) ^ c[3] ^ uint64_t(k1);
    c[3] = p0;
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  for (Words &word : c)
    word &= low32;
}

using Doubles = double __attribute__((ext_vector_type(counters)));
/// Exactly x, below 2^52.
[[gnu::always_inline]] inline Doubles exactly(Words x) {
  return __builtin_bit_cast(Doubles, x | uint64_t(0x4330000000000000)) - 0x1p52;
}
/// The 53 highest of 64 bits as a fraction; sums and products are exact.
[[gnu::always_inline]] inline Doubles unit53(Words high, Words low) {
  return exactly(high) * 0x1p-32 + exactly(low >> 11) * 0x1p-53;
}

/// All of a vector or the first n elements.
template <typename V, typename T> [[gnu::always_inline]] inline void store(T *to, V v, int64_t n) {
  if (n >= counters)
    __builtin_memcpy(to, &v, sizeof v);
  else
    __builtin_memcpy(to, &v, n * sizeof(T));
}

void uniformF64(const RandomJob &job, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i += counters) {
    Words c[4];
    philox(job, i, c);
    store(static_cast<double *>(job.data) + i, unit53(c[0], c[1]), end - i);
  }
}

void uniformF32(const RandomJob &job, int64_t begin, int64_t end) {
  using Narrow = int32_t __attribute__((ext_vector_type(counters)));
  using Floats = float __attribute__((ext_vector_type(counters)));
  for (int64_t i = begin; i < end; i += counters) {
    Words c[4];
    philox(job, i, c);
    Floats unit = __builtin_convertvector(__builtin_convertvector(c[0] >> 8, Narrow), Floats) * 0x1p-24F;
    store(static_cast<float *>(job.data) + i, unit, end - i);
  }
}

/// Two independent standard normals from each counter (Box and Muller): their radius and angle, then their product.
template <typename T, bool both> void normal(const RandomJob &job, int64_t begin, int64_t end) {
  constexpr double tau = 6.28318530717958647692, half = 0.70710678118654752440; // complex: unit variance in total
  alignas(64) double radius[block], angle[block];
  for (int64_t first = begin; first < end; first += block) {
    for (int64_t i = 0; i < block && first + i < end; i += counters) {
      Words c[4];
      philox(job, first + i, c);
      store(radius + i, 1 - unit53(c[0], c[1]), counters);
      store(angle + i, tau * unit53(c[2], c[3]), counters);
    }
    for (int64_t i = 0; i < block && first + i < end; i += lanes) {
      Lanes<lanes> r, a, sine, cosine;
      __builtin_memcpy(&r, radius + i, sizeof r);
      __builtin_memcpy(&a, angle + i, sizeof a);
      r = sqrt<lanes>(-2 * log<lanes>(r, all<lanes>(0)));
      sincos<lanes>(a, sine, cosine);
      cosine *= r;
      sine *= r;
      T *to = static_cast<T *>(job.data) + (first + i) * (both ? 2 : 1);
      int64_t some = end - first - i < lanes ? end - first - i : lanes;
      if constexpr (both)
        for (int64_t k = 0; k < some; ++k) {
          to[2 * k] = static_cast<T>(cosine[k] * half);
          to[2 * k + 1] = static_cast<T>(sine[k] * half);
        }
      else {
        auto values = __builtin_convertvector(cosine, T __attribute__((ext_vector_type(lanes))));
        if (some == lanes)
          __builtin_memcpy(to, &values, sizeof values);
        else
          __builtin_memcpy(to, &values, some * sizeof(T));
      }
    }
  }
}

} // namespace

RandomKernels randomKernels() {
  return {uniformF32,          uniformF64,          normal<float, false>, normal<double, false>,
          normal<float, true>, normal<double, true>};
}

} // namespace toy::rt::TOY_ISA
