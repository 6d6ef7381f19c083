// SPDX-License-Identifier: Apache-2.0
/// \file
/// A loop's header compares its counter, and what goes back adds 1 to it.
#include "passes/CountedLoops.h"

using namespace mlir;

namespace toy {

std::optional<CountedLoop> countedLoop(CFGLoop &loop) {
  Block *header = loop.getHeader(), *latch = loop.getLoopLatch();
  auto leave = dyn_cast<cf::CondBranchOp>(header->getTerminator());
  auto back = latch ? dyn_cast<cf::BranchOp>(latch->getTerminator()) : cf::BranchOp();
  auto truth = leave ? leave.getCondition().getDefiningOp<TruthOp>() : TruthOp();
  auto test = truth ? truth->getOperand(0).getDefiningOp<LtOp>() : LtOp();
  auto counter = test ? dyn_cast<BlockArgument>(test.getLhs()) : BlockArgument();
  if (!back || !counter || counter.getOwner() != header || test->getBlock() != header ||
      !loop.contains(leave.getTrueDest()) || loop.contains(leave.getFalseDest()))
    return std::nullopt;
  Operation *bound = test.getRhs().getDefiningOp();
  Block *boundBlock = bound ? bound->getBlock() : cast<BlockArgument>(test.getRhs()).getOwner();
  auto next = back.getDestOperands()[counter.getArgNumber()].getDefiningOp<AddOp>();
  if (loop.contains(boundBlock) || tensorTypeOf(counter).getDtype() != DType::I64 || !next ||
      next.getLhs() != counter || constantInteger(next.getRhs()) != 1)
    return std::nullopt;
  return CountedLoop{counter, test.getRhs(), back};
}

bool isOfTopLevel(func::FuncOp function) {
  return !function.isExternal() && function.getNumArguments() == 0 && !function->hasAttr("toy.name") &&
         !function->hasAttr("toy.prelude") && !function->hasAttr(triedCall);
}

llvm::SmallVector<CountedLoop, 2> countedLoopsAround(const FunctionLoops &loops, Block *block) {
  llvm::SmallVector<CFGLoop *, 4> around;
  for (CFGLoop *loop = loops.of(block); loop; loop = loop->getParentLoop())
    around.push_back(loop);
  llvm::SmallVector<CountedLoop, 2> counted;
  for (CFGLoop *loop : llvm::reverse(around)) {
    auto found = countedLoop(*loop);
    if (!found)
      break;
    counted.push_back(*found);
  }
  return counted;
}

} // namespace toy
