// SPDX-License-Identifier: Apache-2.0
/// \file
/// Forms that round differently from the complex operation they are: raised only when that is allowed, reported
/// otherwise.
#pragma once

#include "passes/RecognitionLog.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace toy {

/// Quotients and reciprocals by the squared magnitude, exponentials, products by three multiplications, accumulations
/// without parentheses, magnitudes as square roots of sums of squares. With `allowed` they are raised; otherwise each
/// is a missed place that names the option.
void recognizeRelaxed(mlir::func::FuncOp function, RecognitionLog &log, bool allowed);

} // namespace toy
