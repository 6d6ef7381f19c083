// SPDX-License-Identifier: Apache-2.0
/// \file
/// What was typed at the prompt, now and in earlier runs.
#pragma once

#include <string>
#include <vector>

namespace toy {

constexpr int historyLimit = 10000;

/// The newest entries, the oldest of them first. A file that has many more is written anew with these.
std::vector<std::string> readHistory();
/// At once, so that sessions side by side do not lose each other's entries.
void appendToHistory(const std::string &entry);

} // namespace toy
