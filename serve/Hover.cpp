// SPDX-License-Identifier: Apache-2.0
#include "serve/Hover.h"

#include "repl/Commands.h"

#include <algorithm>

namespace toy {
namespace {

std::string fenced(const std::string &code) { return "```toy\n" + code + "\n```\n"; }

class Hovering {
public:
  Hovering(const Document &document, Session &session, Texts &texts)
      : document(document), session(session), texts(texts) {}

  /// What is known about the name, operator or word at an offset, in Markdown.
  std::string textAt(uint32_t offset, SourceRange &range) {
    if (const sema::NameUse *use = document.parsed->names.at(offset)) {
      range = use->range;
      std::vector<Place> places = placesOf(document, *use, texts);
      if (!places.empty() && places[0].declaration)
        return textOf(places[0]);
      std::string name = use->module.empty() ? use->name : use->module + "." + use->name;
      std::string ofDot = use->isMember ? helpText("." + use->name) : "";
      return ofDot.empty() ? helpText(name) : ofDot;
    }
    const std::vector<Token> &all = document.parsed->tokens.tokens;
    auto next = std::upper_bound(all.begin(), all.end(), offset,
                                 [](uint32_t at, const Token &token) { return at < token.begin; });
    if (next == all.begin() || std::prev(next)->end <= offset)
      return "";
    range = document.parsed->tokens.range(*std::prev(next));
    return helpText(std::string(document.parsed->tokens.spelling(*std::prev(next))));
  }

private:
  std::string helpText(const std::string &topic) {
    std::string text = helpOn(topic, &session);
    size_t end = std::min(text.find('\n'), text.size());
    return text.empty()
               ? ""
               : fenced(text.substr(0, end)) + (end < text.size() ? "```text\n" + text.substr(end + 1) + "```\n" : "");
  }

  std::string textOf(const Place &place) {
    const sema::DeclaredName &d = *place.declaration;
    switch (d.kind) {
    case sema::NameKind::Function: {
      auto &f = ast::cast<ast::Function>(*d.node);
      SourceRange head = f.range;
      head.begin = f.nameRange.begin;
      head.end = f.body ? f.body->range.begin : f.range.end;
      std::string text(place.text->text(head));
      text.resize(text.find_last_not_of(" \n") + 1);
      return fenced("def " + text) + f.doc + "\n";
    }
    case sema::NameKind::Struct:
      return fenced(std::string(place.text->text(d.node->range)));
    case sema::NameKind::Variable:
    case sema::NameKind::Parameter:
    case sema::NameKind::Size:
    case sema::NameKind::Member:
    case sema::NameKind::Module:
      break;
    }
    return fenced(kindText(d) + d.name + typeText(place));
  }
  static std::string kindText(const sema::DeclaredName &d) {
    return d.kind == sema::NameKind::Size        ? "size "
           : d.kind == sema::NameKind::Member    ? "member "
           : d.kind == sema::NameKind::Parameter ? "parameter "
                                                 : "var ";
  }
  /// The declared type of a parameter or member, and the type that the check found for a variable of the top level.
  std::string typeText(const Place &place) {
    const sema::DeclaredName &d = *place.declaration;
    auto *f = ast::dynCast<ast::Function>(d.node);
    auto *structure = ast::dynCast<ast::Struct>(d.node);
    if (f || structure)
      for (const ast::Parameter &p : f ? f->parameters : structure->members)
        if (p.name == d.name && p.type)
          return ": " + ast::str(*p.type);
    bool isTop = place.path == document.path && place.text->names.ofTop(d.name) == &d;
    const ValueType *type = isTop ? session.global(d.name) : nullptr;
    return type ? ": " + type->str() : "";
  }

  const Document &document;
  Session &session;
  Texts &texts;
};

} // namespace

std::string hoverText(const Document &document, Session &session, uint32_t offset, Texts &texts, SourceRange &range) {
  return Hovering(document, session, texts).textAt(offset, range);
}

} // namespace toy
