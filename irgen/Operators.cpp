// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators: promotion, broadcasting, matrix products, adjoints.
#include "irgen/IRGenImpl.h"

using namespace mlir;

namespace toy {

Value IRGen::cast(Value x, DType dtype, SourceRange range) {
  if (tensorTypeOf(x).getDtype() == dtype)
    return x;
  return create<CastOp>(range, {x}, {dtypeAttr(dtype)});
}

Value IRGen::castVal(const Val &x, DType dtype, SourceRange range) {
  if (x.literal && kindOf(dtype) >= kindOf(x.tensor().getDtype()))
    return numberAs(*x.literal, dtype);
  return cast(x.value, dtype, range);
}

Value IRGen::castOperand(const Val &x, DType dtype, SourceRange range) {
  return castVal(x, isComplex(dtype) && !isComplex(x.tensor().getDtype()) ? realOf(dtype) : dtype, range);
}

DType IRGen::promoteAll(ArrayRef<Val> values) {
  auto operand = [](const Val &v) { return PromotionOperand{v.tensor().getDtype(), v.tensor().getRank() > 0, v.weak}; };
  PromotionOperand all = operand(values[0]);
  for (const Val &v : values.drop_front()) {
    PromotionOperand next = operand(v);
    all = {promote(all, next), all.ranked || next.ranked, all.weak && next.weak};
  }
  return all.dtype;
}

const Val &IRGen::needTensor(const Val &x, StringRef what, SourceRange range) {
  if (!x.isTensor())
    fail(DiagId::NotANumber, range, {what.str(), x.kind == Val::DTypeRef ? "a dtype" : x.type().str()});
  return x;
}

static StringRef opOf(ast::BinaryOp op) {
  static constexpr const char *names[] = {"add", "sub", "mul", "div", "floordiv", "mod", "matmul", "pow",
                                          "eq",  "ne",  "lt",  "le",  "gt",       "ge",  "and",    "or"};
  return names[static_cast<int>(op)];
}

/// What an operation of these operands computes in: integers beside halves become f32, too, so that only the result is
/// rounded.
DType IRGen::workingDType(DType dtype, ArrayRef<Val> values) {
  bool isMixed = llvm::any_of(values, [](const Val &v) { return !isHalf(v.tensor().getDtype()) && !v.weak; });
  return isHalf(dtype) && isMixed ? DType::F32 : dtype;
}

/// Casts both operands to the dtype (real operands of complex operations stay real) and creates the operation.
Val IRGen::elementwise(StringRef op, const Val &lhs, const Val &rhs, DType dtype, SourceRange range,
                       SourceRange lhsRange, SourceRange rhsRange) {
  DType work = workingDType(dtype, {lhs, rhs});
  Value x = castOperand(lhs, work, lhsRange), y = castOperand(rhs, work, rhsRange),
        result = create(op, range, {x, y}, {}, {lhsRange, rhsRange});
  return Val::leaf(work != dtype && tensorTypeOf(result).getDtype() == work ? cast(result, dtype, range) : result);
}

Val IRGen::binary(ast::BinaryOp op, const Val &lhs, const Val &rhs, SourceRange range, SourceRange opRange,
                  SourceRange lhsRange, SourceRange rhsRange) {
  using ast::BinaryOp;
  std::string spelling(ast::spellingOf(op));
  if (lhs.isStr() && rhs.isStr()) {
    if (op == BinaryOp::Add)
      return Val::leaf(create<StrConcatOp>(range, {lhs.value, rhs.value}));
    if (op == BinaryOp::Eq || op == BinaryOp::Ne) {
      auto left = stringOf(lhs), right = stringOf(rhs);
      Value equal = left && right ? boolean(*left == *right, range) : create<StrEqOp>(range, {lhs.value, rhs.value});
      return Val::leaf(op == BinaryOp::Eq ? equal : create<NotOp>(range, {equal}));
    }
  }
  if (!lhs.isTensor() || !rhs.isTensor()) {
    auto text = [](const Val &v) { return v.kind == Val::DTypeRef ? std::string("a dtype") : v.type().str(); };
    if (lhs.kind == Val::DTypeRef && rhs.kind == Val::DTypeRef && (op == BinaryOp::Eq || op == BinaryOp::Ne))
      return Val::leaf(boolean((lhs.dtype == rhs.dtype) == (op == BinaryOp::Eq), range));
    Diagnostic &d = report(DiagId::StringOperand, opRange, {spelling, text(lhs), text(rhs)});
    d.label(lhsRange, text(lhs)).label(rhsRange, text(rhs));
    if (lhs.isStr() != rhs.isStr() && op == BinaryOp::Add)
      d.withHelp("`str(x)` makes a string of a value");
    throw IRAbort();
  }
  if (op == BinaryOp::MatMul)
    return matmul(lhs, rhs, opRange, lhsRange, rhsRange);
  DType dtype = promoteAll({lhs, rhs});
  Val result;
  switch (op) {
  case BinaryOp::Add:
  case BinaryOp::Sub:
  case BinaryOp::Mul:
  case BinaryOp::FloorDiv:
  case BinaryOp::Mod:
    result = elementwise(opOf(op), lhs, rhs, dtype == DType::Bool ? DType::I64 : dtype, opRange, lhsRange, rhsRange);
    break;
  case BinaryOp::Div:
    result =
        elementwise<DivOp>(lhs, rhs, kindOf(dtype) <= DKind::Int ? DType::F64 : dtype, opRange, lhsRange, rhsRange);
    break;
  case BinaryOp::Pow:
    if (isComplex(lhs.tensor().getDtype()) && isInteger(rhs.tensor().getDtype()))
      result = Val::leaf(create<PowOp>(opRange, {lhs.value, rhs.value}, {}, {lhsRange, rhsRange}));
    else
      result = elementwise<PowOp>(lhs, rhs, dtype == DType::Bool ? DType::I64 : dtype, opRange, lhsRange, rhsRange);
    break;
  default:
    return elementwise(opOf(op), lhs, rhs, dtype, opRange, lhsRange, rhsRange);
  }
  result.weak = lhs.weak && rhs.weak;
  return result;
}

Val IRGen::matmul(const Val &lhs, const Val &rhs, SourceRange range, SourceRange lhsRange, SourceRange rhsRange) {
  DType dtype = promoteAll({lhs, rhs});
  if (dtype == DType::Bool)
    dtype = DType::I64;
  DType work = workingDType(dtype, {lhs, rhs});
  Value x = castVal(lhs, work, lhsRange), y = castVal(rhs, work, rhsRange);
  return Val::leaf(cast(create<MatMulOp>(range, {x, y}, {}, {lhsRange, rhsRange}), dtype, range));
}

Val IRGen::unary(ast::UnaryOp op, const Val &x, SourceRange range) {
  needTensor(x, op == ast::UnaryOp::Not ? "not" : "-", range);
  if (op == ast::UnaryOp::Not)
    return Val::leaf(create<NotOp>(range, {x.value}));
  if (op == ast::UnaryOp::Plus)
    return x;
  Value operand = x.tensor().getDtype() == DType::Bool ? cast(x.value, DType::I64, range) : x.value;
  Val result = Val::leaf(create<NegOp>(range, {operand}));
  result.weak = x.weak;
  return result;
}

Val IRGen::transposeLast(const Val &x, SourceRange range) {
  int64_t rank = x.tensor().getRank();
  if (rank < 2)
    return x;
  SmallVector<int64_t> permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[rank - 1], permutation[rank - 2]);
  return Val::leaf(permute(x.value, permutation, range));
}

/// The conjugate transpose of the last two axes; of vectors and scalars the conjugate.
Val IRGen::adjoint(const Val &x, SourceRange range) {
  needTensor(x, "'", range);
  Val conjugated = x.tensor().isComplex() ? Val::leaf(create<ConjOp>(range, {x.value})) : x;
  return transposeLast(conjugated, range);
}

} // namespace toy
