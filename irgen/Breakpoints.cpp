// SPDX-License-Identifier: Apache-2.0
/// \file
/// Places where a program that is evaluated stops: `breakpoint()`, and statements behind one. They keep the local
/// variables as they are there.
#include "irgen/Builtins.h"
#include "irgen/Statements.h"

using namespace mlir;

namespace toy {

static void genStop(IRGen &g, SourceRange range, bool isBreakpoint) {
  std::map<std::string, const RValue *> visible; // the innermost of a name
  for (const auto &scope : g.fn().scopes)
    for (const auto &[name, variable] : scope)
      visible[name] = variable.isUnknown ? nullptr : &variable.value;
  std::vector<std::pair<std::string, ValueType>> locals;
  SmallVector<Value> leaves;
  for (auto [name, value] : visible)
    if (value && value->kind != RValue::Nothing && !value->type().isOpenList()) {
      locals.emplace_back(name, value->type());
      value->flatten(leaves);
    }
  int64_t number = g.host.noteBreakpoint(isBreakpoint, std::move(locals));
  g.create<PrintOp>(range, leaves,
                    {g.stringAttr("structure", ""), g.boolAttr("echo", false), g.stringAttr("trace", "stop"),
                     g.integerAttr("number", number)});
}

RValue breakpointBuiltin(IRGen &g, Bound &args, SourceRange r) {
  if (g.host.compileOptions().stops)
    genStop(g, r, true);
  return {};
}

void genStep(IRGen &g, const ast::Stmt &s) {
  auto *expression = ast::dynCast<ast::ExprStmt>(&s);
  auto *call = expression ? ast::dynCast<ast::Call>(expression->value.get()) : nullptr;
  if (s.kind != ast::NodeKind::Block && !(call && call->callee == "breakpoint") &&
      !(g.fn().decl && isLibrary(g, *g.fn().decl)))
    genStop(g, s.range, false);
}

} // namespace toy
