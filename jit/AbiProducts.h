// SPDX-License-Identifier: Apache-2.0
/// \file
/// Matrix products of compiled code. Operands are borrowed; results are the caller's.
#pragma once

#include "runtime/Value.h"

extern "C" {

/// A @ B with NumPy's rank rules, operands through strided views (see FunctionEmitter::viewArray). Flags: 1 conj of A,
/// 2 of B, 4 a product of halves is rounded to such, then the number of factors and results whose layout loops around
/// it change (two bits), then rt::Gram.
toy::rt::Tensor *toy_rt_gemm(toy::rt::Tensor *a, const int64_t *aView, toy::rt::Tensor *b, const int64_t *bView,
                             int64_t flags, double scale);
/// The parts of (a + ib) @ (c + id) through views of a and b, and of c and d. Flags: 1 conj of the left, 2 of the
/// right, then the strategy.
void toy_rt_planar_gemm(toy::rt::Tensor *a, toy::rt::Tensor *b, const int64_t *xView, toy::rt::Tensor *c,
                        toy::rt::Tensor *d, const int64_t *yView, int64_t flags, toy::rt::Tensor **results);
}
