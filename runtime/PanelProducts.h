// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products of matrices by a kernel of our own.
#pragma once

#include "runtime/Blas.h"
#include "runtime/ProductKernels.h"

namespace toy::rt {

/// c = alpha a b + beta c for an m x k matrix a and a k x n matrix b of real or complex numbers; false without fused
/// multiply-add.
template <typename Number>
bool panelProduct(int64_t m, int64_t n, int64_t k, Part<Number> alpha, const Number *a, const MatrixOperand &ao,
                  const Number *b, const MatrixOperand &bo, Part<Number> beta, Number *c);

} // namespace toy::rt
