// SPDX-License-Identifier: Apache-2.0
/// \file
/// The text of the library that is written in the language.
#pragma once

#include <string_view>

namespace toy {

/// The files of lib/toy, one behind the other.
std::string_view libraryText();
/// The group of built-in functions to which the one at an offset of the text belongs.
const char *libraryGroup(size_t offset);

} // namespace toy
