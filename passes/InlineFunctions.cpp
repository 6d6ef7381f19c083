// SPDX-License-Identifier: Apache-2.0
/// \file
/// Short user functions take the place of their calls, under the caller's names of sizes.
#include "passes/ControlFlow.h"
#include "passes/Passes.h"

#include "mlir/Analysis/CallGraph.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_INLINEFUNCTIONS
#include "passes/Passes.h.inc"

namespace {

constexpr unsigned largeFunction = 512, largeBranching = 120, largeCaller = 8 * largeFunction, manyLoops = 1024;

unsigned operationsIn(func::FuncOp function) {
  unsigned count = 0;
  for (Block &block : function.getBody())
    count += block.getOperations().size();
  return count;
}

/// Replaces one call by its callee's blocks.
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
    Block &entry = callee.getBody().front();
    SmallVector<Value> operands;
    for (Value operand : call.getOperands()) { // as it was before it took the callee's names
      auto relabel = operand.getDefiningOp<RelabelOp>();
      operands.push_back(relabel && !isOfCall(relabel) ? relabel.getX() : operand);
    }
    for (auto [argument, operand] : llvm::zip_equal(entry.getArguments(), operands))
      if (auto relabel = operand.getDefiningOp<RelabelOp>(); !relabel || !isOfCall(relabel))
        bind(argument.getType(), operand.getType(), sizes);
    for (auto [argument, operand] : llvm::zip_equal(entry.getArguments(), operands))
      mapping.map(argument, relabelled(b, operand, substitute(argument.getType(), sizes), call.getLoc()));
    if (callee.getBody().hasOneBlock()) {
      copyBlock(b, entry, call.getLoc(), sizes, mapping);
      for (auto [result, returned] : llvm::zip_equal(call.getResults(), entry.getTerminator()->getOperands()))
        give(b, result, mapping.lookup(returned), call.getLoc());
    } else
      copyBlocks(call, callee.getBody(), sizes, mapping);
    call.erase();
  }

private:
  /// Whether it gives a call's result names of the caller, or, by the fold of two, of another callee: the result itself
  /// has those of its own callee, which may be the same for two calls and stand for other sizes.
  static bool isOfCall(RelabelOp relabel) { return relabel.getX().getDefiningOp<func::CallOp>() != nullptr; }
  /// In the place of a call's result: what gives it other names reads names that stand for its sizes alone.
  void give(OpBuilder &b, Value result, Value inlined, Location loc) {
    for (OpOperand &use : llvm::make_early_inc_range(result.getUses()))
      if (isa<RelabelOp>(use.getOwner()))
        use.set(inlined);
    if (!result.use_empty())
      result.replaceAllUsesWith(relabelled(b, inlined, result.getType(), loc));
  }
  /// What is in a block, but for its end.
  void copyBlock(OpBuilder &b, Block &block, Location call, llvm::StringMap<Dim> &sizes, IRMapping &mapping) {
    for (Operation &op : block.without_terminator()) {
      Operation *copy = b.clone(op, mapping);
      copy->setLoc(CallSiteLoc::get(op.getLoc(), call));
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
  }

  /// The block of the call ends where the callee begins, and what is behind the call follows the callee's returns.
  void copyBlocks(func::CallOp call, Region &body, llvm::StringMap<Dim> &sizes, IRMapping &mapping) {
    Block *before = call->getBlock(), *after = before->splitBlock(call->getNextNode());
    OpBuilder b(call.getContext());
    llvm::ReversePostOrderTraversal<Region *> order(&body);
    for (Block *block : order) {
      if (block->isEntryBlock()) {
        mapping.map(block, before);
        continue;
      }
      Block *copy = b.createBlock(after);
      mapping.map(block, copy);
      for (BlockArgument argument : block->getArguments())
        mapping.map(argument, copy->addArgument(substitute(argument.getType(), sizes),
                                                CallSiteLoc::get(argument.getLoc(), call.getLoc())));
    }
    b.setInsertionPointToStart(after);
    for (Value result : call.getResults())
      give(b, result, after->addArgument(substitute(result.getType(), sizes), result.getLoc()), call.getLoc());
    for (Block *block : order) {
      b.setInsertionPointToEnd(mapping.lookup(block));
      copyBlock(b, *block, call.getLoc(), sizes, mapping);
      Operation *end = block->getTerminator();
      Location loc = CallSiteLoc::get(end->getLoc(), call.getLoc());
      if (!isa<func::ReturnOp>(end)) {
        b.clone(*end, mapping)->setLoc(loc);
        continue;
      }
      SmallVector<Value> returned;
      for (auto [value, argument] : llvm::zip_equal(end->getOperands(), after->getArguments()))
        returned.push_back(relabelled(b, mapping.lookup(value), argument.getType(), call.getLoc()));
      cf::BranchOp::create(b, loc, after, returned);
    }
  }

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
    // Of the module before, whose functions may have been where these are.
    visited.clear();
    uses.clear();
    recursive.clear();
    repeating.clear();
    const CallGraph calls(module);
    for (auto it = llvm::scc_begin(&calls); !it.isAtEnd(); ++it)
      for (CallGraphNode *node : *it)
        if (it.hasCycle() && !node->isExternal())
          recursive.insert(node->getCallableRegion()->getParentOp());
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

  /// Whether a function takes the place of its calls: a line of operations, or a few blocks that call nothing. What may
  /// be called 10,000 deep calls the latter, so that the limit stays where it is.
  bool isShort(func::FuncOp callee, func::FuncOp caller) const {
    if (callee.getBody().hasOneBlock())
      return callee.getBody().front().getOperations().size() <= largeFunction;
    return !recursive.contains(callee) && !recursive.contains(caller) && operationsIn(callee) <= largeBranching &&
           callee.getOps<func::CallOp>().begin() == callee.getOps<func::CallOp>().end();
  }

  /// Callees first, so that a body is complete when it is copied. What a call costs is nothing beside a loop behind it:
  /// loops that are called once stay where they are before one function has hundreds, for which LLVM takes longer than
  /// for hundreds of functions.
  void visit(func::FuncOp function) {
    if (!visited.insert(function).second || function.isExternal())
      return;
    active.insert(function);
    SmallVector<func::CallOp> calls;
    llvm::DenseSet<Operation *> inLoops;
    const FunctionLoops loops(function);
    function.walk([&](func::CallOp call) {
      calls.push_back(call);
      if (loops.of(call->getBlock()))
        inLoops.insert(call);
    });
    if (!loops.all().empty())
      repeating.insert(function);
    std::optional<CallInliner> inliner;
    for (func::CallOp call : calls) {
      auto callee = symbols->lookup<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal())
        continue;
      visit(callee);
      // The top level calls user functions through their own compiled entries; padded ones have a size of their own.
      if ((!function->hasAttr("toy.name") && !callee->hasAttr("toy.prelude")) || callee->hasAttr("toy.buckets") ||
          active.contains(callee) || triesOrIsTried(callee) || !isShort(callee, function) ||
          operationsIn(function) > (repeating.contains(callee) && !inLoops.contains(call) ? manyLoops : largeCaller))
        continue;
      if (repeating.contains(callee))
        repeating.insert(function);
      if (!inliner)
        inliner.emplace(function);
      inliner->run(call, callee);
    }
    active.erase(function);
  }

  llvm::DenseSet<Operation *> visited, active, recursive;
  llvm::DenseSet<Operation *> repeating; ///< those with loops
  llvm::DenseMap<StringAttr, int> uses;
  SymbolTable *symbols = nullptr;
};

} // namespace
} // namespace toy
