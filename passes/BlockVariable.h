// SPDX-License-Identifier: Apache-2.0
/// \file
/// A value that is replaced on the way through a function: where ways with different ones join, blocks get an argument.
#pragma once

#include "passes/ControlFlow.h"

namespace toy {

class BlockVariable {
public:
  /// Definitions may have other names of sizes than the variable.
  explicit BlockVariable(mlir::Type type) : type(type) {}

  void define(mlir::Value v) {
    if (!definitions.insert(v).second)
      return;
    auto &inBlock = byBlock[v.getParentBlock()];
    auto isLater = [&](mlir::Value other) { return isBefore(v, other); };
    inBlock.insert(llvm::find_if(inBlock, isLater), v);
  }
  bool isDefinition(mlir::Value v) const { return definitions.contains(v); }

  /// The definition that an operation finds, which is in the block or comes into it. There is one on every way to it.
  mlir::Value before(mlir::Operation *op);

  /// Uses of the first definition are of what they find.
  void replace(mlir::Value first);

  /// Arguments of blocks that proved to be one value on all edges are that value.
  void drop();

private:
  static bool isBefore(mlir::Value a, mlir::Value b);
  mlir::Value atBegin(mlir::Block *block);
  mlir::Value atEnd(mlir::Block *block);
  mlir::Value named(mlir::Value v, mlir::Operation *before) const;

  mlir::Type type;
  llvm::DenseSet<mlir::Value> definitions;
  llvm::DenseMap<mlir::Block *, llvm::SmallVector<mlir::Value, 2>> byBlock; ///< in their order
  llvm::DenseMap<mlir::Block *, mlir::Value> begins;
  llvm::SetVector<mlir::Block *> joins; ///< whose value at the begin is an argument
};

/// An argument that is the same value on all edges, or itself, becomes that value.
bool dropIfSame(mlir::BlockArgument argument);

} // namespace toy
