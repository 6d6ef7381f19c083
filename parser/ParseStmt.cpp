// SPDX-License-Identifier: Apache-2.0
/// \file
/// Statements.
#include "parser/ParserImpl.h"

#include "support/DType.h"
#include "support/OtherSpellings.h"

#include <fmt/format.h>

#include <charconv>

namespace toy {

/// What somebody may have meant who comes from another language.
static std::string helpBehind(std::string_view word) {
  for (Other kind : {Other::Declaration, Other::Word})
    if (std::string help = helpForOther(kind, word); !help.empty())
      return help;
  return dtypeNamed(word) ? fmt::format("`var x: {} = …;` declares a variable", word) : "";
}

/// The name in front of the parentheses that end before a token, `elif (c)`, or before the token itself, `loop`.
static std::string_view calledName(const TokenBuffer &tokens, size_t end) {
  int open = 0;
  for (size_t i = end; i-- > 0;) {
    TokenKind kind = tokens.tokens[i].kind;
    open += (kind == TokenKind::RParen) - (kind == TokenKind::LParen);
    if (open == 0)
      return tokens.spelling(tokens.tokens[kind == TokenKind::LParen && i > 0 ? i - 1 : i]);
  }
  return "";
}

/// Whether a name before another name and `=` is taken for a struct's.
static bool isTypeName(std::string_view word) {
  return !dtypeNamed(word) && helpForOther(Other::Declaration, word).empty();
}

using namespace ast;

StmtPtr Parser::parseStatement() {
  while (is(TokenKind::DocComment))
    take();
  if (is(TokenKind::LBrace))
    return parseBlock();
  switch (peek().kind) {
  case TokenKind::If:
    return parseIf();
  case TokenKind::While:
    return parseWhile();
  case TokenKind::For:
    return parseFor();
  case TokenKind::Try:
    if (peek(1).kind == TokenKind::LBrace)
      return parseTry();
    return parseSimpleStatement();
  case TokenKind::Def: {
    StmtPtr function = parseFunction({}, "");
    static_cast<Function &>(*function).place = placeOf(function->range);
    return function;
  }
  case TokenKind::Struct:
    fail(DiagId::NestedFunction, here(), {"struct"});
  case TokenKind::Import:
    if (peek(1).kind == TokenKind::String)
      fail(DiagId::NestedFunction, here(), {"import"});
    return parseSimpleStatement();
  default:
    return parseSimpleStatement();
  }
}

/// Whether a name and its parenthesis are a call, of which nothing is assigned: `var(x, 0)`, not `var (a, b) = …`.
bool Parser::isCallAt(size_t name) const {
  size_t behind = name + 1, open = 0;
  do {
    open += tokens.tokens[behind].kind == TokenKind::LParen;
    open -= tokens.tokens[behind].kind == TokenKind::RParen;
  } while (tokens.tokens[behind++].kind != TokenKind::End && open > 0);
  return tokens.tokens[behind - 1].kind != TokenKind::End && tokens.tokens[behind].kind != TokenKind::Equal &&
         tokens.tokens[behind].kind != TokenKind::Colon;
}

/// Statements that end with `;`.
StmtPtr Parser::parseSimpleStatement() {
  if (accept(TokenKind::Semicolon))
    return nullptr;
  SourceRange begin = here();
  TokenKind next = peek(1).kind;
  StmtPtr statement;
  if (is(TokenKind::Var) && !(next == TokenKind::LParen && isCallAt(at)))
    statement = parseVar();
  else if (is(TokenKind::Return))
    statement = parseReturn();
  else if (is(TokenKind::Assert) && next != TokenKind::Equal)
    statement = parseAssert();
  else if (is(TokenKind::Print) && next == TokenKind::LParen)
    statement = parsePrint();
  else if (is(TokenKind::Write) && next == TokenKind::LParen)
    statement = parseWrite();
  else if (accept(TokenKind::Break))
    statement = std::make_unique<Break>(begin);
  else if (accept(TokenKind::Continue))
    statement = std::make_unique<Continue>(begin);
  else if (isNameAt(0) && isNameAt(1) && peek(2).kind == TokenKind::Equal && isTypeName(tokens.spelling(peek())))
    statement = parseStructVar();
  else
    statement = parseExpressionStatement();
  statement->range = since(begin);
  bool ended = endStatement();
  if (statement->kind == NodeKind::ExprStmt)
    static_cast<ExprStmt &>(*statement).silenced = ended || !options.prompt;
  return statement;
}

/// The help where a statement should end, behind a word.
std::string Parser::helpForEnd(std::string_view word) const {
  std::string help = tokens.spelling(peek()).starts_with(".") ? "`t[1]` is an element of a tuple" : helpBehind(word);
  if (help.empty())
    help = helpForOtherSyntax("`;`");
  return help.empty() ? "statements end with `;`" : help;
}

bool Parser::endStatement() {
  if (accept(TokenKind::Semicolon))
    return true;
  if (options.prompt && blocks == 0 && is(TokenKind::End))
    return false;
  SourceRange behind = previous();
  behind.begin = behind.end > behind.begin ? behind.end - 1 : behind.begin;
  TokenKind kind = isNameAt(0) || isReserved(peek().kind) ? TokenKind::Identifier : peek().kind;
  switch (kind) {
  case TokenKind::Identifier:
  case TokenKind::Integer:
  case TokenKind::Float:
  case TokenKind::Imaginary:
  case TokenKind::String:
  case TokenKind::Format:
    if (diagnostics.getSources().get(tokens.buffer).lineOf(here().begin) ==
        diagnostics.getSources().get(tokens.buffer).lineOf(behind.begin))
      fail(DiagId::AdjacentValues, here(), {}, helpForEnd(diagnostics.getSources().text(previous())));
    break;
  case TokenKind::End:
  case TokenKind::RBrace:
    break;
  default:
    if (diagnostics.getSources().get(tokens.buffer).lineOf(here().begin) ==
        diagnostics.getSources().get(tokens.buffer).lineOf(behind.begin))
      fail(DiagId::Expected, here(), {"`;`", got()}, is(TokenKind::LBrace) ? helpForEnd(calledName(tokens, at)) : "");
  }
  // The statement itself is whole: report and go on behind it.
  try {
    fail(DiagId::MissingSemicolon, behind, {fmt::format("`{}`", tokens.spelling(tokens.tokens[at ? at - 1 : 0]))}, "",
         Fix{{behind.buffer, behind.end, behind.end}, ";"});
  } catch (ParseAbort) {
    if (incomplete)
      throw;
  }
  return true;
}

/// block := `{` statement* `}`
BlockPtr Parser::parseBlock() {
  Nesting nesting(*this);
  auto block = std::make_unique<Block>(here());
  SourceRange begin = expect(TokenKind::LBrace);
  ++blocks;
  while (!is(TokenKind::RBrace)) {
    if (is(TokenKind::End))
      fail(DiagId::Expected, here(), {"`}`", got()});
    size_t before = at;
    int depthBefore = depth, blocksBefore = blocks;
    try {
      if (StmtPtr statement = parseStatement())
        block->statements.push_back(std::move(statement));
    } catch (ParseAbort) {
      if (incomplete || is(TokenKind::End) || errors > 20)
        throw;
      depth = depthBefore;
      blocks = blocksBefore;
      if (at == before)
        take();
      synchronize();
    }
  }
  --blocks;
  take();
  block->range = since(begin);
  return block;
}

/// var := `var` (name [`<` sizes `>`] [`:` type] | `(` names `)`) [`=` expression]
StmtPtr Parser::parseVar() {
  SourceRange begin = here();
  take();
  auto var = std::make_unique<Var>(begin);
  if (accept(TokenKind::LParen)) {
    var->isTuple = true;
    do {
      var->nameRanges.emplace_back();
      var->names.push_back(expectName("a name", var->nameRanges.back()));
    } while (accept(TokenKind::Comma) && !is(TokenKind::RParen));
    expect(TokenKind::RParen);
  } else {
    var->nameRanges.emplace_back();
    var->names.push_back(expectName("a name", var->nameRanges.back()));
    SourceRange shapeBegin = here();
    if (is(TokenKind::Less)) {
      var->shape = parseVarShape();
      var->shapeRange = since(shapeBegin);
    }
    if (accept(TokenKind::Colon))
      var->type = parseType();
  }
  // The `>=` of `var a<2>= e` was split by parseVarShape.
  if (!(var->shape && previous().end > previous().begin && tokens.tokens[at - 1].kind == TokenKind::GreaterEqual))
    expect(TokenKind::Equal);
  var->value = parseExpr();
  return var;
}

/// `<2, 3>`: sizes are numbers.
std::vector<int64_t> Parser::parseVarShape() {
  std::vector<int64_t> shape;
  take();
  do {
    if (!is(TokenKind::Integer))
      fail(DiagId::Expected, here(), {"a size", got()});
    std::string_view text = tokens.spelling(peek());
    int64_t size;
    if (std::from_chars(text.data(), text.data() + text.size(), size).ec != std::errc())
      fail(DiagId::BadSizeExpression, here(), {std::string(text)});
    shape.push_back(size);
    take();
  } while (accept(TokenKind::Comma));
  if (!is(TokenKind::GreaterEqual) && !is(TokenKind::Greater))
    fail(DiagId::Expected, here(), {"`,` or `>`", got()});
  take();
  return shape;
}

/// `Type name = { … }`, or any value of the type.
StmtPtr Parser::parseStructVar() {
  auto var = std::make_unique<Var>(here());
  TypeExpr type;
  type.name = expectName("a type", type.range);
  var->type = std::move(type);
  var->nameRanges.emplace_back();
  var->names.push_back(expectName("a name", var->nameRanges.back()));
  expect(TokenKind::Equal);
  auto parseBrace = [&](auto &self) -> ExprPtr {
    Nesting nesting(*this);
    auto brace = std::make_unique<Brace>(here());
    SourceRange begin = expect(TokenKind::LBrace);
    while (!is(TokenKind::RBrace)) {
      brace->elements.push_back(is(TokenKind::LBrace) ? self(self) : parseExpr());
      if (!accept(TokenKind::Comma))
        break;
    }
    expect(TokenKind::RBrace, "`,` or `}`");
    brace->range = since(begin);
    return brace;
  };
  var->value = is(TokenKind::LBrace) ? parseBrace(parseBrace) : parseExpr();
  return var;
}

ExprPtr Parser::parseCondition() {
  ExprPtr condition = parseExpr();
  if (is(TokenKind::Equal))
    fail(DiagId::Expected, here(), {"`{`", got()}, "`==` compares", Fix{here(), "=="});
  return condition;
}

StmtPtr Parser::parseIf() {
  SourceRange begin = here();
  Nesting nesting(*this);
  take();
  auto statement = std::make_unique<If>(begin);
  statement->condition = parseCondition();
  statement->thenBlock = parseBlock();
  if (accept(TokenKind::Else)) {
    if (is(TokenKind::If))
      statement->elseBranch = parseIf();
    else
      statement->elseBranch = parseBlock();
  }
  statement->range = since(begin);
  return statement;
}

StmtPtr Parser::parseWhile() {
  SourceRange begin = here();
  take();
  auto statement = std::make_unique<While>(begin);
  statement->condition = parseCondition();
  statement->body = parseBlock();
  statement->range = since(begin);
  return statement;
}

/// for := `for` (name | `(` names `)`) `in` expression block
StmtPtr Parser::parseFor() {
  SourceRange begin = here();
  take();
  auto statement = std::make_unique<For>(begin);
  statement->isTuple = accept(TokenKind::LParen);
  do {
    statement->nameRanges.emplace_back();
    statement->names.push_back(expectName("the name of the loop variable", statement->nameRanges.back()));
  } while (statement->isTuple && accept(TokenKind::Comma) && !is(TokenKind::RParen));
  if (statement->isTuple && is(TokenKind::Equal))
    fail(DiagId::Expected, here(), {"`in`", got()}, "`for i in range(n) { … }` counts from 0 to n - 1");
  if (statement->isTuple && is(TokenKind::In))
    fail(DiagId::Expected, here(), {"`,` or `)`", got()}, "write `for i in xs { … }`, without parentheses");
  if (statement->isTuple)
    expect(TokenKind::RParen, "`,` or `)`");
  if (!accept(TokenKind::In))
    fail(DiagId::Expected, here(), {"`in`", got()});
  statement->iterable = parseExpr();
  if (is(TokenKind::Colon) && tokens.tokens[at - 1].kind == TokenKind::Integer)
    fail(DiagId::Expected, here(), {"`{`", got()}, "`range(1, 4)` counts 1, 2, 3");
  statement->body = parseBlock();
  statement->range = since(begin);
  return statement;
}

/// try := `try` block `catch` [name] block
StmtPtr Parser::parseTry() {
  SourceRange begin = here();
  Nesting nesting(*this);
  take();
  auto statement = std::make_unique<Try>(begin);
  statement->body = parseBlock();
  if (!accept(TokenKind::Catch))
    fail(DiagId::Expected, here(), {"`catch`", got()});
  if (isNameAt(0))
    statement->name = expectName("a name", statement->nameRange);
  statement->handler = parseBlock();
  statement->range = since(begin);
  return statement;
}

/// tryElse := `try` expr `else` expr
ExprPtr Parser::parseTryElse() {
  auto node = std::make_unique<TryElse>(here());
  take();
  node->value = parseExpr();
  if (!accept(TokenKind::Else))
    fail(DiagId::Expected, here(), {"`else`", got()});
  node->otherwise = parseExpr();
  node->range = since(node->range);
  return node;
}

StmtPtr Parser::parseAssert() {
  auto statement = std::make_unique<Assert>(here());
  take();
  statement->condition = parseExpr();
  if (accept(TokenKind::Comma))
    statement->text = parseExpr();
  return statement;
}

StmtPtr Parser::parsePrint() {
  auto statement = std::make_unique<Print>(here());
  take();
  statement->arguments = parseArguments();
  return statement;
}

StmtPtr Parser::parseWrite() {
  auto statement = std::make_unique<Write>(here());
  take();
  take();
  statement->value = parseExpr();
  expect(TokenKind::RParen);
  return statement;
}

StmtPtr Parser::parseReturn() {
  auto statement = std::make_unique<Return>(here());
  take();
  if (!is(TokenKind::Semicolon) && !is(TokenKind::RBrace) && !is(TokenKind::End))
    statement->value = parseExpr();
  return statement;
}

/// The operator of a compound assignment.
static std::optional<BinaryOp> compoundOp(TokenKind kind) {
  switch (kind) {
  case TokenKind::PlusEqual:
    return BinaryOp::Add;
  case TokenKind::MinusEqual:
    return BinaryOp::Sub;
  case TokenKind::StarEqual:
    return BinaryOp::Mul;
  case TokenKind::SlashEqual:
    return BinaryOp::Div;
  case TokenKind::SlashSlashEqual:
    return BinaryOp::FloorDiv;
  case TokenKind::PercentEqual:
    return BinaryOp::Mod;
  case TokenKind::AtEqual:
    return BinaryOp::MatMul;
  case TokenKind::StarStarEqual:
    return BinaryOp::Pow;
  default:
    return std::nullopt;
  }
}

/// expression [(`=` | `op=`) expression]
StmtPtr Parser::parseExpressionStatement() {
  SourceRange begin = here();
  ExprPtr left = parseExpr();
  auto op = compoundOp(peek().kind);
  if (!op && !is(TokenKind::Equal)) {
    auto statement = std::make_unique<ExprStmt>(since(begin));
    statement->value = std::move(left);
    return statement;
  }
  checkTarget(*left);
  auto statement = std::make_unique<Assign>(begin);
  statement->target = std::move(left);
  statement->op = op;
  statement->opRange = here();
  take();
  statement->value = parseExpr();
  return statement;
}

/// Names, indices and members of them, and (without operator) tuples of them.
void Parser::checkTarget(const Expr &target) {
  const Expr *base = &target;
  while (base->kind == NodeKind::Index || base->kind == NodeKind::Member)
    base = base->kind == NodeKind::Index ? cast<Index>(*base).base.get() : cast<Member>(*base).base.get();
  if (base->kind == NodeKind::Name)
    return;
  if (auto *tuple = dynCast<Tuple>(&target)) {
    for (const ExprPtr &element : tuple->elements)
      checkTarget(*element);
    return;
  }
  const char *what = base->kind == NodeKind::Call ? "the result of a call"
                     : base->kind == NodeKind::Number || base->kind == NodeKind::Bool ||
                             base->kind == NodeKind::String || base->kind == NodeKind::Format
                         ? "a literal"
                         : "an expression";
  auto *call = dynCast<Call>(&target);
  bool isDefinition = call && !call->function && !call->isMember; // `f(x) = x + 1`
  fail(DiagId::NotAssignable, target.range, {what}, isDefinition ? "`def f(x) { return …; }` defines a function" : "");
}

} // namespace toy
