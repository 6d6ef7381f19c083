// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions, running sums and matrix products: linalg; sums in the order of its loops, not in that of rule 12.
#include "passes/linalg/Lowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/StringSwitch.h"

#include <limits>

using namespace mlir;

namespace toy {
namespace {

using Results = FailureOr<SmallVector<Value>>;

Value combine(Lowering &l, Value total, Value x) {
  const bool real = isa<FloatType>(x.getType()), isUnsigned = l.isUnsigned(0);
  if (isa<SumOp, CumSumOp>(l.op))
    return real ? l.make<arith::AddFOp>(total, x) : l.make<arith::AddIOp>(total, x);
  if (isa<ProdOp, CumProdOp>(l.op))
    return real ? l.make<arith::MulFOp>(total, x) : l.make<arith::MulIOp>(total, x);
  if (isa<AnyOp>(l.op))
    return l.make<arith::OrIOp>(total, x);
  if (isa<AllOp>(l.op))
    return l.make<arith::AndIOp>(total, x);
  if (isa<MaxOp>(l.op))
    return real         ? l.make<arith::MaximumFOp>(total, x)
           : isUnsigned ? l.make<arith::MaxUIOp>(total, x)
                        : l.make<arith::MaxSIOp>(total, x);
  return real         ? l.make<arith::MinimumFOp>(total, x)
         : isUnsigned ? l.make<arith::MinUIOp>(total, x)
                      : l.make<arith::MinSIOp>(total, x);
}

/// What any element replaces.
Value neutral(Lowering &l, Type type) {
  const bool largest = isa<MinOp, ArgMinOp>(l.op);
  if (isa<SumOp, CumSumOp, AnyOp>(l.op))
    return l.number(type, 0);
  if (isa<ProdOp, CumProdOp, AllOp>(l.op))
    return l.make<arith::ConstantOp>(l.b.getOneAttr(type));
  if (isa<FloatType>(type))
    return l.number(type, largest ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity());
  unsigned width = type.getIntOrFloatBitWidth();
  APInt end = l.isUnsigned(0) ? largest ? APInt::getMaxValue(width) : APInt::getMinValue(width)
              : largest       ? APInt::getSignedMaxValue(width)
                              : APInt::getSignedMinValue(width);
  return l.make<arith::ConstantOp>(l.b.getIntegerAttr(type, end));
}

/// An element of a bool tensor that is summed is a number.
Value widened(Lowering &l, Value x, Type type) { return x.getType() == type ? x : l.make<arith::ExtUIOp>(type, x); }

/// The loops of a reduction: all axes of the operand, the reduced ones as reductions.
struct ReducedLoops {
  SmallVector<bool> reduced;
  SmallVector<OpFoldResult> sizes; ///< of the result
  AffineMap in, out;

