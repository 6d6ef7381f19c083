// SPDX-License-Identifier: Apache-2.0
/// \file
/// The colours of everything that is written to terminals: source, messages, hints and help.
#pragma once

#include <string>
#include <string_view>

namespace toy {

/// For terminals with a dark or a light background; `None` has no colours.
enum class Theme { Dark, Light, None };
constexpr std::string_view themeNames[] = {"dark", "light", "none"};

enum class Style {
  Keyword,
  Type,
  Function,
  Number,
  Imaginary,
  Text,
  Comment,
  Match,   ///< the brackets around the cursor
  Strong,  ///< prompts and headings
  Hint,    ///< what was not typed
  Current, ///< the parameter that is being typed, among hints
  Error,
  Warning,
  Remark,
  Help,
  Margin, ///< beside the source in a message
};

/// The theme in use; at first the one that fits what COLORFGBG says about the background, else `Dark`.
Theme theme();
void setTheme(Theme theme);
/// The theme for a value of COLORFGBG, `foreground;background` in numbers of the 16 colours.
Theme themeFor(std::string_view colorfgbg);
/// A text between the codes of its style and the one that ends them all.
std::string painted(Style style, std::string_view text);
/// The code that begins a style; empty without colours.
std::string startOf(Style style);

} // namespace toy
