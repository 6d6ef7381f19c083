// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls: binding of arguments to parameters, conversions, constructors, built-in functions, and user functions with
/// declared sizes and results.
#include "irgen/Functions.h"

#include "irgen/Builtins.h"
#include "irgen/Declarations.h"
#include "irgen/Statements.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace toy {

void collectNames(Type type, std::set<std::string> &names) {
  if (auto tensor = dyn_cast<TensorType>(type))
    for (Dim dim : tensor.getDims())
      dim.collectSymbols([&](StringRef s) { names.insert(s.str()); });
}

std::string instanceKey(IRGen &g, const Callee &callee, ArrayRef<RValue> values, const StaticLeaves &statics,
                        ArrayRef<SourceRange> ranges) {
  const ast::Function &decl = callee.decl;
  std::string key = decl.name + "@" + std::to_string(decl.range.buffer) + ":" + std::to_string(decl.range.begin) + "(";
  for (auto [i, value] : llvm::enumerate(values)) {
    key += i ? "; " : "";
    if (value.kind == RValue::Nothing) {
      key += "_";
      continue;
    }
    key += value.type().key();
    SmallVector<Value> leaves;
    if (statics.lower_bound({i, 0}) != statics.lower_bound({i + 1, 0}))
      value.flatten(leaves);
    for (auto [j, leaf] : llvm::enumerate(leaves)) {
      if (!statics.count({i, j}))
        continue;
      Attribute constant = constantLeaf(g, leaf, ranges[i]);
      if (!constant) {
        needStatic(g, leaf);
        g.fail(DiagId::StaticNeeded, ranges[i], {decl.name, "`" + callee.nameOf(i) + "`"}, helpForVarying(leaf));
      }
      key += "[" + std::to_string(j) + "]=" +
             (isa<StringAttr>(constant) ? "\"" + cast<StringAttr>(constant).getValue().str() + "\""
                                        : std::to_string(cast<IntegerAttr>(constant).getInt()));
    }
  }
  return key + ")";
}

/// Arguments that nobody reads are not passed, and instances do not differ by them. Declared ones are: their sizes may
/// give names their values.
static void dropUnread(IRGen &g, const ast::Function &decl, std::vector<RValue> &values) {
  if (isLibrary(g, decl))
    return;
  const std::set<size_t> &used = g.host.callGraph().summary(decl).usedParameters;
  std::set<std::string> sizes = sizeNamesOf(g, decl);
  for (auto [i, parameter] : llvm::enumerate(decl.parameters))
    if (!parameter.type && !used.count(i) && !sizes.count(parameter.name))
      values[i] = RValue();
}

/// What leaves of arguments stand for differs with the functions among them, and which of them have to be known with
/// their dtypes.
static std::string formOf(ArrayRef<RValue> values) {
  std::string out;
  for (const RValue &value : values) {
    if (value.kind == RValue::Function)
      out += value.structName;
    if (value.isTensor())
      out += nameOf(value.tensor().getDtype());
    out += formOf(value.elements) + ";";
  }
  return out;
}

