// SPDX-License-Identifier: Apache-2.0
/// \file
/// What loops over elements pay in each turn, for remarks: copies, checks of indices, ends that are not known.
#include "passes/ControlFlow.h"
#include "passes/Passes.h"
#include "passes/RecognitionLog.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_REPORTLOOPS
#include "passes/Passes.h.inc"

namespace {

struct ReportLoopsPass : impl::ReportLoopsBase<ReportLoopsPass> {
  RecognitionLog *log = nullptr;

  void runOnOperation() override {
    FunctionLoops loops(getOperation());
    for (CFGLoop *loop : loops.all())
      for (Block *block : loop->getBlocks()) {
        if (loops.of(block) != loop)
          continue;
        for (Operation &op : *block)
          visit(&op, loop->isInnermost());
      }
    for (CFGLoop *loop : loops.all())
      if (loop->isInnermost() && readsElements(*loop) && !isCounted(*loop))
        report(loop->getHeader()->getTerminator()->getLoc(),
               "no vector code: how often this loop runs is not known when it begins, or it calls something");
  }

private:
  void visit(Operation *op, bool isInnermost) {
    if (isa<UniqueOp, ListUniqueOp>(op))
      report(op->getLoc(), "the tensor is copied here in each turn in which something else holds it, too");
    else if (auto call = dyn_cast<LibraryOp>(op))
      report(op->getLoc(), "`" + call.getFunction().str() + "` is a call of a library in each turn");
    else if (auto check = dyn_cast<CheckIndexOp>(op); check && isInnermost)
      report(op->getLoc(),
             check.getNonnegative()
                 ? "the index is compared with the size in each turn: nothing says that it is below it"
                 : "the index is compared with the size in each turn: nothing says that it lies inside",
             /*isCheck=*/true);
  }

  static bool readsElements(CFGLoop &loop) {
    return llvm::any_of(loop.getBlocks(), [](Block *block) {
      return llvm::any_of(*block, [](Operation &op) { return isa<ElementOp, ElementSetOp>(op); });
    });
  }
  /// Whether it runs in strips.
  static bool isCounted(CFGLoop &loop) {
    return llvm::all_of(edgesInto(loop.getHeader()), [&](const BlockEdge &edge) {
      return !loop.contains(edge.from()) || edge.terminator->hasAttr("toy.bare");
    });
  }

  void report(Location place, std::string text, bool isCheck = false) {
    if (log)
      log->loops.push_back({place, std::move(text), isCheck});
    else
      emitRemark(place, text);
  }
};

} // namespace

std::unique_ptr<Pass> createReportLoops(RecognitionLog *log) {
  auto pass = std::make_unique<ReportLoopsPass>();
  pass->log = log;
  return pass;
}

} // namespace toy
