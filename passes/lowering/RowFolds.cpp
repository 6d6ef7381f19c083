// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sums, products and extrema of rows in loops: all lanes of the order of sums in one vector, without loops over lanes
/// that LLVM would have to recognize. A fold of one block is a call with values in registers; only long ones are shared
/// among threads.
#include "passes/RowLanes.h"
#include "passes/lowering/KernelEmitter.h"

#include "runtime/Blas.h"

#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace toy {

// --- the lanes of values

/// Indices into what only has other axes of 1.
KernelEmitter::LaneIndices KernelEmitter::throughReshape(ReshapeOp op, const LaneIndices &at) {
  TensorType from = tensorTypeOf(op.getX()), to = tensorTypeOf(op.getResult());
  LaneIndices own{Indices(from.getRank(), i64(0)), std::nullopt, at.step};
  int64_t axis = 0;
  for (auto [i, dim] : enumerate(to.getDims())) {
    if (dim.is(1))
      continue;
    while (from.getDim(axis).is(1))
      ++axis;
    if (at.row == static_cast<int64_t>(i))
      own.row = axis;
    own.first[axis++] = at.first[i];
  }
  return own;
}

KernelEmitter::LaneIndices KernelEmitter::throughSlice(SliceOp op, const LaneIndices &at) {
  return {sliceIndices(op, at.first), at.row, at.step * op.getSteps()[*at.row]};
}

/// 0, 1, … times a number.
static Value *ramp(IRBuilder<> &k, Value *step, int64_t lanes) {
  SmallVector<Constant *> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(k.getInt64(lane));
  return k.CreateMul(ConstantVector::get(numbers), k.CreateVectorSplat(lanes, step));
}

/// What a row is read from later: the processor looks ahead for loads in the order of memory, and those of several
/// registers whose parts are shuffled are not in that order.
void KernelEmitter::prefetchRow(Value *first, int64_t ahead, int64_t bytes) {
  constexpr int64_t line = 64;
  for (int64_t at = 0; at < bytes; at += line)
    k.CreateIntrinsic(
        Intrinsic::prefetch, {k.getPtrTy()},
        {k.CreateConstGEP1_64(k.getInt8Ty(), first, ahead + at), k.getInt32(0), k.getInt32(3), k.getInt32(1)});
}

/// Vectors of one length one after the other.
static Value *joinLanes(IRBuilder<> &k, SmallVector<Value *> vectors) {
  for (; vectors.size() > 1; vectors.truncate(vectors.size() / 2)) {
    const auto both = to_vector(seq<int>(2 * cast<FixedVectorType>(vectors[0]->getType())->getNumElements()));
    for (size_t i = 0; i < vectors.size() / 2; ++i)
      vectors[i] = k.CreateShuffleVector(vectors[2 * i], vectors[2 * i + 1], both);
  }
  return vectors[0];
}