/// A call with evaluated arguments; `written` are their expressions.
static RValue callWith(IRGen &g, const Callee &callee, const ast::Call &call, std::vector<RValue> values,
                       std::vector<SourceRange> ranges, ArrayRef<const ast::Expr *> written) {
  const ast::Function &decl = callee.decl;
  const std::map<std::string, ValueType> read = globalsOf(g, decl, values);
  storeFor(g, read, call.range);
  const std::string globals = globalsKey(read);
  llvm::StringMap<Dim> sizes = declareArguments(g, decl, values, ranges);
  dropUnread(g, decl, values);
  StaticLeaves &needed = g.staticParameters[{&decl, formOf(values)}];
  while (true) {
    StaticLeaves statics = needed;
    for (auto [i, value] : llvm::enumerate(values)) // words choose what a library function does
      if (isLibrary(g, decl) && stringOf(value))
        statics.insert({i, 0});
    auto keyOf = [&](ArrayRef<RValue> values) { return instanceKey(g, callee, values, statics, ranges) + globals; };
    size_t depth = g.stack.size();
    try {
      std::vector<RValue> given = values;
      g.pendingArguments = written.vec();
      std::shared_ptr<Specialization> specialization = specialize(g, callee, call, given, statics, keyOf, ranges);
      const Instance &instance = instantiate(g, callee, given, keyOf(given), call.range, statics, specialization);
      SmallVector<Value> operands;
      for (auto [i, value] : llvm::enumerate(given)) {
        SmallVector<Value> leaves;
        value.flatten(leaves);
        for (auto [j, leaf] : llvm::enumerate(leaves))
          if (!statics.count({i, j}))
            operands.push_back(leaf);
      }
      if (FunctionState &caller = g.fn(); caller.instance) {
        caller.instance->functions.insert(instance.functions.begin(), instance.functions.end());
        caller.instance->functions.insert(decl.name);
      }
      // Sizes of the result in the caller's names; what only the callee knows gets new ones.
      std::set<std::string> known;
      for (Value v : operands)
        collectNames(v.getType(), known);
      llvm::StringMap<Dim> names = sizes;
      if (specialization)
        for (const auto &entry : specialization->bound)
          names[entry.first()] = entry.second;
      ValueType resultType = instance.result;
      resultType.mapSizes([&](unsigned, size_t, Dim dim) {
        dim.collectSymbols([&](StringRef s) {
          if (!names.count(s) && !known.count(s.str()))
            names[s] = g.freshSize();
        });
        return dim.substitute(names);
      });
      SmallVector<Type> leaves;
      instance.result.flatten(leaves);
      auto op = func::CallOp::create(g.b, g.loc(call.range), instance.symbol, leaves, operands);
      if (instance.neverReturns)
        neverReturns(g);
      SmallVector<Type> callerLeaves;
      resultType.flatten(callerLeaves);
      SmallVector<Value> results;
      for (auto [result, type] : llvm::zip_equal(op.getResults(), callerLeaves))
        results.push_back(relabel(g, result, type, call.range));
      ValueRange rest(results);
      return unflatten(resultType, rest);
    } catch (StaticParameterNeeded &need) {
      if (need.function != &decl || g.stack.size() != depth)
        throw;
      needed.insert(need.leaf);
    }
  }
}

RValue defaultOf(IRGen &g, const ast::Parameter &parameter, const RValue &function) {
  std::vector<std::map<std::string, Variable>> scopes(1);
  if (!g.fn().decl)
    for (auto &[name, variable] : g.fn().scopes.front())
      if (variable.isGlobal)
        scopes.front()[name] = variable;
  for (auto [name, value] : llvm::zip_equal(function.names, function.elements))
    scopes.front()[name] = {value, false, true};
  std::swap(scopes, g.fn().scopes);
  llvm::scope_exit back([&] { std::swap(scopes, g.fn().scopes); });
  return genExpr(g, *parameter.defaultValue);
}

/// What a parameter of the library says of its arguments: one whose default is a bool is one bool, one of type i64 one
/// integer.
static void needLike(IRGen &g, const ast::Function &decl, const ast::Parameter &parameter, const RValue &value,
                     SourceRange range) {
  bool isFlag = parameter.defaultValue && parameter.defaultValue->kind == ast::NodeKind::Bool;
  bool isCount = parameter.type.has_value();
  if (!isFlag && !isCount)
    return;
  DKind kind = value.isTensor() && value.rank() == 0 ? kindOf(value.tensor().getDtype()) : DKind::Complex;
  if (kind > DKind::Int || (isFlag && kind != DKind::Bool))
    g.fail(DiagId::ArgumentKind, range,
           {decl.name, "`" + parameter.name + "`", isFlag ? "true or false" : "an integer", value.str()});
}

