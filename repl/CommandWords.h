// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the handlers of commands share: words of their arguments, refusals, sizes.
#pragma once

#include "support/Diagnostics.h"

#include <string>
#include <utility>

namespace toy {
class Session;

std::string trimmed(const std::string &text);
/// The first word and, without blanks around it, the rest.
std::pair<std::string, std::string> firstWord(const std::string &text);
/// Shows an error; gives false.
bool refuse(Session &session, DiagId id, std::vector<std::string> args);
/// `1.5 MFLOP`
std::string magnitude(double x, const char *unit);

} // namespace toy
