// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls: binding of arguments to parameters, conversions, constructors, and dispatch to built-in and user functions.
#include "irgen/IRGenImpl.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace toy {

const ast::Expr *Bound::operator[](StringRef name) const {
  for (auto &[parameter, value] : arguments)
    if (parameter == name)
      return value;
  return nullptr;
}

void IRGen::unknownArgument(const std::string &function, const ast::Argument &argument,
                            ArrayRef<std::string> parameters) {
  Diagnostic &d = report(DiagId::UnknownArgument, argument.keywordRange, {function, argument.keyword});
  if (auto near = suggest(argument.keyword, std::vector<std::string>(parameters.begin(), parameters.end())))
    d.withHelp("did you mean `" + *near + "`?");
  throw IRAbort();
}

/// Positional and keyword arguments in the order of the parameters; `dim` is an alias of `axis`.
std::vector<std::pair<std::string, const ast::Expr *>> IRGen::bindArguments(const ast::Call &c,
                                                                            ArrayRef<std::string> parameters,
                                                                            ArrayRef<bool> optional,
                                                                            const std::string &function) {
  std::vector<std::pair<std::string, const ast::Expr *>> bound;
  for (const std::string &parameter : parameters)
    bound.emplace_back(parameter, nullptr);
  size_t positional = 0, total = c.arguments.size();
  for (const ast::Argument &argument : c.arguments) {
    if (argument.keyword.empty()) {
      if (positional >= parameters.size())
        fail(DiagId::TooManyArguments, argument.value->range,
             {function, std::to_string(parameters.size()), std::to_string(total)});
      bound[positional++].second = argument.value.get();
      continue;
    }
    std::string keyword = argument.keyword;
    if (keyword == "dim" && !llvm::is_contained(parameters, "dim"))
      keyword = "axis";
    auto it = llvm::find_if(bound, [&](auto &b) { return b.first == keyword; });
    if (it == bound.end())
      unknownArgument(function, argument, parameters);
    if (it->second)
      fail(DiagId::ArgumentTwice, argument.keywordRange, {function, keyword});
    it->second = argument.value.get();
  }
  for (size_t i = 0; i < bound.size(); ++i)
    if (!bound[i].second && !optional[i])
      fail(DiagId::MissingArgument, c.range, {function, bound[i].first});
  return bound;
}

Val IRGen::call(const ast::Call &c) {
  const std::string &name = c.callee;
  if (fn().instance) // also what is built in: a definition may take its place
    fn().instance->functions.insert(name);
  auto callFunction = [&](const ast::Function &decl) {
    std::vector<std::string> parameters;
    SmallVector<bool> optional;
    for (const ast::Parameter &p : decl.parameters) {
      parameters.push_back(p.name);
      optional.push_back(p.defaultValue != nullptr);
    }
    return callUser(decl, c, bindArguments(c, parameters, optional, name));
  };
  if (const ast::Function *decl = userFunction(name))
    return callFunction(*decl);
  if (const ast::Struct *decl = userStruct(name))
    return callStruct(*decl, c);
  if (auto dtype = dtypeNamed(name))
    return convert(*dtype, c);
  if (const BuiltinRow *row = findBuiltin(name))
    return callBuiltin(*row, c);
  if (const ast::Function *decl = preludeFunction(name, diagnostics.getSources()))
    return callFunction(*decl);
  if (lookup(name) || host.global(name))
    fail(DiagId::NotAFunction, c.calleeRange, {name});
  unknownName(name, c.calleeRange, true);
}

Val IRGen::callStruct(const ast::Struct &decl, const ast::Call &c) {
  std::vector<std::string> members;
  for (const ast::Parameter &m : decl.members)
    members.push_back(m.name);
  if (c.arguments.size() != members.size())
    fail(DiagId::StructArity, c.range, {decl.name, std::to_string(members.size()), std::to_string(c.arguments.size())});
  std::vector<Val> values;
  for (auto &[member, e] : bindArguments(c, members, SmallVector<bool>(members.size(), false), decl.name))
    values.push_back(expr(*e));
  return makeStruct(decl, std::move(values), c.range);
}

/// `D(x)`: literals and brackets directly below are read in D with one rounding; strings are parsed.
Val IRGen::convert(DType dtype, const ast::Call &c) {
  if (c.arguments.size() != 1 || !c.arguments[0].keyword.empty())
    fail(c.arguments.empty() ? DiagId::MissingArgument : DiagId::TooManyArguments, c.range,
         {std::string(nameOf(dtype)), c.arguments.empty() ? "x" : "1", std::to_string(c.arguments.size())});
  const ast::Expr &e = *c.arguments[0].value;
  if (isLiteral(e)) {
    const ast::Expr *inner = e.kind == ast::NodeKind::Unary ? ast::cast<ast::Unary>(e).operand.get() : &e;
    auto form = ast::cast<ast::Number>(*inner).form;
    bool fits = form == ast::Number::Integer ? dtype != DType::Bool
                : form == ast::Number::Float ? isFloat(dtype) || isComplex(dtype)
                                             : isComplex(dtype);
    if (fits)
      return Val::leaf(numberAs(e, dtype));
  }
  if (auto *b = ast::dynCast<ast::Bracket>(&e); b && (dtype != DType::Bool || b->allBools))
    return bracket(*b, dtype);
  Val v = expr(e);
  if (v.isStr() && (dtype == DType::I64 || dtype == DType::I32 || isFloat(dtype)))
    return Val::leaf(create<ParseNumberOp>(c.range, {v.value}, {dtypeAttr(dtype)}));
  if (!v.isTensor())
    fail(DiagId::ConversionOf, c.range,
         {v.kind == Val::DTypeRef ? "a dtype" : v.type().str(), std::string(nameOf(dtype))});
  if (v.tensor().isComplex() && !isComplex(dtype))
    fail(DiagId::ComplexToReal, c.range, {v.type().str(), std::string(nameOf(dtype))},
         "use `real(…)`, `imag(…)` or `abs(…)`");
  return Val::leaf(cast(v.value, dtype, c.range));
}