/// Functions of the library compute in f32 as a whole, and round halves once.
static RValue callLibrary(IRGen &g, const ast::Function &decl, const ast::Call &call, std::vector<RValue> values,
                          std::vector<SourceRange> ranges) {
  for (auto [i, parameter] : llvm::enumerate(decl.parameters))
    if (parameter.defaultValue || parameter.type)
      needLike(g, decl, parameter, values[i], ranges[i]);
    else
      needTensor(g, values[i], decl.name, ranges[i]);
  auto half = llvm::find_if(values, [](const RValue &v) { return v.isTensor() && isHalfTensor(v.value.getType()); });
  if (half == values.end())
    return callWith(g, decl, call, std::move(values), std::move(ranges), {});
  DType dtype = half->tensor().getDtype();
  for (RValue &v : values)
    if (v.isTensor() && isHalfTensor(v.value.getType()))
      v = castTo(g, v.value, DType::F32, call.range);
  RValue result = callWith(g, decl, call, std::move(values), std::move(ranges), {});
  if (result.isTensor() && result.tensor().getDtype() == DType::F32)
    result = castTo(g, result.value, dtype, call.range);
  return result;
}

/// `function` holds what the declaration has captured.
static RValue callUser(IRGen &g, const ast::Function &decl, const RValue &function, const ast::Call &call,
                       const BoundArguments &bound) {
  std::vector<RValue> values;
  std::vector<SourceRange> ranges;
  std::vector<const ast::Expr *> written;
  std::set<std::string> positions = positionsOf(g, decl);
  for (auto [i, parameter] : llvm::enumerate(decl.parameters)) {
    const ast::Expr *e = bound[i].second;
    written.push_back(e);
    ranges.push_back(e ? e->range : call.range);
    auto *bracket = e ? ast::dynCast<ast::Bracket>(e) : nullptr;
    if (bracket && isLibrary(g, decl) && parameter.name == "axis") // several axes are integers
      values.push_back(RValue::tuple(indexList(g, *e, decl.name)));
    else if (bracket && positions.count(parameter.name))
      values.push_back(genPositions(g, *e));
    else
      values.push_back(e ? genExpr(g, *e) : defaultOf(g, parameter, function));
    if (values.back().kind == RValue::Nothing)
      g.fail(DiagId::NoValue, ranges.back(), {g.sourceText(ranges.back())});
  }
  bool isInside = isPrivate(decl.name) || !decl.place.empty(); // what the library calls itself
  if (isLibrary(g, decl) && !isInside)
    return callLibrary(g, decl, call, std::move(values), std::move(ranges));
  for (const RValue &captured : function.elements) {
    values.push_back(captured);
    ranges.push_back(call.range);
  }
  return callWith(g, {decl, function.names}, call, std::move(values), std::move(ranges), written);
}

void unknownArgument(IRGen &g, const std::string &function, const ast::Argument &argument,
                     ArrayRef<std::string> parameters) {
  static constexpr struct {
    const char *theirs, *ours, *help;
  } otherNames[] = {
#define TOY_OTHER_PARAMETER(NAME, PARAMETER, HELP) {NAME, PARAMETER, HELP},
#include "support/OtherSpellings.def"
  };
  SmallVector<StringRef> own = {function};
  if (const BuiltinRow *row = findBuiltin(function))
    StringRef(row->parameters).split(own, ", ");
  for (auto [theirs, ours, help] : otherNames)
    if (argument.keyword == theirs && llvm::is_contained(own, ours))
      g.fail(DiagId::UnknownArgument, argument.keywordRange, {function, argument.keyword}, help);
  g.failNear(DiagId::UnknownArgument, argument.keywordRange, {function, argument.keyword}, argument.keyword,
             parameters);
}

