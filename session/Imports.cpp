// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a text and the files that it imports define, before any of it runs, and when it takes effect.
#include "session/SessionImpl.h"

#include "runtime/Error.h"
#include "runtime/Io.h"

#include <filesystem>

namespace toy {

static std::string canonicalPath(const ast::Import &item, const SourceManager &sources, std::string &path) {
  namespace fs = std::filesystem;
  fs::path from(sources.get(item.range.buffer).getName());
  path = (fs::path(item.path).is_absolute() ? fs::path(item.path) : from.parent_path() / item.path).string();
  return fs::weakly_canonical(path).string();
}

/// Reads and parses imported files, which are relative to the importing one, and theirs.
bool Session::readImports(const ast::Module &module) {
  for (const ast::StmtPtr &s : module.items) {
    auto *item = ast::dynCast<ast::Import>(s.get());
    if (!item)
      continue;
    std::string path, key = canonicalPath(*item, sources, path), text;
    if (importing.count(key)) {
      diagnostics.report(DiagId::ImportCycle, item->pathRange, {item->path});
      return false;
    }
    if (importedModules.count(key))
      continue;
    try {
      text = rt::readSource(path);
    } catch (rt::Error &e) {
      diagnostics.report(e.id, item->pathRange, e.args);
      return false;
    }
    ParseResult result = parse(lex(sources.add(path, std::move(text)), diagnostics), diagnostics);
    if (result.status != ParseStatus::Complete)
      return false;
    modules.push_back(std::make_unique<ast::Module>(std::move(result.module)));
    importedModules[key] = modules.back().get();
    importing.insert(key);
    bool ok = readImports(*importedModules[key]);
    importing.erase(key);
    if (!ok) {
      importedModules.erase(key);
      return false;
    }
  }
  return true;
}

/// A name that one text defines twice is worth a warning, one that two files define an error: which of them is meant
/// would depend on the order of imports.
bool Session::checkNames(const ast::Module &module) {
  struct First {
    const ast::Module *module;
    SourceRange range;
  };
  std::map<std::string, First> all;
  std::set<const ast::Module *> seen;
  bool ok = true;
  auto visit = [&](auto &self, const ast::Module &m) -> void {
    if (!seen.insert(&m).second)
      return;
    for (const ast::StmtPtr &s : m.items) {
      if (auto *item = ast::dynCast<ast::Import>(s.get())) {
        std::string path;
        if (auto it = importedModules.find(canonicalPath(*item, sources, path)); it != importedModules.end())
          self(self, *it->second);
      }
      if (!isDefinition(*s))
        continue;
      auto [name, range] = nameOf(*s);
      auto [first, isNew] = all.try_emplace(name, First{&m, range});
      if (isNew)
        continue;
      bool inOneText = first->second.module == &m;
      ok &= inOneText;
      diagnostics.report(inOneText ? DiagId::DefinedTwice : DiagId::DefinedInTwoFiles, range, {name})
          .note(first->second.range, inOneText ? "until then this one is called" : "the other one is here");
    }
  };
  visit(visit, module);
  return ok;
}

void Session::defineUnknown(const ast::Module &module) {
  std::set<std::string> builtins;
  std::set<const ast::Module *> seen;
  auto visit = [&](auto &self, const ast::Module &m) -> void {
    if (!seen.insert(&m).second)
      return;
    for (const ast::StmtPtr &s : m.items) {
      if (auto *item = ast::dynCast<ast::Import>(s.get())) {
        std::string path, key = canonicalPath(*item, sources, path);
        if (auto it = importedModules.find(key); it != importedModules.end() && !imported.count(key))
          self(self, *it->second);
      }
      if (!isDefinition(*s))
        continue;
      if (builtins.empty())
        for (const BuiltinInfo &info : allBuiltins())
          builtins.insert(info.name);
      const std::string &name = nameOf(*s).first;
      if (!defined.function(name) && !defined.structure(name) && !builtins.count(name))
        define(*s);
    }
  };
  visit(visit, module);
}

bool Session::declare(const ast::Module &module) {
  if (!readImports(module) || !checkNames(module))
    return false;
  defineUnknown(module);
  return true;
}

/// A file that has not taken effect yet, and does now; else null.
const ast::Module *Session::importOnce(const ast::Import &item) {
  std::string path, key = canonicalPath(item, sources, path);
  return imported.insert(key).second ? importedModules.at(key) : nullptr;
}

/// An imported file's definitions and statements take effect, once.
bool Session::import(const ast::Import &item) {
  std::string path, key = canonicalPath(item, sources, path);
  if (!imported.insert(key).second)
    return true;
  importing.insert(key);
  bool ok = executeAll(*importedModules.at(key));
  importing.erase(key);
  if (!ok) {
    imported.erase(key);
    importedModules.erase(key);
  }
  return ok;
}

} // namespace toy
