// SPDX-License-Identifier: Apache-2.0
/// \file
/// A function that stores into an argument and leaves it as it was gives it back: a caller that goes on with it lets go
/// of it at the call, and nothing is copied (`b[i] = p; best(b); b[i] = 0;`).
#include "ir/Constants.h"
#include "passes/ArgumentHistory.h"
#include "passes/BlockVariable.h"
#include "passes/Passes.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_GIVEBACK
#include "passes/Passes.h.inc"

namespace {

/// A copy of a function that returns arguments behind its results.
struct Form {
  func::FuncOp original, function;
  SmallVector<unsigned> arguments;
};

/// Lets a copy of a function return arguments.
class FormMaker {
public:
  explicit FormMaker(Form &form) : function(form.function), b(function.getContext()) {
    for (unsigned i : form.arguments)
      arguments.push_back(function.getArgument(i));
  }

  void run() {
    const DominanceInfo dominance(function);
    const Liveness liveness(function);
    SmallVector<ArgumentHistory> histories;
    for (BlockArgument argument : arguments) {
      histories.emplace_back(argument, dominance);
      histories.back().comesBack(liveness);
    }
    for (const ArgumentHistory &history : histories)
      for (const Restoring &restoring : history.restorings())
        for (ElementStoreOp place : restoring.places)
          read(place);
    for (auto [argument, history] : llvm::zip(arguments, histories))
      for (const Restoring &restoring : history.restorings())
        for (ElementStoreOp place : restoring.ofEntry)
          if (!guardOf(argument, place))
            guards[argument].push_back(readAtEntry(argument, place));
    SmallVector<Type> results(function.getResultTypes());
    for (auto [argument, history] : llvm::zip(arguments, histories)) {
      giveBack(argument, history);
      results.push_back(argument.getType());
    }
    function.setFunctionType(FunctionType::get(b.getContext(), function.getArgumentTypes(), results));
  }

private:
  /// An element of an argument as the function begins, which is there if the condition holds.
  struct Guard {
    ElementStoreOp place;
    Value condition;
    SmallVector<Value> indices;
    Value old;
  };
  const Guard *guardOf(Value argument, ElementStoreOp place) {
    auto found = llvm::find_if(guards[argument], [&](const Guard &g) { return haveSameEntry(g.place, place); });
    return found == guards[argument].end() ? nullptr : found;
  }

  void read(ElementStoreOp place) {
    Value &value = olds[place];
    if (value)
      return;
    b.setInsertionPoint(place);
    value = ElementOp::create(b, place.getLoc(), place.getValue().getType(), place.getX(), place.getIndices());
  }

  Value computed(Value v) {
    Operation *def = v.getDefiningOp();
    if (!def)
      return v;
    SmallVector<Value> operands;
    for (Value operand : def->getOperands())
      operands.push_back(computed(operand));
    Operation *copy = b.clone(*def);
    copy->removeAttr("toy.exact"); // where it was
    copy->setOperands(operands);
    return copy->getResult(0);
  }

  Value compare(auto make, Value x, Value y) {
    auto type = TensorType::scalar(b.getContext(), DType::Bool);
    return decltype(make)::create(b, x.getLoc(), type, ValueRange{x, y});
  }

  /// The entry becomes three blocks: where the index is looked at, where the element is read, and the rest.
  Guard readAtEntry(BlockArgument argument, ElementStoreOp place) {
    const Location loc = place.getLoc();
    Block *entry = &function.getBody().front(), *rest = entry->splitBlock(entry->begin());
    b.setInsertionPointToEnd(entry);
    SmallVector<Value> raw, sizes;
    Value inside;
    for (auto [axis, index] : llvm::enumerate(place.getIndices())) {
      raw.push_back(computed(indexOfEntry(index)));
      Type type = raw.back().getType();
      sizes.push_back(DimOp::create(b, loc, type, argument, static_cast<int64_t>(axis)));
      Value most = compare(LtOp(), raw.back(), sizes.back()),
            least = compare(GeOp(), raw.back(), NegOp::create(b, loc, type, sizes.back()));
      for (Value condition : {most, least})
        inside = inside ? compare(AndOp(), inside, condition) : condition;
    }
    Value condition = TruthOp::create(b, loc, b.getI1Type(), inside);
    Block *there = b.createBlock(rest);
    Guard guard = {place, condition, {}, {}};
    SmallVector<Value> read, none;
    for (auto [axis, index] : llvm::enumerate(raw)) {
      read.push_back(CheckIndexOp::create(b, loc, index.getType(), index, sizes[axis],
                                          b.getI64IntegerAttr(static_cast<int64_t>(axis))));
    }
    read.push_back(ElementOp::create(b, loc, place.getValue().getType(), argument, read));
    cf::BranchOp::create(b, loc, rest, read);
    b.setInsertionPointToEnd(entry);
    for (size_t i = 0; i < raw.size(); ++i)
      none.push_back(integerConstant(b, loc, 0));
    none.push_back(zeroConstant(b, loc, tensorTypeOf(place.getValue()).getDtype()));
    cf::CondBranchOp::create(b, loc, condition, there, ValueRange(), rest, none);
    for (Value v : none) {
      Value handed = rest->addArgument(v.getType(), loc);
      if (guard.indices.size() < raw.size())
        guard.indices.push_back(handed);
      else
        guard.old = handed;
    }
    return guard;
  }

