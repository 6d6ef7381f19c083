// SPDX-License-Identifier: Apache-2.0
/// \file
/// Shared by the session's files.
#pragma once

#include "session/Session.h"

namespace toy {

inline bool isDefinition(const ast::Stmt &s) {
  return s.kind == ast::NodeKind::Function || s.kind == ast::NodeKind::Struct;
}
inline bool isStatement(const ast::Stmt &s) { return !isDefinition(s) && s.kind != ast::NodeKind::Import; }

/// The name and place of a function or struct.
inline std::pair<const std::string &, SourceRange> nameOf(const ast::Stmt &definition) {
  if (auto *f = ast::dynCast<ast::Function>(&definition))
    return {f->name, f->nameRange};
  auto &s = ast::cast<ast::Struct>(definition);
  return {s.name, s.nameRange};
}

/// Expressions that are looked at show no value.
inline void silence(ast::Module &module) {
  for (ast::StmtPtr &s : module.items)
    if (s->kind == ast::NodeKind::ExprStmt)
      static_cast<ast::ExprStmt &>(*s).silenced = true;
}

/// A module whose functions other modules call.
struct Session::CompiledModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string top; ///< the function of the statement itself
  bool compiled = false;
};

/// The type of a value with its sizes in place of what was known before it ran.
ValueType concrete(ValueType type, llvm::function_ref<rt::Value()> nextLeaf);

/// What the program's own names are before it has any. At the prompt `_` is the last value that was shown, until the
/// name is declared.
inline sema::ModuleNames firstNames(const SessionOptions &options) {
  sema::ModuleNames names;
  if (options.prompt)
    names.names["_"] = "ans";
  return names;
}

} // namespace toy
