// SPDX-License-Identifier: Apache-2.0
/// \file
/// The stage `linalg`: a program in upstream dialects.
#pragma once

#include "compile/Compile.h"
#include "support/Source.h"

namespace toy {

/// The text of the unpacked program in upstream dialects; with a name, of the functions that were generated from the
/// program's function of that name, and of what they call. Operations that those dialects do not have go into
/// `missing`, with their places, and the text is empty. Throws rt::Error where there is no function of the name.
std::string emitUpstream(Compiler &compiler, mlir::ModuleOp module, llvm::StringRef function,
                         const SourceManager &sources, std::string &error,
                         std::vector<std::pair<mlir::Location, std::string>> &missing);

} // namespace toy
