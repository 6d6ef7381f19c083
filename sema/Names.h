// SPDX-License-Identifier: Apache-2.0
/// \file
/// What each name of a text means: where it is declared and where it is used, for editors.
#pragma once

#include "ast/AST.h"

#include <optional>

namespace toy::sema {

enum class NameKind : uint8_t { Variable, Parameter, Size, Function, Struct, Member, Module };

struct DeclaredName {
  NameKind kind;
  std::string name;
  SourceRange range;               ///< of the name; of a module the path
  const ast::Stmt *node = nullptr; ///< the function, struct, variable or import; of others what declares them, or null
};

/// A place where a name stands.
struct NameUse {
  SourceRange range;
  std::string name;
  std::optional<size_t> declaration = {}; ///< nothing: of another file, built in, or unknown
  std::string module = {};                ///< `m` of `m.f`, where a file is imported as m
  bool isMember = false;                  ///< behind a dot, of a value whose type the tree does not tell
  bool isDotCall = false;                 ///< `f` of `x.f(…)`: a function, or a member that holds one
  SourceRange callee = {};                ///< of a key of a call: the name of what is called
  SourceRange base = {};                  ///< of a member: the name in front of the dot, if one stands there
};

struct NameTable {
  std::vector<DeclaredName> declarations;
  std::vector<NameUse> uses; ///< in the order of the text, with the places of the declarations

  /// The name that holds a position or ends there; null where no name stands.
  const NameUse *at(uint32_t offset) const;
  /// What the top level declares.
  const DeclaredName *ofTop(const std::string &name) const;
  size_t topCount = 0; ///< so many of `declarations`
};

/// The names of a text, whose imports are not read. What is declared twice in one scope is one name.
NameTable namesOf(const ast::Module &text);

} // namespace toy::sema
