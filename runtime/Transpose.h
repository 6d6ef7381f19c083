// SPDX-License-Identifier: Apache-2.0
/// \file
/// Small matrices transposed through registers. Compiled once for each instruction set; the machine's is chosen.
#pragma once

#include "runtime/Isa.h"

#include <cstdint>

namespace toy::rt {

/// to[c * toPitch + r] = from[r * fromPitch + c]; elements have 1, 2, 4, 8 or 16 bytes, pitches count elements.
struct Transposition {
  void *to;
  const void *from;
  int64_t toPitch, fromPitch, rows, columns;
  bool streams = false; ///< past the caches, if rows of `to` are whole cache lines: others see them after finishStream
};
void transpose(const Transposition &t, int64_t elementBytes);

/// to[r] = 0 + from[r * pitch] + … + from[r * pitch + count - 1], in this order.
struct RowSums {
  void *to;
  const void *from;
  int64_t pitch, rows, count;
};
enum class SummedAs { F32, F64, C64 };
/// Rows side by side, transposed block by block in registers.
void sumRows(const RowSums &x, SummedAs type);

struct TileKernels {
  void (*transpose)(const Transposition &t, int64_t elementBytes);
  void (*sumRows)(const RowSums &x, SummedAs type);
};
TOY_KERNELS_FOR_ISA(TileKernels, tileKernels)

} // namespace toy::rt
