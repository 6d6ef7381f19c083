// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pictures of a module: operations and the values between them.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace toy {

/// A module and what is written above it.
struct GraphPart {
  mlir::ModuleOp module;
  std::string title;
};

/// Graphviz text: the parts beside each other.
std::string graphvizText(llvm::ArrayRef<GraphPart> parts);
/// For a terminal: below each operation those that its operands come from. What was shown before is a number.
std::string terminalText(llvm::ArrayRef<GraphPart> parts);

} // namespace toy
