// SPDX-License-Identifier: Apache-2.0
/// \file
/// The body of a function, generated for the types of its arguments; extern functions; returns.
#include "irgen/Builtins.h"
#include "irgen/Decisions.h"
#include "irgen/Declarations.h"
#include "irgen/Lists.h"
#include "irgen/Statements.h"
#include "irgen/Tidy.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace toy {

/// What the current function returns, as far as it is known.
static std::string resultText(IRGen &g) {
  FunctionState &state = g.fn();
  if (state.decl->result)
    return ast::str(*state.decl->result);
  return state.returns.empty() ? "a value of the declared type" : state.returns.front().values[0].type().str();
}

bool isWhole(IRGen &g, const ast::TypeExpr &type) {
  llvm::StringSet<> around;
  auto visit = [&](auto &self, const ast::TypeExpr &type) -> bool {
    if (type.form == ast::TypeExpr::Tuple || type.form == ast::TypeExpr::List)
      return llvm::all_of(type.elements, [&](const ast::TypeExpr &element) { return self(self, element); });
    const ast::Struct *decl = g.host.definitions().structure(type.name);
    if (!decl)
      return type.name != "_" && type.name != "fn" && type.name != "list";
    bool isNew = around.insert(decl->name).second; // a struct that holds itself has no type
    bool all = isNew && llvm::all_of(decl->members, [&](const ast::Parameter &member) {
                 return member.type && self(self, *member.type);
               });
    if (isNew)
      around.erase(decl->name);
    return all;
  };
  return visit(visit, type);
}

/// What would tell the type of a recursive call.
static std::string helpForRecursion(const ast::Function &decl) {
  return decl.result ? "a struct in the result has types of all its members: `var a: f64;`"
                     : "declare what it returns: `def " + decl.name + "(…) -> f64`";
}

/// The call of a user's library in place of statements; the declared result type says what comes back.
static void externBody(IRGen &g, const ast::Function &decl, ArrayRef<RValue> arguments) {
  auto refuse = [&](std::string why, SourceRange range) {
    g.fail(DiagId::ExternSignature, range, {decl.name, std::move(why)});
  };
  if (decl.sharedObject.empty())
    refuse("the library is missing: `from \"lib….so\"`", decl.nameRange);
  SmallVector<Value> operands;
  for (auto [parameter, v] : llvm::zip_equal(decl.parameters, arguments)) {
    if (!parameter.type || !v.isTensor())
      refuse("parameter `" + parameter.name + "` has no tensor type", parameter.range);
    operands.push_back(v.value);
  }
  int64_t count = operands.size();
  SmallVector<Type> leaves;
  ValueType declared;
  SmallVector<int64_t> types;
  if (decl.result) {
    declared = typeOf(g, *decl.result);
    declared.flatten(leaves);
  }
  for (Type leaf : leaves) {
    auto tensor = dyn_cast<TensorType>(leaf);
    if (!tensor)
      refuse("a result is no tensor", decl.result->range);
    types.append({static_cast<int64_t>(tensor.getDtype()), tensor.getRank()});
    for (Dim dim : tensor.getDims()) {
      bool known = !dim.isUnknown();
      dim.collectSymbols([&](StringRef s) { known &= g.fn().sizeValues.count(s.str()) > 0; });
      if (!known)
        refuse("size `" + dim.str() + "` of the result does not follow from the arguments", decl.result->range);
      operands.push_back(checkedSizes(
          g, {sizeExpression(g, dim, decl.result->range, [&](StringRef s) { return g.fn().sizeValues.at(s.str()); })},
          decl.result->range)[0]);
    }
  }
  Operation *op = g.createOp<ExternOp>(decl.nameRange, operands,
                                       {g.stringAttr("name", decl.name), g.stringAttr("library", decl.sharedObject),
                                        g.stringAttr("symbol", decl.symbol.empty() ? decl.name : decl.symbol),
                                        g.integerAttr("count", count), g.integersAttr("resultTypes", types)},
                                       {}, leaves);
  RValue value;
  if (decl.result) {
    ValueRange rest(op->getResults());
    value = unflatten(declared, rest);
  }
  g.fn().returns.push_back({g.current, {value}});
  g.fn().returnRanges.push_back(decl.nameRange);
  moveTo(g, nullptr);
}

