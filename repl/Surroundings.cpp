// SPDX-License-Identifier: Apache-2.0
#include "repl/Surroundings.h"

#include <algorithm>
#include <set>

namespace toy {
namespace {

bool opens(TokenKind kind) {
  return kind == TokenKind::LParen || kind == TokenKind::LBracket || kind == TokenKind::LBrace;
}
bool closes(TokenKind kind) {
  return kind == TokenKind::RParen || kind == TokenKind::RBracket || kind == TokenKind::RBrace;
}

/// The names that tokens declare, block by block.
class Locals {
public:
  explicit Locals(const TokenBuffer &buffer) : buffer(buffer), tokens(buffer.tokens) {}

  std::vector<std::string> run() {
    for (size_t i = 0; i < tokens.size(); ++i)
      token(i);
    std::vector<std::string> out(header.begin(), header.end());
    for (size_t i = 1; i < blocks.size(); ++i) // names of the outermost block exist when they are used
      out.insert(out.end(), blocks[i].begin(), blocks[i].end());
    return out;
  }

private:
  void token(size_t i) {
    switch (tokens[i].kind) {
    case TokenKind::LBrace:
      blocks.push_back(std::exchange(header, {}));
      return;
    case TokenKind::RBrace:
      if (blocks.size() > 1)
        blocks.pop_back();
      return;
    case TokenKind::Semicolon:
      return header.clear();
    case TokenKind::Var:
      return names(i + 1, blocks.back());
    case TokenKind::For:
    case TokenKind::Catch:
      return names(i + 1, header);
    case TokenKind::Def:
      return parameters(i + 2, header);
    case TokenKind::FatArrow:
      return i ? names(tokens[i - 1].kind == TokenKind::RParen ? openingOf(i - 1) : i - 1, header) : void();
    default: // `Struct name = …`
      if (i + 2 < tokens.size() && tokens[i].kind == TokenKind::Identifier && isName(tokens[i + 1].kind) &&
          tokens[i + 2].kind == TokenKind::Equal)
        blocks.back().insert(buffer.name(tokens[i + 1]));
    }
  }
  size_t openingOf(size_t at) const {
    for (int depth = 0; at > 0; --at) {
      depth += closes(tokens[at].kind) - opens(tokens[at].kind);
      if (depth == 0)
        break;
    }
    return at;
  }
  /// A name, or several in brackets.
  void names(size_t at, std::set<std::string> &out) const {
    if (at < tokens.size() && tokens[at].kind == TokenKind::LParen)
      return parameters(at, out);
    if (at < tokens.size() && isName(tokens[at].kind))
      out.insert(buffer.name(tokens[at]));
  }
  /// Of each part between commas the name before its type or default; `at` is the bracket.
  void parameters(size_t at, std::set<std::string> &out) const {
    int depth = 0;
    for (bool isStart = false; at < tokens.size(); ++at) {
      TokenKind kind = tokens[at].kind;
      depth += opens(kind) - closes(kind);
      if (depth == 0)
        return;
      if (isStart && isName(kind)) // `Struct name` has its type first
        out.insert(buffer.name(at + 1 < tokens.size() && isName(tokens[at + 1].kind) ? tokens[++at] : tokens[at]));
      isStart = depth == 1 && (kind == TokenKind::LParen || kind == TokenKind::Comma);
    }
  }

