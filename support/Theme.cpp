// SPDX-License-Identifier: Apache-2.0
/// \file
/// The table of colours. Those of the first 8 that cannot be read on a background are replaced: by the bright ones on
/// dark, by darker ones of the 256 on light.
#include "support/Theme.h"

#include <cstdlib>
#include <iterator>

namespace toy {
namespace {

struct Row {
  Style style;
  const char *dark, *light; ///< parameters of SGR (ECMA-48)
};
constexpr Row rows[] = {
    {Style::Keyword, "1;94", "1;34"},
    {Style::Type, "33", "38;5;94"},
    {Style::Function, "94", "34"},
    {Style::Number, "36", "38;5;30"},
    {Style::Imaginary, "95", "38;5;90"},
    {Style::Text, "32", "38;5;28"},
    {Style::Comment, "2", "2"},
    {Style::Match, "1;7", "1;7"},
    {Style::Strong, "1", "1"},
    {Style::Hint, "2", "2"},
    {Style::Current, "1;4", "1;4"},
    {Style::Error, "1;91", "1;31"},
    {Style::Warning, "1;33", "1;38;5;94"},
    {Style::Remark, "1;36", "1;38;5;30"},
    {Style::Help, "1;32", "1;38;5;28"},
    {Style::Margin, "94", "34"},
};
static_assert([] {
  for (size_t i = 0; i < std::size(rows); ++i)
    if (rows[i].style != static_cast<Style>(i))
      return false;
  return std::size(rows) == static_cast<size_t>(Style::Margin) + 1;
}());

Theme &current() {
  static Theme theme = [] {
    const char *colors = std::getenv("COLORFGBG");
    return themeFor(colors ? colors : "");
  }();
  return theme;
}

} // namespace

Theme theme() { return current(); }
void setTheme(Theme theme) { current() = theme; }

Theme themeFor(std::string_view colorfgbg) {
  std::string_view background = colorfgbg.substr(colorfgbg.rfind(';') + 1);
  bool isNumber = !background.empty() && background.size() < 3 &&
                  background.find_first_not_of("0123456789") == background.npos && colorfgbg != background;
  int color = isNumber ? std::atoi(std::string(background).c_str()) : 0;
  return color == 7 || (color >= 9 && color <= 15) ? Theme::Light : Theme::Dark;
}

std::string startOf(Style style) {
  const Row &row = rows[static_cast<size_t>(style)];
  return theme() == Theme::None ? "" : std::string("\x1b[") + (theme() == Theme::Dark ? row.dark : row.light) + "m";
}

std::string painted(Style style, std::string_view text) {
  return theme() == Theme::None ? std::string(text) : startOf(style) + std::string(text) + "\x1b[0m";
}

} // namespace toy
