// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions and rows as kernels of a CUDA device. Reductions along the last axis: one warp a row, lane by lane as the
/// host's 32 lanes, or, of few rows, a block of threads for each 8,192 elements, which computes what is folded into
/// shared memory, so that the lanes of the fold do not wait for it; all others one thread a result. Groups of groups:
/// one warp a row, which folds it as often as there are reductions, and then writes it, or a block of threads as well.
#include "passes/lowering/KernelEmitter.h"
#include "passes/lowering/LoopProperties.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace toy {

static_assert(warp == 32);

/// The warp and the lane that a thread is.
std::pair<Value *, Value *> KernelEmitter::warpAndLane() {
  leastBlock = warp;
  Value *thread = special(Intrinsic::nvvm_read_ptx_sreg_tid_x),
        *warps = k.CreateLShr(special(Intrinsic::nvvm_read_ptx_sreg_ntid_x), i64(5)); // of a block
  return {k.CreateAdd(k.CreateMul(special(Intrinsic::nvvm_read_ptx_sreg_ctaid_x), warps, "", true, true),
                      k.CreateLShr(thread, i64(5)), "", true, true),
          k.CreateAnd(thread, i64(warp - 1))};
}

/// The block, and which of its threads a thread is.
std::pair<Value *, Value *> KernelEmitter::blockAndThread() {
  return {special(Intrinsic::nvvm_read_ptx_sreg_ctaid_x), special(Intrinsic::nvvm_read_ptx_sreg_tid_x)};
}

bool KernelEmitter::isAlwaysByRows(FusedOp op) {
  Dim n = tensorTypeOf(op.getResult(0)).getDims().back();
  return n.isNumber() && n.value() <= reductionBlock;
}

/// A group of groups. Elements of inner groups are computed again for each reduction, from operands that are in the
/// caches by then; rows and reductions that others read are stored beside the result. Many short rows are a warp's work
/// each. Null also where rows are few and long: more threads take part in a kernel for each group.
Value *KernelEmitter::launchRows(Value *site) {
  int64_t width = std::clamp<int64_t>(accessBytes / toy::sizeOf(rootType.getDtype()), 1, 8), widest = 1;
  for (FusedOp group : op.getBody().front().getOps<FusedOp>())
    widest = std::max<int64_t>(widest, toy::sizeOf(tensorTypeOf(group.getResult(0)).getDtype()));
  Dim last = rootType.getDims().back();
  const int64_t known = last.isNumber() && last.value() % width == 0 ? width : 1;
  auto by = [&](int64_t shared) {
    if (last.isNumber())
      return launchRows(site, known, shared);
    return launchEither(
        callerSize(root, rootType.getRank() - 1), width, [&] { return launchRows(site, width, shared); },
        [&] { return launchRows(site, 1, shared); });
  };
  auto byWarps = [&] { return by(0); };
  const int64_t most = std::min(reductionBlock, mostStaged / widest);
  if (last.isNumber() && (last.value() < leastStaged || last.value() > most))
    return byWarps();
  auto byBlocks = [&] { return by(widest * (last.isNumber() ? last.value() : most)); };
  SmallVector<Value *> all = resultSizes();
  Value *isStaged = either(caller.CreateICmpSLT(product(ArrayRef(all).drop_back()), caller.getInt64(manyRows)),
                           caller.CreateICmpSGE(all.back(), caller.getInt64(leastOfMany)));
  if (!last.isNumber())
    isStaged = caller.CreateAnd({isStaged, caller.CreateICmpSGE(all.back(), caller.getInt64(leastStaged)),
                                 caller.CreateICmpSLE(all.back(), caller.getInt64(most))});
  return oneOf(isStaged, byBlocks, byWarps);
}