void genReturn(IRGen &g, const ast::Return &s) {
  if (!g.fn().decl)
    g.fail(DiagId::ReturnOutsideFunction, s.range);
  if (!s.value && g.fn().decl->result)
    g.fail(DiagId::MissingReturn, s.range, {g.fn().decl->name, resultText(g)});
  RValue value;
  if (s.value) {
    value = genExpr(g, *s.value);
    if (g.fn().decl->result)
      value = declaredResult(g, value, s.value->range);
    value.settle();
  }
  Instance &instance = *g.fn().instance;
  if (instance.symbol.empty() && value.kind != RValue::Nothing) { // recursive calls from here on know the type
    instance.symbol = g.fn().op.getSymName().str();
    instance.result = value.type();
  }
  g.fn().returns.push_back({g.current, {value}});
  g.fn().returnRanges.push_back(s.range);
  moveTo(g, nullptr);
}

/// A line of the prompt's `:trace`.
static void traceLine(IRGen &g, const ast::Function &decl, const char *kind, std::string structure,
                      ArrayRef<Value> leaves) {
  g.create<PrintOp>(decl.nameRange, leaves,
                    {g.stringAttr("structure", structure), g.boolAttr("echo", false), g.stringAttr("trace", kind)});
}
static bool isTraced(IRGen &g, const ast::Function &decl) {
  return g.host.compileOptions().traceCalls && decl.body && !isLibrary(g, decl);
}

namespace {
/// Thrown where a recursive function gives more than its first `return`, with whose type it called itself: elements of
/// a list without any, other sizes. It is generated again, with this type.
struct ResultFound {
  ValueType type;
};
} // namespace

/// Whether a type says the same as another one, sizes and elements of open lists aside.
static bool isKnownBetter(const ValueType &first, ValueType found) {
  auto anySize = [](unsigned, size_t, Dim dim) { return Dim::unknown(dim.getContext()); };
  ValueType whole = completed(first, found);
  whole.mapSizes(anySize);
  found.mapSizes(anySize);
  return whole.key() == found.key();
}

static void finishReturns(IRGen &g, const ast::Function &decl, Instance &instance) {
  FunctionState &state = g.fn();
  ValueType assumed = instance.symbol.empty() ? ValueType() : instance.result;
  bool hasValue = llvm::any_of(state.returns, [](const Edge &e) { return e.values[0].kind != RValue::Nothing; });
  if (reachable(g)) {
    if (hasValue || decl.result)
      g.fail(DiagId::MissingReturn, decl.nameRange, {decl.name, resultText(g)});
    state.returns.push_back({g.current, {RValue()}});
    state.returnRanges.push_back(decl.nameRange);
  }
  for (auto [edge, range] : llvm::zip_equal(state.returns, state.returnRanges)) {
    ValueType first = state.returns.front().values[0].type(), mine = edge.values[0].type();
    auto shape = [](const ValueType &t) {
      auto tensor = dyn_cast_if_present<TensorType>(t.leaf);
      return tensor ? std::string(nameOf(tensor.getDtype())) + std::to_string(tensor.getRank()) : t.str();
    };
    if (first.kind != mine.kind || (first.kind == ValueType::Leaf && shape(first) != shape(mine)))
      g.fail(DiagId::ReturnTypes, range, {mine.str(), first.str()});
  }
  if (state.returns.empty()) {
    instance.result = ValueType();
    instance.neverReturns = true;
    endDead(g, {}, decl.nameRange);
    return;
  }
  std::vector<RValue> result = mergeEdges(g, state.returns, {}, decl.nameRange);
  if (isTraced(g, decl)) {
    SmallVector<Value> given;
    if (!result.empty())
      printedLeaves(result[0], given);
    traceLine(g, decl, "return", result.empty() ? "" : structureOf(result[0]), given);
  }
  SmallVector<Value> leaves;
  ValueType type;
  if (!result.empty()) {
    type = result[0].type();
    bool isFound = state.declaredResult && !(decl.result && isWhole(g, *decl.result));
    if (state.declaredResult && instance.recursive && (!isFound || isKnownBetter(type, *state.declaredResult))) {
      // under the names that the calls inside took
      leaves = relabelled(g, result, {*state.declaredResult}, decl.nameRange);
      type = *state.declaredResult;
    } else
      result[0].flatten(leaves);
  }
  if (instance.recursive && assumed.kind != ValueType::Nothing && assumed.key() != type.key()) {
    if (!state.declaredResult && !state.isCalledByCallees && isKnownBetter(assumed, type))
      throw ResultFound{type};
    instance.result = assumed;
    g.fail(DiagId::ReturnTypes, decl.nameRange, {type.str(), assumed.str()},
           "declare the result type of the recursive function");
  }
  instance.result = type;
  func::ReturnOp::create(g.b, g.loc(decl.nameRange), leaves);
  SmallVector<Type> resultTypes;
  type.flatten(resultTypes);
  state.op.setFunctionType(g.b.getFunctionType(state.op.getFunctionType().getInputs(), resultTypes));
  endDead(g, resultTypes, decl.nameRange);
}

