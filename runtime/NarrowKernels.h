// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products of a matrix by a few vectors, of complex numbers by one. Compiled once for each instruction set; the
/// machine's is chosen.
#pragma once

#include "runtime/Isa.h"

#include <cstdint>

namespace toy::rt {

constexpr int64_t narrowest = 8;   ///< vectors at most
constexpr int64_t sumBlock = 8192; ///< elements that are summed in lanes, as the blocks of rule 12

/// The matrix a with `stride` between its rows, and `count` vectors of `k` elements with `vectorStride` between them;
/// c[i * row + j * column] = alpha (sum) + beta c[…]. Where beta is 0, c is not read.
template <typename T> struct NarrowProduct {
  int64_t k;
  const T *a;
  int64_t stride;
  const T *vectors;
  int64_t vectorStride, count;
  T *c;
  int64_t row, column;
  T alpha, beta;
  int64_t shift = 0; ///< of the vectors from row to row
};
template <typename T> struct NarrowKernels {
  /// Rows [begin, end) of a by each vector: products are summed in 32 lanes.
  void (*rows)(const NarrowProduct<T> &x, int64_t begin, int64_t end);
};
/// Rows of complex numbers by one vector: parts side by side, strides in numbers.
template <typename T> struct ComplexRows {
  int64_t k;
  const T *a;
  int64_t stride;
  bool conjugateA;
  const T *vectors; ///< one
  bool conjugateVector;
  T *c;
  int64_t step;      ///< between results
  int64_t shift = 0; ///< of the vector from row to row
};
template <typename T> struct ComplexRowKernels {
  /// Rows [begin, end): complex products, of which each part is rounded, are summed in 32 lanes.
  void (*rows)(const ComplexRows<T> &x, int64_t begin, int64_t end);
};
TOY_KERNELS_FOR_ISA(NarrowKernels<float>, narrowKernelsF32)
TOY_KERNELS_FOR_ISA(NarrowKernels<double>, narrowKernelsF64)
TOY_KERNELS_FOR_ISA(ComplexRowKernels<float>, complexRowKernelsC64)
TOY_KERNELS_FOR_ISA(ComplexRowKernels<double>, complexRowKernelsC128)

} // namespace toy::rt