/// Parameters of a row: names, `name=` for optional ones, `*name` for any number.
Val IRGen::callBuiltin(const BuiltinRow &row, const ast::Call &c) {
  std::vector<std::string> parameters;
  SmallVector<bool> optional;
  bool variadic = false;
  SmallVector<StringRef> parts;
  StringRef(row.parameters).split(parts, ", ", -1, false);
  for (StringRef part : parts) {
    if (part.starts_with("*")) {
      variadic = true;
      continue;
    }
    auto [name, fallback] = part.split('=');
    parameters.push_back(name.str());
    optional.push_back(part.contains('='));
  }
  Bound bound{&row, &c, {}, {}, {}};
  if (variadic) { // positional arguments go to the variadic parameter, behind required ones
    size_t required = llvm::count(optional, false);
    ast::Call const *call = &c;
    std::vector<std::pair<std::string, const ast::Expr *>> named;
    for (auto [i, p] : llvm::enumerate(parameters))
      named.emplace_back(p, nullptr);
    size_t positional = 0;
    for (const ast::Argument &a : call->arguments) {
      if (a.keyword.empty()) {
        if (positional < required)
          named[positional].second = a.value.get();
        else
          bound.rest.push_back(a.value.get());
        ++positional;
        continue;
      }
      std::string keyword = a.keyword == "dim" ? "axis" : a.keyword;
      auto it = llvm::find_if(named, [&](auto &n) { return n.first == keyword; });
      if (it == named.end())
        unknownArgument(row.name, a, parameters);
      it->second = a.value.get();
    }
    for (size_t i = 0; i < required; ++i)
      if (!named[i].second)
        fail(DiagId::MissingArgument, c.range, {row.name, named[i].first});
    bound.arguments = std::move(named);
  } else
    bound.arguments = bindArguments(c, parameters, optional, row.name);
  return (this->*row.handler)(bound);
}

Val IRGen::valueOf(Bound &args, StringRef name) { return expr(*args[name]); }

SourceRange IRGen::rangeOf(Bound &args, StringRef name) { return args[name] ? args[name]->range : args.call->range; }

Val IRGen::tensorArgument(Bound &args, StringRef name) {
  Val v = valueOf(args, name);
  return needTensor(v, args.row->name, rangeOf(args, name));
}

int64_t IRGen::normalizeAxis(int64_t axis, Type type, SourceRange range) {
  int64_t rank = llvm::cast<TensorType>(type).getRank();
  if (axis < -rank || axis >= rank)
    fail(DiagId::AxisOutOfRange, range, {std::to_string(axis), typeText(type)});
  return axis < 0 ? axis + rank : axis;
}

int64_t IRGen::axisArgument(Bound &args, int64_t rank, int64_t defaultAxis, StringRef name) {
  if (!args.has(name))
    return defaultAxis < 0 ? defaultAxis + rank : defaultAxis;
  int64_t axis = staticInteger(*args[name], args.row->name);
  if (axis < -rank || axis >= rank)
    fail(DiagId::AxisOutOfRange, rangeOf(args, name),
         {std::to_string(axis), "a tensor with " + std::to_string(rank) + (rank == 1 ? " axis" : " axes")});
  return axis < 0 ? axis + rank : axis;
}

SmallVector<int64_t> IRGen::axesArgument(Bound &args, Type type) {
  if (!args.has("axis"))
    return llvm::to_vector(llvm::seq<int64_t>(0, llvm::cast<TensorType>(type).getRank()));
  const ast::Expr &e = *args["axis"];
  SmallVector<int64_t> given;
  if (e.kind == ast::NodeKind::Bracket)
    given = staticList(e, args.row->name);
  else {
    Val axis = expr(e);
    if (axis.isStr() && !stringOf(axis))
      needStatic(axis.value);
    if (stringOf(axis) == StringRef("all"))
      return llvm::to_vector(llvm::seq<int64_t>(0, llvm::cast<TensorType>(type).getRank()));
    given = staticList(axis, e.range, args.row->name);
  }
  SmallVector<int64_t> axes;
  for (int64_t axis : given)
    axes.push_back(normalizeAxis(axis, type, e.range));
  llvm::sort(axes);
  return axes;
}

bool IRGen::flagArgument(Bound &args, StringRef name, bool fallback) {
  return args.has(name) ? staticBool(*args[name], name) : fallback;
}

/// The conversion letters of Builtins.def: f floats (integers become f64), r the same for real only, n numbers (bool
/// becomes i64), i wide integers (bool and integers become i64), . none.
Val IRGen::convertFor(char conversion, const Val &x, SourceRange range) {
  DType d = x.tensor().getDtype();
  if ((conversion == 'f' || conversion == 'r') && kindOf(d) <= DKind::Int)
    return Val::leaf(castVal(x, DType::F64, range));
  if ((conversion == 'n' && d == DType::Bool) || (conversion == 'i' && kindOf(d) <= DKind::Int))
    return Val::leaf(castVal(x, DType::I64, range));
  return x;
}

} // namespace toy
