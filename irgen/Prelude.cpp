// SPDX-License-Identifier: Apache-2.0
/// \file
/// Library functions written in the language itself (lib/toy).
#include "irgen/Prelude.h"
#include "irgen/Builtins.h"

#include "parser/Parser.h"

namespace toy {

/// The parsed library of each SourceManager.
static std::map<SourceManager *, ast::Module> &preludes() {
  static auto *modules = new std::map<SourceManager *, ast::Module>;
  return *modules;
}

void forgetPrelude(SourceManager &sources) { preludes().erase(&sources); }

static const ast::Module &prelude(SourceManager &sources) {
  auto it = preludes().find(&sources);
  if (it == preludes().end()) {
    DiagnosticEngine diagnostics(sources);
    TokenBuffer tokens = lex(sources.addLibrary(std::string(libraryText())), diagnostics);
    ParseResult result = parse(tokens, diagnostics);
    assert(result.status == ParseStatus::Complete && "the library parses");
    it = preludes().emplace(&sources, std::move(result.module)).first;
  }
  return it->second;
}

const ast::Function *preludeFunction(const std::string &name, SourceManager &sources) {
  for (const ast::StmtPtr &item : prelude(sources).items)
    if (auto *function = ast::dynCast<ast::Function>(item.get()); function && function->name == name)
      return function;
  return nullptr;
}

std::vector<BuiltinInfo> allBuiltins() {
  std::vector<BuiltinInfo> all;
  for (const BuiltinRow &row : builtinRows())
    if (!isPrivate(row.name))
      all.push_back({row.name, row.parameters, row.group, row.doc});
  static SourceManager *sources = new SourceManager;
  for (const ast::StmtPtr &item : prelude(*sources).items) {
    auto &function = ast::cast<ast::Function>(*item);
    if (isPrivate(function.name))
      continue;
    std::string parameters;
    for (const ast::Parameter &p : function.parameters)
      parameters += (parameters.empty() ? "" : ", ") + p.name + (p.defaultValue ? "=" : "");
    all.push_back({function.name, parameters, libraryGroup(function.range.begin), function.doc});
  }
  return all;
}

} // namespace toy
