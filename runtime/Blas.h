// SPDX-License-Identifier: Apache-2.0
/// \file
/// Matrix products on OpenBLAS.
#pragma once

#include "runtime/Value.h"

namespace toy::rt {

/// A batch of matrices in memory: element strides of rows, columns and of each batch axis (0: broadcast).
struct MatrixOperand {
  const void *data;
  int64_t rowStride, columnStride;
  const int64_t *batchStrides;
  bool conjugate = false;
};

/// Multiplications (m*n*k) up to which plain loops are faster than a call of BLAS, and sum in the order of rule 13.
constexpr int64_t smallProduct = 64;

/// What B is where it is A's transpose or adjoint: of a product with as many rows that BLAS computes, one triangle is
/// computed.
enum class Gram { None, Transpose, Adjoint };

/// C[b] = alpha A[b] @ B[b] + beta C[b] for all batch indices; C is dense. Strides that BLAS takes as they are (one of
/// them 1) are used in place, others are packed. Integers wrap. k = 0 gives zeros. beta is 0 or 1; alpha other than 1
/// and beta other than 0 are for floating dtypes.
void gemm(DType dtype, int64_t m, int64_t n, int64_t k, MatrixOperand a, MatrixOperand b, void *c,
          std::span<const int64_t> batch, double alpha = 1, double beta = 0, Gram gram = Gram::None);

/// Elements of a tensor at `offset + sum(index * stride)`; strides may be 0 or negative.
struct StridedView {
  DType dtype;
  int64_t offset;
  std::vector<int64_t> sizes, strides;
  const void *data;
  bool conjugated = false;
};

StridedView denseView(const Tensor &t);

/// The sizes of `a @ b` and the strides of its operands, batch axes broadcast.
struct ProductShape {
  int64_t m, n, k;
  std::vector<int64_t> batch, result; ///< sizes
  int64_t aRow, aColumn, bRow, bColumn;
  std::vector<int64_t> aBatch, bBatch; ///< strides
};
ProductShape productShape(const StridedView &a, const StridedView &b);
/// The first element of a view.
const void *dataOf(const StridedView &v);

/// `scale * a @ b` with NumPy's rank rules: leading axes broadcast, a vector on the left is a row, on the right a
/// column. bool gives i64. Throws when the inner sizes differ.
TensorRef matmul(const StridedView &a, const StridedView &b, double scale = 1, Gram gram = Gram::None);

} // namespace toy::rt
