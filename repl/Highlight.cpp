// SPDX-License-Identifier: Apache-2.0
/// \file
/// One pass over the characters; nothing here parses, so that unfinished text has colours too.
#include "repl/Highlight.h"

#include "irgen/IRGen.h"
#include "lexer/Lexer.h"
#include "repl/Commands.h"
#include "session/Session.h"

#include <algorithm>
#include <cwchar>
#include <filesystem>
#include <set>

namespace toy {
namespace {

bool isWordStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80); }
bool isWord(char c) { return isWordStart(c) || std::isdigit(static_cast<unsigned char>(c)); }
bool isKeyword(std::string_view word) {
  return std::find(keywords().begin(), keywords().end(), word) != keywords().end();
}

const std::set<std::string> &builtinNames() {
  static const std::set<std::string> names = [] {
    std::set<std::string> out;
    for (const BuiltinInfo &info : allBuiltins())
      out.insert(info.name);
    return out;
  }();
  return names;
}

/// The end of a string literal that begins at `at`.
size_t stringEnd(std::string_view text, size_t at) {
  for (size_t i = at + 1; i < text.size(); ++i)
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i + 1;
    else if (text[i] == '\n')
      return i;
  return text.size();
}

/// The texts of strings in a line of source: whole strings, and what is around the fields of format strings.
class StringTexts {
public:
  explicit StringTexts(std::string_view text) : text(text) { code(0, false); }
  std::vector<std::pair<size_t, size_t>> found;
  size_t unfinished = std::string_view::npos; ///< where the text of a string begins that does not end

  /// The end of the text that begins at a position, or 0.
  size_t endAt(size_t begin) const {
    auto row = std::lower_bound(found.begin(), found.end(), std::pair(begin, size_t(0)));
    return row != found.end() && row->first == begin ? row->second : 0;
  }

private:
  /// Up to the end, or, in a field, to the brace that ends it or the colon before its format.
  size_t code(size_t i, bool isField) {
    for (int depth = 0; i < text.size(); ++i) {
      char c = text[i];
      if (isField && (c == '\n' || (depth == 0 && (c == '}' || c == ':'))))
        return i;
      depth += c == '(' || c == '[' || c == '{';
      depth -= c == ')' || c == ']' || c == '}';
      if (c == '#' && !isField)
        i = std::min(text.find('\n', i), text.size());
      else if (c == '"' && isFormat(i))
        i = format(i) - 1;
      else if (c == '"') {
        size_t end = stringEnd(text, i);
        add(i, end, end > i + 1 && text[end - 1] == '"');
        i = end - 1;
      }
    }
    return text.size();
  }
  bool isFormat(size_t quote) const {
    return quote > 0 && text[quote - 1] == 'f' && (quote < 2 || !isWord(text[quote - 2]));
  }
  void add(size_t begin, size_t end, bool closed) {
    if (end > begin)
      found.emplace_back(begin, end);
    if (!closed)
      unfinished = begin + 1;
  }

  /// A format string; its text includes the formats of its fields.
  size_t format(size_t i) {
    size_t begin = i++;
    bool inSpec = false;
    for (; i < text.size() && text[i] != '\n' && text[i] != '"'; ++i) {
      if (text[i] == '\\')
        ++i;
      else if (inSpec && text[i] == '}')
        inSpec = false;
      else if (!inSpec && text[i] == '{' && text.substr(i + 1, 1) == "{")
        ++i;
      else if (text[i] == '{') {
        found.emplace_back(begin, i);
        i = code(i + 1, true);
        if (i == text.size()) // the field has no end
          return i;
        inSpec |= text.substr(i, 1) == ":";
        begin = i + 1;
      }
    }
    i = std::min(i, text.size());
    bool closed = i < text.size() && text[i] == '"';
    add(std::min(begin, i), i + closed, closed);
    return i + closed;
  }

  std::string_view text;
};

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