/// A function without statements, of which the code that comes next is part.
static void beginFunction(IRGen &g, const ast::Function &decl, ArrayRef<Type> inputs, Instance &instance,
                          std::shared_ptr<Specialization> specialization) {
  bool isDynamic = specialization && specialization->isDynamic();
  std::shared_ptr<Specialization> sizes =
      specialization ? isDynamic && !specialization->generic ? specialization : nullptr : g.fn().sizes;
  g.stack.push_back(std::make_unique<FunctionState>());
  FunctionState &state = g.fn();
  state.sizes = std::move(sizes);
  const FunctionState &caller = *g.stack[g.stack.size() - 2];
  state.conditions = state.conditionsOfCall = caller.mayBeSkipped();
  state.isTried = caller.isTried || caller.tries > 0;
  state.innermostTry = caller.innermostTry;
  state.generic = isDynamic && specialization->generic ? specialization : nullptr;
  state.decl = &decl;
  state.arguments = std::move(g.pendingArguments);
  state.instance = &instance;
  state.scopes.resize(1);
  std::string symbol = g.host.instances().newSymbol(decl.place.empty() ? decl.name : "local");
  OpBuilder at(g.module.getBodyRegion());
  at.setInsertionPointToEnd(g.module.getBody());
  state.op = func::FuncOp::create(at, g.loc(decl.nameRange), symbol, at.getFunctionType(inputs, {}));
  state.op->setAttr("toy.name", g.b.getStringAttr(decl.name));
  if (specialization && specialization->reason.size()) {
    state.op->setAttr("toy.reason", g.b.getStringAttr(specialization->reason));
    if (isDynamic)
      state.op->setAttr("toy.dynamic", g.b.getUnitAttr());
  }
  if (isLibrary(g, decl))
    state.op->setAttr("toy.prelude", g.b.getUnitAttr());
  state.op.setPrivate();
  instance.specialization = specialization;
  instance.arguments.assign(inputs.begin(), inputs.end());
  moveTo(g, state.op.addEntryBlock());
}

