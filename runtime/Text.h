// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions of text by name: the rows of ir/Text.def.
#pragma once

#include "runtime/Value.h"

#include <string_view>

namespace toy::rt {

/// Positions and lengths are bytes; what is upper or lower case, and what a blank, is ASCII.
Value callText(std::string_view function, std::span<const Value> arguments);

} // namespace toy::rt
