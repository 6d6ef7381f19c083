// SPDX-License-Identifier: Apache-2.0
/// \file
/// Standard output of a program, with errors noticed: on a terminal a line goes out when it is complete, elsewhere
/// blocks do.
#pragma once

#include <string_view>

namespace toy::rt {

/// Appends to standard output; throws DiagId::OutputFailed when the system refuses. Where nobody reads any more, the
/// program ends as by SIGPIPE.
void output(std::string_view text);
/// Writes out what is buffered.
void flushOutput();
/// What is buffered, as far as the system takes it, for a program that ends: in handlers of signals on the thread that
/// writes, or from any other thread, which waits a moment for a write that is under way. Never fails, allocates
/// nothing.
void writeOutNow();
void writeOutFromOtherThread();
/// After a fault in the middle of writing.
void unlockOutput();

} // namespace toy::rt