/// The parameters as variables: what is passed, and constants that are part of the function. So is what it has
/// captured.
static std::vector<RValue> bindParameters(IRGen &g, const Callee &callee, ArrayRef<RValue> arguments,
                                          const std::map<StaticLeaf, Attribute> &constants) {
  FunctionState &state = g.fn();
  ValueRange rest = state.op.getArguments();
  std::vector<RValue> values(arguments);
  RValue self;
  for (auto [i, v] : llvm::enumerate(values)) {
    bool isCaptured = i >= callee.decl.parameters.size();
    SmallVector<Value> leaves;
    v.flatten(leaves);
    for (auto [j, leaf] : llvm::enumerate(leaves)) {
      if (auto known = constants.find({i, j}); known != constants.end())
        leaf = constantValue(g, leaf.getType(), known->second, callee.decl.nameRange);
      else {
        leaf = rest.front();
        rest = rest.drop_front();
      }
      if (auto type = dyn_cast<TensorType>(leaf.getType()); !type || type.isScalar())
        state.parameterValues.emplace_back(leaf, StaticLeaf(i, j));
    }
    ValueRange all(leaves);
    v = unflatten(v.type(), all);
    state.scopes.front()[callee.nameOf(i)] = {v, false, isCaptured};
    if (isCaptured)
      self.elements.push_back(v);
  }
  if (!callee.decl.place.empty()) { // a definition inside a block sees itself
    self.kind = RValue::Function;
    self.structName = callee.decl.place;
    self.code = &callee.decl;
    self.names = callee.captured;
    state.scopes.front().try_emplace(callee.decl.name, Variable{self, false, true});
  }
  return values;
}

static void traceCall(IRGen &g, const ast::Function &decl, const Callee &callee, ArrayRef<RValue> values) {
  std::string structure = (decl.name.empty() ? "fn" : decl.name) + "{";
  SmallVector<Value> leaves;
  for (auto [i, value] : llvm::enumerate(values)) {
    if (value.kind == RValue::Nothing)
      continue;
    structure += (structure.back() == '{' ? "" : ", ") + callee.nameOf(i) + ": " + structureOf(value);
    printedLeaves(value, leaves);
  }
  traceLine(g, decl, "call", structure + "}", leaves);
}

/// The type that recursive calls have: sizes that are open have names. Those that were found may hold for the first
/// return alone.
static ValueType underNames(ValueType type, bool isDeclared) {
  unsigned open = 0;
  type.mapSizes([&](unsigned, size_t, Dim dim) {
    bool isOpen = dim.isUnknown() || !isDeclared;
    return isOpen ? Dim::symbol(dim.getContext(), "r$" + std::to_string(open++)) : dim;
  });
  return type;
}

static void generateBody(IRGen &g, const Callee &callee, ArrayRef<RValue> arguments, Instance &instance,
                         SourceRange callRange, const StaticLeaves &statics,
                         std::shared_ptr<Specialization> specialization, std::optional<ValueType> found) {
  const ast::Function &decl = callee.decl;
  std::string description;
  SmallVector<Type> inputs;
  std::map<StaticLeaf, Attribute> constants;
  for (auto [i, value] : llvm::enumerate(arguments)) {
    if (i < decl.parameters.size())
      description +=
          (i ? ", " : "") + callee.nameOf(i) + ": " + (value.kind == RValue::Nothing ? "_" : value.type().str());
    SmallVector<Value> leaves;
    value.flatten(leaves);
    for (auto [j, leaf] : llvm::enumerate(leaves))
      if (statics.count({i, j}))
        constants[{i, j}] = constantLeaf(g, leaf, decl.nameRange);
      else
        inputs.push_back(leaf.getType());
  }
  beginFunction(g, decl, inputs, instance, specialization);
  FunctionState &state = g.fn();
  state.callRange = callRange;
  state.description = decl.name + "(" + description + ")";
  state.declaredSizes = sizeNamesOf(g, decl);
  for (Type type : inputs)
    collectNames(type, state.reservedSizes);
  if (DictionaryAttr buckets = bucketsOf(g, decl); buckets && g.host.usesDevice())
    state.op->setAttr("toy.buckets", buckets);
  std::vector<RValue> values = bindParameters(g, callee, arguments, constants);
  values.resize(decl.parameters.size());
  if (isTraced(g, decl))
    traceCall(g, decl, callee, values);
  bindSizes(g, decl, values);
  for (const ast::ExprPtr &fact : decl.where)
    g.create<AssertOp>(fact->range,
                       {genCondition(g, *fact), g.string("where " + g.sourceText(fact->range), fact->range)});
  for (const ast::ExprPtr &fact : decl.where)
    for (const SizeFact &known : factsOf(g, *fact))
      state.facts.assume(known);
  bool isDeclared = decl.result && isWhole(g, *decl.result);
  if (isDeclared)
    found = typeOf(g, *decl.result);
  if (found) { // recursive calls know their type
    state.declaredResult = instance.result = underNames(std::move(*found), isDeclared);
    instance.symbol = state.op.getSymName().str();
  }
  if (decl.body && !g.host.callGraph().summary(decl).returnsValue) // recursive calls know that it gives nothing
    instance.symbol = state.op.getSymName().str();
  state.scopes.emplace_back();
  if (!decl.body)
    externBody(g, decl, values);
  else
    for (const ast::StmtPtr &s : decl.body->statements)
      genNext(g, *s);
  if (state.isWrong)
    throw IRAbort();
  finishReturns(g, decl, instance);
  instance.symbol = state.op.getSymName().str();
  tidy(state);
  g.stack.pop_back();
}

