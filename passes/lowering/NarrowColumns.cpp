// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions whose last axis stays and has few elements, as many as some registers hold: a row is a vector, and
/// several rows, or runs of rows, are folded side by side, so that none of them waits for the one before.
#include "passes/RowLanes.h"
#include "passes/lowering/KernelEmitter.h"

using namespace llvm;

namespace toy {

static bool isPosition(mlir::Operation *op) { return isa<ArgMaxOp, ArgMinOp>(op); }

bool KernelEmitter::areColumnsNarrow(mlir::Operation *op) {
  constexpr int64_t mostBytes = 128;
  mlir::Value x = op->getOperand(0);
  const ReductionAxes axes(op);
  const TensorType type = tensorTypeOf(x);
  const int64_t last = type.getRank() - 1;
  if (axes.alongLast || axes.reduced.size() != 1 || !type.getDim(last).isNumber())
    return false;
  const DType dtype = tensorTypeOf(op->getResult(0)).getDtype();
  const int64_t width = type.getDim(last).value(), bytes = std::max(sizeOf(dtype), sizeOf(type.getDtype()));
  bool othersGoAlong = false;
  return width >= 2 && static_cast<int64_t>(PowerOf2Ceil(width)) * bytes <= mostBytes && !isHalf(dtype) &&
         hasLanes(x, last) && transposedOperands(x, type.getRank(), othersGoAlong).empty();
}

/// What a row is to the fold.
KernelEmitter::Fold KernelEmitter::narrowRow(mlir::Operation *op, const Indices &outer, Value *row, Value *mask) {
  mlir::Value x = op->getOperand(0);
  const TensorType type = tensorTypeOf(x);
  Indices columns = outer;
  columns.push_back(i64(0));
  const Element lanes = laneElements(x, {reductionIndices(op, columns, row), type.getRank() - 1}, mask);
  if (isPosition(op))
    return {lanes.re, k.CreateVectorSplat(lanesAtOnce, row)};
  return foldOf(op, scalars.cast(lanes, type.getDtype(), rootType.getDtype()), rootType.getDtype());
}

/// So many folds, each of a row of its own in every round.
KernelEmitter::Lanes KernelEmitter::foldSideBySide(mlir::Operation *op, Value *rounds, int64_t number,
                                                   function_ref<Fold(Value *, int64_t)> row) {
  const DType dtype = tensorTypeOf(op->getOperand(0)).getDtype();
  auto start = [&](int64_t i) -> Fold {
    auto splat = [&](Value *v) { return k.CreateVectorSplat(lanesAtOnce, v); };
    return isPosition(op) ? Fold{splat(worst(op, dtype)), splat(i64(i))} : identityLanes(op);
  };
  Lanes folds(*this, start(0), number);
  for (int64_t i = 0; i < number; ++i)
    folds.write(i64(i), start(i));
  loop(i64(0), rounds, [&](Value *round) {
    for (int64_t i = 0; i < number; ++i)
      folds.write(i64(i), mergeRows(op, folds.read(i64(i)), row(round, i)));
  });
  return folds;
}

/// Of what may be `b`'s rows or one that follows those of `a`.
KernelEmitter::Fold KernelEmitter::mergeRows(mlir::Operation *op, const Fold &a, const Fold &b) {
  return isPosition(op) ? better(op, a, b, tensorTypeOf(op->getOperand(0)).getDtype())
                        : mergeFolds(op, a, b, rootType.getDtype());
}

/// In any order: neighbouring rows side by side.
Element KernelEmitter::foldNarrowRows(mlir::Operation *op, const Indices &outer, Value *n, int64_t together,
                                      Value *mask) {
  Value *rounds = k.CreateUDiv(n, i64(together)), *first = k.CreateMul(rounds, i64(together), "", true, true);
  Lanes folds = foldSideBySide(op, rounds, together, [&](Value *round, int64_t i) {
    Value *row = k.CreateAdd(k.CreateMul(round, i64(together), "", true, true), i64(i), "", true, true);
    return narrowRow(op, outer, row, mask);
  });
  loop(first, n,
       [&](Value *row) { folds.write(i64(0), mergeRows(op, folds.read(i64(0)), narrowRow(op, outer, row, mask))); });
  Fold all = folds.read(i64(0));
  for (int64_t i = 1; i < together; ++i)
    all = isPosition(op) ? firstBest(op, all, folds.read(i64(i)), tensorTypeOf(op->getOperand(0)).getDtype())
                         : mergeFolds(op, all, folds.read(i64(i)), rootType.getDtype());
  return isPosition(op) ? Element{all[1]} : finishFold(op, all, rootType.getDtype());
}

/// In the order of sums: runs side by side, which are added to the sum of their block one after the other, and that to
/// the total.
Element KernelEmitter::foldNarrowRuns(mlir::Operation *op, const Indices &outer, Value *n, int64_t together,
                                      Value *mask) {
  constexpr int64_t runs = reductionBlock / reductionRun;
  const DType dtype = rootType.getDtype();
  auto from = [&](Value *run) { return k.CreateMul(run, i64(reductionRun), "", true, true); };
  auto plus = [&](Value *a, Value *b) { return k.CreateAdd(a, b, "", true, true); };
  Value *number = k.CreateUDiv(plus(n, i64(reductionRun - 1)), i64(reductionRun)),
        *groups = k.CreateUDiv(n, i64(reductionRun * together));
  const Fold identity = identityLanes(op);
  Lanes block(*this, identity, 1), total(*this, identity, 1);
  block.write(i64(0), identity);
  total.write(i64(0), identity); // an empty sum
  auto chosen = [&](Value *condition, const Fold &a, const Fold &b) -> Fold {
    return {k.CreateSelect(condition, a[0], b[0]), a[1] ? k.CreateSelect(condition, a[1], b[1]) : nullptr};
  };
  auto addRun = [&](Value *run, const Fold &part) {
    Value *inBlock = k.CreateAnd(run, i64(runs - 1)),
          *isLast = k.CreateOr(k.CreateICmpEQ(inBlock, i64(runs - 1)), k.CreateICmpEQ(plus(run, i64(1)), number));
    const Fold before = block.read(i64(0)), sum = total.read(i64(0));
    const Fold here = chosen(k.CreateICmpEQ(inBlock, i64(0)), part, mergeFolds(op, before, part, dtype));
    block.write(i64(0), here);
    const Fold after = chosen(k.CreateICmpSLT(run, i64(runs)), here, mergeFolds(op, sum, here, dtype));
    total.write(i64(0), chosen(isLast, after, sum));
  };
  loop(i64(0), groups, [&](Value *group) {
    Value *first = k.CreateMul(group, i64(together), "", true, true);
    auto run = [&](int64_t i) { return plus(first, i64(i)); };
    Lanes parts = foldSideBySide(op, i64(reductionRun), together, [&](Value *step, int64_t i) {
      return narrowRow(op, outer, plus(from(run(i)), step), mask);
    });
    for (int64_t i = 0; i < together; ++i)
      addRun(run(i), parts.read(i64(i)));
  });
  loop(k.CreateMul(groups, i64(together), "", true, true), number, [&](Value *run) {
    Value *begin = from(run), *end = k.CreateBinaryIntrinsic(Intrinsic::smin, plus(begin, i64(reductionRun)), n);
    Lanes part = foldSideBySide(op, k.CreateSub(end, begin, "", true, true), 1,
                                [&](Value *step, int64_t) { return narrowRow(op, outer, plus(begin, step), mask); });
    addRun(run, part.read(i64(0)));
  });
  return finishFold(op, total.read(i64(0)), dtype);
}

void KernelEmitter::emitNarrowColumns(mlir::Operation *op) {
  constexpr int64_t registers = 1024; // bytes of them that are given to folds
  mlir::Value x = op->getOperand(0);
  const DType dtype = rootType.getDtype();
  const ReductionAxes axes(op);
  SmallVector<Value *> outerSizes = callerSizesOf(x, ArrayRef(axes.outer).drop_back());
  Value *count = callerSize(x, axes.reduced[0]), *rows = product(outerSizes);
  const int64_t width = tensorTypeOf(x).getDim(tensorTypeOf(x).getRank() - 1).value(), parts = isComplex(dtype) ? 2 : 1;
  begin();
  Value *out = capture(callerOut), *n = capture(count);
  SmallVector<Value *> sizes = captureAll(outerSizes);
  lanesKnown = width;
  lanesAtOnce = static_cast<int64_t>(PowerOf2Ceil(width));
  Value *mask = width == lanesAtOnce ? nullptr : firstLanes(i64(width));
  const int64_t bytes = lanesAtOnce * sizeOf(dtype) * (isFloatExtremum(op, dtype) ? 3 : isPosition(op) ? 2 : 1);
  const int64_t together = std::clamp<int64_t>(registers / bytes, 1, 8);
  const auto known = knownFoldLength(op);
  const bool isShort = known && *known <= reductionRun, inAnyOrder = isPosition(op) || isInAnyOrder(op, dtype);
  loop(rangeBegin, rangeEnd, [&](Value *index) {
    const Indices outer = decode(index, sizes);
    const Element result = inAnyOrder || isShort ? foldNarrowRows(op, outer, n, inAnyOrder ? together : 1, mask)
                                                 : foldNarrowRuns(op, outer, n, together, mask);
    Value *at = k.CreateMul(index, i64(width * parts), "", true, true);
    storeLanes(k, scalars, dtype, result, k.CreateInBoundsGEP(scalars.memoryType(dtype), out, at), mask);
  });
  finish(rows, caller.CreateMul(count, caller.getInt64(width)));
}

} // namespace toy
