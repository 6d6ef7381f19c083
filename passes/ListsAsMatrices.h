// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists of rows of one length as matrices.
#pragma once

#include "passes/EqualRows.h"

namespace toy {

/// Makes matrices of lists whose rows are all made with the same count, if that can be computed before the lists are.
void makeMatrices(mlir::func::FuncOp function, const EqualRowsOf &rows, llvm::ArrayRef<EqualRows> groups);

} // namespace toy
