// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions: instantiation for argument types, declared sizes, results.
#include "irgen/IRGenImpl.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace toy {

/// An i64 value of a size: a number, a name in view, or an expression of such.
Value IRGen::sizeExpression(Dim dim, SourceRange range) {
  StringRef rest;
  std::string text = dim.str();
  rest = text;
  auto parse = [&](auto &self, int level) -> Value {
    if (level == 2) {
      if (rest.consume_front("(")) {
        Value v = self(self, 0);
        rest.consume_front(")");
        return v;
      }
      if (rest.consume_front("-"))
        return create("neg", range, {self(self, 2)});
      StringRef word = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
      rest = rest.drop_front(word.size());
      int64_t n;
      if (!word.getAsInteger(10, n))
        return integer(n, range);
      if ((word == "min" || word == "max") && rest.consume_front("(")) {
        Value x = self(self, 0);
        rest.consume_front(",");
        Value y = self(self, 0);
        rest.consume_front(")");
        return arith(word == "min" ? "minimum" : "maximum", x, y, range);
      }
      bool found;
      Val v = readVariable(word.str(), range, found);
      if (!found)
        unknownName(word.str(), range, false);
      return indexValue(v, range, "size");
    }
    Value left = self(self, level + 1);
    while (true) {
      StringRef op = level == 0 ? (rest.consume_front("+") ? "add" : rest.consume_front("-") ? "sub" : "")
                                : (rest.consume_front("//") ? "floordiv" : rest.consume_front("%") ? "mod" : rest.consume_front("*") ? "mul" : "");
      if (op.empty())
        return left;
      left = arith(op, left, self(self, level + 1), range);
    }
  };
  return parse(parse, 0);
}

/// Names of sizes in a type.
static void collectNames(Type type, std::set<std::string> &names) {
  if (auto tensor = dyn_cast<TensorType>(type))
    for (Dim dim : tensor.getDims())
      dim.collectSymbols([&](StringRef s) { names.insert(s.str()); });
}

/// The names of a signature become readable values: a size given by a bare name is read off its argument, others are solved (`2*M`).
void IRGen::bindSizes(const ast::Function &decl, ArrayRef<Val> arguments) {
  SourceRange r = decl.nameRange;
  auto &scope = fn().scopes.front();
  for (bool bare : {true, false})
    for (const Val &argument : arguments) {
      if (!argument.isTensor())
        continue;
      for (auto [axis, dim] : llvm::enumerate(argument.tensor().getDims())) {
        std::vector<std::string> unbound;
        dim.collectSymbols([&](StringRef s) {
          if (fn().declaredSizes.count(s.str()) && !scope.count(s.str()))
            unbound.push_back(s.str());
        });
        if (unbound.size() != 1 || bare != (dim.symbolName() == unbound[0]))
          continue;
        Value size = sizeOf(argument.value, axis, r);
        llvm::StringMap<Dim> zero, one;
        zero[unbound[0]] = Dim::number(context, 0);
        one[unbound[0]] = Dim::number(context, 1);
        Dim constant = dim.substitute(zero), factor = dim.substitute(one) - constant;
        if (!bare)
          size = arith("floordiv", arith("sub", size, sizeExpression(constant, r), r), sizeExpression(factor, r), r);
        scope[unbound[0]].value = Val::leaf(size);
      }
    }
}

