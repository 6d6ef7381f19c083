// SPDX-License-Identifier: Apache-2.0
/// \file
/// Who calls whom, and what follows from it.
#pragma once

#include "sema/Definitions.h"
#include "sema/Summary.h"

#include <map>
#include <memory>

namespace toy::sema {

/// Names from outside.
struct Mentions {
  NameSet reads, calls;
};

/// What functions do together with everything that they call, by the definitions that hold now.
class CallGraph {
public:
  explicit CallGraph(const Definitions &definitions) : definitions(definitions) {}

  const Summary &summary(const ast::Function &f);
  /// Names from outside that a call of the function may read as variables, or call.
  const Mentions &mentions(const ast::Function &f);
  /// Whether a call of one of the names may reach a function.
  bool reaches(const NameSet &calls, const ast::Function &f);
  /// A definition changed.
  void forget() { closed.clear(); }
  /// Trees are gone.
  void forgetAll() {
    closed.clear();
    summaries.clear();
  }

private:
  struct Visit; ///< of Tarjan's algorithm
  void close(const ast::Function &f, Visit &visit);
  Mentions own(const ast::Function &f);
  std::vector<const ast::Function *> callees(const ast::Function &f);

  const Definitions &definitions;
  std::map<const ast::Function *, Summary> summaries;
  std::map<const ast::Function *, std::shared_ptr<const Mentions>> closed;
};

} // namespace toy::sema
