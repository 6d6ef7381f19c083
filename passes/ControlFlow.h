// SPDX-License-Identifier: Apache-2.0
/// \file
/// What passes and the emitter ask about blocks: loops, edges, last uses.
#pragma once

#include "ir/ToyDialect.h"

#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/Analysis/Liveness.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include <optional>

namespace toy {

/// An attribute of `toy.append` and `toy.shorten`: nobody else can hold the operand, which dies there.
constexpr llvm::StringLiteral ownedOperand = "toy.owned";

/// An attribute of `toy.list_element`: the index may be outside, where an empty value is given, and what is read of the
/// element is what is there then.
constexpr llvm::StringLiteral guardedElement = "toy.guarded";

/// The loops of a function, as its blocks are now. One of a single block, which has no dominator tree, has none.
class FunctionLoops {
public:
  explicit FunctionLoops(mlir::func::FuncOp function) {
    if (function.isExternal() || function.getBody().hasOneBlock())
      return;
    mlir::DominanceInfo dominance(function);
    loops.emplace(dominance.getDomTree(&function.getBody()));
  }
  /// The innermost loop around a block, or null.
  mlir::CFGLoop *of(mlir::Block *block) const { return loops ? loops->getLoopFor(block) : nullptr; }
  /// All of them, outer ones before what is in them.
  llvm::SmallVector<mlir::CFGLoop *, 4> all() const {
    return loops ? loops->getLoopsInPreorder() : llvm::SmallVector<mlir::CFGLoop *, 4>();
  }

private:
  std::optional<mlir::CFGLoopInfo> loops;
};

/// A way from a block's end to another block.
struct BlockEdge {
  mlir::Operation *terminator;
  unsigned successor;

  mlir::Block *from() const { return terminator->getBlock(); }
  /// What the block's arguments get on it.
  mlir::MutableOperandRange operands() const {
    return llvm::cast<mlir::BranchOpInterface>(terminator)
        .getSuccessorOperands(successor)
        .getMutableForwardedOperands();
  }
  mlir::Value operandOf(mlir::BlockArgument argument) const { return operands()[argument.getArgNumber()].get(); }
};
inline llvm::SmallVector<BlockEdge, 2> edgesInto(mlir::Block *block) {
  llvm::SmallVector<BlockEdge, 2> edges;
  for (auto it = block->pred_begin(), end = block->pred_end(); it != end; ++it)
    edges.push_back({(*it)->getTerminator(), it.getSuccessorIndex()});
  return edges;
}
/// A block of its own on an edge, before the block that it goes to, and the edge out of it.
inline BlockEdge splitEdge(BlockEdge edge, mlir::Location loc) {
  mlir::OpBuilder b(edge.terminator->getContext());
  mlir::Block *to = edge.terminator->getSuccessor(edge.successor), *between = b.createBlock(to);
  mlir::MutableOperandRange operands = edge.operands();
  auto branch = mlir::cf::BranchOp::create(b, loc, to, llvm::SmallVector<mlir::Value>(operands.getAsOperandRange()));
  operands.clear();
  edge.terminator->setSuccessor(between, edge.successor);
  return {branch, 0};
}
/// Values that are one object under two names behind an operation: what a branch hands to a block's arguments, and what
/// gets other names of sizes.
inline void forEachHandedOn(mlir::Operation *op, llvm::function_ref<void(mlir::Value, mlir::Value)> visit) {
  if (auto relabel = llvm::dyn_cast<RelabelOp>(op))
    visit(relabel.getX(), relabel.getResult());
  auto branch = llvm::dyn_cast<mlir::BranchOpInterface>(op);
  for (unsigned i = 0, n = branch ? op->getNumSuccessors() : 0; i < n; ++i)
    for (auto [operand, argument] :
         llvm::zip(branch.getSuccessorOperands(i).getForwardedOperands(), op->getSuccessor(i)->getArguments()))
      visit(operand, argument);
}
/// The edges into a loop's header that do not come back from the loop.
inline llvm::SmallVector<BlockEdge, 2> entriesOf(mlir::CFGLoop &loop) {
  llvm::SmallVector<BlockEdge, 2> edges = edgesInto(loop.getHeader());
  llvm::erase_if(edges, [&](const BlockEdge &edge) { return loop.contains(edge.from()); });
  return edges;
}

/// Passes blocks by that only ask again for what is known on the way to them (ThreadConditions.cpp).
void threadConditions(mlir::func::FuncOp function);
/// Reads elements of vectors that may have grown on the ways to where they are read (ReadsOnEdges.cpp).
void readOnEdges(mlir::func::FuncOp function);

/// Whether `op` uses the value for the last time in its function.
inline bool diesAt(const mlir::Liveness &liveness, mlir::Value v, mlir::Operation *op) {
  mlir::Block *block = op->getBlock();
  if (liveness.getLiveness(block)->isLiveOut(v))
    return false;
  return llvm::none_of(v.getUsers(), [&](mlir::Operation *user) {
    mlir::Operation *at = block->findAncestorOpInBlock(*user);
    return at && at != op && op->isBeforeInBlock(at);
  });
}

} // namespace toy
