// SPDX-License-Identifier: Apache-2.0
/// \file
/// Modules: a file that is imported under a name has a top level of its own. In the tables of a session its names have
/// the module's before them (`flt.lowpass`), and so they have in its tree and in those that mention them.
#pragma once

#include "ast/AST.h"

#include <map>
#include <set>
#include <string>

namespace toy::sema {

/// What the names that a file's top level sees are called in the tables of a session.
struct ModuleNames {
  struct Module {
    std::string path;
    std::map<std::string, std::string> names;
  };
  std::string prefix;                       ///< `flt.`; of the program itself nothing
  std::map<std::string, std::string> names; ///< its own, and those of files that it imports as they are
  std::map<std::string, Module> modules;    ///< by the names that it gives them
};

/// Adds what a file declares itself: functions, structs, and variables of its outermost level.
void declareTop(const ast::Module &file, ModuleNames &names);
/// Puts the names of the tables into a file's tree. Local names hide those of the top level.
void qualify(ast::Module &file, const ModuleNames &names);

/// A name of a module in a tree that is qualified: where it begins in the source, with the name that the file gives the
/// module, and what it is in the tables.
struct ModuleUse {
  uint32_t begin;
  std::string name;
};
/// Those of a function, struct or any part of one, in no order.
std::vector<ModuleUse> moduleUses(const ast::Node &node);

} // namespace toy::sema
