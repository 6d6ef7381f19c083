// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls: binding of arguments to parameters, conversions, constructors, and dispatch to built-in and user functions.
#include "irgen/Builtins.h"
#include "irgen/Declarations.h"
#include "irgen/Expressions.h"

using namespace mlir;

namespace toy {

void unknownArgument(IRGen &g, const std::string &function, const ast::Argument &argument,
                     ArrayRef<std::string> parameters) {
  g.failNear(DiagId::UnknownArgument, argument.keywordRange, {function, argument.keyword}, argument.keyword,
             parameters);
}

/// Positional and keyword arguments in the order of the parameters; `dim` is an alias of `axis`.
BoundArguments bindArguments(IRGen &g, const ast::Call &c, ArrayRef<std::string> parameters, ArrayRef<bool> optional,
                             const std::string &function) {
  BoundArguments bound;
  for (const std::string &parameter : parameters)
    bound.emplace_back(parameter, nullptr);
  size_t positional = 0, total = c.arguments.size();
  for (const ast::Argument &argument : c.arguments) {
    if (argument.keyword.empty()) {
      if (positional >= parameters.size())
        g.fail(DiagId::TooManyArguments, argument.value->range,
               {function, std::to_string(parameters.size()), std::to_string(total)});
      bound[positional++].second = argument.value.get();
      continue;
    }
    std::string keyword = argument.keyword;
    if (keyword == "dim" && !llvm::is_contained(parameters, "dim"))
      keyword = "axis";
    auto it = llvm::find_if(bound, [&](auto &b) { return b.first == keyword; });
    if (it == bound.end())
      unknownArgument(g, function, argument, parameters);
    if (it->second)
      g.fail(DiagId::ArgumentTwice, argument.keywordRange, {function, keyword});
    it->second = argument.value.get();
  }
  for (size_t i = 0; i < bound.size(); ++i)
    if (!bound[i].second && !optional[i])
      g.fail(DiagId::MissingArgument, c.range, {function, bound[i].first});
  return bound;
}

static Val genConstructor(IRGen &g, const ast::Struct &decl, const ast::Call &c) {
  std::vector<std::string> members;
  for (const ast::Parameter &m : decl.members)
    members.push_back(m.name);
  if (c.arguments.size() != members.size())
    g.fail(DiagId::StructArity, c.range,
           {decl.name, std::to_string(members.size()), std::to_string(c.arguments.size())});
  std::vector<Val> values;
  for (auto &[member, e] : bindArguments(g, c, members, SmallVector<bool>(members.size(), false), decl.name))
    values.push_back(genExpr(g, *e));
  return makeStruct(g, decl, std::move(values), c.range);
}

/// `D(x)`: literals and brackets directly below are read in D with one rounding; strings are parsed.
static Val genConversion(IRGen &g, DType dtype, const ast::Call &c) {
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
  Val v = genExpr(g, e);
  if (v.isStr() && (dtype == DType::I64 || dtype == DType::I32 || isFloat(dtype)))
    return g.create<ParseNumberOp>(c.range, {v.value}, {g.dtypeAttr(dtype)});
  if (!v.isTensor())
    g.fail(DiagId::ConversionOf, c.range, {v.str(), std::string(nameOf(dtype))});
  if (v.tensor().isComplex() && !isComplex(dtype))
    g.fail(DiagId::ComplexToReal, c.range, {v.type().str(), std::string(nameOf(dtype))},
           "use `real(…)`, `imag(…)` or `abs(…)`");
  return castTo(g, v.value, dtype, c.range);
}

Val genCall(IRGen &g, const ast::Call &c) {
  const std::string &name = c.callee;
  if (g.fn().instance) // also what is built in: a definition may take its place
    g.fn().instance->functions.insert(name);
  auto callFunction = [&](const ast::Function &decl) {
    std::vector<std::string> parameters;
    SmallVector<bool> optional;
    for (const ast::Parameter &p : decl.parameters) {
      parameters.push_back(p.name);
      optional.push_back(p.defaultValue != nullptr);
    }
    return callUser(g, decl, c, bindArguments(g, c, parameters, optional, name));
  };
  if (const ast::Function *decl = userFunction(g, name))
    return callFunction(*decl);
  if (const ast::Struct *decl = userStruct(g, name))
    return genConstructor(g, *decl, c);
  if (auto dtype = dtypeNamed(name))
    return genConversion(g, *dtype, c);
  if (const BuiltinRow *row = findBuiltin(name))
    return callBuiltin(g, *row, c);
  if (const ast::Function *decl = preludeFunction(name, g.diagnostics.getSources()))
    return callFunction(*decl);
  if (lookup(g, name) || g.host.global(name))
    g.fail(DiagId::NotAFunction, c.calleeRange, {name});
  unknownName(g, name, c.calleeRange, true);
}

} // namespace toy