const Instance &instantiate(IRGen &g, const Callee &callee, ArrayRef<RValue> arguments, const std::string &key,
                            SourceRange callRange, const StaticLeaves &statics,
                            std::shared_ptr<Specialization> specialization) {
  const ast::Function &decl = callee.decl;
  auto declare = [&](const Instance &instance) {
    if (g.module.lookupSymbol(instance.symbol))
      return;
    OpBuilder at(g.module.getBodyRegion());
    SmallVector<Type> results;
    instance.result.flatten(results);
    auto op =
        func::FuncOp::create(at, g.b.getUnknownLoc(), instance.symbol, at.getFunctionType(instance.arguments, results));
    op.setPrivate();
  };
  if (auto it = g.building.find(key); it != g.building.end()) {
    if (it->second->symbol.empty())
      g.fail(DiagId::RecursiveType, callRange, {decl.name}, helpForRecursion(decl));
    it->second->recursive = true;
    if (g.fn().instance != it->second.get())
      for (const auto &state : g.stack)
        state->isCalledByCallees |= state->instance == it->second.get();
    return *it->second;
  }
  if (const Instance *known = g.host.instances().find(key)) {
    declare(*known);
    return *known;
  }
  constexpr size_t mostNested = 200, mostDifferent = 5000;
  const bool isInside = llvm::any_of(g.stack, [&](const auto &state) { return state->decl == &decl; });
  constexpr size_t mostLeaves = 4096; // r((x, x)) in r(x) has twice as many each time
  SmallVector<Value> leaves;
  for (const RValue &argument : arguments)
    argument.flatten(leaves);
  if (g.stack.size() > (isInside ? mostNested : mostDifferent) || (isInside && leaves.size() > mostLeaves))
    g.fail(DiagId::RecursiveType, callRange, {decl.name},
           "every call has new argument types: the recursion does not end");
  OpBuilder::InsertPoint point = g.b.saveInsertionPoint();
  Block *before = g.current;
  size_t depth = g.stack.size();
  auto abandon = [&] {
    for (size_t i = depth; i < g.stack.size(); ++i)
      for (func::FuncOp attempt : g.stack[i]->attempts)
        attempt.erase();
    if (g.stack.size() > depth && g.stack.back()->op)
      g.stack.back()->op->erase();
    g.stack.resize(depth);
    g.building.erase(key);
    g.b.restoreInsertionPoint(point);
    g.current = before;
  };
  auto generate = [&](std::optional<ValueType> found) {
    g.building[key] = std::make_unique<Instance>();
    generateBody(g, callee, arguments, *g.building[key], callRange, statics, specialization, std::move(found));
  };
  try {
    try {
      generate(std::nullopt);
    } catch (ResultFound &found) {
      abandon();
      generate(std::move(found.type));
    }
  } catch (NotReached) { // outside of its statements
    abandon();
    g.fail(DiagId::NoValue, decl.nameRange, {"a clause of `" + decl.name + "`"});
  } catch (...) {
    abandon();
    throw;
  }
  g.b.restoreInsertionPoint(point);
  g.current = before;
  std::unique_ptr<Instance> done = std::move(g.building[key]);
  g.building.erase(key);
  done->functions.insert(decl.name);
  return g.host.instances().add(key, *done);
}

} // namespace toy
