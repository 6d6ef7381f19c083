// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random numbers many at a time. Compiled once for each instruction set, with the same bits; the machine's is chosen.
#pragma once

#include "runtime/Isa.h"

#include <cstdint>

namespace toy::rt {

/// What a sample depends on beside its distribution and the number of each element. Calls that share a seed differ in
/// `call`.
struct RandomKey {
  uint64_t seed, call;
};

struct RandomJob {
  RandomKey key;
  void *data;
  /// Parameters of the distribution, f64 or (bounds of integers) i64; an element each, or one for all.
  const void *a = nullptr, *b = nullptr;
  bool aVaries = false, bVaries = false;
};
/// Elements [begin, end) of `data`, of the type named; integers, Poisson's and binomial numbers are i64, gamma f64.
struct RandomKernels {
  using Fill = void (*)(const RandomJob &job, int64_t begin, int64_t end);
  Fill uniformF32, uniformF64, normalF32, normalF64, normalC64, normalC128, exponentialF32, exponentialF64;
  /// The four words of the counters `a`, as two i64 each.
  Fill mix;
};
TOY_KERNELS_FOR_ISA(RandomKernels, randomKernels)

/// Distributions that take as many uniform numbers as it needs until one is accepted.
struct SampleKernels {
  RandomKernels::Fill integers, gamma, poisson, binomial;
};
TOY_KERNELS_FOR_ISA(SampleKernels, sampleKernels)

} // namespace toy::rt
