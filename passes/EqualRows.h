// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which lists of a function have rows of one length.
#pragma once

#include "passes/ControlFlow.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace toy {

/// What a row that is read, changed and put back gets, in order.
using RowStores = llvm::SmallVector<ElementStoreOp, 2>;

/// Lists that hand each other on, are made and read in one function only, and whose elements are vectors of one length,
/// of which single numbers are read and stored.
struct EqualRows {
  llvm::SmallVector<mlir::Value> lists; ///< as they are made
  int64_t length = 0;                   ///< or 0, where it is the same count that each row was made with:
  mlir::Operation *maker = nullptr;     ///< what makes one of the rows

  /// What the maker is given: asked when it is needed, since a length that it was may have become a matrix's by then.
  mlir::Value count() const;
};

class EqualRowsOf {
public:
  explicit EqualRowsOf(mlir::func::FuncOp function);

  llvm::SmallVector<EqualRows> groups();
  /// The stores that something that puts a row back stands for, or null.
  const RowStores *changeOf(mlir::Operation *op) const {
    auto found = changes.find(op);
    return found == changes.end() ? nullptr : &found->second;
  }

private:
  struct RowLength {
    mlir::Value list;
    int64_t number; ///< or 0:
    mlir::Operation *maker;
  };

  void note(mlir::Value v);
  void *leader(mlir::Value v) { return united.getOrInsertLeaderValue(v.getAsOpaquePointer()); }
  void unite(mlir::Value a, mlir::Value b) { united.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer()); }
  void leave(mlir::Value list) { left.insert(list.getAsOpaquePointer()); }
  void noMatrix(mlir::Value list) { noMatrices.insert(list.getAsOpaquePointer()); }

  void visit(mlir::Value list);
  void visitRow(ListElementOp row);
  void putIn(mlir::Value list, mlir::Value row, mlir::Operation *at);
  bool isHandedOn(mlir::BlockArgument argument) const;
  bool isThere(ListElementOp row, mlir::Operation *op) const;
  bool isChanged(ElementStoreOp store);
  std::optional<RowStores> storesOf(ListSetOp set);
  std::optional<mlir::Operation *> makerOf(mlir::Value row, mlir::CFGLoop *loop,
                                           llvm::DenseSet<mlir::Value> &seen) const;

  mlir::Liveness liveness;
  FunctionLoops loops;
  llvm::SmallVector<mlir::Value> lists; ///< as they are made
  llvm::DenseSet<mlir::Value> reached;
  llvm::EquivalenceClasses<void *> united;
  llvm::DenseSet<void *> left, noMatrices; ///< members of groups that stay as they are, or are no matrices
  llvm::SmallVector<RowLength> lengths;    ///< of rows that are put into lists
  llvm::DenseMap<mlir::Operation *, RowStores> changes;
};

} // namespace toy
