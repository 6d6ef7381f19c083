// SPDX-License-Identifier: Apache-2.0
/// \file
/// Strings that are written in a loop are made before it, once.
#include "passes/ControlFlow.h"
#include "passes/Passes.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_HOISTSTRINGS
#include "passes/Passes.h.inc"

namespace {

/// The outermost loop around a block, or null.
CFGLoop *outermostLoop(const FunctionLoops &loops, Block *block) {
  CFGLoop *loop = loops.of(block);
  return loop ? loop->getOutermostLoop() : nullptr;
}

struct HoistStringsPass : impl::HoistStringsBase<HoistStringsPass> {
  void runOnOperation() override {
    FunctionLoops loops(getOperation());
    DominanceInfo dominance(getOperation());
    SmallVector<std::pair<StrConstantOp, Block *>> moves;
    getOperation().walk([&](StrConstantOp op) {
      if (CFGLoop *loop = outermostLoop(loops, op->getBlock()))
        if (DominanceInfoNode *before = dominance.getNode(loop->getHeader())->getIDom())
          moves.emplace_back(op, before->getBlock());
    });
    for (auto [op, before] : moves)
      op->moveBefore(before->getTerminator());
  }
};

} // namespace
} // namespace toy
