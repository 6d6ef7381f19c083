// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products of real matrices whose operands fit no register. Compiled once for each instruction set; the machine's is
/// chosen.
#pragma once

#include "runtime/Isa.h"

#include <cstdint>

namespace toy::rt {

/// c = alpha a b + beta c for an m x k matrix a and a k x n matrix b. Strides are in elements; where beta is 0, c is
/// not read.
template <typename T> struct PanelProduct {
  static constexpr int64_t deepest = 1024; ///< of k
  int64_t m, n, k;
  const T *a;
  int64_t aRow, aColumn;
  const T *b;
  int64_t bRow, bColumn;
  T *c;
  int64_t cRow;
  T alpha, beta;
};
template <typename T> struct ProductKernels {
  /// Null where the machine has no fused multiply-add.
  void (*panel)(const PanelProduct<T> &x, T *room);
  /// The same bits where b lies by rows (`bColumn` is 1) and stays in a cache: factors are read where they lie.
  void (*direct)(const PanelProduct<T> &x);
  /// Elements of `room`, which begins at 64 bytes.
  int64_t (*room)(int64_t n, int64_t k);
};
TOY_KERNELS_FOR_ISA(ProductKernels<float>, productKernelsF32)
TOY_KERNELS_FOR_ISA(ProductKernels<double>, productKernelsF64)

} // namespace toy::rt
