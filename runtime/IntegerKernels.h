// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products of matrices of integers, and positions that data tells. Compiled once for each instruction set; the
/// machine's is chosen.
#pragma once

#include "runtime/Isa.h"

#include <cstdint>

namespace toy::rt {

/// c[i * n + j] is the sum of a[i * aRow + p * aColumn] * b[p * bRow + j], modulo the type's size.
template <typename T> struct IntegerProduct {
  int64_t n, k;
  const T *a;
  int64_t aRow, aColumn;
  const T *b;
  int64_t bRow;
  T *c;
};
template <typename T> struct IntegerKernels {
  /// Rows [begin, end).
  void (*product)(const IntegerProduct<T> &x, int64_t begin, int64_t end);
};
/// rows[i] = rows[i] * scale + position, or position where `scale` is 0, of n positions that are `step` (1 or 0) apart;
/// those that are negative count from the end of `size`. Whether all are inside.
template <typename P>
using AddPositions = bool (*)(const P *from, int64_t step, int64_t n, int64_t size, int64_t scale, int64_t *rows);
/// Whether n positions are inside of `size`, none counted from the end.
template <typename P> using AreInside = bool (*)(const P *positions, int64_t n, int64_t size);
struct PositionKernels {
  AddPositions<uint8_t> ofU8;
  AddPositions<int32_t> ofI32;
  AddPositions<int64_t> ofI64;
  AreInside<uint8_t> insideU8;
  AreInside<int32_t> insideI32;
  AreInside<int64_t> insideI64;
};
TOY_KERNELS_FOR_ISA(PositionKernels, positionKernels)
TOY_KERNELS_FOR_ISA(IntegerKernels<uint8_t>, integerKernelsU8)
TOY_KERNELS_FOR_ISA(IntegerKernels<uint32_t>, integerKernelsI32)
TOY_KERNELS_FOR_ISA(IntegerKernels<uint64_t>, integerKernelsI64)

} // namespace toy::rt
