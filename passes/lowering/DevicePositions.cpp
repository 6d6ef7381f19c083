// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions that give positions, as kernels of a CUDA device: a warp a row, a thread a column, of a few long ones a
/// warp or a thread a block, whose best elements are compared by a block of threads. Which element is the best does not
/// depend on the order, as the first of equal ones is taken.
#include "passes/lowering/KernelEmitter.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace toy {

/// The best of candidates `first`, `first + stride` and so on before `end`: an element and its position.
Element KernelEmitter::threadPosition(mlir::Operation *op, Value *first, Value *end, int64_t stride,
                                      function_ref<Element(Value *)> candidate) {
  constexpr int64_t together = 8;
  DType dtype = tensorTypeOf(op->getOperand(0)).getDtype();
  Element best = {worst(op, dtype), i64(-1)}; // behind all
  Value *left = nullptr;
  best = strided(first, end, best, left, [&](Value *j, Element sum) {
    SmallVector<Element> all;
    for (int64_t i = 0; i < together; ++i)
      all.push_back(candidate(k.CreateAdd(j, i64(i * stride), "", true, true)));
    for (Element next : all)
      sum = betterPosition(op, sum, next);
    return Round{sum, together * stride, (together - 1) * stride};
  });
  return strided(left, end, best, left,
                 [&](Value *j, Element sum) { return Round{betterPosition(op, sum, candidate(j)), stride, 0}; });
}

Element KernelEmitter::betterPosition(mlir::Operation *op, Element a, Element b) {
  Fold best = firstBest(op, {a.re, a.im}, {b.re, b.im}, tensorTypeOf(op->getOperand(0)).getDtype());
  return {best[0], best[1]};
}

/// The best of what the first lanes of a warp have, in lane 0.
Element KernelEmitter::bestOfLanes(mlir::Operation *op, Element best, int64_t lanes) {
  for (int64_t half = lanes / 2; half > 0; half /= 2)
    best = betterPosition(op, best, shuffled(best, Intrinsic::nvvm_shfl_sync_down_i32, k.getInt32(half)));
  return best;
}

/// The position of the best of candidates [begin, end), in lane 0.
Value *KernelEmitter::warpPosition(mlir::Operation *op, Value *lane, Value *begin, Value *end,
                                   function_ref<Element(Value *)> candidate) {
  return bestOfLanes(op, threadPosition(op, k.CreateAdd(begin, lane, "", true, true), end, warp, candidate), warp).im;
}

/// The position of the best of candidates [begin, end), at least one, in a block's first thread: the best of each warp
/// goes through shared memory to the first.
Value *KernelEmitter::blockPosition(mlir::Operation *op, Value *thread, Value *begin, Value *end,
                                    function_ref<Element(Value *)> candidate) {
  constexpr int64_t warps = threadsOfBlock / warp;
  DType dtype = tensorTypeOf(op->getOperand(0)).getDtype();
  Element best = bestOfLanes(
      op, threadPosition(op, k.CreateAdd(begin, thread, "", true, true), end, threadsOfBlock, candidate), warp);
  Value *values = sharedMemory(warps * toy::sizeOf(dtype)), *positions = sharedMemory(warps * toy::sizeOf(DType::I64)),
        *lane = k.CreateAnd(thread, i64(warp - 1)), *own = k.CreateLShr(thread, i64(5));
  guarded(k.CreateICmpEQ(lane, i64(0)), [&] {
    scalars.store(dtype, values, own, {best.re});
    scalars.store(DType::I64, positions, own, {best.im});
  });
  meetInBlock();
  Value *at = k.CreateBinaryIntrinsic(Intrinsic::smin, lane, i64(warps - 1));
  best = {scalars.load(dtype, values, at).re, scalars.load(DType::I64, positions, at).re};
  return bestOfLanes(op, best, warps).im;
}

/// The length of a block of a long fold: what a warp or a thread reads at once, or more, so that a warp can compare all
/// blocks' best. The most blocks of a row, or of each of 16 columns, are four blocks of threads a multiprocessor.
static Value *blockOf(IRBuilder<> &caller, Value *count, bool isRow) {
  const int64_t least = isRow ? 128 : reductionRun, most = isRow ? 5120 : 10240;
  Value *length = caller.CreateUDiv(caller.CreateAdd(count, caller.getInt64(most - 1)), caller.getInt64(most));
  return caller.CreateBinaryIntrinsic(Intrinsic::smax, length, caller.getInt64(least));
}

