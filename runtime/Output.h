// SPDX-License-Identifier: Apache-2.0
/// \file
/// Standard output of a program, buffered, with errors noticed.
#pragma once

#include <string_view>

namespace toy::rt {

/// Appends to standard output; throws DiagId::OutputFailed when the system refuses.
void output(std::string_view text);
/// Writes out what is buffered.
void flushOutput();

} // namespace toy::rt
