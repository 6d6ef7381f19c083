// SPDX-License-Identifier: Apache-2.0
/// \file
/// `if next[i] < 0 { next[i] = len(next); next = append(next, -1); } i = next[i];`: behind the condition the vector may
/// be a longer one, so the index is checked and the element read anew in each turn. On the way where nothing was
/// appended both are known: what the block behind begins with is done on the edges that lead to it, where it is not.
#include "ir/Constants.h"
#include "passes/ControlFlow.h"
#include "passes/Rewriting.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace toy {
namespace {

/// The value that others are names of.
Value withoutNames(Value v) {
  while (auto relabel = v.getDefiningOp<RelabelOp>())
    v = relabel.getX();
  return v;
}

/// Whether an operation may be done earlier in its block: it gives a number and cannot fail, but for checks of indices,
/// which stay in their order.
bool isMovable(Operation *op) {
  if (isa<DimOp, ElementOp, CheckIndexOp, ConstantOp>(op))
    return op->getNumRegions() == 0 && tensorTypeOf(op->getResult(0)).isScalar();
  if (isa<FloorDivOp, ModOp>(op))
    return constantInteger(op->getOperand(1)).value_or(0) > 0;
  return isa<AddOp, SubOp, MulOp, LtOp, GtOp, LeOp, GeOp, EqOp, NeOp>(op) && tensorTypeOf(op->getResult(0)).isScalar();
}

class JoinedReads {
public:
  JoinedReads(Block &block, DominanceInfo &dominance) : block(block), dominance(dominance), edges(edgesInto(&block)) {}

  bool move() {
    if (!isJoin() || !findReads())
      return false;
    SmallVector<Value> handed; // the results that others use
    for (Operation *op : reads)
      if (llvm::any_of(op->getUsers(), [&](Operation *user) { return !reads.contains(user); }))
        handed.push_back(op->getResult(0));
    for (const BlockEdge &edge : edges)
      readOn(edge, handed);
    for (Value v : handed)
      v.replaceAllUsesWith(block.addArgument(v.getType(), v.getLoc()));
    for (Operation *op : llvm::reverse(reads))
      op->erase();
    return true;
  }

private:
  static constexpr size_t mostEdges = 4, mostReads = 16;

  /// Several ways lead here, none of them from here.
  bool isJoin() const {
    return edges.size() > 1 && edges.size() <= mostEdges && llvm::none_of(edges, [&](const BlockEdge &edge) {
             return dominance.dominates(&block, edge.from()) || !isa<cf::BranchOp, cf::CondBranchOp>(edge.terminator);
           });
  }

  /// Whether a vector came to this block longer on some way.
  bool isGrown(Value v) const {
    auto argument = dyn_cast<BlockArgument>(v);
    return argument && argument.getOwner() == &block && llvm::any_of(edges, [&](const BlockEdge &edge) {
             return withoutNames(edge.operandOf(argument)).getDefiningOp<AppendOp>() != nullptr;
           });
  }

  /// What the block begins with, up to an element of a vector that grew, if all of it is known on some way: the more,
  /// the better.
  bool findReads() {
    for (Operation &op : block) {
      if (!isMovable(&op) || reads.size() == mostReads)
        break;
      reads.insert(&op);
    }
    for (; !reads.empty(); reads.pop_back())
      if (auto element = dyn_cast<ElementOp>(reads.back()); element && isGrown(element.getX()))
        if (llvm::any_of(edges, [&](const BlockEdge &edge) { return isKnown(edge); }))
          return true;
    return false;
  }

  /// What stands for an operand on an edge.
  Value onEdge(Value v, const BlockEdge &edge, const IRMapping &map) const {
    auto argument = dyn_cast<BlockArgument>(v);
    return argument && argument.getOwner() == &block ? withoutNames(edge.operandOf(argument)) : map.lookupOrDefault(v);
  }

  /// The same operation of what stands for its operands, done on all ways to the edge; or null.
  Operation *doneBefore(Operation *op, const BlockEdge &edge, const IRMapping &map) const {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(onEdge(operand, edge, map));
    if (operands.empty())
      return nullptr;
    for (Operation *other : operands.front().getUsers())
      if (other != op && other->getName() == op->getName() && other->getAttrDictionary() == op->getAttrDictionary() &&
          other->getResultTypes() == op->getResultTypes() && dominance.properlyDominates(other, edge.terminator) &&
          llvm::equal(operands, other->getOperands(), [](Value a, Value b) { return a == withoutNames(b); }))
        return other;
    return nullptr;
  }

  /// Whether all checks and elements are known on an edge.
  bool isKnown(const BlockEdge &edge) const {
    IRMapping map;
    for (Operation *op : reads)
      if (Operation *other = doneBefore(op, edge, map))
        map.map(op->getResult(0), other->getResult(0));
      else if (isa<CheckIndexOp, ElementOp>(op))
        return false;
    return true;
  }

  void readOn(const BlockEdge &edge, ArrayRef<Value> handed) const {
    IRMapping map;
    for (BlockArgument argument : block.getArguments())
      map.map(argument, edge.operandOf(argument));
    SmallVector<Operation *> made; // the block of an edge is not in the tree of dominators
    for (Operation *op : reads)
      if (Operation *other = doneBefore(op, edge, map))
        map.map(op->getResult(0), other->getResult(0));
      else
        made.push_back(op->clone(map));
    SmallVector<Value> values = llvm::map_to_vector(handed, [&](Value v) { return map.lookup(v); });
    const bool isShared = !made.empty() && edge.terminator->getNumSuccessors() > 1;
    const BlockEdge last = isShared ? splitEdge(edge, block.front().getLoc()) : edge;
    OpBuilder b(last.terminator);
    for (Operation *op : made)
      b.insert(op);
    last.operands().append(values);
  }

  Block &block;
  DominanceInfo &dominance;
  SmallVector<BlockEdge, 2> edges;
  llvm::SetVector<Operation *> reads;
};

} // namespace

void readOnEdges(func::FuncOp function) {
  FunctionLoops loops(function);
  SmallVector<Block *> joins;
  for (Block &block : function.getBody())
    if (loops.of(&block) && llvm::any_of(block.getOps<ElementOp>(), [&](ElementOp op) {
          return op.getX().getParentBlock() == &block && isa<BlockArgument>(op.getX());
        }))
      joins.push_back(&block);
  DominanceInfo dominance(function);
  for (Block *block : joins)
    if (JoinedReads(*block, dominance).move())
      dominance.invalidate();
}

} // namespace toy
