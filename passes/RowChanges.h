// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements of lists that change in their list: `m[i][j] = v` takes a row out, stores into it and puts it back.
#pragma once

#include "passes/ControlFlow.h"

#include "llvm/ADT/MapVector.h"

namespace toy {

/// What is done to an element between where it is taken and put back, in one block.
struct RowChange {
  ListElementOp taken;
  llvm::SmallVector<mlir::Operation *, 1> stores; ///< of elements, or where one of its own elements is put back
};

/// Changes by where the element is put back, what is inside of others before these.
class RowChanges {
public:
  void find(mlir::func::FuncOp function);

  /// Where elements of lists are put back that lie in no other element that changes.
  llvm::SmallVector<ListSetOp> outermost() const;
  /// Whether an operation is a part of a change.
  bool isInside(mlir::Operation *op) const { return inside.contains(op); }
  /// Before which operation the list is to be one that nobody else holds.
  mlir::Operation *beginOf(ListSetOp set) const;
  /// Stores in place. Nobody else holds the list.
  void storeInPlace(ListSetOp set) const;

private:
  void match(ListSetOp set);
  void own(ListSetOp set, mlir::Value list, llvm::SmallVectorImpl<mlir::Value> &path, mlir::OpBuilder &b) const;
  void storeInPlace(RowChange change, ListSetOp set, mlir::OpBuilder &b) const;

  llvm::MapVector<mlir::Operation *, RowChange> changes;
  llvm::DenseSet<mlir::Operation *> inside;
};

/// Whether two values are computed in the same way from the same values. Where elements have become stores in place,
/// two reads of one need not be the same.
bool areSame(mlir::Value a, mlir::Value b, bool elementsChange = false, int depth = 0);

/// Elements that are the same in all turns of a loop are looked at, and found, before it, if none gets a second name in
/// it.
void hoistElements(mlir::func::FuncOp function);

} // namespace toy
