// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where the values that a function makes of a tensor argument by storing elements differ from it.
#pragma once

#include "passes/ControlFlow.h"

namespace toy {

/// What is stored before a function returns, so that an argument has its elements again: what was there is read before
/// the places are stored into, which stand on the way.
struct Restoring {
  BlockEdge edge; ///< into the block that returns; none of a block that stores itself
  llvm::SmallVector<ElementStoreOp, 2> places;
  /// Those whose indices are computed from arguments alone: they are known, and read, where the function begins.
  llvm::SmallVector<ElementStoreOp, 2> ofEntry;
};

/// The values that stores, branches and other names make of an argument, each with the places at which it may have
/// other elements than the argument. A place is known by a store to it: what its indices are computed from is the same
/// as long as it stands here. A store of the element that the argument has there takes a place away, whether it was
/// read (`var old = x[i]; … x[i] = old;`) or compared (`if x[i] == 0 { … x[i] = 0; }`).
class ArgumentHistory {
public:
  ArgumentHistory(mlir::BlockArgument argument, const mlir::DominanceInfo &dominance);

  /// Whether something is stored, each value dies where the next one is made, and what is there at every return has the
  /// argument's elements, or gets them.
  bool comesBack(const mlir::Liveness &liveness);
  llvm::ArrayRef<Restoring> restorings() const { return toRestore; }
  /// What stands for the argument from where it is made on: itself, results of stores, arguments of blocks.
  llvm::ArrayRef<mlir::Value> steps() const { return members; }

private:
  using Places = llvm::SmallVector<ElementStoreOp, 2>;
  /// Nothing where it may differ anywhere.
  using Difference = std::optional<Places>;

  void collect(mlir::BlockArgument argument);
  mlir::Value next(mlir::Operation &op) const;
  void flow();
  bool update(mlir::Value v, Difference difference);
  bool isEqual(mlir::Value v) const;
  Difference behind(mlir::Operation *op) const;
  Difference into(mlir::Block *block, Difference difference) const;
  static Difference join(Difference a, const Difference &b);
  bool holdsIn(mlir::Block *block, ElementStoreOp place) const;
  using Indices = std::optional<llvm::SmallVector<mlir::Value, 2>>;
  Indices elementOfArgument(mlir::Value v, int depth = 0) const;
  Indices elementAt(mlir::Value x, mlir::ValueRange indices, int depth) const;
  bool isElementOfArgument(mlir::Value v, ElementStoreOp store) const;
  bool storesOld(ElementStoreOp store) const;
  bool implies(mlir::Value condition, bool holds, ElementStoreOp store) const;
  bool isLinear(const mlir::Liveness &liveness) const;
  llvm::DenseMap<mlir::Block *, Difference> atEnds() const;
  bool restore(const Difference &difference, BlockEdge edge, mlir::Block *at);

  mlir::func::FuncOp function;
  const mlir::DominanceInfo &dominance;
  llvm::SmallVector<mlir::Value> members;
  llvm::DenseSet<mlir::Value> isMember;
  llvm::DenseMap<mlir::Value, Difference> differences; ///< of members that a way leads to
  llvm::SmallVector<Restoring> toRestore;
};

/// Whether the places of two stores are computed from arguments alone, in the same way.
bool haveSameEntry(ElementStoreOp a, ElementStoreOp b);

/// An index, without its check, if it is computed from the arguments of its function in few operations; or none.
mlir::Value indexOfEntry(mlir::Value index);

/// A value without other names of its sizes.
mlir::Value withoutNames(mlir::Value v);

} // namespace toy
