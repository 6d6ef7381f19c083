// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rules of constants, makers, strings and effects.
#include "ir/ToyDialect.h"

using namespace mlir;

namespace toy::rules {

static DType dtypeOfElement(Type element) {
  for (int i = 0; i < numDTypes; ++i)
    if (elementTypeOf(element.getContext(), static_cast<DType>(i)) == element)
      return static_cast<DType>(i);
  return DType::I64;
}

LogicalResult constantValue(RuleContext &ctx) {
  auto type = ctx.attributes.getAs<ElementsAttr>("value").getShapedType();
  SmallVector<Dim> dims;
  for (int64_t size : type.getShape())
    dims.push_back(Dim::number(ctx.context, size));
  return ctx.result(dtypeOfElement(type.getElementType()), dims);
}

static LogicalResult sized(RuleContext &ctx, DType dtype, ValueRange sizes) {
  SmallVector<Dim> dims;
  for (Value value : sizes) {
    dims.push_back(ctx.sizeValue(value));
    if (dims.back().isNumber() && dims.back().value() < 0)
      return ctx.fail(DiagId::NegativeSize, dims.back().str());
  }
  return ctx.result(dtype, dims);
}

LogicalResult filled(RuleContext &ctx) { return sized(ctx, ctx.dtype(0), ctx.operands.drop_front()); }
LogicalResult counted(RuleContext &ctx) { return sized(ctx, DType::I64, ctx.operands); }

LogicalResult randomized(RuleContext &ctx) {
  DType dtype = ctx.dtypeAttribute();
  bool normal = ctx.flag("normal");
  if (kindOf(dtype) < DKind::Float || (!normal && isComplex(dtype)))
    return ctx.fail(DiagId::RandomDType, normal ? "randn" : "rand", nameOf(dtype));
  return sized(ctx, dtype, ctx.operands);
}

LogicalResult binaryRead(RuleContext &ctx) { return sized(ctx, ctx.dtypeAttribute(), ctx.operands.drop_front(2)); }

LogicalResult nothing(RuleContext &ctx) { return success(); }
LogicalResult declared(RuleContext &ctx) {
  ctx.results.assign(ctx.declared.begin(), ctx.declared.end());
  return success();
}
LogicalResult string(RuleContext &ctx) { return ctx.result(StrType::get(ctx.context)); }
LogicalResult bytesOfText(RuleContext &ctx) { return ctx.result(DType::U8, {ctx.freshDim()}); }
LogicalResult boolScalar(RuleContext &ctx) { return ctx.result(TensorType::scalar(ctx.context, DType::Bool)); }
LogicalResult indexScalar(RuleContext &ctx) { return ctx.result(TensorType::scalar(ctx.context, DType::I64)); }
LogicalResult floatScalar(RuleContext &ctx) { return ctx.result(TensorType::scalar(ctx.context, DType::F64)); }
LogicalResult parsedNumber(RuleContext &ctx) {
  return ctx.result(TensorType::scalar(ctx.context, ctx.dtypeAttribute()));
}
LogicalResult truthValue(RuleContext &ctx) { return ctx.result(IntegerType::get(ctx.context, 1)); }

} // namespace toy::rules