/// The last size is a multiple of the width. With `shared` bytes of shared memory a row is a block's work.
Value *KernelEmitter::launchRows(Value *site, int64_t width, int64_t shared) {
  SmallVector<Value *> all = resultSizes(), outerSizes(all.begin(), all.end() - 1);
  Value *rows = product(outerSizes);
  begin();
  rowValues.clear();
  stagedRow = {};
  Value *buffer = shared ? sharedMemory(shared + accessBytes) : nullptr; // behind the row its fold
  captureMultiple(rootType.getDims().back(), all.back(), width);
  Value *n = capture(all.back()), *height = capture(rows);
  auto [row, lane] = shared ? blockAndThread() : warpAndLane(); // the lane among all that compute the row
  const int64_t lanes = shared ? threadsOfBlock : warp;
  SmallVector<Output> whole = {{root, capture(callerOut)}}, ofRows;
  SmallVector<LaunchResult> results = {{rootType.getDtype(), all}};
  for (auto [value, out] : zip_equal(op.getBody().front().getTerminator()->getOperands().drop_front(), otherOuts)) {
    TensorType type = tensorTypeOf(value);
    (type.getDims().back().is(1) ? ofRows : whole).emplace_back(value, capture(out));
    results.push_back({type.getDtype(), sizesOf(value)});
  }
  SmallVector<Value *> sizes = captureAll(outerSizes);
  guarded(k.CreateICmpSLT(row, height), [&, row = row, lane = lane] {
    Indices outer = decode(row, sizes), first = outer;
    first.push_back(i64(0));
    for (FusedOp group : op.getBody().front().getOps<FusedOp>()) {
      mlir::Value result = group.getResult(0), inner = behind(result);
      if (!tensorTypeOf(result).getDims().back().is(1))
        continue;
      mlir::Operation *def = inner.getDefiningOp();
      bool isFold = def && def->hasTrait<OpTrait::Reduction>();
      rowValues[result] =
          !isFold  ? elementAt(inner, first)
          : buffer ? stagedRowFold(def, outer, lane, n, buffer, shared, width)
                   : shuffled(rowFold(def, outer, lane, n), Intrinsic::nvvm_shfl_sync_idx_i32, k.getInt32(0));
    }
    memo.clear();
    if (!ofRows.empty())
      guarded(k.CreateICmpEQ(lane, i64(0)), [&] { storeNeighbours(ofRows, row, first, 1); });
    Value *start = k.CreateMul(row, n, "", true, true);
    Value *left;
    strided(k.CreateMul(lane, i64(width), "", true, true), n, {}, left, [&](Value *j, Element) {
      Indices own = outer;
      own.push_back(j);
      storeNeighbours(whole, k.CreateAdd(start, j, "", true, true), own, width);
      return Round{{}, lanes * width, 0};
    });
  });
  auto launch = [&] { return finishLaunch(caller.CreateMul(rows, caller.getInt64(lanes)), results, site); };
  if (isAlwaysByRows(op) || shared)
    return launch();
  return onlyIf(either(caller.CreateICmpSLE(all.back(), caller.getInt64(reductionBlock)),
                       caller.CreateICmpSGE(rows, caller.getInt64(manyRows))),
                launch);
}

Element KernelEmitter::shuffled(Element x, Intrinsic::ID how, Value *lane) {
  auto shuffle = [&](Value *v) -> Value * {
    Type *type = v->getType();
    unsigned bits = type->getPrimitiveSizeInBits();
    auto move = [&](Value *word) { return k.CreateIntrinsic(how, {}, {k.getInt32(-1), word, lane, k.getInt32(31)}); };
    Value *integer = type->isIntegerTy() ? v : k.CreateBitCast(v, k.getIntNTy(bits)), *moved;
    if (bits <= 32)
      moved = k.CreateTrunc(move(k.CreateZExt(integer, k.getInt32Ty())), k.getIntNTy(bits));
    else {
      Value *low = move(k.CreateTrunc(integer, k.getInt32Ty())),
            *high = move(k.CreateTrunc(k.CreateLShr(integer, 32), k.getInt32Ty()));
      moved = k.CreateOr(k.CreateZExt(low, k.getInt64Ty()), k.CreateShl(k.CreateZExt(high, k.getInt64Ty()), 32));
    }
    return type->isIntegerTy() ? moved : k.CreateBitCast(moved, type);
  };
  return {shuffle(x.re), x.im ? shuffle(x.im) : nullptr};
}

