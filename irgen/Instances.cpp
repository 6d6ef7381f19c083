// SPDX-License-Identifier: Apache-2.0
/// \file
/// The body of a function, generated for the types of its arguments; extern functions; returns.
#include "irgen/IRGenImpl.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace toy {

const Instance &IRGen::instantiate(const ast::Function &decl, ArrayRef<Val> arguments, const std::string &key,
                                   SourceRange callRange, const std::set<unsigned> &statics,
                                   std::shared_ptr<Specialization> form) {
  auto declare = [&](const Instance &instance) {
    if (module.lookupSymbol(instance.symbol))
      return;
    OpBuilder at(module.getBodyRegion());
    SmallVector<Type> results;
    instance.result.flatten(results);
    auto op =
        func::FuncOp::create(at, b.getUnknownLoc(), instance.symbol, at.getFunctionType(instance.arguments, results));
    op.setPrivate();
  };
  if (auto it = building.find(key); it != building.end()) {
    if (it->second->result.kind == TypeDesc::Nothing && it->second->symbol.empty())
      fail(DiagId::RecursiveType, callRange, {decl.name});
    it->second->recursive = true;
    return *it->second;
  }
  if (const Instance *known = host.instances().find(key)) {
    declare(*known);
    return *known;
  }
  if (stack.size() > 200)
    fail(DiagId::RecursiveType, callRange, {decl.name},
         "every call has new argument types: the recursion does not end");
  building[key] = std::make_unique<Instance>();
  Instance &instance = *building[key];
  OpBuilder::InsertPoint point = b.saveInsertionPoint();
  Block *before = current;
  size_t depth = stack.size();
  try {
    generateBody(decl, arguments, instance, callRange, statics, form);
  } catch (...) {
    if (stack.size() > depth && stack.back()->op)
      stack.back()->op->erase();
    stack.resize(depth);
    building.erase(key);
    b.restoreInsertionPoint(point);
    current = before;
    throw;
  }
  b.restoreInsertionPoint(point);
  current = before;
  std::unique_ptr<Instance> done = std::move(building[key]);
  building.erase(key);
  done->functions.insert(decl.name);
  return host.instances().add(key, *done);
}

