// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions as values. What a value calls is part of its type, so that a call is direct; the values that it has
/// captured are its members. Lambdas, definitions inside a block, and calls of values.
#include "irgen/Builtins.h"
#include "irgen/Declarations.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace toy {

std::optional<RValue> namedFunction(IRGen &g, const std::string &name) {
  bool isKnown = userFunction(g, name) || userStruct(g, name) || findBuiltin(name) ||
                 preludeFunction(name, g.diagnostics.getSources());
  if (!isKnown)
    return std::nullopt;
  RValue function;
  function.kind = RValue::Function;
  function.structName = name;
  return function;
}

RValue closureOf(IRGen &g, const ast::Function &decl) {
  checkSignature(g, decl);
  RValue closure;
  closure.kind = RValue::Function;
  closure.structName = decl.place;
  closure.code = &decl;
  const sema::Summary &summary = g.host.callGraph().summary(decl);
  std::set<std::string> mentioned;
  for (const sema::NameSet *names : {&summary.reads, &summary.writes, &summary.freeCalls})
    mentioned.insert(names->begin(), names->end());
  mentioned.erase(decl.name); // it sees itself
  for (const std::string &name : mentioned) {
    Variable *variable = lookup(g, name);
    if (variable && !variable->isGlobal && variable->isUnknown)
      throw IRAbort();
    if (!variable || variable->isGlobal || variable->value.kind == RValue::Nothing)
      continue;
    bool isOnlyCalled = !summary.reads.count(name) && !summary.writes.count(name);
    if (isOnlyCalled && !variable->value.isCallable() && (dtypeNamed(name) || namedFunction(g, name)))
      continue; // the function is meant
    closure.names.push_back(name);
    closure.elements.push_back(variable->value);
    closure.elements.back().settle();
  }
  return closure;
}

/// A parameter that got the result of a call was perhaps to get the function.
[[noreturn]] static void notCallable(IRGen &g, const RValue &value, const ast::Call &c, const std::string &name) {
  std::string help;
  FunctionState &state = g.fn();
  for (size_t i = 0; state.decl && i < state.arguments.size(); ++i) {
    auto *argument = state.arguments[i] ? ast::dynCast<ast::Call>(state.arguments[i]) : nullptr;
    if (argument && state.decl->parameters[i].name == name && !argument->callee.empty() &&
        (lookup(g, argument->callee) || namedFunction(g, argument->callee)))
      help = "pass the function: `" + argument->callee + "`";
  }
  g.fail(DiagId::NotCallable, c.calleeRange, {name, value.str()}, help);
}

RValue callValue(IRGen &g, const RValue &callee, const ast::Call &c, const std::string &name) {
  if (callee.kind == RValue::DTypeRef)
    return genConversion(g, callee.dtype, c);
  if (callee.kind != RValue::Function)
    notCallable(g, callee, c, name);
  if (callee.code)
    return callFunction(g, *callee.code, callee, c, name);
  RValue result;
  if (!callNamed(g, callee.structName, c, result))
    unknownName(g, callee.structName, c.calleeRange, true);
  return result;
}

RValue callWithValues(IRGen &g, const RValue &callee, ArrayRef<RValue> arguments, ArrayRef<SourceRange> sources,
                      SourceRange range) {
  auto call = std::make_unique<ast::Call>(range);
  call->calleeRange = range;
  for (auto [value, source] : llvm::zip_equal(arguments, sources)) {
    std::shared_ptr<ast::Expr> expression;
    if (auto text = stringOf(value)) { // some built-in functions want it written
      auto literal = std::make_shared<ast::String>(source);
      literal->text = text->str();
      expression = std::move(literal);
    } else {
      expression = std::make_shared<ast::Name>(source);
      g.given[expression.get()] = value;
    }
    call->arguments.push_back({"", {}, std::move(expression)});
  }
  const ast::Call &written = *call;
  g.writtenCalls.push_back(std::move(call));
  llvm::scope_exit forget([&] {
    for (const ast::Argument &argument : written.arguments)
      g.given.erase(argument.value.get());
  });
  return callValue(g, callee, written, callee.type().str());
}

/// Whether an expression may give a struct and is no literal whose writing matters.
static bool mayBeStruct(IRGen &g, const ast::Expr &e) {
  using ast::NodeKind;
  if (auto *name = ast::dynCast<ast::Name>(&e))
    return lookup(g, name->name) || globalType(g, name->name);
  return e.kind == NodeKind::Call || e.kind == NodeKind::Member || e.kind == NodeKind::Index;
}