  const TokenBuffer &buffer;
  const std::vector<Token> &tokens;
  std::vector<std::set<std::string>> blocks{{}};
  std::set<std::string> header; ///< of the block that comes next
};

} // namespace

Surroundings::Surroundings(std::string_view before)
    : tokens(lex(sources.add("<typed>", std::string(before)), quiet)), end(before.size()) {
  tokens.tokens.pop_back();
  partner.resize(tokens.tokens.size());
  for (size_t i = 0; i < tokens.tokens.size(); ++i) {
    if (opens(tokens.tokens[i].kind))
      open.push_back(i);
    else if (closes(tokens.tokens[i].kind) && !open.empty()) {
      partner[i] = open.back();
      open.pop_back();
    }
  }
  std::string_view rest = before.substr(tokens.tokens.empty() ? 0 : tokens.tokens.back().end); // blanks and comments
  inComment = rest.substr(rest.find_last_of('\n') + 1).find('#') != rest.npos ||
              (!tokens.tokens.empty() && rest.empty() && tokens.tokens.back().kind == TokenKind::DocComment);
}

std::optional<Surroundings::Call> Surroundings::call() const {
  const std::vector<Token> &all = tokens.tokens;
  for (auto it = open.rbegin(); it != open.rend(); ++it) {
    size_t at = *it;
    if (all[at].kind != TokenKind::LParen || at == 0 || !isName(all[at - 1].kind) ||
        (at > 1 && all[at - 2].kind == TokenKind::Def))
      continue;
    Call out;
    out.callee = tokens.name(all[at - 1]);
    if (at > 2 && all[at - 2].kind == TokenKind::Dot)
      out.base =
          tokens.text.substr(all[beginOfOperand(at - 3)].begin, all[at - 3].end - all[beginOfOperand(at - 3)].begin);
    size_t begin = at + 1; // of the current argument
    auto nameOf = [&](size_t first) {
      return first + 1 < all.size() && isName(all[first].kind) && all[first + 1].kind == TokenKind::Equal
                 ? tokens.name(all[first])
                 : std::string();
    };
    int depth = 0;
    for (size_t i = at + 1; i < all.size(); ++i) {
      depth += opens(all[i].kind) - closes(all[i].kind);
      if (depth || all[i].kind != TokenKind::Comma)
        continue;
      if (std::string name = nameOf(begin); !name.empty())
        out.named.push_back(name);
      else
        ++out.values;
      begin = i + 1;
    }
    out.current = nameOf(begin);
    out.begins = begin == all.size() || (begin + 1 == all.size() && isName(all[begin].kind) && all[begin].end == end);
    return out;
  }
  return std::nullopt;
}

size_t Surroundings::openLines(size_t closing) const {
  std::set<uint32_t> lines;
  for (size_t i = 0; i + closing < open.size(); ++i)
    lines.insert(sources.get(tokens.buffer).lineOf(tokens.tokens[open[i]].begin));
  return lines.size();
}

std::vector<std::string> Surroundings::locals() const { return Locals(tokens).run(); }

bool Surroundings::mentions(const std::vector<std::string> &names) const {
  return std::any_of(tokens.tokens.begin(), tokens.tokens.end(), [&](const Token &token) {
    return isName(token.kind) && std::find(names.begin(), names.end(), tokens.name(token)) != names.end();
  });
}

/// Where the operand begins that ends with a token: a name or bracket with the members, calls and indices behind it.
size_t Surroundings::beginOfOperand(size_t last) const {
  const std::vector<Token> &all = tokens.tokens;
  while (true) {
    if (closes(all[last].kind)) {
      last = partner[last];
      bool follows = last > 0 && all[last].kind != TokenKind::LBrace &&
                     (isName(all[last - 1].kind) || closes(all[last - 1].kind)) && all[last - 1].end == all[last].begin;
      if (follows) {
        --last;
        continue;
      }
    } else if (last > 1 && isName(all[last].kind) && all[last - 1].kind == TokenKind::Dot) {
      last -= 2;
      continue;
    }
    return last;
  }
}

std::string Surroundings::baseOf(size_t word) const {
  const std::vector<Token> &all = tokens.tokens;
  size_t at = all.size();
  if (word && at)
    --at;
  if (at < 2 || all[at - 1].kind != TokenKind::Dot || all[at - 1].end != end - word)
    return "";
  size_t begin = beginOfOperand(at - 2);
  return std::string(tokens.text.substr(all[begin].begin, all[at - 2].end - all[begin].begin));
}

} // namespace toy
