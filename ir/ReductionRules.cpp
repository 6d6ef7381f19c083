// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rules of reductions, scans, sorting and matrix products.
#include "ir/ToyDialect.h"

using namespace mlir;

namespace toy::rules {

static SmallVector<Dim> reducedDims(RuleContext &ctx) {
  SmallVector<Dim> dims;
  for (int64_t axis = 0; axis < ctx.rank(0); ++axis) {
    if (!llvm::is_contained(ctx.integers("axes"), axis))
      dims.push_back(ctx.dim(0, axis));
    else if (ctx.flag("keepdims"))
      dims.push_back(Dim::number(ctx.context, 1));
  }
  return dims;
}

static LogicalResult checkAxis(RuleContext &ctx, int64_t axis) {
  if (axis < 0 || axis >= ctx.rank(0))
    return ctx.fail(DiagId::AxisOutOfRange, axis, ctx.tensor(0));
  return success();
}

static LogicalResult reduce(RuleContext &ctx, DType dtype) {
  int64_t previous = -1;
  for (int64_t axis : ctx.integers("axes")) {
    if (failed(checkAxis(ctx, axis)))
      return failure();
    if (axis <= previous)
      return ctx.fail(DiagId::RepeatedAxis, axis, ctx.name);
    previous = axis;
  }
  return ctx.result(dtype, reducedDims(ctx));
}

LogicalResult sumReduction(RuleContext &ctx) {
  return reduce(ctx, ctx.dtype(0) == DType::Bool ? DType::I64 : ctx.dtype(0));
}

/// max, min and their positions: an empty axis has none, unless `orLeast` gives it the least (or largest) value of the
/// dtype.
static LogicalResult checkOrdered(RuleContext &ctx) {
  if (isComplex(ctx.dtype(0)))
    return ctx.failNotOrdered(0);
  bool orLeast = ctx.attributes.contains("orLeast");
  for (int64_t axis : ctx.integers("axes"))
    if (axis >= 0 && axis < ctx.rank(0) && !orLeast && !ctx.hasElements(0, axis))
      return ctx.fail(DiagId::EmptyReduction, ctx.name, ctx.tensor(0), axis);
  return success();
}

LogicalResult orderReduction(RuleContext &ctx) {
  return failed(checkOrdered(ctx)) ? failure() : reduce(ctx, ctx.dtype(0));
}

LogicalResult argReduction(RuleContext &ctx) { return failed(checkOrdered(ctx)) ? failure() : reduce(ctx, DType::I64); }

LogicalResult boolReduction(RuleContext &ctx) {
  if (ctx.dtype(0) != DType::Bool)
    return ctx.fail(DiagId::NeedsBool, ctx.name, ctx.tensor(0));
  return reduce(ctx, DType::Bool);
}

static LogicalResult along(RuleContext &ctx, DType dtype) {
  if (failed(checkAxis(ctx, ctx.integer("axis"))))
    return failure();
  return ctx.result(ctx.tensor(0).withDType(dtype));
}

LogicalResult scan(RuleContext &ctx) { return along(ctx, ctx.dtype(0) == DType::Bool ? DType::I64 : ctx.dtype(0)); }

/// All of the order, or a part of it.
static LogicalResult inOrder(RuleContext &ctx, DType dtype) {
  if (isComplex(ctx.dtype(0)))
    return ctx.failNotOrdered(0);
  if (ctx.size() == 1)
    return along(ctx, dtype);
  int64_t axis = ctx.integer("axis");
  if (ctx.size() != 3)
    return ctx.fail(DiagId::TooManyIndices, static_cast<int64_t>(ctx.size()) - 1, ctx.tensor(0));
  if (failed(checkAxis(ctx, axis)))
    return failure();
  SmallVector<Dim> dims = ctx.tensor(0).getDims();
  dims[axis] = ctx.sizeValue(ctx.operands.back());
  return ctx.result(dtype, dims);
}

LogicalResult sorted(RuleContext &ctx) { return inOrder(ctx, ctx.dtype(0)); }

LogicalResult argSorted(RuleContext &ctx) { return inOrder(ctx, DType::I64); }

static std::string countOf(Dim dim, const char *noun) { return dim.str() + " " + noun + (dim.is(1) ? "" : "s"); }

static LogicalResult failInner(RuleContext &ctx, Dim left, Dim right) {
  bool leftVector = ctx.rank(0) == 1, rightVector = ctx.rank(1) == 1;
  (void)ctx.fail(DiagId::MatmulInner, ctx.tensor(0), ctx.tensor(1), left.str(), right.str());
  ctx.label(0, ctx.tensor(0).str() + ": " + countOf(left, leftVector ? "element" : "column"));
  ctx.label(1, ctx.tensor(1).str() + ": " + countOf(right, rightVector ? "element" : "row"));
  if (rightVector || leftVector)
    return failure();
  int64_t lr = ctx.rank(0), rr = ctx.rank(1);
  if (ctx.dim(1, rr - 1) == left && lr == 2 && rr == 2)
    ctx.help("`{0} @ {1}.T` would be " +
             TensorType::get(ctx.context, ctx.dtype(0), ArrayRef<Dim>{ctx.dim(0, 0), ctx.dim(1, 0)}).str());
  else if (ctx.dim(0, 0) == right && lr == 2 && rr == 2)
    ctx.help("`{0}.T @ {1}` would be " +
             TensorType::get(ctx.context, ctx.dtype(0), ArrayRef<Dim>{ctx.dim(0, 1), ctx.dim(1, 1)}).str());
  return failure();
}

LogicalResult matrixProduct(RuleContext &ctx) {
  int64_t lr = ctx.rank(0), rr = ctx.rank(1);
  if (lr == 0 || rr == 0)
    return ctx.fail(DiagId::MatmulScalar, ctx.tensor(0), ctx.tensor(1));
  if (ctx.dtype(0) != ctx.dtype(1))
    return ctx.fail(DiagId::MixedDTypes, ctx.name, ctx.tensor(0), ctx.tensor(1));
  unsigned leftInner = lr - 1, rightInner = rr == 1 ? 0 : rr - 2;
  if (!ctx.unify(0, leftInner, 1, rightInner))
    return failInner(ctx, ctx.dim(0, leftInner), ctx.dim(1, rightInner));
  SmallVector<Dim> dims;
  int64_t leftBatch = std::max<int64_t>(lr - 2, 0), rightBatch = std::max<int64_t>(rr - 2, 0);
  for (int64_t i = std::max(leftBatch, rightBatch); i > 0; --i) {
    int64_t la = leftBatch - i, ra = rightBatch - i;
    Dim left = la >= 0 ? ctx.dim(0, la) : Dim::number(ctx.context, 1);
    Dim right = ra >= 0 ? ctx.dim(1, ra) : Dim::number(ctx.context, 1);
    if (!left.is(1) && !right.is(1) && !ctx.unify(0, la, 1, ra, true))
      return ctx.fail(DiagId::MatmulBatch, ctx.tensor(0), ctx.tensor(1), left.str(), right.str());
    dims.push_back(left.is(1) ? right : left);
  }
  if (lr > 1)
    dims.push_back(ctx.dim(0, lr - 2));
  if (rr > 1)
    dims.push_back(ctx.dim(1, rr - 1));
  return ctx.result(ctx.dtype(0) == DType::Bool ? DType::I64 : ctx.dtype(0), dims);
}

} // namespace toy::rules
