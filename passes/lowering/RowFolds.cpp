// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sums, products and extrema of rows in loops: all lanes of the order of sums in one vector, without loops over lanes
/// that LLVM would have to recognize. A fold of one block is a call with values in registers; only long ones are shared
/// among threads.
#include "passes/lowering/KernelEmitter.h"

#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace toy {

/// The axis that is not 1, if all others are.
static std::optional<int64_t> onlyAxis(mlir::Value v) {
  std::optional<int64_t> found;
  for (auto [axis, dim] : enumerate(tensorTypeOf(v).getDims())) {
    if (dim.is(1))
      continue;
    if (found)
      return std::nullopt;
    found = axis;
  }
  return found;
}

/// The axis of an operand along an axis of what it is broadcast to.
static std::optional<int64_t> axisOfOperand(mlir::Value operand, mlir::Value result, std::optional<int64_t> row) {
  TensorType type = tensorTypeOf(operand);
  int64_t at = row ? *row - (tensorTypeOf(result).getRank() - type.getRank()) : -1;
  return at >= 0 && !type.getDim(at).is(1) ? std::optional(at) : std::nullopt;
}

/// What vectors compute as scalars do: nothing that fails, and no function of the runtime.
static bool isForLanes(mlir::Operation *op) {
  auto isOfReals = [&] {
    return all_of(op->getOperands(), [](mlir::Value v) { return isFloat(tensorTypeOf(v).getDtype()); });
  };
  if (isa<DivOp, SqrtOp>(op))
    return isOfReals();
  if (isa<AbsOp>(op))
    return !tensorTypeOf(op->getOperand(0)).isComplex();
  return isa<AddOp, SubOp, MulOp, NegOp, Abs2Op, MinimumOp, MaximumOp, LtOp, LeOp, GtOp, GeOp, EqOp, NeOp, AndOp, OrOp,
             NotOp, WhereOp, CastOp, RealOp, ImagOp, ConjOp, ComplexOp>(op);
}

/// Whether the lanes of a value can be computed along an axis of it.
static bool hasLanes(mlir::Value v, std::optional<int64_t> row, SmallPtrSetImpl<void *> &seen) {
  TensorType type = tensorTypeOf(v);
  mlir::Operation *def = v.getDefiningOp();
  if (isHalf(type.getDtype()))
    return false;
  if (!def || !row || !seen.insert(v.getAsOpaquePointer()).second)
    return true;
  if (isa<FullOp, IotaOp>(def))
    return true;
  if (auto slice = dyn_cast<SliceOp>(def))
    return hasLanes(slice.getX(), row, seen);
  if (auto permute = dyn_cast<PermuteOp>(def))
    return hasLanes(permute.getX(), permute.getPermutation()[*row], seen);
  if (auto reshape = dyn_cast<ReshapeOp>(def))
    return hasLanes(reshape.getX(), onlyAxis(reshape.getX()), seen);
  return isForLanes(def) && all_of(def->getOperands(), [&](mlir::Value operand) {
           return hasLanes(operand, axisOfOperand(operand, v, row), seen);
         });
}

/// Whether a reduction is one number, of one axis.
bool KernelEmitter::isRowFold(mlir::Operation *op) {
  SmallPtrSet<void *, 16> seen;
  auto row = onlyAxis(op->getOperand(0));
  return isa<SumOp, ProdOp, MaxOp, MinOp, AnyOp, AllOp>(op) && tensorTypeOf(op->getResult(0)).isScalar() && row &&
         !isHalf(tensorTypeOf(op->getResult(0)).getDtype()) && hasLanes(op->getOperand(0), row, seen);
}

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
static Value *ramp(IRBuilder<> &k, Value *step) {
  SmallVector<Constant *> numbers;
  for (int64_t lane = 0; lane < reductionLanes; ++lane)
    numbers.push_back(k.getInt64(lane));
  return k.CreateMul(ConstantVector::get(numbers), k.CreateVectorSplat(reductionLanes, step));
}

/// Neighbours as vectors; others one by one. Of lanes that the mask leaves out, nothing is read.
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
  auto every = [&](Value *x, int from, int step) {
    SmallVector<int> lanes;
    for (int lane = 0; lane < reductionLanes; ++lane)
      lanes.push_back(from + step * lane);
    return k.CreateShuffleVector(x, lanes);
  };
  Element x;
  if (stride == i64(1))
    x = {load(reductionLanes, mask), nullptr};
  else if (parts == 2 && stride == i64(2)) {
    SmallVector<int> twice;
    for (int lane = 0; lane < 2 * reductionLanes; ++lane)
      twice.push_back(lane / 2);
    Value *pairs = load(2 * reductionLanes, mask ? k.CreateShuffleVector(mask, twice) : nullptr);
    x = {every(pairs, 0, 2), every(pairs, 1, 2)};
  } else {
    Value *places = ramp(k, stride);
    auto *wide = FixedVectorType::get(part, reductionLanes);
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
    return {k.CreateAdd(k.CreateVectorSplat(reductionLanes, at.first[0]), ramp(k, i64(at.step)))};
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
    auto splat = [&](Value *x) { return x ? k.CreateVectorSplat(reductionLanes, x) : nullptr; };
    return {splat(one.re), splat(one.im)};
  }
  mlir::Operation *def = value.getDefiningOp();
  if (!def)
    return loadLanes(value, at, mask);
  auto key = std::pair(value.getAsOpaquePointer(), std::vector<Value *>(at.first.begin(), at.first.end()));
  if (auto it = memo.find(key); it != memo.end())
    return it->second;
  const CodePlaces::Scope place(places, k, def->getLoc());
  Element lanes = computeLanes(def, at, mask);
  memo[key] = lanes;
  return lanes;
}

