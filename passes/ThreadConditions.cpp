// SPDX-License-Identifier: Apache-2.0
/// \file
/// `if a and b`: what is known of `a` where the condition holds. A block that only asks for what it was handed is
/// passed by where that is known.
#include "passes/ControlFlow.h"
#include "passes/Rewriting.h"

#include "ir/ToyDialect.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;

namespace toy {

/// The branch of a block that has nothing else in it but the question for its argument.
static cf::CondBranchOp onlyQuestion(Block &block) {
  auto branch = dyn_cast<cf::CondBranchOp>(block.getTerminator());
  if (!branch || block.getOperations().size() != 2 || block.isEntryBlock())
    return {};
  auto truth = dyn_cast<TruthOp>(block.front());
  if (!truth || branch.getCondition() != truth->getResult(0) || !truth->getResult(0).hasOneUse() ||
      truth->getOperand(0).getParentBlock() != &block)
    return {};
  bool isLocal = llvm::all_of(block.getArguments(), [&](Value argument) {
    return llvm::all_of(argument.getUsers(), [&](Operation *user) { return user->getBlock() == &block; });
  });
  return isLocal ? branch : cf::CondBranchOp();
}

/// What an edge hands on, if it is known there: the edge is the one of a branch by that value.
static std::optional<bool> knownOn(const BlockEdge &edge, BlockArgument argument) {
  auto branch = dyn_cast<cf::CondBranchOp>(edge.terminator);
  auto truth = branch ? branch.getCondition().getDefiningOp<TruthOp>() : TruthOp();
  if (!truth || truth->getOperand(0) != edge.operandOf(argument) || branch.getTrueDest() == branch.getFalseDest())
    return std::nullopt;
  return edge.successor == 0;
}

static bool passBy(Block &block, func::FuncOp function) {
  cf::CondBranchOp branch = onlyQuestion(block);
  if (!branch)
    return false;
  auto edges = edgesInto(&block);
  const DominanceInfo dominance(function);
  if (llvm::any_of(edges, [&](const BlockEdge &edge) { return dominance.dominates(&block, edge.from()); }))
    return false; // what goes around would have two entries
  auto argument = cast<BlockArgument>(branch.getCondition().getDefiningOp()->getOperand(0));
  bool changed = false;
  for (const BlockEdge &edge : edges) {
    std::optional<bool> known = knownOn(edge, argument);
    if (!known)
      continue;
    SmallVector<Value> handed;
    for (Value v : *known ? branch.getTrueDestOperands() : branch.getFalseDestOperands()) {
      auto own = dyn_cast<BlockArgument>(v);
      handed.push_back(own && own.getOwner() == &block ? edge.operandOf(own) : v);
    }
    edge.operands().assign(handed);
    edge.terminator->setSuccessor(*known ? branch.getTrueDest() : branch.getFalseDest(), edge.successor);
    changed = true;
  }
  return changed;
}

void threadConditions(func::FuncOp function) {
  if (function.isExternal() || function.getBody().hasOneBlock())
    return;
  for (bool changed = true; changed;) {
    changed = false;
    for (Block &block : llvm::make_early_inc_range(function.getBody())) {
      changed |= passBy(block, function);
      if (block.hasNoPredecessors() && !block.isEntryBlock() && onlyQuestion(block))
        block.erase();
    }
  }
}

} // namespace toy
