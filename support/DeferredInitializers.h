// SPDX-License-Identifier: Apache-2.0
/// \file
/// Static initialisers that the linker set aside.
#pragma once

namespace toy {

/// Runs the static initialisers of LLVM's and MLIR's libraries where cmake/deferred-initializers.ld took them out of
/// the program's start: thousands of command-line options, which cost more than everything else before the prompt.
/// Once, from any thread; nothing of those libraries but headers may be used before.
void runDeferredInitializers();

} // namespace toy
