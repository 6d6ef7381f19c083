// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions whose last axis stays, as kernels of a CUDA device: a thread a result, whose neighbours read neighbours.
/// Of few or long columns a thread for each run, then one for each block of runs, then one for the blocks of a result.
#include "passes/lowering/KernelEmitter.h"

using namespace llvm;

namespace toy {

constexpr int64_t runsOfBlock = reductionBlock / reductionRun;

/// The fold of a column of one block, by one thread: runs one after the other.
Element KernelEmitter::columnFold(mlir::Operation *op, const Indices &outer, Value *n) {
  if (auto known = knownFoldLength(op); known && *known <= reductionRun)
    return threadFold(op, outer, i64(0), n, 1, *known);
  DType dtype = rootType.getDtype();
  Value *total = variable(dtype);
  scalars.store(dtype, total, i64(0), identityOf(op, dtype));
  loop(i64(0), k.CreateUDiv(k.CreateAdd(n, i64(reductionRun - 1)), i64(reductionRun)), [&](Value *run) {
    Value *from = k.CreateMul(run, i64(reductionRun), "", true, true),
          *to = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(from, i64(reductionRun), "", true, true), n);
    Element part = threadFold(op, outer, from, to, 1, 0);
    Element sum = choose(
        k.CreateICmpEQ(run, i64(0)), dtype, [&] { return part; },
        [&] { return combine(op, scalars.load(dtype, total, i64(0)), part, dtype); });
    scalars.store(dtype, total, i64(0), sum);
  });
  return scalars.load(dtype, total, i64(0));
}

Value *KernelEmitter::launchColumns(mlir::Operation *op, Value *site) {
  auto byThreads = [&] {
    return launchFolds(op, rootType.getDtype(), 1, site,
                       [&](const Indices &outer, Value *, Value *n) { return columnFold(op, outer, n); });
  };
  mlir::Value x = op->getOperand(0);
  ReductionAxes axes(op);
  Value *count = product(callerSizesOf(x, axes.reduced)), *results = product(callerSizesOf(x, axes.outer));
  Value *areMany = caller.CreateAnd(caller.CreateICmpSGE(results, caller.getInt64(manyThreads)),
                                    caller.CreateICmpSLE(count, caller.getInt64(reductionBlock)));
  return oneOf(either(caller.CreateICmpSLE(count, caller.getInt64(reductionRun)), areMany), byThreads,
               [&] { return launchRuns(op, site); });
}

/// A thread for each run of each result. Runs of neighbouring results are neighbours.
Value *KernelEmitter::launchRuns(mlir::Operation *op, Value *site) {
  mlir::Value x = op->getOperand(0);
  DType dtype = rootType.getDtype();
  ReductionAxes axes(op);
  SmallVector<Value *> outerSizes = callerSizesOf(x, axes.outer);
  auto parts = [&](Value *count, int64_t each) {
    return caller.CreateUDiv(caller.CreateAdd(count, caller.getInt64(each - 1)), caller.getInt64(each));
  };
  Value *count = product(callerSizesOf(x, axes.reduced)), *results = product(outerSizes),
        *runs = parts(count, reductionRun), *pieces = caller.CreateMul(results, runs);
  begin();
  Value *out = capture(callerOut), *n = capture(count), *number = capture(pieces);
  SmallVector<Value *> sizes = captureAll(outerSizes);
  Value *piece = threadNumber();
  guarded(k.CreateICmpSLT(piece, number), [&] {
    Value *each = capture(results), *run = quotient(piece, each),
          *result = k.CreateSub(piece, k.CreateMul(run, each, "", true, true)),
          *from = k.CreateMul(run, i64(reductionRun), "", true, true),
          *to = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(from, i64(reductionRun), "", true, true), n);
    scalars.store(dtype, out, piece, threadFold(op, decode(result, sizes), from, to, 1, 0));
  });
  Value *partials = finishLaunch(pieces, {{dtype, {pieces}}}, site);
  return onlyIf(caller.CreateIsNotNull(partials), [&] {
    LaunchResult result = {dtype, resultSizes()};
    Value *most = caller.getInt64(runsOfBlock), *isBlock = caller.CreateICmpSLE(runs, most);
    return oneOf(
        isBlock, [&] { return launchOrdered(op, partials, runs, most, results, result, site); },
        [&] {
          Value *blocks = parts(runs, runsOfBlock);
          LaunchResult inner = {dtype, {caller.CreateMul(results, blocks)}};
          Value *sums = launchOrdered(op, partials, runs, most, results, inner, site);
          return onlyIf(caller.CreateIsNotNull(sums),
                        [&] { return launchOrdered(op, sums, blocks, blocks, results, result, site); });
        });
  });
}

/// What comes before, and then parts [first, end), one after the other, by one thread. What some steps read is asked
/// for together.
Element KernelEmitter::foldInTurn(mlir::Operation *op, Value *first, Value *end, Element before, int64_t together,
                                  function_ref<Element(Value *)> part) {
  DType dtype = rootType.getDtype();
  Value *left = nullptr;
  Element total = strided(first, end, before, left, [&](Value *j, Element sum) {
    SmallVector<Element> all;
    for (int64_t i = 0; i < together; ++i)
      all.push_back(part(k.CreateAdd(j, i64(i), "", true, true)));
    for (Element next : all)
      sum = combine(op, sum, next, dtype);
    return Round{sum, together, together - 1};
  });
  return strided(left, end, total, left,
                 [&](Value *j, Element sum) { return Round{combine(op, sum, part(j), dtype), 1, 0}; });
}

/// Of `number` folds of each result, which are apart by the number of results, `each` at a time in order, by one
/// thread; at least one. What many steps read is asked for together, as there are few threads.
Value *KernelEmitter::launchOrdered(mlir::Operation *op, Value *partials, Value *number, Value *each, Value *results,
                                    LaunchResult result, Value *site) {
  DType dtype = rootType.getDtype();
  const int64_t together = toy::sizeOf(dtype) > 8 ? 16 : 32;
  Value *threads = caller.CreateMul(
      results, caller.CreateUDiv(caller.CreateSub(caller.CreateAdd(number, each), caller.getInt64(1)), each));
  begin();
  Value *out = capture(callerOut), *in = capture(partials), *n = capture(number), *height = capture(threads),
        *width = capture(results), *length = capture(each), *piece = threadNumber();
  guarded(k.CreateICmpSLT(piece, height), [&] {
    Value *group = quotient(piece, width), *own = k.CreateSub(piece, k.CreateMul(group, width, "", true, true)),
          *from = k.CreateMul(group, length, "", true, true),
          *to = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(from, length, "", true, true), n);
    auto part = [&](Value *i) {
      return scalars.load(dtype, in, k.CreateAdd(k.CreateMul(i, width, "", true, true), own, "", true, true));
    };
    Element total = foldInTurn(op, k.CreateAdd(from, i64(1)), to, part(from), together, part);
    scalars.store(dtype, out, piece, total);
  });
  return finishFromPartials(partials, threads, result, site);
}

} // namespace toy
