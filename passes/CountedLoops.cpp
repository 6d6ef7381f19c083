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
  Operation *test = truth ? truth->getOperand(0).getDefiningOp() : nullptr;
  const bool isDown = isa_and_present<GtOp>(test);
  if (!isDown && !isa_and_present<LtOp>(test))
    return std::nullopt;
  auto counter = dyn_cast<BlockArgument>(test->getOperand(0));
  if (!back || !counter || counter.getOwner() != header || test->getBlock() != header ||
      !loop.contains(leave.getTrueDest()) || loop.contains(leave.getFalseDest()))
    return std::nullopt;
  Value end = test->getOperand(1);
  Block *boundBlock = end.getParentBlock();
  auto next = back.getDestOperands()[counter.getArgNumber()].getDefiningOp<AddOp>();
  if (loop.contains(boundBlock) || tensorTypeOf(counter).getDtype() != DType::I64 || !next ||
      next.getLhs() != counter || constantInteger(next.getRhs()) != (isDown ? -1 : 1))
    return std::nullopt;
  auto entries = entriesOf(loop);
  Value start = llvm::hasSingleElement(entries) ? entries.front().operandOf(counter) : Value();
  return CountedLoop{counter, end, back, isDown, start};
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
