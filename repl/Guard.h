// SPDX-License-Identifier: Apache-2.0
/// \file
/// Faults in compiled code, in foreign libraries and in the compiler itself end an input, not the session.
#pragma once

#include <functional>
#include <string>

namespace toy {

/// Takes over SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT of the calling thread, on a stack of its own, and LLVM's fatal errors.
void installFaultHandlers();
/// Runs `body`. If a fault ends it, the reason is returned and what `body` held is lost: nothing of it may be used again.
/// Outside of this a fault ends the program with status 70.
std::string guarded(const std::function<void()> &body);

} // namespace toy
