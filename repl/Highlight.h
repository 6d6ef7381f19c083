// SPDX-License-Identifier: Apache-2.0
/// \file
/// Colours of source text.
#pragma once

#include <string>
#include <string_view>

namespace toy {
class Session;

/// The text with ANSI colours: keywords, functions, numbers, strings, comments; the bracket that matches the one at
/// `cursor` is marked. Removing the escape sequences gives the text back.
std::string highlighted(std::string_view text, size_t cursor, Session &session);

} // namespace toy
