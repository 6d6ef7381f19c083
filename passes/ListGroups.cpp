// SPDX-License-Identifier: Apache-2.0
#include "passes/ListGroups.h"

#include "ir/Constants.h"

#include "mlir/IR/RegionGraphTraits.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;

namespace toy {

bool isListOfNumbers(Type type) {
  auto list = dyn_cast<ListType>(type);
  auto element = list ? dyn_cast<TensorType>(list.getElement()) : TensorType();
  return element && element.isScalar();
}

/// A list of numbers, or a list of such lists.
static bool hasListOfNumbers(Type type) {
  auto list = dyn_cast<ListType>(type);
  return list && (isListOfNumbers(type) || hasListOfNumbers(list.getElement()));
}

bool isBeginning(Operation *op) {
  auto slice = dyn_cast_if_present<ListSliceOp>(op);
  return slice && constantInteger(slice.getStart()) == 0 && constantInteger(slice.getStep()) == 1;
}
bool isChange(Operation *op) { return isa_and_present<ListAppendOp, ListSetOp>(op) || isBeginning(op); }

// --- functions

/// Functions with lists of numbers, or of such, in their signature, but for those whose callers are not calls.
static llvm::StringMap<func::FuncOp> functionsWithLists(ModuleOp module) {
  llvm::StringMap<func::FuncOp> found;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && !function->hasAttr(triedCall) &&
        (llvm::any_of(function.getArgumentTypes(), hasListOfNumbers) ||
         llvm::any_of(function.getResultTypes(), hasListOfNumbers)))
      found[function.getSymName()] = function;
  module.walk([&](func::CallOp call) {
    if (call->hasAttr(triedCall))
      found.erase(call.getCallee());
  });
  return found;
}

VectorForms::VectorForms(ModuleOp module) : module(module) {
  const llvm::StringMap<func::FuncOp> originalOf = functionsWithLists(module);
  if (originalOf.empty())
    return;
  SmallVector<func::FuncOp> open;
  for (auto function : module.getOps<func::FuncOp>())
    if (!originalOf.contains(function.getSymName()))
      open.push_back(function);
  SymbolTable table(module);
  llvm::StringMap<func::FuncOp> made;
  while (!open.empty())
    open.pop_back_val().walk([&](func::CallOp call) {
      func::FuncOp original = originalOf.lookup(call.getCallee());
      if (!original)
        return;
      func::FuncOp &form = made[call.getCallee()];
      if (!form) {
        form = original.clone();
        form.setName((original.getSymName() + ".vectors").str());
        form.setPrivate();
        table.insert(form, std::next(original->getIterator()));
        originals[form] = original;
        byName[form.getSymName()] = form;
        open.push_back(form);
      }
      call.setCallee(form.getSymName());
    });
}

func::FuncOp VectorForms::of(Operation *op) const {
  auto call = dyn_cast_if_present<func::CallOp>(op);
  return call ? byName.lookup(call.getCallee()) : func::FuncOp();
}

void VectorForms::keep(llvm::function_ref<bool(func::FuncOp)> isUsed) {
  llvm::DenseSet<Operation *> dropped;
  for (auto [form, original] : originals)
    if (!isUsed(cast<func::FuncOp>(form)))
      dropped.insert(form);
  module.walk([&](func::CallOp call) {
    if (func::FuncOp form = of(call); form && dropped.contains(form))
      call.setCallee(originals.lookup(form).getSymName());
  });
  // What nothing reaches any more from what others call, or from what stays here though nobody calls it.
  llvm::StringMap<func::FuncOp> functions;
  SmallVector<func::FuncOp> open;
  llvm::DenseSet<Operation *> mayGo;
  for (auto [form, original] : originals)
    for (Operation *function : {form, original.getOperation()})
      mayGo.insert(function);
  for (auto function : module.getOps<func::FuncOp>()) {
    functions[function.getSymName()] = function;
    if (!function.isExternal() && (!function.isPrivate() || !mayGo.contains(function)))
      open.push_back(function);
  }
  llvm::DenseSet<Operation *> reached(open.begin(), open.end());
  while (!open.empty())
    open.pop_back_val().walk([&](func::CallOp call) {
      func::FuncOp callee = functions.lookup(call.getCallee());
      if (callee && reached.insert(callee).second)
        open.push_back(callee);
    });
  for (auto [form, original] : originals)
    for (Operation *function : {form, original.getOperation()})
      if (!reached.contains(function)) {
        byName.erase(cast<func::FuncOp>(function).getSymName());
        function->erase();
      }
  originals.remove_if([&](auto &entry) { return !reached.contains(entry.first); });
}

// --- lists

