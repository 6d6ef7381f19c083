// SPDX-License-Identifier: Apache-2.0
/// \file
/// Top-level statements as a function of their own.
#include "irgen/Builtins.h"
#include "irgen/Declarations.h"
#include "irgen/Expressions.h"
#include "irgen/Functions.h"
#include "irgen/Statements.h"
#include "irgen/Tidy.h"
#include "sema/Lint.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace toy {

/// A definition takes the place of a variable that holds a function.
static void dropFunctionVariable(FunctionState &state, const std::string &name) {
  if (state.scopes.front()[name].value.kind != RValue::Function)
    return;
  state.scopes.front().erase(name);
  state.assignedGlobals.erase(name);
}

/// A function without arguments for what belongs to none.
static FunctionState &beginTop(IRGen &g, const std::string &name, SourceRange range) {
  g.stack.push_back(std::make_unique<FunctionState>());
  FunctionState &state = g.fn();
  state.scopes.resize(1);
  g.b.setInsertionPointToEnd(g.module.getBody());
  state.op = func::FuncOp::create(g.b, g.loc(range), g.host.instances().newSymbol(name), g.b.getFunctionType({}, {}));
  moveTo(g, state.op.addEntryBlock());
  return state;
}

static void generateItems(IRGen &g, ArrayRef<const ast::Stmt *> statements) {
  FunctionState &state = g.fn();
  for (const ast::Stmt *s : statements)
    if (s->kind == ast::NodeKind::Function || s->kind == ast::NodeKind::Struct) {
      if (auto *f = ast::dynCast<ast::Function>(s); f && state.scopes.front().count(f->name))
        dropFunctionVariable(state, f->name);
      g.host.define(*s);
    } else
      genNext(g, *s);
}

static void generateTop(IRGen &g, ArrayRef<const ast::Stmt *> statements, TopLevel &out) {
  FunctionState &state = beginTop(g, "__top", statements.empty() ? SourceRange() : statements[0]->range);
  out.symbol = state.op.getSymName();
  generateItems(g, statements);
  endDead(g, {}, {});
  if (!reachable(g)) { // it ends in a loop that nothing leaves, or fails
    g.stack.pop_back();
    return;
  }
  for (const std::string &name : state.assignedGlobals) {
    auto &[value, isGlobal, isCopy, place, isUnknown] = state.scopes.front()[name];
    out.stored[name] = value.type();
    out.places[name] = place;
    storeGlobal(g, name, value, statements.back()->range);
  }
  func::ReturnOp::create(g.b, g.b.getUnknownLoc());
  tidy(state);
  g.stack.pop_back();
}

bool generate(ModuleOp module, ArrayRef<const ast::Stmt *> statements, IRGenHost &host, DiagnosticEngine &diagnostics,
              TopLevel &out) {
  IRGen g(module, host, diagnostics);
  try {
    generateTop(g, statements, out);
    return true;
  } catch (IRAbort) {
    for (const auto &undo : llvm::reverse(g.undoSpecializations))
      undo();
    return false;
  }
}

DefinitionCheck checkDefinition(ModuleOp module, const ast::Function &decl, IRGenHost &host,
                                DiagnosticEngine &diagnostics) {
  IRGen g(module, host, diagnostics);
  try {
    checkSignature(g, decl);
  } catch (IRAbort) {
    return DefinitionCheck::Wrong;
  }
  bool isWhole = decl.body && llvm::all_of(decl.parameters, [](const ast::Parameter &p) {
                   return p.type && (p.type->form == ast::TypeExpr::Named || p.type->form == ast::TypeExpr::Tensor) &&
                          dtypeNamed(p.type->name) && !llvm::is_contained(p.type->sizes, nullptr);
                 });
  if (!isWhole || decl.parameters.empty())
    return DefinitionCheck::Open;
  size_t reported = diagnostics.diagnostics().size();
  func::FuncOp caller = beginTop(g, "__definition", {}).op; // to be
  llvm::scope_exit done([&] { caller.erase(); });
  try {
    std::vector<RValue> arguments;
    for (const ast::Parameter &parameter : decl.parameters)
      arguments.push_back(RValue(g.current->addArgument(typeOf(g, *parameter.type).leaf, g.b.getUnknownLoc())));
    const Instance &instance = instantiate(
        g, decl, arguments, instanceKey(g, decl, arguments, {}, {}) + globalsKey(globalsOf(g, decl, {})), {}, {});
    module.lookupSymbol<func::FuncOp>(instance.symbol).setPublic(); // its callers are in other modules
    return DefinitionCheck::Generated;
  } catch (IRAbort) {
    // Other errors may be about what is not there yet: the call tells them.
    if (diagnostics.diagnostics().size() > reported && diagnostics.diagnostics()[reported].id == DiagId::NotProvable)
      return DefinitionCheck::Wrong;
    diagnostics.truncate(reported);
    return DefinitionCheck::Open;
  } catch (StaticParameterNeeded &) {
    return DefinitionCheck::Open;
  }
}

namespace {

/// A key that a function draws with twice.
/// What is worth a warning whenever a text runs.
class TextWarnings : public sema::Lint {
public:
  TextWarnings(IRGenHost &host, DiagnosticEngine &diagnostics)
      : host(host), definitions(host.definitions()), diagnostics(diagnostics) {}

