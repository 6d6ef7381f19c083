// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products of a few rows by a matrix that stays in a cache. Compiled once for each instruction set; the machine's is
/// chosen.
#pragma once

#include "runtime/Isa.h"

#include <cstdint>

namespace toy::rt {

/// c[i * cRow + j * cColumn] = alpha (sum) + beta c[…] for up to eight rows a, whose elements lie together, and a
/// matrix b whose rows or columns do: one of `bRow` and `bColumn` is 1. Where beta is 0, c is not read.
template <typename T> struct FewRowsProduct {
  int64_t rows, k;
  const T *a;
  int64_t aRow;
  const T *b;
  int64_t bRow, bColumn;
  T *c;
  int64_t cRow, cColumn;
  T alpha, beta;
};
template <typename T> struct FewRowsKernels {
  /// Columns [begin, end) of the result, by fused multiply-add in as many lanes as 32 bytes have; the same bits for
  /// both layouts and with every instruction set. Null where the machine has no fused multiply-add.
  void (*columns)(const FewRowsProduct<T> &x, int64_t begin, int64_t end);
};
TOY_KERNELS_FOR_ISA(FewRowsKernels<float>, fewRowsKernelsF32)
TOY_KERNELS_FOR_ISA(FewRowsKernels<double>, fewRowsKernelsF64)

} // namespace toy::rt
