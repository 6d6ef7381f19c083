// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loops that count, as `for` makes them, where passes have left them so.
#pragma once

#include "ir/Constants.h"
#include "ir/ToyDialect.h"
#include "passes/ControlFlow.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

namespace toy {

/// `for counter in start..bound` with steps of 1 or -1: the header compares, one block goes back to it.
struct CountedLoop {
  mlir::BlockArgument counter;
  mlir::Value bound;
  mlir::cf::BranchOp back;
  bool isDown = false;
  mlir::Value start = {}; ///< null where several ways lead into the loop
};

/// The loop in that form, or nothing.
std::optional<CountedLoop> countedLoop(mlir::CFGLoop &loop);

/// Whether a function is what statements of the top level are generated as.
bool isOfTopLevel(mlir::func::FuncOp function);
/// The counted loops around a block, from the outermost loop on; a loop that does not count ends them.
llvm::SmallVector<CountedLoop, 2> countedLoopsAround(const FunctionLoops &loops, mlir::Block *block);

} // namespace toy