constexpr std::pair<const char *, const char *> symbols[] = {
    {"alpha", "α"}, {"beta", "β"},    {"gamma", "γ"},   {"delta", "δ"},  {"epsilon", "ε"}, {"zeta", "ζ"},
    {"eta", "η"},   {"theta", "θ"},   {"iota", "ι"},    {"kappa", "κ"},  {"lambda", "λ"},  {"mu", "μ"},
    {"nu", "ν"},    {"xi", "ξ"},      {"omicron", "ο"}, {"pi", "π"},     {"rho", "ρ"},     {"sigma", "σ"},
    {"tau", "τ"},   {"upsilon", "υ"}, {"phi", "φ"},     {"chi", "χ"},    {"psi", "ψ"},     {"omega", "ω"},
    {"Gamma", "Γ"}, {"Delta", "Δ"},   {"Theta", "Θ"},   {"Lambda", "Λ"}, {"Xi", "Ξ"},      {"Pi", "Π"},
    {"Sigma", "Σ"}, {"Phi", "Φ"},     {"Psi", "Ψ"},     {"Omega", "Ω"},  {"hbar", "ħ"},    {"ell", "ℓ"}};

constexpr std::string_view stages[] = {
#define TOY_PHASE(NAME, HELP) #NAME,
#include "compile/Phases.def"
};

std::string signatureOf(const std::string &name, Session &session) {
  if (std::string own = session.signatureOf(name); !own.empty())
    return own;
  for (const BuiltinInfo &info : allBuiltins())
    if (info.name == name)
      return "(" + info.parameters + ")";
  return "";
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
  auto put = [&](const char *colour, size_t begin, size_t end) {
    if (*colour)
      out += std::string("\x1b[") + colour + "m";
    for (size_t i = begin; i < end; ++i)
      if (i == marked[0] || i == marked[1])
        out += std::string("\x1b[1;7m") + text[i] + "\x1b[0m";
      else
        out += text[i];
    if (*colour)
      out += "\x1b[0m";
  };
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    size_t end = i + 1;
    if (size_t endOfText = strings.endAt(i)) {
      end = endOfText;
      put("32", i, end);
    } else if (c == '#') {
      end = std::min(text.find('\n', i), text.size());
      put("2", i, end);
    } else if (std::isdigit(static_cast<unsigned char>(c)) ||
               (c == '.' && i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1])))) {
      while (end < text.size() &&
             (isWord(text[end]) || text[end] == '.' ||
              ((text[end] == '+' || text[end] == '-') && (text[end - 1] == 'e' || text[end - 1] == 'E'))))
        ++end;
      put(text[end - 1] == 'i' || text[end - 1] == 'j' ? "35" : "36", i, end);
    } else if (isWordStart(c)) {
      while (end < text.size() && isWord(text[end]))
        ++end;
      std::string word(text.substr(i, end - i));
      put(isKeyword(word)                                          ? "1;34"
          : dtypeNamed(word)                                       ? "33"
          : builtinNames().count(word) || session.functionOf(word) ? "34"
                                                                   : "",
          i, end);
    } else
      put("", i, end);
    i = end;
  }
  return out;
}

