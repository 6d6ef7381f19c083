// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rules of indexing by data and of updates.
#include "ir/ToyDialect.h"

using namespace mlir;

namespace toy::rules {

static bool isPosition(DType d) { return isInteger(d); }

/// Sizes of `x` with the indexed axes replaced by the broadcast sizes of the index tensors (operands from `first`).
static FailureOr<SmallVector<Dim>> takenDims(RuleContext &ctx, unsigned first) {
  ArrayRef<int64_t> axes = ctx.integers("axes");
  SmallVector<unsigned> which;
  for (unsigned i = first; i < ctx.size(); ++i) {
    which.push_back(i);
    if (!isPosition(ctx.dtype(i)))
      return ctx.fail(DiagId::IndexDType, ctx.tensor(i));
  }
  if (axes.size() != which.size() || axes.empty())
    return ctx.fail(DiagId::TooManyIndices, static_cast<int64_t>(which.size()), ctx.tensor(0));
  for (auto [i, axis] : llvm::enumerate(axes))
    if (axis != axes[0] + static_cast<int64_t>(i) || axis >= ctx.rank(0) || axis < 0)
      return ctx.fail(DiagId::TooManyIndices, static_cast<int64_t>(which.size()), ctx.tensor(0));
  auto middle = ctx.broadcast(which);
  if (failed(middle))
    return failure();
  SmallVector<Dim> dims = ctx.tensor(0).getDims();
  dims.erase(dims.begin() + axes.front(), dims.begin() + axes.back() + 1);
  dims.insert(dims.begin() + axes.front(), middle->begin(), middle->end());
  return dims;
}

LogicalResult taken(RuleContext &ctx) {
  auto dims = takenDims(ctx, 1);
  return failed(dims) ? failure() : ctx.result(ctx.dtype(0), *dims);
}

LogicalResult takeStored(RuleContext &ctx) {
  auto dims = takenDims(ctx, 2);
  if (failed(dims))
    return failure();
  TensorType target = TensorType::get(ctx.context, ctx.dtype(0), *dims);
  if (ctx.dtype(0) != ctx.dtype(1) || ctx.rank(1) > target.getRank())
    return ctx.fail(DiagId::CannotStore, ctx.tensor(1), target);
  for (int64_t i = 1; i <= ctx.rank(1); ++i) {
    Dim from = ctx.dim(1, ctx.rank(1) - i), to = target.getDim(target.getRank() - i);
    if (from.isNumber() && to.isNumber() && !from.is(1) && from != to) {
      ctx.mismatch = {"sizes of a broadcast", from, to, {1}};
      return ctx.fail(DiagId::CannotStore, ctx.tensor(1), target);
    }
  }
  return ctx.result(ctx.tensor(0));
}

static LogicalResult checkAlong(RuleContext &ctx) {
  int64_t axis = ctx.integer("axis");
  if (axis < 0 || axis >= ctx.rank(0))
    return ctx.fail(DiagId::AxisOutOfRange, axis, ctx.tensor(0));
  if (!isPosition(ctx.dtype(1)))
    return ctx.fail(DiagId::IndexDType, ctx.tensor(1));
  if (ctx.rank(1) != ctx.rank(0))
    return ctx.fail(DiagId::GatherRank, ctx.name, ctx.tensor(0), ctx.tensor(1));
  return success();
}

LogicalResult takenAlong(RuleContext &ctx) {
  return failed(checkAlong(ctx)) ? failure() : ctx.result(ctx.dtype(0), ctx.tensor(1).getDims());
}

LogicalResult putAlong(RuleContext &ctx) {
  if (failed(checkAlong(ctx)))
    return failure();
  if (ctx.dtype(2) != ctx.dtype(0) || ctx.rank(2) != ctx.rank(1))
    return ctx.fail(DiagId::CannotStore, ctx.tensor(2), ctx.tensor(1).withDType(ctx.dtype(0)));
  for (int64_t axis = 0; axis < ctx.rank(1); ++axis)
    if (!ctx.unify(1, axis, 2, axis))
      return ctx.fail(DiagId::CannotStore, ctx.tensor(2), ctx.tensor(1).withDType(ctx.dtype(0)));
  return ctx.result(ctx.tensor(0));
}

static LogicalResult checkMask(RuleContext &ctx) {
  if (ctx.dtype(1) != DType::Bool)
    return ctx.fail(DiagId::NeedsBool, "mask", ctx.tensor(1));
  if (ctx.rank(1) == 0 || ctx.rank(1) > ctx.rank(0))
    return ctx.fail(DiagId::MaskShape, ctx.tensor(1), ctx.tensor(0));
  for (int64_t axis = 0; axis < ctx.rank(1); ++axis)
    if (!ctx.unify(0, axis, 1, axis))
      return ctx.fail(DiagId::MaskShape, ctx.tensor(1), ctx.tensor(0));
  return success();
}

LogicalResult maskSelected(RuleContext &ctx) {
  if (failed(checkMask(ctx)))
    return failure();
  SmallVector<Dim> dims = {ctx.freshDim()};
  for (int64_t axis = ctx.rank(1); axis < ctx.rank(0); ++axis)
    dims.push_back(ctx.dim(0, axis));
  return ctx.result(ctx.dtype(0), dims);
}

LogicalResult maskStored(RuleContext &ctx) {
  if (failed(checkMask(ctx)))
    return failure();
  int64_t inner = ctx.rank(0) - ctx.rank(1);
  if (ctx.dtype(2) != ctx.dtype(0) || ctx.rank(2) > inner + 1)
    return ctx.fail(DiagId::CannotStore, ctx.tensor(2), ctx.tensor(0));
  return ctx.result(ctx.tensor(0));
}

LogicalResult nonZeroPositions(RuleContext &ctx) {
  return ctx.result(DType::I64, {ctx.freshDim(), Dim::number(ctx.context, ctx.rank(0))});
}

/// One index an axis, behind the first `first` operands.
static LogicalResult checkPosition(RuleContext &ctx, unsigned first) {
  if (static_cast<int64_t>(ctx.size()) - first != ctx.rank(0))
    return ctx.fail(DiagId::TooManyIndices, static_cast<int64_t>(ctx.size()) - first, ctx.tensor(0));
  return success();
}

LogicalResult elementTaken(RuleContext &ctx) {
  return failed(checkPosition(ctx, 1)) ? failure() : ctx.result(TensorType::scalar(ctx.context, ctx.dtype(0)));
}

LogicalResult madeOfElements(RuleContext &ctx) {
  SmallVector<Dim> dims;
  int64_t count = 1;
  for (int64_t size : ctx.integers("sizes")) {
    dims.push_back(Dim::number(ctx.context, size));
    count *= size;
  }
  for (unsigned i = 0; i < ctx.size(); ++i)
    if (ctx.dtype(i) != ctx.dtype(0) || ctx.rank(i) != 0)
      return ctx.fail(DiagId::CannotStore, ctx.tensor(i), TensorType::scalar(ctx.context, ctx.dtype(0)));
  if (ctx.size() == 0 || count != static_cast<int64_t>(ctx.size()))
    return failure();
  return ctx.result(ctx.dtype(0), dims);
}

LogicalResult elementSet(RuleContext &ctx) {
  if (ctx.dtype(0) != ctx.dtype(1) || ctx.rank(1) != 0)
    return ctx.fail(DiagId::CannotStore, ctx.tensor(1), TensorType::scalar(ctx.context, ctx.dtype(0)));
  return checkPosition(ctx, 2);
}

LogicalResult elementStored(RuleContext &ctx) {
  return failed(elementSet(ctx)) ? failure() : ctx.result(ctx.tensor(0));
}

LogicalResult sameTensor(RuleContext &ctx) { return ctx.result(ctx.tensor(0)); }

LogicalResult checkedIndex(RuleContext &ctx) {
  auto index = sizeBehind(ctx.operands[0]), size = sizeBehind(ctx.operands[1]);
  if (ctx.alwaysRuns && index && size && index->isNumber() && size->isNumber() &&
      (index->value() >= size->value() || index->value() < -size->value()))
    return ctx.fail(DiagId::IndexOutOfRange, index->value(), ctx.integer("axis"), size->value());
  return ctx.result(TensorType::scalar(ctx.context, DType::I64));
}

LogicalResult checked(RuleContext &ctx) { return success(); }

LogicalResult checkedSize(RuleContext &ctx) {
  if (auto size = sizeBehind(ctx.operands[0]); ctx.alwaysRuns && size && size->isNumber() && size->value() < 0)
    return ctx.fail(DiagId::NegativeSize, size->value());
  return ctx.result(TensorType::scalar(ctx.context, DType::I64));
}

} // namespace toy::rules
