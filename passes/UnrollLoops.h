// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loops of few turns over the elements of tiny tensors as straight lines.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace toy {

/// Writes loops of a known number of turns out, if they stand in other loops and make tiny tensors whose indices then
/// are numbers. Whether something changed.
bool unrollTinyLoops(mlir::func::FuncOp function);

} // namespace toy
