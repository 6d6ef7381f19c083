// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists of short vectors of one known length as one vector.
#pragma once

#include "ir/ToyDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace toy {

/// Lists that are made and read in a function only, and whose elements are vectors of one known length, of which single
/// numbers are read and stored, become vectors of all their numbers; of one length that is computed, matrices.
void flattenLists(mlir::func::FuncOp function);

} // namespace toy