/// Neighbours, and elements some others apart, as vectors; others one by one. Of lanes that the mask leaves out,
/// nothing is read.
Element KernelEmitter::loadLanes(mlir::Value input, const LaneIndices &at, Value *mask) {
  TensorType type = tensorTypeOf(input);
  DType dtype = type.getDtype();
  Type *part = scalars.memoryType(dtype);
  const int64_t parts = isComplex(dtype) ? 2 : 1;
  const Align align(sizeOf(dtype) / parts);
  Value *offset = offsetOf(input, at.first), *data = capture(dataOf(input)), *stride = i64(at.step * parts);
  for (int64_t axis = *at.row + 1; axis < type.getRank(); ++axis)
    stride = k.CreateMul(stride, size(input, axis));
  Value *first = k.CreateInBoundsGEP(part, data, k.CreateMul(offset, i64(parts)));
  auto load = [&](int64_t number, Value *only) -> Value * {
    auto *wide = FixedVectorType::get(part, number);
    return only ? k.CreateMaskedLoad(wide, first, align, only, Constant::getNullValue(wide))
                : static_cast<Value *>(k.CreateAlignedLoad(wide, first, align));
  };
  auto isNear = [&](int64_t step) { return lanesKnown > 0 && step != 1 && std::abs(step) <= 4; };
  auto pick = [&](Value *x, function_ref<int64_t(int64_t)> from) {
    SmallVector<int> lanes;
    for (int64_t lane = 0; lane < lanesAtOnce; ++lane)
      lanes.push_back(static_cast<int>(from(lane)));
    return k.CreateShuffleVector(x, lanes);
  };
  Element x;
  auto *known = dyn_cast<ConstantInt>(stride);
  const int64_t step = known ? known->getSExtValue() / parts : 0; // in memory: a column's is that of the rows
  if (known && stride != i64(1) && isNear(step)) {
    // All from the first to the last one, of which those between are left out.
    const int64_t count = lanesKnown - 1, span = std::abs(step) * count * parts;
    if (step < 0)
      first = k.CreateInBoundsGEP(part, first, i64(step * count * parts));
    const auto wide = static_cast<int64_t>(PowerOf2Ceil(span + parts));
    Value *all = load(wide, k.CreateICmpULT(ramp(k, i64(1), wide), k.CreateVectorSplat(wide, i64(span + parts))));
    auto place = [&](int64_t lane) { return parts * (step < 0 ? count - lane : lane) * std::abs(step); };
    auto partOf = [&](int64_t p) {
      return pick(all, [&](int64_t lane) { return lane > count ? 0 : place(lane) + p; });
    };
    x = {partOf(0), parts == 2 ? partOf(1) : nullptr};
  } else if (stride == i64(1))
    x = {load(lanesAtOnce, mask), nullptr};
  else if (known && !mask && areNear(step)) {
    Value *all = joinLanes(k, loadApart(part, first, lanesAtOnce, step, parts));
    auto partOf = [&](int64_t p) { return pick(all, [&](int64_t lane) { return parts * lane + p; }); };
    x = {parts == 1 ? all : partOf(0), parts == 2 ? partOf(1) : nullptr};
  } else if (parts == 2 && stride == i64(2)) {
    SmallVector<int> twice;
    for (int lane = 0; lane < 2 * lanesAtOnce; ++lane)
      twice.push_back(lane / 2);
    if (!mask && dtype == DType::C128)
      prefetchRow(first, 2048, 2 * lanesAtOnce * sizeOf(realOf(dtype)));
    Value *pairs = load(2 * lanesAtOnce, mask ? k.CreateShuffleVector(mask, twice) : nullptr);
    x = {pick(pairs, [](int64_t lane) { return 2 * lane; }), pick(pairs, [](int64_t lane) { return 2 * lane + 1; })};
  } else {
    Value *places = ramp(k, stride, lanesAtOnce);
    auto *wide = FixedVectorType::get(part, lanesAtOnce);
    auto gather = [&](Value *from) {
      return k.CreateMaskedGather(wide, k.CreateInBoundsGEP(part, from, places), align, mask,
                                  Constant::getNullValue(wide));
    };
    x = {gather(first), parts == 2 ? gather(k.CreateInBoundsGEP(part, first, i64(1))) : nullptr};
  }
  return dtype == DType::Bool ? Element{k.CreateICmpNE(x.re, Constant::getNullValue(x.re->getType()))} : x;
}

Element KernelEmitter::computeLanes(mlir::Operation *def, const LaneIndices &at, Value *mask) {
  if (auto full = dyn_cast<FullOp>(def))
    return laneElements(full.getValue(), {}, mask);
  if (isa<IotaOp>(def))
    return {k.CreateAdd(k.CreateVectorSplat(lanesAtOnce, at.first[0]), ramp(k, i64(at.step), lanesAtOnce))};
  if (auto slice = dyn_cast<SliceOp>(def))
    return laneElements(slice.getX(), throughSlice(slice, at), mask);
  if (auto reshape = dyn_cast<ReshapeOp>(def))
    return laneElements(reshape.getX(), throughReshape(reshape, at), mask);
  if (auto permute = dyn_cast<PermuteOp>(def)) {
    LaneIndices own{Indices(at.first.size()), permute.getPermutation()[*at.row], at.step};
    for (auto [i, axis] : enumerate(permute.getPermutation()))
      own.first[axis] = at.first[i];
    return laneElements(permute.getX(), own, mask);
  }
  if (auto sums = dyn_cast<CumSumOp>(def))
    return scanLanes(sums, at, mask);
  if (auto power = dyn_cast<PowOp>(def))
    return scalars.apply(def, {laneElements(power.getLhs(), at, mask), elementAt(power.getRhs(), {})});
  SmallVector<Element> operands;
  mlir::Value result = def->getResult(0);
  for (mlir::Value operand : def->getOperands())
    operands.push_back(laneElements(
        operand,
        {aligned(operand, tensorTypeOf(result).getRank(), at.first), axisOfOperand(operand, result, at.row), at.step},
        mask));
  return scalars.apply(def, operands);
}

