// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions that give positions, as kernels of a CUDA device: a warp a row, of a few long rows a warp a block, whose
/// best elements are compared by another warp; a thread a column. Which element is the best does not depend on the
/// order, as the first of equal ones is taken.
#include "passes/lowering/KernelEmitter.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace toy {

/// The position of the best of candidates [begin, end), in lane 0. A candidate is an element and its position.
Value *KernelEmitter::warpPosition(mlir::Operation *op, Value *lane, Value *begin, Value *end,
                                   function_ref<Element(Value *)> candidate) {
  constexpr int64_t together = 4;
  DType dtype = tensorTypeOf(op->getOperand(0)).getDtype();
  auto take = [&](Element a, Element b) -> Element {
    Fold best = firstBest(op, {a.re, a.im}, {b.re, b.im}, dtype);
    return {best[0], best[1]};
  };
  Element best = {worst(op, dtype), i64(-1)}; // behind all
  Value *left = nullptr;
  best = strided(k.CreateAdd(begin, lane, "", true, true), end, best, left, [&](Value *j, Element sum) {
    SmallVector<Element> all;
    for (int64_t i = 0; i < together; ++i)
      all.push_back(candidate(k.CreateAdd(j, i64(i * warp), "", true, true)));
    for (Element next : all)
      sum = take(sum, next);
    return Round{sum, together * warp, (together - 1) * warp};
  });
  best = strided(left, end, best, left, [&](Value *j, Element sum) { return Round{take(sum, candidate(j)), warp, 0}; });
  for (int64_t half = warp / 2; half > 0; half /= 2)
    best = take(best, shuffled(best, Intrinsic::nvvm_shfl_sync_down_i32, k.getInt32(half)));
  return best.im;
}

/// The length of a block of a long row: what a warp reads at once, or more, so that one can compare all blocks' best.
static Value *blockOf(IRBuilder<> &caller, Value *count) {
  constexpr int64_t least = 128, mostBlocks = 4096;
  Value *length =
      caller.CreateUDiv(caller.CreateAdd(count, caller.getInt64(mostBlocks - 1)), caller.getInt64(mostBlocks));
  return caller.CreateBinaryIntrinsic(Intrinsic::smax, length, caller.getInt64(least));
}

/// A warp for each block of each row, then one for the best of a row's blocks.
Value *KernelEmitter::launchPositionOfBlocks(mlir::Operation *op, Value *site) {
  mlir::Value x = op->getOperand(0);
  ReductionAxes axes(op);
  SmallVector<Value *> outerSizes = callerSizesOf(x, axes.outer), all = resultSizes();
  Value *count = product(callerSizesOf(x, axes.reduced)), *rows = product(outerSizes), *length = blockOf(caller, count),
        *blocks = caller.CreateUDiv(caller.CreateSub(caller.CreateAdd(count, length), caller.getInt64(1)), length),
        *warps = caller.CreateMul(rows, blocks);
  auto kernelFor = [&](Value *wanted, function_ref<Value *(Value *, Value *, const Indices &)> body) {
    Value *out = capture(callerOut), *height = capture(wanted),
          *each = capture(wanted == rows ? caller.getInt64(1) : blocks);
    SmallVector<Value *> sizes = captureAll(outerSizes);
    auto [number, lane] = warpAndLane();
    guarded(k.CreateICmpSLT(number, height), [&, number = number, lane = lane] {
      Value *position = body(number, lane, decode(k.CreateUDiv(number, each), sizes));
      guarded(k.CreateICmpEQ(lane, i64(0)), [&] { scalars.store(DType::I64, out, number, {position}); });
    });
  };
  begin();
  kernelFor(warps, [&](Value *number, Value *lane, const Indices &outer) {
    Value *each = capture(length), *start = k.CreateMul(k.CreateURem(number, capture(blocks)), each, "", true, true),
          *end = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(start, each), capture(count));
    return warpPosition(op, lane, start, end,
                        [&](Value *j) -> Element { return {reductionElement(op, outer, j).re, j}; });
  });
  Value *partials = finishLaunch(caller.CreateMul(warps, caller.getInt64(warp)), {{DType::I64, {warps}}}, site);
  return onlyIf(caller.CreateIsNotNull(partials), [&] {
    begin();
    Value *in = capture(partials);
    kernelFor(rows, [&](Value *row, Value *lane, const Indices &outer) {
      Value *number = capture(blocks), *first = k.CreateMul(row, number, "", true, true);
      return warpPosition(op, lane, i64(0), number, [&](Value *block) -> Element {
        Value *j = scalars.load(DType::I64, in, k.CreateAdd(first, block, "", true, true)).re;
        return {reductionElement(op, outer, j).re, j};
      });
    });
    return finishFromPartials(partials, caller.CreateMul(rows, caller.getInt64(warp)), {DType::I64, all}, site);
  });
}

/// The position of the best element of a column, by one thread.
Value *KernelEmitter::columnPosition(mlir::Operation *op, const Indices &outer, Value *n) {
  DType from = tensorTypeOf(op->getOperand(0)).getDtype();
  Value *best = variable(from), *position = variable(DType::I64);
  scalars.store(from, best, i64(0), reductionElement(op, outer, i64(0)));
  scalars.store(DType::I64, position, i64(0), {i64(0)});
  memo.clear();
  loop(i64(1), n, [&](Value *j) {
    Fold kept = better(op, {scalars.load(from, best, i64(0)).re, scalars.load(DType::I64, position, i64(0)).re},
                       {reductionElement(op, outer, j).re, j}, from);
    scalars.store(from, best, i64(0), {kept[0]});
    scalars.store(DType::I64, position, i64(0), {kept[1]});
  });
  return scalars.load(DType::I64, position, i64(0)).re;
}

Value *KernelEmitter::launchPosition(mlir::Operation *op, Value *site) {
  mlir::Value x = op->getOperand(0);
  ReductionAxes axes(op);
  flat = axes.outer.empty() && axes.alongLast && isAllElementwise(x);
  if (!axes.alongLast)
    return launchFolds(op, DType::I64, 1, site, [&](const Indices &outer, Value *, Value *n) -> Element {
      return {columnPosition(op, outer, n)};
    });
  auto byWarps = [&] {
    return launchFolds(op, DType::I64, warp, site, [&](const Indices &outer, Value *lane, Value *n) -> Element {
      return {warpPosition(op, lane, i64(0), n,
                           [&](Value *j) -> Element { return {reductionElement(op, outer, j).re, j}; })};
    });
  };
  constexpr int64_t shortRow = 2048;
  if (auto known = knownFoldLength(op); known && *known <= shortRow)
    return byWarps();
  Value *count = product(callerSizesOf(x, axes.reduced)), *rows = product(callerSizesOf(x, axes.outer));
  Value *isOne = caller.CreateOr(caller.CreateICmpSLE(count, caller.getInt64(shortRow)),
                                 caller.CreateICmpSGE(rows, caller.getInt64(manyRows)));
  Value *one = onlyIf(isOne, byWarps),
        *two = onlyIf(caller.CreateNot(isOne), [&] { return launchPositionOfBlocks(op, site); });
  return caller.CreateSelect(isOne, one, two);
}

} // namespace toy
