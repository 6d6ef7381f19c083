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

/// C[b] = A[b] @ B[b] for all batch indices; C is dense. Strides that BLAS takes as they are (one of them 1) are used in place, others are packed.
/// Integers wrap. k = 0 gives zeros.
void gemm(DType dtype, int64_t m, int64_t n, int64_t k, MatrixOperand a, MatrixOperand b, void *c, std::span<const int64_t> batch);

} // namespace toy::rt
