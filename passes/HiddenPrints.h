// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a program prints where the rank that shows its output never comes.
#pragma once

#include "ir/ToyDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace toy {

/// The rank that shows its output, and what is known there.
struct PrintingRank {
  int64_t rank, count;
  llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> globalInteger;
  llvm::function_ref<mlir::func::FuncOp(llvm::StringRef)> bodyOf; ///< of functions of other modules
};

/// Printing operations, and calls of functions that print, in blocks that this rank cannot come to.
std::vector<mlir::Operation *> findHiddenPrints(mlir::ModuleOp module, const PrintingRank &printer);

} // namespace toy
