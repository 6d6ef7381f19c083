// SPDX-License-Identifier: Apache-2.0
/// \file
/// The interactive loop.
#pragma once

#include <string>
#include <vector>

namespace toy {

class Session;

/// Reads, runs and prints until the end of the input; the exit status.
int runPrompt(Session &session);
/// What can be completed: names, functions, keywords, commands.
std::vector<std::string> completions(Session &session);

} // namespace toy
