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

LogicalResult randomKey(RuleContext &ctx) { return ctx.result(DType::I64, {Dim::number(ctx.context, 2)}); }

/// Whether operand 0 is a key, which every function that takes one calls `key`.
static LogicalResult takesKey(RuleContext &ctx) {
  TensorType key = ctx.tensor(0);
  if (key.getDtype() == DType::I64 && key.getRank() == 1 && key.getDim(0).is(2))
    return success();
  return ctx.fail(DiagId::ArgumentKind, ctx.name, "`key`", "an i64[2], as `key(7)` gives", typeText(key));
}

LogicalResult foldedIn(RuleContext &ctx) {
  if (failed(takesKey(ctx)))
    return failure();
  SmallVector<Dim> dims(ctx.tensor(1).getDims());
  dims.push_back(Dim::number(ctx.context, 2));
  return ctx.result(DType::I64, dims);
}

/// Parameters have the dtype of their row, and are scalars or have the sizes of the result.
static LogicalResult distributed(RuleContext &ctx, unsigned first, ValueRange sizes) {
  StringRef name = ctx.attributes.getAs<StringAttr>("distribution").getValue();
  DType dtype = ctx.dtypeAttribute();
  std::optional<DistributionRow> row = distributionRow(name);
  if (!row)
    return ctx.fail(DiagId::NotAFunction, name);
  if (!row->gives(dtype))
    return ctx.fail(DiagId::RandomDType, name, nameOf(dtype));
  for (unsigned i : {first, first + 1})
    if (TensorType type = ctx.tensor(i); type.getDtype() != row->parameters ||
                                         (type.getRank() != 0 && static_cast<size_t>(type.getRank()) != sizes.size()))
      return ctx.fail(DiagId::ArgumentKind, name, "a parameter",
                      "a scalar, or as large as the result, of " + std::string(nameOf(row->parameters)),
                      typeText(type));
  return sized(ctx, dtype, sizes);
}

LogicalResult sampled(RuleContext &ctx) {
  if (failed(takesKey(ctx)))
    return failure();
  return distributed(ctx, 1, ctx.operands.drop_front(3));
}
LogicalResult drawn(RuleContext &ctx) { return distributed(ctx, 0, {}); }

LogicalResult randomOrder(RuleContext &ctx) {
  if (failed(takesKey(ctx)))
    return failure();
  return sized(ctx, DType::I64, ctx.operands.drop_front(2));
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
