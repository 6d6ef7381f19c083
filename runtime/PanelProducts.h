// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products of matrices of f64 by a kernel of our own.
#pragma once

#include "runtime/Blas.h"

namespace toy::rt {

/// c = alpha a b + beta c for an m x k matrix a and a k x n matrix b; false where BLAS takes less time, and without
/// fused multiply-add.
bool panelProduct(int64_t m, int64_t n, int64_t k, double alpha, const double *a, const MatrixOperand &ao,
                  const double *b, const MatrixOperand &bo, double beta, double *c);

} // namespace toy::rt
