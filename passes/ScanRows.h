// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace toy {

/// In loops, sums along vectors become loops over elements: a call for each would make a row a tensor of its own first,
/// and take longer than to add it up.
void scanRows(mlir::func::FuncOp function);

} // namespace toy
