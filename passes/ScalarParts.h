// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operations on tiny tensors as operations on their elements, each of them a scalar of its own.
#pragma once

#include "ir/Constants.h"

namespace toy {

/// Whether a tried call gives a value, which has no elements where it failed.
bool mayBeAbsent(mlir::Value v);
/// Whether a value has one to sixteen elements, all sizes known.
bool isTiny(mlir::Value v);
llvm::SmallVector<int64_t> staticSizes(mlir::Value v);

class ScalarParts {
public:
  using Parts = llvm::SmallVector<mlir::Value>;

  /// `products`: complex matrix products, too.
  ScalarParts(mlir::MLIRContext *context, bool products) : b(context), products(products) {}

  /// Whether an operation can be computed on scalars, with the same bits.
  bool canCompute(mlir::Operation *op) const;
  /// Whether it costs next to nothing on tensors, too: reads and stores of one element are no slices in the end.
  bool isCheap(mlir::Operation *op) const;
  /// How many comparisons stand for its indices that are known at run time only, if its tiny operands are parts.
  int64_t choices(mlir::Operation *op) const;
  /// Computes it before itself. A scalar result, and a tensor that is not tiny, is replaced.
  void compute(mlir::Operation *op);

  /// The elements of a value that was computed, in row-major order.
  Parts &of(mlir::Value v) { return known[v]; }
  /// The elements of any tiny value or scalar; those of a tensor are read where it is made.
  Parts read(mlir::Value v);

private:
  /// An index: a number, or a number behind a value.
  struct Index {
    mlir::Value from;
    int64_t offset;
  };
  using Indices = llvm::SmallVector<Index, 4>;

  Parts elementwise(mlir::Operation *op);
  Parts mapped(mlir::Operation *op);
  Parts sliced(SliceOp op);
  Parts stored(SliceStoreOp op);
  Parts reduced(mlir::Operation *op, llvm::ArrayRef<int64_t> axes);
  Parts multiplied(MatMulOp op);
  mlir::Value fold(mlir::Operation *op, Parts values, bool inLanes);
  mlir::Value choose(llvm::ArrayRef<mlir::Value> from, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<Index> at);
  mlir::Value isAt(llvm::ArrayRef<int64_t> position, llvm::ArrayRef<Index> at);
  mlir::Value integer(Index index);
  static Indices indicesOf(mlir::ValueRange starts, llvm::ArrayRef<int64_t> steps, llvm::ArrayRef<int64_t> element);
  template <typename Op> mlir::Value make(DType dtype, mlir::ValueRange operands) {
    return Op::create(b, loc, mlir::Type(TensorType::scalar(b.getContext(), dtype)), operands).getResult();
  }

  mlir::OpBuilder b;
  mlir::Location loc = b.getUnknownLoc();
  bool products;
  llvm::DenseMap<mlir::Value, Parts> known;
};

} // namespace toy