  /// Stores what was read on the way to the returns, and returns what is there.
  void giveBack(Value argument, const ArgumentHistory &history) {
    BlockVariable variable(argument.getType());
    for (Value v : history.steps())
      variable.define(v);
    for (const Restoring &restoring : history.restorings()) {
      BlockEdge edge = restoring.edge;
      Operation *before = edge.terminator;
      if (before->getNumSuccessors() > 0) {
        BlockEdge &own = splits[{before, edge.successor}];
        if (!own.terminator)
          own = splitEdge(edge, before->getLoc());
        edge = own;
        before = own.terminator;
      }
      Value here = variable.before(before);
      b.setInsertionPoint(before);
      for (ElementStoreOp place : restoring.places)
        here = ElementStoreOp::create(b, place.getLoc(), here.getType(), here, olds.lookup(place), place.getIndices());
      for (ElementStoreOp place : restoring.ofEntry)
        here = storeOld(*guardOf(argument, place), here, before);
      variable.define(here);
      if (before->getNumSuccessors() > 0)
        for (BlockArgument handed : before->getSuccessor(0)->getArguments())
          if (variable.isDefinition(handed)) {
            b.setInsertionPoint(before);
            const bool isNamed = handed.getType() == here.getType();
            Value value = isNamed ? here : RelabelOp::create(b, before->getLoc(), handed.getType(), here).getResult();
            edge.operands()[handed.getArgNumber()].set(value);
          }
    }
    for (auto end : function.getBody().getOps<func::ReturnOp>())
      end->insertOperands(end->getNumOperands(), variable.before(end));
    variable.drop();
  }

  /// Stores what was read at the entry, before the end of a block.
  Value storeOld(const Guard &guard, Value here, Operation *before) {
    const Location loc = before->getLoc();
    Block *block = before->getBlock(), *rest = block->splitBlock(before), *there = b.createBlock(rest);
    Value stored = ElementStoreOp::create(b, loc, here.getType(), here, guard.old, guard.indices);
    cf::BranchOp::create(b, loc, rest, stored);
    b.setInsertionPointToEnd(block);
    cf::CondBranchOp::create(b, loc, guard.condition, there, ValueRange(), rest, here);
    return rest->addArgument(here.getType(), loc);
  }

  func::FuncOp function;
  OpBuilder b;
  SmallVector<BlockArgument> arguments;
  llvm::DenseMap<Operation *, Value> olds; ///< by stores: the elements before them
  llvm::DenseMap<Value, SmallVector<Guard>> guards;
  llvm::DenseMap<std::pair<Operation *, unsigned>, BlockEdge> splits;
};

class Giver {
public:
  explicit Giver(ModuleOp module) : module(module) {}