Val IRGen::callUser(const ast::Function &decl, const ast::Call &call, std::vector<std::pair<std::string, const ast::Expr *>> bound) {
  std::vector<Val> values;
  std::vector<SourceRange> ranges;
  for (auto [i, parameter] : llvm::enumerate(decl.parameters)) {
    const ast::Expr *e = bound[i].second;
    ranges.push_back(e ? e->range : call.range);
    if (e)
      values.push_back(expr(*e));
    else { // defaults see top-level names only
      std::vector<std::map<std::string, Variable>> scopes(1);
      std::swap(scopes, fn().scopes);
      values.push_back(expr(*parameter.defaultValue));
      std::swap(scopes, fn().scopes);
    }
    if (values.back().kind == Val::Nothing)
      fail(DiagId::NoValue, ranges.back(), {sourceText(ranges.back())});
  }
  // Functions of the library compute in f32 as a whole, and round halves once.
  bool isLibrary = diagnostics.getSources().get(decl.range.buffer).getName() == "<library>";
  auto half = llvm::find_if(values, [](const Val &v) { return v.isTensor() && isHalfTensor(v.value.getType()); });
  if (isLibrary)
    for (auto [i, parameter] : llvm::enumerate(decl.parameters))
      if (!parameter.defaultValue)
        needTensor(values[i], decl.name, ranges[i]);
  if (isLibrary && half != values.end()) {
    DType dtype = half->tensor().getDtype();
    for (Val &v : values)
      if (v.isTensor() && isHalfTensor(v.value.getType()))
        v = Val::leaf(cast(v.value, DType::F32, call.range));
    Val result = callWith(decl, call, std::move(values), std::move(ranges));
    if (result.isTensor() && result.tensor().getDtype() == DType::F32)
      result = Val::leaf(cast(result.value, dtype, call.range));
    return result;
  }
  return callWith(decl, call, std::move(values), std::move(ranges));
}