/// Instructions from a block on to the end of its function; a call or a division stands for some.
static unsigned lengthFrom(BasicBlock *block) {
  constexpr unsigned ofCall = 32;
  unsigned length = 0;
  for (BasicBlock &each : make_range(block->getIterator(), block->getParent()->end()))
    for (Instruction &instruction : each)
      length += instruction.isIntDivRem() || instruction.getOpcode() == Instruction::FDiv ||
                        (isa<CallInst>(instruction) && !isa<IntrinsicInst>(instruction))
                    ? ofCall
                    : 1;
  return length;
}

/// How many steps of a kernel are done at once: threads mostly wait for memory, so what short ones read is asked for
/// together. The step stands behind `inside`'s begin.
int64_t KernelEmitter::stepsAtOnce(BasicBlock *inside) {
  constexpr unsigned shortStep = 32, longStep = 128;
  unsigned length = lengthFrom(inside);
  return length <= shortStep ? 8 : length <= longStep ? 4 : 1;
}

/// The fold of the elements `first`, `first + stride` and so on before `end`, by one thread, after `*start` if there
/// are some before. `known`: how far it is from the first thread's first element to the end, or 0.
Element KernelEmitter::threadFold(mlir::Operation *op, const Indices &outer, Value *first, Value *end, int64_t stride,
                                  int64_t known, const Element *start) {
  DType dtype = tensorTypeOf(op->getResult(0)).getDtype();
  auto step = [&](Value *j, Element sum) { return combine(op, sum, reductionElement(op, outer, j), dtype); };
  auto ask = [&](Value *j) {
    if (!staged)
      prefetch(op->getOperand(0), reductionIndices(op, outer, j));
  };
  int64_t steps = known ? (known + stride - 1) / stride : std::numeric_limits<int64_t>::max();
  Value *left = nullptr;
  Element total = strided(first, end, start ? *start : identityOf(op, dtype), left, [&](Value *j, Element sum) {
    BasicBlock *inside = k.GetInsertBlock();
    sum = step(j, sum);
    steps = std::min(steps, staged && toy::sizeOf(dtype) > 4 ? 4 : stepsAtOnce(inside)); // registers are few
    SmallVector<Value *> others;
    {
      IRBuilderBase::InsertPointGuard before(k);
      k.SetInsertPoint(inside, inside->begin());
      for (int64_t i = 1; i < steps; ++i) {
        others.push_back(k.CreateAdd(j, i64(i * stride), "", true, true));
        ask(others.back());
      }
    }
    for (Value *other : others)
      sum = step(other, sum);
    return Round{sum, steps * stride, (steps - 1) * stride};
  });
  if (steps == 1 || (known > 0 && known % (steps * stride) == 0))
    return total;
  if (staged) // the rest is near
    return strided(left, end, total, left, [&](Value *j, Element sum) { return Round{step(j, sum), stride, 0}; });
  return choose(
      k.CreateICmpSLT(left, end), dtype,
      [&] {
        memo.clear();
        Value *last = k.CreateSub(end, i64(1));
        Element sum = total;
        SmallVector<std::pair<Value *, Value *>> all; // beyond the end the last element is read once more
        for (int64_t i = 0; i < steps; ++i) {
          Value *j = k.CreateAdd(left, i64(i * stride), "", true, true);
          all.emplace_back(k.CreateICmpSLT(j, end), k.CreateBinaryIntrinsic(Intrinsic::smin, j, last));
          ask(all.back().second);
        }
        for (auto [isInside, j] : all) {
          Element next = step(j, sum);
          sum = {k.CreateSelect(isInside, next.re, sum.re),
                 sum.im ? k.CreateSelect(isInside, next.im, sum.im) : nullptr};
        }
        return sum;
      },
      [&] { return total; });
}

