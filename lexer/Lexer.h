// SPDX-License-Identifier: Apache-2.0
/// \file
/// Text to tokens.
#pragma once

#include "support/Diagnostics.h"

#include <map>
#include <memory>

namespace toy {

enum class TokenKind : uint8_t {
#define TOY_TOKEN(NAME, TEXT) NAME,
#define TOY_PUNCTUATION(NAME, TEXT) NAME,
#define TOY_KEYWORD(NAME, TEXT) NAME,
#define TOY_CONTEXTUAL(NAME, TEXT) NAME,
#include "lexer/Tokens.def"
};
std::string_view nameOf(TokenKind kind);
/// How messages call a token: "`;`", "a name".
std::string describe(TokenKind kind);
/// Identifiers and the keywords that are names where their place in the grammar is not.
bool isName(TokenKind kind);
/// Words that nothing can be called.
bool isReserved(TokenKind kind);
/// The spellings of all keywords, for colours and completion.
const std::vector<std::string_view> &keywords();

struct Token {
  TokenKind kind;
  uint32_t begin, end;
};

/// A part of a format string: text, or a field with the tokens of its expression and its format.
struct FormatPart {
  uint32_t begin, end;            ///< of a field with its braces
  std::vector<Token> tokens = {}; ///< ended by an End token where the expression ends; of text empty
  uint32_t labelEnd = 0;          ///< of `{e=}`: behind the `=` and blanks; else 0
  uint32_t specBegin = 0;         ///< behind the `:`; 0 without one
  std::vector<FormatPart> spec = {};
};
using FormatStrings = std::map<uint32_t, std::vector<FormatPart>>; ///< by where their tokens begin

/// The tokens of one buffer, ended by an End token. Comments are dropped, except `##` lines.
struct TokenBuffer {
  BufferId buffer;
  std::string_view text;
  std::vector<Token> tokens;
  std::shared_ptr<FormatStrings> formats = std::make_shared<FormatStrings>();

  std::string_view spelling(const Token &token) const { return text.substr(token.begin, token.end - token.begin); }
  /// The name that an identifier spells: equivalent spellings give the same one (Unicode's normalization form C).
  std::string name(const Token &token) const;
  SourceRange range(const Token &token) const { return {buffer, token.begin, token.end}; }
};

/// Splits a buffer into tokens in linear time. Malformed characters, numbers and strings are reported and skipped.
TokenBuffer lex(BufferId buffer, DiagnosticEngine &diagnostics);

/// One token a line: position, kind, text (`--emit=tokens`).
std::string print(const TokenBuffer &tokens, const SourceManager &sources);

/// The text of a string token without quotes and escapes.
std::string unescape(std::string_view token);
/// The text between two fields of a format string: without escapes, doubled braces being one.
std::string unescapeFormat(std::string_view text);

} // namespace toy
