// SPDX-License-Identifier: Apache-2.0
/// \file
/// Variables: in scopes, and at the top level, from where functions read them.
#include "irgen/Builtins.h"
#include "support/OtherSpellings.h"

using namespace mlir;

namespace toy {

Variable *lookup(IRGen &g, StringRef name) {
  for (auto &scope : llvm::reverse(g.fn().scopes))
    if (auto it = scope.find(name.str()); it != scope.end())
      return &it->second;
  return nullptr;
}

/// What is not known because of an error was told already.
static const Variable &needKnown(const Variable &variable) {
  if (variable.isUnknown)
    throw IRAbort();
  return variable;
}

void unknownName(IRGen &g, const std::string &name, SourceRange range, bool isFunction) {
  DiagId unknown = isFunction ? DiagId::UnknownFunction : DiagId::UnknownName;
  if (std::string help = helpForOther(Other::Name, name); !help.empty())
    g.fail(unknown, range, {name}, help, wordInstead(name));
  std::vector<std::string> candidates = g.host.names();
  auto inside = llvm::find_if(candidates, [&](const std::string &known) { return known.starts_with(name + "."); });
  if (inside != candidates.end())
    g.fail(DiagId::IsModule, range, {name}, "`" + *inside + "` is a name of it");
  for (auto &scope : g.fn().scopes)
    for (auto &[known, variable] : scope)
      candidates.push_back(known);
  if (isFunction)
    llvm::erase_if(candidates, [&](const std::string &known) {
      const Variable *local = lookup(g, known);
      const ValueType *global = local ? nullptr : g.host.global(known);
      return local ? !local->value.isCallable() : global && !global->isCallable();
    });
  for (const BuiltinInfo &info : allBuiltins())
    candidates.push_back(info.name);
  g.failNear(unknown, range, {name}, name, candidates);
}

RValue globalValue(IRGen &g, const std::string &name, const ValueType &type, SourceRange range) {
  SmallVector<Type> leaves;
  type.flatten(leaves);
  SmallVector<Value> values;
  for (auto [i, leaf] : llvm::enumerate(leaves))
    values.push_back(
        g.createOp<GlobalLoadOp>(
             range, {}, {g.stringAttr("name", leaves.size() == 1 ? name : name + "." + std::to_string(i))}, {}, leaf)
            ->getResult(0));
  ValueRange rest(values);
  return unflatten(type, rest);
}

/// A type as other functions see it: names of sizes mean something in their own function only.
static ValueType withoutNames(ValueType type) {
  type.mapSizes([](unsigned, size_t, Dim dim) { return dim.isNumber() ? dim : Dim::unknown(dim.getContext()); });
  return type;
}

std::optional<ValueType> globalType(IRGen &g, const std::string &name) {
  if (g.fn().decl && isLibrary(g, *g.fn().decl)) // the library sees no user's names
    return std::nullopt;
  FunctionState &top = *g.stack.front();
  if (!top.decl)
    if (auto it = top.scopes.front().find(name); it != top.scopes.front().end() && it->second.isGlobal)
      return withoutNames(needKnown(it->second).value.type());
  const ValueType *type = g.host.global(name);
  return type ? std::optional(*type) : std::nullopt;
}

std::optional<RValue> readVariable(IRGen &g, const std::string &name, SourceRange range) {
  if (Variable *variable = lookup(g, name))
    return needKnown(*variable).value;
  if (auto known = g.fn().readGlobals.find(name); known != g.fn().readGlobals.end())
    return known->second;
  std::optional<ValueType> type = globalType(g, name);
  if (!type)
    return std::nullopt;
  // At the top level the value is there: integers are constants, so that sizes made of them are known.
  auto known = g.fn().decl ? std::nullopt : g.host.globalInteger(name);
  OpBuilder::InsertionGuard guard(g.b);
  g.b.setInsertionPointToStart(&g.fn().op.getBody().front()); // where it is seen from every branch
  if (known) {
    Value v =
        type->leaf == TensorType::scalar(g.context, DType::Bool) ? g.boolean(*known, range) : g.integer(*known, range);
    RValue value = v;
    g.fn().scopes.front()[name] = {value, true, false, g.host.placeOfGlobal(name)};
    return value;
  }
  RValue value = globalValue(g, name, *type, range);
  if (g.fn().decl)
    g.fn().readGlobals[name] = value;
  else // nobody else changes it while the statement runs
    g.fn().scopes.front()[name] = {value, true, false, g.host.placeOfGlobal(name)};
  return value;
}

/// A function at the top level takes the place of a built-in one of its name.
static void warnOfShadowing(IRGen &g, const std::string &name, SourceRange range) {
  std::optional<ValueType> before = globalType(g, name);
  if ((!before || before->kind != ValueType::Function) && !userFunction(g, name) &&
      (findBuiltin(name) || preludeFunction(name, g.diagnostics.getSources())))
    g.report(DiagId::ShadowsBuiltin, range, {name});
}

void defineVariable(IRGen &g, const std::string &name, RValue value, SourceRange range, bool declare) {
  if (value.kind == RValue::Nothing)
    g.fail(DiagId::NoValue, range, {g.sourceText(range)});
  value.settle();
  bool topScope = !g.fn().decl && g.fn().scopes.size() == 1;
  Variable *variable = declare ? nullptr : lookup(g, name);
  if (variable && variable->isUnknown)
    return;
  if (variable && variable->isCopy)
    g.fail(DiagId::CapturedCopy, range, {name}, "return the new value");
  if (!variable && !declare) {
    if (!globalType(g, name)) {
      Diagnostic &d = g.report(DiagId::AssignUndeclared, range, {name});
      if (StringRef(name).contains('.'))
        d.withHelp("a module declares its own names");
      else
        d.withHelp("declare it: `var " + name + " = …;`");
      throw IRAbort();
    }
    if (g.fn().decl)
      g.fail(DiagId::ReadOnlyGlobal, range, {name}, "return the new value");
    variable = &g.fn().scopes.front()[name];
    variable->isGlobal = true;
  }
  if (!variable)
    variable = &g.fn().scopes.back()[name];
  if ((topScope || variable->isGlobal) && value.kind == RValue::Function)
    warnOfShadowing(g, name, range);
  *variable = {value, variable->isGlobal, false, range};
  variable->isGlobal |= topScope && declare;
  if (variable->isGlobal)
    g.fn().assignedGlobals.insert(name);
}

void storeGlobal(IRGen &g, const std::string &name, const RValue &value, SourceRange range) {
  SmallVector<Value> leaves;
  value.flatten(leaves);
  for (auto [i, leaf] : llvm::enumerate(leaves))
    g.create<GlobalStoreOp>(range, {leaf},
                            {g.stringAttr("name", leaves.size() == 1 ? name : name + "." + std::to_string(i))});
}

std::map<std::string, ValueType> globalsOf(IRGen &g, const ast::Function &decl, ArrayRef<RValue> arguments) {
  std::map<std::string, ValueType> out;
  std::vector<const ast::Function *> open = {&decl};
  std::set<const ast::Function *> seen;
  auto follow = [&](auto &self, const auto &value) -> void {
    if (value.kind == ValueType::Function)
      if (const ast::Function *f = value.code ? value.code : g.host.definitions().function(value.structName))
        open.push_back(f);
    for (const auto &element : value.elements)
      self(self, element);
  };
  for (const RValue &argument : arguments)
    follow(follow, argument);
  while (!open.empty()) {
    const ast::Function &f = *open.back();
    open.pop_back();
    if (isLibrary(g, f) || !seen.insert(&f).second)
      continue;
    const sema::Mentions &mentions = g.host.callGraph().mentions(f);
    for (const sema::NameSet *names : {&mentions.reads, &mentions.calls})
      for (const std::string &name : *names)
        if (auto type = globalType(g, name); type && (names == &mentions.reads || type->isCallable()))
          if (auto [it, isNew] = out.try_emplace(name, *type); isNew)
            follow(follow, it->second);
  }
  return out;
}

void storeFor(IRGen &g, const std::map<std::string, ValueType> &globals, SourceRange range) {
  FunctionState &state = g.fn();
  if (state.decl)
    return;
  for (auto &[name, type] : globals) {
    auto it = state.scopes.front().find(name);
    bool isChanged = state.assignedGlobals.count(name) || llvm::any_of(state.loops, [&](const LoopState &loop) {
                       return llvm::is_contained(loop.names, name);
                     });
    if (it != state.scopes.front().end() && it->second.isGlobal && isChanged)
      storeGlobal(g, name, it->second.value, range);
  }
}

std::string globalsKey(const std::map<std::string, ValueType> &globals) {
  std::string key;
  for (auto &[name, type] : globals)
    key += "|" + name + ": " + type.key();
  return key;
}

} // namespace toy
