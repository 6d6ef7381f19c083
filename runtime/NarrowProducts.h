// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products with at most eight rows or columns, by kernels of our own: they are bound by reading the other matrix.
#pragma once

#include "runtime/Blas.h"

#include <complex>

namespace toy::rt {

/// c = alpha a b + beta c for an m x k matrix a and a k x n matrix b; false where neither is narrow. Bits do not depend
/// on how the matrices lie.
template <typename T>
bool narrowProduct(int64_t m, int64_t n, int64_t k, T alpha, const T *a, MatrixOperand ao, const T *b, MatrixOperand bo,
                   T beta, T *c);

/// c = a b for complex matrices, of which one is a vector; false where neither is.
template <typename T>
bool complexProduct(int64_t m, int64_t n, int64_t k, const std::complex<T> *a, MatrixOperand ao,
                    const std::complex<T> *b, MatrixOperand bo, std::complex<T> *c);

} // namespace toy::rt
