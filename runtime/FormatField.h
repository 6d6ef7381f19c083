// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements and values under a format specification.
#pragma once

#include "runtime/Value.h"
#include "support/FormatSpec.h"

namespace toy::rt {

/// The element at an address. Width and precision are numbers, and the specification fits the dtype.
std::string formatElement(const FormatSpec &spec, DType dtype, const void *element);
/// A text, cut to the precision and padded to the width.
std::string formatText(const FormatSpec &spec, std::string_view text);
/// Fills up to the width; `align` is what an alignment that is not given means.
std::string padded(const FormatSpec &spec, std::string text, char align);

/// A field of a format string: the value and the numbers for `{}` in its specification. Of an empty one it is the text
/// that `print` shows, of `"` the same with quotes around a string, of `print {}` the digits of `str`.
std::string formatField(const Value &value, std::string_view spec, std::span<const int64_t> numbers);

} // namespace toy::rt
