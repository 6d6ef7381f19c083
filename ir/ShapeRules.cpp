// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rules of operations that rearrange elements.
#include "ir/ToyDialect.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace toy::rules {

LogicalResult sizeOfAxis(RuleContext &ctx) {
  int64_t axis = ctx.integer("axis");
  if (axis < 0 || axis >= ctx.rank(0))
    return ctx.fail(DiagId::AxisOutOfRange, axis, ctx.tensor(0));
  return ctx.result(TensorType::scalar(ctx.context, DType::I64));
}

LogicalResult sizeComputed(RuleContext &ctx) {
  Dim expression(ctx.attributes.get("expr"));
  bool isWhole = !expression.isUnknown();
  expression.collectSymbols([&](StringRef name) {
    auto operand = SizeValueOp::operandOf(name);
    isWhole &= operand && *operand < ctx.size();
  });
  return isWhole ? ctx.result(TensorType::scalar(ctx.context, DType::I64))
                 : ctx.fail(DiagId::BadSizeExpression, expression.str());
}

/// The sizes that a run of i64 operands stand for; a negative number fails.
static FailureOr<SmallVector<Dim>> sizesFrom(RuleContext &ctx, ValueRange values) {
  SmallVector<Dim> dims;
  for (Value value : values) {
    dims.push_back(ctx.sizeValue(value));
    if (dims.back().isNumber() && dims.back().value() < 0)
      return ctx.fail(DiagId::NegativeSize, dims.back().str());
  }
  return dims;
}

static Dim productOf(RuleContext &ctx, ArrayRef<Dim> dims) {
  Dim count = Dim::number(ctx.context, 1);
  for (Dim dim : dims)
    if (dim.is(0))
      return dim;
  for (Dim dim : dims)
    count = count * dim;
  return count;
}

LogicalResult reshaped(RuleContext &ctx) {
  auto dims = sizesFrom(ctx, ctx.operands.drop_front());
  if (failed(dims))
    return failure();
  Dim before = productOf(ctx, ctx.tensor(0).getDims()), after = productOf(ctx, *dims);
  if (after.isUnknown() && llvm::all_of(*dims, [](Dim dim) { return dim.isNumber(); }))
    return ctx.fail(DiagId::SizeTooLarge, llvm::join(llvm::map_range(*dims, [](Dim dim) { return dim.str(); }), "*"));
  bool known = !before.isUnknown() && !after.isUnknown();
  if (known && before != after && (before - after).isNumber()) {
    ctx.mismatch = {"element counts of a reshape", before, after, {0}};
    return ctx.fail(DiagId::ReshapeCount, ctx.tensor(0), before.str(),
                    TensorType::get(ctx.context, ctx.dtype(0), *dims).str(), after.str());
  }
  return ctx.result(ctx.dtype(0), *dims);
}

LogicalResult permuted(RuleContext &ctx) {
  ArrayRef<int64_t> permutation = ctx.integers("permutation");
  SmallVector<bool> seen(ctx.rank(0));
  if (static_cast<int64_t>(permutation.size()) != ctx.rank(0))
    return ctx.fail(DiagId::PermutationRank, ctx.tensor(0), static_cast<int64_t>(permutation.size()));
  SmallVector<Dim> dims;
  for (int64_t axis : permutation) {
    if (axis < 0 || axis >= ctx.rank(0))
      return ctx.fail(DiagId::AxisOutOfRange, axis, ctx.tensor(0));
    if (std::exchange(seen[axis], true))
      return ctx.fail(DiagId::RepeatedAxis, axis, ctx.name);
    dims.push_back(ctx.dim(0, axis));
  }
  return ctx.result(ctx.dtype(0), dims);
}

/// Whether operand `i` may broadcast to a shape: aligned from the last axis, every size is 1 or not proved to differ.
static bool broadcastsTo(RuleContext &ctx, unsigned i, ArrayRef<Dim> target) {
  int64_t offset = static_cast<int64_t>(target.size()) - ctx.rank(i);
  for (int64_t axis = 0; offset >= 0 && axis < ctx.rank(i); ++axis) {
    Dim from = ctx.dim(i, axis), to = target[offset + axis];
    if (!from.is(1) && from != to && (from - to).isNumber()) {
      ctx.mismatch = {"sizes of a broadcast", from, to, {i}};
      return false;
    }
  }
  return offset >= 0;
}