std::string otherMeaning(StringRef function, StringRef parameter) {
  static const struct {
    const char *function, *parameter, *help;
  } rows[] = {
#define TOY_OTHER_MEANING(NAME, PARAMETER, HELP) {NAME, PARAMETER, HELP},
#include "support/OtherSpellings.def"
  };
  for (auto [name, missing, help] : rows)
    if (function == name && parameter == missing)
      return help;
  return "";
}

BoundArguments bindArguments(IRGen &g, const ast::Call &c, ArrayRef<std::string> parameters, ArrayRef<bool> optional,
                             const std::string &function, SourceRange definition) {
  auto refuse = [&](DiagId id, SourceRange range, std::vector<std::string> args) {
    std::string help = id == DiagId::MissingArgument && findBuiltin(function) ? otherMeaning(function, args[1]) : "";
    Diagnostic &d = g.report(id, range, std::move(args));
    if (definition.valid())
      d.note(definition, "it is defined here");
    if (!help.empty())
      d.withHelp(help);
    throw IRAbort();
  };
  BoundArguments bound;
  for (const std::string &parameter : parameters)
    bound.emplace_back(parameter, nullptr);
  size_t positional = 0, total = c.arguments.size();
  for (const ast::Argument &argument : c.arguments) {
    if (argument.keyword.empty()) {
      if (positional >= parameters.size())
        refuse(DiagId::TooManyArguments, argument.value->range,
               {function, std::to_string(parameters.size()), std::to_string(total)});
      bound[positional++].second = argument.value.get();
      continue;
    }
    std::string keyword = argument.keyword;
    if (keyword == "dim" && !llvm::is_contained(parameters, "dim"))
      keyword = "axis";
    auto it = llvm::find_if(bound, [&](auto &b) { return b.first == keyword; });
    if (it == bound.end()) {
      std::vector<std::string> open; // the others were meant already
      for (const auto &[name, value] : bound)
        if (!value && llvm::none_of(c.arguments, [&](const ast::Argument &a) { return a.keyword == name; }))
          open.push_back(name);
      unknownArgument(g, function, argument, open);
    }
    if (it->second)
      g.fail(DiagId::ArgumentTwice, argument.keywordRange, {function, keyword});
    it->second = argument.value.get();
  }
  for (size_t i = 0; i < bound.size(); ++i)
    if (!bound[i].second && !optional[i])
      refuse(DiagId::MissingArgument, c.range, {function, bound[i].first});
  return bound;
}

static BoundArguments boundTo(IRGen &g, const ast::Struct &decl, const ast::Call &c) {
  std::vector<std::string> members;
  SmallVector<bool> optional;
  for (const ast::Parameter &m : decl.members) {
    members.push_back(m.name);
    optional.push_back(m.defaultValue != nullptr);
  }
  bool isWhole = optional.empty() || !optional.back(); // the last ones have defaults
  if (isWhole ? c.arguments.size() != members.size() : c.arguments.size() > members.size())
    g.fail(DiagId::StructArity, c.range,
           {decl.name, std::to_string(members.size()), std::to_string(c.arguments.size())});
  return bindArguments(g, c, members, optional, decl.name);
}

static RValue genConstructor(IRGen &g, const ast::Struct &decl, const ast::Call &c) {
  std::vector<RValue> values;
  for (auto [bound, member] : llvm::zip_equal(boundTo(g, decl, c), decl.members))
    values.push_back(bound.second ? genExpr(g, *bound.second) : defaultOf(g, member, RValue()));
  for (const ast::Argument &argument : c.arguments)
    if (!argument.keyword.empty())
      g.host.usesMember(decl.name, argument.keyword, argument.keywordRange);
  return makeStruct(g, decl, std::move(values), c.range);
}

