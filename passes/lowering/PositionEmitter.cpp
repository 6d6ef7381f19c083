// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions that give positions: of the first greatest or least element, or of the first NaN. The best element and
/// its position are found in lanes (the last axis is reduced; of elements that lie in memory positions are looked for
/// in the best block alone) or a column a lane.
#include "passes/RowLanes.h"
#include "passes/lowering/KernelEmitter.h"

#include <utility>

using namespace llvm;

namespace toy {

/// Whether b takes the place of a, which stands before it: the first NaN wins.
Value *KernelEmitter::isBetter(mlir::Operation *op, Value *a, Value *b, DType dtype) {
  bool isMax = isa<ArgMaxOp>(op);
  if (isFloat(dtype))
    return k.CreateAnd(k.CreateFCmpORD(a, a), isMax ? k.CreateFCmpUGT(b, a) : k.CreateFCmpULT(b, a));
  if (dtype == DType::Bool || dtype == DType::U8)
    return isMax ? k.CreateICmpUGT(b, a) : k.CreateICmpULT(b, a);
  return isMax ? k.CreateICmpSGT(b, a) : k.CreateICmpSLT(b, a);
}

KernelEmitter::Fold KernelEmitter::better(mlir::Operation *op, const Fold &a, const Fold &b, DType dtype) {
  Value *takes = isBetter(op, a[0], b[0], dtype);
  return {k.CreateSelect(takes, b[0], a[0]), k.CreateSelect(takes, b[1], a[1])};
}

/// The better one, or of equal ones the one that stands before the other.
KernelEmitter::Fold KernelEmitter::firstBest(mlir::Operation *op, const Fold &a, const Fold &b, DType dtype) {
  Value *isEarlier = k.CreateAnd(k.CreateNot(isBetter(op, b[0], a[0], dtype)), k.CreateICmpULT(b[1], a[1]));
  Value *takes = k.CreateOr(isBetter(op, a[0], b[0], dtype), isEarlier);
  return {k.CreateSelect(takes, b[0], a[0]), k.CreateSelect(takes, b[1], a[1])};
}

/// What loses against any element that stands before it or is better.
Value *KernelEmitter::worst(mlir::Operation *op, DType dtype) {
  Type *type = scalars.partType(dtype);
  const bool isMax = isa<ArgMaxOp>(op), isUnsigned = dtype == DType::Bool || dtype == DType::U8;
  if (type->isFloatingPointTy())
    return ConstantFP::getInfinity(type, isMax);
  unsigned bits = type->getIntegerBitWidth();
  return k.getInt(isUnsigned ? isMax ? APInt::getMinValue(bits) : APInt::getMaxValue(bits)
                  : isMax    ? APInt::getSignedMinValue(bits)
                             : APInt::getSignedMaxValue(bits));
}

/// The best of elements 0 to n - 1, one after the other.
Value *KernelEmitter::emitPositionInOrder(mlir::Operation *op, const Indices &outer, Value *n, Type *position) {
  DType dtype = tensorTypeOf(op->getOperand(0)).getDtype();
  Lanes best(*this, {worst(op, dtype), Constant::getNullValue(position)}, 1);
  best.write(i64(0), {worst(op, dtype), Constant::getNullValue(position)});
  loop(i64(0), n, [&](Value *j) {
    best.write(i64(0),
               better(op, best.read(i64(0)), {reductionElement(op, outer, j).re, k.CreateTrunc(j, position)}, dtype));
  });
  return best.read(i64(0))[1];
}

/// Elements that vectors read or compute as neighbours in memory, or some others apart: a second time takes no longer
/// than what it saves.
static bool areNeighbours(mlir::Value value, std::optional<int64_t> row) {
  mlir::Operation *def = value.getDefiningOp();
  if (!row || isa_and_nonnull<FullOp, IotaOp>(def))
    return true;
  if (!def)
    return *row == tensorTypeOf(value).getRank() - 1;
  if (auto slice = dyn_cast<SliceOp>(def))
    return (slice.getSteps()[*row] == 1 || areNear(slice.getSteps()[*row])) && areNeighbours(slice.getX(), row);
  return def->hasTrait<OpTrait::Elementwise>() && all_of(def->getOperands(), [&](mlir::Value operand) {
           return areNeighbours(operand, axisOfOperand(operand, value, row));
         });
}
static bool areReadTwice(mlir::Operation *op) {
  mlir::Value x = op->getOperand(0);
  const int64_t last = tensorTypeOf(x).getRank() - 1;
  const ReductionAxes axes(op);
  return axes.reduced.size() == 1 && axes.reduced[0] == last && hasLanes(x, last) && areNeighbours(x, last);
}

/// The best of elements 0 to n - 1: element j in lane j mod 64, where there are more. A lane that has no better one
/// stands for its first.
Value *KernelEmitter::emitPositionInRow(mlir::Operation *op, const Indices &outer, Value *n, Type *position) {
  BasicBlock *few = BasicBlock::Create(k.getContext(), "", kernel),
             *many = BasicBlock::Create(k.getContext(), "", kernel),
             *on = BasicBlock::Create(k.getContext(), "", kernel);
  k.CreateCondBr(k.CreateICmpULE(n, i64(positionLanes)), few, many);
  k.SetInsertPoint(few);
  Value *inOrder = emitPositionInOrder(op, outer, n, position);
  few = k.GetInsertBlock();
  k.CreateBr(on);
  k.SetInsertPoint(many);
  memo.clear();
  Value *inLanes = areReadTwice(op) ? k.CreateTrunc(emitPositionByBlocks(op, outer, n), position)
                                    : emitPositionInLanes(op, outer, n, position);
  many = k.GetInsertBlock();
  k.CreateBr(on);
  k.SetInsertPoint(on);
  memo.clear();
  PHINode *found = k.CreatePHI(position, 2);
  found->addIncoming(inOrder, few);
  found->addIncoming(inLanes, many);
  return k.CreateZExt(found, k.getInt64Ty());
}

Value *KernelEmitter::emitPositionInLanes(mlir::Operation *op, const Indices &outer, Value *n, Type *position) {
  constexpr int64_t width = positionLanes;
  DType dtype = tensorTypeOf(op->getOperand(0)).getDtype();
  Value *start = worst(op, dtype);
  Lanes lanes(*this, {start, Constant::getNullValue(position)}, width);
  auto narrow = [&](Value *v) { return k.CreateTrunc(v, position); };
  loop(i64(0), i64(width), [&](Value *lane) { lanes.write(lane, {start, narrow(lane)}); });
  auto step = [&](Value *base, Value *lane) {
    Value *j = k.CreateAdd(base, lane, "", true, true);
    lanes.write(lane, better(op, lanes.read(lane),
                             {reductionElement(op, outer, j).re, k.CreateAdd(narrow(base), narrow(lane))}, dtype));
  };
  Value *rounds = k.CreateUDiv(n, i64(width)), *tail = k.CreateMul(rounds, i64(width));
  const std::vector<Gathered> gathered = startGather(op, width);
  loop(i64(0), rounds, [&](Value *round) {
    Value *base = k.CreateMul(round, i64(width), "", true, true);
    auto indices = [&](Value *lane) { return reductionIndices(op, outer, k.CreateAdd(base, lane, "", true, true)); };
    loopOverLanes(indices, width, gathered, [&](Value *lane) { step(base, lane); });
  });
  loop(i64(0), k.CreateSub(n, tail), [&](Value *lane) { step(tail, lane); });
  for (int64_t half = width / 2; half > 0; half /= 2)
    loop(i64(0), i64(half), [&](Value *lane) {
      lanes.write(lane, firstBest(op, lanes.read(lane), lanes.read(k.CreateAdd(lane, i64(half))), dtype));
    });
  return lanes.read(i64(0))[1];
}

/// Vectors of elements of a row, from one on; booleans as bytes.
Value *KernelEmitter::lanesOfRow(mlir::Operation *op, const Indices &outer, Value *base) {
  mlir::Value x = op->getOperand(0);
  const DType dtype = tensorTypeOf(x).getDtype();
  Indices first = outer;
  first.push_back(base);
  Value *lanes = laneElements(x, {first, static_cast<int64_t>(outer.size())}, nullptr).re;
  return dtype == DType::Bool ? k.CreateZExt(lanes, asWide(lanes, k.getInt8Ty())) : lanes;
}

/// The best of elements [begin, end), or a NaN if there is one. Without positions, a step is one comparison for the
/// best and half a one for NaN.
Value *KernelEmitter::bestOfBlock(mlir::Operation *op, const Indices &outer, Value *begin, Value *end) {
  const DType dtype = tensorTypeOf(op->getOperand(0)).getDtype();
  const DType kept = dtype == DType::Bool ? DType::U8 : dtype;
  const bool isMax = isa<ArgMaxOp>(op), hasNaN = isFloat(dtype);
  Value *start = k.CreateVectorSplat(lanesAtOnce, worst(op, kept)),
        *noNaN = k.CreateVectorSplat(lanesAtOnce / 2, k.getFalse());
  IRBuilder<> entry(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
  Value *best = entry.CreateAlloca(start->getType()), *nan = entry.CreateAlloca(noNaN->getType());
  k.CreateStore(start, best);
  k.CreateStore(noNaN, nan);
  auto half = [&](Value *lanes, int64_t from) {
    return k.CreateShuffleVector(lanes, to_vector(map_range(seq<int64_t>(from, from + lanesAtOnce / 2),
                                                            [](int64_t lane) { return static_cast<int>(lane); })));
  };
  auto step = [&](Value *base) {
    Value *x = lanesOfRow(op, outer, base), *before = k.CreateLoad(start->getType(), best);
    Value *takes =
        hasNaN ? isMax ? k.CreateFCmpOGT(x, before) : k.CreateFCmpOLT(x, before) : isBetter(op, before, x, kept);
    k.CreateStore(k.CreateSelect(takes, x, before), best);
    if (hasNaN)
      k.CreateStore(
          k.CreateOr(k.CreateLoad(noNaN->getType(), nan), k.CreateFCmpUNO(half(x, 0), half(x, lanesAtOnce / 2))), nan);
  };
  Value *count = k.CreateSub(end, begin, "", true, true), *rounds = k.CreateUDiv(count, i64(lanesAtOnce));
  loop(i64(0), rounds, [&](Value *round) {
    step(k.CreateAdd(begin, k.CreateMul(round, i64(lanesAtOnce), "", true, true), "", true, true));
  });
  // The last ones end with the block: a row has more elements than there are lanes, and what they have of an earlier
  // block takes nothing's place.
  Value *rest = k.CreateURem(count, i64(lanesAtOnce));
  loop(i64(0), k.CreateZExt(k.CreateICmpNE(rest, i64(0)), k.getInt64Ty()),
       [&](Value *) { step(k.CreateSub(end, i64(lanesAtOnce), "", true, true)); });
  Value *lanes = k.CreateLoad(start->getType(), best);
  if (!hasNaN)
    return isMax ? k.CreateIntMaxReduce(lanes, kept != DType::U8) : k.CreateIntMinReduce(lanes, kept != DType::U8);
  auto *found = cast<CallInst>(isMax ? k.CreateFPMaxReduce(lanes) : k.CreateFPMinReduce(lanes));
  found->setHasNoNaNs(true);
  found->setHasNoSignedZeros(true);
  return k.CreateSelect(k.CreateOrReduce(k.CreateLoad(noNaN->getType(), nan)), ConstantFP::getNaN(found->getType()),
                        found);
}

/// The position in a row of at least as many elements as lanes: the first block that has the best element or a NaN,
/// then the first of its elements that is as good. The lanes of the last step end with the row: what they have of an
/// earlier block is not as good.
Value *KernelEmitter::emitPositionByBlocks(mlir::Operation *op, const Indices &outer, Value *n) {
  const DType dtype = tensorTypeOf(op->getOperand(0)).getDtype();
  const DType kept = dtype == DType::Bool ? DType::U8 : dtype;
  constexpr int64_t block = 4096;
  const int64_t before = std::exchange(lanesAtOnce, positionLanes);
  Value *start = worst(op, kept);
  Lanes found(*this, {start, i64(0)}, 1);
  found.write(i64(0), {start, i64(0)});
  loop(i64(0), k.CreateUDiv(k.CreateAdd(n, i64(block - 1)), i64(block)), [&](Value *number) {
    Value *begin = k.CreateMul(number, i64(block), "", true, true);
    Value *end = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(begin, i64(block), "", true, true), n);
    found.write(i64(0), better(op, found.read(i64(0)), {bestOfBlock(op, outer, begin, end), begin}, kept));
  });
  const Fold best = found.read(i64(0));
  BasicBlock *entry = k.GetInsertBlock(), *search = BasicBlock::Create(k.getContext(), "", kernel),
             *done = BasicBlock::Create(k.getContext(), "", kernel);
  Value *lastBase = k.CreateSub(n, i64(positionLanes), "", true, true);
  k.CreateBr(search);
  k.SetInsertPoint(search);
  memo.clear();
  PHINode *from = k.CreatePHI(k.getInt64Ty(), 2);
  from->addIncoming(best[1], entry);
  Value *base = k.CreateBinaryIntrinsic(Intrinsic::smin, from, lastBase), *lanes = lanesOfRow(op, outer, base);
  Value *wanted = k.CreateVectorSplat(positionLanes, best[0]);
  Value *isAsGood = isFloat(dtype) ? k.CreateSelect(k.CreateFCmpUNO(best[0], best[0]), k.CreateFCmpUNO(lanes, lanes),
                                                    k.CreateFCmpOEQ(lanes, wanted))
                                   : k.CreateICmpEQ(lanes, wanted);
  Value *bits = k.CreateBitCast(isAsGood, k.getIntNTy(positionLanes));
  from->addIncoming(k.CreateAdd(base, i64(positionLanes), "", true, true), search);
  k.CreateCondBr(k.CreateOr(k.CreateIsNotNull(bits), k.CreateICmpEQ(base, lastBase)), done, search);
  k.SetInsertPoint(done);
  memo.clear();
  lanesAtOnce = before;
  return k.CreateAdd(base, k.CreateBinaryIntrinsic(Intrinsic::cttz, bits, k.getFalse()), "", true, true);
}

/// Rows of a few elements, one after the other, so that LLVM takes a row a lane.
Value *KernelEmitter::emitPositionInShortRow(mlir::Operation *op, const Indices &outer, int64_t count) {
  DType dtype = tensorTypeOf(op->getOperand(0)).getDtype();
  Fold best = {reductionElement(op, outer, i64(0)).re, k.getInt32(0)};
  for (int64_t j = 1; j < count; ++j)
    best = better(op, best, {reductionElement(op, outer, i64(j)).re, k.getInt32(static_cast<uint32_t>(j))}, dtype);
  return k.CreateZExt(best[1], k.getInt64Ty());
}

/// Of elements that are side by side: where the first is that is as good as the best of all, or the first NaN. What
/// stands for those behind the row is never the first.
Value *KernelEmitter::positionInLanes(mlir::Operation *op, int64_t row, Value *mask) {
  mlir::Value x = op->getOperand(0);
  const DType dtype = tensorTypeOf(x).getDtype();
  const bool isMax = isa<ArgMaxOp>(op), isUnsigned = dtype == DType::Bool || dtype == DType::U8;
  Value *lanes = laneElements(x, {Indices(tensorTypeOf(x).getRank(), i64(0)), row}, mask).re;
  lanes = k.CreateSelect(mask, lanes, k.CreateVectorSplat(lanesAtOnce, worst(op, dtype)));
  if (dtype == DType::Bool)
    lanes = k.CreateZExt(lanes, asWide(lanes, k.getInt8Ty()));
  auto bits = [&](Value *chosen) { return k.CreateBitCast(chosen, k.getIntNTy(static_cast<unsigned>(lanesAtOnce))); };
  auto splat = [&](Value *v) { return k.CreateVectorSplat(lanesAtOnce, v); };
  Value *found;
  if (isFloat(dtype)) {
    auto *best = cast<CallInst>(isMax ? k.CreateFPMaxReduce(lanes) : k.CreateFPMinReduce(lanes));
    best->setHasNoNaNs(true);
    best->setHasNoSignedZeros(true);
    Value *nans = bits(k.CreateFCmpUNO(lanes, lanes));
    found = k.CreateSelect(k.CreateIsNotNull(nans), nans, bits(k.CreateFCmpOEQ(lanes, splat(best))));
  } else {
    Value *best = isMax ? k.CreateIntMaxReduce(lanes, !isUnsigned) : k.CreateIntMinReduce(lanes, !isUnsigned);
    found = bits(k.CreateICmpEQ(lanes, splat(best)));
  }
  return k.CreateZExt(k.CreateBinaryIntrinsic(Intrinsic::cttz, found, k.getFalse()), k.getInt64Ty());
}

/// The last axis stays: some columns at a time, whose best elements are on the stack.
void KernelEmitter::emitPositionsOfColumns(mlir::Operation *op, const Indices &outer, Value *base, Value *out,
                                           Value *n) {
  constexpr int64_t width = 256;
  DType dtype = tensorTypeOf(op->getOperand(0)).getDtype();
  Value *start = worst(op, dtype);
  Lanes best(*this, {start}, width);
  Value *groups = k.CreateUDiv(k.CreateAdd(k.CreateSub(rangeEnd, rangeBegin), i64(width - 1)), i64(width));
  loop(i64(0), groups, [&](Value *group) {
    Value *first = k.CreateAdd(rangeBegin, k.CreateMul(group, i64(width), "", true, true), "", true, true);
    Value *here = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateSub(rangeEnd, first), i64(width));
    auto visit = [&](Value *j, bool isFirst) {
      loop(i64(0), here, [&](Value *lane) {
        Value *column = k.CreateAdd(first, lane, "", true, true), *at = k.CreateAdd(base, column, "", true, true);
        Indices indices = outer;
        indices.push_back(column);
        Fold x = {reductionElement(op, indices, j).re, j};
        if (!isFirst)
          x = better(op, {best.read(lane)[0], scalars.load(DType::I64, out, at).re}, x, dtype);
        best.write(lane, {x[0]});
        scalars.store(DType::I64, out, at, {x[1]});
      });
    };
    visit(i64(0), true);
    loop(i64(1), n, [&](Value *j) { visit(j, false); });
  });
}

