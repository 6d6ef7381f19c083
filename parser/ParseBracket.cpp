// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tensor literals. Brackets of plain numbers are kept as positions in the source, 16 bytes an element.
#include "parser/ParserImpl.h"

#include <fmt/format.h>

namespace toy {

using namespace ast;

/// bracket := `[` [e (`,` e)* [`,`]] `]`
ExprPtr Parser::parseBracket() {
  Nesting nesting(*this);
  size_t start = at;
  SourceRange begin = here();
  if (auto compact = parseCompactBracket())
    return compact;
  at = start;
  auto node = std::make_unique<Bracket>(begin);
  take();
  while (!is(TokenKind::RBracket)) {
    node->elements.push_back(parseExpr());
    if (!accept(TokenKind::Comma))
      break;
  }
  expect(TokenKind::RBracket, "`,` or `]`");
  node->range = since(begin);
  return node;
}

/// Whether the bracket that begins at a token holds brackets of numbers only: what is wrong with its shape is wrong for
/// good. `[1, [2][0]]` does not.
bool Parser::isPlainBracket(size_t start) const {
  int depth = 0;
  for (size_t i = start;; ++i) {
    TokenKind kind = tokens.tokens[i].kind, next = kind == TokenKind::End ? kind : tokens.tokens[i + 1].kind;
    if (kind == TokenKind::RBracket) {
      if (--depth == 0)
        return true;
      if (next != TokenKind::Comma && next != TokenKind::RBracket)
        return false;
    } else if (kind == TokenKind::LBracket)
      ++depth;
    else if (kind != TokenKind::Comma && kind != TokenKind::Integer && kind != TokenKind::Float &&
             kind != TokenKind::Imaginary && kind != TokenKind::Plus && kind != TokenKind::Minus)
      return false;
    else if (next == TokenKind::LBracket && kind != TokenKind::Comma)
      return false;
  }
}

/// The compact form, or null when something else than numbers and brackets occurs.
std::unique_ptr<Bracket> Parser::parseCompactBracket() {
  compactStart = at;
  auto node = std::make_unique<Bracket>(here());
  SourceRange begin = here();
  if (!parseCompactLevel(*node, 0))
    return nullptr;
  node->compact = true;
  node->range = since(begin);
  if (!node->anyComplex)
    node->im.clear();
  return node;
}

bool Parser::parseCompactLevel(Bracket &bracket, size_t level) {
  Nesting nesting(*this);
  SourceRange open = here();
  take();
  bool first = bracket.shape.size() == level;
  if (first)
    bracket.shape.push_back(-1);
  int64_t count = 0;
  bool rows = is(TokenKind::LBracket);
  while (!is(TokenKind::RBracket)) {
    if (is(TokenKind::LBracket) != rows || (!rows && level + 1 != bracket.shape.size())) {
      if (isPlainBracket(compactStart))
        fail(DiagId::MixedNestingLiteral, here());
      return false;
    }
    if (rows ? !parseCompactLevel(bracket, level + 1) : !parseCompactNumber(bracket))
      return false;
    ++count;
    if (!accept(TokenKind::Comma))
      break;
  }
  if (!is(TokenKind::RBracket))
    return false;
  take();
  int64_t &size = bracket.shape[level];
  bool isRagged = (size >= 0 && size != count) || (level + 1 < bracket.shape.size() && !rows && count == 0);
  if (isRagged && (compactStart == argumentStart || !isPlainBracket(compactStart)))
    return false; // `cat([[1], [2, 3]])` is right
  if (size >= 0 && size != count)
    fail(DiagId::RaggedLiteral, since(open), {fmt::format("{}", count), fmt::format("{}", size)});
  if (level + 1 < bracket.shape.size() && !rows && count == 0)
    fail(DiagId::RaggedLiteral, since(open), {"0", "some"});
  size = count;
  return true;
}

/// [`-`|`+`] number [(`+` | `-`) imaginary] | `complex(` part `,` part `)`, followed by `,` or `]`; parts may be `nan`
/// and `inf`.
bool Parser::parseCompactNumber(Bracket &bracket) {
  auto sign = [&] {
    bool negative = is(TokenKind::Minus);
    if (negative || is(TokenKind::Plus))
      take();
    return negative;
  };
  auto isCalled = [&](std::string_view name) { return is(TokenKind::Identifier) && tokens.spelling(peek()) == name; };
  auto isReal = [&] { return is(TokenKind::Integer) || is(TokenKind::Float) || isCalled("nan") || isCalled("inf"); };
  auto part = [&](bool negative) {
    const Token &token = take();
    bracket.named |= token.kind == TokenKind::Identifier;
    uint32_t length = token.end - token.begin - (token.kind == TokenKind::Imaginary ? 1 : 0);
    bracket.allIntegers &= token.kind == TokenKind::Integer;
    return Bracket::Part{token.begin, static_cast<uint16_t>(std::min<uint32_t>(length, 65535)), negative};
  };
  Bracket::Part re, im;
  if (isCalled("complex") && peek(1).kind == TokenKind::LParen) {
    take();
    take();
    bool negative = sign();
    if (!isReal())
      return false;
    re = part(negative);
    re.isCall = bracket.named = true;
    if (!accept(TokenKind::Comma))
      return false;
    negative = sign();
    if (!isReal())
      return false;
    im = part(negative);
    if (!accept(TokenKind::RParen))
      return false;
  } else {
    bool negative = sign();
    if (is(TokenKind::True) || is(TokenKind::False)) {
      re = part(negative);
      if (negative || !(bracket.re.empty() || bracket.allBools))
        return false;
      bracket.allBools = true;
    } else if (isReal()) {
      if (bracket.allBools)
        return false;
      re = part(negative);
      if ((is(TokenKind::Plus) || is(TokenKind::Minus)) && peek(1).kind == TokenKind::Imaginary) {
        bool imNegative = sign();
        im = part(imNegative);
      }
    } else if (is(TokenKind::Imaginary)) {
      im = part(negative);
      re.negative = negative; // -1i is the negation of 0+1i
    } else
      return false;
  }
  if (!is(TokenKind::Comma) && !is(TokenKind::RBracket))
    return false;
  bracket.anyComplex |= im.length > 0;
  bracket.allIntegers &= im.length == 0;
  bracket.re.push_back(re);
  bracket.im.push_back(im);
  return true;
}

} // namespace toy