/// Of `number` things, by `lanes` threads each, that on whose index the position depends.
void KernelEmitter::storePositions(Value *number, int64_t lanes,
                                   function_ref<std::pair<Value *, Value *>(Value *, Value *)> find) {
  Value *out = capture(callerOut), *height = capture(number);
  auto [thing, lane] = lanes == 1      ? std::pair(threadNumber(), i64(0))
                       : lanes == warp ? warpAndLane()
                                       : blockAndThread();
  guarded(k.CreateICmpSLT(thing, height), [&, thing = thing, lane = lane] {
    auto [at, position] = find(thing, lane);
    guarded(k.CreateICmpEQ(lane, i64(0)),
            [&, at = at, position = position] { scalars.store(DType::I64, out, at, {position}); });
  });
}

/// A warp for each block of each row, or a thread for each block of each column, so that neighbours read neighbours;
/// then a block of threads for the best of a result's blocks.
Value *KernelEmitter::launchPositionOfBlocks(mlir::Operation *op, Value *site) {
  mlir::Value x = op->getOperand(0);
  ReductionAxes axes(op);
  const int64_t lanes = axes.alongLast ? warp : 1;
  SmallVector<Value *> outerSizes = callerSizesOf(x, axes.outer), all = resultSizes();
  Value *count = product(callerSizesOf(x, axes.reduced)), *results = product(outerSizes),
        *length = blockOf(caller, count, axes.alongLast),
        *blocks = caller.CreateUDiv(caller.CreateSub(caller.CreateAdd(count, length), caller.getInt64(1)), length),
        *pieces = caller.CreateMul(results, blocks), *perGroup = axes.alongLast ? blocks : results;
  begin();
  storePositions(pieces, lanes, [&](Value *piece, Value *lane) {
    SmallVector<Value *> sizes = captureAll(outerSizes);
    Value *each = capture(perGroup), *group = quotient(piece, each),
          *inGroup = k.CreateSub(piece, k.CreateMul(group, each, "", true, true)),
          *result = axes.alongLast ? group : inGroup, *block = axes.alongLast ? inGroup : group,
          *start = k.CreateMul(block, capture(length), "", true, true),
          *end = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(start, capture(length)), capture(count));
    Indices outer = decode(result, sizes);
    auto candidate = [&](Value *j) -> Element { return {reductionElement(op, outer, j).re, j}; };
    Value *position =
        lanes == 1 ? threadPosition(op, start, end, 1, candidate).im : warpPosition(op, lane, start, end, candidate);
    return std::pair(k.CreateAdd(k.CreateMul(result, capture(blocks), "", true, true), block, "", true, true),
                     position);
  });
  Value *partials = finishLaunch(caller.CreateMul(pieces, caller.getInt64(lanes)), {{DType::I64, {pieces}}}, site);
  return onlyIf(caller.CreateIsNotNull(partials), [&] {
    begin();
    storePositions(results, threadsOfBlock, [&](Value *result, Value *thread) {
      Indices outer = decode(result, captureAll(outerSizes));
      Value *in = capture(partials), *number = capture(blocks), *first = k.CreateMul(result, number, "", true, true);
      return std::pair(result, blockPosition(op, thread, i64(0), number, [&](Value *block) -> Element {
                         Value *j = scalars.load(DType::I64, in, k.CreateAdd(first, block, "", true, true)).re;
                         return {reductionElement(op, outer, j).re, j};
                       }));
    });
    return finishFromPartials(partials, caller.CreateMul(results, caller.getInt64(threadsOfBlock)), {DType::I64, all},
                              site);
  });
}

Value *KernelEmitter::launchPosition(mlir::Operation *op, Value *site) {
  mlir::Value x = op->getOperand(0);
  ReductionAxes axes(op);
  flat = axes.outer.empty() && axes.alongLast && isAllElementwise(x);
  const int64_t lanes = axes.alongLast ? warp : 1;
  auto byOne = [&] {
    return launchFolds(op, DType::I64, lanes, site, [&](const Indices &outer, Value *lane, Value *n) -> Element {
      auto candidate = [&](Value *j) -> Element { return {reductionElement(op, outer, j).re, j}; };
      return {lanes == 1 ? threadPosition(op, i64(0), n, 1, candidate).im
                         : warpPosition(op, lane, i64(0), n, candidate)};
    });
  };
  const int64_t shortFold = axes.alongLast ? 2048 : reductionRun, many = axes.alongLast ? manyRows : manyThreads;
  Value *count = product(callerSizesOf(x, axes.reduced)), *results = product(callerSizesOf(x, axes.outer));
  return oneOf(either(caller.CreateICmpSLE(count, caller.getInt64(shortFold)),
                      caller.CreateICmpSGE(results, caller.getInt64(many))),
               byOne, [&] { return launchPositionOfBlocks(op, site); });
}

} // namespace toy
