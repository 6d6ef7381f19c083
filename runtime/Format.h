// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values as text, the same everywhere.
#pragma once

#include "runtime/Value.h"
#include "support/FormatSpec.h"

#include <complex>

namespace toy::rt {

struct PrintOptions {
  int precision = 6;        ///< significant digits of tensor elements; 0: shortest round-trip digits, every element
  int64_t threshold = 1000; ///< more elements are summarised
  int64_t edge = 3;         ///< elements shown at each end of a summarised axis
  int64_t width = 80;       ///< columns before a row is wrapped
  int64_t height = 0;       ///< rows that a tensor may take; 0: any number
  int64_t screenWidth = 0;  ///< of the terminal: what the prompt echoes has this width and height
  int64_t screenHeight = 0; ///< 0: no terminal, or the width was set
  bool polar = false;       ///< complex numbers as modulus∠angle, in degrees
  bool color = false;       ///< what `show` draws may hold escape codes
  bool header = false;      ///< the prompt's echo shows a type line first
  bool scalars = false;     ///< scalars have the precision, too
  bool full() const { return precision == 0; }
};
PrintOptions &printOptions();

/// Shortest digits that read back to the same bits of their dtype: `3.0`, `-0.0`, `0.1`, `1e+20`.
void appendFloat(std::string &out, double value, bool single);
/// The element at an address.
void appendElement(std::string &out, DType dtype, const void *element, bool full);

/// The element at an address as `print` shows a scalar.
void appendScalar(std::string &out, DType dtype, const void *element, const PrintOptions &options = printOptions());

/// The parts of a floating element, and the value of another one.
std::complex<double> partsOf(DType dtype, const void *element);
int64_t integerOf(DType dtype, const void *element);

/// A value as `print` shows it.
std::string format(const Value &value, const PrintOptions &options = printOptions());
/// The same in the width and height of the options, parts of several lines on lines of their own.
std::string formatEcho(const Value &value, const PrintOptions &options);
/// With a specification its elements are formatted by that, and aligned.
std::string format(const Tensor &tensor, const PrintOptions &options = printOptions(),
                   const FormatSpec *spec = nullptr);
/// A text as the program writes it, between quotes.
std::string quoted(std::string_view text);
/// `c128[2, 3]`, `f64`, `str`, `(f64, i64[3])`, `Pair`.
std::string typeName(const Value &value);

} // namespace toy::rt
