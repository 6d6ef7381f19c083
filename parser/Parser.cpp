// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tokens, errors, recovery, and the loop over a module's items.
#include "parser/ParserImpl.h"

#include <fmt/format.h>

namespace toy {

using namespace ast;

std::string Parser::got() const {
  if (peek().kind == TokenKind::End && peek().begin == peek().end) // of a field of a format string it is the brace
    return "the end of the input";
  std::string_view text = tokens.spelling(peek());
  return fmt::format("`{}`", text.size() > 40 ? std::string(text.substr(0, 37)) + "…" : std::string(text));
}

void Parser::fail(DiagId id, SourceRange range, std::vector<std::string> args, std::string help) {
  if (is(TokenKind::If) && (id == DiagId::AdjacentValues || (id == DiagId::Expected && help.empty())))
    help = "`where(c, a, b)` chooses a value, `if c { … } else { … }` what is done";
  incomplete |= is(TokenKind::End) && options.prompt && errors == 0;
  if (++errors <= 20) {
    Diagnostic &d = diagnostics.report(id, range, std::move(args));
    if (!help.empty())
      d.withHelp(std::move(help));
  }
  throw ParseAbort();
}

std::string Parser::helpWithoutValue() const {
  auto isPlus = [&](size_t back) { return at >= back && tokens.tokens[at - back].kind == TokenKind::Plus; };
  if (is(TokenKind::Else))
    return "`else` stands on the line of the `}` that ends its `if`";
  return isPlus(1) && isPlus(2) ? "`x += 1` counts" : "";
}

SourceRange Parser::expect(TokenKind kind, const char *what) {
  if (!is(kind))
    fail(DiagId::Expected, here(), {what ? what : describe(kind), got()});
  return tokens.range(take());
}

std::string Parser::expectName(const char *what, SourceRange &range) {
  if (isReserved(peek().kind))
    fail(DiagId::ReservedWord, here(), {std::string(tokens.spelling(peek()))});
  if (!isNameAt(0))
    fail(DiagId::Expected, here(), {what, got()});
  range = here();
  return tokens.name(take());
}

Parser::Nesting::Nesting(Parser &parser) : parser(parser) {
  if (++parser.depth > 1000) {
    --parser.depth;
    parser.at = parser.tokens.tokens.size() - 1; // nothing sensible follows
    parser.fail(DiagId::NestingTooDeep, parser.previous());
  }
}

/// Goes behind the next `;`, or to a `}` or the start of a declaration.
void Parser::synchronize() {
  int open = 0;
  while (!is(TokenKind::End)) {
    if (is(TokenKind::LBrace))
      ++open;
    if (is(TokenKind::RBrace) && open-- == 0)
      return;
    bool closed = is(TokenKind::RBrace) && open == 0;
    if (open == 0 && (is(TokenKind::Def) || is(TokenKind::Struct)))
      return;
    bool semicolon = is(TokenKind::Semicolon) && open == 0;
    take();
    if (semicolon || closed)
      return;
  }
}

/// `(x, y)` is a tuple until `=>` follows.
void Parser::findLambdas() {
  std::vector<size_t> open;
  for (size_t i = 0; i + 1 < tokens.tokens.size(); ++i)
    if (tokens.tokens[i].kind == TokenKind::LParen)
      open.push_back(i);
    else if (tokens.tokens[i].kind == TokenKind::RParen && !open.empty()) {
      if (tokens.tokens[i + 1].kind == TokenKind::FatArrow)
        lambdas.insert(open.back());
      open.pop_back();
    }
}

ParseResult Parser::run() {
  ParseResult result{{}, ParseStatus::Wrong};
  if (diagnostics.hasErrors()) // malformed tokens: what follows from them would only confuse
    return result;
  findLambdas();
  while (!is(TokenKind::End) && errors <= 20) {
    size_t before = at;
    try {
      if (StmtPtr item = parseItem())
        result.module.items.push_back(std::move(item));
    } catch (ParseAbort) {
      depth = blocks = 0;
      if (at == before)
        take();
      synchronize();
      if (is(TokenKind::RBrace))
        take();
    }
  }
  result.status = incomplete && errors == 1           ? ParseStatus::Incomplete
                  : errors || diagnostics.hasErrors() ? ParseStatus::Wrong
                                                      : ParseStatus::Complete;
  return result;
}

ParseResult parse(const TokenBuffer &tokens, DiagnosticEngine &diagnostics, ParseOptions options) {
  return Parser(tokens, diagnostics, options).run();
}

} // namespace toy
