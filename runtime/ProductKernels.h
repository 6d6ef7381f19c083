// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products of matrices whose operands fit no register. Compiled once for each instruction set; the machine's is
/// chosen.
#pragma once

#include "runtime/Isa.h"

#include <complex>
#include <cstdint>

namespace toy::rt {

/// The part of a number: its own type, or that of a complex one's parts.
template <typename Number> struct PartOf {
  using Type = Number;
};
template <typename T> struct PartOf<std::complex<T>> {
  using Type = T;
};
template <typename Number> using Part = typename PartOf<Number>::Type;

/// c = alpha a b + beta c for an m x k matrix a and a k x n matrix b. Strides count numbers; where beta is 0, c is not
/// read. Complex factors may be conjugated.
template <typename Number> struct PanelProduct {
  static constexpr int64_t deepest = 1024; ///< of k
  int64_t m, n, k;
  const Number *a;
  int64_t aRow, aColumn;
  const Number *b;
  int64_t bRow, bColumn;
  Number *c;
  int64_t cRow;
  Part<Number> alpha, beta;
  bool aConjugate = false, bConjugate = false;
};
template <typename Number> struct ProductKernels {
  /// Null where the machine has no fused multiply-add.
  void (*panel)(const PanelProduct<Number> &x, Number *room);
  /// The same bits where b lies by rows (`bColumn` is 1) and stays in a cache: factors are read where they lie.
  void (*direct)(const PanelProduct<Number> &x);
  /// Numbers of `room`, which begins at 64 bytes.
  int64_t (*room)(int64_t n, int64_t k);
};
TOY_KERNELS_FOR_ISA(ProductKernels<float>, productKernelsF32)
TOY_KERNELS_FOR_ISA(ProductKernels<double>, productKernelsF64)
TOY_KERNELS_FOR_ISA(ProductKernels<std::complex<float>>, productKernelsC64)
TOY_KERNELS_FOR_ISA(ProductKernels<std::complex<double>>, productKernelsC128)

} // namespace toy::rt
