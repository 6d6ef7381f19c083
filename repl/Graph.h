// SPDX-License-Identifier: Apache-2.0
/// \file
/// A module's operations as a picture.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace toy {
class Compiler;

/// Graphviz text: the operations as generated and, beside them, after inlining and recognition.
std::string graphText(mlir::ModuleOp module, Compiler &compiler);

} // namespace toy