/// What the lanes of a warp have folded, in lane 0.
Element KernelEmitter::foldOfLanes(mlir::Operation *op, Element total) {
  DType dtype = tensorTypeOf(op->getResult(0)).getDtype();
  for (unsigned half = warp / 2; half > 0; half /= 2)
    total = combine(op, total, shuffled(total, Intrinsic::nvvm_shfl_sync_down_i32, k.getInt32(half)), dtype);
  return total;
}

/// The fold of elements [begin, end), in lane 0: emitBlock of the host with a thread for each lane.
Element KernelEmitter::warpFold(mlir::Operation *op, const Indices &outer, Value *lane, Value *begin, Value *end) {
  auto *from = dyn_cast<ConstantInt>(begin), *to = dyn_cast<ConstantInt>(end);
  return foldOfLanes(op, threadFold(op, outer, k.CreateAdd(begin, lane, "", true, true), end, warp,
                                    from && to ? to->getSExtValue() - from->getSExtValue() : 0));
}

/// A loop from `first` to before `end`, with a value that each round gives to the next, as long as all that a round
/// touches is before the end; `left` is what the last round left. The value is the last one.
Element KernelEmitter::strided(Value *first, Value *end, Element start, Value *&left,
                               function_ref<Round(Value *, Element)> body) {
  memo.clear();
  BasicBlock *entry = k.GetInsertBlock(), *header = BasicBlock::Create(k.getContext(), "", kernel),
             *inside = BasicBlock::Create(k.getContext(), "", kernel);
  k.CreateBr(header);
  k.SetInsertPoint(header);
  PHINode *j = k.CreatePHI(k.getInt64Ty(), 2);
  j->addIncoming(first, entry);
  auto carried = [&](Value *v) {
    PHINode *phi = v ? k.CreatePHI(v->getType(), 2) : nullptr;
    if (phi)
      phi->addIncoming(v, entry);
    return phi;
  };
  PHINode *re = carried(start.re), *im = carried(start.im);
  k.SetInsertPoint(inside);
  Round round = body(j, {re, im});
  Value *following = k.CreateAdd(j, i64(round.step), "", true, true);
  BasicBlock *latch = k.GetInsertBlock();
  j->addIncoming(following, latch);
  if (re)
    re->addIncoming(round.value.re, latch);
  if (im)
    im->addIncoming(round.value.im, latch);
  auto *again = k.CreateBr(header);
  if (staged || round.reach) // ptxas would write out again what is written out
    describeLoop(again, loopProperty(k.getContext(), "llvm.loop.unroll.disable"));
  BasicBlock *exit = BasicBlock::Create(k.getContext(), "", kernel);
  k.SetInsertPoint(header);
  k.CreateCondBr(k.CreateICmpSLT(k.CreateAdd(j, i64(round.reach), "", true, true), end), inside, exit);
  k.SetInsertPoint(exit);
  memo.clear();
  left = j;
  return {re, im};
}

Value *KernelEmitter::variable(DType type) {
  IRBuilder<> entry(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
  return entry.CreateAlloca(scalars.memoryType(type), entry.getInt32(2));
}

/// The fold of a row of n elements, in lane 0: its blocks, one after the other.
Element KernelEmitter::rowFold(mlir::Operation *op, const Indices &outer, Value *lane, Value *n) {
  if (auto *known = dyn_cast<ConstantInt>(n);
      known && known->getSExtValue() > 0 && known->getSExtValue() <= reductionBlock)
    return warpFold(op, outer, lane, i64(0), n);
  DType dtype = tensorTypeOf(op->getResult(0)).getDtype();
  Value *total = variable(dtype);
  scalars.store(dtype, total, i64(0), identityOf(op, dtype));
  Value *blocks = k.CreateUDiv(k.CreateAdd(n, i64(reductionBlock - 1)), i64(reductionBlock));
  loop(i64(0), blocks, [&](Value *block) {
    Value *start = k.CreateMul(block, i64(reductionBlock), "", true, true);
    Element part = warpFold(op, outer, lane, start,
                            k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(start, i64(reductionBlock)), n));
    Element sum = choose(
        k.CreateICmpEQ(block, i64(0)), dtype, [&] { return part; },
        [&] { return combine(op, scalars.load(dtype, total, i64(0)), part, dtype); });
    scalars.store(dtype, total, i64(0), sum);
  });
  return scalars.load(dtype, total, i64(0));
}