namespace {

class Groups {
public:
  Groups(ModuleOp module, const VectorForms &forms) : forms(forms) {
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal())
        for (Block *block : llvm::ReversePostOrderTraversal<Region *>(&function.getBody())) {
          llvm::for_each(block->getArguments(), [&](Value v) { note(v); });
          for (Operation &op : *block)
            llvm::for_each(op.getResults(), [&](Value v) { note(v); });
        }
    for (Value v : all)
      visit(v);
    module.walk([&](func::CallOp call) { visitCall(call); });
  }

  llvm::DenseSet<Value> thatMayBeVectors() {
    llvm::DenseSet<void *> leaders;
    for (Value member : left)
      leaders.insert(leaderOf(member));
    llvm::DenseSet<Value> found;
    for (Value v : all)
      if (!leaders.contains(leaderOf(v)))
        found.insert(v);
    return found;
  }

private:
  void note(Value v) {
    if (hasListOfNumbers(v.getType()) && reached.insert(v).second) {
      all.push_back(v);
      groups.insert(v.getAsOpaquePointer());
    }
  }
  void unite(Value a, Value b) { groups.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer()); }
  void *leaderOf(Value v) { return groups.getOrInsertLeaderValue(v.getAsOpaquePointer()); }

  /// Whether a list is given, or gives, real and imaginary parts apart, of which no vector is made.
  static bool isOfPairs(Operation *op) {
    return isa<ListOp, ListElementOp, ListAppendOp, ListSetOp>(op) && op->hasAttr("packed");
  }

  void visit(Value v) {
    Operation *def = v.getDefiningOp();
    bool stays = def ? isOfPairs(def) || (!isa<ListOp, ListElementOp>(def) && !isChange(def) && !forms.of(def))
                     : !isHandedOn(cast<BlockArgument>(v));
    if (isChange(def) || isa_and_present<ListElementOp>(def))
      unite(def->getOperand(0), v);
    for (OpOperand &use : v.getUses()) {
      Operation *user = use.getOwner();
      const bool isAsked = (isa<ListLenOp, ListElementOp>(user) || isChange(user)) && use.getOperandNumber() == 0,
                 isReturned = isa<func::ReturnOp>(user) && forms.contains(user->getParentOfType<func::FuncOp>());
      const bool isPut = isa<ListOp>(user) || (isa<ListAppendOp, ListSetOp>(user) && !isAsked);
      stays |=
          isOfPairs(user) || (!isAsked && !isPut && !isReturned && !forms.of(user) && !isa<BranchOpInterface>(user));
      if (isPut)
        unite(v, user->getResult(0));
      if (isReturned)
        uniteResult(user->getParentOp(), use.getOperandNumber(), v);
      forEachHandedOn(user, [&](Value from, Value to) {
        if (from == v)
          unite(from, to);
      });
    }
    if (stays)
      left.push_back(v);
  }

  void uniteResult(Operation *function, unsigned result, Value v) {
    unite(resultOf.try_emplace({function, result}, v).first->second, v);
  }

  /// What goes in and out. Calls that nothing reaches are given, and give, lists as they are.
  void visitCall(func::CallOp call) {
    func::FuncOp callee = forms.of(call);
    if (!callee)
      return;
    for (auto [operand, argument] : llvm::zip_equal(call.getOperands(), callee.getArguments()))
      if (hasListOfNumbers(operand.getType())) {
        if (reached.contains(operand) && reached.contains(argument))
          unite(operand, argument);
        else
          left.append({operand, argument});
      }
    for (auto [i, result] : llvm::enumerate(call.getResults()))
      if (hasListOfNumbers(result.getType())) {
        uniteResult(callee, i, result);
        if (!reached.contains(result))
          left.push_back(result);
      }
  }

  /// Whether a block is handed lists only that are made on some way.
  bool isHandedOn(BlockArgument argument) const {
    Block *block = argument.getOwner();
    if (block->isEntryBlock())
      return forms.contains(cast<func::FuncOp>(block->getParentOp()));
    return llvm::all_of(edgesInto(block),
                        [&](const BlockEdge &edge) { return reached.contains(edge.operandOf(argument)); });
  }

  const VectorForms &forms;
  SmallVector<Value> all; ///< as they are made
  llvm::DenseSet<Value> reached;
  llvm::EquivalenceClasses<void *> groups;
  llvm::DenseMap<std::pair<Operation *, unsigned>, Value> resultOf; ///< of functions: a value that is one
  SmallVector<Value> left;                                          ///< a member of each group that stays as it is
};

} // namespace

llvm::DenseSet<Value> listsThatMayBeVectors(ModuleOp module, const VectorForms &forms) {
  return Groups(module, forms).thatMayBeVectors();
}

} // namespace toy
