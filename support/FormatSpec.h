// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a field of a format string shows its value: Python's format specification.
#pragma once

#include <string>
#include <string_view>

namespace toy {

/// `[[fill]align][sign][z][#][0][width][,|_][.precision][type]`; `{}` as width or precision is a number that is given
/// with the value.
struct FormatSpec {
  static constexpr int none = -1, given = -2;
  std::string fill = " ";
  char align = 0; ///< one of `< > ^ =`; 0: as values of the kind are
  char sign = 0;  ///< one of `+ - ` and a blank
  bool positiveZero = false;
  bool alternate = false;
  bool zeros = false; ///< the 0 before the width
  int width = none;
  char grouping = 0;
  int precision = none;
  char type = 0;

  static constexpr int largest = 100000; ///< width or precision
};

/// Reads a specification; false with what is wrong.
bool parseFormatSpec(std::string_view text, FormatSpec &spec, std::string &problem);

enum class FormatKind : unsigned char { Text, Integer, Float, Complex };
/// What of a specification values of a kind do not have: "`d` formats integers", "zero fill is not for complex
/// values"; empty if it fits.
std::string misfitOf(const FormatSpec &spec, FormatKind kind);

} // namespace toy
