// SPDX-License-Identifier: Apache-2.0
#include "repl/StringTexts.h"

#include <algorithm>

namespace toy {

/// The end of a string literal that begins at `at`.
static size_t stringEnd(std::string_view text, size_t at) {
  for (size_t i = at + 1; i < text.size(); ++i)
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i + 1;
    else if (text[i] == '\n')
      return i;
  return text.size();
}

size_t StringTexts::endAt(size_t begin) const {
  auto row = std::lower_bound(found.begin(), found.end(), std::pair(begin, size_t(0)));
  return row != found.end() && row->first == begin ? row->second : 0;
}

/// Up to the end, or, in a field, to the brace that ends it or the colon before its format.
size_t StringTexts::code(size_t i, bool isField) {
  for (int depth = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isField && (c == '\n' || (depth == 0 && (c == '}' || c == ':'))))
      return i;
    depth += c == '(' || c == '[' || c == '{';
    depth -= c == ')' || c == ']' || c == '}';
    if (c == '#' && !isField)
      i = std::min(text.find('\n', i), text.size());
    else if (c == '"' && isFormat(i))
      i = format(i) - 1;
    else if (c == '"') {
      size_t end = stringEnd(text, i);
      add(i, end, end > i + 1 && text[end - 1] == '"');
      i = end - 1;
    }
  }
  return text.size();
}

void StringTexts::add(size_t begin, size_t end, bool closed) {
  if (end > begin)
    found.emplace_back(begin, end);
  if (!closed)
    unfinished = begin + 1;
}

/// A format string; its text includes the formats of its fields.
size_t StringTexts::format(size_t i) {
  size_t begin = i++;
  bool inSpec = false;
  for (; i < text.size() && text[i] != '\n' && text[i] != '"'; ++i) {
    if (text[i] == '\\')
      ++i;
    else if (inSpec && text[i] == '}')
      inSpec = false;
    else if (!inSpec && text[i] == '{' && text.substr(i + 1, 1) == "{")
      ++i;
    else if (text[i] == '{') {
      found.emplace_back(begin, i);
      size_t expression = i + 1;
      i = code(expression, true);
      if (i == text.size()) { // the field has no end
        field = field ? field : expression;
        return i;
      }
      inSpec |= text.substr(i, 1) == ":";
      begin = i + 1;
    }
  }
  i = std::min(i, text.size());
  bool closed = i < text.size() && text[i] == '"';
  add(std::min(begin, i), i + closed, closed);
  return i + closed;
}

} // namespace toy