RValue genConversion(IRGen &g, DType dtype, const ast::Call &c) {
  if (c.arguments.size() != 1 || !c.arguments[0].keyword.empty())
    g.fail(c.arguments.empty() ? DiagId::MissingArgument : DiagId::TooManyArguments, c.range,
           {std::string(nameOf(dtype)), c.arguments.empty() ? "x" : "1", std::to_string(c.arguments.size())});
  const ast::Expr &e = *c.arguments[0].value;
  if (isLiteral(e)) {
    const ast::Expr *inner = e.kind == ast::NodeKind::Unary ? ast::cast<ast::Unary>(e).operand.get() : &e;
    auto form = ast::cast<ast::Number>(*inner).form;
    bool fits = form == ast::Number::Integer ? dtype != DType::Bool
                : form == ast::Number::Float ? isFloat(dtype) || isComplex(dtype)
                                             : isComplex(dtype);
    if (fits)
      return numberAs(g, e, dtype);
  }
  if (auto *b = ast::dynCast<ast::Bracket>(&e); b && (dtype != DType::Bool || b->allBools))
    return genBracket(g, *b, dtype);
  RValue v = genExpr(g, e);
  if (v.isStr() && (dtype == DType::I64 || dtype == DType::I32 || isFloat(dtype)))
    return g.create<ParseNumberOp>(c.range, {v.value}, {g.dtypeAttr(dtype)});
  if (!v.isTensor())
    g.fail(DiagId::ConversionOf, c.range, {v.str(), std::string(nameOf(dtype))});
  if (v.tensor().isComplex() && !isComplex(dtype))
    g.fail(DiagId::ComplexToReal, c.range, {v.type().str(), std::string(nameOf(dtype))},
           "use `real(…)`, `imag(…)` or `abs(…)`");
  return castTo(g, v.value, dtype, c.range);
}

static BoundArguments boundTo(IRGen &g, const ast::Function &decl, const ast::Call &c, const std::string &name) {
  std::vector<std::string> parameters;
  SmallVector<bool> optional;
  for (const ast::Parameter &p : decl.parameters) {
    parameters.push_back(p.name);
    optional.push_back(p.defaultValue != nullptr);
  }
  SourceRange definition = decl.place.empty() ? SourceRange() : decl.range;
  return bindArguments(g, c, parameters, optional, name, definition);
}

/// `function` is a value of the declaration; of the top level nothing.
RValue callFunction(IRGen &g, const ast::Function &decl, const RValue &function, const ast::Call &c,
                    const std::string &name) {
  return callUser(g, decl, function, c, boundTo(g, decl, c, name));
}

void checkCall(IRGen &g, const ast::Call &c) {
  if (const ast::Function *decl = userFunction(g, c.callee))
    boundTo(g, *decl, c, c.callee);
  else if (const ast::Struct *decl = userStruct(g, c.callee))
    boundTo(g, *decl, c);
  else if (dtypeNamed(c.callee))
    return;
  else if (const BuiltinRow *row = findBuiltin(c.callee))
    checkArguments(g, *row, c);
  else if (const ast::Function *decl = preludeFunction(c.callee, g.diagnostics.getSources()))
    boundTo(g, *decl, c, c.callee);
}

bool callNamed(IRGen &g, const std::string &name, const ast::Call &c, RValue &result) {
  if (g.fn().instance) // also what is built in: a definition may take its place
    g.fn().instance->functions.insert(name);
  if (const ast::Function *decl = userFunction(g, name))
    result = callFunction(g, *decl, RValue(), c, name);
  else if (const ast::Struct *decl = userStruct(g, name))
    result = genConstructor(g, *decl, c);
  else if (auto dtype = dtypeNamed(name))
    result = genConversion(g, *dtype, c);
  else if (isPrivate(name) && !(g.fn().decl && isLibrary(g, *g.fn().decl)))
    return false;
  else if (const BuiltinRow *row = findBuiltin(name))
    result = callBuiltin(g, *row, c);
  else if (const ast::Function *decl = preludeFunction(name, g.diagnostics.getSources()))
    result = callFunction(g, *decl, RValue(), c, name);
  else
    return false;
  return true;
}

} // namespace toy
