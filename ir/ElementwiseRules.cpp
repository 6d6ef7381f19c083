// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rules of elementwise operations: dtype classes of unary operations, common dtypes and broadcasting of the others.
#include "ir/ToyDialect.h"

using namespace mlir;

namespace toy::rules {

static LogicalResult sameType(RuleContext &ctx) { return ctx.result(ctx.tensor(0)); }
static LogicalResult withDType(RuleContext &ctx, DType dtype) { return ctx.result(ctx.tensor(0).withDType(dtype)); }

LogicalResult floating(RuleContext &ctx) {
  if (kindOf(ctx.dtype(0)) < DKind::Float)
    return ctx.fail(DiagId::NeedsFloating, ctx.name, ctx.tensor(0));
  return sameType(ctx);
}

static LogicalResult failNotReal(RuleContext &ctx, unsigned operand) {
  (void)ctx.fail(DiagId::NeedsRealFloating, ctx.name, ctx.tensor(operand));
  std::string hole = "{" + std::to_string(operand) + "}";
  ctx.help("`abs(" + hole + ")` and `real(" + hole + ")` are real");
  return failure();
}

LogicalResult realFloating(RuleContext &ctx) {
  if (isComplex(ctx.dtype(0)))
    return failNotReal(ctx, 0);
  return floating(ctx);
}

LogicalResult numeric(RuleContext &ctx) {
  if (ctx.dtype(0) == DType::Bool)
    return ctx.fail(DiagId::NeedsNumber, ctx.name, ctx.tensor(0));
  return sameType(ctx);
}

LogicalResult boolean(RuleContext &ctx) {
  if (ctx.dtype(0) != DType::Bool)
    return ctx.fail(DiagId::NeedsBool, ctx.name, ctx.tensor(0));
  return sameType(ctx);
}

LogicalResult complexOnly(RuleContext &ctx) {
  if (!isComplex(ctx.dtype(0)))
    return ctx.fail(DiagId::NeedsComplex, ctx.name, ctx.tensor(0));
  return sameType(ctx);
}

LogicalResult partOf(RuleContext &ctx) {
  if (!isComplex(ctx.dtype(0)))
    return ctx.fail(DiagId::NeedsComplex, ctx.name, ctx.tensor(0));
  return withDType(ctx, realOf(ctx.dtype(0)));
}

LogicalResult magnitude(RuleContext &ctx) {
  if (ctx.dtype(0) == DType::Bool)
    return ctx.fail(DiagId::NeedsNumber, ctx.name, ctx.tensor(0));
  return withDType(ctx, realOf(ctx.dtype(0)));
}

LogicalResult test(RuleContext &ctx) {
  if (failed(floating(ctx)))
    return failure();
  ctx.results.clear();
  return withDType(ctx, DType::Bool);
}

LogicalResult castTo(RuleContext &ctx) {
  DType target = ctx.dtypeAttribute();
  if (isComplex(ctx.dtype(0)) && !isComplex(target))
    return ctx.fail(DiagId::ComplexToReal, ctx.tensor(0), nameOf(target));
  return withDType(ctx, target);
}

/// The dtype of an operation whose operands have one dtype, or where one is the real dtype of the other's parts.
static FailureOr<DType> commonDType(RuleContext &ctx, unsigned a, unsigned b) {
  DType x = ctx.dtype(a), y = ctx.dtype(b);
  if (x == y)
    return x;
  if (isComplex(x) && y == realOf(x))
    return x;
  if (isComplex(y) && x == realOf(y))
    return y;
  return ctx.fail(DiagId::MixedDTypes, ctx.name, ctx.tensor(a), ctx.tensor(b));
}

static LogicalResult broadcastAs(RuleContext &ctx, DType dtype) {
  auto dims = ctx.broadcast();
  return failed(dims) ? failure() : ctx.result(dtype, *dims);
}

LogicalResult arithmetic(RuleContext &ctx) {
  auto dtype = commonDType(ctx, 0, 1);
  if (failed(dtype))
    return failure();
  if (*dtype == DType::Bool)
    return ctx.fail(DiagId::NeedsNumber, ctx.name, ctx.tensor(0));
  return broadcastAs(ctx, *dtype);
}

LogicalResult trueDivision(RuleContext &ctx) {
  for (unsigned i : {0u, 1u})
    if (kindOf(ctx.dtype(i)) < DKind::Float)
      return ctx.fail(DiagId::NeedsFloating, ctx.name, ctx.tensor(i));
  return arithmetic(ctx);
}

LogicalResult orderedArithmetic(RuleContext &ctx) {
  for (unsigned i : {0u, 1u})
    if (isComplex(ctx.dtype(i)))
      return ctx.failNotOrdered(i);
  auto dtype = commonDType(ctx, 0, 1);
  if (failed(dtype))
    return failure();
  return broadcastAs(ctx, *dtype);
}

/// A complex base may have an integer exponent.
LogicalResult power(RuleContext &ctx) {
  if (isComplex(ctx.dtype(0)) && isInteger(ctx.dtype(1)))
    return broadcastAs(ctx, ctx.dtype(0));
  return arithmetic(ctx);
}

LogicalResult realFloatingPair(RuleContext &ctx) {
  for (unsigned i : {0u, 1u}) {
    if (isComplex(ctx.dtype(i)))
      return failNotReal(ctx, i);
    if (!isFloat(ctx.dtype(i)))
      return ctx.fail(DiagId::NeedsFloating, ctx.name, ctx.tensor(i));
  }
  return arithmetic(ctx);
}

LogicalResult composed(RuleContext &ctx) {
  for (unsigned i : {0u, 1u})
    if (!isFloat(ctx.dtype(i)))
      return ctx.fail(DiagId::NeedsRealFloating, ctx.name, ctx.tensor(i));
  auto dtype = commonDType(ctx, 0, 1);
  if (failed(dtype))
    return failure();
  return broadcastAs(ctx, complexOf(*dtype));
}

LogicalResult equality(RuleContext &ctx) {
  if (failed(commonDType(ctx, 0, 1)))
    return failure();
  return broadcastAs(ctx, DType::Bool);
}

LogicalResult ordering(RuleContext &ctx) {
  for (unsigned i : {0u, 1u})
    if (isComplex(ctx.dtype(i)))
      return ctx.failNotOrdered(i);
  return equality(ctx);
}

LogicalResult booleanPair(RuleContext &ctx) {
  for (unsigned i : {0u, 1u})
    if (ctx.dtype(i) != DType::Bool)
      return ctx.fail(DiagId::NeedsBool, ctx.name, ctx.tensor(i));
  return broadcastAs(ctx, DType::Bool);
}

LogicalResult choose(RuleContext &ctx) {
  if (ctx.dtype(0) != DType::Bool)
    return ctx.fail(DiagId::NeedsBool, ctx.name, ctx.tensor(0));
  auto dtype = commonDType(ctx, 1, 2);
  if (failed(dtype))
    return failure();
  return broadcastAs(ctx, *dtype);
}

/// Real tensors that broadcast; the part of a complex function's value has their dtype.
LogicalResult functionPart(RuleContext &ctx) {
  for (unsigned i = 0; i < ctx.size(); ++i)
    if (!isFloat(ctx.dtype(i)) && !(i == 2 && isInteger(ctx.dtype(i))))
      return ctx.fail(DiagId::NeedsRealFloating, ctx.name, ctx.tensor(i));
  return broadcastAs(ctx, ctx.dtype(0));
}

} // namespace toy::rules
