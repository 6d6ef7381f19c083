// SPDX-License-Identifier: Apache-2.0
/// \file
/// Uniform, normal and exponential numbers. Built once for each instruction set with TOY_ISA naming it. Nothing of the
/// standard library is used: its inline functions would be shared with code for lesser machines.
#include "runtime/RandomKernels.h"

#include "runtime/Philox.h"

namespace toy::rt::TOY_ISA {
namespace {

constexpr int block = 256; ///< elements whose words stay in the cache

template <int W> void uniformF64(const RandomJob &job, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i += W) {
    Words<W> c[4];
    philox<W>(job.key, from<W>(i), c);
    store<W>(static_cast<double *>(job.data) + i, unit53<W>(c[0], c[1]), end - i);
  }
}

template <int W> void uniformF32(const RandomJob &job, int64_t begin, int64_t end) {
  using Narrow = int32_t __attribute__((ext_vector_type(W)));
  using Floats = float __attribute__((ext_vector_type(W)));
  for (int64_t i = begin; i < end; i += W) {
    Words<W> c[4];
    philox<W>(job.key, from<W>(i), c);
    Floats unit = __builtin_convertvector(__builtin_convertvector(c[0] >> 8, Narrow), Floats) * 0x1p-24F;
    store<W>(static_cast<float *>(job.data) + i, unit, end - i);
  }
}

/// Two independent standard normals from each counter: their radius and angle, then their product.
template <int W, typename T, bool both> void normal(const RandomJob &job, int64_t begin, int64_t end) {
  constexpr double half = 0.70710678118654752440; // complex: unit variance in total
  alignas(64) double complement[block], angle[block];
  for (int64_t first = begin; first < end; first += block) {
    for (int64_t i = 0; i < block && first + i < end; i += W) {
      Words<W> c[4];
      philox<W>(job.key, from<W>(first + i), c);
      store<W>(complement + i, 1 - unit53<W>(c[0], c[1]), W);
      store<W>(angle + i, tau * unit53<W>(c[2], c[3]), W);
    }
    constexpr int N = W < lanes ? W : lanes;
    for (int64_t i = 0; i < block && first + i < end; i += N) {
      Lanes<N> r, a, sine, cosine;
      __builtin_memcpy(&r, complement + i, sizeof r);
      __builtin_memcpy(&a, angle + i, sizeof a);
      boxMuller<N>(r, a, cosine, sine);
      T *to = static_cast<T *>(job.data) + (first + i) * (both ? 2 : 1);
      int64_t some = end - first - i < N ? end - first - i : N;
      if constexpr (both)
        for (int64_t k = 0; k < some; ++k) {
          to[2 * k] = static_cast<T>(cosine[k] * half);
          to[2 * k + 1] = static_cast<T>(sine[k] * half);
        }
      else
        store<N>(to, __builtin_convertvector(cosine, T __attribute__((ext_vector_type(N)))), some);
    }
  }
}

/// -log of 1 - u.
template <int W, typename T> void exponential(const RandomJob &job, int64_t begin, int64_t end) {
  constexpr int N = W < lanes ? W : lanes;
  for (int64_t i = begin; i < end; i += W) {
    Words<W> c[4];
    philox<W>(job.key, from<W>(i), c);
    double complement[W];
    store<W>(complement, 1 - unit53<W>(c[0], c[1]), W);
    for (int64_t k = 0; k < W && i + k < end; k += N) {
      Lanes<N> x;
      __builtin_memcpy(&x, complement + k, sizeof x);
      auto values = __builtin_convertvector(0 - log<N>(x, all<N>(0)), T __attribute__((ext_vector_type(N))));
      store<N>(static_cast<T *>(job.data) + i + k, values, end - i - k);
    }
  }
}

template <int W> void mix(const RandomJob &job, int64_t begin, int64_t end) {
  auto *from = static_cast<const uint64_t *>(job.a);
  for (int64_t i = begin; i < end; i += W) {
    Words<W> number, c[4];
    for (int64_t lane = 0; lane < W; ++lane)
      number[lane] = from[i + lane < end ? i + lane : i];
    philox<W>(job.key, number, c);
    uint64_t first[W], second[W];
    store<W>(first, c[0] << 32 | c[1], W);
    store<W>(second, c[2] << 32 | c[3], W);
    for (int64_t k = 0; k < W && i + k < end; ++k) {
      static_cast<uint64_t *>(job.data)[2 * (i + k)] = first[k];
      static_cast<uint64_t *>(job.data)[2 * (i + k) + 1] = second[k];
    }
  }
}

} // namespace

RandomKernels randomKernels() {
  return {fill<uniformF32<counters>, uniformF32<few>>,
          fill<uniformF64<counters>, uniformF64<few>>,
          fill<normal<counters, float, false>, normal<few, float, false>>,
          fill<normal<counters, double, false>, normal<few, double, false>>,
          fill<normal<counters, float, true>, normal<few, float, true>>,
          fill<normal<counters, double, true>, normal<few, double, true>>,
          fill<exponential<counters, float>, exponential<few, float>>,
          fill<exponential<counters, double>, exponential<few, double>>,
          fill<mix<counters>, mix<few>>};
}

} // namespace toy::rt::TOY_ISA