std::vector<Completion> completionsAt(std::string_view text, size_t end, Session &session, size_t &begin) {
  text = text.substr(0, end);
  std::vector<Completion> out;
  begin = end;
  while (begin > 0 && isWord(text[begin - 1]))
    --begin;
  std::string word(text.substr(begin));
  auto add = [&](std::string name, std::string detail) {
    if (std::string_view(name).starts_with(word))
      out.push_back({std::move(name), std::move(detail)});
  };
  auto sorted = [&] {
    std::sort(out.begin(), out.end(), [](auto &a, auto &b) { return a.text < b.text; });
    out.erase(std::unique(out.begin(), out.end(), [](auto &a, auto &b) { return a.text == b.text; }), out.end());
    return out;
  };
  // a path, inside a string or behind a command that takes a file
  size_t quote = StringTexts(text).unfinished;
  for (std::string_view command : {":load ", ":save ", ":edit "})
    if (text.starts_with(command))
      quote = command.size();
  if (quote != text.npos) {
    begin = quote;
    std::string typed(text.substr(quote)), folder = typed.substr(0, typed.find_last_of('/') + 1);
    if (typed.find_last_of('/') == typed.npos)
      folder = "";
    std::error_code failed;
    for (auto &entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, failed)) {
      std::string path = folder + entry.path().filename().string() + (entry.is_directory(failed) ? "/" : "");
      if (path.starts_with(typed) &&
          (!entry.path().filename().string().starts_with(".") || typed.size() > folder.size()))
        out.push_back({path, ""});
    }
    return sorted();
  }
  if (begin > 0 && text[begin - 1] == '\\') {
    for (auto &[name, symbol] : symbols)
      if (word == name) {
        --begin;
        return {{symbol, ""}};
      }
    for (auto &[name, symbol] : symbols)
      add(name, symbol);
    return sorted();
  }
  if (begin > 0 && text[begin - 1] == ':' && begin == 1) {
    for (const CommandInfo &c : commandTable())
      add(c.name, c.argument);
    return sorted();
  }
  if (text.starts_with(":set ") && begin == 5) {
    for (std::string_view name : settingNames)
      add(std::string(name), "");
    return sorted();
  }
  if (text.starts_with(":emit ") && begin == 6) {
    for (std::string_view stage : stages)
      add(std::string(stage), "");
    return sorted();
  }
  if (begin > 1 && text[begin - 1] == '.') { // a member, or a function of the value
    size_t from = begin - 1;
    while (from > 0 && isWord(text[from - 1]))
      --from;
    std::string base(text.substr(from, begin - 1 - from));
    if (const ValueType *type = session.global(base); type && type->kind == ValueType::Struct) {
      for (size_t i = 0; i < type->names.size(); ++i)
        add(type->names[i], type->elements[i].str());
      return sorted();
    }
    if (auto *names = session.namesOfModule(base)) {
      for (auto &[name, known] : *names)
        add(name, signatureOf(known, session));
      return sorted();
    }
    for (const char *name : {"T", "H", "real", "imag", "shape", "dtype"})
      add(name, "");
  } else {
    for (std::string_view keyword : keywords())
      add(std::string(keyword), "");
    for (auto &[name, type] : session.variables())
      add(name, type);
    for (int d = 0; d < numDTypes; ++d)
      add(std::string(nameOf(static_cast<DType>(d))), "dtype");
    for (const char *name : {"pi", "inf", "nan", "newaxis", "range", "args"})
      add(name, "");
  }
  for (const std::string &name : session.functionNames())
    add(name, signatureOf(name, session));
  for (const BuiltinInfo &info : allBuiltins())
    add(info.name, "(" + info.parameters + ")");
  return sorted();
}

std::string hintFor(std::string_view text, Session &session) {
  if (text.empty() || text.back() == '\n')
    return "";
  // the innermost call that is still open
  auto all = brackets(text, StringTexts(text));
  for (auto it = all.rbegin(); it != all.rend(); ++it)
    if (it->second == text.npos && text[it->first] == '(' && it->first + 1 == text.size()) {
      size_t end = it->first, begin = end;
      while (begin > 0 && isWord(text[begin - 1]))
        --begin;
      std::string signature = signatureOf(std::string(text.substr(begin, end - begin)), session);
      return signature.empty() ? "" : signature.substr(1);
    }
  if (!isWord(text.back()))
    return "";
  size_t begin;
  std::vector<Completion> candidates = completionsAt(text, text.size(), session, begin);
  size_t typed = text.size() - begin;
  if (candidates.size() == 1 && typed >= 2 && candidates[0].text.size() > typed)
    return candidates[0].text.substr(typed);
  return "";
}

} // namespace toy