LogicalResult broadcasted(RuleContext &ctx) {
  auto dims = sizesFrom(ctx, ctx.operands.drop_front());
  if (failed(dims))
    return failure();
  TensorType target = TensorType::get(ctx.context, ctx.dtype(0), *dims);
  return broadcastsTo(ctx, 0, *dims) ? ctx.result(target) : ctx.fail(DiagId::CannotExpand, ctx.tensor(0), target);
}

/// Rank and steps of a slice; the counts are the sizes.
static FailureOr<SmallVector<Dim>> sliceDims(RuleContext &ctx, ValueRange bounds) {
  int64_t rank = ctx.rank(0);
  ArrayRef<int64_t> steps = ctx.integers("steps");
  if (static_cast<int64_t>(steps.size()) != rank || static_cast<int64_t>(bounds.size()) != 2 * rank)
    return ctx.fail(DiagId::TooManyIndices, static_cast<int64_t>(steps.size()), ctx.tensor(0));
  if (llvm::is_contained(steps, 0))
    return ctx.fail(DiagId::ZeroStep);
  return sizesFrom(ctx, bounds.drop_front(rank));
}

LogicalResult sliced(RuleContext &ctx) {
  auto dims = sliceDims(ctx, ctx.operands.drop_front());
  return failed(dims) ? failure() : ctx.result(ctx.dtype(0), *dims);
}

LogicalResult sliceStored(RuleContext &ctx) {
  auto dims = sliceDims(ctx, ctx.operands.drop_front(2));
  if (failed(dims))
    return failure();
  TensorType slice = TensorType::get(ctx.context, ctx.dtype(0), *dims);
  if (ctx.dtype(0) != ctx.dtype(1) || !broadcastsTo(ctx, 1, *dims))
    return ctx.fail(DiagId::CannotStore, ctx.tensor(1), slice);
  return ctx.result(ctx.tensor(0));
}

LogicalResult shortened(RuleContext &ctx) {
  SmallVector<Dim> dims = ctx.tensor(0).getDims();
  dims[0] = ctx.sizeValue(ctx.operands[1]);
  return ctx.result(ctx.dtype(0), dims);
}

LogicalResult rowAppended(RuleContext &ctx) {
  if (ctx.rank(0) != ctx.rank(1) + 1)
    return ctx.fail(DiagId::AppendMismatch, ctx.tensor(0), ctx.tensor(1));
  if (ctx.dtype(0) != ctx.dtype(1))
    return ctx.fail(DiagId::MixedDTypes, ctx.name, ctx.tensor(0), ctx.tensor(1));
  for (int64_t axis = 0; axis < ctx.rank(1); ++axis)
    if (!ctx.unify(0, axis + 1, 1, axis))
      return ctx.fail(DiagId::AppendMismatch, ctx.tensor(0), ctx.tensor(1));
  SmallVector<Dim> dims = ctx.tensor(0).getDims();
  dims[0] = dims[0] + Dim::number(ctx.context, 1);
  return ctx.result(ctx.dtype(0), dims);
}

LogicalResult concatenated(RuleContext &ctx) {
  int64_t axis = ctx.integer("axis");
  if (ctx.size() == 0)
    return ctx.fail(DiagId::NothingToConcat, ctx.name);
  if (axis < 0 || axis >= ctx.rank(0))
    return ctx.fail(DiagId::AxisOutOfRange, axis, ctx.tensor(0));
  SmallVector<Dim> dims = ctx.tensor(0).getDims();
  for (unsigned i = 1; i < ctx.size(); ++i) {
    if (ctx.rank(i) != ctx.rank(0))
      return ctx.fail(DiagId::ConcatMismatch, ctx.tensor(0), ctx.tensor(i), axis);
    if (ctx.dtype(i) != ctx.dtype(0))
      return ctx.fail(DiagId::MixedDTypes, ctx.name, ctx.tensor(0), ctx.tensor(i));
    for (int64_t other = 0; other < ctx.rank(0); ++other)
      if (other != axis && !ctx.unify(0, other, i, other))
        return ctx.fail(DiagId::ConcatMismatch, ctx.tensor(0), ctx.tensor(i), axis);
    Dim next = ctx.dim(i, axis);
    dims[axis] = dims[axis] + next;
  }
  return ctx.result(ctx.dtype(0), dims);
}

