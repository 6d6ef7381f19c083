// SPDX-License-Identifier: Apache-2.0
/// \file
/// Straight-line user functions take the place of their calls, under the caller's names of sizes.
#include "passes/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_INLINEFUNCTIONS
#include "passes/Passes.h.inc"

namespace {

constexpr unsigned largeFunction = 512;

/// Replaces one call by its callee's only block.
class CallInliner {
public:
  CallInliner(func::FuncOp caller) {
    caller.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        collect(type);
    });
    for (Type type : caller.getArgumentTypes())
      collect(type);
  }

  void run(func::CallOp call, func::FuncOp callee) {
    OpBuilder b(call);
    llvm::StringMap<Dim> sizes;
    IRMapping mapping;
    Block &body = callee.getBody().front();
    SmallVector<Value> operands;
    for (Value operand : call.getOperands()) { // as it was before it took the callee's names
      auto relabel = operand.getDefiningOp<RelabelOp>();
      operands.push_back(relabel ? relabel.getX() : operand);
    }
    for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), operands))
      bind(argument.getType(), operand.getType(), sizes);
    for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), operands))
      mapping.map(argument, relabelled(b, operand, substitute(argument.getType(), sizes), call.getLoc()));
    for (Operation &op : body.without_terminator()) {
      Operation *copy = b.clone(op, mapping);
      copy->setLoc(CallSiteLoc::get(op.getLoc(), call.getLoc()));
      if (isa<func::CallOp>(copy)) { // a call that stays has the names of its own callee
        b.setInsertionPoint(copy);
        for (auto [i, operand] : llvm::enumerate(op.getOperands()))
          copy->setOperand(i, relabelled(b, copy->getOperand(i), operand.getType(), copy->getLoc()));
        b.setInsertionPointAfter(copy);
        for (auto [result, original] : llvm::zip_equal(copy->getResults(), op.getResults()))
          mapping.map(original, relabelled(b, result, substitute(result.getType(), sizes), copy->getLoc()));
        continue;
      }
      for (Value result : copy->getResults())
        result.setType(substitute(result.getType(), sizes));
    }
    for (auto [result, returned] : llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(relabelled(b, mapping.lookup(returned), result.getType(), call.getLoc()));
    call.erase();
  }

private:
  void collect(Type type) {
    if (auto tensor = dyn_cast<TensorType>(type))
      for (Dim dim : tensor.getDims())
        dim.collectSymbols([&](StringRef name) { names.insert(name); });
  }

  /// A bare name in an argument's type is the operand's size.
  void bind(Type argument, Type operand, llvm::StringMap<Dim> &sizes) {
    auto to = dyn_cast<TensorType>(argument), from = dyn_cast<TensorType>(operand);
    if (!to)
      return;
    for (auto [name, size] : llvm::zip_equal(to.getDims(), from.getDims()))
      if (StringRef symbol = name.symbolName(); !symbol.empty())
        sizes.try_emplace(symbol, size);
  }

  /// Names that only the callee knows get new ones.
  Type substitute(Type type, llvm::StringMap<Dim> &sizes) {
    auto tensor = dyn_cast<TensorType>(type);
    if (!tensor)
      return type;
    SmallVector<Dim> dims;
    for (Dim dim : tensor.getDims()) {
      dim.collectSymbols([&](StringRef name) {
        if (sizes.count(name))
          return;
        std::string fresh = name.str();
        while (!names.insert(fresh).second)
          fresh = (name + "_" + Twine(++counter)).str();
        sizes[name] = Dim::symbol(type.getContext(), fresh);
      });
      dims.push_back(dim.substitute(sizes));
    }
    return tensor.withDims(dims);
  }

  Value relabelled(OpBuilder &b, Value value, Type type, Location loc) {
    return value.getType() == type || !isa<TensorType>(type) ? value
                                                             : RelabelOp::create(b, loc, type, value).getResult();
  }

  llvm::StringSet<> names; ///< in use in the caller
  unsigned counter = 0;
};

struct InlineFunctionsPass : impl::InlineFunctionsBase<InlineFunctionsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    SymbolTable table(module);
    symbols = &table;
    uses.clear();
    for (func::FuncOp function : functions)
      visit(function);
    countUses(module.getBodyRegion(), 1);
    // What was only a body to copy, and what nobody calls any more.
    for (func::FuncOp function : functions) {
      bool imported = function->hasAttr("toy.imported");
      if (!imported && (!function.isPrivate() || function.isExternal()))
        continue;
      bool isUsed = uses.lookup(function.getSymNameAttr()) > 0;
      if (!isUsed || imported)
        countUses(function.getBody(), -1);
      if (!isUsed)
        function.erase();
      else if (imported) {
        function.eraseBody();
        function->removeAttr("toy.imported");
        function.setPrivate();
      }
    }
  }

private:
  /// Counts what a region says of functions, so that none of them has to be looked for in the whole module.
  void countUses(Region &region, int by) {
    std::optional<SymbolTable::UseRange> found = SymbolTable::getSymbolUses(&region);
    for (const SymbolTable::SymbolUse &use : *found)
      uses[use.getSymbolRef().getLeafReference()] += by;
  }

  /// Blocks whose errors are caught are called where they were written: their code is found in the same module.
  static bool triesOrIsTried(func::FuncOp function) {
    return function->hasAttr(triedCall) ||
           llvm::any_of(function.getOps<func::CallOp>(), [](func::CallOp call) { return call->hasAttr(triedCall); });
  }

  /// Callees first, so that a body is complete when it is copied.
  void visit(func::FuncOp function) {
    if (!visited.insert(function).second || function.isExternal())
      return;
    active.insert(function);
    SmallVector<func::CallOp> calls;
    function.walk([&](func::CallOp call) { calls.push_back(call); });
    std::optional<CallInliner> inliner;
    for (func::CallOp call : calls) {
      auto callee = symbols->lookup<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal())
        continue;
      visit(callee);
      // The top level calls user functions through their own compiled entries; padded ones have a size of their own.
      if ((!function->hasAttr("toy.name") && !callee->hasAttr("toy.prelude")) || callee->hasAttr("toy.buckets") ||
          active.contains(callee) || triesOrIsTried(callee) || !callee.getBody().hasOneBlock() ||
          callee.getBody().front().getOperations().size() > largeFunction ||
          function.getBody().front().getOperations().size() > 8 * largeFunction)
        continue;
      if (!inliner)
        inliner.emplace(function);
      inliner->run(call, callee);
    }
    active.erase(function);
  }

  llvm::DenseSet<Operation *> visited, active;
  llvm::DenseMap<StringAttr, int> uses;
  SymbolTable *symbols = nullptr;
};

} // namespace
} // namespace toy
