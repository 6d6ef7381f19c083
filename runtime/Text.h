// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions of text by name: the rows of ir/Text.def. Positions and lengths are bytes; what is upper or lower case,
/// and what a blank, is ASCII.
#pragma once

#include "runtime/Value.h"

#include <string_view>

namespace toy::rt {

Value callText(std::string_view function, std::span<const Value> arguments);
/// By the number of the row, of functions that are not about the world: a text or a list, and those that give a number.
/// Objects are borrowed.
Value textOf(int64_t row, void *const *objects);
int64_t numberOfText(int64_t row, void *const *objects);

} // namespace toy::rt
