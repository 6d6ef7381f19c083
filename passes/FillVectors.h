// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace toy {

/// Vectors to which a counted loop appends a number in each turn, and nothing else, have all elements before it, and
/// the loop stores them (FillVectors.cpp).
void fillVectors(mlir::func::FuncOp function);

} // namespace toy
