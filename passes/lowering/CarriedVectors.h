// SPDX-License-Identifier: Apache-2.0
/// \file
/// Vectors that grow or shrink in loops: their address and length are registers, which blocks hand on, and not words of
/// a header that each turn reads, and each change stores.
#pragma once

#include "passes/ControlFlow.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace toy {

/// The vectors of a function that it appends to, or takes off, one by one in a loop, with all values that are handed on
/// as them. Behind a change the length in the header is that of before, until somebody asks for the object: elements,
/// sizes and further changes do not, and whoever gives a tensor up does not look at its length.
class CarriedVectors {
public:
  CarriedVectors() = default;
  CarriedVectors(mlir::func::FuncOp function, const FunctionLoops &loops);

  bool contains(mlir::Value v) const { return carried.contains(v.getAsOpaquePointer()); }
  /// Whether an operation asks for the object of a value whose header may be behind.
  bool needsHeader(mlir::Operation *op, mlir::Value v) const;

private:
  llvm::SmallPtrSet<void *, 16> carried, late;
};

} // namespace toy
