// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions whose last axis stays: rows of the operand are folded into a row of accumulators. Threads own columns, so
/// that the order does not depend on them. Where rows of the operand lie across those in memory, some columns and a run
/// of rows are a tile, which is transposed first.
#include "passes/lowering/KernelEmitter.h"
#include "runtime/Transpose.h"

using namespace llvm;

namespace toy {

/// What is folded, and where to.
struct KernelEmitter::Columns {
  function_ref<Indices(Value *)> outer; ///< indices of the axes that stay, for a column
  Value *out, *base;                    ///< the result's row, by a column's place in it
  Value *row = nullptr, *rowBase;       ///< the accumulators: the result's row, or one that is added to it
  Value *block = nullptr;               ///< the sums of the block at hand
  Value *first, *last;                  ///< the columns
  /// Elements [from, to) of all of them; whether they are summed as well.
  function_ref<bool(Value *, Value *)> prepare;
};

/// In the caller: a tensor for rows of sums, where these are, where a run's are, from one to the next, and from one
/// group's to those of the next.
struct KernelEmitter::PartialRows {
  Value *tensor = nullptr, *sums = nullptr, *row = nullptr, *rowStep = nullptr, *ofGroup = nullptr;
};

/// Whether the elements' grouping changes no bit.
bool KernelEmitter::isInAnyOrder(mlir::Operation *op, DType dtype) {
  return !isa<SumOp, ProdOp>(op) || !(isFloat(dtype) || isComplex(dtype));
}

/// The accumulators are the fold of elements [from, to). Several rows for each time that they are read and written.
void KernelEmitter::foldRows(mlir::Operation *op, const Columns &columns, Value *from, Value *to) {
  DType dtype = rootType.getDtype();
  const int64_t together = this->op.getBody().front().getOperations().size() <= 8 ? 8 : 2; // the code grows with it
  auto element = [&](Value *column, Value *j) {
    const Indices indices = reductionIndices(op, columns.outer(column), j);
    if (!transposed.empty())
      tileIndices = indices;
    return reductionElementAt(op, indices);
  };
  auto add = [&](Value *j, int64_t number, bool isFirst) {
    loop(columns.first, columns.last, [&](Value *column) {
      Value *at = k.CreateAdd(columns.rowBase, column, "", true, true);
      Fold fold = isFirst ? startFold(op, dtype) : foldOf(op, scalars.load(dtype, columns.row, at), dtype);
      for (int64_t i = 0; i < number; ++i)
        fold = mergeFolds(op, fold, foldOf(op, element(column, k.CreateAdd(j, i64(i), "", true, true)), dtype), dtype);
      scalars.store(dtype, columns.row, at, finishFold(op, fold, dtype));
    });
  };
  if (columns.prepare(from, to))
    return;
  if (auto known = knownFoldLength(op); known && *known <= together)
    return add(from, *known, true);
  add(from, 0, true);
  Value *rounds = k.CreateUDiv(k.CreateSub(to, from), i64(together)),
        *rest = k.CreateAdd(from, k.CreateMul(rounds, i64(together), "", true, true), "", true, true);
  loop(i64(0), rounds, [&](Value *round) {
    add(k.CreateAdd(from, k.CreateMul(round, i64(together), "", true, true), "", true, true), together, false);
  });
  loop(rest, to, [&](Value *j) { add(j, 1, false); });
}

/// Runs one after the other, which are added to the sum of a block, and that to the result.
void KernelEmitter::foldRunsOfRows(mlir::Operation *op, const Columns &columns, Value *n) {
  DType dtype = rootType.getDtype();
  constexpr int64_t runs = reductionBlock / reductionRun;
  Value *number = k.CreateUDiv(k.CreateAdd(n, i64(reductionRun - 1)), i64(reductionRun)),
        *isOne = k.CreateICmpSLE(number, i64(1));
  auto addTo = [&](Value *sums, Value *base, Value *isFirst, Value *more, Value *isDone) {
    loop(columns.first, k.CreateSelect(k.CreateOr(isOne, isDone), columns.first, columns.last), [&](Value *column) {
      Value *at = k.CreateAdd(base, column, "", true, true);
      Element before = scalars.load(dtype, sums, at), part = scalars.load(dtype, more, column),
              sum = combine(op, before, part, dtype);
      scalars.store(
          dtype, sums, at,
          {k.CreateSelect(isFirst, part.re, sum.re), sum.im ? k.CreateSelect(isFirst, part.im, sum.im) : nullptr});
    });
  };
  loop(i64(0), k.CreateBinaryIntrinsic(Intrinsic::smax, number, i64(1)), [&](Value *run) {
    Value *from = k.CreateMul(run, i64(reductionRun), "", true, true),
          *to = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(from, i64(reductionRun), "", true, true), n),
          *inBlock = k.CreateAnd(run, i64(runs - 1)),
          *isLast =
              k.CreateOr(k.CreateICmpEQ(inBlock, i64(runs - 1)), k.CreateICmpEQ(run, k.CreateSub(number, i64(1))));
    foldRows(op, columns, from, to);
    addTo(columns.block, i64(0), k.CreateICmpEQ(inBlock, i64(0)), columns.row, k.getFalse());
    addTo(columns.out, columns.base, k.CreateICmpSLT(run, i64(runs)), columns.block, k.CreateNot(isLast));
  });
}

