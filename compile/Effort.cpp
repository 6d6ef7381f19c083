// SPDX-License-Identifier: Apache-2.0
/// \file
/// How much work code does: whether it is worth compiling, and worth optimizing.
#include "compile/CompileImpl.h"

#include "ir/ToyDialect.h"
#include "passes/ControlFlow.h"

#include "mlir/Analysis/CallGraph.h"

#include "llvm/ADT/SCCIterator.h"

using namespace mlir;

namespace toy {

/// Whether control flow may come back to a block.
static bool hasLoops(func::FuncOp function) {
  SmallPtrSet<Block *, 16> seen;
  for (Block &block : function.getBody()) {
    seen.insert(&block);
    if (llvm::any_of(block.getSuccessors(), [&](Block *next) { return seen.contains(next); }))
      return true;
  }
  return false;
}

void markRecursion(ModuleOp module) {
  const CallGraph calls(module);
  for (auto it = llvm::scc_begin(&calls); !it.isAtEnd(); ++it)
    for (CallGraphNode *node : *it)
      if (it.hasCycle() && !node->isExternal())
        node->getCallableRegion()->getParentOp()->setAttr("toy.recursive", UnitAttr::get(module.getContext()));
}

bool hasElementLoops(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
    if (function->hasAttr("toy.recursive"))
      return true;
    FunctionLoops loops(function);
    auto isOf = [](CFGLoop *loop, auto test) {
      return llvm::any_of(loop->getBlocks(), [&](Block *block) { return llvm::any_of(*block, test); });
    };
    return llvm::any_of(loops.all(), [&](CFGLoop *loop) {
      return isOf(loop, [](Operation &op) { return isa<ElementOp, ElementSetOp>(op); }) ||
             (loop->isInnermost() && !isOf(loop, [](Operation &op) { return isa<FusedOp, GemmOp, PlanarGemmOp>(op); }));
    });
  });
}

bool isQuickAroundKernels(ModuleOp module, unsigned instructions) {
  constexpr unsigned many = 4000;
  return llvm::all_of(module.getOps<func::FuncOp>(), [&](func::FuncOp function) {
    return function.isExternal() || ((!function->hasAttr("toy.name") || instructions > many) && !hasLoops(function));
  });
}

bool isCheap(ModuleOp module) {
  constexpr int64_t manyElements = 4096;
  int64_t elements = 0;
  DenseMap<Operation *, bool> active; // functions on the way to the current one, and those that were left
  auto visit = [&](auto &self, func::FuncOp function) -> bool {
    auto [it, isNew] = active.try_emplace(function, true);
    if (!isNew)
      return !it->second;
    if (hasLoops(function))
      return false;
    for (Operation &op : function.getOps()) {
      for (Type type :
           llvm::concat<const Type>(SmallVector<Type>(op.getResultTypes()), SmallVector<Type>(op.getOperandTypes())))
        if (auto tensor = dyn_cast<TensorType>(type))
          elements += tensor.getStaticCount().value_or(manyElements + 1);
      if (elements > manyElements)
        return false;
      if (auto call = dyn_cast<func::CallOp>(op))
        if (auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
            callee && !callee.isExternal() && !self(self, callee))
          return false;
    }
    active[function] = false;
    return true;
  };
  return llvm::all_of(module.getOps<func::FuncOp>(), [&](func::FuncOp f) { return visit(visit, f); });
}

bool Compiler::isWorthCompiling(const Unit &unit, StringRef symbol) const {
  constexpr double muchWork = 8192;  // elements
  constexpr int64_t longText = 4096; // operations: a long literal, run once, costs more to compile
  constexpr int64_t unknownCount = 1 << 20;
  if (options.jit != JitMode::Auto)
    return options.jit == JitMode::Always;
  ModuleOp module = unit.module;
  SmallVector<func::FuncOp> parts = {module.lookupSymbol<func::FuncOp>(symbol)};
  for (size_t i = 0; i < parts.size(); ++i) { // with the blocks in it whose errors are caught
    if (hasLoops(parts[i]))
      return true;
    for (auto call : func::FuncOp(parts[i]).getOps<func::CallOp>())
      if (call->hasAttr(triedCall))
        parts.push_back(module.lookupSymbol<func::FuncOp>(call.getCallee()));
  }
  double work = 0;
  int64_t operations = 0;
  auto count = [&](auto &self, Operation *op) -> void {
    if (auto call = dyn_cast<func::CallOp>(op))
      if (func::FuncOp callee = unit.bodyOf(call.getCallee()); callee && callee->hasAttr("toy.prelude"))
        callee.walk([&](Operation *inner) { self(self, inner); });
    ++operations;
    bool reduces =
        op->hasTrait<toy::OpTrait::Reduction>(); // reads all of its operand; the others write all of their result
    if (op->hasTrait<toy::OpTrait::Elementwise>() || op->hasTrait<toy::OpTrait::IndexMap>() || reduces)
      for (Type type : reduces ? TypeRange(op->getOperandTypes()) : TypeRange(op->getResultTypes()))
        if (auto tensor = dyn_cast<TensorType>(type))
          work += static_cast<double>(tensor.getStaticCount().value_or(unknownCount));
  };
  for (func::FuncOp part : parts)
    part.walk([&](Operation *op) { count(count, op); });
  return operations <= longText && work > muchWork;
}

void Compiler::recognize(const Unit &unit, StringRef symbol) {
  ModuleOp module = unit.module;
  auto function = module.lookupSymbol<func::FuncOp>(symbol);
  auto mayMatter = [](Operation &op) { return isa<AddOp, SubOp, MulOp, MatMulOp, func::CallOp>(op); };
  if (!options.recognize || llvm::count_if(function.getOps(), mayMatter) < 3)
    return;
  CompiledUnit looked;
  compile(unit, looked, Phase::Recognize);
}

} // namespace toy
