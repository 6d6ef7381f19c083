// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements that nobody reads: `var y = zeros(n); for i in range(n) { y[i] = …; }`.
#include "passes/CountedLoops.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_LEAVEUNWRITTEN
#include "passes/Passes.h.inc"

namespace {

/// A tensor of one number that a group makes.
struct Filled {
  FusedOp group;
  FullOp full;
  Value tensor;

  /// How many elements an axis has, outside of the group.
  Value size(unsigned axis) const {
    Value size = FullOp(full).getSizes()[axis];
    auto argument = dyn_cast<BlockArgument>(size);
    return argument && argument.getOwner() == &FusedOp(group).getBody().front()
               ? Value(FusedOp(group).getInputs()[argument.getArgNumber()])
               : size;
  }
};

std::optional<Filled> filledBy(FusedOp group) {
  auto full = group.getBody().front().getTerminator()->getOperand(0).getDefiningOp<FullOp>();
  if (!full || full.getUnwritten() || full->getBlock() != &group.getBody().front() || full.getSizes().empty())
    return std::nullopt;
  return Filled{group, full, group->getResult(0)};
}

bool isSameNumber(Value a, Value b) {
  auto number = constantInteger(a);
  return a == b || (number && number == constantInteger(b));
}

/// Whether each turn of a loop, from its header on, goes through one of some blocks.
bool goesThrough(CFGLoop &loop, const llvm::SmallPtrSetImpl<Block *> &blocks) {
  llvm::SmallVector<Block *> left = {loop.getHeader()->getTerminator()->getSuccessor(0)};
  llvm::SmallPtrSet<Block *, 16> seen(blocks.begin(), blocks.end());
  while (!left.empty()) {
    Block *block = left.pop_back_val();
    if (!seen.insert(block).second)
      continue;
    if (block == loop.getHeader())
      return false;
    llvm::append_range(left, block->getSuccessors());
  }
  return true;
}

/// Whether nothing but the end of its count leaves a loop.
bool leavesAtEnd(CFGLoop &loop) {
  return llvm::all_of(loop.getBlocks(), [&](Block *block) {
    return block == loop.getHeader() ||
           llvm::all_of(block->getSuccessors(), [&](Block *next) { return loop.contains(next); });
  });
}

/// The loop around all others of a nest that stores each element of a tensor, found from one of its stores, or null.
CFGLoop *nestThatFills(const Filled &filled, ElementSetOp store, const FunctionLoops &loops) {
  CFGLoop *loop = loops.of(store->getBlock()), *outermost = nullptr;
  llvm::SmallPtrSet<Block *, 4> through = {store->getBlock()};
  auto isOther = [&](Operation *user) { // a store of the same place in another branch
    auto other = dyn_cast<ElementSetOp>(user);
    return other && other.getX() == filled.tensor && other.getIndices() == store.getIndices();
  };
  for (Operation *user : filled.tensor.getUsers())
    if (isOther(user))
      through.insert(user->getBlock());
  for (unsigned axis = store.getIndices().size(); axis-- > 0;) {
    auto counted = loop ? countedLoop(*loop) : std::nullopt;
    if (!counted || counted->isDown || counted->counter != store.getIndices()[axis] || !counted->start ||
        constantInteger(counted->start) != 0 || !isSameNumber(counted->bound, filled.size(axis)) ||
        !leavesAtEnd(*loop) || !goesThrough(*loop, through))
      return nullptr;
    outermost = loop;
    through = {loop->getHeader()};
    loop = loop->getParentLoop();
  }
  return outermost;
}

/// Whether who uses a tensor does so when a nest has come to its end, stores into it, or asks for sizes alone.
bool isReadBehind(const Filled &filled, CFGLoop &nest, const DominanceInfo &dominance) {
  return llvm::all_of(filled.tensor.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<DimOp>(user))
      return true;
    if (user == nest.getHeader()->getTerminator()) {
      auto branch = cast<cf::CondBranchOp>(user);
      return !llvm::is_contained(branch.getTrueDestOperands(), filled.tensor);
    }
    if (nest.contains(user->getBlock())) {
      auto store = dyn_cast<ElementSetOp>(user);
      return store && store.getX() == filled.tensor && store.getValue() != filled.tensor;
    }
    return dominance.properlyDominates(nest.getHeader(), user->getBlock());
  });
}

struct LeaveUnwrittenPass : impl::LeaveUnwrittenBase<LeaveUnwrittenPass> {
  void runOnOperation() override {
    FunctionLoops loops(getOperation());
    if (loops.all().empty())
      return;
    const DominanceInfo dominance(getOperation());
    getOperation().walk([&](FusedOp group) {
      auto filled = group->getNumResults() == 1 ? filledBy(group) : std::nullopt;
      if (!filled)
        return;
      for (Operation *user : filled->tensor.getUsers()) {
        auto store = dyn_cast<ElementSetOp>(user);
        CFGLoop *nest = store && store.getX() == filled->tensor ? nestThatFills(*filled, store, loops) : nullptr;
        if (nest && !nest->contains(group->getBlock()) && isReadBehind(*filled, *nest, dominance)) {
          filled->full.setUnwritten(true);
          return;
        }
      }
    });
  }
};

} // namespace
} // namespace toy