LogicalResult padded(RuleContext &ctx) {
  ArrayRef<int64_t> low = ctx.integers("low"), high = ctx.integers("high");
  if (static_cast<int64_t>(low.size()) != ctx.rank(0) || static_cast<int64_t>(high.size()) != ctx.rank(0))
    return ctx.fail(DiagId::PadRank, ctx.tensor(0), static_cast<int64_t>(low.size()));
  if (ctx.dtype(0) != ctx.dtype(1))
    return ctx.fail(DiagId::MixedDTypes, ctx.name, ctx.tensor(0), ctx.tensor(1));
  SmallVector<Dim> dims;
  for (int64_t axis = 0; axis < ctx.rank(0); ++axis) {
    if (low[axis] < 0 || high[axis] < 0)
      return ctx.fail(DiagId::NegativeSize, std::min(low[axis], high[axis]));
    if (int64_t most = std::max(low[axis], high[axis]); most > largestSize)
      return ctx.fail(DiagId::SizeTooLarge, most);
    Dim dim = ctx.dim(0, axis);
    dims.push_back(dim + Dim::number(ctx.context, low[axis]) + Dim::number(ctx.context, high[axis]));
  }
  return ctx.result(ctx.dtype(0), dims);
}

LogicalResult diagonalOf(RuleContext &ctx) {
  int64_t rank = ctx.rank(0), offset = ctx.integer("offset");
  if (rank < 2)
    return ctx.fail(DiagId::NeedsMatrix, ctx.name, ctx.tensor(0));
  Dim rows = ctx.dim(0, rank - 2), columns = ctx.dim(0, rank - 1), zero = Dim::number(ctx.context, 0);
  SmallVector<Dim> dims = ctx.tensor(0).getDims();
  dims.pop_back();
  dims.back() = (rows - Dim::number(ctx.context, std::max<int64_t>(-offset, 0)))
                    .min(columns - Dim::number(ctx.context, std::max<int64_t>(offset, 0)))
                    .max(zero);
  return ctx.result(ctx.dtype(0), dims);
}

LogicalResult viewedAsReal(RuleContext &ctx) {
  if (!isComplex(ctx.dtype(0)))
    return ctx.fail(DiagId::NeedsComplex, ctx.name, ctx.tensor(0));
  SmallVector<Dim> dims = ctx.tensor(0).getDims();
  dims.push_back(Dim::number(ctx.context, 2));
  return ctx.result(realOf(ctx.dtype(0)), dims);
}

LogicalResult viewedAsComplex(RuleContext &ctx) {
  TensorType type = ctx.tensor(0);
  if (type.getDtype() != DType::F32 && type.getDtype() != DType::F64)
    return ctx.fail(DiagId::ViewAsComplexDType, type);
  if (type.getRank() == 0 || !ctx.hasSize(0, type.getRank() - 1, 2))
    return ctx.fail(DiagId::ViewAsComplexShape, type);
  return ctx.result(complexOf(type.getDtype()), ArrayRef(type.getDims()).drop_back());
}

LogicalResult partTaken(RuleContext &ctx) {
  if (ctx.rank(0) == 0 || !ctx.hasSize(0, ctx.rank(0) - 1, 2))
    return ctx.fail(DiagId::ViewAsComplexShape, ctx.tensor(0));
  return ctx.result(ctx.tensor(0).withDims(ArrayRef(ctx.tensor(0).getDims()).drop_back()));
}

LogicalResult packedPair(RuleContext &ctx) {
  if (ctx.operands[0].getType() != ctx.operands[1].getType())
    return ctx.fail(DiagId::MixedDTypes, ctx.name, ctx.tensor(0), ctx.tensor(1));
  SmallVector<Dim> dims = ctx.tensor(0).getDims();
  dims.push_back(Dim::number(ctx.context, 2));
  return ctx.result(ctx.dtype(0), dims);
}

} // namespace toy::rules