void IRGen::generateBody(const ast::Function &decl, ArrayRef<Val> arguments, Instance &instance, SourceRange callRange,
                         const std::set<unsigned> &statics, std::shared_ptr<Specialization> form) {
  std::string description = decl.name + "(";
  SmallVector<Type> inputs;
  std::vector<TypeDesc> types;
  for (auto [i, value] : llvm::enumerate(arguments)) {
    types.push_back(value.type());
    if (!statics.count(i) && value.kind != Val::DTypeRef)
      types.back().flatten(inputs);
    description += (i ? ", " : "") + decl.parameters[i].name + ": " +
                   (value.kind == Val::DTypeRef  ? std::string(nameOf(value.dtype))
                    : value.kind == Val::Nothing ? "_"
                                                 : types.back().str());
  }
  std::map<unsigned, SmallVector<Attribute>> constants;
  for (auto [i, value] : llvm::enumerate(arguments))
    if (statics.count(i) && value.kind != Val::DTypeRef)
      constants[i] = *constantLeaves(value, decl.parameters[i].range);
  std::shared_ptr<Specialization> sizes = form ? form->isDynamic() && !form->generic ? form : nullptr : fn().sizes;
  instance.form = form;
  stack.push_back(std::make_unique<FunctionState>());
  FunctionState &state = fn();
  state.sizes = std::move(sizes);
  state.conditions = stack[stack.size() - 2]->mayBeSkipped();
  state.generic = form && form->isDynamic() && form->generic ? form : nullptr;
  state.decl = &decl;
  state.instance = &instance;
  state.callRange = callRange;
  state.description = description + ")";
  state.scopes.resize(1);
  std::string symbol = host.instances().newSymbol(decl.name);
  OpBuilder at(module.getBodyRegion());
  at.setInsertionPointToEnd(module.getBody());
  state.op = func::FuncOp::create(at, loc(decl.nameRange), symbol, at.getFunctionType(inputs, {}));
  state.op->setAttr("toy.name", b.getStringAttr(decl.name));
  if (form && form->reason.size()) {
    state.op->setAttr("toy.reason", b.getStringAttr(form->reason));
    if (form->isDynamic())
      state.op->setAttr("toy.dynamic", b.getUnitAttr());
  }
  if (isLibrary(decl))
    state.op->setAttr("toy.prelude", b.getUnitAttr());
  state.op.setPrivate();
  instance.arguments.assign(inputs.begin(), inputs.end());
  Block *entry = state.op.addEntryBlock();
  moveTo(entry);
  state.declaredSizes = sizeNamesOf(decl);
  for (Type type : inputs)
    collectNames(type, state.reservedSizes);
  if (DictionaryAttr buckets = bucketsOf(decl); buckets && host.padsToBuckets())
    state.op->setAttr("toy.buckets", buckets);
  ValueRange rest = entry->getArguments();
  std::vector<Val> values;
  for (auto [i, parameter] : llvm::enumerate(decl.parameters)) {
    Val v;
    if (arguments[i].kind == Val::DTypeRef)
      v = arguments[i];
    else if (auto known = constants.find(i); known != constants.end())
      v = constantOf(types[i], known->second, parameter.range);
    else
      v = unflatten(types[i], rest);
    SmallVector<Value> leaves;
    v.flatten(leaves);
    for (Value leaf : leaves)
      if (auto type = dyn_cast<TensorType>(leaf.getType()); !type || type.isScalar())
        state.parameterValues.emplace_back(leaf, i);
    values.push_back(v);
    state.scopes.front()[parameter.name].value = v;
  }
  bindSizes(decl, values);
  for (const ast::ExprPtr &fact : decl.where)
    create<AssertOp>(fact->range, {condition(*fact), string("where " + sourceText(fact->range), fact->range)});
  for (const ast::ExprPtr &fact : decl.where)
    for (const SizeFact &known : factsOf(*fact))
      state.facts.assume(known);
  if (decl.result && isWhole(*decl.result)) { // recursive calls know their type
    unsigned open = 0;
    auto nameOpen = [&](auto &self, TypeDesc &type) -> void {
      for (TypeDesc &element : type.elements)
        self(self, element);
      if (auto tensor = dyn_cast_if_present<TensorType>(type.leaf)) {
        SmallVector<Dim> dims = tensor.getDims();
        for (Dim &dim : dims)
          if (dim.isUnknown())
            dim = Dim::symbol(context, "r$" + std::to_string(open++));
        type.leaf = tensor.withDims(dims);
      }
    };
    state.declaredResult = typeOf(*decl.result);
    nameOpen(nameOpen, *state.declaredResult);
    instance.result = *state.declaredResult;
    instance.symbol = symbol;
  }
  if (instance.symbol.empty() && instance.result.kind == TypeDesc::Nothing)
    instance.symbol = ""; // recursion learns the type from the first return
  state.scopes.emplace_back();
  if (!decl.body)
    externBody(decl, values);
  else
    for (const ast::StmtPtr &s : decl.body->statements)
      if (reachable())
        statement(*s);
  finishReturns(decl, instance);
  instance.symbol = symbol;
  stack.pop_back();
}

/// Whether a type says the dtype and rank of everything.
bool IRGen::isWhole(const ast::TypeExpr &type) {
  if (type.form == ast::TypeExpr::Tuple)
    return llvm::all_of(type.elements, [&](const ast::TypeExpr &element) { return isWhole(element); });
  return type.name != "_" && !host.definitions().structure(type.name);
}

