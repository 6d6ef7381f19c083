// SPDX-License-Identifier: Apache-2.0
/// \file
/// Other programs, started without a shell.
#pragma once

#include <string>
#include <vector>

namespace toy {

/// The words of a command as a shell separates them: by blanks, with quotes and backslashes; nothing is expanded.
std::vector<std::string> commandWords(const std::string &command);
/// Runs a program, found in $PATH, to its end, meanwhile Ctrl-C is its own. Its exit status, 127 where there is no such
/// program, 128 and the number of a signal that ended it. Descriptors that are given become its standard input and
/// output.
int runProgram(const std::vector<std::string> &words, int input = -1, int output = -1);
/// The output of a program that reads a text and succeeds; else false.
bool filterText(const std::vector<std::string> &words, const std::string &text, std::string &output);

} // namespace toy
