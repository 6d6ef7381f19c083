// SPDX-License-Identifier: Apache-2.0
/// \file
/// Folds that are exact: integer arithmetic on scalar constants, casts to the same dtype, reinterpretations that undo
/// each other. Floating arithmetic is left to the code that runs it, so that one place decides its bits; but 1.0 * x,
/// by which libraries make numbers floating, is x (LLVM has it so as well).
#include "ir/ToyDialect.h"

#include "mlir/IR/Builders.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;

namespace toy {

/// The value of an i64 scalar constant.
static std::optional<int64_t> integerOf(Attribute attribute) {
  auto dense = dyn_cast_if_present<DenseElementsAttr>(attribute);
  if (!dense || !dense.getElementType().isInteger(64) || dense.getType().getRank() != 0)
    return std::nullopt;
  return *dense.value_begin<int64_t>();
}

static Attribute integerAttr(MLIRContext *context, int64_t value) {
  return DenseElementsAttr::get(RankedTensorType::get({}, IntegerType::get(context, 64)), value);
}

/// Folds i64 scalars by a function that may decline.
template <typename Adaptor>
static OpFoldResult foldIntegers(MLIRContext *context, Adaptor adaptor,
                                 llvm::function_ref<std::optional<int64_t>(int64_t, int64_t)> compute) {
  auto a = integerOf(adaptor.getLhs()), b = integerOf(adaptor.getRhs());
  if (!a || !b)
    return {};
  auto value = compute(*a, *b);
  return value ? OpFoldResult(integerAttr(context, *value)) : OpFoldResult();
}

/// Integer x + 0, x - 0, x * 1 are x (floats are left alone: -0 + 0 is +0).
static Value dropUnit(Value lhs, Attribute rhs, int64_t unit) {
  return integerOf(rhs) == unit && tensorTypeOf(lhs).isScalar() ? lhs : Value();
}

// What leaves 64 bits is not folded: it wraps when the program runs, unless it turns out to be a size, which it never
// does.
OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (Value x = dropUnit(getLhs(), adaptor.getRhs(), 0))
    return x;
  return foldIntegers(getContext(), adaptor, llvm::checkedAdd<int64_t>);
}
OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (Value x = dropUnit(getLhs(), adaptor.getRhs(), 0))
    return x;
  return foldIntegers(getContext(), adaptor, llvm::checkedSub<int64_t>);
}
/// Whether a factor is the real number 1 and the product of the other one's type.
static bool leavesOther(Attribute factor, Value other, Value product) {
  auto dense = dyn_cast_if_present<DenseElementsAttr>(factor);
  return dense && isa<FloatType>(dense.getElementType()) && dense.getType().getRank() == 0 &&
         dense.getSplatValue<APFloat>().isExactlyValue(1.0) && other.getType() == product.getType();
}
OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (leavesOther(adaptor.getLhs(), getRhs(), getResult()))
    return getRhs();
  if (leavesOther(adaptor.getRhs(), getLhs(), getResult()))
    return getLhs();
  if (Value x = dropUnit(getLhs(), adaptor.getRhs(), 1))
    return x;
  return foldIntegers(getContext(), adaptor, llvm::checkedMul<int64_t>);
}

