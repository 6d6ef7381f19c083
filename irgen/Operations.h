// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operations on values: operators with promotion, sizes as values that the run computes, other sizes and axes.
#pragma once

#include "irgen/Context.h"

namespace toy {

mlir::Value castTo(IRGen &g, mlir::Value x, DType dtype, SourceRange range);
mlir::Value castVal(IRGen &g, const RValue &x, DType dtype, SourceRange range);
DType promoteAll(llvm::ArrayRef<RValue> values);
const RValue &needTensor(IRGen &g, const RValue &x, llvm::StringRef what, SourceRange range);
RValue elementwise(IRGen &g, llvm::StringRef op, const RValue &lhs, const RValue &rhs, DType dtype, SourceRange range,
                   SourceRange lhsRange, SourceRange rhsRange);
template <typename Op>
RValue elementwise(IRGen &g, const RValue &lhs, const RValue &rhs, DType dtype, SourceRange range, SourceRange lhsRange,
                   SourceRange rhsRange) {
  return elementwise(g, IRGen::mnemonicOf<Op>(), lhs, rhs, dtype, range, lhsRange, rhsRange);
}
RValue binaryOperation(IRGen &g, ast::BinaryOp op, const RValue &lhs, const RValue &rhs, SourceRange range,
                       SourceRange opRange, SourceRange lhsRange, SourceRange rhsRange);
RValue unaryOperation(IRGen &g, ast::UnaryOp op, const RValue &x, SourceRange range);
RValue matmul(IRGen &g, const RValue &lhs, const RValue &rhs, SourceRange range, SourceRange lhsRange,
              SourceRange rhsRange);
RValue adjoint(IRGen &g, const RValue &x, SourceRange range);
RValue transposeLast(IRGen &g, const RValue &x, SourceRange range);

/// A size as the run computes it: an expression of operands (see toy.size_value).
struct SizeTerm {
  Dim expression;
  llvm::SmallVector<mlir::Value, 2> operands;
};

mlir::Value sizeOf(IRGen &g, mlir::Value x, int64_t axis, SourceRange range);
llvm::SmallVector<mlir::Value> sizesOf(IRGen &g, mlir::Value x, SourceRange range);
/// The name of a size that is a value of the program: one value, one name. The value is 0 or more.
Dim nameOfSize(IRGen &g, mlir::Value value);
/// Arithmetic on sizes, positions and counts: one checked operation, however long the expression becomes.
mlir::Value arith(IRGen &g, llvm::StringRef op, mlir::Value a, mlir::Value b, SourceRange range);
template <typename Op> mlir::Value arith(IRGen &g, mlir::Value a, mlir::Value b, SourceRange range) {
  return arith(g, IRGen::mnemonicOf<Op>(), a, b, range);
}
SizeTerm sizeTerm(IRGen &g, mlir::Value value, SourceRange range, bool isSize = false);
SizeTerm combine(IRGen &g, llvm::StringRef op, const SizeTerm &a, const SizeTerm &b, SourceRange range);
mlir::Value valueOf(IRGen &g, const SizeTerm &term, SourceRange range);
/// An error that is the text alone, unless a condition holds: what a function does not take.
void needValue(IRGen &g, mlir::Value holds, mlir::Value text, SourceRange range);
mlir::Value checkedSize(IRGen &g, mlir::Value value, SourceRange range);
/// An i64 value of a size; `valueOf` gives those of the names in it.
mlir::Value sizeExpression(IRGen &g, Dim dim, SourceRange range,
                           llvm::function_ref<mlir::Value(llvm::StringRef)> valueOf);

mlir::Value relabel(IRGen &g, mlir::Value v, mlir::Type type, SourceRange range);
mlir::Value withSize(IRGen &g, mlir::Value x, int64_t axis, Dim size, SourceRange range);
mlir::Value reshape(IRGen &g, mlir::Value x, mlir::ValueRange sizes, SourceRange range);
/// One axis with all elements.
RValue flattened(IRGen &g, const RValue &x, SourceRange range);
mlir::Value stretchable(IRGen &g, mlir::Value x, mlir::ValueRange sizes, SourceRange range);
mlir::Value broadcastTo(IRGen &g, mlir::Value x, mlir::ValueRange sizes, SourceRange range);
mlir::Value permute(IRGen &g, mlir::Value x, llvm::ArrayRef<int64_t> permutation, SourceRange range);
mlir::Value sliceAxis(IRGen &g, mlir::Value x, int64_t axis, mlir::Value start, mlir::Value count, int64_t step,
                      SourceRange range);
mlir::Value selectIndex(IRGen &g, mlir::Value x, int64_t axis, mlir::Value index, SourceRange range);
RValue zerosLike(IRGen &g, const RValue &x, SourceRange range);

} // namespace toy
