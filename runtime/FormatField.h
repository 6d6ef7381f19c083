// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements and values under a format specification.
#pragma once

#include "runtime/Value.h"
#include "support/FormatSpec.h"

namespace toy::rt {

/// The element at an address. Width and precision are numbers, and the specification fits the dtype.
void appendElement(std::string &out, const FormatSpec &spec, DType dtype, const void *element);
std::string formatElement(const FormatSpec &spec, DType dtype, const void *element);
/// A text, cut to the precision and padded to the width.
std::string formatText(const FormatSpec &spec, std::string_view text);
/// Fills up to the width; `align` is what an alignment that is not given means.
std::string padded(const FormatSpec &spec, std::string text, char align);

/// A field of a format string: the value and the numbers for `{}` in its specification. Of an empty one it is the text
/// that `print` shows, of `"` the same with quotes around a string, of `print {}` the digits of `str`.
std::string formatField(const Value &value, std::string_view spec, std::span<const int64_t> numbers);

/// A format string as compiled code holds it: a row of bytes, read once from front to back.
class FormatPlan {
public:
  enum Kind : char { End, Scalar, Text, Tensor };
  void piece(std::string_view text);
  /// False for what it has no form for.
  bool field(Kind kind, DType dtype, std::string_view spec);
  std::string finish();
  /// The text, of an element's bytes, an object or a number in every second word.
  static std::string run(const char *plan, const int64_t *words);

private:
  std::string bytes;
};

} // namespace toy::rt
