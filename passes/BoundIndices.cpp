// SPDX-License-Identifier: Apache-2.0
/// \file
/// What intervals and inequalities prove about indices, sums and remainders.
#include "ir/Constants.h"
#include "passes/IntegerBounds.h"
#include "passes/Passes.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_BOUNDINDICES
#include "passes/Passes.h.inc"

namespace {

struct BoundIndicesPass : impl::BoundIndicesBase<BoundIndicesPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    WalkResult any = function.walk([](Operation *op) {
      bool isDivision = isa<FloorDivOp, ModOp>(op) && isInteger64(op->getResult(0));
      return isDivision || isa<CheckIndexOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!any.wasInterrupted())
      return;
    threadConditions(function);
    readOnEdges(function);
    Bounds bounds(function);
    llvm::DenseMap<std::pair<Value, Value>, SmallVector<CheckIndexOp, 1>> done;
    SmallVector<CheckIndexOp> needless; // facts name them
    Builder b(&getContext());
    auto visit = [&](Block *block) {
      for (Operation &op : llvm::make_early_inc_range(*block)) {
        if (isa<AddOp, SubOp, MulOp>(op) && isInteger64(op.getResult(0)) && bounds.isExact(&op, &op))
          op.setAttr("toy.exact", b.getUnitAttr());
        if (isa<FloorDivOp, ModOp>(op) && isInteger64(op.getResult(0)) && bounds.isPositive(op.getOperand(1), &op))
          describeDivision(&op, bounds);
        if (auto size = dyn_cast<SizeValueOp>(op)) {
          size.setExprAttr(bounds.deciding(size, size.getExpr(), &op).getAttr());
          if (bounds.isExact(size, size.getExpr(), &op))
            op.setAttr("toy.exact", b.getUnitAttr());
        }
        if (isa<CheckSizeOp, SizeValueOp, MinimumOp, MaximumOp>(op))
          bounds.noteCheck(&op);
        auto check = dyn_cast<CheckIndexOp>(op);
        if (!check)
          continue;
        auto &earlier = done[{check.getIndex(), check.getSize()}];
        auto same = llvm::find_if(
            earlier, [&](CheckIndexOp other) { return bounds.dominance.dominates(other.getOperation(), &op); });
        if (same != earlier.end()) {
          check.replaceAllUsesWith(same->getResult());
          needless.push_back(check);
          continue;
        }
        bool isPositive = bounds.isNeverNegative(check.getIndex(), &op);
        if (isPositive && bounds.isBelow(check.getIndex(), check.getSize(), 1, &op)) {
          check.replaceAllUsesWith(check.getIndex());
          check.setNonnegative(true);
          needless.push_back(check);
          continue;
        }
        if (isPositive)
          check.setNonnegative(true);
        bounds.noteCheck(check);
        earlier.push_back(check);
      }
    };
    if (function.getBody().hasOneBlock())
      visit(&function.getBody().front());
    else
      visitInDominanceOrder(bounds.dominance.getRootNode(&function.getBody()), visit);
    for (CheckIndexOp check : needless)
      check.erase();
  }

private:
  /// By what is positive. What goes around once (`(i + 1) % n`) or twice (`(i + j + n) % n`, of j from -1 to 1) takes
  /// no division.
  static void describeDivision(Operation *op, Bounds &bounds) {
    auto mark = [&](StringRef name) { op->setAttr(name, UnitAttr::get(op->getContext())); };
    Value x = op->getOperand(0), n = op->getOperand(1);
    const bool isRemainder = isa<ModOp>(op);
    if (bounds.isNeverNegative(x, op)) {
      mark("toy.unsigned");
      if (!isRemainder || constantInteger(n))
        return;
      if (bounds.isSumAtLeast(2, n, -1, x, 1, op))
        mark("toy.around");
      else if (bounds.isSumAtLeast(3, n, -1, x, 1, op))
        mark("toy.around_twice");
    } else if (isRemainder && !constantInteger(n) && bounds.isSumAtLeast(1, n, 1, x, 0, op) &&
               bounds.isBelow(x, n, 1, op))
      mark("toy.around");
  }

  template <typename Node> static void visitInDominanceOrder(Node *root, llvm::function_ref<void(Block *)> visit) {
    SmallVector<Node *> left = {root};
    while (!left.empty()) {
      Node *node = left.pop_back_val();
      visit(node->getBlock());
      for (Node *child : *node)
        left.push_back(child);
    }
  }
};

} // namespace
} // namespace toy
