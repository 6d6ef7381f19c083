// SPDX-License-Identifier: Apache-2.0
/// \file
/// Top-level statements as a function of their own.
#include "irgen/IRGenImpl.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace toy {

/// Whether a statement calls a function that the user defined (it may read top-level variables).
static bool callsUser(const std::string &text, IRGenHost &host) {
  // Names followed by `(`: cheap and safe (a false positive only stores earlier).
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '(' && i > 0) {
      size_t begin = i;
      while (begin > 0 && (llvm::isAlnum(text[begin - 1]) || text[begin - 1] == '_'))
        --begin;
      if (begin < i && host.function(text.substr(begin, i - begin)))
        return true;
    }
  return false;
}

void IRGen::generateTop(ArrayRef<const ast::Stmt *> statements, TopLevel &out) {
  stack.push_back(std::make_unique<FunctionState>());
  FunctionState &state = fn();
  state.scopes.resize(1);
  for (const ast::Stmt *s : statements)
    state.storeEagerly |= (s->kind == ast::NodeKind::For || s->kind == ast::NodeKind::While || statements.size() > 1) && callsUser(sourceText(s->range), host);
  out.symbol = host.newSymbol("__top");
  b.setInsertionPointToEnd(module.getBody());
  state.op = func::FuncOp::create(b, loc(statements.empty() ? SourceRange() : statements[0]->range), out.symbol, b.getFunctionType({}, {}));
  moveTo(state.op.addEntryBlock());
  for (const ast::Stmt *s : statements)
    statement(*s);
  if (!reachable()) { // it ends in a loop that nothing leaves
    stack.pop_back();
    return;
  }
  for (const std::string &name : state.assignedGlobals) {
    Val &value = state.scopes.front()[name].value;
    out.stored[name] = value.type();
    if (state.storeEagerly)
      continue;
    SmallVector<Value> leaves;
    value.flatten(leaves);
    for (auto [i, leaf] : llvm::enumerate(leaves))
      create("global_store", statements.back()->range, {leaf}, {stringAttr("name", leaves.size() == 1 ? name : name + "." + std::to_string(i))});
  }
  func::ReturnOp::create(b, b.getUnknownLoc());
  stack.pop_back();
}

bool generate(ModuleOp module, ArrayRef<const ast::Stmt *> statements, IRGenHost &host, DiagnosticEngine &diagnostics, TopLevel &out) {
  try {
    IRGen(module, host, diagnostics).generateTop(statements, out);
    return true;
  } catch (IRAbort) {
    return false;
  }
}

} // namespace toy
