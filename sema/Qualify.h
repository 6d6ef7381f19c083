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

} // namespace toy::sema