static std::optional<int64_t> floorDivide(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return std::nullopt;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
OpFoldResult FloorDivOp::fold(FoldAdaptor adaptor) { return foldIntegers(getContext(), adaptor, floorDivide); }
OpFoldResult ModOp::fold(FoldAdaptor adaptor) {
  return foldIntegers(getContext(), adaptor, [](int64_t a, int64_t b) -> std::optional<int64_t> {
    auto q = floorDivide(a, b);
    return q ? std::optional(a - *q * b) : std::nullopt;
  });
}
OpFoldResult MinimumOp::fold(FoldAdaptor adaptor) {
  return foldIntegers(getContext(), adaptor, [](int64_t a, int64_t b) { return std::min(a, b); });
}
OpFoldResult MaximumOp::fold(FoldAdaptor adaptor) {
  return foldIntegers(getContext(), adaptor, [](int64_t a, int64_t b) { return std::max(a, b); });
}

template <typename Adaptor>
static OpFoldResult foldCompare(MLIRContext *context, Adaptor adaptor, bool (*compare)(int64_t, int64_t)) {
  auto a = integerOf(adaptor.getLhs()), b = integerOf(adaptor.getRhs());
  if (!a || !b)
    return {};
  return DenseElementsAttr::get(RankedTensorType::get({}, IntegerType::get(context, 1)), compare(*a, *b));
}
#define TOY_COMPARE_FOLD(OP, SIGN)                                                                                     \
  OpFoldResult OP::fold(FoldAdaptor adaptor) {                                                                         \
    return foldCompare(getContext(), adaptor, [](int64_t a, int64_t b) { return a SIGN b; });                          \
  }
TOY_COMPARE_FOLD(EqOp, ==)
TOY_COMPARE_FOLD(NeOp, !=)
TOY_COMPARE_FOLD(LtOp, <)
TOY_COMPARE_FOLD(LeOp, <=)
TOY_COMPARE_FOLD(GtOp, >)
TOY_COMPARE_FOLD(GeOp, >=)

OpFoldResult CastOp::fold(FoldAdaptor) { return getX().getType() == getType() ? OpFoldResult(getX()) : OpFoldResult(); }

OpFoldResult RelabelOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  auto inner = getX().getDefiningOp<RelabelOp>();
  if (!inner)
    return {};
  if (inner.getX().getType() == getType())
    return inner.getX();
  getXMutable().assign(inner.getX());
  return getResult();
}

/// Axes in their own order.
OpFoldResult PermuteOp::fold(FoldAdaptor) {
  bool isOwn = llvm::equal(getPermutation(), llvm::seq<int64_t>(getPermutation().size()));
  return isOwn && getX().getType() == getType() ? getX() : OpFoldResult();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

OpFoldResult DimOp::fold(FoldAdaptor) {
  Dim dim = tensorTypeOf(getX()).getDim(getAxis());
  return dim.isNumber() ? OpFoldResult(integerAttr(getContext(), dim.value())) : OpFoldResult();
}

std::optional<unsigned> SizeValueOp::operandOf(StringRef name) {
  unsigned index;
  bool isOperand = name.consume_front("$$") || name.consume_front("$");
  return isOperand && !name.getAsInteger(10, index) ? std::optional(index) : std::nullopt;
}

/// With every operand known, the value; an expression that is an operand, that operand.
OpFoldResult SizeValueOp::fold(FoldAdaptor adaptor) {
  Dim expression = getExpr();
  if (auto operand = operandOf(expression.symbolName()))
    return getOperand(*operand);
  auto value = expression.evaluate([&](StringRef name) { return integerOf(adaptor.getSymbols()[*operandOf(name)]); });
  return value ? OpFoldResult(integerAttr(getContext(), *value)) : OpFoldResult();
}

OpFoldResult CheckIndexOp::fold(FoldAdaptor adaptor) {
  auto index = integerOf(adaptor.getIndex()), size = integerOf(adaptor.getSize());
  if (!index || !size || *index >= *size || *index < -*size)
    return {};
  return integerAttr(getContext(), *index < 0 ? *index + *size : *index);
}

OpFoldResult CheckSizeOp::fold(FoldAdaptor adaptor) {
  auto size = integerOf(adaptor.getSize());
  return size && *size >= (getReduced() ? 1 : 0) ? OpFoldResult(adaptor.getSize()) : OpFoldResult();
}

OpFoldResult ViewAsRealOp::fold(FoldAdaptor) {
  auto inner = getX().getDefiningOp<ViewAsComplexOp>();
  return inner && inner.getX().getType() == getType() ? OpFoldResult(inner.getX()) : OpFoldResult();
}
OpFoldResult ViewAsComplexOp::fold(FoldAdaptor) {
  auto inner = getX().getDefiningOp<ViewAsRealOp>();
  return inner && inner.getX().getType() == getType() ? OpFoldResult(inner.getX()) : OpFoldResult();
}

/// The part of a pair is what was packed.
OpFoldResult PartOp::fold(FoldAdaptor) {
  auto pack = getX().getDefiningOp<PackOp>();
  if (!pack)
    return {};
  Value part = getIndex() == 0 ? pack.getRe() : pack.getIm();
  return part.getType() == getType() ? OpFoldResult(part) : OpFoldResult();
}

} // namespace toy
