// SPDX-License-Identifier: Apache-2.0
#include "serve/Definitions.h"

#include "runtime/Io.h"

namespace toy {

const ParsedText *Texts::of(const std::string &path) {
  if (auto it = open.find(path); it != open.end())
    return it->second.parsed.get();
  std::error_code none;
  auto time = std::filesystem::last_write_time(path, none);
  Stored &known = stored[path];
  if (none || known.time != time || !known.parsed) {
    if (known.parsed)
      old.push_back(std::move(known.parsed));
    known = {time, nullptr};
    if (!none && std::filesystem::is_regular_file(path, none))
      known.parsed = std::make_unique<ParsedText>(path, rt::readSource(path));
  }
  return known.parsed.get();
}

namespace {

class Search {
public:
  explicit Search(Texts &texts) : texts(texts) {}

  /// What a file's top level calls `name`: its own, or of a file that it imports as it is.
  std::optional<Place> inFile(const std::string &path, const std::string &name) {
    const ParsedText *text = seen.insert(path).second ? texts.of(path) : nullptr;
    if (!text)
      return std::nullopt;
    if (const sema::DeclaredName *found = text->names.ofTop(name); found && found->kind != sema::NameKind::Module)
      return Place{path, text, found->range, found};
    return inImports(*text, path, name);
  }
  std::optional<Place> inImports(const ParsedText &text, const std::string &path, const std::string &name) {
    for (const ast::StmtPtr &s : text.module.items)
      if (auto *import = ast::dynCast<ast::Import>(s.get()); import && import->alias.empty())
        if (auto found = inFile(Session::pathOfImport(*import, path), name))
          return found;
    return std::nullopt;
  }

private:
  Texts &texts;
  std::set<std::string> seen;
};

} // namespace

static std::vector<Place> listOf(std::optional<Place> place) {
  return place ? std::vector{std::move(*place)} : std::vector<Place>();
}

static std::optional<Place> fileOf(const ast::Import &import, const std::string &importer, Texts &texts) {
  std::string path = Session::pathOfImport(import, importer);
  const ParsedText *text = texts.of(path);
  return text ? std::optional(Place{path, text, {}, nullptr}) : std::nullopt;
}

std::vector<Place> placesOf(const ParsedText &text, const std::string &path, const sema::NameUse &use, Texts &texts) {
  if (use.declaration) {
    const sema::DeclaredName &declared = text.names.declarations[*use.declaration];
    if (declared.kind == sema::NameKind::Module)
      return listOf(fileOf(ast::cast<ast::Import>(*declared.node), path, texts));
    return {{path, &text, declared.range, &declared}};
  }
  if (!use.module.empty()) {
    const sema::DeclaredName *module = text.names.ofTop(use.module);
    return module && module->kind == sema::NameKind::Module
               ? listOf(
                     Search(texts).inFile(Session::pathOfImport(ast::cast<ast::Import>(*module->node), path), use.name))
               : std::vector<Place>();
  }
  if (!use.isMember)
    return listOf(Search(texts).inImports(text, path, use.name));
  std::vector<Place> out;
  for (const sema::DeclaredName &declared : text.names.declarations)
    if (declared.kind == sema::NameKind::Member && declared.name == use.name)
      out.push_back({path, &text, declared.range, &declared});
  return out;
}

std::optional<Place> importAt(const ParsedText &text, const std::string &path, uint32_t offset, Texts &texts) {
  for (const ast::StmtPtr &s : text.module.items)
    if (auto *import = ast::dynCast<ast::Import>(s.get());
        import && import->pathRange.begin <= offset && offset <= import->pathRange.end)
      return fileOf(*import, path, texts);
  return std::nullopt;
}

} // namespace toy
