// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values of which a program uses one part.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace toy {

/// Where one slice is all that looks at the elements of a value that is made element by element (`shard(load(path))`,
/// `shard(2 * rand(n) + 1)`), those of the slice are read or made, and no others.
void makeOnlyParts(mlir::func::FuncOp function);

} // namespace toy