/// Operands whose last axis is the only one that is reduced.
bool KernelEmitter::findTransposedRows(mlir::Operation *op) {
  const ReductionAxes axes(op);
  const TensorType type = tensorTypeOf(op->getOperand(0));
  constexpr int64_t leastEdge = 8;
  auto isShort = [&](int64_t axis) { return type.getDim(axis).isNumber() && type.getDim(axis).value() < leastEdge; };
  if (axes.reduced.size() != 1 || isShort(axes.reduced[0]) || isShort(type.getRank() - 1))
    return false;
  bool othersGoAlong = false;
  transposed = transposedOperands(op->getOperand(0), type.getRank(), othersGoAlong);
  erase_if(transposed, [&](const Transposed &t) { return t.axes.back() != axes.reduced[0]; });
  transposed.truncate(std::min<size_t>(transposed.size(), 4));
  for (Transposed &t : transposed)
    t.pitch = tilePitch(tileEdge(rootType.getDtype()));
  return !transposed.empty();
}

/// How the runtime sums rows of the argument where they lie, if nothing is computed from their elements first.
static std::optional<rt::SummedAs> summedInPlace(mlir::Operation *op, mlir::Value argument, DType dtype) {
  mlir::Value x = op->getOperand(0);
  while (auto permute = x.getDefiningOp<PermuteOp>())
    x = permute.getX();
  if (!isa<SumOp>(op) || x != argument || tensorTypeOf(x).getDtype() != dtype)
    return std::nullopt;
  switch (dtype) {
  case DType::F32:
    return rt::SummedAs::F32;
  case DType::F64:
    return rt::SummedAs::F64;
  case DType::C64:
    return rt::SummedAs::C64;
  default:
    return std::nullopt;
  }
}

/// For each group a row for the run at hand, which is the result's where there is one run, and one for the block.
KernelEmitter::PartialRows KernelEmitter::allocatePartialRows(Value *count, Value *columns, Value *groups) {
  Value *isOne = caller.CreateICmpSLE(count, caller.getInt64(reductionRun)), *zero = caller.getInt64(0);
  Value *ofGroup = caller.CreateSelect(isOne, zero, caller.CreateMul(columns, caller.getInt64(2)));
  auto [tensor, sums] = allocatePartials(caller.CreateMul(ofGroup, groups));
  return {tensor, sums, caller.CreateSelect(isOne, callerOut, sums), caller.CreateSelect(isOne, columns, zero),
          ofGroup};
}