// --- folds

/// Lanes are combined by halving.
KernelEmitter::Fold KernelEmitter::foldLanes(mlir::Operation *op, Fold lanes) {
  auto some = [&](int from, int number) {
    return map_to_vector<3>(lanes, [&](Value *part) -> Value * {
      if (!part)
        return nullptr;
      if (number == 1)
        return k.CreateExtractElement(part, from);
      return k.CreateShuffleVector(part, to_vector(seq<int>(from, from + number)));
    });
  };
  for (int half = reductionLanes / 2; half > 0; half /= 2)
    lanes = mergeFolds(op, some(0, half), some(half, half), rootType.getDtype());
  return lanes;
}

/// Elements [begin, end) of at most one block, along an axis of the operand.
KernelEmitter::Fold KernelEmitter::foldRowBlock(mlir::Operation *op, int64_t row, Value *begin, Value *end) {
  DType dtype = rootType.getDtype();
  mlir::Value x = op->getOperand(0);
  IRBuilder<> entry(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
  SmallVector<Value *, 3> memory;
  for (Value *part : startFold(op, dtype)) {
    Value *lanes = part ? k.CreateVectorSplat(reductionLanes, part) : nullptr;
    memory.push_back(part ? entry.CreateAlloca(lanes->getType()) : nullptr);
    if (part)
      k.CreateStore(lanes, memory.back());
  }
  auto read = [&] {
    return map_to_vector<3>(memory, [&](Value *at) -> Value * {
      return at ? k.CreateLoad(cast<AllocaInst>(at)->getAllocatedType(), at) : nullptr;
    });
  };
  auto step = [&](Value *base, Value *mask) {
    Indices first(tensorTypeOf(x).getRank(), i64(0));
    first[row] = base;
    Element elements = scalars.cast(laneElements(x, {first, row}, mask), tensorTypeOf(x).getDtype(), dtype);
    Fold before = read(), after = mergeFolds(op, before, foldOf(op, elements, dtype), dtype);
    for (auto [at, old, fresh] : zip_equal(memory, before, after))
      if (at)
        k.CreateStore(mask ? k.CreateSelect(mask, fresh, old) : fresh, at);
  };
  Value *count = k.CreateSub(end, begin), *rounds = k.CreateUDiv(count, i64(reductionLanes));
  loop(i64(0), rounds, [&](Value *round) {
    step(k.CreateAdd(begin, k.CreateMul(round, i64(reductionLanes), "", true, true), "", true, true), nullptr);
  });
  Value *rest = k.CreateURem(count, i64(reductionLanes));
  loop(i64(0), k.CreateZExt(k.CreateICmpNE(rest, i64(0)), k.getInt64Ty()), [&](Value *) {
    Value *mask = k.CreateICmpULT(ramp(k, i64(1)), k.CreateVectorSplat(reductionLanes, rest));
    step(k.CreateSub(end, rest), mask);
  });
  return foldLanes(op, read());
}

void KernelEmitter::emitRowFold(mlir::Operation *op) {
  DType dtype = rootType.getDtype();
  const int64_t row = *onlyAxis(op->getOperand(0));
  Value *length = callerSize(op->getOperand(0), row);
  begin();
  Value *out = capture(callerOut), *n = capture(length);
  loop(rangeBegin, rangeEnd, [&](Value *block) {
    Value *from = k.CreateMul(block, i64(reductionBlock), "", true, true);
    Value *to = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(from, i64(reductionBlock), "", true, true), n);
    scalars.store(dtype, out, block, finishFold(op, foldRowBlock(op, row, from, to), dtype));
  });
  finishRowFold(op, length);
}

/// One block is folded by a call, more of them on all cores.
void KernelEmitter::finishRowFold(mlir::Operation *op, Value *length) {
  Function *work = finishWork(caller.getInt64(1), caller.getInt64(reductionBlock)), *wrapper = kernel;
  Function *function = caller.GetInsertBlock()->getParent();
  BasicBlock *one = BasicBlock::Create(caller.getContext(), "", function),
             *many = BasicBlock::Create(caller.getContext(), "", function),
             *on = BasicBlock::Create(caller.getContext(), "", function);
  caller.CreateCondBr(caller.CreateICmpULE(length, caller.getInt64(reductionBlock)), one, many,
                      MDBuilder(caller.getContext()).createLikelyBranchWeights());
  caller.SetInsertPoint(one);
  SmallVector<Value *> arguments(captured);
  arguments.append({caller.getInt64(0), caller.getInt64(1)});
  caller.CreateCall(work, arguments);
  caller.CreateBr(on);
  caller.SetInsertPoint(many);
  Value *blocks =
      caller.CreateUDiv(caller.CreateAdd(length, caller.getInt64(reductionBlock - 1)), caller.getInt64(reductionBlock));
  auto [partials, data] = allocatePartials(blocks);
  llvm::replace(captured, callerOut, data);
  kernel = wrapper;
  callInParallel(work, blocks, caller.getInt64(4), nullptr);
  emitCombine(op, data, blocks);
  ScalarEmitter(module, caller).call("toy_rt_release", caller.getVoidTy(), {partials});
  caller.CreateBr(on);
  caller.SetInsertPoint(on);
}

} // namespace toy
