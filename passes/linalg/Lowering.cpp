// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the rows of the conversion to upstream dialects build with.
#include "passes/linalg/Lowering.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace toy {

Type upstreamElement(MLIRContext *context, DType dtype) {
  if (isComplex(dtype))
    return {};
  return dtype == DType::U8 ? IntegerType::get(context, 8) : elementTypeOf(context, dtype);
}

Type upstreamType(TensorType type) {
  Type element = upstreamElement(type.getContext(), type.getDtype());
  if (!element || type.isScalar())
    return element;
  SmallVector<int64_t> shape =
      llvm::map_to_vector(type.getDims(), [](Dim dim) { return dim.asNumber().value_or(ShapedType::kDynamic); });
  return RankedTensorType::get(shape, element);
}

RankedTensorType Lowering::ranked(TensorType type) const {
  Type converted = upstreamType(type);
  return isa<RankedTensorType>(converted) ? cast<RankedTensorType>(converted) : RankedTensorType::get({}, converted);
}

Value Lowering::number(Type type, double value) {
  if (isa<FloatType>(type))
    return make<arith::ConstantOp>(b.getFloatAttr(type, value));
  return make<arith::ConstantOp>(b.getIntegerAttr(type, static_cast<int64_t>(value)));
}

void Lowering::require(Value condition, const Twine &message) {
  cf::AssertOp::create(b, loc, condition, message.str());
}

OpFoldResult Lowering::sizeOf(Value tensor, int64_t axis) {
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(axis);
  if (!ShapedType::isDynamic(size))
    return b.getIndexAttr(size);
  return make<tensor::DimOp>(tensor, index(axis));
}

SmallVector<OpFoldResult> Lowering::sizesOf(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis = 0; type && axis < type.getRank(); ++axis)
    sizes.push_back(sizeOf(tensor, axis));
  return sizes;
}

SmallVector<OpFoldResult> Lowering::sizesFrom(TensorType type, ValueRange values) {
  SmallVector<OpFoldResult> sizes;
  for (auto [axis, value] : llvm::enumerate(values)) {
    std::optional<int64_t> known = type.getDim(axis).asNumber();
    sizes.push_back(known ? OpFoldResult(b.getIndexAttr(*known)) : OpFoldResult(toIndex(value)));
  }
  return sizes;
}

SmallVector<OpFoldResult> Lowering::broadcastSizes(TensorType type) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (type.getDim(axis).isNumber()) {
      sizes.push_back(b.getIndexAttr(type.getDim(axis).value()));
      continue;
    }
    for (auto [i, value] : llvm::enumerate(in)) {
      int64_t own = axis - (type.getRank() - operandType(i).getRank());
      if (own >= 0 && !operandType(i).getDim(own).is(1)) {
        sizes.push_back(sizeOf(value, own));
        break;
      }
    }
  }
  return sizes;
}

Value Lowering::empty(RankedTensorType type, ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> dynamic;
  for (auto [axis, size] : llvm::enumerate(sizes))
    if (type.isDynamicDim(axis))
      dynamic.push_back(getValueOrCreateConstantIndexOp(b, loc, size));
  return make<tensor::EmptyOp>(type, dynamic);
}

Value Lowering::filled(RankedTensorType type, ArrayRef<OpFoldResult> sizes, Value value) {
  return make<linalg::FillOp>(ValueRange{value}, ValueRange{empty(type, sizes)});
}

AffineMap Lowering::broadcastMap(TensorType operand, TensorType result) {
  SmallVector<AffineExpr> indices;
  int64_t added = result.getRank() - operand.getRank();
  for (int64_t axis = 0; axis < operand.getRank(); ++axis) {
    bool stretched = operand.getDim(axis).is(1) && !result.getDim(axis + added).is(1);
    indices.push_back(stretched ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(axis + added));
  }
  return AffineMap::get(result.getRank(), 0, indices, b.getContext());
}

SmallVector<Value> Lowering::generic(ValueRange ins, ValueRange outs, ArrayRef<AffineMap> maps, ArrayRef<bool> reduced,
                                     Body body) {
  auto iterators = llvm::map_to_vector(
      reduced, [](bool is) { return is ? utils::IteratorType::reduction : utils::IteratorType::parallel; });
  auto op = linalg::GenericOp::create(
      b, loc, TypeRange(outs), ins, outs, maps, iterators,
      [&](OpBuilder &, Location, ValueRange elements) { linalg::YieldOp::create(b, loc, body(elements)); });
  return llvm::to_vector_of<Value>(op.getResults());
}

Value Lowering::tabulate(RankedTensorType type, ArrayRef<OpFoldResult> sizes, function_ref<Value(ValueRange)> element) {
  SmallVector<bool> parallel(type.getRank(), false);
  return generic({}, {empty(type, sizes)}, {b.getMultiDimIdentityMap(type.getRank())}, parallel, [&](ValueRange) {
    SmallVector<Value> indices;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      indices.push_back(make<linalg::IndexOp>(axis));
    return SmallVector<Value>{element(indices)};
  })[0];
}

Value Lowering::insert(Value source, Value into, ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                       ArrayRef<OpFoldResult> steps) {
  return make<tensor::InsertSliceOp>(source, into, offsets, sizes, steps);
}

Value Lowering::elementOf(Value scalarOrTensor) {
  auto type = dyn_cast<RankedTensorType>(scalarOrTensor.getType());
  if (!type)
    return scalarOrTensor;
  SmallVector<Value> zeros(type.getRank(), type.getRank() ? index(0) : Value());
  return extract(scalarOrTensor, zeros);
}

Value Lowering::asTensor(Value value) {
  if (isa<RankedTensorType>(value.getType()))
    return value;
  return make<tensor::FromElementsOp>(RankedTensorType::get({}, value.getType()), value);
}

std::optional<int64_t> smallExponent(Value exponent) {
  APInt n;
  APFloat real(0.0);
  std::optional<int64_t> known;
  if (matchPattern(exponent, m_ConstantInt(&n)))
    known = n.trySExtValue();
  else if (matchPattern(exponent, m_ConstantFloat(&real)) && real.isFinite() && real.isInteger())
    known = static_cast<int64_t>(real.convertToDouble());
  return known && *known >= -64 && *known <= 64 ? known : std::nullopt;
}

} // namespace toy
