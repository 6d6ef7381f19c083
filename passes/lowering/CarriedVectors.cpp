// SPDX-License-Identifier: Apache-2.0
#include "passes/lowering/CarriedVectors.h"

#include "llvm/ADT/EquivalenceClasses.h"

using namespace llvm;

namespace toy {

static bool isVector(mlir::Value v) {
  auto type = dyn_cast<TensorType>(v.getType());
  return type && type.getRank() == 1;
}

/// Whether an operation makes a vector longer or shorter by numbers, and keeps what else there is.
static bool changesLength(mlir::Operation *op) { return isa<AppendOp, ShortenOp>(op) && isVector(op->getOperand(0)); }

/// Values that are one vector at different times.
static void forEachStep(mlir::Operation *op, function_ref<void(mlir::Value, mlir::Value)> visit) {
  forEachHandedOn(op, [&](mlir::Value from, mlir::Value to) {
    if (isVector(from))
      visit(from, to);
  });
  if (changesLength(op))
    visit(op->getOperand(0), op->getResult(0));
}

CarriedVectors::CarriedVectors(mlir::func::FuncOp function, const FunctionLoops &loops) {
  SmallVector<mlir::Operation *> changes;
  function.walk([&](mlir::Operation *op) {
    if (changesLength(op) && op->getParentOp() == function)
      changes.push_back(op);
  });
  if (none_of(changes, [&](mlir::Operation *op) { return loops.of(op->getBlock()); }))
    return;
  EquivalenceClasses<void *> vectors;
  DenseMap<mlir::Value, SmallVector<mlir::Value, 2>> next;
  for (mlir::Block &block : function.getBody())
    for (mlir::Operation &op : block)
      forEachStep(&op, [&](mlir::Value from, mlir::Value to) {
        vectors.unionSets(from.getAsOpaquePointer(), to.getAsOpaquePointer());
        next[from].push_back(to);
      });
  for (mlir::Operation *op : changes)
    if (loops.of(op->getBlock()))
      for (void *v : vectors.members(op->getOperand(0).getAsOpaquePointer()))
        carried.insert(v);
  SmallVector<mlir::Value> behind;
  for (mlir::Operation *op : changes)
    if (contains(op->getResult(0)))
      behind.push_back(op->getResult(0));
  while (!behind.empty())
    if (mlir::Value v = behind.pop_back_val(); late.insert(v.getAsOpaquePointer()).second)
      append_range(behind, next.lookup(v));
}

bool CarriedVectors::needsHeader(mlir::Operation *op, mlir::Value v) const {
  return late.contains(v.getAsOpaquePointer()) && !isa<ElementOp, ElementSetOp, DimOp, RelabelOp>(op) &&
         !isa<mlir::BranchOpInterface>(op) && !(changesLength(op) && op->getOperand(0) == v);
}

} // namespace toy
