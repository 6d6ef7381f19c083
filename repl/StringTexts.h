// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which parts of a text that is being typed are text of strings. The lexer has no tokens for strings without an end.
#pragma once

#include <cctype>
#include <string_view>
#include <vector>

namespace toy {

inline bool isWordStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80); }
inline bool isWord(char c) { return isWordStart(c) || std::isdigit(static_cast<unsigned char>(c)); }

/// The texts of strings: whole strings, and what is around the fields of format strings.
class StringTexts {
public:
  explicit StringTexts(std::string_view text) : text(text) { code(0, false); }
  std::vector<std::pair<size_t, size_t>> found;
  size_t unfinished = std::string_view::npos; ///< where the text of a string begins that does not end
  size_t field = 0;                           ///< where the innermost field begins that does not end; else 0

  /// The end of the text that begins at a position, or 0.
  size_t endAt(size_t begin) const;

private:
  size_t code(size_t i, bool isField);
  bool isFormat(size_t quote) const {
    return quote > 0 && text[quote - 1] == 'f' && (quote < 2 || !isWord(text[quote - 2]));
  }
  void add(size_t begin, size_t end, bool closed);
  size_t format(size_t i);

  std::string_view text;
};

} // namespace toy
