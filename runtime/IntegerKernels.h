// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products of matrices of integers. Compiled once for each instruction set; the machine's is chosen.
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
  int64_t columns; ///< that are computed at once
  /// Rows [begin, end) of the first columns, as many as are whole multiples of `columns`; how many those are.
  int64_t (*product)(const IntegerProduct<T> &x, int64_t begin, int64_t end);
};
TOY_KERNELS_FOR_ISA(IntegerKernels<uint8_t>, integerKernelsU8)
TOY_KERNELS_FOR_ISA(IntegerKernels<uint32_t>, integerKernelsI32)
TOY_KERNELS_FOR_ISA(IntegerKernels<uint64_t>, integerKernelsI64)

} // namespace toy::rt
