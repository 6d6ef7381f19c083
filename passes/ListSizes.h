// SPDX-License-Identifier: Apache-2.0
/// \file
/// How many elements lists of a function have, as sizes of the tensors that they become.
#pragma once

#include "ir/ToyDialect.h"

namespace toy {

class ListSizes {
public:
  /// Sizes of lists, which are given as they are made. Those that have no other name get one that begins as said.
  ListSizes(mlir::MLIRContext *context, llvm::ArrayRef<mlir::Value> lists, llvm::StringRef names);

  Dim of(mlir::Value list) const { return sizes.lookup(list); }
  bool contains(mlir::Value list) const { return sizes.contains(list); }

  /// Other names are given on the way on which they hold: elsewhere, nobody else holds the value.
  void relabelEdges(llvm::function_ref<TensorType(mlir::Value)> typeOf);

  /// The length of a list, at an operation before which it may already have been changed: what it was made of is asked
  /// before it is. One that was made longer or shorter has a length that needs no look at it.
  mlir::Value lengthOf(mlir::Value list, mlir::Operation *at);

private:
  void nameSizes();
  Dim sizeFrom(mlir::Value v);
  Dim newName(mlir::Value v);

  mlir::OpBuilder b;
  llvm::StringRef names;
  llvm::SmallVector<mlir::Value> values;
  llvm::DenseMap<mlir::Value, Dim> sizes, named;          ///< of all values; of those with names of their own
  llvm::DenseMap<mlir::Operation *, mlir::Value> lengths; ///< of what it makes
};

} // namespace toy
