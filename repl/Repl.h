// SPDX-License-Identifier: Apache-2.0
/// \file
/// The interactive prompt, and texts that are read as if they were typed at it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace toy {
class Session;

/// Reads and runs inputs until the end of input or `:quit`; the exit status. With `init`, ~/.config/toy/init.toy runs
/// first.
int runPrompt(Session &session, bool color, bool init);
/// Splits a text of lines into inputs, each as long as the parser asks for more; the last one may be unfinished.
std::vector<std::string> inputsOf(Session &session, const std::string &text, bool &unfinished);
/// A session copied from a terminal: without prompts, and without the lines that are no input; other texts stay as they
/// are.
std::string withoutPrompts(const std::string &text);

} // namespace toy
