// SPDX-License-Identifier: Apache-2.0
#include "passes/lowering/LentArguments.h"

#include "ir/ToyDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace toy {

static constexpr llvm::StringLiteral lentArgument = "toy.lent";

bool isLent(Value v) {
  auto argument = dyn_cast<BlockArgument>(v);
  auto function = argument && argument.getOwner()->isEntryBlock()
                      ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
                      : func::FuncOp();
  return function && function.getArgAttr(argument.getArgNumber(), lentArgument);
}

bool hasLentArguments(Operation *function) {
  auto f = cast<func::FuncOp>(function);
  return !f.isExternal() && llvm::any_of(f.getArguments(), [](Value argument) { return isLent(argument); });
}

/// Whether a number is appended to a vector that is used behind it in its block: to a copy.
static bool isCopied(OpOperand &use) {
  auto append = dyn_cast<AppendOp>(use.getOwner());
  return append && tensorTypeOf(append.getRow()).isScalar() && llvm::any_of(use.get().getUsers(), [&](Operation *user) {
           return user->getBlock() == append->getBlock() && append->isBeforeInBlock(user);
         });
}

bool isOnlyRead(Value v, ModuleOp module) {
  return llvm::all_of(v.getUses(), [&](OpOperand &use) {
    if (isa<ElementOp, DimOp>(use.getOwner()) || isCopied(use))
      return true;
    auto call = dyn_cast<func::CallOp>(use.getOwner());
    auto callee =
        call && !call->hasAttr(triedCall) ? module.lookupSymbol<func::FuncOp>(call.getCallee()) : func::FuncOp();
    return callee && !callee.isExternal() && isLent(callee.getArgument(use.getOperandNumber()));
  });
}

void markLentArguments(ModuleOp module) {
  llvm::SmallPtrSet<Operation *, 8> called;
  module.walk([&](func::CallOp call) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (callee && !callee.isExternal() && !callee->hasAttr(triedCall))
      called.insert(callee);
  });
  SmallVector<BlockArgument> lent; // taken back from those that prove to be more than read
  for (auto function : module.getOps<func::FuncOp>())
    if (called.contains(function))
      for (BlockArgument argument : function.getArguments())
        if (auto tensor = dyn_cast<TensorType>(argument.getType()); tensor && !tensor.isScalar()) {
          function.setArgAttr(argument.getArgNumber(), lentArgument, UnitAttr::get(module.getContext()));
          lent.push_back(argument);
        }
  for (bool changed = true; changed;) {
    changed = false;
    for (BlockArgument argument : lent)
      if (isLent(argument) && !isOnlyRead(argument, module)) {
        cast<func::FuncOp>(argument.getOwner()->getParentOp()).removeArgAttr(argument.getArgNumber(), lentArgument);
        changed = true;
      }
  }
}

} // namespace toy
