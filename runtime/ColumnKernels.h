// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products by vectors of a matrix whose columns lie together, with the sums of those whose rows do. Compiled once for
/// each instruction set; the machine's is chosen.
#pragma once

#include "runtime/NarrowKernels.h"

namespace toy::rt {

/// How such a matrix is read: tiles of rows, so many bytes high. Columns that are 32 apart belong to one lane. Of a
/// matrix in the second cache all columns of a few rows are read, lane by lane; of others the columns of all lanes as
/// they lie, `turns` times 32 together, with the lanes' sums in memory between.
struct ColumnTiles {
  static constexpr int64_t turns = 8;
  int64_t bytes;
  bool isInRegisters; ///< by one vector
  /// Bytes of `room`, which begins at 64 bytes, for so many vectors.
  int64_t room(int64_t vectors) const { return bytes * vectors * (isInRegisters ? 1 : 33); }
};
/// `stride` is between columns; rows [begin, end).
template <typename T> struct ColumnKernels {
  void (*rows)(const NarrowProduct<T> &x, int64_t begin, int64_t end, const ColumnTiles &tiles, void *room);
  void (*complexRows)(const ComplexRows<T> &x, int64_t begin, int64_t end, const ColumnTiles &tiles, void *room);
};
TOY_KERNELS_FOR_ISA(ColumnKernels<float>, columnKernelsF32)
TOY_KERNELS_FOR_ISA(ColumnKernels<double>, columnKernelsF64)

} // namespace toy::rt
