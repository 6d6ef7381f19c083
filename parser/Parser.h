// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tokens to a syntax tree.
#pragma once

#include "ast/AST.h"
#include "lexer/Lexer.h"

namespace toy {

enum class ParseStatus : uint8_t {
  Complete,
  Incomplete, ///< the input ends inside an open construct: more text may complete it
  Wrong,      ///< errors were reported
};

struct ParseOptions {
  bool prompt = false; ///< input of the REPL: the last `;` may be left out, and that expression is echoed
};

struct ParseResult {
  ast::Module module;
  ParseStatus status;
};

/// Parses a whole buffer. Errors are reported and parsing goes on behind the next `;` or `}`, so that several are
/// found. An incomplete input reports an error as well; the REPL drops it and asks for more.
ParseResult parse(const TokenBuffer &tokens, DiagnosticEngine &diagnostics, ParseOptions options = {});

} // namespace toy
