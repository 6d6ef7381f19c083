// SPDX-License-Identifier: Apache-2.0
/// \file
/// A module's operations as a picture.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace toy {
class Engine;

/// Graphviz text: the operations as generated and, beside them, after inlining and recognition.
std::string graphText(mlir::ModuleOp module, Engine &engine);

} // namespace toy
