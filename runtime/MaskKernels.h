// SPDX-License-Identifier: Apache-2.0
/// \file
/// What bytes that are not 0 choose, one after the other. Compiled once for each instruction set; the machine's is
/// chosen.
#pragma once

#include "runtime/Isa.h"

#include <cstdint>

namespace toy::rt {

struct MaskKernels {
  /// Elements of 4 and of 8 bytes of which the mask of n is not 0. `to` has room for all of them and for no other.
  void (*select4)(const void *from, const uint8_t *mask, int64_t n, void *to, int64_t room);
  void (*select8)(const void *from, const uint8_t *mask, int64_t n, void *to, int64_t room);
  /// The numbers of those elements, from `first` on.
  void (*positions)(const uint8_t *mask, int64_t n, int64_t first, int64_t *to, int64_t room);
};
TOY_KERNELS_FOR_ISA(MaskKernels, maskKernels)

} // namespace toy::rt
