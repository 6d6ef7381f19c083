// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which elements lie apart: what a loop stores into one tensor changes no element of another.
#pragma once

#include "passes/ControlFlow.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Instruction.h"

namespace toy {

/// Reads and writes of single elements, by the tensor that they are in. A tensor is stored into while nobody else holds
/// it, and each value holds its tensor to its last use: two values are one memory only if one is handed on as the
/// other, or after a call that let it go. So values that are not handed on to each other lie apart.
class AliasScopes {
public:
  AliasScopes(mlir::func::FuncOp function, const mlir::Liveness &liveness);

  /// Says of the loads and stores behind `before` (or from the block's start) which tensor they are of.
  void mark(llvm::BasicBlock &block, llvm::Instruction *before, mlir::Value tensor);
  /// Says of a read of a header, or of a reference, that no element is there.
  void markHeader(llvm::Instruction &read);

private:
  void unite(mlir::Value a, mlir::Value b) { groups.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer()); }
  void handOn(mlir::Operation *op, const mlir::Liveness &liveness);
  void makeScopes(llvm::LLVMContext &context);

  static constexpr size_t mostStored = 16;    ///< groups with a scope of their own
  llvm::EquivalenceClasses<void *> groups;    ///< of values that may be one memory
  llvm::SetVector<void *> stored;             ///< groups that elements are stored into
  llvm::SmallVector<llvm::Metadata *> scopes; ///< of each of them, and one of all that is only read
};

} // namespace toy
