// SPDX-License-Identifier: Apache-2.0
/// \file
/// The text of the library that is written in the language.
#pragma once

#include <string_view>

namespace toy {

/// The files of lib/toy, one behind the other.
std::string_view libraryText();

} // namespace toy