Element KernelEmitter::laneElements(mlir::Value value, const LaneIndices &at, Value *mask) {
  if (!at.row) {
    Element one = elementAt(value, at.first);
    auto splat = [&](Value *x) { return x ? k.CreateVectorSplat(lanesAtOnce, x) : nullptr; };
    return {splat(one.re), splat(one.im)};
  }
  mlir::Operation *def = value.getDefiningOp();
  if (!def) {
    const Slot &slot = inputs[cast<mlir::BlockArgument>(value).getArgNumber()];
    return slot.inLanes ? slot.scalar : loadLanes(value, at, mask);
  }
  auto key = std::pair(value.getAsOpaquePointer(), std::vector<Value *>(at.first.begin(), at.first.end()));
  if (auto it = memo.find(key); it != memo.end())
    return it->second;
  const CodePlaces::Scope place(places, k, def->getLoc());
  Element lanes = computeLanes(def, at, mask);
  memo[key] = lanes;
  return lanes;
}

// --- folds

/// Lanes are combined by halving; for extrema, in any order.
KernelEmitter::Fold KernelEmitter::foldLanes(mlir::Operation *op, Fold lanes) {
  if (isFloatExtremum(op, rootType.getDtype())) {
    const bool isMax = isa<MaxOp>(op);
    auto *most = cast<CallInst>(isMax ? k.CreateFPMaxReduce(lanes[0]) : k.CreateFPMinReduce(lanes[0]));
    most->setHasNoNaNs(true);
    most->setHasNoSignedZeros(true);
    Value *negative = k.CreateICmpSLT(lanes[2], Constant::getNullValue(lanes[2]->getType()));
    negative = isMax ? k.CreateAndReduce(negative) : k.CreateOrReduce(negative);
    return {most,
            k.CreateSelect(k.CreateOrReduce(k.CreateFCmpUNO(lanes[1], lanes[1])), ConstantFP::getNaN(most->getType()),
                           ConstantFP::get(most->getType(), 0)),
            k.CreateSExt(negative, lanes[2]->getType()->getScalarType())};
  }
  auto some = [&](int from, int number) {
    return map_to_vector<3>(lanes, [&](Value *part) -> Value * {
      if (!part)
        return nullptr;
      if (number == 1)
        return k.CreateExtractElement(part, from);
      return k.CreateShuffleVector(part, to_vector(seq<int>(from, from + number)));
    });
  };
  for (int half = static_cast<int>(lanesAtOnce) / 2; half > 0; half /= 2)
    lanes = mergeFolds(op, some(0, half), some(half, half), rootType.getDtype());
  return lanes;
}

KernelEmitter::Fold KernelEmitter::identityLanes(mlir::Operation *op) {
  return map_to_vector<3>(startFold(op, rootType.getDtype()),
                          [&](Value *part) { return part ? k.CreateVectorSplat(lanesAtOnce, part) : nullptr; });
}

/// Of the operand, as what is folded.
Element KernelEmitter::lanesOfFold(mlir::Operation *op, const LaneIndices &at, Value *mask) {
  mlir::Value x = op->getOperand(0);
  return scalars.cast(laneElements(x, at, mask), tensorTypeOf(x).getDtype(), rootType.getDtype());
}

/// The lanes with as many elements; of those that the mask leaves out, as they were.
KernelEmitter::Fold KernelEmitter::stepOfLanes(mlir::Operation *op, Element lanes, Value *mask, const Fold &before) {
  DType dtype = rootType.getDtype();
  Fold after = mergeFolds(op, before, foldOf(op, lanes, dtype), dtype);
  for (auto [old, fresh] : zip_equal(before, after))
    if (mask && fresh)
      fresh = k.CreateSelect(mask, fresh, old);
  return after;
}

Value *KernelEmitter::firstLanes(Value *count) {
  return k.CreateICmpULT(ramp(k, i64(1), lanesAtOnce), k.CreateVectorSplat(lanesAtOnce, count));
}

