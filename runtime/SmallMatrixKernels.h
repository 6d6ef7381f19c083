// SPDX-License-Identifier: Apache-2.0
/// \file
/// Many small matrices: products whose rows fit registers, systems of at most sixteen equations. Compiled once for
/// each instruction set; results have the same bits on all of them, alone and in a batch.
#pragma once

#include "runtime/Isa.h"

#include <cstdint>

namespace toy::rt {

/// `count` products c = a @ b of m x k and k x n matrices with the strides of their elements; `step` is the distance of
/// matrices, and those of c are dense unless there is one with a pitch. Parts of complex elements lie together; strides
/// count elements.
struct SmallProducts {
  static constexpr int deepest = 64; ///< k
  static constexpr int widest = 16;  ///< n, or m of products with a column
  int64_t m, n, k, count;
  struct Factor {
    const void *data;
    int64_t row, column, step;
    bool conjugate;
  } a, b;
  void *c;
  int64_t pitch = 0; ///< from a row of the one product c to the next, where that is not n
};

/// `count` dense matrices of `order` rows. Functions that can fail give the number of the first matrix that is singular
/// or not positive definite, or -1.
struct SmallMatrices {
  static constexpr int64_t largest = 16;
  static constexpr int64_t widestSpectrum = 8; ///< rows and columns of matrices whose spectra are found in lanes
  int64_t order = 0, count = 0;
  const void *a = nullptr;
  void *out = nullptr;
  const void *b = nullptr; ///< right sides, `columns` of each matrix
  int64_t columns = 0;
  void *second = nullptr, *third = nullptr; ///< other results
  bool isFull = false;                      ///< of singular vectors, whether bases are completed
};

struct SmallMatrixKernels {
  /// Every element is summed from 0 on in the order of k, each product rounded (rule 13 of docs/reference): false where
  /// the sizes have no kernel.
  bool (*product)(const SmallProducts &x) = nullptr;
  int64_t (*determinant)(const SmallMatrices &x) = nullptr; ///< never fails
  int64_t (*inverse)(const SmallMatrices &x) = nullptr;
  int64_t (*solve)(const SmallMatrices &x) = nullptr;
  int64_t (*cholesky)(const SmallMatrices &x) = nullptr;
  /// Of `order` times `columns`: the first columns of Q to `out`, where there is one, R to `second`; signs are
  /// LAPACK's. Never fails.
  int64_t (*orthogonal)(const SmallMatrices &x) = nullptr;
};
/// One for each floating dtype, and products of integers.
struct SmallMatrixTable {
  SmallMatrixKernels f32, f64, c64, c128, i32, i64;
};
TOY_KERNELS_FOR_ISA(SmallMatrixTable, smallMatrixKernels)

/// Values go to `out`; vectors only where there is a `second`. Matrices must be finite; nothing fails.
struct SmallSpectrumKernels {
  /// Of Hermitian matrices, by their lower triangles: values ascending, vectors in columns of `second`.
  int64_t (*hermitian)(const SmallMatrices &x) = nullptr;
  /// Of `order` times `columns`: values descending, left vectors in columns of `second`, right ones in rows of `third`,
  /// conjugated.
  int64_t (*singular)(const SmallMatrices &x) = nullptr;
};
struct SmallSpectrumTable {
  SmallSpectrumKernels f32, f64, c64, c128;
};
TOY_KERNELS_FOR_ISA(SmallSpectrumTable, smallSpectrumKernels)

} // namespace toy::rt
