// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a text and the files that it imports define, before any of it runs, and when it takes effect.
#include "session/SessionImpl.h"

#include "runtime/Error.h"
#include "runtime/Io.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace toy {

namespace fs = std::filesystem;

/// The folders where a file that another one names is looked for: that of the file, those of TOY_PATH, and that of the
/// installation. Not the current one, unless the text that names it is no file.
static std::vector<fs::path> importFolders(const fs::path &importer) {
  std::vector<fs::path> folders = {importer.parent_path()};
  if (const char *path = std::getenv("TOY_PATH"))
    for (std::string_view rest = path; !rest.empty();) {
      size_t end = std::min(rest.find(':'), rest.size());
      if (end > 0)
        folders.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  std::error_code unknown;
  folders.push_back(fs::read_symlink("/proc/self/exe", unknown).parent_path().parent_path() / "lib/toy");
  return folders;
}

/// The path of an import as messages show it.
static std::string shownPath(const ast::Import &item, const fs::path &importer) {
  std::string path = item.path;
  if (!fs::path(item.path).is_absolute()) {
    std::vector<fs::path> folders = importFolders(importer);
    auto holds = [&](const fs::path &folder) {
      std::error_code unknown;
      return fs::exists(folder / item.path, unknown);
    };
    auto found = std::find_if(folders.begin(), folders.end(), holds);
    path = ((found == folders.end() ? folders.front() : *found) / item.path).string();
  }
  return path;
}

/// The canonical path of an import, and the one that messages show.
std::string Session::findImport(const ast::Import &item, std::string &path) const {
  path = shownPath(item, sources.get(item.range.buffer).getName());
  return fs::weakly_canonical(path).string();
}

std::string Session::pathOfImport(const ast::Import &item, const std::string &importer) {
  return fs::weakly_canonical(shownPath(item, importer)).string();
}

/// Reads a file that another one imports, and what it imports itself.
bool Session::readImport(const ast::Import &item, const std::string &path, const std::string &key,
                         const sema::ModuleNames &importer) {
  std::string text;
  try {
    text = rt::readSource(path);
  } catch (rt::Error &e) {
    diagnostics.report(e.id, item.pathRange, e.args);
    return false;
  }
  ParseResult result = parse(lex(sources.add(path, std::move(text)), diagnostics), diagnostics);
  if (result.status != ParseStatus::Complete)
    return false;
  auto [names, isNew] = moduleNames.try_emplace(key);
  if (isNew && item.alias.empty())
    names->second.prefix = importer.prefix;
  else if (isNew) {
    auto isTaken = [&](const std::string &prefix) {
      return std::any_of(moduleNames.begin(), moduleNames.end(), [&](auto &m) { return m.second.prefix == prefix; });
    };
    std::string prefix = item.alias + ".";
    for (int n = 2; isTaken(prefix); ++n)
      prefix = item.alias + "_" + std::to_string(n) + ".";
    names->second.prefix = prefix;
  } else if (!imported.count(key)) { // it runs again
    names->second.names.clear();
    names->second.modules.clear();
  }
  modules.push_back(std::make_unique<ast::Module>(std::move(result.module)));
  ast::Module &file = *modules.back();
  importedModules[key] = &file;
  importing.push_back(key);
  bool ok = readImports(file, names->second);
  importing.pop_back();
  if (!ok) {
    importedModules.erase(key);
    if (isNew)
      moduleNames.erase(key);
  }
  return ok;
}

/// Reads what a text imports, and puts the names of the session's tables into its tree.
bool Session::readImports(ast::Module &module, sema::ModuleNames &names) {
  for (const ast::StmtPtr &s : module.items) {
    auto *item = ast::dynCast<ast::Import>(s.get());
    if (!item)
      continue;
    std::string path, key = findImport(*item, path);
    if (auto outer = std::find(importing.begin(), importing.end(), key); outer != importing.end()) {
      std::string chain;
      for (; outer != importing.end(); ++outer)
        chain += "`" + fs::path(*outer).filename().string() + "` imports ";
      diagnostics.report(DiagId::ImportCycle, item->pathRange, {item->path})
          .note({}, chain + "`" + fs::path(key).filename().string() + "`");
      return false;
    }
    bool isRead = importedModules.count(key) && moduleNames.count(key);
    if (!isRead && !readImport(*item, path, key, names))
      return false;
    const sema::ModuleNames &file = moduleNames.at(key);
    if (item->alias.empty())
      for (auto &[name, known] : file.names)
        names.names[name] = known;
    else
      names.modules[item->alias] = {key, file.names};
  }
  sema::declareTop(module, names);
  sema::qualify(module, names);
  return true;
}

static std::string realPath(const std::string &path) { return fs::weakly_canonical(path).string(); }

/// The functions that a file and what it imports have defined, and that they do not any more, are gone.
void Session::forgetFile(const std::string &path) {
  imported.insert(realPath(path));
  std::vector<std::string> names;
  for (auto &[name, f] : defined.functions)
    if (imported.contains(realPath(sources.get(f->nameRange.buffer).getName())))
      names.push_back(name);
  for (const std::string &name : names) {
    defined.functions.erase(name);
    instanceTable.forgetUsersOf(name);
  }
  graph.forget();
  imported.clear();
  importedModules.clear();
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
  // Whether a definition came from the file itself, which runs again.
  auto isOf = [&](const std::string &file, const ast::Function &own) {
    return realPath(sources.get(own.nameRange.buffer).getName()) == file;
  };
  auto visit = [&](auto &self, const ast::Module &m, const std::string &file, bool isFirst) -> void {
    if (!seen.insert(&m).second)
      return;
    std::vector<const ast::Stmt *> own;
    for (const ast::StmtPtr &s : m.items) {
      if (auto *item = ast::dynCast<ast::Import>(s.get())) {
        std::string path, key = findImport(*item, path);
        if (auto it = importedModules.find(key); it != importedModules.end())
          self(self, *it->second, key, !imported.count(key));
      } else
        own.push_back(s.get());
      if (!isDefinition(*s))
        continue;
      auto [name, range] = nameOf(*s);
      auto [first, isNew] = all.try_emplace(name, First{&m, range});
      const ast::Function *own = isNew && &m != &module && isFirst ? defined.function(name) : nullptr;
      if (own && !isOf(file, *own)) {
        ok = false;
        diagnostics.report(DiagId::DefinedInTwoFiles, range, {name}).note(own->nameRange, "the other one is here");
      }
      if (isNew)
        continue;
      bool inOneText = first->second.module == &m;
      ok &= inOneText;
      diagnostics.report(inOneText ? DiagId::DefinedTwice : DiagId::DefinedInTwoFiles, range, {name})
          .note(first->second.range, inOneText ? "until then this one is called" : "the other one is here");
    }
    if (isFirst)
      warnOfText(own, *this, diagnostics);
  };
  visit(visit, module, "", true);
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
        std::string path, key = findImport(*item, path);
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

bool Session::declare(ast::Module &module) {
  if (!readImports(module, mainNames) || !checkNames(module))
    return false;
  defineUnknown(module);
  return true;
}

/// A file that has not taken effect yet, and does now; else null.
const ast::Module *Session::importOnce(const ast::Import &item) {
  std::string path, key = findImport(item, path);
  return imported.insert(key).second ? importedModules.at(key) : nullptr;
}

/// An imported file's definitions and statements take effect, once.
bool Session::import(const ast::Import &item) {
  std::string path, key = findImport(item, path);
  if (!imported.insert(key).second)
    return true;
  importing.push_back(key);
  bool ok = executeAll(*importedModules.at(key));
  importing.pop_back();
  if (!ok) {
    imported.erase(key);
    importedModules.erase(key);
  }
  return ok;
}

} // namespace toy
