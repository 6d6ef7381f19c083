// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the stages of the dialect and the upstream one show with.
#pragma once

#include "compile/Compile.h"

namespace toy {

/// The text of a module. A comment shows the source line wherever operations of another one begin.
std::string printed(mlir::ModuleOp module, const SourceManager &sources);
/// Whether functions of a module are those of a name; an error where none is. An empty name is everything.
std::function<bool(mlir::func::FuncOp)> chosen(mlir::ModuleOp module, llvm::StringRef name);

} // namespace toy
