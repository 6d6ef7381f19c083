// SPDX-License-Identifier: Apache-2.0
/// \file
/// What surrounds complex transforms: rows beside one another are transposed, and real rows become complex ones of half
/// the length. Compiled once for each instruction set; the machine's is chosen.
#pragma once

#include "runtime/Isa.h"

#include <cstdint>

namespace toy::rt {

/// Complex rows of 2, 4, 8 or 16 points, or real ones of twice as many.
struct ShortRows {
  int64_t points, own; ///< of a row, and the elements of it that are there: zeros behind them
  int64_t count;       ///< of rows
  /// From a row to the next one, and from an element to the next, in elements; one of them is 1, on both sides.
  int64_t rowFrom, elementFrom, rowTo, elementTo;
  bool isBackward;
};
constexpr bool isShortRow(int64_t points) { return points == 2 || points == 4 || points == 8 || points == 16; }
constexpr bool isShortRealRow(int64_t points) { return points % 2 == 0 && isShortRow(points / 2); }

template <typename R> struct FourierKernels {
  /// Rows in lanes, and what is left one by one: a row has the same bits wherever it stands.
  void (*shortRows)(const R *in, R *out, const ShortRows &rows, R scale);
  /// The same of real rows, from or to the first half of what they become; `factors` as those of `fold`.
  void (*shortRealRows)(const R *in, R *out, const ShortRows &rows, const R *factors, R scale);
  /// For complex elements 0 to h at `in`, interleaved: with S = in[k] + conj(in[h-k]), D = in[k] - conj(in[h-k]) and
  /// factors f, out[k] = scale * (a * S + f[k] * D) and out[h-k] = scale * conj(a * S - f[k] * D) for 0 < k < h/2.
  void (*fold)(const R *in, const R *factors, R *out, int64_t h, R a, R scale);
  void (*scale)(R *values, int64_t n, R factor);
};
TOY_KERNELS_FOR_ISA(FourierKernels<float>, fourierKernelsF32)
TOY_KERNELS_FOR_ISA(FourierKernels<double>, fourierKernelsF64)

/// Elements of 4, 8 or 16 bytes: `to` has `columns` rows.
struct TransposeKernels {
  void (*of4)(const void *from, int64_t fromStride, void *to, int64_t toStride, int64_t rows, int64_t columns);
  void (*of8)(const void *from, int64_t fromStride, void *to, int64_t toStride, int64_t rows, int64_t columns);
  void (*of16)(const void *from, int64_t fromStride, void *to, int64_t toStride, int64_t rows, int64_t columns);
};
TOY_KERNELS_FOR_ISA(TransposeKernels, transposeKernels)

} // namespace toy::rt
