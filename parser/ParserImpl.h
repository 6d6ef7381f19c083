// SPDX-License-Identifier: Apache-2.0
/// \file
/// The recursive-descent parser's state, shared by the files that parse one kind of construct each.
#pragma once

#include "parser/Parser.h"

#include <set>

namespace toy {

/// Thrown after an error was reported; caught where parsing can go on.
struct ParseAbort {};

class Parser {
public:
  Parser(const TokenBuffer &tokens, DiagnosticEngine &diagnostics, ParseOptions options)
      : tokens(tokens), diagnostics(diagnostics), options(options) {}

  ParseResult run();

private:
  // Parser.cpp: tokens and errors
  const Token &peek(size_t ahead = 0) const { return tokens.tokens[std::min(at + ahead, tokens.tokens.size() - 1)]; }
  bool is(TokenKind kind) const { return peek().kind == kind; }
  bool isNameAt(size_t ahead) const { return isName(peek(ahead).kind); }
  const Token &take() { return tokens.tokens[at < tokens.tokens.size() - 1 ? at++ : at]; }
  bool accept(TokenKind kind) { return is(kind) && (take(), true); }
  SourceRange expect(TokenKind kind, const char *what = nullptr);
  std::string expectName(const char *what, SourceRange &range);
  SourceRange here() const { return tokens.range(peek()); }
  /// The token before the next one.
  SourceRange previous() const { return at ? tokens.range(tokens.tokens[at - 1]) : here(); }
  SourceRange since(SourceRange begin) const { return begin.to(previous()); }
  std::string got() const;
  /// What somebody may have meant who comes from another language, by the tokens around; "" if nothing is known.
  std::string helpForOtherSyntax(std::string_view expected) const;
  [[noreturn]] void fail(DiagId id, SourceRange range, std::vector<std::string> args = {}, std::string help = {},
                         std::optional<Fix> fix = {});
  void synchronize();
  void findLambdas();

  /// Counts open constructs; more than 1000 are an error.
  class Nesting {
  public:
    explicit Nesting(Parser &parser);
    ~Nesting() { --parser.depth; }

  private:
    Parser &parser;
  };

  // ParseDecl.cpp
  ast::StmtPtr parseItem();
  ast::StmtPtr parseFunction(std::vector<ast::Attribute> attributes, std::string doc);
  ast::StmtPtr parseExtern(std::string doc);
  void parseSignature(ast::Function &function);
  void parseParameters(ast::Function &function);
  std::string placeOf(SourceRange range) const;
  ast::Parameter parseParameter();
  void checkParameters(const std::vector<ast::Parameter> &parameters);
  ast::StmtPtr parseStruct();
  ast::StmtPtr parseImport();
  [[noreturn]] void refuseImport();
  ast::Attribute parseAttribute();

  // ParseStmt.cpp
  ast::StmtPtr parseStatement();
  ast::StmtPtr parseSimpleStatement();
  ast::BlockPtr parseBlock();
  ast::StmtPtr parseVar();
  ast::StmtPtr parseStructVar();
  ast::ExprPtr parseCondition();
  bool isCallAt(size_t name) const;
  ast::StmtPtr parseIf();
  ast::StmtPtr parseWhile();
  ast::StmtPtr parseFor();
  ast::StmtPtr parseTry();
  ast::StmtPtr parseAssert();
  ast::StmtPtr parsePrint();
  ast::StmtPtr parseWrite();
  ast::StmtPtr parseReturn();
  ast::StmtPtr parseExpressionStatement();
  std::vector<int64_t> parseVarShape();
  void checkTarget(const ast::Expr &target);
  /// The `;` behind a statement; true if it was there (at the prompt the last one may be missing).
  bool endStatement();
  std::string helpForEnd(std::string_view word) const;

  // ParseExpr.cpp
  ast::ExprPtr parseExpr();
  bool beginsLambda() const;
  ast::ExprPtr parseLambda();
  ast::ExprPtr parseTryElse();
  ast::ExprPtr parseOr();
  ast::ExprPtr parseAnd();
  ast::ExprPtr parseNot();
  ast::ExprPtr parseComparison();
  ast::ExprPtr parseAdditive();
  ast::ExprPtr parseMultiplicative();
  ast::ExprPtr parseUnary();
  ast::ExprPtr parsePower();
  ast::ExprPtr parsePostfix();
  ast::ExprPtr parsePrimary();
  ast::ExprPtr parseNumber();
  ast::ExprPtr parseFormat();
  ast::Format::Part formatPart(const FormatPart &part, bool inSpec);
  ast::ExprPtr parseParenthesized();
  ast::ExprPtr parseMember(ast::ExprPtr base);
  ast::ExprPtr parseIndex(ast::ExprPtr base);
  ast::Subscript parseSubscript();
  std::vector<ast::Argument> parseArguments();
  void chain(ast::ExprPtr &left, ast::BinaryOp op, SourceRange opRange, ast::ExprPtr right);
  bool foldComplex(ast::ExprPtr &left, ast::BinaryOp op, const ast::Expr &right);

  // ParseBracket.cpp
  ast::ExprPtr parseBracket();
  bool isPlainBracket(size_t start) const;
  std::unique_ptr<ast::Bracket> parseCompactBracket();
  bool parseCompactLevel(ast::Bracket &bracket, size_t level);
  bool parseCompactNumber(ast::Bracket &bracket);

  // ParseType.cpp
  ast::TypeExpr parseType();
  void parseSizes(ast::TypeExpr &type);
  void checkSize(const ast::Expr &expr);
  void checkElement(const ast::TypeExpr &type);

  const TokenBuffer &tokens;
  DiagnosticEngine &diagnostics;
  ParseOptions options;
  size_t at = 0;
  size_t compactStart = 0;           ///< of the outermost bracket of numbers
  size_t argumentStart = ~size_t(0); ///< of the latest argument of a call, which may be a list of operands
  int depth = 0;
  int blocks = 0;
  size_t errors = 0;
  bool incomplete = false;
  std::set<size_t> lambdas; ///< the tokens `(` with `=>` behind their `)`
};

} // namespace toy
