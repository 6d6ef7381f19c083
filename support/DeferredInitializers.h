// SPDX-License-Identifier: Apache-2.0
/// \file
/// Static initialisers that the linker set aside.
#pragma once

namespace toy {

/// Run the static initialisers of libraries where cmake/deferred-initializers.ld took them out of the program's start:
/// thousands of command-line options, which cost more than everything else before the prompt. Once each, from any
/// thread; nothing of those libraries but headers may be used before.
void initializeIr();   ///< MLIR, and LLVM's Support, which it stands on
void initializeCode(); ///< all of LLVM, to make machine code

} // namespace toy
