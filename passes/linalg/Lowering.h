// SPDX-License-Identifier: Apache-2.0
/// \file
/// One operation of the toy dialect on its way to upstream dialects: what its rows build with.
#pragma once

#include "ir/ToyDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/DialectConversion.h"

namespace toy {

/// The builtin type of an element; null for complex ones, which the unpacked program does not have.
mlir::Type upstreamElement(mlir::MLIRContext *context, DType dtype);
/// A scalar is its element, any other tensor a builtin one, with `?` for sizes that are names.
mlir::Type upstreamType(TensorType type);

/// An operation and its operands as they are after the conversion. Builders put operations where `b` is, also inside
/// the bodies of loops.
class Lowering {
public:
  Lowering(mlir::Operation *op, mlir::ValueRange in, mlir::ConversionPatternRewriter &b)
      : op(op), in(in), b(b), loc(op->getLoc()) {}

  mlir::Operation *const op;
  const llvm::SmallVector<mlir::Value> in;
  mlir::ConversionPatternRewriter &b;
  const mlir::Location loc;

  TensorType operandType(unsigned i) const { return tensorTypeOf(op->getOperand(i)); }
  TensorType resultType(unsigned i = 0) const { return tensorTypeOf(op->getResult(i)); }
  mlir::Type element(DType dtype) const { return upstreamElement(b.getContext(), dtype); }
  mlir::RankedTensorType ranked(TensorType type) const;
  template <typename T> T attribute(llvm::StringRef name) const { return op->getAttrOfType<T>(name); }
  llvm::ArrayRef<int64_t> integers(llvm::StringRef name) const {
    return op->getAttrOfType<mlir::DenseI64ArrayAttr>(name).asArrayRef();
  }
  /// Whether an operand's dtype has no negative values.
  bool isUnsigned(unsigned operand) const { return operandType(operand).getDtype() <= DType::U8; }

  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...)->getResult(0);
  }
  mlir::Value index(int64_t n) { return make<mlir::arith::ConstantIndexOp>(n); }
  mlir::Value toIndex(mlir::Value i64) { return make<mlir::arith::IndexCastOp>(b.getIndexType(), i64); }
  mlir::Value fromIndex(mlir::Value index) { return make<mlir::arith::IndexCastOp>(b.getI64Type(), index); }
  /// A number of an integer or floating type.
  mlir::Value number(mlir::Type type, double value);
  mlir::Value compare(mlir::arith::CmpIPredicate p, mlir::Value x, mlir::Value y) {
    return make<mlir::arith::CmpIOp>(p, x, y);
  }
  mlir::Value select(mlir::Value c, mlir::Value x, mlir::Value y) { return make<mlir::arith::SelectOp>(c, x, y); }
  /// Ends the program with a text unless the condition holds.
  void require(mlir::Value condition, const llvm::Twine &message);

  mlir::OpFoldResult sizeOf(mlir::Value tensor, int64_t axis);
  llvm::SmallVector<mlir::OpFoldResult> sizesOf(mlir::Value tensor);
  /// Sizes of a result, from its type where they are numbers and from i64 values elsewhere.
  llvm::SmallVector<mlir::OpFoldResult> sizesFrom(TensorType type, mlir::ValueRange values);
  /// Sizes of a result that operands broadcast to.
  llvm::SmallVector<mlir::OpFoldResult> broadcastSizes(TensorType type);

  mlir::Value empty(mlir::RankedTensorType type, llvm::ArrayRef<mlir::OpFoldResult> sizes);
  mlir::Value filled(mlir::RankedTensorType type, llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Value value);
  /// The map from the indices of a result to those of an operand of a type, which broadcasts to it.
  mlir::AffineMap broadcastMap(TensorType operand, TensorType result);
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange elements)>;
  /// linalg.generic; `reduced` says which of its loops are reductions.
  llvm::SmallVector<mlir::Value> generic(mlir::ValueRange ins, mlir::ValueRange outs,
                                         llvm::ArrayRef<mlir::AffineMap> maps, llvm::ArrayRef<bool> reduced, Body body);
  /// A tensor whose elements are computed from their indices.
  mlir::Value tabulate(mlir::RankedTensorType type, llvm::ArrayRef<mlir::OpFoldResult> sizes,
                       llvm::function_ref<mlir::Value(mlir::ValueRange indices)> element);
  mlir::Value extract(mlir::Value tensor, mlir::ValueRange indices) {
    return make<mlir::tensor::ExtractOp>(tensor, indices);
  }
  /// `source` written into `into`, from `offsets` on with `steps`.
  mlir::Value insert(mlir::Value source, mlir::Value into, llvm::ArrayRef<mlir::OpFoldResult> offsets,
                     llvm::ArrayRef<mlir::OpFoldResult> sizes, llvm::ArrayRef<mlir::OpFoldResult> steps);
  /// An element of a tensor that may be a scalar already.
  mlir::Value elementOf(mlir::Value scalarOrTensor);
  /// A tensor of rank 0 where the value is a scalar.
  mlir::Value asTensor(mlir::Value value);
};

/// The row of an operation: its results in upstream dialects, or a failure where this use of it has none.
using LoweringRow = llvm::FailureOr<llvm::SmallVector<mlir::Value>> (*)(Lowering &);
LoweringRow elementwiseRow(llvm::StringRef mnemonic);
LoweringRow shapeRow(llvm::StringRef mnemonic);
LoweringRow indexingRow(llvm::StringRef mnemonic);
LoweringRow reductionRow(llvm::StringRef mnemonic);
LoweringRow effectRow(llvm::StringRef mnemonic);

/// The real and the imaginary part of a function of complex numbers, given by their parts; none where it is not known.
std::optional<std::pair<mlir::Value, mlir::Value>> complexFunction(Lowering &l, llvm::StringRef function,
                                                                   llvm::ArrayRef<mlir::Value> parts);
/// A constant integral exponent from -64 to 64.
std::optional<int64_t> smallExponent(mlir::Value exponent);
template <typename T> T powerByProducts(int64_t n, T one, T base, llvm::function_ref<T(T, T)> times) {
  std::optional<T> result;
  for (; n; n /= 2, base = n ? times(base, base) : base)
    if (n % 2)
      result = result ? times(*result, base) : base;
  return result.value_or(one);
}

} // namespace toy