  void run() {
    findCalls();
    for (auto function : SmallVector<func::FuncOp>(module.getOps<func::FuncOp>()))
      if (SmallVector<unsigned> arguments = argumentsOf(function); !arguments.empty())
        forms[function.getSymName()] = {function, {}, arguments};
    if (forms.empty())
      return;
    for (auto &[_, form] : forms)
      make(form);
    for (auto function : module.getOps<func::FuncOp>())
      takeBack(function);
    for (auto &[_, form] : forms)
      if (form.original.isPrivate() && form.original.symbolKnownUseEmpty(module))
        form.original.erase();
  }

private:
  void findCalls() {
    for (auto function : module.getOps<func::FuncOp>()) {
      SmallVector<func::CallOp> found;
      function.walk([&](func::CallOp call) { found.push_back(call); });
      if (found.empty())
        continue;
      const Liveness liveness(function);
      for (func::CallOp call : found) {
        if (call->hasAttr(triedCall))
          tried.insert(call.getCallee());
        for (OpOperand &operand : call->getOpOperands())
          if (isObject(operand.get().getType()) && !diesAt(liveness, withoutNames(operand.get()), call))
            needed.insert({call.getCalleeAttr().getAttr(), operand.getOperandNumber()});
      }
    }
  }

  static bool isObject(Type type) {
    auto tensor = dyn_cast<TensorType>(type);
    return tensor && !tensor.isScalar();
  }

  /// Those that come back, and that a caller goes on with.
  SmallVector<unsigned> argumentsOf(func::FuncOp function) {
    SmallVector<unsigned> found;
    if (function.isExternal() || function->hasAttr(triedCall) || tried.contains(function.getSymName()) ||
        function->hasAttr("toy.buckets") || function.getOps<ElementStoreOp>().empty())
      return found;
    std::optional<DominanceInfo> dominance;
    std::optional<Liveness> liveness;
    for (BlockArgument argument : function.getArguments()) {
      if (!needed.contains({function.getSymNameAttr(), argument.getArgNumber()}))
        continue;
      if (!dominance) {
        dominance.emplace(function);
        liveness.emplace(function);
      }
      if (ArgumentHistory(argument, *dominance).comesBack(*liveness))
        found.push_back(argument.getArgNumber());
    }
    return found;
  }

  void make(Form &form) {
    form.function = form.original.clone();
    form.function.setName((form.original.getSymName() + ".back").str());
    form.function.setPrivate();
    SymbolTable(module).insert(form.function, std::next(form.original->getIterator()));
    FormMaker(form).run();
  }

  /// The calls of a function are of the forms, and what they give back stands for what they were given.
  void takeBack(func::FuncOp function) {
    llvm::MapVector<Value, SmallVector<Value>> given; ///< by the operand, without other names
    SmallVector<func::CallOp> calls;
    function.walk([&](func::CallOp call) {
      if (!call->hasAttr(triedCall) && forms.contains(call.getCallee()))
        calls.push_back(call);
    });
    for (func::CallOp call : calls)
      replace(call, forms.find(call.getCallee())->second, given);
    for (auto &[operand, values] : given) {
      BlockVariable variable(operand.getType());
      variable.define(operand);
      for (Value v : values)
        variable.define(v);
      variable.replace(operand);
    }
  }

  void replace(func::CallOp call, const Form &form, llvm::MapVector<Value, SmallVector<Value>> &given) {
    OpBuilder b(call);
    SmallVector<Value> operands(call.getOperands());
    for (unsigned i : form.arguments) // a name of its own, which ends at the call
      if (auto relabel = operands[i].getDefiningOp<RelabelOp>())
        operands[i] = b.clone(*relabel)->getResult(0);
    auto formCall = func::CallOp::create(b, call.getLoc(), form.function, operands);
    formCall->setDiscardableAttrs(call->getDiscardableAttrDictionary());
    const unsigned count = call.getNumResults();
    call.replaceAllUsesWith(formCall.getResults().take_front(count));
    call.erase();
    b.setInsertionPointAfter(formCall);
    llvm::DenseSet<Value> taken;
    for (auto [k, i] : llvm::enumerate(form.arguments)) {
      Value operand = withoutNames(operands[i]), result = formCall.getResult(count + k);
      if (!taken.insert(operand).second)
        continue;
      if (result.getType() != operand.getType())
        result = RelabelOp::create(b, formCall.getLoc(), operand.getType(), result);
      given[operand].push_back(result);
    }
  }

  ModuleOp module;
  llvm::StringSet<> tried;                                ///< functions whose errors are caught
  llvm::DenseSet<std::pair<StringAttr, unsigned>> needed; ///< functions and arguments
  llvm::MapVector<StringRef, Form> forms;                 ///< by the names of the originals
};

struct GiveBackPass : impl::GiveBackBase<GiveBackPass> {
  void runOnOperation() override { Giver(getOperation()).run(); }
};

} // namespace
} // namespace toy