/// The call of a user's library in place of statements; the declared result type says what comes back.
void IRGen::externBody(const ast::Function &decl, ArrayRef<Val> arguments) {
  auto refuse = [&](std::string why, SourceRange range) {
    fail(DiagId::ExternSignature, range, {decl.name, std::move(why)});
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
  TypeDesc declared;
  SmallVector<int64_t> types;
  if (decl.result) {
    declared = typeOf(*decl.result);
    declared.flatten(leaves);
  }
  for (Type leaf : leaves) {
    auto tensor = dyn_cast<TensorType>(leaf);
    if (!tensor)
      refuse("a result is no tensor", decl.result->range);
    types.append({static_cast<int64_t>(tensor.getDtype()), tensor.getRank()});
    for (Dim dim : tensor.getDims()) {
      bool known = !dim.isUnknown();
      dim.collectSymbols([&](StringRef s) { known &= fn().sizeValues.count(s.str()) > 0; });
      if (!known)
        refuse("size `" + dim.str() + "` of the result does not follow from the arguments", decl.result->range);
      operands.push_back(checkedSizes(
          {sizeExpression(dim, decl.result->range, [&](StringRef s) { return fn().sizeValues.at(s.str()); })},
          decl.result->range)[0]);
    }
  }
  Operation *op = createOp<ExternOp>(decl.nameRange, operands,
                                     {stringAttr("name", decl.name), stringAttr("library", decl.sharedObject),
                                      stringAttr("symbol", decl.symbol.empty() ? decl.name : decl.symbol),
                                      integerAttr("count", count), integersAttr("resultTypes", types)},
                                     {}, leaves);
  Val value;
  if (decl.result) {
    ValueRange rest(op->getResults());
    value = unflatten(declared, rest);
  }
  fn().returns.push_back({current, {value}});
  fn().returnRanges.push_back(decl.nameRange);
  moveTo(nullptr);
}

/// What the current function returns, as far as it is known.
std::string IRGen::resultText() {
  FunctionState &state = fn();
  if (state.decl->result)
    return ast::str(*state.decl->result);
  return state.returns.empty() ? "a value of the declared type" : state.returns.front().values[0].type().str();
}

void IRGen::returnStatement(const ast::Return &s) {
  if (!fn().decl)
    fail(DiagId::ReturnOutsideFunction, s.range);
  if (!s.value && fn().decl->result)
    fail(DiagId::MissingReturn, s.range, {fn().decl->name, resultText()});
  Val value;
  if (s.value) {
    value = expr(*s.value);
    if (value.kind == Val::DTypeRef)
      fail(DiagId::FunctionAsValue, s.value->range, {std::string(nameOf(value.dtype))});
    if (fn().decl->result)
      value = declaredResult(value, s.value->range);
    value.weak = false;
    value.literal = nullptr;
  }
  Instance &instance = *fn().instance;
  if (instance.symbol.empty() && value.kind != Val::Nothing) { // recursive calls from here on know the type
    instance.symbol = fn().op.getSymName().str();
    instance.result = value.type();
  }
  fn().returns.push_back({current, {value}});
  fn().returnRanges.push_back(s.range);
  moveTo(nullptr);
}

void IRGen::finishReturns(const ast::Function &decl, Instance &instance) {
  FunctionState &state = fn();
  TypeDesc assumed = instance.symbol.empty() ? TypeDesc() : instance.result;
  bool hasValue = llvm::any_of(state.returns, [](const Edge &e) { return e.values[0].kind != Val::Nothing; });
  if (reachable()) {
    if (hasValue || decl.result)
      fail(DiagId::MissingReturn, decl.nameRange, {decl.name, resultText()});
    state.returns.push_back({current, {Val()}});
    state.returnRanges.push_back(decl.nameRange);
  }
  for (auto [edge, range] : llvm::zip_equal(state.returns, state.returnRanges)) {
    TypeDesc first = state.returns.front().values[0].type(), mine = edge.values[0].type();
    auto shape = [](const TypeDesc &t) {
      auto tensor = dyn_cast_if_present<TensorType>(t.leaf);
      return tensor ? std::string(nameOf(tensor.getDtype())) + std::to_string(tensor.getRank()) : t.str();
    };
    if (first.kind != mine.kind || (first.kind == TypeDesc::Leaf && shape(first) != shape(mine)))
      fail(DiagId::ReturnTypes, range, {mine.str(), first.str()});
  }
  if (state.returns.empty()) { // never returns
    instance.result = TypeDesc();
    return;
  }
  std::vector<Val> result = merge(state.returns, {}, decl.nameRange);
  SmallVector<Value> leaves;
  TypeDesc type;
  if (!result.empty()) {
    type = result[0].type();
    if (state.declaredResult && instance.recursive) { // under the names that the calls inside took
      leaves = relabelled(result, {*state.declaredResult}, decl.nameRange);
      type = *state.declaredResult;
    } else
      result[0].flatten(leaves);
  }
  if (instance.recursive && assumed.kind != TypeDesc::Nothing && assumed.str() != type.str()) {
    // Recursive calls were made with the first return's type: sizes may differ, then names stand for them.
    instance.result = assumed;
    fail(DiagId::ReturnTypes, decl.nameRange, {type.str(), assumed.str()},
         "declare the result type of the recursive function");
  }
  instance.result = type;
  func::ReturnOp::create(b, loc(decl.nameRange), leaves);
  SmallVector<Type> resultTypes;
  type.flatten(resultTypes);
  state.op.setFunctionType(b.getFunctionType(state.op.getFunctionType().getInputs(), resultTypes));
}

} // namespace toy
