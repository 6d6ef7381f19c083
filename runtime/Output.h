// SPDX-License-Identifier: Apache-2.0
/// \file
/// Standard output of a program, with errors noticed: on a terminal a line goes out when it is complete, elsewhere
/// full blocks do, and what has waited for 0.1 seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace toy::rt {

/// Appends to standard output; throws DiagId::OutputFailed when the system refuses. Where nobody reads any more, the
/// program ends with status 141.
void output(std::string_view text);
/// Of several processes that run one program: whether this one shows what it prints, on either stream, and what stands
/// before each of its lines.
void setOutput(bool shows, std::string_view prefix);
/// A value that an input of the prompt shows.
void echo(std::string_view text);
/// Where standard output, what is shown and standard error go for a program that shows them in its own way; blocks may
/// end within a character. It is called by one thread at a time, and must not print.
enum class Stream : uint8_t { Output, Echo, Errors };
std::function<void(Stream, std::string_view)> &outputSink();
/// Writes out what is buffered.
void flushOutput();
/// Writes out what is buffered, and ends the row of the terminal that holds an unfinished text.
void endRow();
/// A text on standard error, behind everything that was printed before.
void errorOutput(std::string_view text);
/// Whether this process shows what it prints.
bool showsOutput();
/// Draws a line on the terminal that standard error is, in place of the one drawn before; whatever is printed erases
/// it. Nothing, and false, where the terminal's row holds other text, or when it is not wanted any more; that is asked
/// when nobody else can write.
bool drawLine(std::string_view text, const std::function<bool()> &isWanted);
void eraseLine();
/// What is buffered, as far as the system takes it, for a program that ends: in handlers of signals on the thread that
/// writes, or from any other thread, which waits a moment for a write that is under way. Never fails, allocates
/// nothing.
void writeOutNow();
void writeOutFromOtherThread();
/// After a fault in the middle of writing.
void unlockOutput();

} // namespace toy::rt
