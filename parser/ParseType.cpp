// SPDX-License-Identifier: Apache-2.0
/// \file
/// Types and the size expressions in them.
#include "parser/ParserImpl.h"

namespace toy {

using namespace ast;

/// Sizes of elements are free.
void Parser::checkElement(const TypeExpr &type) {
  for (const TypeExpr &element : type.elements)
    checkElement(element);
  for (const ExprPtr &size : type.sizes)
    if (size)
      fail(DiagId::ListSizes, size->range);
}

/// type := name [`[` sizes `]`] | `list` `[` type `]` | `(` types `)`
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
    if (is(TokenKind::LBracket) && type.name == "list") {
      take();
      type.form = TypeExpr::List;
      type.elements.push_back(parseType());
      checkElement(type);
      expect(TokenKind::RBracket, "`]`");
    } else if (is(TokenKind::LBracket)) {
      type.form = TypeExpr::Tensor;
      parseSizes(type);
    }
  }
  type.range = since(begin);
  return type;
}

/// sizes := `[` [size (`,` size)*] `]`; size := `_` | expression
void Parser::parseSizes(TypeExpr &type) {
  take();
  while (!is(TokenKind::RBracket)) {
    ExprPtr size = parseExpr();
    if (auto *name = dynCast<Name>(size.get()); name && name->name == "_")
      size = nullptr;
    else
      checkSize(*size);
    type.sizes.push_back(std::move(size));
    if (!accept(TokenKind::Comma))
      break;
  }
  expect(TokenKind::RBracket, "`,` or `]`");
}

/// A size is made of names, integers and `+ - * // %`; anything else is an error.
void Parser::checkSize(const Expr &expr) {
  if (auto *name = dynCast<Name>(&expr); name && name->name != "_")
    return;
  if (auto *number = dynCast<Number>(&expr); number && number->form == Number::Integer && !number->re.starts_with('-'))
    return;
  auto *binary = dynCast<Binary>(&expr);
  if (!binary)
    fail(DiagId::BadSizeExpression, expr.range,
         {"`" + std::string(diagnostics.getSources().text(expr.range).substr(0, 40)) + "`"});
  checkSize(*binary->first);
  for (const Binary::Step &step : binary->steps) {
    bool isSizeOp = step.op == BinaryOp::Add || step.op == BinaryOp::Sub || step.op == BinaryOp::Mul ||
                    step.op == BinaryOp::FloorDiv || step.op == BinaryOp::Mod;
    if (!isSizeOp)
      fail(DiagId::BadSizeExpression, step.opRange, {"`" + std::string(spellingOf(step.op)) + "`"});
    checkSize(*step.operand);
  }
}

} // namespace toy
