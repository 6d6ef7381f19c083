// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which lists of numbers may be vectors, and which lists may hold such: all that hand themselves, or their elements,
/// on to each other, between blocks and functions, are or none is.
#pragma once

#include "passes/ControlFlow.h"

#include "llvm/ADT/DenseSet.h"

namespace toy {

/// Whether a type is a list of numbers.
bool isListOfNumbers(mlir::Type type);
/// Whether a list is the beginning of another, which it takes the place of.
bool isBeginning(mlir::Operation *op);
/// Whether a list comes from another with something changed.
bool isChange(mlir::Operation *op);

/// Functions that only code of their module calls: lists may go in and out of them as vectors.
class VectorForms {
public:
  /// Copies of functions that are given lists of numbers, or give them, for calls by code of the module; the functions
  /// themselves stay for others.
  explicit VectorForms(mlir::ModuleOp module);
  /// The function that a call calls if it is one of these, or null.
  mlir::func::FuncOp of(mlir::Operation *call) const;
  bool contains(mlir::func::FuncOp function) const { return originals.contains(function); }
  /// Takes back those of which `isUsed` is false, and functions that nobody calls any more for the others.
  void keep(llvm::function_ref<bool(mlir::func::FuncOp)> isUsed);

private:
  mlir::ModuleOp module;
  llvm::MapVector<mlir::Operation *, mlir::func::FuncOp> originals; ///< by their copies
  llvm::StringMap<mlir::func::FuncOp> byName;                       ///< copies
};

/// The lists of a module that may be vectors, or lists of such.
llvm::DenseSet<mlir::Value> listsThatMayBeVectors(mlir::ModuleOp module, const VectorForms &forms);

} // namespace toy
