// SPDX-License-Identifier: Apache-2.0
/// \file
/// One pass over the characters; nothing here parses, so that unfinished text has colours too.
#include "repl/Highlight.h"

#include "irgen/IRGen.h"
#include "lexer/Lexer.h"
#include "repl/Signature.h"
#include "repl/StringTexts.h"
#include "session/Session.h"
#include "support/Theme.h"

#include <algorithm>
#include <optional>
#include <set>

namespace toy {
namespace {

bool isKeyword(std::string_view word) {
  return std::find(keywords().begin(), keywords().end(), word) != keywords().end();
}

const std::set<std::string> &builtinNames() {
  static const std::set<std::string> names = [] {
    std::set<std::string> out;
    for (const BuiltinInfo &info : builtins())
      out.insert(info.name);
    return out;
  }();
  return names;
}

/// Positions of brackets outside strings and comments, with the partner of each (npos: none).
std::vector<std::pair<size_t, size_t>> brackets(std::string_view text, const StringTexts &strings) {
  std::vector<std::pair<size_t, size_t>> out;
  std::vector<size_t> open;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (size_t end = strings.endAt(i))
      i = end - 1;
    else if (c == '#')
      i = std::min(text.find('\n', i), text.size()) - 1;
    else if (c == '(' || c == '[' || c == '{') {
      open.push_back(out.size());
      out.emplace_back(i, text.npos);
    } else if (c == ')' || c == ']' || c == '}') {
      char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (!open.empty() && text[out[open.back()].first] == wanted) {
        out[open.back()].second = i;
        out.emplace_back(i, out[open.back()].first);
        open.pop_back();
      } else
        out.emplace_back(i, text.npos);
    }
  }
  return out;
}

} // namespace

std::string highlighted(std::string_view text, size_t cursor, Session &session) {
  size_t marked[2] = {text.npos, text.npos};
  StringTexts strings(text);
  for (auto &[at, partner] : brackets(text, strings))
    if (partner != text.npos && (at == cursor || at + 1 == cursor)) {
      marked[0] = at;
      marked[1] = partner;
      if (at + 1 == cursor)
        break;
    }
  std::string out;
  auto put = [&](std::optional<Style> style, size_t begin, size_t end) {
    std::string code = style ? startOf(*style) : "";
    out += code;
    for (size_t i = begin; i < end; ++i)
      if (i == marked[0] || i == marked[1])
        out += painted(Style::Match, text.substr(i, 1));
      else
        out += text[i];
    if (!code.empty())
      out += "\x1b[0m";
  };
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    size_t end = i + 1;
    if (size_t endOfText = strings.endAt(i)) {
      end = endOfText;
      put(Style::Text, i, end);
    } else if (c == '#') {
      end = std::min(text.find('\n', i), text.size());
      put(Style::Comment, i, end);
    } else if (std::isdigit(static_cast<unsigned char>(c)) ||
               (c == '.' && i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1])))) {
      while (end < text.size() &&
             (isWord(text[end]) || text[end] == '.' ||
              ((text[end] == '+' || text[end] == '-') && (text[end - 1] == 'e' || text[end - 1] == 'E'))))
        ++end;
      put(text[end - 1] == 'i' || text[end - 1] == 'j' ? Style::Imaginary : Style::Number, i, end);
    } else if (isWordStart(c)) {
      while (end < text.size() && isWord(text[end]))
        ++end;
      std::string word(text.substr(i, end - i));
      std::optional<Style> style;
      if (isKeyword(word))
        style = Style::Keyword;
      else if (dtypeNamed(word))
        style = Style::Type;
      else if (builtinNames().count(word) || session.functionOf(word))
        style = Style::Function;
      put(style, i, end);
    } else
      put({}, i, end);
    i = end;
  }
  return out;
}

} // namespace toy
