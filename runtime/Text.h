// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions of text by name: the rows of ir/Text.def.
#pragma once

#include "runtime/Value.h"

#include <optional>
#include <string_view>

namespace toy::rt {

/// Positions and lengths are bytes; what is upper or lower case, and what a blank, is ASCII.
Value callText(std::string_view function, std::span<const Value> arguments);
/// By the number of the row.
Value callText(int64_t row, std::span<const Value> arguments);
std::optional<int64_t> textRowOf(std::string_view function);
/// `s` a string, `l` a list of strings, `b` bytes, `i` an i64, `t` a bool.
std::string_view textParametersOf(int64_t row);

} // namespace toy::rt
