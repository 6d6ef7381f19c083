// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists of numbers as vectors, in one function.
#pragma once

#include "ir/ToyDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace toy {

/// Makes vectors of lists of numbers that are made, changed and read in the function only. Sizes that have no other
/// name get one that begins as said.
void makeVectors(mlir::func::FuncOp function, const llvm::DenseSet<mlir::Value> &lists, llvm::StringRef names);

} // namespace toy
