// SPDX-License-Identifier: Apache-2.0
/// \file
/// Whose elements an operation may write over.
#pragma once

#include "ir/ToyDialect.h"

namespace toy {

/// Whether an operation takes the reference of its first operand: an update, or a function that has read what it needs
/// of a row before it writes the row's result.
inline bool takesFirst(mlir::Operation *op) {
  if (auto sort = llvm::dyn_cast<ArgSortOp>(op))
    return sort.getPart().empty();
  if (auto library = llvm::dyn_cast<LibraryOp>(op))
    return library.getFunction() == "fft" || library.getFunction() == "ifft";
  return consumesFirst(op);
}

} // namespace toy
