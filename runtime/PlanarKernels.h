// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loops over planar complex matrices that are too small or too thin for BLAS. Compiled once for each instruction set;
/// the machine's is chosen.
#pragma once

#include <cstdint>

namespace toy::rt {

/// (a + ib) · (c + id), row strides and column strides in elements; the results are dense. Every part is the sum of its
/// products in the order of the inner index, ac apart from bd and ad apart from bc, combined at the end: the bits of
/// four real products.
template <typename T> struct PlanarProduct {
  int64_t m, n, k;
  const T *a, *b, *c, *d;
  T *re, *im;
  int64_t xRow, xColumn, yRow, yColumn;
  bool addBd, subtractAd, subtractBc; ///< re = ac - bd, im = ad + bc, or with these signs exchanged
};

template <typename T> struct PlanarKernels {
  /// `count` products one after the other in memory, `xStep` and `yStep` elements apart. For m·n·k of at most 512,
  /// squares up to 16 x 16.
  void (*small)(const PlanarProduct<T> &, int64_t count, int64_t xStep, int64_t yStep);
  /// Columns [begin, end) of a product with at most 12 rows and yColumn 1.
  void (*fewRows)(const PlanarProduct<T> &, int64_t begin, int64_t end);
};

template <typename T> const PlanarKernels<T> &planarKernels();

} // namespace toy::rt
