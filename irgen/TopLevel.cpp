// SPDX-License-Identifier: Apache-2.0
/// \file
/// Top-level statements as a function of their own.
#include "irgen/Declarations.h"
#include "irgen/Expressions.h"
#include "irgen/Functions.h"
#include "irgen/Statements.h"

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

static void generateTop(IRGen &g, ArrayRef<const ast::Stmt *> statements, TopLevel &out) {
  g.stack.push_back(std::make_unique<FunctionState>());
  FunctionState &state = g.fn();
  state.scopes.resize(1);
  out.symbol = g.host.instances().newSymbol("__top");
  g.b.setInsertionPointToEnd(g.module.getBody());
  state.op = func::FuncOp::create(g.b, g.loc(statements.empty() ? SourceRange() : statements[0]->range), out.symbol,
                                  g.b.getFunctionType({}, {}));
  moveTo(g, state.op.addEntryBlock());
  for (const ast::Stmt *s : statements)
    if (s->kind == ast::NodeKind::Function || s->kind == ast::NodeKind::Struct) {
      if (auto *f = ast::dynCast<ast::Function>(s); f && state.scopes.front().count(f->name))
        dropFunctionVariable(state, f->name);
      g.host.define(*s);
    } else if (reachable(g))
      genStatement(g, *s);
  if (!reachable(g)) { // it ends in a loop that nothing leaves
    g.stack.pop_back();
    return;
  }
  for (const std::string &name : state.assignedGlobals) {
    RValue &value = state.scopes.front()[name].value;
    out.stored[name] = value.type();
    storeGlobal(g, name, value, statements.back()->range);
  }
  func::ReturnOp::create(g.b, g.b.getUnknownLoc());
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
  g.stack.push_back(std::make_unique<FunctionState>()); // a caller to be
  g.fn().scopes.resize(1);
  g.b.setInsertionPointToEnd(module.getBody());
  g.fn().op = func::FuncOp::create(g.b, g.b.getUnknownLoc(), host.instances().newSymbol("__definition"),
                                   g.b.getFunctionType({}, {}));
  llvm::scope_exit done([&, caller = g.fn().op]() mutable { caller.erase(); });
  try {
    moveTo(g, g.fn().op.addEntryBlock());
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

} // namespace toy
