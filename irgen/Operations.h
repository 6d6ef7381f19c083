// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operations on values: operators with promotion, sizes as values that the run computes, other sizes and axes.
#pragma once

#include "irgen/Context.h"

namespace toy {

/// The same numbers in a dtype; `x` itself where it has it.
mlir::Value castTo(IRGen &g, mlir::Value x, DType dtype, SourceRange range);
/// The same; a literal is read again, in that dtype.
mlir::Value castVal(IRGen &g, const RValue &x, DType dtype, SourceRange range);
/// The dtype in which tensors meet; literals take that of the others.
DType promoteAll(llvm::ArrayRef<RValue> values);
/// `x`; an error if it is no tensor, for which `what` names the operator or argument.
const RValue &needTensor(IRGen &g, const RValue &x, llvm::StringRef what, SourceRange range);
/// Casts both operands to the dtype (real operands of complex operations stay real) and creates the operation.
RValue elementwise(IRGen &g, llvm::StringRef op, const RValue &lhs, const RValue &rhs, DType dtype, SourceRange range,
                   SourceRange lhsRange, SourceRange rhsRange);
template <typename Op>
RValue elementwise(IRGen &g, const RValue &lhs, const RValue &rhs, DType dtype, SourceRange range, SourceRange lhsRange,
                   SourceRange rhsRange) {
  return elementwise(g, IRGen::mnemonicOf<Op>(), lhs, rhs, dtype, range, lhsRange, rhsRange);
}
/// An operator on two tensors, texts, dtypes or lists, with promotion; an error where it has no meaning.
RValue binaryOperation(IRGen &g, ast::BinaryOp op, const RValue &lhs, const RValue &rhs, SourceRange range,
                       SourceRange opRange, SourceRange lhsRange, SourceRange rhsRange);
RValue unaryOperation(IRGen &g, ast::UnaryOp op, const RValue &x, SourceRange range);
/// `@`: bools are counted as i64, half precision as the rules of promotion say.
RValue matmul(IRGen &g, const RValue &lhs, const RValue &rhs, SourceRange range, SourceRange lhsRange,
              SourceRange rhsRange);
/// The conjugate transpose of the last two axes; of vectors and scalars the conjugate.
RValue adjoint(IRGen &g, const RValue &x, SourceRange range);
/// The last two axes exchanged; of fewer the operand.
RValue transposeLast(IRGen &g, const RValue &x, SourceRange range);

/// A size as the run computes it: an expression of operands (see toy.size_value).
struct SizeTerm {
  Dim expression;
  llvm::SmallVector<mlir::Value, 2> operands;
};

/// The size of an axis as an i64 scalar: a constant where it is known.
mlir::Value sizeOf(IRGen &g, mlir::Value x, int64_t axis, SourceRange range);
llvm::SmallVector<mlir::Value> sizesOf(IRGen &g, mlir::Value x, SourceRange range);
/// The name of a size that is a value of the program: one value, one name. The value is 0 or more.
Dim nameOfSize(IRGen &g, mlir::Value value);
/// Arithmetic on sizes, positions and counts: one checked operation, however long the expression becomes.
mlir::Value arith(IRGen &g, llvm::StringRef op, mlir::Value a, mlir::Value b, SourceRange range);
template <typename Op> mlir::Value arith(IRGen &g, mlir::Value a, mlir::Value b, SourceRange range) {
  return arith(g, IRGen::mnemonicOf<Op>(), a, b, range);
}
/// A value as a term. Arithmetic of the program on sizes is taken apart, so that it is checked where it makes a size;
/// other integers of the program are operands, and their arithmetic wraps, unless the value is to be a size itself.
SizeTerm sizeTerm(IRGen &g, mlir::Value value, SourceRange range, bool isSize = false);
/// A term of two; where no expression can say it, the operation computes it, and its result is the term.
SizeTerm combine(IRGen &g, llvm::StringRef op, const SizeTerm &a, const SizeTerm &b, SourceRange range);
/// The i64 scalar of a term: one checked operation.
mlir::Value valueOf(IRGen &g, const SizeTerm &term, SourceRange range);
/// An error that is the text alone, unless a condition holds: what a function does not take.
void needValue(IRGen &g, mlir::Value holds, mlir::Value text, SourceRange range);
/// A size operand of an operation: as it is, or, where the program computed it, checked. What has no expression keeps
/// its name.
mlir::Value checkedSize(IRGen &g, mlir::Value value, SourceRange range);
/// An i64 value of a size; `valueOf` gives those of the names in it.
mlir::Value sizeExpression(IRGen &g, Dim dim, SourceRange range,
                           llvm::function_ref<mlir::Value(llvm::StringRef)> valueOf);

/// The same tensor under a type that names its sizes otherwise.
mlir::Value relabel(IRGen &g, mlir::Value v, mlir::Type type, SourceRange range);
/// The operand with another size on an axis, which is known to be equal.
mlir::Value withSize(IRGen &g, mlir::Value x, int64_t axis, Dim size, SourceRange range);
/// The elements in row-major order under other sizes, as many.
mlir::Value reshape(IRGen &g, mlir::Value x, mlir::ValueRange sizes, SourceRange range);
/// One axis with all elements.
RValue flattened(IRGen &g, const RValue &x, SourceRange range);
/// `x` as it may be repeated to sizes. Which axes of dynamic sizes stretch is decided; what is not known is
/// tested at run time, and the axis stretches there.
mlir::Value stretchable(IRGen &g, mlir::Value x, mlir::ValueRange sizes, SourceRange range);
/// Repeated to sizes, as NumPy does.
mlir::Value broadcastTo(IRGen &g, mlir::Value x, mlir::ValueRange sizes, SourceRange range);
mlir::Value permute(IRGen &g, mlir::Value x, llvm::ArrayRef<int64_t> permutation, SourceRange range);
/// Of the axes of a reduction those that end the tensor, where others stay between them and further ones; they are
/// reduced first (rule 12).
llvm::SmallVector<int64_t> axesToFoldFirst(int64_t rank, llvm::ArrayRef<int64_t> axes);
/// `count` elements of an axis, from `start` on; all of the others. They lie inside.
mlir::Value sliceAxis(IRGen &g, mlir::Value x, int64_t axis, mlir::Value start, mlir::Value count, int64_t step,
                      SourceRange range);
/// An axis whose last `shift` elements come first; 0 <= shift <= its size.
struct Roll {
  int64_t axis;
  mlir::Value shift;
};
mlir::Value rolled(IRGen &g, mlir::Value x, llvm::ArrayRef<Roll> rolls, SourceRange range);
/// One element of an axis; the axis is dropped. The index is in range.
mlir::Value selectIndex(IRGen &g, mlir::Value x, int64_t axis, mlir::Value index, SourceRange range);
RValue zerosLike(IRGen &g, const RValue &x, SourceRange range);

} // namespace toy
