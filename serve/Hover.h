// SPDX-License-Identifier: Apache-2.0
/// \file
/// What an editor shows about the thing under the mouse.
#pragma once

#include "serve/Definitions.h"

namespace toy {

/// What is known about the name, operator or word of a text at an offset, in Markdown, and its range; empty where
/// nothing is. `session` is that of the text's check.
std::string hoverText(const Document &document, Session &session, uint32_t offset, Texts &texts, SourceRange &range);

} // namespace toy
