// SPDX-License-Identifier: Apache-2.0
/// \file
/// Shared by the session's files.
#pragma once

#include "repl/Session.h"

#include <chrono>

namespace toy {

/// Adds the time of a scope to a phase.
class PhaseTimer {
public:
  explicit PhaseTimer(double &total) : total(total), begin(std::chrono::steady_clock::now()) {}
  ~PhaseTimer() { total += milliseconds(); }
  double milliseconds() const { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count(); }

private:
  double &total;
  std::chrono::steady_clock::time_point begin;
};

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

} // namespace toy
