// SPDX-License-Identifier: Apache-2.0
/// \file
/// Colours of source text, widths on a terminal, completions and hints: what the editor shows while a line is typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace toy {
class Session;

/// The text with ANSI colours: keywords, functions, numbers, strings, comments; the bracket that matches the one at
/// `cursor` is marked. Removing the escape sequences gives the text back.
std::string highlighted(std::string_view text, size_t cursor, Session &session);

struct Completion {
  std::string text;   ///< what takes the word's place
  std::string detail; ///< a signature or type
};
/// What can stand at `end` of `text` in place of the word that begins at `begin` (set here).
std::vector<Completion> completionsAt(std::string_view text, size_t end, Session &session, size_t &begin);
/// What is shown in grey behind the cursor: the parameters of the function whose call is being typed, or the rest of
/// the only completion.
std::string hintFor(std::string_view text, Session &session);

} // namespace toy
