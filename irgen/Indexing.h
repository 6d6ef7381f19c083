// SPDX-License-Identifier: Apache-2.0
/// \file
/// Subscripts: integers, slices, `...`, `newaxis`, masks and integer tensors, read and stored.
#pragma once

#include "irgen/Context.h"

namespace toy {

/// What subscripts mean for one tensor. Positions along single axes come first, then the slice of every axis, then
/// either a mask or integer tensors.
struct IndexPlan {
  llvm::SmallVector<std::pair<int64_t, mlir::Value>>
      gathers;                                   ///< slices whose step only the run decides: axis and positions
  bool slices = false;                           ///< some axis is not taken whole
  llvm::SmallVector<mlir::Value> starts, counts; ///< of every axis
  llvm::SmallVector<int64_t> steps;
  llvm::SmallVector<int64_t> kept;      ///< axes of the slice that stay; -1: a new axis
  mlir::Value mask;                     ///< over the first axes that stay
  llvm::SmallVector<mlir::Value> takes; ///< integer tensors, which broadcast,
  llvm::SmallVector<int64_t> takeAxes;  ///< and their places in `kept`
  bool front = false;                   ///< something stands between them: what they give comes first, as in NumPy
};

/// `x[…]`, read.
RValue genIndex(IRGen &g, const ast::Index &e);
/// What the subscripts mean for a tensor; checks of indices are generated.
IndexPlan planIndex(IRGen &g, const RValue &base, llvm::ArrayRef<ast::Subscript> subscripts, SourceRange range);
/// The start, number and step of the elements of a slice of `size`, which lie inside.
void sliceBounds(IRGen &g, const ast::Subscript &s, mlir::Value size, mlir::Value &start, mlir::Value &count,
                 mlir::Value &step);
/// The elements that a plan takes.
RValue applyPlan(IRGen &g, mlir::Value x, const IndexPlan &plan, SourceRange range);
/// `x` with the selected elements replaced.
mlir::Value storeIndexed(IRGen &g, mlir::Value x, const IndexPlan &plan, const RValue &value, SourceRange range,
                         SourceRange valueRange);

} // namespace toy
