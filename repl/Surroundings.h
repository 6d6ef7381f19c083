// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a place in a text that is being typed is inside of, by the tokens before it: brackets, a call, a block with
/// names of its own.
#pragma once

#include "lexer/Lexer.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace toy {

class Surroundings {
public:
  /// `before` is the text up to the place.
  explicit Surroundings(std::string_view before);
  Surroundings(const Surroundings &) = delete;
  Surroundings &operator=(const Surroundings &) = delete;

  /// A call whose arguments are being typed.
  struct Call {
    std::string callee;             ///< `f`, or of a member the name behind the dot
    std::string base;               ///< the text before that dot; else empty
    size_t values = 0;              ///< arguments without a name before the current one
    std::vector<std::string> named; ///< names of the arguments before the current one
    std::string current;            ///< the name of the current argument, if it has one
    bool begins = false;            ///< nothing but a word of the current argument is there
  };
  /// The innermost call, also around other brackets.
  std::optional<Call> call() const;
  /// How many lines hold brackets that are open here, without the innermost `closing` of them.
  size_t openLines(size_t closing = 0) const;
  bool isInComment() const { return inComment; }
  /// Names that blocks around the place declare, and parameters of the functions around it.
  std::vector<std::string> locals() const;
  /// Whether one of some names is among the tokens.
  bool mentions(const std::vector<std::string> &names) const;
  /// The expression before the dot in front of the last `word` bytes: `f(x)` of `1 + f(x).sh`; else empty.
  std::string baseOf(size_t word) const;

private:
  size_t beginOfOperand(size_t last) const;

  SourceManager sources;
  DiagnosticEngine quiet{sources};
  TokenBuffer tokens;          ///< without the End token
  std::vector<size_t> open;    ///< tokens that are brackets without a partner, the outermost first
  std::vector<size_t> partner; ///< of closing brackets: the opening one
  bool inComment = false;
  uint32_t end = 0;
};

} // namespace toy
