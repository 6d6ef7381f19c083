// SPDX-License-Identifier: Apache-2.0
/// \file
/// What names of functions and structs mean.
#pragma once

#include "ast/AST.h"

#include <map>
#include <string>

namespace toy::sema {

/// The user's functions and structs as they hold now. The trees belong to somebody else.
struct Definitions {
  std::map<std::string, const ast::Function *> functions;
  std::map<std::string, const ast::Struct *> structures;

  /// Null for names that mean something else, or nothing.
  const ast::Function *function(const std::string &name) const {
    auto it = functions.find(name);
    return it == functions.end() ? nullptr : it->second;
  }
  const ast::Struct *structure(const std::string &name) const {
    auto it = structures.find(name);
    return it == structures.end() ? nullptr : it->second;
  }
  bool operator==(const Definitions &) const = default;
};

} // namespace toy::sema