/// `x.f(a)` calls the member `f` of a struct that holds a callable value, else the function of this name.
static RValue callMember(IRGen &g, const ast::Call &c, llvm::function_ref<RValue()> callName) {
  const ast::Expr &base = *c.arguments[0].value;
  if (!mayBeStruct(g, base)) {
    if (auto *name = ast::dynCast<ast::Name>(&base);
        name && !lookup(g, name->name) && !globalType(g, name->name) && !namedFunction(g, name->name))
      (void)genExpr(g, base); // a name that means nothing is what is wrong, not the arguments
    return callName();
  }
  RValue value = genExpr(g, base);
  auto member = llvm::find(value.names, c.callee);
  if (value.kind == RValue::Struct && member != value.names.end())
    if (const RValue &function = value.elements[member - value.names.begin()];
        function.isCallable() || !(lookup(g, c.callee) || dtypeNamed(c.callee) || namedFunction(g, c.functionName()))) {
      g.host.usesMember(value.structName, c.callee, c.calleeRange);
      auto call = std::make_unique<ast::Call>(c.range);
      call->callee = c.callee;
      call->calleeRange = c.calleeRange;
      call->arguments.assign(c.arguments.begin() + 1, c.arguments.end());
      g.writtenCalls.push_back(std::move(call));
      return callValue(g, function, *g.writtenCalls.back(), c.callee);
    }
  if (base.kind != ast::NodeKind::Name)
    g.given[&base] = value;
  llvm::scope_exit forget([&] { g.given.erase(&base); });
  return callName();
}

/// A function that holds itself under a name that its caller gave it: lambdas do not see themselves.
static bool isNameOfCaller(IRGen &g, const std::string &name) {
  const ast::Function *decl = g.fn().decl;
  return llvm::any_of(g.stack, [&](const std::unique_ptr<FunctionState> &state) {
    return llvm::any_of(state->scopes, [&](const std::map<std::string, Variable> &scope) {
      auto it = scope.find(name);
      return it != scope.end() && decl && it->second.value.code == decl;
    });
  });
}

/// Functions by name: local values, those of the top level, and what no variable is. Other variables do not hide them.
static RValue callByName(IRGen &g, const ast::Call &c) {
  const std::string &name = c.functionName();
  Variable *local = lookup(g, name);
  if (local && local->isUnknown)
    throw IRAbort();
  if (local && !local->isGlobal && local->value.isCallable())
    return callValue(g, local->value, c, name);
  std::optional<ValueType> global = local && !local->isGlobal ? std::nullopt : globalType(g, name);
  if (global && global->kind == ValueType::Function)
    return callValue(g, *readVariable(g, name, c.calleeRange), c, name);
  RValue result;
  if (callNamed(g, name, c, result))
    return result;
  if (local || global)
    return callValue(g, *readVariable(g, name, c.calleeRange), c, name);
  if (isNameOfCaller(g, name))
    g.fail(DiagId::UnknownFunction, c.calleeRange, {name},
           "a lambda does not see itself: use `def " + name + "(…) { … }`");
  unknownName(g, name, c.calleeRange, true);
}

bool isCallOf(IRGen &g, const ast::Call *call, StringRef name) {
  if (!call || call->function || call->isMember || call->callee != name)
    return false;
  if (g.fn().instance)
    g.fn().instance->functions.insert(name.str()); // a definition may take its place
  if (userFunction(g, call->callee) || userStruct(g, call->callee))
    return false;
  if (Variable *local = lookup(g, name); local && !local->isGlobal)
    return !local->isUnknown && !local->value.isCallable();
  std::optional<ValueType> global = globalType(g, call->callee);
  return !global || global->kind != ValueType::Function;
}

RValue genCall(IRGen &g, const ast::Call &c) {
  if (c.function)
    return callValue(g, genExpr(g, *c.function), c, g.sourceText(c.calleeRange).substr(0, 40));
  return c.isMember ? callMember(g, c, [&] { return callByName(g, c); }) : callByName(g, c);
}

RValue callPrivate(IRGen &g, StringRef name, ArrayRef<RValue> arguments, SourceRange source, SourceRange range) {
  RValue function;
  function.kind = RValue::Function;
  function.code = preludeFunction(name.str(), g.diagnostics.getSources());
  return callWithValues(g, function, arguments, SmallVector<SourceRange>(arguments.size(), source), range);
}

} // namespace toy