  const ast::Expr *keyOf(const ast::Call &c) override {
    const BuiltinRow *row = c.isMember ? nullptr : findBuiltin(c.callee);
    if (!row || definitions.function(c.callee) || StringRef(row->group) != "random" ||
        !StringRef(row->parameters).contains("key="))
      return nullptr;
    bool isSecond = StringRef(row->name) == "permutation";
    for (auto [i, argument] : llvm::enumerate(c.arguments))
      if (argument.keyword == "key" || (isSecond && i == 1 && argument.keyword.empty()))
        return argument.value.get();
    return nullptr;
  }
  void sameKey(const std::string &name, SourceRange range, SourceRange before) override {
    diagnostics.report(DiagId::SameKey, range, {name})
        .note(before, "the first numbers")
        .withHelp("`fold_in(" + name + ", 1)` is another key");
  }
  bool isPure(const std::string &function) override {
    if (definitions.function(function))
      return false;
    if (const BuiltinRow *row = findBuiltin(function)) // those of the other groups read, write, or call something
      return llvm::is_contained(
          {"complex", "elementwise", "reduce", "shape", "linear algebra", "signals", "make", "lists and text"},
          StringRef(row->group));
    return dtypeNamed(function) || preludeFunction(function, diagnostics.getSources());
  }
  void unusedValue(const ast::Expr &e, bool isVariable) override { warnOfChange(e, isVariable); }

protected:
  /// Warns of `x.sort();`, which looks as if it changed `x`; whether it does.
  bool warnOfChange(const ast::Expr &e, bool isVariable) {
    auto *call = ast::dynCast<ast::Call>(&e);
    auto *changed = call && call->isMember ? ast::dynCast<ast::Name>(call->arguments[0].value.get()) : nullptr;
    if (!changed || !(isVariable || host.global(changed->name)) || call->callee == "append") // which is an error
      return false;
    std::string arguments;
    for (const ast::Argument &argument : call->arguments)
      arguments += (arguments.empty() ? "" : ", ") + (argument.keyword.empty() ? "" : argument.keyword + " = ") +
                   std::string(diagnostics.getSources().text(argument.value->range));
    std::string help = "`" + changed->name + " = " + call->callee + "(" + arguments + ");`";
    diagnostics.report(DiagId::UnusedValue, e.range).withHelp(help.size() < 120 ? help : "");
    return true;
  }

private:
  IRGenHost &host;
  const sema::Definitions &definitions;
  DiagnosticEngine &diagnostics;
};

/// What the text says about names, as diagnostics.
class TextCheck : public TextWarnings {
public:
  explicit TextCheck(IRGen &g) : TextWarnings(g.host, g.diagnostics), g(g) {}

  bool isKnown(const std::string &name) override {
    return dtypeNamed(name) || name == "args" || isConstant(name) || namedFunction(g, name) || lookup(g, name) ||
           g.host.global(name);
  }
  bool isBuiltin(const std::string &function) override {
    return findBuiltin(function) || preludeFunction(function, g.diagnostics.getSources());
  }
  void unknownName(const std::string &name, SourceRange range, bool isFunction, const sema::NameSet &visible) override {
    auto &scope = g.fn().scopes.emplace_back(); // names that may be meant
    for (const std::string &variable : visible)
      scope[variable];
    attempt([&] { toy::unknownName(g, name, range, isFunction); });
    g.fn().scopes.pop_back();
  }
  void call(const ast::Call &c) override {
    if (!c.isMember)
      attempt([&] { checkCall(g, c); });
  }
  void unusedVariable(const std::string &name, SourceRange range) override {
    g.report(DiagId::UnusedVariable, range, {name});
  }
  void unreachable(SourceRange statement, SourceRange cause) override {
    g.report(DiagId::UnreachableStatement, statement).note(cause, "nothing goes on from here");
  }
  void unusedValue(const ast::Expr &e, bool isVariable) override {
    if (!warnOfChange(e, isVariable))
      g.report(DiagId::UnusedValue, e.range);
  }
  void hidesFunction(const std::string &name, SourceRange range) override {
    Diagnostic &d = g.report(DiagId::HidesFunction, range, {name});
    if (const ast::Function *other = userFunction(g, name); other && !userFunctionAt(other, range))
      d.note(other->nameRange, "the function outside");
    else
      d.note({}, "the other one is built in");
  }

private:
  static bool userFunctionAt(const ast::Function *f, SourceRange range) {
    return f->nameRange.buffer == range.buffer && f->nameRange.begin == range.begin;
  }
  void attempt(llvm::function_ref<void()> report) {
    try {
      report();
    } catch (IRAbort) { // it was told
    }
  }
  IRGen &g;
};

} // namespace

void warnOfText(ArrayRef<const ast::Stmt *> text, IRGenHost &host, DiagnosticEngine &diagnostics) {
  TextWarnings warnings(host, diagnostics);
  sema::lint(text, warnings);
}

void check(ModuleOp module, ArrayRef<const ast::Stmt *> all, ArrayRef<const ast::Stmt *> text, IRGenHost &host,
           DiagnosticEngine &diagnostics, TopLevel &out) {
  IRGen g(module, host, diagnostics);
  g.goesOn = true;
  FunctionState &state = beginTop(g, "__top", {});
  generateItems(g, all);
  for (auto &[name, variable] : state.scopes.front())
    if (!variable.isUnknown) {
      out.stored[name] = variable.value.type();
      out.places[name] = variable.place;
    }
  TextCheck names(g);
  sema::lint(text, names);
  if (diagnostics.hasErrors())
    return;
  endDead(g, {}, {});
  if (reachable(g))
    func::ReturnOp::create(g.b, g.b.getUnknownLoc());
}

} // namespace toy
