// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random numbers many at a time. Compiled once for each instruction set, with the same bits; the machine's is chosen.
#pragma once

#include "runtime/Isa.h"

#include <cstdint>

namespace toy::rt {

/// Element i of a call depends on (seed, call, i) only.
struct RandomJob {
  uint64_t seed, call;
  void *data;
};
/// Elements [begin, end) of `data`, of the type named.
struct RandomKernels {
  using Fill = void (*)(const RandomJob &job, int64_t begin, int64_t end);
  Fill uniformF32, uniformF64, normalF32, normalF64, normalC64, normalC128;
};
TOY_KERNELS_FOR_ISA(RandomKernels, randomKernels)

} // namespace toy::rt