  ReducedLoops(Lowering &l, ArrayRef<int64_t> axes, bool keepsAxes) {
    SmallVector<AffineExpr> indices;
    for (int64_t axis = 0; axis < l.operandType(0).getRank(); ++axis) {
      reduced.push_back(llvm::is_contained(axes, axis));
      if (reduced.back() && !keepsAxes)
        continue;
      indices.push_back(reduced.back() ? l.b.getAffineConstantExpr(0) : l.b.getAffineDimExpr(axis));
      sizes.push_back(reduced.back() ? OpFoldResult(l.b.getIndexAttr(1)) : l.sizeOf(l.in[0], axis));
    }
    in = l.b.getMultiDimIdentityMap(reduced.size());
    out = AffineMap::get(reduced.size(), 0, indices, l.b.getContext());
  }
};

Value finished(Lowering &l, Value tensor) { return l.resultType().isScalar() ? l.elementOf(tensor) : tensor; }

Results reduce(Lowering &l) {
  ReducedLoops loops(l, l.integers("axes"), l.attribute<BoolAttr>("keepdims").getValue());
  Type type = l.element(l.resultType().getDtype());
  if (l.operandType(0).isScalar())
    return SmallVector<Value>{widened(l, l.in[0], type)};
  Value out = l.filled(l.ranked(l.resultType()), loops.sizes, neutral(l, type));
  auto total = l.generic(l.in[0], out, {loops.in, loops.out}, loops.reduced,
                         [&](ValueRange x) { return SmallVector<Value>{combine(l, x[1], widened(l, x[0], type))}; });
  return SmallVector<Value>{finished(l, total[0])};
}

/// The best element so far and its index; NaN is better than any number.
Results argReduce(Lowering &l) {
  ArrayRef<int64_t> axes = l.integers("axes");
  if (axes.size() != 1 || l.operandType(0).isScalar())
    return failure();
  ReducedLoops loops(l, axes, l.attribute<BoolAttr>("keepdims").getValue());
  RankedTensorType type = l.ranked(l.resultType());
  Type element = l.element(l.operandType(0).getDtype());
  Value none = l.number(l.b.getI64Type(), -1), best = neutral(l, element);
  Value outs[] = {l.filled(type, loops.sizes, none), l.filled(type.clone(element), loops.sizes, best)};
  const bool largest = isa<ArgMaxOp>(l.op);
  auto found = l.generic(l.in[0], outs, {loops.in, loops.out, loops.out}, loops.reduced, [&](ValueRange x) {
    Value isFirst = l.compare(arith::CmpIPredicate::slt, x[1], l.number(l.b.getI64Type(), 0)), better;
    if (isa<FloatType>(element)) {
      auto order = largest ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
      Value isNan = l.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x[0], x[0]);
      Value hasNumber = l.make<arith::CmpFOp>(arith::CmpFPredicate::ORD, x[2], x[2]);
      better = l.make<arith::OrIOp>(l.make<arith::CmpFOp>(order, x[0], x[2]), l.make<arith::AndIOp>(isNan, hasNumber));
    } else {
      using P = arith::CmpIPredicate;
      better = l.compare(l.isUnsigned(0) ? largest ? P::ugt : P::ult : largest ? P::sgt : P::slt, x[0], x[2]);
    }
    Value takes = l.make<arith::OrIOp>(isFirst, better), here = l.fromIndex(l.make<linalg::IndexOp>(axes[0]));
    return SmallVector<Value>{l.select(takes, here, x[1]), l.select(takes, x[0], x[2])};
  });
  return SmallVector<Value>{finished(l, found[0])};
}

/// Loops over all elements in order: each is the one before it along the axis with its own added.
Results scan(Lowering &l) {
  const int64_t axis = l.attribute<IntegerAttr>("axis").getInt();
  if (l.operandType(0).isScalar())
    return failure();
  Type type = l.element(l.resultType().getDtype());
  SmallVector<OpFoldResult> sizes = l.sizesOf(l.in[0]);
  SmallVector<Value> starts(sizes.size(), l.index(0)), steps(sizes.size(), l.index(1)), ends;
  for (OpFoldResult size : sizes)
    ends.push_back(getValueOrCreateConstantIndexOp(l.b, l.loc, size));
  Value out = l.empty(l.ranked(l.resultType()), sizes), start = neutral(l, type);
  auto nest = scf::buildLoopNest(
      l.b, l.loc, starts, ends, steps, out, [&](OpBuilder &, Location, ValueRange at, ValueRange state) {
        Value isFirst = l.compare(arith::CmpIPredicate::eq, at[axis], starts[axis]);
        SmallVector<Value> before(at);
        before[axis] = l.select(isFirst, at[axis], l.make<arith::SubIOp>(at[axis], steps[axis]));
        Value total = l.select(isFirst, start, l.extract(state[0], before));
        Value sum = combine(l, total, widened(l, l.extract(l.in[0], at), type));
        return SmallVector<Value>{l.make<tensor::InsertOp>(sum, state[0], at)};
      });
  return SmallVector<Value>(nest.results);
}

/// The named operation where there is one, else a contraction whose leading axes broadcast.
Value product(Lowering &l, Value x, TensorType xType, Value y, TensorType yType, TensorType type) {
  const int64_t xRank = xType.getRank(), yRank = yType.getRank();
  Type element = l.element(type.getDtype());
  const bool hasRow = xRank > 1, hasColumn = yRank > 1;
  const int64_t batches = type.getRank() - hasRow - hasColumn;
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis = 0; axis < batches; ++axis) {
    auto own = [&](TensorType t) { return axis - (batches - (t.getRank() - 2)); };
    const bool fromX = own(xType) >= 0 && !xType.getDim(own(xType)).is(1);
    sizes.push_back(fromX || own(yType) < 0 ? l.sizeOf(x, own(xType)) : l.sizeOf(y, own(yType)));
  }
  if (hasRow)
    sizes.push_back(l.sizeOf(x, xRank - 2));
  if (hasColumn)
    sizes.push_back(l.sizeOf(y, yRank - 1));
  ValueRange none;
  Value out = l.filled(l.ranked(type), sizes, l.number(element, 0)), ins[] = {x, y};
  if (xRank == 2 && yRank == 2)
    return l.make<linalg::MatmulOp>(out.getType(), ins, out);
  if (xRank == 2 && yRank == 1)
    return l.make<linalg::MatvecOp>(out.getType(), ins, out);
  if (xRank == 1 && yRank == 2)
    return l.make<linalg::VecmatOp>(out.getType(), ins, out);
  if (xRank == 1 && yRank == 1)
    return l.elementOf(l.make<linalg::DotOp>(out.getType(), ins, out));
  const int64_t rank = type.getRank();
  auto map = [&](TensorType t, bool isLeft) {
    SmallVector<AffineExpr> at;
    for (int64_t axis = 0; axis < t.getRank() - 2; ++axis) {
      int64_t there = axis + batches - (t.getRank() - 2);
      at.push_back(t.getDim(axis).is(1) && !type.getDim(there).is(1) ? l.b.getAffineConstantExpr(0)
                                                                     : l.b.getAffineDimExpr(there));
    }
    AffineExpr inner = l.b.getAffineDimExpr(rank);
    if (isLeft && hasRow)
      at.push_back(l.b.getAffineDimExpr(batches));
    at.push_back(inner);
    if (!isLeft && hasColumn)
      at.push_back(l.b.getAffineDimExpr(rank - 1));
    return AffineMap::get(rank + 1, 0, at, l.b.getContext());
  };
  AffineMap result = AffineMap::getMultiDimIdentityMap(rank + 1, l.b.getContext()).dropResult(rank);
  SmallVector<bool> reduced(rank, false);
  reduced.push_back(true);
  const bool real = isa<FloatType>(element);
  return l.generic(ins, out, {map(xType, true), map(yType, false), result}, reduced, [&](ValueRange e) {
    return SmallVector<Value>{real ? l.make<arith::AddFOp>(e[2], l.make<arith::MulFOp>(e[0], e[1]))
                                   : l.make<arith::AddIOp>(e[2], l.make<arith::MulIOp>(e[0], e[1]))};
  })[0];
}

Results matmul(Lowering &l) {
  return SmallVector<Value>{product(l, l.in[0], l.operandType(0), l.in[1], l.operandType(1), l.resultType())};
}

} // namespace

LoweringRow reductionRow(StringRef mnemonic) {
  return llvm::StringSwitch<LoweringRow>(mnemonic)
      .Cases({"sum", "prod", "max", "min", "any", "all"}, reduce)
      .Cases({"argmax", "argmin"}, argReduce)
      .Cases({"cumsum", "cumprod"}, scan)
      .Case("matmul", matmul)
      .Default(nullptr);
}

} // namespace toy
