// SPDX-License-Identifier: Apache-2.0
#include "passes/BlockVariable.h"

using namespace mlir;

namespace toy {

bool dropIfSame(BlockArgument argument) {
  Block *block = argument.getOwner();
  Value same;
  bool differs = false;
  for (const BlockEdge &edge : edgesInto(block)) {
    Value v = edge.operandOf(argument);
    differs |= v != argument && same && v != same;
    if (v != argument)
      same = v;
  }
  if (differs || !same)
    return false;
  argument.replaceAllUsesWith(same);
  for (const BlockEdge &edge : edgesInto(block))
    edge.operands().erase(argument.getArgNumber());
  block->eraseArgument(argument.getArgNumber());
  return true;
}

bool BlockVariable::isBefore(Value a, Value b) {
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return y && (!x || (x != y && x->isBeforeInBlock(y)));
}

Value BlockVariable::before(Operation *op) {
  Block *block = op->getBlock();
  for (Value v : llvm::reverse(byBlock[block]))
    if (Operation *def = v.getDefiningOp(); !def || (def != op && def->isBeforeInBlock(op)))
      return named(v, op);
  return named(atBegin(block), op);
}

Value BlockVariable::named(Value v, Operation *before) const {
  OpBuilder b(before);
  return v.getType() == type ? v : RelabelOp::create(b, before->getLoc(), type, v).getResult();
}

Value BlockVariable::atEnd(Block *block) {
  auto found = byBlock.find(block);
  return found != byBlock.end() && !found->second.empty() ? found->second.back() : atBegin(block);
}

/// Blocks are given an argument before what comes into them is asked for, so that loops come to an end.
Value BlockVariable::atBegin(Block *block) {
  if (Value known = begins.lookup(block))
    return known;
  auto edges = edgesInto(block);
  if (edges.size() == 1)
    return begins[block] = atEnd(edges.front().from());
  BlockArgument argument = block->addArgument(type, block->front().getLoc());
  begins[block] = argument;
  joins.insert(block);
  for (BlockEdge edge : edges) {
    Value v = named(atEnd(edge.from()), edge.terminator);
    edge.operands().append(v);
  }
  return argument;
}

/// What blocks are handed on the way here is what is there at their ends, so that an operation has one value in all of
/// its operands. They get more operands meanwhile.
void BlockVariable::replace(Value first) {
  llvm::SetVector<Operation *> users(first.user_begin(), first.user_end());
  llvm::DenseMap<Operation *, Value> found;
  for (Operation *user : users)
    found[user] = before(user);
  for (Operation *user : users)
    user->replaceUsesOfWith(first, found.lookup(user));
  drop();
}

void BlockVariable::drop() {
  for (bool changed = true; changed;) {
    changed = false;
    for (Block *block : SmallVector<Block *>(joins.begin(), joins.end()))
      if (dropIfSame(cast<BlockArgument>(begins.lookup(block)))) {
        joins.remove(block);
        changed = true;
      }
  }
}

} // namespace toy
