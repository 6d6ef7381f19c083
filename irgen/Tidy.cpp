// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sizes and branches that generation made for what did not come.
#include "irgen/Tidy.h"

#include "ir/ToyDialect.h"
#include "irgen/OnlyParts.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;

namespace toy {

/// A block and the only one that comes after it and that nothing else leads to become one.
static void joinBlocks(func::FuncOp function) {
  for (Block &block : function.getBody())
    while (auto branch =
               dyn_cast_if_present<cf::BranchOp>(block.mightHaveTerminator() ? block.getTerminator() : nullptr)) {
      Block *next = branch.getDest();
      if (next == &block || next->getSinglePredecessor() != &block)
        break;
      for (auto [argument, value] : llvm::zip_equal(next->getArguments(), branch.getDestOperands()))
        argument.replaceAllUsesWith(value);
      branch.erase();
      block.getOperations().splice(block.end(), next->getOperations());
      next->erase();
    }
}

void tidy(func::FuncOp function) {
  joinBlocks(function);
  for (Block &block : function.getBody())
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isa<DimOp, SizeValueOp, ConstantOp>(op) && op.use_empty())
        op.erase();
  makeOnlyParts(function);
}

void tidy(const FunctionState &state) {
  tidy(state.op);
  llvm::for_each(state.attempts, [](func::FuncOp attempt) { tidy(attempt); });
}

} // namespace toy
