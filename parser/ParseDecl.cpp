// SPDX-License-Identifier: Apache-2.0
/// \file
/// Declarations: functions, extern functions, structs, imports, attributes.
#include "parser/ParserImpl.h"

#include <algorithm>
#include <fmt/format.h>

namespace toy {

using namespace ast;

/// item := doc* attribute* (function | extern | struct | import | statement)
StmtPtr Parser::parseItem() {
  std::string doc;
  std::vector<Attribute> attributes;
  SourceRange first = here();
  while (is(TokenKind::DocComment) || is(TokenKind::At)) {
    if (is(TokenKind::At)) {
      attributes.push_back(parseAttribute());
      continue;
    }
    std::string_view line = tokens.spelling(take()).substr(2);
    if (line.starts_with(' '))
      line.remove_prefix(1);
    doc += (doc.empty() ? "" : "\n") + std::string(line);
  }
  if (is(TokenKind::Def))
    return parseFunction(std::move(attributes), std::move(doc));
  if (is(TokenKind::Extern) && peek(1).kind == TokenKind::Def)
    return parseExtern(std::move(doc));
  if (!attributes.empty())
    fail(DiagId::AttributeWithoutFunction, attributes.front().range);
  if (is(TokenKind::End)) {
    if (!doc.empty() && options.prompt)
      fail(DiagId::Expected, first, {"a function below its docstring", got()});
    return nullptr;
  }
  if (is(TokenKind::Struct))
    return parseStruct();
  if (is(TokenKind::Import) && peek(1).kind == TokenKind::String)
    return parseImport();
  if (isNameAt(1) && (is(TokenKind::Import) ? peek(2).kind != TokenKind::Equal
                                            : is(TokenKind::From) && peek(2).kind == TokenKind::Import))
    refuseImport();
  return parseStatement();
}

/// attribute := `@` name [ `(` expressions `)` ]
Attribute Parser::parseAttribute() {
  Attribute attribute;
  SourceRange begin = expect(TokenKind::At);
  attribute.name = expectName("the name of an attribute", attribute.range);
  static constexpr std::string_view known[] = {"dynamic", "static", "buckets", "positions"};
  if (std::find(std::begin(known), std::end(known), attribute.name) == std::end(known))
    fail(DiagId::UnknownAttribute, attribute.range, {attribute.name});
  if (accept(TokenKind::LParen)) {
    while (!is(TokenKind::RParen)) {
      attribute.arguments.push_back(parseExpr());
      if (!accept(TokenKind::Comma))
        break;
    }
    expect(TokenKind::RParen);
  }
  attribute.range = since(begin);
  return attribute;
}

/// function := `def` name signature block
StmtPtr Parser::parseFunction(std::vector<Attribute> attributes, std::string doc) {
  SourceRange begin = here();
  take();
  auto function = std::make_unique<Function>(begin);
  function->attributes = std::move(attributes);
  function->doc = std::move(doc);
  function->nameRange = here(); // `var` is the variance, and a function that replaces it
  function->name = accept(TokenKind::Var) ? "var" : expectName("the name of the function", function->nameRange);
  parseSignature(*function);
  ++blocks;
  function->body = parseBlock();
  --blocks;
  function->range = since(begin);
  return function;
}

/// extern := `extern def` name signature [`from` string] [`symbol` string] `;`
StmtPtr Parser::parseExtern(std::string doc) {
  SourceRange begin = here();
  take();
  take();
  auto function = std::make_unique<Function>(begin);
  function->doc = std::move(doc);
  function->name = expectName("the name of the function", function->nameRange);
  parseSignature(*function);
  for (auto [word, target] :
       {std::pair{TokenKind::From, &function->sharedObject}, std::pair{TokenKind::Symbol, &function->symbol}})
    if (accept(word)) {
      if (!is(TokenKind::String))
        fail(DiagId::Expected, here(), {"a string", got()});
      *target = unescape(tokens.spelling(take()));
    }
  endStatement();
  function->range = since(begin);
  return function;
}

/// `@file.toy:6:36`; texts that are no files have no name.
std::string Parser::placeOf(SourceRange range) const {
  const SourceBuffer &buffer = diagnostics.getSources().get(range.buffer);
  const std::string &path = buffer.getName();
  std::string file = path.starts_with('<') ? "" : path.substr(path.find_last_of('/') + 1) + ":";
  return fmt::format("@{}{}:{}", file, buffer.lineOf(range.begin), buffer.columnOf(range.begin));
}

/// parameters := `(` [parameter (`,` parameter)*] `)`
void Parser::parseParameters(Function &function) {
  expect(TokenKind::LParen);
  while (!is(TokenKind::RParen)) {
    function.parameters.push_back(parseParameter());
    if (!accept(TokenKind::Comma))
      break;
  }
  expect(TokenKind::RParen, "`,` or `)`");
  checkParameters(function.parameters);
}

/// signature := parameters [`->` type] [`where` condition (`,` condition)*]
void Parser::parseSignature(Function &function) {
  parseParameters(function);
  if (accept(TokenKind::Arrow))
    function.result = parseType();
  if (accept(TokenKind::Where))
    do
      function.where.push_back(parseExpr());
    while (accept(TokenKind::Comma));
}

/// parameter := name [`:` type] [`=` expression] | Struct name
Parameter Parser::parseParameter() {
  Parameter parameter;
  if (isNameAt(0) && isNameAt(1)) {
    TypeExpr type;
    type.name = expectName("a type", type.range);
    parameter.type = std::move(type);
  }
  parameter.name = expectName("the name of a parameter", parameter.range);
  if (!parameter.type && accept(TokenKind::Colon))
    parameter.type = parseType();
  if (accept(TokenKind::Equal))
    parameter.defaultValue = parseExpr();
  return parameter;
}

void Parser::checkParameters(const std::vector<Parameter> &parameters) {
  std::set<std::string> seen;
  bool defaults = false;
  for (const Parameter &parameter : parameters) {
    if (!seen.insert(parameter.name).second)
      fail(DiagId::DuplicateParameter, parameter.range, {parameter.name});
    if (defaults && !parameter.defaultValue)
      fail(DiagId::DefaultBeforeRequired, parameter.range, {parameter.name});
    defaults |= parameter.defaultValue != nullptr;
  }
}

/// struct := `struct` name `{` (member `;`)* (member `=` expression `;`)* `}`
/// member := `var` name [`:` type] | Struct name [`:` type]
StmtPtr Parser::parseStruct() {
  SourceRange begin = here();
  take();
  auto decl = std::make_unique<Struct>(begin);
  decl->name = expectName("the name of the struct", decl->nameRange);
  expect(TokenKind::LBrace);
  while (!is(TokenKind::RBrace)) {
    Parameter member;
    if (!accept(TokenKind::Var)) {
      TypeExpr type;
      type.name = expectName("`var` or a type", type.range);
      member.type = std::move(type);
    }
    member.name = expectName("the name of a member", member.range);
    for (const Parameter &other : decl->members)
      if (other.name == member.name)
        fail(DiagId::DuplicateMember, member.range, {member.name});
    if (accept(TokenKind::Colon))
      member.type = parseType();
    if (accept(TokenKind::Equal))
      member.defaultValue = parseExpr();
    else if (!decl->members.empty() && decl->members.back().defaultValue)
      fail(DiagId::DefaultBeforeRequired, member.range, {member.name});
    expect(TokenKind::Semicolon);
    decl->members.push_back(std::move(member));
  }
  expect(TokenKind::RBrace);
  accept(TokenKind::Semicolon);
  decl->range = since(begin);
  return decl;
}

/// `import numpy as np`, `from x import y`: what people bring from Python.
void Parser::refuseImport() {
  static constexpr std::string_view libraries[] = {"numpy", "scipy", "torch", "jax", "math", "cmath", "random", "time"};
  std::string name(tokens.spelling(peek(1)));
  bool isImport = is(TokenKind::Import), isLibrary = false;
  for (std::string_view library : libraries)
    isLibrary |= name == library;
  std::string alias = isImport && peek(2).kind == TokenKind::As && isNameAt(3) ? std::string(tokens.spelling(peek(3)))
                      : isImport                                               ? std::string()
                                                                               : name;
  fail(DiagId::ImportWithoutPath, tokens.range(peek(1)), {},
       isLibrary ? "nothing has to be imported: functions stand without a module, as `zeros(3)` and `sqrt(x)`"
                 : "write `import \"" + name + ".toy\"" + (alias.empty() ? "" : " as " + alias) + ";`");
}

/// import := `import` string [`as` name] `;`
StmtPtr Parser::parseImport() {
  SourceRange begin = here();
  take();
  auto import = std::make_unique<Import>(begin);
  import->pathRange = here();
  import->path = unescape(tokens.spelling(take()));
  if (accept(TokenKind::As)) {
    SourceRange range;
    import->alias = expectName("the name of the module", range);
  }
  endStatement();
  import->range = since(begin);
  return import;
}

} // namespace toy
