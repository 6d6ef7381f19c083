// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sizes and branches that generation made for what did not come.
#include "irgen/Tidy.h"

#include "ir/ToyDialect.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;

namespace toy {

/// A block and the only one that comes after it and that nothing else leads to become one.
static void joinBlocks(func::FuncOp function) {
  for (Block &block : function.getBody())
    while (auto branch =
               dyn_cast_if_present<cf::BranchOp>(block.mightHaveTerminator() ? block.getTerminator() : nullptr)) {
      Block *next = branch.getDest();
      if (next == &block || next->getSinglePredecessor() != &block)
        break;
      for (auto [argument, value] : llvm::zip_equal(next->getArguments(), branch.getDestOperands()))
        argument.replaceAllUsesWith(value);
      branch.erase();
      block.getOperations().splice(block.end(), next->getOperations());
      next->erase();
    }
}

/// The slice that is all that looks at the elements of a value, made as often as the value is; null otherwise.
static SliceOp onlySlice(Value value) {
  SliceOp found;
  SmallVector<Value> same = {value};
  while (!same.empty())
    for (Operation *user : same.pop_back_val().getUsers())
      if (auto relabel = dyn_cast<RelabelOp>(user))
        same.push_back(relabel.getResult());
      else if (auto slice = dyn_cast<SliceOp>(user); slice && !found && slice->getBlock() == value.getParentBlock())
        found = slice;
      else if (!isa<DimOp>(user))
        return {};
  return found;
}

/// Of a file that is loaded for a part of it (`shard(load(path))`), that part is read.
static void readParts(Operation *load) {
  if (!isa<TensorType>(load->getResult(0).getType()))
    return;
  SliceOp slice = onlySlice(load->getResult(0));
  if (!slice)
    return;
  OpBuilder b(slice);
  auto part = ReadPartOp::create(b, slice.getLoc(), slice.getType(), slice.getX(), slice.getBounds(), slice.getSteps());
  part->setDiscardableAttrs(slice->getDiscardableAttrDictionary());
  slice.replaceAllUsesWith(part.getResult());
  slice.erase();
  load->setAttr("in_file", b.getUnitAttr());
}

void tidy(func::FuncOp function) {
  joinBlocks(function);
  for (Block &block : function.getBody())
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isa<DimOp, SizeValueOp, ConstantOp>(op) && op.use_empty())
        op.erase();
  function.walk([](Operation *op) {
    if (auto global = dyn_cast<GlobalLoadOp>(op); isa<LoadOp>(op) || (global && global.getLoaded()))
      readParts(op);
  });
}

void tidy(const FunctionState &state) {
  tidy(state.op);
  llvm::for_each(state.attempts, [](func::FuncOp attempt) { tidy(attempt); });
}

} // namespace toy
