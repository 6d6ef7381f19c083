// SPDX-License-Identifier: Apache-2.0
/// \file
/// Expressions, loosest operators first. Chains of left-associative operators become one node, however long.
#include "parser/ParserImpl.h"

#include "support/OtherSpellings.h"

namespace toy {

using namespace ast;

/// expr := lambda | or
ExprPtr Parser::parseExpr() {
  Nesting nesting(*this);
  return is(TokenKind::Try) ? parseTryElse() : beginsLambda() ? parseLambda() : parseOr();
}

bool Parser::beginsLambda() const {
  return is(TokenKind::LParen) ? lambdas.count(at) > 0 : isNameAt(0) && peek(1).kind == TokenKind::FatArrow;
}

/// lambda := (name | parameters) `=>` (expr | block); an expression is the block that returns it.
ExprPtr Parser::parseLambda() {
  auto lambda = std::make_unique<Lambda>(here());
  lambda->function = std::make_unique<Function>(here());
  Function &function = *lambda->function;
  if (is(TokenKind::LParen))
    parseParameters(function);
  else {
    function.parameters.emplace_back();
    function.parameters[0].name = expectName("the name of a parameter", function.parameters[0].range);
  }
  function.nameRange = since(lambda->range);
  function.place = placeOf(lambda->range);
  function.name = "fn " + function.place;
  expect(TokenKind::FatArrow);
  if (is(TokenKind::LBrace))
    function.body = parseBlock();
  else {
    auto result = std::make_unique<Return>(here());
    result->value = parseExpr();
    result->range = result->value->range;
    function.body = std::make_unique<Block>(result->range);
    function.body->statements.push_back(std::move(result));
  }
  lambda->range = function.range = since(lambda->range);
  return lambda;
}

/// Appends `op right` to a chain, starting one if `left` is none (or is parenthesised, which its range shows).
void Parser::chain(ExprPtr &left, BinaryOp op, SourceRange opRange, ExprPtr right) {
  auto *binary = left->kind == NodeKind::Binary ? static_cast<Binary *>(left.get()) : nullptr;
  auto level = [](BinaryOp o) {
    return o <= BinaryOp::Sub      ? 0
           : o <= BinaryOp::MatMul ? 1
           : o == BinaryOp::Pow    ? 2
           : o == BinaryOp::And    ? 3
           : o == BinaryOp::Or     ? 4
                                   : 5;
  };
  bool parenthesised = binary && binary->range.begin != binary->first->range.begin;
  if (!binary || parenthesised || level(binary->steps.front().op) != level(op)) {
    auto node = std::make_unique<Binary>(left->range);
    node->first = std::move(left);
    binary = node.get();
    left = std::move(node);
  }
  binary->range = binary->range.to(right->range);
  binary->steps.push_back({op, opRange, std::move(right)});
}

/// or := and (`or` and)*
ExprPtr Parser::parseOr() {
  ExprPtr left = parseAnd();
  while (is(TokenKind::Or)) {
    SourceRange op = here();
    take();
    chain(left, BinaryOp::Or, op, parseAnd());
  }
  return left;
}

/// and := not (`and` not)*
ExprPtr Parser::parseAnd() {
  ExprPtr left = parseNot();
  while (is(TokenKind::And)) {
    SourceRange op = here();
    take();
    chain(left, BinaryOp::And, op, parseNot());
  }
  return left;
}

/// not := `not` not | comparison
ExprPtr Parser::parseNot() {
  if (!is(TokenKind::Not))
    return parseComparison();
  Nesting nesting(*this);
  auto node = std::make_unique<Unary>(here());
  SourceRange begin = here();
  take();
  node->op = UnaryOp::Not;
  node->operand = parseNot();
  node->range = since(begin);
  return node;
}

static std::optional<BinaryOp> comparisonOp(TokenKind kind) {
  switch (kind) {
  case TokenKind::EqualEqual:
    return BinaryOp::Eq;
  case TokenKind::NotEqual:
    return BinaryOp::Ne;
  case TokenKind::Less:
    return BinaryOp::Lt;
  case TokenKind::LessEqual:
    return BinaryOp::Le;
  case TokenKind::Greater:
    return BinaryOp::Gt;
  case TokenKind::GreaterEqual:
    return BinaryOp::Ge;
  default:
    return std::nullopt;
  }
}

/// comparison := sum [op sum]
ExprPtr Parser::parseComparison() {
  ExprPtr left = parseAdditive();
  auto op = comparisonOp(peek().kind);
  if (!op)
    return left;
  SourceRange opRange = here();
  take();
  ExprPtr right = parseAdditive();
  if (comparisonOp(peek().kind))
    fail(DiagId::ComparisonChain, here(), {}, "write `a < b and b < c`");
  auto node = std::make_unique<Binary>(left->range.to(right->range));
  node->first = std::move(left);
  node->steps.push_back({*op, opRange, std::move(right)});
  return node;
}

static bool isImaginary(const Expr &e) {
  auto *number = dynCast<Number>(&e);
  return number && number->form == Number::Imaginary && !number->im.starts_with('-');
}

/// `a ± bi`, when `a` is a real literal with at most one minus: one constant with the signs as written.
bool Parser::foldComplex(ExprPtr &left, BinaryOp op, const Expr &right) {
  if (op > BinaryOp::Sub || !isImaginary(right))
    return false;
  const Expr *real = left.get();
  bool negative = false;
  if (auto *unary = dynCast<Unary>(real); unary && unary->op == UnaryOp::Neg) {
    negative = true;
    real = unary->operand.get();
  }
  auto *number = dynCast<Number>(real);
  bool parenthesised = left->range.end - left->range.begin > real->range.end - real->range.begin + 64u || !number ||
                       tokens.text[left->range.begin] == '(' || (negative && tokens.text[real->range.begin] == '(');
  if (parenthesised || number->form > Number::Float)
    return false;
  auto node = std::make_unique<Number>(left->range.to(right.range));
  node->form = Number::Complex;
  node->re = (negative ? "-" : "") + number->re;
  node->im = (op == BinaryOp::Sub ? "-" : "") + cast<Number>(right).im;
  left = std::move(node);
  return true;
}

/// sum := product ((`+` | `-`) product)*
ExprPtr Parser::parseAdditive() {
  ExprPtr left = parseMultiplicative();
  bool first = true;
  while (is(TokenKind::Plus) || is(TokenKind::Minus)) {
    BinaryOp op = is(TokenKind::Plus) ? BinaryOp::Add : BinaryOp::Sub;
    SourceRange opRange = here();
    take();
    ExprPtr right = parseMultiplicative();
    if (!(first && foldComplex(left, op, *right)))
      chain(left, op, opRange, std::move(right));
    first = false;
  }
  return left;
}

static std::optional<BinaryOp> productOp(TokenKind kind) {
  switch (kind) {
  case TokenKind::Star:
    return BinaryOp::Mul;
  case TokenKind::Slash:
    return BinaryOp::Div;
  case TokenKind::SlashSlash:
    return BinaryOp::FloorDiv;
  case TokenKind::Percent:
    return BinaryOp::Mod;
  case TokenKind::At:
    return BinaryOp::MatMul;
  default:
    return std::nullopt;
  }
}

/// product := unary ((`*` | `/` | `//` | `%` | `@`) unary)*
ExprPtr Parser::parseMultiplicative() {
  ExprPtr left = parseUnary();
  while (auto op = productOp(peek().kind)) {
    SourceRange opRange = here();
    take();
    chain(left, *op, opRange, parseUnary());
  }
  return left;
}

/// unary := (`-` | `+`) unary | power
ExprPtr Parser::parseUnary() {
  if (!is(TokenKind::Minus) && !is(TokenKind::Plus))
    return parsePower();
  Nesting nesting(*this);
  SourceRange begin = here();
  auto node = std::make_unique<Unary>(begin);
  node->op = is(TokenKind::Minus) ? UnaryOp::Neg : UnaryOp::Plus;
  take();
  node->operand = parseUnary();
  node->range = since(begin);
  return node;
}

/// power := postfix [`**` unary]
ExprPtr Parser::parsePower() {
  ExprPtr base = parsePostfix();
  if (!is(TokenKind::StarStar))
    return base;
  Nesting nesting(*this);
  SourceRange opRange = here();
  take();
  ExprPtr exponent = parseUnary();
  auto node = std::make_unique<Binary>(base->range.to(exponent->range));
  node->first = std::move(base);
  node->steps.push_back({BinaryOp::Pow, opRange, std::move(exponent)});
  return node;
}

/// postfix := primary (arguments | `'` | `[` subscripts `]` | `.` name [arguments])*
ExprPtr Parser::parsePostfix() {
  ExprPtr value = parsePrimary();
  struct Levels {
    Parser &parser;
    int count = 0;
    ~Levels() { parser.depth -= count; }
  } levels{*this};
  while (true) {
    if (is(TokenKind::Adjoint) || is(TokenKind::LBracket) || is(TokenKind::Dot) || is(TokenKind::LParen)) {
      Nesting check(*this);
      ++depth; // each postfix nests the tree one level deeper; undone by Levels
      ++levels.count;
    }
    if (is(TokenKind::Adjoint)) {
      take();
      auto node = std::make_unique<Adjoint>(since(value->range));
      node->operand = std::move(value);
      value = std::move(node);
    } else if (is(TokenKind::LBracket))
      value = parseIndex(std::move(value));
    else if (is(TokenKind::Dot))
      value = parseMember(std::move(value));
    else if (is(TokenKind::LParen)) {
      auto node = std::make_unique<Call>(value->range);
      node->calleeRange = value->range;
      node->function = std::move(value);
      node->arguments = parseArguments();
      node->range = since(node->calleeRange);
      value = std::move(node);
    } else
      return value;
  }
}

ExprPtr Parser::parseMember(ExprPtr base) {
  take();
  SourceRange nameRange = here(); // members of files may be called by any word, as may the function `var`
  std::string name =
      isReserved(peek().kind) ? std::string(tokens.spelling(take())) : expectName("the name of a member", nameRange);
  if (!is(TokenKind::LParen)) {
    auto node = std::make_unique<Member>(since(base->range));
    node->base = std::move(base);
    node->member = std::move(name);
    node->memberRange = nameRange;
    return node;
  }
  auto node = std::make_unique<Call>(base->range);
  node->callee = std::move(name);
  node->calleeRange = nameRange;
  node->isMember = true;
  SourceRange begin = base->range;
  node->arguments.push_back({"", {}, std::move(base)});
  for (Argument &argument : parseArguments())
    node->arguments.push_back(std::move(argument));
  node->range = since(begin);
  return node;
}

/// arguments := `(` [[name `=`] expression (`,` …)*] `)`
std::vector<Argument> Parser::parseArguments() {
  std::vector<Argument> arguments;
  expect(TokenKind::LParen);
  bool keywords = false;
  while (!is(TokenKind::RParen)) {
    Argument argument;
    if ((isNameAt(0) || isReserved(peek().kind)) && peek(1).kind == TokenKind::Equal) {
      argument.keyword = expectName("a name", argument.keywordRange);
      take();
      keywords = true;
      for (const Argument &other : arguments)
        if (other.keyword == argument.keyword)
          fail(DiagId::DuplicateKeyword, argument.keywordRange, {argument.keyword});
    } else if (keywords)
      fail(DiagId::PositionalAfterKeyword, here());
    argumentStart = at;
    argument.value = parseExpr();
    arguments.push_back(std::move(argument));
    if (!accept(TokenKind::Comma))
      break;
  }
  expect(TokenKind::RParen, "`,` or `)`");
  return arguments;
}

ExprPtr Parser::parseIndex(ExprPtr base) {
  SourceRange open = here();
  take();
  auto node = std::make_unique<Index>(base->range);
  SourceRange begin = base->range;
  node->base = std::move(base);
  while (!is(TokenKind::RBracket)) {
    node->subscripts.push_back(parseSubscript());
    if (!accept(TokenKind::Comma))
      break;
  }
  expect(TokenKind::RBracket, "`,` or `]`");
  if (node->subscripts.empty())
    fail(DiagId::EmptyIndex, since(open));
  node->range = since(begin);
  return node;
}

/// subscript := `...` | `newaxis` | [e] `:` [e] [`:` [e]] | e
Subscript Parser::parseSubscript() {
  Subscript s;
  SourceRange begin = here();
  auto ends = [&] { return is(TokenKind::Colon) || is(TokenKind::Comma) || is(TokenKind::RBracket); };
  if (accept(TokenKind::Ellipsis))
    s.form = Subscript::Ellipsis;
  else if (is(TokenKind::NewAxis) && (peek(1).kind == TokenKind::Comma || peek(1).kind == TokenKind::RBracket)) {
    take();
    s.form = Subscript::NewAxis;
  } else {
    if (!is(TokenKind::Colon))
      s.value = parseExpr();
    if (accept(TokenKind::Colon)) {
      s.form = Subscript::Slice;
      s.start = std::move(s.value);
      if (!ends())
        s.stop = parseExpr();
      if (accept(TokenKind::Colon) && !ends())
        s.step = parseExpr();
    }
  }
  s.range = since(begin);
  return s;
}

/// `(` e `)` or a tuple.
ExprPtr Parser::parseParenthesized() {
  SourceRange begin = here();
  take();
  std::vector<ExprPtr> elements;
  bool comma = false;
  while (!is(TokenKind::RParen)) {
    elements.push_back(parseExpr());
    comma = accept(TokenKind::Comma);
    if (!comma)
      break;
  }
  expect(TokenKind::RParen, "`,` or `)`");
  if (elements.size() == 1 && !comma) {
    elements[0]->range = since(begin); // the parentheses belong to the value
    return std::move(elements[0]);
  }
  if (elements.empty())
    fail(DiagId::ExpectedExpression, since(begin), {"`()`"});
  auto tuple = std::make_unique<Tuple>(since(begin));
  tuple->elements = std::move(elements);
  return tuple;
}

ExprPtr Parser::parseNumber() {
  auto node = std::make_unique<Number>(here());
  TokenKind kind = peek().kind;
  std::string text(tokens.spelling(take()));
  if (kind == TokenKind::Imaginary) {
    node->form = Number::Imaginary;
    text.pop_back();
    node->im = std::move(text);
  } else {
    node->form = kind == TokenKind::Integer ? Number::Integer : Number::Float;
    node->re = std::move(text);
  }
  return node;
}

/// format := `f"` (text | field)* `"`; field := `{` expr [`=`] [`:` (text | `{` expr `}`)*] `}`
ExprPtr Parser::parseFormat() {
  auto node = std::make_unique<Format>(here());
  for (const FormatPart &part : tokens.formats->at(take().begin))
    node->parts.push_back(formatPart(part, false));
  return node;
}

/// The expression of a field is parsed by a parser of its own.
Format::Part Parser::formatPart(const FormatPart &part, bool inSpec) {
  Format::Part out;
  std::string_view text = tokens.text.substr(part.begin, part.end - part.begin);
  if (part.tokens.empty()) {
    out.text = inSpec ? std::string(text) : unescapeFormat(text);
    return out;
  }
  TokenBuffer field{tokens.buffer, tokens.text, part.tokens, tokens.formats};
  Parser parser(field, diagnostics, {});
  parser.depth = depth;
  parser.findLambdas();
  out.value = parser.parseExpr();
  if (!parser.is(TokenKind::End))
    parser.fail(DiagId::Expected, parser.here(), {"`}`", parser.got()});
  if (inSpec && part.labelEnd)
    parser.fail(DiagId::Expected, {tokens.buffer, part.labelEnd - 1, part.labelEnd}, {"`}`", "`=`"});
  if (inSpec && part.specBegin)
    parser.fail(DiagId::Expected, {tokens.buffer, part.specBegin - 1, part.specBegin}, {"`}`", "`:`"});
  out.isShown = part.labelEnd > 0;
  if (out.isShown)
    out.text = text.substr(1, part.labelEnd - part.begin - 1);
  if (part.specBegin)
    out.specRange = {tokens.buffer, part.specBegin, part.end - 1};
  for (const FormatPart &piece : part.spec)
    out.spec.push_back(formatPart(piece, true));
  return out;
}

ExprPtr Parser::parsePrimary() {
  SourceRange begin = here();
  switch (peek().kind) {
  case TokenKind::Integer:
  case TokenKind::Float:
  case TokenKind::Imaginary:
    return parseNumber();
  case TokenKind::String: {
    auto node = std::make_unique<String>(begin);
    node->text = unescape(tokens.spelling(take()));
    return node;
  }
  case TokenKind::Format:
    return parseFormat();
  case TokenKind::LParen:
    return parseParenthesized();
  case TokenKind::LBracket:
    return parseBracket();
  case TokenKind::LBrace:
    fail(DiagId::BraceValue, begin, {}, "`[1, 2, 3]` is a tensor, `P(1, 2)` a value of the struct `P`");
  case TokenKind::True:
  case TokenKind::False: {
    auto node = std::make_unique<Bool>(begin);
    node->value = take().kind == TokenKind::True;
    return node;
  }
  default:
    if (isReserved(peek().kind) && peek(1).kind == TokenKind::Equal)
      fail(DiagId::ReservedWord, begin, {std::string(tokens.spelling(peek()))});
    bool isVariance = is(TokenKind::Var) && peek(1).kind == TokenKind::LParen;
    if (!isNameAt(0) && !isVariance)
      fail(DiagId::ExpectedExpression, begin, {got()});
  }
  if (tokens.spelling(peek()) == "lambda" && isNameAt(1))
    fail(DiagId::AdjacentValues, begin, {}, helpForOther(Other::Word, "lambda"));
  std::string name = tokens.name(take());
  if (!is(TokenKind::LParen)) {
    auto node = std::make_unique<Name>(begin);
    node->name = std::move(name);
    return node;
  }
  auto node = std::make_unique<Call>(begin);
  node->callee = std::move(name);
  node->calleeRange = begin;
  node->arguments = parseArguments();
  node->range = since(begin);
  return node;
}

} // namespace toy