/// A call with evaluated arguments.
Val IRGen::callWith(const ast::Function &decl, const ast::Call &call, std::vector<Val> values, std::vector<SourceRange> ranges) {
  // Declared types: widen, bind names of sizes to what the arguments have.
  llvm::StringMap<Dim> sizes;
  std::vector<TypeDesc> types(values.size());
  std::vector<std::pair<size_t, TensorType>> checks;
  for (auto [i, parameter] : llvm::enumerate(decl.parameters)) {
    if (!parameter.type)
      continue;
    std::set<std::string> keep;
    std::swap(keep, fn().declaredSizes); // the callee's names mean nothing here
    ast::TypeExpr loose;
    loose.form = parameter.type->form;
    loose.range = parameter.type->range;
    loose.name = parameter.type->name;
    loose.elements = parameter.type->elements;
    loose.sizes = parameter.type->sizes;
    for (std::string &size : loose.sizes)
      if (!StringRef(size).getAsInteger(10, *std::make_unique<int64_t>()))
        continue;
      else
        size = "_";
    values[i] = declaredAs(values[i], loose, parameter.name, ranges[i], &*parameter.type);
    std::swap(keep, fn().declaredSizes);
    if (!values[i].isTensor() || parameter.type->form != ast::TypeExpr::Tensor)
      continue;
    TensorType actual = values[i].tensor();
    SmallVector<Dim> dims;
    for (auto [axis, text] : llvm::enumerate(parameter.type->sizes)) {
      Dim dim = text == "_" ? actual.getDim(axis) : *Dim::parse(context, text);
      if (!dim.symbolName().empty() && text != "_" && !sizes.count(dim.symbolName()))
        sizes[dim.symbolName()] = actual.getDim(axis);
      dims.push_back(dim);
    }
    checks.emplace_back(i, actual.withDims(dims));
  }
  for (auto &[i, declared] : checks) // solve what is left: k*M + c
    for (auto [axis, dim] : llvm::enumerate(declared.getDims())) {
      std::vector<std::string> unbound;
      dim.collectSymbols([&](StringRef s) {
        if (!sizes.count(s) && decl.parameters[i].type->sizes[axis] != "_")
          unbound.push_back(s.str());
      });
      if (unbound.size() != 1)
        continue;
      llvm::StringMap<Dim> zero = sizes, one = sizes;
      zero[unbound[0]] = Dim::number(context, 0);
      one[unbound[0]] = Dim::number(context, 1);
      Dim constant = dim.substitute(zero), factor = dim.substitute(one) - constant;
      if (!factor.is(0))
        sizes[unbound[0]] = (values[i].tensor().getDim(axis) - constant).floorDiv(factor);
    }
  for (auto &[i, declared] : checks) {
    for (auto [axis, dim] : llvm::enumerate(declared.getDims())) {
      if (decl.parameters[i].type->sizes[axis] == "_")
        continue;
      Dim want = dim.substitute(sizes), have = values[i].tensor().getDim(axis);
      if (want == have)
        continue;
      if ((want - have).isNumber())
        fail(DiagId::SizeRelation, ranges[i], {decl.parameters[i].name, values[i].type().str(), declared.str(),
                                              dim.str() + (dim.isNumber() ? "" : " = " + want.str()) + " in axis " + std::to_string(axis)});
      if (want.isNumber())
        create("check_equal", ranges[i], {sizeOf(values[i].value, axis, ranges[i]), integer(want.value(), ranges[i])},
               {stringAttr("what", "sizes of axis " + std::to_string(axis) + " of `" + decl.parameters[i].name + "`")});
    }
    types[i].kind = TypeDesc::Leaf;
    types[i].leaf = declared;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (types[i].kind == TypeDesc::Nothing)
      types[i] = values[i].type();
    else
      values[i] = Val::leaf(relabel(values[i].value, types[i].leaf, ranges[i]));
  }
  while (true) {
    std::set<unsigned> statics = staticParameters[&decl];
    std::string key = decl.name + "@" + std::to_string(decl.range.buffer) + ":" + std::to_string(decl.range.begin) + "(";
    for (auto [i, value] : llvm::enumerate(values)) {
      key += i ? "; " : "";
      if (!statics.count(i) && value.kind != Val::DTypeRef) {
        key += value.type().str();
        continue;
      }
      if (value.kind == Val::DTypeRef) {
        key += std::string(nameOf(value.dtype));
        continue;
      }
      auto known = constantOf(value.value);
      if (!known) {
        needStatic(value.value);
        fail(DiagId::StaticNeeded, ranges[i], {decl.name, "`" + decl.parameters[i].name + "`"});
      }
      key += value.type().str() + "=" + std::to_string(*known);
    }
    size_t depth = stack.size();
    try {
      const Instance &instance = instantiate(decl, values, key + ")", call.range, statics);
      SmallVector<Value> operands;
      for (auto [i, value] : llvm::enumerate(values))
        if (!statics.count(i) && value.kind != Val::DTypeRef)
          value.flatten(operands);
      if (FunctionState &caller = fn(); caller.instance) {
        caller.instance->functions.insert(instance.functions.begin(), instance.functions.end());
        caller.instance->functions.insert(decl.name);
        caller.instance->globals.insert(instance.globals.begin(), instance.globals.end());
      }
      // Sizes of the result in the caller's names; what only the callee knows gets new ones.
      std::set<std::string> known;
      for (Value v : operands)
        collectNames(v.getType(), known);
      llvm::StringMap<Dim> names = sizes;
      auto rename = [&](auto &self, TypeDesc &type) -> void {
        for (TypeDesc &element : type.elements)
          self(self, element);
        auto tensor = dyn_cast_if_present<TensorType>(type.leaf);
        if (!tensor)
          return;
        SmallVector<Dim> dims;
        for (Dim dim : tensor.getDims()) {
          dim.collectSymbols([&](StringRef s) {
            if (!names.count(s) && !known.count(s.str()))
              names[s] = freshSize();
          });
          dims.push_back(dim.substitute(names));
        }
        type.leaf = tensor.withDims(dims);
      };
      TypeDesc resultType = instance.result;
      rename(rename, resultType);
      SmallVector<Type> leaves;
      instance.result.flatten(leaves);
      auto op = func::CallOp::create(b, loc(call.range), instance.symbol, leaves, operands);
      SmallVector<Type> callerLeaves;
      resultType.flatten(callerLeaves);
      SmallVector<Value> results;
      for (auto [result, type] : llvm::zip_equal(op.getResults(), callerLeaves))
        results.push_back(relabel(result, type, call.range));
      ValueRange rest(results);
      return unflatten(resultType, rest);
    } catch (StaticParameterNeeded &need) {
      if (need.function != &decl || stack.size() != depth)
        throw;
      staticParameters[&decl].insert(need.index);
    }
  }
}

