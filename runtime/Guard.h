// SPDX-License-Identifier: Apache-2.0
/// \file
/// Exceptions of any kind, and faults in compiled code, in foreign libraries and in the compiler itself, end an input
/// and not the session.
#pragma once

#include "runtime/Error.h"

#include <functional>
#include <optional>

namespace toy::rt {

/// Takes over SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, for the calling thread on a stack of its own. The handler
/// allocates nothing.
void installFaultHandlers();
/// Runs `body`; what ended it before its end, as an error. After DiagId::Fault what `body` held is lost: nothing of it
/// may be used again. Where a fault left the heap locked or damaged, the program ends with status 70, as it does for
/// faults outside of this. May be nested: the innermost one is left.
std::optional<Error> guarded(const std::function<void()> &body);
/// Leaves the innermost guarded body of this thread as a fault does.
[[noreturn]] void abandon(const char *reason);
/// The address whose use was the last fault.
const void *faultAddress();
/// The exception that is being handled, as an error: also what the standard library throws.
Error currentError();

} // namespace toy::rt