void KernelEmitter::emitArgReduction(mlir::Operation *op) {
  mlir::Value x = op->getOperand(0);
  ReductionAxes axes(op);
  bool byColumns = !axes.alongLast;
  if (areRowsInLanes(op))
    return emitRowsInLanes(op, *knownFoldLength(op));
  if (areColumnsNarrow(op))
    return emitNarrowColumns(op);
  SmallVector<Value *> outerSizes = callerSizesOf(x, axes.outer), reducedSizes = callerSizesOf(x, axes.reduced);
  Value *columns = byColumns ? outerSizes.pop_back_val() : nullptr;
  Value *count = product(reducedSizes), *rows = product(outerSizes);
  begin();
  Value *out = capture(callerOut), *n = capture(count);
  Value *width = byColumns ? capture(columns) : nullptr, *height = byColumns ? capture(rows) : nullptr;
  SmallVector<Value *> sizes = map_to_vector(outerSizes, [&](Value *v) { return capture(v); });
  auto length = knownFoldLength(op);
  if (byColumns) {
    height = k.CreateSelect(k.CreateICmpSLT(rangeBegin, rangeEnd), height, i64(0)); // without columns, no rows
    loop(i64(0), height, [&](Value *row) {
      emitPositionsOfColumns(op, decode(row, sizes), k.CreateMul(row, width, "", true, true), out, n);
    });
    return finish(columns, caller.CreateMul(count, rows), caller.getInt64(leastColumns));
  }
  Type *position = length && *length < INT32_MAX ? k.getInt32Ty() : k.getInt64Ty();
  loop(rangeBegin, rangeEnd, [&](Value *row) {
    Indices outer = decode(row, sizes);
    Value *found = length && *length <= 16 ? emitPositionInShortRow(op, outer, *length)
                                           : emitPositionInRow(op, outer, n, position);
    scalars.store(DType::I64, out, row, {found});
  });
  finish(rows, count);
}

} // namespace toy
