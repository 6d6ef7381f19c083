// SPDX-License-Identifier: Apache-2.0
#include "serve/Uses.h"

#include "repl/Completion.h"
#include "support/Unicode.h"

#include <filesystem>

namespace toy {

using sema::NameKind;

static llvm::ArrayRef<sema::NameUse> usesIn(const Document &document) {
  return document.parsed ? llvm::ArrayRef(document.parsed->names.uses) : llvm::ArrayRef<sema::NameUse>();
}

static const ast::Struct *structOf(const Place &member) { return ast::dynCast<ast::Struct>(member.declaration->node); }

std::optional<Place> Uses::namedAt(Document &document, uint32_t offset) {
  const sema::NameUse *use = document.parsed->names.at(offset);
  std::vector<Place> places = use ? placesOf(document, *use, texts) : std::vector<Place>();
  return places.size() == 1 && places[0].declaration ? std::optional(places[0]) : std::nullopt;
}

std::vector<FoundUse> Uses::of(const Place &meant) {
  std::vector<FoundUse> out;
  for (auto &[path, document] : documents)
    for (const sema::NameUse &use : usesIn(document))
      if (use.name == meant.declaration->name)
        if (std::vector<Place> places = placesOf(document, use, texts); llvm::is_contained(places, meant))
          out.push_back({&document, &use, std::move(places)});
  return out;
}

std::string Uses::shown(const FoundUse &found) {
  llvm::lsp::Position at = positionOf(found.document->parsed->buffer(), found.use->range.begin);
  return "`." + found.use->name + "` in " + std::filesystem::path(found.document->path).filename().string() + ":" +
         std::to_string(at.line + 1) + ":" + std::to_string(at.character + 1);
}

/// Members have names of their own: only the others of the struct, and functions that are called behind a dot, can be
/// taken for one.
std::string Uses::whyNotMember(const Place &meant, const std::vector<FoundUse> &uses, const std::string &name) {
  const ast::Struct &structure = *structOf(meant);
  for (const ast::Parameter &m : structure.members)
    if (m.name == name)
      return "`" + structure.name + "` has a member `" + name + "` already";
  for (const FoundUse &found : uses) {
    for (const Place &other : found.places)
      if (!(other == meant))
        return shown(found) + " may be of `" + structOf(other)->name + "` as well as of `" + structure.name + "`";
    bool isKnown = found.use->declaration || found.document->members.count(found.use->range.begin);
    if (!isKnown && llvm::is_contained(tensorMembers, found.use->name))
      return shown(found) + " may be of a tensor as well as of `" + structure.name + "`";
  }
  for (auto &[path, document] : documents)
    for (const sema::NameUse &use : usesIn(document))
      if (use.isDotCall && use.name == name && !document.members.count(use.range.begin))
        return shown({&document, &use, {}}) + " calls the function of that name";
  return "";
}

/// Only to names that the texts do not have yet: no other meaning can change.
std::string Uses::whyNot(const Place &meant, const std::vector<FoundUse> &uses, const std::string &name) {
  if (meant.declaration->kind == NameKind::Member)
    return whyNotMember(meant, uses, name);
  for (const FoundUse &found : uses)
    for (const sema::NameUse &use : found.document->parsed->names.uses)
      if (use.name == name && !use.isMember && !use.callee.valid())
        return "`" + name + "` is used already";
  return "";
}

static bool isFreeName(const std::string &name) {
  ParsedText text("", name);
  return text.tokens.tokens.size() == 2 && isName(text.tokens.tokens[0].kind) &&
         text.tokens.tokens[0].end - text.tokens.tokens[0].begin == name.size();
}

llvm::lsp::WorkspaceEdit Uses::rename(Document &document, uint32_t offset, const std::string &name,
                                      std::string &refusal) {
  llvm::lsp::WorkspaceEdit edit;
  const sema::NameUse *use = document.parsed->names.at(offset);
  std::vector<Place> places = use ? placesOf(document, *use, texts) : std::vector<Place>();
  auto meant = namedAt(document, offset);
  if (places.size() > 1)
    refusal = shown({&document, use, {}}) + " may be of several structs: rename the member of one where it is declared";
  else if (!meant || !documents.count(meant->path))
    refusal = "no name of an open text stands here";
  else if (!isFreeName(name))
    refusal = "`" + name + "` is no name";
  if (!refusal.empty())
    return edit;
  std::vector<FoundUse> uses = of(*meant);
  refusal = whyNot(*meant, uses, normalized(name));
  for (const FoundUse &found : refusal.empty() ? uses : std::vector<FoundUse>())
    edit.changes[found.document->uri.uri().str()].push_back(
        {rangeOf(found.document->parsed->buffer(), found.use->range), name});
  return edit;
}

} // namespace toy
