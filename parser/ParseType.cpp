// SPDX-License-Identifier: Apache-2.0
/// \file
/// Types and the size expressions in them.
#include "parser/ParserImpl.h"

namespace toy {

using namespace ast;

/// type := name [`[` sizes `]`] | `(` types `)`
TypeExpr Parser::parseType() {
  Nesting nesting(*this);
  TypeExpr type;
  SourceRange begin = here();
  if (accept(TokenKind::LParen)) {
    type.form = TypeExpr::Tuple;
    while (!is(TokenKind::RParen)) {
      type.elements.push_back(parseType());
      if (!accept(TokenKind::Comma))
        break;
    }
    expect(TokenKind::RParen, "`,` or `)`");
  } else {
    type.name = expectName("a type", type.range);
    if (is(TokenKind::LBracket)) {
      type.form = TypeExpr::Tensor;
      parseSizes(type);
    }
  }
  type.range = since(begin);
  return type;
}

void Parser::parseSizes(TypeExpr &type) {
  take();
  while (!is(TokenKind::RBracket)) {
    ExprPtr size = parseExpr();
    type.sizeRanges.push_back(size->range);
    type.sizes.push_back(sizeText(*size));
    if (!accept(TokenKind::Comma))
      break;
  }
  expect(TokenKind::RBracket, "`,` or `]`");
}

/// A size expression as text without spaces; anything but names, integers and `+ - * // %` is an error.
std::string Parser::sizeText(const Expr &expr) {
  if (auto *name = dynCast<Name>(&expr))
    return name->name;
  if (auto *number = dynCast<Number>(&expr); number && number->form == Number::Integer && !number->re.starts_with('-'))
    return number->re;
  if (auto *binary = dynCast<Binary>(&expr)) {
    std::string out = "(" + sizeText(*binary->first);
    for (const Binary::Step &step : binary->steps) {
      std::string_view op = spellingOf(step.op);
      if (op != "+" && op != "-" && op != "*" && op != "//" && op != "%")
        fail(DiagId::BadSizeExpression, step.opRange, {"`" + std::string(op) + "`"});
      out += std::string(op) + sizeText(*step.operand);
    }
    return out + ")";
  }
  fail(DiagId::BadSizeExpression, expr.range, {"`" + std::string(diagnostics.getSources().text(expr.range).substr(0, 40)) + "`"});
}

} // namespace toy