Value *KernelEmitter::launchReduction(mlir::Operation *op, Value *site) {
  mlir::Value x = op->getOperand(0);
  ReductionAxes axes(op);
  if (isa<ArgMaxOp, ArgMinOp>(op))
    return launchPosition(op, site);
  DType dtype = rootType.getDtype();
  if (!axes.alongLast)
    return launchColumns(op, site);
  auto by = [&](int64_t lanes) {
    return launchFolds(op, dtype, lanes, site, [&](const Indices &outer, Value *thread, Value *n) {
      return lanes == warp ? rowFold(op, outer, thread, n) : blockFold(op, outer, thread, i64(0), n);
    });
  };
  flat = axes.outer.empty() && isAllElementwise(x);
  Value *count = product(callerSizesOf(x, axes.reduced)), *rows = product(callerSizesOf(x, axes.outer)),
        *areFew = caller.CreateICmpSLT(count, caller.getInt64(leastStaged)),
        *byWarps = axes.outer.empty() && !isa<ConstantInt>(areFew)
                       ? caller.getFalse() // one more kernel would be no faster
                       : either(areFew, caller.CreateICmpSGE(rows, caller.getInt64(manyRows))),
        *isShort = caller.CreateICmpSLE(count, caller.getInt64(reductionBlock));
  return oneOf(
      byWarps, [&] { return by(warp); },
      [&] {
        return oneOf(
            isShort, [&] { return by(threadsOfBlock); },
            [&] { return launchReductionOfBlocks(op, site, rows, count); });
      });
}

/// A kernel that makes an element of each row: a block of threads or a warp for each, whose first stores it, or one.
Value *KernelEmitter::launchFolds(mlir::Operation *op, DType dtype, int64_t lanes, Value *site,
                                  function_ref<Element(const Indices &outer, Value *lane, Value *n)> fold) {
  mlir::Value x = op->getOperand(0);
  ReductionAxes axes(op);
  SmallVector<Value *> outerSizes = callerSizesOf(x, axes.outer), all = resultSizes();
  Value *count = product(callerSizesOf(x, axes.reduced)), *rows = product(outerSizes);
  begin();
  Value *out = capture(callerOut), *n = capture(count), *height = capture(rows);
  SmallVector<Value *> sizes = captureAll(outerSizes);
  auto [row, lane] = lanes == 1 ? std::pair(threadNumber(), i64(0)) : lanes == warp ? warpAndLane() : blockAndThread();
  guarded(k.CreateICmpSLT(row, height), [&, row = row, lane = lane] {
    Element result = fold(decode(row, sizes), lane, n);
    guarded(k.CreateICmpEQ(lane, i64(0)), [&] { scalars.store(dtype, out, row, result); });
  });
  return finishLaunch(caller.CreateMul(rows, caller.getInt64(lanes)), {{dtype, all}}, site);
}

/// A few long folds, whose blocks of elements are a block of threads each, or, where those would be few for a device,
/// of several that share its lanes: of about as many as are resident at once.
Value *KernelEmitter::launchReductionOfBlocks(mlir::Operation *op, Value *site, Value *rows, Value *count) {
  Value *blocks = caller.CreateUDiv(caller.CreateAdd(count, caller.getInt64(reductionBlock - 1)),
                                    caller.getInt64(reductionBlock)),
        *number = caller.CreateMul(rows, blocks);
  auto areMany = [&](int64_t each) {
    return caller.CreateICmpSGE(caller.CreateMul(number, caller.getInt64(each)), caller.getInt64(manyBlocks));
  };
  auto byLanes = [&](int64_t share) { return launchLanes(op, blocks, count, share, site); };
  return oneOf(
      areMany(1), [&] { return launchCombined(op, byLanes(warp), rows, blocks, false, site); },
      [&] {
        const int64_t most = mostStaged * warp / reductionBlock / toy::sizeOf(rootType.getDtype());
        Value *lanes =
            oneOf(areMany(2), [&] { return byLanes(std::min(warp / 2, most)); }, [&] { return byLanes(warp / 8); });
        return launchCombined(op, lanes, rows, blocks, true, site);
      });
}

