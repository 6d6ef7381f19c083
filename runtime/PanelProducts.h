// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products of real matrices by a kernel of our own.
#pragma once

#include "runtime/Blas.h"

namespace toy::rt {

/// c = alpha a b + beta c for an m x k matrix a and a k x n matrix b; false where BLAS takes less time, and without
/// fused multiply-add.
template <typename T>
bool panelProduct(int64_t m, int64_t n, int64_t k, T alpha, const T *a, const MatrixOperand &ao, const T *b,
                  const MatrixOperand &bo, T beta, T *c);

} // namespace toy::rt