/// Elements [begin, end) of at most one block, of which `lanes` gives so many at once.
KernelEmitter::Fold KernelEmitter::foldRowBlock(mlir::Operation *op, Value *begin, Value *end, LanesFrom lanes) {
  IRBuilder<> entry(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
  SmallVector<Value *, 3> memory;
  auto write = [&](const Fold &fold) {
    for (auto [at, part] : zip_equal(memory, fold))
      if (at)
        k.CreateStore(part, at);
  };
  auto read = [&] {
    return map_to_vector<3>(memory, [&](Value *at) -> Value * {
      return at ? k.CreateLoad(cast<AllocaInst>(at)->getAllocatedType(), at) : nullptr;
    });
  };
  const Fold identity = identityLanes(op);
  for (Value *part : identity)
    memory.push_back(part ? entry.CreateAlloca(part->getType()) : nullptr);
  write(identity);
  auto step = [&](Value *base, Value *mask) { write(stepOfLanes(op, lanes(base, mask), mask, read())); };
  Value *count = k.CreateSub(end, begin), *rounds = k.CreateUDiv(count, i64(lanesAtOnce));
  loop(i64(0), rounds, [&](Value *round) {
    step(k.CreateAdd(begin, k.CreateMul(round, i64(lanesAtOnce), "", true, true), "", true, true), nullptr);
  });
  Value *rest = k.CreateURem(count, i64(lanesAtOnce));
  loop(i64(0), k.CreateZExt(k.CreateICmpNE(rest, i64(0)), k.getInt64Ty()),
       [&](Value *) { step(k.CreateSub(end, rest), firstLanes(rest)); });
  return foldLanes(op, read());
}

/// Few elements are so many lanes, but for products of vectors: others, of which nothing is changed by what they begin
/// with, are left out.
Element KernelEmitter::foldFew(mlir::Operation *op, int64_t row, Value *count) {
  if (op->hasAttr("toy.inOrder"))
    return foldInOrder(op, row, count);
  lanesAtOnce = fewLanes;
  return foldMasked(op, row, firstLanes(count));
}

Element KernelEmitter::foldMasked(mlir::Operation *op, int64_t row, Value *mask) {
  if (isa<ArgMaxOp, ArgMinOp>(op))
    return {positionInLanes(op, row, mask)};
  const LaneIndices at{Indices(tensorTypeOf(op->getOperand(0)).getRank(), i64(0)), row};
  return finishFold(op, foldLanes(op, stepOfLanes(op, lanesOfFold(op, at, mask), mask, identityLanes(op))),
                    rootType.getDtype());
}

/// The sum of a few elements one after the other, from +0 on.
Element KernelEmitter::foldInOrder(mlir::Operation *op, int64_t row, Value *count) {
  DType dtype = rootType.getDtype();
  IRBuilder<> entry(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
  Value *sum = entry.CreateAlloca(scalars.memoryType(dtype), i64(isComplex(dtype) ? 2 : 1));
  scalars.store(dtype, sum, i64(0), identityOf(op, dtype));
  loop(i64(0), count, [&](Value *j) {
    Indices at(tensorTypeOf(op->getOperand(0)).getRank(), i64(0));
    at[row] = j;
    scalars.store(dtype, sum, i64(0),
                  combine(op, scalars.load(dtype, sum, i64(0)), elementAt(op->getOperand(0), at), dtype));
  });
  return scalars.load(dtype, sum, i64(0));
}

/// Few elements are code of the loop, for which a call would take longer than the fold; others are folded by one.
void KernelEmitter::emitRowFold(mlir::Operation *op) {
  const int64_t row = *onlyAxis(op->getOperand(0));
  const bool isProduct = op->hasAttr("toy.inOrder");                            // of vectors
  const bool noticesOthers = isComplex(rootType.getDtype()) && isa<ProdOp>(op); // signs of zeros
  const int64_t most = noticesOthers ? 0 : isProduct ? rt::smallProduct : fewLanes;
  Value *length = callerSize(op->getOperand(0), row);
  if (auto *known = dyn_cast<ConstantInt>(length);
      noticesOthers || !foldsHere || (known && known->getSExtValue() > most))
    return emitFoldCall(op, row, length, noticesOthers ? 0 : most);
  Function *function = caller.GetInsertBlock()->getParent();
  BasicBlock *few = BasicBlock::Create(k.getContext(), "few", function),
             *many = BasicBlock::Create(k.getContext(), "many", function),
             *on = BasicBlock::Create(k.getContext(), "", function);
  BranchInst *fork = caller.CreateCondBr(caller.CreateICmpULE(length, caller.getInt64(most)), few, many);
  caller.SetInsertPoint(fork); // what the caller is asked for is there on both ways
  beginInCaller(few);
  const Element ofFew = foldFew(op, row, length);
  few = k.GetInsertBlock();
  k.CreateBr(on);
  isOfCaller = false;
  caller.SetInsertPoint(many);
  emitFoldCall(op, row, length, 0);
  const Element ofMany = ScalarEmitter(module, caller).load(rootType.getDtype(), callerOut, caller.getInt64(0));
  many = caller.GetInsertBlock();
  caller.CreateBr(on);
  caller.SetInsertPoint(on);
  folded = merged(caller, ofFew, few, ofMany, many);
}

/// Where there may be few elements, which are folded as they are in the caller, says how many at most.
void KernelEmitter::emitFoldCall(mlir::Operation *op, int64_t row, Value *length, int64_t mostOfFew) {
  if (isa<ArgMaxOp, ArgMinOp>(op))
    return emitArgReduction(op);
  const DType dtype = rootType.getDtype();
  begin();
  Value *out = capture(callerOut), *n = capture(length);
  const bool isExtremum = isFloatExtremum(op, dtype); // in any order, and of three parts
  BasicBlock *end = BasicBlock::Create(k.getContext(), "", kernel);
  if (mostOfFew && !isExtremum) {
    BasicBlock *few = BasicBlock::Create(k.getContext(), "", kernel),
               *many = BasicBlock::Create(k.getContext(), "", kernel);
    k.CreateCondBr(k.CreateICmpULE(n, i64(mostOfFew)), few, many);
    k.SetInsertPoint(few);
    scalars.store(dtype, out, rangeBegin, foldFew(op, row, n));
    k.CreateBr(end);
    k.SetInsertPoint(many);
    memo.clear();
  }
  lanesAtOnce = isExtremum ? extremumLanes : reductionLanes;
  Value *from = k.CreateMul(rangeBegin, i64(reductionBlock), "", true, true);
  Value *to = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(from, i64(reductionBlock), "", true, true), n);
  auto lanes = [&](Value *first, Value *mask) {
    Indices at(tensorTypeOf(op->getOperand(0)).getRank(), i64(0));
    at[row] = first;
    return lanesOfFold(op, {at, row}, mask);
  };
  scalars.store(dtype, out, rangeBegin, finishFold(op, foldRowBlock(op, from, to, lanes), dtype));
  k.CreateBr(end);
  k.SetInsertPoint(end);
  finishRowFold(op, length);
}

/// One block is folded by a call, more of them on all cores.
void KernelEmitter::finishRowFold(mlir::Operation *op, Value *length) {
  Function *work = finishWork(); // optimized at once: nobody counts what it computes
  Function *function = caller.GetInsertBlock()->getParent();
  SmallVector<Value *> arguments(captured);
  arguments.append({caller.getInt64(0), caller.getInt64(1)});
  if (auto *known = dyn_cast<ConstantInt>(length); known && known->getSExtValue() <= reductionBlock) {
    caller.CreateCall(work, arguments);
    return kernel->eraseFromParent();
  }
  BasicBlock *one = BasicBlock::Create(caller.getContext(), "", function),
             *many = BasicBlock::Create(caller.getContext(), "", function),
             *on = BasicBlock::Create(caller.getContext(), "", function);
  caller.CreateCondBr(caller.CreateICmpULE(length, caller.getInt64(reductionBlock)), one, many,
                      MDBuilder(caller.getContext()).createLikelyBranchWeights());
  caller.SetInsertPoint(one);
  caller.CreateCall(work, arguments);
  caller.CreateBr(on);
  caller.SetInsertPoint(many);
  if (decisive(op, rootType.getDtype()) && ReductionAxes(op).alongLast) { // which may not need all blocks
    kernel->eraseFromParent();
    emitLaneReduction(op);
    caller.CreateBr(on);
    caller.SetInsertPoint(on);
    return;
  }
  Value *blocks =
      caller.CreateUDiv(caller.CreateAdd(length, caller.getInt64(reductionBlock - 1)), caller.getInt64(reductionBlock));
  auto [partials, data] = allocatePartials(blocks);
  llvm::replace(captured, callerOut, data);
  callInParallel(work, blocks, caller.getInt64(4), nullptr, /*oneByOne=*/true);
  emitCombine(op, data, blocks);
  ScalarEmitter(module, caller).call("toy_rt_release", caller.getVoidTy(), {partials});
  caller.CreateBr(on);
  caller.SetInsertPoint(on);
}

} // namespace toy
