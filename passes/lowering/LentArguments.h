// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tensors that functions only read elements of: they are lent, and nobody counts them up and down at each call.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace toy {

/// Marks arguments of functions that calls of the module lead to, if they are tensors of which nothing is used but
/// elements and sizes, here and where they are handed on.
void markLentArguments(mlir::ModuleOp module);
/// Whether nothing is used of a value but elements and sizes, here and where it is lent to functions that are marked.
bool isOnlyRead(mlir::Value v, mlir::ModuleOp module);
/// Whether a value is such an argument: its function has no reference of its own.
bool isLent(mlir::Value v);
/// Whether a function has them. Its body is then `NAME.lent`, whose callers keep the references. NAME itself, which
/// other modules call, is given references as every function is.
bool hasLentArguments(mlir::Operation *function);

} // namespace toy
