// SPDX-License-Identifier: Apache-2.0
#include "passes/lowering/AliasScopes.h"

#include "ir/ToyDialect.h"

#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace toy {

static bool isObject(mlir::Value v) {
  auto tensor = dyn_cast<TensorType>(v.getType());
  return isa<ListType>(v.getType()) || (tensor && !tensor.isScalar());
}

/// Whether a value may have elements. Vectors that begin as one empty one get memory of their own with their first.
static bool mayHaveElements(mlir::Value v) {
  auto tensor = dyn_cast<TensorType>(v.getType());
  return !tensor || tensor.getStaticCount() != 0;
}

AliasScopes::AliasScopes(mlir::func::FuncOp function, const mlir::Liveness &liveness) {
  bool any = function.walk([](ElementSetOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
  if (!any)
    return;
  for (mlir::Block &block : function.getBody())
    for (mlir::Operation &op : block)
      handOn(&op, liveness);
  function.walk([&](ElementSetOp op) { stored.insert(groups.getOrInsertLeaderValue(op.getX().getAsOpaquePointer())); });
}

/// What an operation gives may be the memory of its operands, but for new tensors: those take it only where it is free.
void AliasScopes::handOn(mlir::Operation *op, const mlir::Liveness &liveness) {
  if (auto branch = dyn_cast<mlir::BranchOpInterface>(op)) {
    for (unsigned i = 0; i < op->getNumSuccessors(); ++i)
      for (auto [operand, argument] :
           zip(branch.getSuccessorOperands(i).getForwardedOperands(), op->getSuccessor(i)->getArguments()))
        if (isObject(operand) && mayHaveElements(operand))
          unite(operand, argument);
    return;
  }
  const bool isNew = isa<FusedOp, GemmOp, PlanarGemmOp, FromElementsOp, UniqueOp>(op);
  mlir::Value first;
  SmallVector<mlir::Value> values(op->getOperands());
  append_range(values, op->getResults());
  for (mlir::Value v : values) {
    bool isKept = isNew && v.getDefiningOp() != op && !diesAt(liveness, v, op);
    if (!isObject(v) || !mayHaveElements(v) || isKept)
      continue;
    if (first)
      unite(first, v);
    first = v;
  }
}

void AliasScopes::makeScopes(LLVMContext &context) {
  MDBuilder md(context);
  MDNode *domain = md.createAnonymousAliasScopeDomain();
  for (size_t i = 0; i <= stored.size(); ++i)
    scopes.push_back(md.createAnonymousAliasScope(domain));
}

void AliasScopes::markHeader(Instruction &read) {
  if (stored.empty() || stored.size() > mostStored)
    return;
  if (scopes.empty())
    makeScopes(read.getContext());
  read.setMetadata(LLVMContext::MD_noalias, MDNode::get(read.getContext(), scopes));
}

void AliasScopes::mark(BasicBlock &block, Instruction *before, mlir::Value tensor) {
  if (stored.empty() || stored.size() > mostStored)
    return;
  LLVMContext &context = block.getContext();
  if (scopes.empty())
    makeScopes(context);
  void *group = groups.getOrInsertLeaderValue(tensor.getAsOpaquePointer());
  size_t own = find(stored, group) - stored.begin();
  SmallVector<Metadata *> others(scopes);
  others.erase(others.begin() + own);
  for (Instruction &i : make_range(before ? std::next(before->getIterator()) : block.begin(), block.end()))
    if (isa<LoadInst, StoreInst>(i)) {
      i.setMetadata(LLVMContext::MD_alias_scope, MDNode::get(context, scopes[own]));
      i.setMetadata(LLVMContext::MD_noalias, MDNode::get(context, others));
    }
}

} // namespace toy