static bool isOne(Value *groups) {
  auto *known = dyn_cast<ConstantInt>(groups);
  return known && known->isOne();
}

/// Rows of the result in groups, each of which a thread may have alone: of few columns there are not enough for all.
/// How many groups, and rows of one.
std::pair<Value *, Value *> KernelEmitter::groupsOfRows(Value *rows, Value *columns) {
  constexpr int64_t manyColumns = 2048;
  if (auto *known = dyn_cast<ConstantInt>(rows); known && known->getSExtValue() <= 1)
    return {caller.getInt64(1), rows};
  auto least = [&](Value *x, int64_t n) {
    return caller.CreateBinaryIntrinsic(Intrinsic::smax, x, caller.getInt64(n));
  };
  Value *wanted = least(caller.CreateUDiv(caller.getInt64(manyColumns), least(columns, 1)), 1),
        *atMost = least(caller.CreateBinaryIntrinsic(Intrinsic::smin, wanted, rows), 1),
        *each =
            least(caller.CreateUDiv(caller.CreateAdd(rows, caller.CreateSub(atMost, caller.getInt64(1))), atMost), 1);
  return {least(caller.CreateUDiv(caller.CreateAdd(rows, caller.CreateSub(each, caller.getInt64(1))), each), 1), each};
}

/// Where a group has its partial rows.
void KernelEmitter::placePartials(const PartialRows &partial, Value *group, Value *width, Columns &columns) {
  const DType dtype = rootType.getDtype();
  Value *start = k.CreateMul(group, capture(partial.ofGroup), "", true, true);
  auto at = [&](Value *row, Value *place) {
    return k.CreateInBoundsGEP(scalars.memoryType(dtype), capture(row),
                               k.CreateMul(place, i64(isComplex(dtype) ? 2 : 1), "", true, true));
  };
  columns.row = at(partial.row, start);
  columns.block = at(partial.sums, k.CreateAdd(start, width, "", true, true));
}

/// Calls `fold` for the columns and groups of the range: of several groups the range are those, with all columns.
void KernelEmitter::foldGroups(Value *groups, Value *work, Value *columns, Value *width,
                               function_ref<void(Value *group, Value *first, Value *last)> fold) {
  if (isOne(groups)) {
    fold(i64(0), rangeBegin, rangeEnd);
    return finish(columns, work, caller.getInt64(leastColumns));
  }
  Value *some = k.CreateICmpSGT(capture(groups), i64(1)), *isNone = k.CreateICmpSGE(rangeBegin, rangeEnd);
  loop(k.CreateSelect(some, rangeBegin, i64(0)), k.CreateSelect(some, rangeEnd, k.CreateSelect(isNone, i64(0), i64(1))),
       [&](Value *group) {
         fold(group, k.CreateSelect(some, i64(0), rangeBegin), k.CreateSelect(some, width, rangeEnd));
       });
  Value *areSeveral = caller.CreateICmpSGT(groups, caller.getInt64(1)),
        *each = caller.CreateMul(
            caller.CreateUDiv(work, caller.CreateBinaryIntrinsic(Intrinsic::smax, groups, caller.getInt64(1))),
            columns);
  finish(caller.CreateSelect(areSeveral, groups, columns), caller.CreateSelect(areSeveral, each, work),
         caller.CreateSelect(areSeveral, caller.getInt64(1), caller.getInt64(leastColumns)));
}

