// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a text shows that is wrong or doubtful whatever its values are: names that mean nothing, calls that nobody
/// could bind, variables that nobody reads, statements that never run.
#pragma once

#include "sema/Summary.h"

namespace toy::sema {

/// What the walk asks about names that the text does not declare as variables, and tells. Whoever wants to hear of some
/// of it only overrides that.
class Lint {
public:
  virtual ~Lint() = default;
  /// Whether a name that is no variable of the text means something.
  virtual bool isKnown(const std::string &name) { return true; }
  virtual bool isBuiltin(const std::string &function) { return false; }
  /// Whether a call of the function does nothing but give a value.
  virtual bool isPure(const std::string &function) { return false; }
  /// `visible` are the variables of the functions and blocks around.
  virtual void unknownName(const std::string &name, SourceRange range, bool isFunction, const NameSet &visible) {}
  /// A call of a function, struct or dtype by its name.
  virtual void call(const ast::Call &c) {}
  virtual void unusedVariable(const std::string &name, SourceRange range) {}
  /// What a sampler draws with: the argument `key` of a call by name, or null.
  virtual const ast::Expr *keyOf(const ast::Call &c) { return nullptr; }
  /// A key that gave the numbers of another call in the same function.
  virtual void sameKey(const std::string &name, SourceRange range, SourceRange before) {}
  /// `cause` is what the statement stands behind.
  virtual void unreachable(SourceRange statement, SourceRange cause) {}
  /// `isVariable` of a member call: it is one of a variable of the text.
  virtual void unusedValue(const ast::Expr &e, bool isVariable) {}
  /// A function inside another, or in a variable, that is called in place of one outside.
  virtual void hidesFunction(const std::string &name, SourceRange range) {}
};

/// Walks over a text: every name of a function's body means a variable around it, one that the text declares at its top
/// level anywhere, or something known. Statements of the top level, which are typed in their order, are not asked for
/// their names.
void lint(const std::vector<const ast::Stmt *> &items, Lint &to);

} // namespace toy::sema
