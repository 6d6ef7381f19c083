// SPDX-License-Identifier: Apache-2.0
#include "passes/ListSizes.h"

#include "ir/Constants.h"
#include "passes/ControlFlow.h"
#include "passes/ListGroups.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace toy {

ListSizes::ListSizes(MLIRContext *context, ArrayRef<Value> lists, StringRef names)
    : b(context), names(names), values(lists) {
  nameSizes();
}

/// Sizes, from those that lists are made with on. What a block is handed has the size that all ways give it, at first
/// of those that are known; if they differ, a name of its own, with which all begins again.
void ListSizes::nameSizes() {
  for (Value v : values)
    if (auto argument = dyn_cast<BlockArgument>(v);
        argument ? argument.getOwner()->isEntryBlock()
                 : isBeginning(v.getDefiningOp()) || isa<func::CallOp, ListElementOp>(v.getDefiningOp()))
      newName(v);
  for (bool again = true; again;) {
    sizes = named;
    const size_t before = named.size();
    for (bool changed = true; changed && named.size() == before;) {
      changed = false;
      for (Value v : values)
        if (!named.contains(v)) {
          Dim size = sizeFrom(v);
          if (named.size() != before || size == sizes.lookup(v)) // names are found by what was known before them
            continue;
          sizes[v] = size;
          changed = true;
        }
    }
    again = named.size() != before;
  }
}

/// What is known of the size of a value now, or nothing.
Dim ListSizes::sizeFrom(Value v) {
  if (auto list = v.getDefiningOp<ListOp>())
    return Dim::number(b.getContext(), list.getValues().size());
  if (auto append = v.getDefiningOp<ListAppendOp>()) {
    Dim before = sizes.lookup(append.getList());
    return before ? before + Dim::number(b.getContext(), 1) : Dim();
  }
  if (auto set = v.getDefiningOp<ListSetOp>())
    return sizes.lookup(set.getList());
  auto argument = cast<BlockArgument>(v);
  Dim same;
  for (const BlockEdge &edge : edgesInto(argument.getOwner())) {
    Dim handed = sizes.lookup(edge.operandOf(argument));
    if (handed && same && handed != same)
      return newName(v);
    same = handed ? handed : same;
  }
  return same;
}

Dim ListSizes::newName(Value v) { return named[v] = Dim::symbol(b.getContext(), (names + Twine(named.size())).str()); }

void ListSizes::relabelEdges(llvm::function_ref<TensorType(Value)> typeOf) {
  llvm::SetVector<Block *> blocks;
  for (Value v : values)
    if (auto argument = dyn_cast<BlockArgument>(v))
      blocks.insert(argument.getOwner());
  for (Block *block : blocks)
    for (BlockEdge edge : edgesInto(block)) {
      auto needsName = [&](Value argument) {
        return sizes.contains(argument) &&
               sizes.lookup(argument) != sizes.lookup(edge.operandOf(cast<BlockArgument>(argument)));
      };
      if (llvm::none_of(block->getArguments(), needsName))
        continue;
      if (!isa<cf::BranchOp>(edge.terminator))
        edge = splitEdge(edge, edge.terminator->getLoc());
      b.setInsertionPoint(edge.terminator);
      for (BlockArgument argument : llvm::make_filter_range(block->getArguments(), needsName)) {
        OpOperand &handed = edge.operands()[argument.getArgNumber()];
        handed.set(RelabelOp::create(b, edge.terminator->getLoc(), typeOf(argument), handed.get()));
      }
    }
}

Value ListSizes::lengthOf(Value list, Operation *at) {
  b.setInsertionPoint(at);
  Operation *def = list.getDefiningOp();
  if (auto slice = dyn_cast_if_present<ListSliceOp>(def))
    return slice.getCount();
  if (auto made = dyn_cast_if_present<ListOp>(def))
    return integerConstant(b, at->getLoc(), made.getValues().size());
  if (!isa_and_present<ListAppendOp, ListSetOp>(def))
    return DimOp::create(b, at->getLoc(), TensorType::scalar(b.getContext(), DType::I64), list, 0);
  if (!lengths.contains(def)) {
    Value before = lengthOf(def->getOperand(0), def);
    if (isa<ListAppendOp>(def))
      before = AddOp::create(b, def->getLoc(), before.getType(), before, integerConstant(b, def->getLoc(), 1));
    lengths[def] = before;
  }
  return lengths[def];
}

} // namespace toy