/// What `share` lanes of each of the blocks of elements of each row have folded, by a block of threads; of all lanes
/// their fold.
Value *KernelEmitter::launchLanes(mlir::Operation *op, Value *blocks, Value *count, int64_t share, Value *site) {
  mlir::Value x = op->getOperand(0);
  DType dtype = rootType.getDtype();
  ReductionAxes axes(op);
  const int64_t parts = warp / share, results = share < warp ? share : 1;
  SmallVector<Value *> outerSizes = callerSizesOf(x, axes.outer), sizes;
  Value *pieces = caller.CreateMul(caller.CreateMul(product(outerSizes), blocks), caller.getInt64(parts));
  begin();
  Value *out = capture(callerOut), *n = capture(count), *height = capture(pieces);
  sizes = captureAll(outerSizes);
  auto [piece, thread] = blockAndThread();
  guarded(k.CreateICmpSLT(piece, height), [&, piece = piece, thread = thread] {
    Value *row = i64(0), *all = k.CreateUDiv(piece, i64(parts)), *block = all;
    if (!outerSizes.empty()) {
      Value *each = capture(blocks);
      row = quotient(all, each);
      block = k.CreateSub(all, k.CreateMul(row, each, "", true, true));
    }
    Value *start = k.CreateMul(block, i64(reductionBlock), "", true, true),
          *end = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(start, i64(reductionBlock)), n),
          *lane = k.CreateMul(k.CreateURem(piece, i64(parts)), i64(share), "", true, true);
    Indices outer = decode(row, sizes);
    Element part =
        share < warp ? lanesFold(op, outer, thread, start, end, lane, share) : blockFold(op, outer, thread, start, end);
    guarded(k.CreateICmpSLT(thread, i64(results)), [&] {
      scalars.store(dtype, out, k.CreateAdd(k.CreateMul(piece, i64(results), "", true, true), thread), part);
    });
  });
  return finishLaunch(caller.CreateMul(pieces, caller.getInt64(threadsOfBlock)),
                      {{dtype, {caller.CreateMul(pieces, caller.getInt64(results))}}}, site);
}

/// The results of each fold's blocks, or of their lanes, in order, by a block of threads.
Value *KernelEmitter::launchCombined(mlir::Operation *op, Value *partials, Value *rows, Value *blocks, bool ofLanes,
                                     Value *site) {
  DType dtype = rootType.getDtype();
  return onlyIf(caller.CreateIsNotNull(partials), [&] {
    SmallVector<Value *> all = resultSizes();
    begin();
    Value *out = capture(callerOut), *in = capture(partials), *height = capture(rows), *each = capture(blocks);
    auto [row, own] = blockAndThread();
    guarded(k.CreateICmpSLT(row, height), [&, row = row, own = own] {
      Element total = orderedFold(op, in, own, k.CreateMul(row, each, "", true, true), each, ofLanes);
      guarded(k.CreateICmpEQ(own, i64(0)), [&] { scalars.store(dtype, out, row, total); });
    });
    return finishFromPartials(partials, caller.CreateMul(rows, caller.getInt64(threadsOfBlock)), {dtype, all}, site);
  });
}

/// Ends the kernel that reads the results of another one, which are not needed then.
Value *KernelEmitter::finishFromPartials(Value *partials, Value *threads, LaunchResult result, Value *site) {
  Value *object = finishLaunch(threads, result, site);
  ScalarEmitter(*caller.GetInsertBlock()->getModule(), caller)
      .call("toy_rt_release", caller.getVoidTy(), {partials})
      ->setDoesNotThrow();
  return object;
}

} // namespace toy