const Instance &IRGen::instantiate(const ast::Function &decl, ArrayRef<Val> arguments, const std::string &key, SourceRange callRange,
                                   const std::set<unsigned> &statics) {
  auto declare = [&](const Instance &instance) {
    if (module.lookupSymbol(instance.symbol))
      return;
    OpBuilder at(module.getBodyRegion());
    SmallVector<Type> results;
    instance.result.flatten(results);
    auto op = func::FuncOp::create(at, b.getUnknownLoc(), instance.symbol, at.getFunctionType(instance.arguments, results));
    op.setPrivate();
  };
  if (auto it = building.find(key); it != building.end()) {
    if (it->second->result.kind == TypeDesc::Nothing && it->second->symbol.empty())
      fail(DiagId::RecursiveType, callRange, {decl.name});
    it->second->recursive = true;
    return *it->second;
  }
  if (const Instance *known = host.findInstance(key)) {
    declare(*known);
    return *known;
  }
  if (stack.size() > 200)
    fail(DiagId::RecursiveType, callRange, {decl.name}, "every call has new argument types: the recursion does not end");
  building[key] = std::make_unique<Instance>();
  Instance &instance = *building[key];
  OpBuilder::InsertPoint point = b.saveInsertionPoint();
  Block *before = current;
  size_t depth = stack.size();
  try {
    generateBody(decl, arguments, instance, callRange, statics);
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
  host.addInstance(key, *done);
  return *host.findInstance(key);
}

void IRGen::generateBody(const ast::Function &decl, ArrayRef<Val> arguments, Instance &instance, SourceRange callRange,
                         const std::set<unsigned> &statics) {
  std::string description = decl.name + "(";
  SmallVector<Type> inputs;
  std::vector<TypeDesc> types;
  for (auto [i, value] : llvm::enumerate(arguments)) {
    types.push_back(value.type());
    if (!statics.count(i) && value.kind != Val::DTypeRef)
      types.back().flatten(inputs);
    description += (i ? ", " : "") + decl.parameters[i].name + ": " + (value.kind == Val::DTypeRef ? std::string(nameOf(value.dtype)) : types.back().str());
  }
  std::vector<std::optional<int64_t>> constants;
  for (auto [i, value] : llvm::enumerate(arguments))
    constants.push_back(statics.count(i) ? constantOf(value.value) : std::nullopt);
  stack.push_back(std::make_unique<FunctionState>());
  FunctionState &state = fn();
  state.decl = &decl;
  state.instance = &instance;
  state.callRange = callRange;
  state.description = description + ")";
  state.scopes.resize(1);
  std::string symbol = host.newSymbol(decl.name);
  OpBuilder at(module.getBodyRegion());
  at.setInsertionPointToEnd(module.getBody());
  state.op = func::FuncOp::create(at, loc(decl.nameRange), symbol, at.getFunctionType(inputs, {}));
  state.op->setAttr("toy.name", b.getStringAttr(decl.name));
  if (diagnostics.getSources().get(decl.range.buffer).getName() == "<library>")
    state.op->setAttr("toy.prelude", b.getUnitAttr());
  state.op.setPrivate();
  instance.arguments.assign(inputs.begin(), inputs.end());
  Block *entry = state.op.addEntryBlock();
  moveTo(entry);
  for (const ast::Parameter &parameter : decl.parameters)
    if (parameter.type)
      for (const std::string &size : parameter.type->sizes)
        if (size != "_")
          Dim::parse(context, size)->collectSymbols([&](StringRef s) { state.declaredSizes.insert(s.str()); });
  for (Type type : inputs)
    collectNames(type, state.reservedSizes);
  ValueRange rest = entry->getArguments();
  std::vector<Val> values;
  for (auto [i, parameter] : llvm::enumerate(decl.parameters)) {
    Val v;
    if (arguments[i].kind == Val::DTypeRef)
      v = arguments[i];
    else if (constants[i])
      v = Val::leaf(cast(types[i].leaf == TensorType::scalar(context, DType::Bool) ? boolean(*constants[i], parameter.range) : integer(*constants[i], parameter.range),
                         llvm::cast<TensorType>(types[i].leaf).getDtype(), parameter.range));
    else
      v = unflatten(types[i], rest);
    if (v.isTensor() && v.tensor().getRank() == 0)
      state.parameterValues.emplace_back(v.value, i);
    values.push_back(v);
    state.scopes.front()[parameter.name].value = v;
  }
  bindSizes(decl, values);
  for (const ast::ExprPtr &fact : decl.where)
    create("assert", fact->range, {condition(*fact), string("where " + sourceText(fact->range), fact->range)});
  if (decl.result && decl.result->name != "_" && !host.structure(decl.result->name)) {
    TypeDesc declared = typeOf(*decl.result, nullptr);
    bool whole = true;
    SmallVector<Type> leaves;
    declared.flatten(leaves);
    for (Type leaf : leaves)
      whole &= !StringRef(typeText(leaf)).contains('?');
    if (whole) {
      instance.result = declared;
      instance.symbol = symbol;
      state.declaredResult = declared;
    }
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

/// The call of a user's library in place of statements; the declared result type says what comes back.
void IRGen::externBody(const ast::Function &decl, ArrayRef<Val> arguments) {
  auto refuse = [&](std::string why, SourceRange range) { fail(DiagId::ExternSignature, range, {decl.name, std::move(why)}); };
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
    declared = typeOf(*decl.result, nullptr);
    declared.flatten(leaves);
  }
  for (Type leaf : leaves) {
    auto tensor = dyn_cast<TensorType>(leaf);
    if (!tensor)
      refuse("a result is no tensor", decl.result->range);
    types.append({static_cast<int64_t>(tensor.getDtype()), tensor.getRank()});
    for (Dim dim : tensor.getDims()) {
      bool known = !StringRef(dim.str()).contains('?');
      dim.collectSymbols([&](StringRef s) { known &= lookup(s) != nullptr; });
      if (!known)
        refuse("size `" + dim.str() + "` of the result does not follow from the arguments", decl.result->range);
      operands.push_back(checkedSizes({sizeExpression(dim, decl.result->range)}, decl.result->range)[0]);
    }
  }
  Operation *op = createOp("extern", decl.nameRange, operands, {stringAttr("name", decl.name), stringAttr("library", decl.sharedObject), stringAttr("symbol", decl.symbol.empty() ? decl.name : decl.symbol),
                                                               integerAttr("count", count), integersAttr("resultTypes", types)}, {}, leaves);
  Val value;
  if (decl.result) {
    ValueRange rest(op->getResults());
    value = unflatten(declared, rest);
  }
  fn().returns.push_back({current, {value}});
  fn().returnRanges.push_back(decl.nameRange);
  moveTo(nullptr);
}

void IRGen::returnStatement(const ast::Return &s) {
  if (!fn().decl)
    fail(DiagId::ReturnOutsideFunction, s.range);
  Val value;
  if (s.value) {
    value = expr(*s.value);
    if (value.kind == Val::DTypeRef)
      fail(DiagId::FunctionAsValue, s.value->range, {std::string(nameOf(value.dtype))});
    if (fn().decl->result)
      value = declaredAs(value, *fn().decl->result, fn().decl->name, s.value->range);
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
    if (hasValue || (decl.result && !state.returns.empty()))
      fail(DiagId::MissingReturn, decl.nameRange, {decl.name, state.returns.front().values[0].type().str()});
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
    if (state.declaredResult && type.str() != state.declaredResult->str()) {
      leaves = relabelled(result, {*state.declaredResult}, decl.nameRange);
      type = *state.declaredResult;
    } else
      result[0].flatten(leaves);
  }
  if (instance.recursive && assumed.kind != TypeDesc::Nothing && assumed.str() != type.str()) {
    // Recursive calls were made with the first return's type: sizes may differ, then names stand for them.
    instance.result = assumed;
    fail(DiagId::ReturnTypes, decl.nameRange, {type.str(), assumed.str()}, "declare the result type of the recursive function");
  }
  instance.result = type;
  func::ReturnOp::create(b, loc(decl.nameRange), leaves);
  SmallVector<Type> resultTypes;
  type.flatten(resultTypes);
  state.op.setFunctionType(b.getFunctionType(state.op.getFunctionType().getInputs(), resultTypes));
}

} // namespace toy
