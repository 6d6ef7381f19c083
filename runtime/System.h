// SPDX-License-Identifier: Apache-2.0
/// \file
/// The process: the clock of the world, its environment, its input, and its end.
#pragma once

#include <cstdint>
#include <string>

namespace toy::rt {

/// Seconds since 1970 began, UTC.
double secondsNow();
/// A moment in UTC by strftime's format; an error where no calendar has it.
std::string dateText(double seconds, const std::string &format);
/// Waits; Ctrl-C ends it. An error for what is negative or not finite.
void sleepFor(double seconds);
/// A variable of the environment, or `fallback`.
std::string environmentVariable(const std::string &name, const std::string &fallback);
/// The next line of standard input with its newline; "" at the end. What was printed goes out before; Ctrl-C ends it.
std::string readLine();
/// Ends the program with a status from 0 to 255: an error that nobody catches (DiagId::Exited), or one about the code.
[[noreturn]] void exitProgram(int64_t code);

} // namespace toy::rt
