// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tokens, errors, recovery, and the loop over a module's items.
#include "parser/ParserImpl.h"

#include <fmt/format.h>

#include <algorithm>

namespace toy {

using namespace ast;

std::string Parser::got() const {
  if (peek().kind == TokenKind::End && peek().begin == peek().end) // of a field of a format string it is the brace
    return "the end of the input";
  std::string_view text = tokens.spelling(peek());
  return fmt::format("`{}`", text.size() > 40 ? std::string(text.substr(0, 37)) + "…" : std::string(text));
}

void Parser::fail(DiagId id, SourceRange range, std::vector<std::string> args, std::string help,
                  std::optional<Fix> fix) {
  if (help.empty() && (id == DiagId::Expected || id == DiagId::ExpectedExpression))
    help = helpForOtherSyntax(id == DiagId::Expected ? args[0] : "a value");
  incomplete |= is(TokenKind::End) && options.prompt && errors == 0;
  if (++errors <= 20) {
    Diagnostic &d = diagnostics.report(id, range, std::move(args));
    if (!help.empty())
      d.withHelp(std::move(help));
    if (fix)
      d.withFix(fix->range, fix->text);
  }
  throw ParseAbort();
}

/// Whether a token is what a pattern of the table names.
static bool fits(std::string_view pattern, TokenKind kind, std::string_view spelling) {
  bool isNumber = kind == TokenKind::Integer || kind == TokenKind::Float || kind == TokenKind::Imaginary;
  bool isText = kind == TokenKind::String || kind == TokenKind::Format;
  return pattern == "NAME"     ? isName(kind)
         : pattern == "NUMBER" ? isNumber
         : pattern == "TEXT"   ? isText
         : pattern == "VALUE"  ? isName(kind) || isNumber || isText
                               : pattern == spelling;
}

std::string Parser::helpForOtherSyntax(std::string_view expected) const {
  static constexpr struct {
    std::string_view expected, before, here, help;
  } rows[] = {
#define TOY_OTHER_SYNTAX(EXPECTED, BEFORE, HERE, HELP) {EXPECTED, BEFORE, HERE, HELP},
#include "support/OtherSpellings.def"
  };
  // Whether the patterns, apart from each other by spaces, fit the tokens from one on.
  auto fitFrom = [&](size_t first, std::string_view patterns) {
    for (size_t i = first; !patterns.empty(); ++i) {
      size_t end = std::min(patterns.find(' '), patterns.size());
      if (i >= tokens.tokens.size() ||
          !fits(patterns.substr(0, end), tokens.tokens[i].kind, tokens.spelling(tokens.tokens[i])))
        return false;
      patterns.remove_prefix(std::min(end + 1, patterns.size()));
    }
    return true;
  };
  for (const auto &row : rows) {
    size_t behind = row.before.empty() ? 0 : 1 + std::count(row.before.begin(), row.before.end(), ' ');
    if ((row.expected.empty() || row.expected == expected) && behind <= at && fitFrom(at - behind, row.before) &&
        fitFrom(at, row.here))
      return std::string(row.help);
  }
  return "";
}

SourceRange Parser::expect(TokenKind kind, const char *what) {
  if (!is(kind))
    fail(DiagId::Expected, here(), {what ? what : describe(kind), got()});
  return tokens.range(take());
}

std::string Parser::expectName(const char *what, SourceRange &range) {
  if (isReserved(peek().kind)) {
    std::string word(tokens.spelling(peek()));
    SourceRange place = here();
    if (peek(1).kind == TokenKind::Equal) // else a statement may begin here
      take();
    fail(DiagId::ReservedWord, place, {word});
  }
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
