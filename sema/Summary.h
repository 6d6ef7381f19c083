// SPDX-License-Identifier: Apache-2.0
/// \file
/// What statements and functions do with names that they do not declare themselves, from their trees.
#pragma once

#include "ast/AST.h"

#include <set>

namespace toy::sema {

using NameSet = std::set<std::string>;

/// Of a statement of the top level: what stands at its outermost level are top-level variables. Of a function: its
/// body, result type and `where` clauses, with the defaults of its parameters, which are evaluated where it is called,
/// and the functions inside.
struct Summary {
  NameSet reads;                   ///< variables from outside; also names that turn out to be dtypes or constants
  NameSet writes;                  ///< variables from outside
  NameSet calls;                   ///< functions, structs, dtypes, and variables that hold a function, by name
  NameSet freeCalls;               ///< those of `calls` that it does not declare itself
  std::set<size_t> usedParameters; ///< of a function, by position: those that it reads or assigns
  unsigned factors = 0; ///< operators and functions that parts of complex products are made of: `* / @ **`, cos and sin
  bool branches = false, loops = false;
  bool returnsValue = false; ///< some `return` of the function has a value
};

Summary summarize(const ast::Stmt &statement);
Summary summarize(const ast::Expr &expression);

/// Variables that assignments inside a statement may change, in order of appearance; with those that it declares
/// itself.
std::vector<std::string> assignedIn(const ast::Node &node);

} // namespace toy::sema