void KernelEmitter::emitColumnReduction(mlir::Operation *op) {
  if (areColumnsNarrow(op))
    return emitNarrowColumns(op);
  mlir::Value x = op->getOperand(0);
  const DType dtype = rootType.getDtype();
  ReductionAxes axes(op);
  SmallVector<Value *> outerSizes = callerSizesOf(x, axes.outer), reducedSizes = callerSizesOf(x, axes.reduced);
  Value *count = product(reducedSizes), *columns = outerSizes.back(), *rows = product(ArrayRef(outerSizes).drop_back());
  auto known = knownFoldLength(op);
  const bool isTiled = findTransposedRows(op),
             isPlain = (isInAnyOrder(op, dtype) && !isTiled) || (known && *known <= reductionRun);
  auto [groups, rowsOfGroup] =
      isTiled ? std::pair<Value *, Value *>(caller.getInt64(1), rows) : groupsOfRows(rows, columns);
  const PartialRows partial = isPlain ? PartialRows() : allocatePartialRows(count, columns, groups);
  begin();
  Value *out = capture(callerOut), *n = capture(count), *width = capture(columns), *height = capture(rows),
        *ofGroup = isOne(groups) ? nullptr : capture(rowsOfGroup);
  SmallVector<Value *> sizes = captureAll(ArrayRef(outerSizes).drop_back());
  // Without columns, rows are not counted.
  height = k.CreateSelect(k.CreateICmpSLT(rangeBegin, rangeEnd), height, i64(0));
  n = k.CreateSelect(k.CreateICmpSLT(rangeBegin, rangeEnd), n, i64(0));
  const int64_t edge = tileEdge(dtype);
  const auto inPlace = isTiled ? summedInPlace(op, transposed[0].argument, dtype) : std::nullopt;
  if (!inPlace)
    for (Transposed &t : transposed)
      t.buffer = tileBuffer(tensorTypeOf(t.argument).getDtype(), reductionRun, edge);
  auto fold = [&](Value *group, Value *first, Value *last) {
    Value *from = ofGroup ? k.CreateMul(group, ofGroup, "", true, true) : i64(0);
    Value *to = ofGroup ? k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(from, ofGroup), height) : height;
    loop(from, to, [&](Value *index) {
      Indices outer = decode(index, sizes);
      auto with = [&](Value *column) {
        Indices all = outer;
        all.push_back(column);
        return all;
      };
      Value *base = k.CreateMul(index, width, "", true, true);
      Columns all = {with, out, base, out, base, nullptr, first, last, {}};
      auto prepare = [&](Value *from, Value *to) {
        if (!isTiled)
          return false;
        const Indices start = reductionIndices(op, with(first), from);
        Value *number = k.CreateSub(last, first), *count = k.CreateSub(to, from);
        if (inPlace) {
          const auto [data, pitch] = placeAcross(transposed[0], start);
          Value *at = k.CreateMul(k.CreateAdd(all.rowBase, first, "", true, true), i64(sizeOf(dtype)), "", true, true);
          scalars
              .call("toy_rt_sum_rows", k.getVoidTy(),
                    {k.CreateInBoundsGEP(k.getInt8Ty(), all.row, at), data, pitch, number, count,
                     i64(static_cast<int64_t>(*inPlace))})
              ->setDoesNotThrow();
          return true;
        }
        tileColumn = first;
        tileRow = from;
        for (const Transposed &t : transposed)
          fillTile(t, start, count, number);
        return false;
      };
      all.prepare = prepare;
      if (isPlain)
        return foldRows(op, all, i64(0), n);
      placePartials(partial, group, width, all);
      all.rowBase = k.CreateMul(index, capture(partial.rowStep), "", true, true);
      foldRunsOfRows(op, all, n);
    });
  };
  Value *work = caller.CreateMul(count, rows);
  if (isTiled) {
    loop(rangeBegin, rangeEnd, [&](Value *block) {
      Value *first = k.CreateMul(block, i64(edge), "", true, true);
      fold(i64(0), first,
           k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(first, i64(edge), "", true, true), width));
    });
    finish(caller.CreateUDiv(caller.CreateAdd(columns, caller.getInt64(edge - 1)), caller.getInt64(edge)),
           caller.CreateMul(work, caller.getInt64(edge)));
  } else {
    foldGroups(groups, work, columns, width, fold);
  }
  transposed.clear();
  if (partial.tensor)
    ScalarEmitter(module, caller).call("toy_rt_release", caller.getVoidTy(), {partial.tensor});
}

} // namespace toy
