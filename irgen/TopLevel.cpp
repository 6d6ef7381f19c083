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
  IRGen gen(module, host, diagnostics);
  try {
    gen.generateTop(statements, out);
    return true;
  } catch (IRAbort) {
    for (const auto &undo : llvm::reverse(gen.undoForms))
      undo();
    return false;
  }
}

bool IRGen::checkDefinition(const ast::Function &decl) {
  bool isWhole = decl.body && llvm::all_of(decl.parameters, [](const ast::Parameter &p) {
                   return p.type && p.type->form != ast::TypeExpr::Tuple && dtypeNamed(p.type->name) && !llvm::is_contained(p.type->sizes, "_");
                 });
  if (!isWhole || decl.parameters.empty())
    return true;
  size_t reported = diagnostics.diagnostics().size();
  try {
    stack.push_back(std::make_unique<FunctionState>());
    fn().scopes.resize(1);
    b.setInsertionPointToEnd(module.getBody());
    fn().op = func::FuncOp::create(b, b.getUnknownLoc(), host.newSymbol("__definition"), b.getFunctionType({}, {}));
    moveTo(fn().op.addEntryBlock());
    std::vector<Val> arguments;
    for (const ast::Parameter &parameter : decl.parameters)
      arguments.push_back(Val::leaf(current->addArgument(typeOf(*parameter.type, nullptr).leaf, b.getUnknownLoc())));
    (void)instantiate(decl, arguments, decl.name + "@definition", {}, {});
    return true;
  } catch (IRAbort) {
    // Other errors may be about what is not there yet: the call tells them.
    bool isProof = diagnostics.diagnostics().size() > reported && diagnostics.diagnostics()[reported].id == DiagId::NotProvable;
    if (!isProof)
      diagnostics.truncate(reported);
    return !isProof;
  } catch (StaticParameterNeeded &) {
    return true;
  }
}

bool checkDefinition(ModuleOp module, const ast::Function &decl, IRGenHost &host, DiagnosticEngine &diagnostics) {
  return IRGen(module, host, diagnostics).checkDefinition(decl);
}

} // namespace toy
