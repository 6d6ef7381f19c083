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
  /// Members of that name of all structs that a file and what it imports declare.
  std::vector<Place> membersOf(const std::string &path, const std::string &name) {
    const ParsedText *text = seen.insert(path).second ? texts.of(path) : nullptr;
    std::vector<Place> out;
    if (!text)
      return out;
    for (const sema::DeclaredName &declared : text->names.declarations)
      if (declared.kind == sema::NameKind::Member && declared.name == name)
        out.push_back({path, text, declared.range, &declared});
    for (const ast::StmtPtr &s : text->module.items)
      if (auto *import = ast::dynCast<ast::Import>(s.get()))
        llvm::append_range(out, membersOf(Session::pathOfImport(*import, path), name));
    return out;
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

/// The parameter or member that holds a place, null where none does.
static const ast::Parameter *parameterAt(const ast::Stmt *node, SourceRange range) {
  auto *f = ast::dynCast<ast::Function>(node);
  auto *structure = ast::dynCast<ast::Struct>(node);
  if (f || structure)
    for (const ast::Parameter &p : f ? f->parameters : structure->members)
      if (p.range.begin == range.begin)
        return &p;
  return nullptr;
}

/// A parameter or member by the function or struct that declares it.
static std::vector<Place> partOf(const Place &whole, const std::string &name) {
  const ast::Stmt *node = whole.declaration ? whole.declaration->node : nullptr;
  for (const sema::DeclaredName &d : whole.text->names.declarations)
    if (d.name == name && parameterAt(node, d.range))
      return {{whole.path, whole.text, d.range, &d}};
  return {};
}

/// The struct that a declaration names as the type of what it declares.
static std::optional<Place> declaredStruct(const Place &place, Texts &texts) {
  const ast::Stmt *node = place.declaration ? place.declaration->node : nullptr;
  const ast::Parameter *p = parameterAt(node, place.range);
  auto *var = ast::dynCast<ast::Var>(node);
  const ast::TypeExpr *type = p && p->type ? &*p->type : var && var->type ? &*var->type : nullptr;
  if (!type || type->form != ast::TypeExpr::Named)
    return std::nullopt;
  std::optional<Place> found = Search(texts).inFile(place.path, type->name);
  return found && found->declaration->kind == sema::NameKind::Struct ? found : std::nullopt;
}

static std::vector<Place> placesOfMembers(const std::set<Document::Member> &members, Texts &texts) {
  std::vector<Place> out;
  for (const Document::Member &member : members)
    if (const ParsedText *text = member.path.empty() ? nullptr : texts.of(member.path))
      if (const sema::DeclaredName *structure = text->names.ofTop(member.structure))
        llvm::append_range(out, partOf({member.path, text, structure->range, structure}, member.name));
  return out;
}

std::vector<Place> placesOf(const Document &document, const sema::NameUse &use, Texts &texts) {
  const ParsedText &text = *document.parsed;
  const std::string &path = document.path;
  if (auto known = document.members.find(use.range.begin); known != document.members.end())
    return placesOfMembers(known->second, texts);
  if (use.callee.valid()) {
    const sema::NameUse *callee = text.names.at(use.callee.begin);
    std::vector<Place> called = callee ? placesOf(document, *callee, texts) : std::vector<Place>();
    if (called.size() == 1)
      return partOf(called[0], use.name);
    return !callee || callee->name != "with" ? std::vector<Place>() : Search(texts).membersOf(path, use.name);
  }
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
  const sema::NameUse *base = use.base.valid() ? text.names.at(use.base.begin) : nullptr;
  std::vector<Place> values = base ? placesOf(document, *base, texts) : std::vector<Place>();
  if (auto structure = values.size() == 1 ? declaredStruct(values[0], texts) : std::nullopt)
    return partOf(*structure, use.name);
  return Search(texts).membersOf(path, use.name);
}

std::optional<Place> importAt(const ParsedText &text, const std::string &path, uint32_t offset, Texts &texts) {
  for (const ast::StmtPtr &s : text.module.items)
    if (auto *import = ast::dynCast<ast::Import>(s.get());
        import && import->pathRange.begin <= offset && offset <= import->pathRange.end)
      return fileOf(*import, path, texts);
  return std::nullopt;
}

} // namespace toy
