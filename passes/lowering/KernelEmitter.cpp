// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sizes in the caller, and elements from indices in the kernel.
#include "passes/lowering/KernelEmitter.h"

#include "runtime/Value.h"

using namespace llvm;

namespace toy {

KernelEmitter::KernelEmitter(Module &module, FusedOp op, IRBuilder<> &caller, ArrayRef<Slot> inputs, Value *reusable,
                             const std::string &name, CodePlaces *places)
    : module(module), op(op), caller(caller), inputs(inputs), reusable(reusable), name(name), places(places),
      root(op.getBody().front().getTerminator()->getOperand(0)), rootType(tensorTypeOf(root)), k(module.getContext()),
      scalars(module, k) {}

mlir::Value KernelEmitter::behind(mlir::Value value) {
  if (auto inner = value.getDefiningOp<FusedOp>())
    return inner.getBody().front().getTerminator()->getOperand(0);
  auto argument = dyn_cast<mlir::BlockArgument>(value);
  auto group = argument ? cast<FusedOp>(argument.getOwner()->getParentOp()) : FusedOp();
  return group && group != op ? group.getInputs()[argument.getArgNumber()] : mlir::Value();
}

// --- sizes, in the caller

Value *KernelEmitter::callerInteger(mlir::Value scalar) {
  if (mlir::Value inner = behind(scalar))
    return callerInteger(inner);
  if (auto argument = dyn_cast<mlir::BlockArgument>(scalar))
    return inputs[argument.getArgNumber()].scalar.re;
  return caller.getInt64(
      *cast<mlir::DenseElementsAttr>(scalar.getDefiningOp<ConstantOp>().getValue()).value_begin<int64_t>());
}

Value *KernelEmitter::callerSize(mlir::Value value, int64_t axis) {
  TensorType type = tensorTypeOf(value);
  if (Dim dim = type.getDim(axis); dim.isNumber())
    return caller.getInt64(dim.value());
  if (mlir::Value inner = behind(value))
    return callerSize(inner, axis);
  auto key = std::pair(value.getAsOpaquePointer(), axis);
  if (auto it = callerSizes.find(key); it != callerSizes.end())
    return it->second;
  auto compute = [&]() -> Value * {
    if (auto argument = dyn_cast<mlir::BlockArgument>(value)) {
      Value *at = caller.CreateConstInBoundsGEP1_64(caller.getInt8Ty(), inputs[argument.getArgNumber()].object,
                                                    offsetof(rt::Tensor, sizes) + 8 * axis);
      return caller.CreateLoad(caller.getInt64Ty(), at);
    }
    mlir::Operation *def = value.getDefiningOp();
    if (auto o = dyn_cast<PermuteOp>(def))
      return callerSize(o.getX(), o.getPermutation()[axis]);
    if (auto o = dyn_cast<BroadcastOp>(def))
      return callerInteger(o.getSizes()[axis]);
    if (auto o = dyn_cast<FullOp>(def))
      return callerInteger(o.getSizes()[axis]);
    if (auto o = dyn_cast<IotaOp>(def))
      return callerInteger(o.getSize());
    if (auto o = dyn_cast<SliceOp>(def))
      return callerInteger(o.getCounts()[axis]);
    if (auto o = dyn_cast<ReshapeOp>(def))
      return callerInteger(o.getSizes()[axis]);
    if (auto o = dyn_cast<ConcatOp>(def)) {
      if (axis != static_cast<int64_t>(o.getAxis()))
        return callerSize(o.getParts()[0], axis);
      Value *sum = callerSize(o.getParts()[0], axis);
      for (mlir::Value part : o.getParts().drop_front())
        sum = caller.CreateAdd(sum, callerSize(part, axis));
      return sum;
    }
    if (auto o = dyn_cast<PartOp>(def))
      return callerSize(o.getX(), axis);
    if (auto o = dyn_cast<PackOp>(def))
      return callerSize(o.getRe(), axis);
    if (auto o = dyn_cast<PadOp>(def))
      return caller.CreateAdd(callerSize(o.getX(), axis), caller.getInt64(o.getLow()[axis] + o.getHigh()[axis]));
    if (auto o = dyn_cast<DiagonalOp>(def)) {
      int64_t rank = tensorTypeOf(o.getX()).getRank(), offset = o.getOffset();
      if (axis < rank - 2)
        return callerSize(o.getX(), axis);
      Value *rows = caller.CreateSub(callerSize(o.getX(), rank - 2), caller.getInt64(std::max<int64_t>(-offset, 0)));
      Value *columns = caller.CreateSub(callerSize(o.getX(), rank - 1), caller.getInt64(std::max<int64_t>(offset, 0)));
      Value *least = caller.CreateBinaryIntrinsic(Intrinsic::smin, rows, columns);
      return caller.CreateBinaryIntrinsic(Intrinsic::smax, least, caller.getInt64(0));
    }
    if (def->hasTrait<OpTrait::Reduction>()) {
      auto axes = def->getAttrOfType<mlir::DenseI64ArrayAttr>("axes").asArrayRef();
      bool keep = def->getAttrOfType<mlir::BoolAttr>("keepdims").getValue();
      int64_t at = 0;
      for (int64_t i = 0; i < tensorTypeOf(def->getOperand(0)).getRank(); ++i) {
        if (llvm::is_contained(axes, i) && !keep)
          continue;
        if (at++ == axis)
          return callerSize(def->getOperand(0), i);
      }
    }
    // Elementwise: the operand that has this size, else any that is not repeated.
    mlir::Value fallback;
    int64_t fallbackAxis = 0;
    for (mlir::Value operand : def->getOperands()) {
      TensorType t = tensorTypeOf(operand);
      int64_t own = axis - (type.getRank() - t.getRank());
      if (own < 0 || t.getDim(own).is(1))
        continue;
      if (t.getDim(own) == type.getDim(axis))
        return callerSize(operand, own);
      if (!fallback) {
        fallback = operand;
        fallbackAxis = own;
      }
    }
    assert(fallback && "a size comes from an operand");
    return callerSize(fallback, fallbackAxis);
  };
  return callerSizes[key] = compute();
}

// --- elements, in the kernel

Value *KernelEmitter::capture(Value *callerValue) {
  return isa<Constant>(callerValue) ? callerValue : parameter(callerValue);
}

Value *KernelEmitter::parameter(Value *callerValue) {
  if (isOfCaller)
    return callerValue;
  Value *&known = captures[callerValue];
  if (!known) {
    // Parameters are read from the context at the kernel's entry.
    IRBuilder<> entry(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
    Value *slot = entry.CreateConstInBoundsGEP1_64(entry.getInt64Ty(), kernel->getArg(0), captured.size());
    Type *type = callerValue->getType();
    known = entry.CreateLoad(type, slot);
    captured.push_back(callerValue);
  }
  return known;
}

bool KernelEmitter::isOneElement(mlir::Value value) {
  return !device && isa<mlir::BlockArgument>(value) && !tensorTypeOf(value).isScalar() &&
         tensorTypeOf(value).getStaticCount() == 1;
}

KernelEmitter::Indices KernelEmitter::aligned(mlir::Value operand, int64_t resultRank, const Indices &indices) {
  TensorType type = tensorTypeOf(operand);
  if (flat && isOneElement(operand))
    return {i64(0)};
  if (flat || type.isScalar())
    return type.isScalar() ? Indices() : indices;
  Indices own(indices.end() - type.getRank(), indices.end());
  for (auto [axis, index] : enumerate(own))
    if (type.getDim(axis).is(1))
      index = i64(0);
  return own;
}

/// As `aligned`, where also the run decides which axes are 1 and repeated.
KernelEmitter::Indices KernelEmitter::stretched(BroadcastOp op, const Indices &indices) {
  TensorType from = tensorTypeOf(op.getX()), to = tensorTypeOf(op.getResult());
  Indices own = aligned(op.getX(), to.getRank(), indices);
  for (auto [axis, index] : enumerate(own))
    if (Dim dim = from.getDim(axis); !dim.isNumber() && dim != to.getDim(to.getRank() - from.getRank() + axis))
      index = k.CreateSelect(k.CreateICmpEQ(size(op.getX(), axis), i64(1)), i64(0), index);
  return own;
}

/// Whether a part of a scalar is a known number that decides nothing about the code: the kernel takes it as a
/// parameter and serves all of them. 0 and 1, factors of integers, exponents, and divisors that multiply
/// instead do decide.
bool KernelEmitter::isAnyNumber(mlir::Value scalar, Value *part) const {
  auto *real = dyn_cast<ConstantFP>(part);
  auto takesAny = [&](mlir::Operation *user) {
    return isa<AddOp, SubOp, MaximumOp, MinimumOp, WhereOp, EqOp, NeOp, LtOp, LeOp, GtOp, GeOp>(user) ||
           (isa<MulOp>(user) && real) || (isa<DivOp>(user) && real && !real->getValueAPF().getExactInverse(nullptr));
  };
  auto isSpecial = [](double x) { return x == 0 || std::abs(x) == 1; };
  if (real && isSpecial(real->getValueAPF().convertToDouble()))
    return false;
  if (auto *integer = dyn_cast<ConstantInt>(part); integer && isSpecial(static_cast<double>(integer->getSExtValue())))
    return false;
  return !device && isa<Constant>(part) && llvm::all_of(scalar.getUsers(), takesAny);
}

Element KernelEmitter::loadInput(mlir::Value value, const Indices &indices) {
  const Slot &slot = inputs[cast<mlir::BlockArgument>(value).getArgNumber()];
  TensorType type = tensorTypeOf(value);
  if (type.isScalar()) {
    auto part = [&](Value *x) { return isAnyNumber(value, x) ? parameter(x) : capture(x); };
    return asWord({part(slot.scalar.re), slot.scalar.im ? part(slot.scalar.im) : nullptr});
  }
  Value *offset = nullptr, *data = transposedElement(value, indices, offset);
  if (!data) {
    data = capture(dataOf(value));
    offset = offsetOf(value, indices);
  }
  return scalars.load(movesWords ? DType::I64 : type.getDtype(), data, offset);
}

/// Where elements of c64 are only moved, both parts are one word.
Element KernelEmitter::asWord(Element x) {
  if (!movesWords)
    return x;
  auto bits = [&](Value *part) { return k.CreateZExt(k.CreateBitCast(part, k.getInt32Ty()), k.getInt64Ty()); };
  return {k.CreateOr(bits(x.re), k.CreateShl(bits(x.im), 32))};
}

/// Whether a group of c64 computes nothing.
bool KernelEmitter::onlyMoves(mlir::Value value) {
  if (device || tensorTypeOf(value).getDtype() != DType::C64)
    return false;
  mlir::Operation *def = value.getDefiningOp();
  if (!def || isa<ConstantOp>(def))
    return true;
  return isa<PermuteOp, BroadcastOp, SliceOp, ConcatOp, PadOp, DiagonalOp, FullOp>(def) &&
         all_of(def->getOperands(),
                [&](mlir::Value operand) { return isInteger(tensorTypeOf(operand).getDtype()) || onlyMoves(operand); });
}

/// Where the elements of an input are, in the caller.
Value *KernelEmitter::dataOf(mlir::Value input) {
  const Slot &slot = inputs[cast<mlir::BlockArgument>(input).getArgNumber()];
  Value *&callerData = dataPointers[slot.object];
  if (slot.data && op->hasAttr("toy.inLoop")) // where the tensor is made, outside of the loop
    callerData = slot.data;
  if (!callerData)
    callerData =
        device ? slot.object
               : caller.CreateLoad(caller.getPtrTy(), caller.CreateConstInBoundsGEP1_64(caller.getInt8Ty(), slot.object,
                                                                                        offsetof(rt::Tensor, data)));
  return callerData;
}

Value *KernelEmitter::offsetOf(mlir::Value input, const Indices &indices) {
  TensorType type = tensorTypeOf(input);
  if (flat && indices.size() == 2) // a pair: its number and its part
    return k.CreateAdd(k.CreateShl(indices[0], 1, "", true, true), indices[1], "", true, true);
  if (flat)
    return indices.empty() ? i64(0) : indices.back();
  Value *stride = i64(1), *offset = i64(0);
  for (int64_t axis = type.getRank(); axis-- > 0;) {
    if (!type.getDim(axis).is(1)) {
      Value *term = stride == i64(1) ? indices[axis] : k.CreateMul(indices[axis], stride, "", true, true);
      offset = offset == i64(0) ? term : k.CreateAdd(offset, term, "", true, true);
    }
    if (axis > 0) {
      Value *extent = size(input, axis);
      stride = stride == i64(1) ? extent : k.CreateMul(stride, extent, "", true, true);
    }
  }
  return offset;
}

Element KernelEmitter::elementAt(mlir::Value value, const Indices &indices) {
  auto key = std::pair(value.getAsOpaquePointer(), std::vector<Value *>(indices.begin(), indices.end()));
  if (auto it = memo.find(key); it != memo.end())
    return it->second;
  Element element = computeElement(value, indices);
  memo[key] = element;
  return element;
}

Element KernelEmitter::choose(Value *condition, DType dtype, function_ref<Element()> then,
                              function_ref<Element()> otherwise) {
  auto saved = memo;
  BasicBlock *thenBlock = BasicBlock::Create(k.getContext(), "", kernel),
             *elseBlock = BasicBlock::Create(k.getContext(), "", kernel);
  BasicBlock *join = BasicBlock::Create(k.getContext(), "", kernel);
  k.CreateCondBr(condition, thenBlock, elseBlock);
  k.SetInsertPoint(thenBlock);
  Element a = then();
  BasicBlock *thenEnd = k.GetInsertBlock();
  k.CreateBr(join);
  memo = saved;
  k.SetInsertPoint(elseBlock);
  Element b = otherwise();
  BasicBlock *elseEnd = k.GetInsertBlock();
  k.CreateBr(join);
  memo = saved;
  k.SetInsertPoint(join);
  return merged(k, a, thenEnd, b, elseEnd);
}

Element KernelEmitter::concatAt(ConcatOp op, const Indices &indices) {
  int64_t axis = op.getAxis();
  if (splitConcats.contains(op) && indices[axis] == splitIndex) {
    Indices own = indices;
    own[axis] = k.CreateSub(indices[axis], splitBegin, "", true, true);
    return elementAt(op.getParts()[splitPart], own);
  }
  Value *start = i64(0);
  auto from = [&](auto &self, size_t part, Value *begin) -> Element {
    Indices own = indices;
    own[axis] = k.CreateSub(indices[axis], begin);
    if (part + 1 == op.getParts().size())
      return elementAt(op.getParts()[part], own);
    Value *end = k.CreateAdd(begin, size(op.getParts()[part], axis));
    return choose(
        k.CreateICmpSLT(indices[axis], end), tensorTypeOf(op.getResult()).getDtype(),
        [&] { return elementAt(op.getParts()[part], own); }, [&] { return self(self, part + 1, end); });
  };
  return from(from, 0, start);
}

Element KernelEmitter::padAt(PadOp op, const Indices &indices) {
  Indices own = indices;
  Value *inside = k.getTrue();
  for (auto [axis, index] : enumerate(own)) {
    index = k.CreateSub(indices[axis], i64(op.getLow()[axis]));
    inside = k.CreateAnd(inside, k.CreateICmpULT(index, size(op.getX(), axis)));
  }
  if (op == decided && indices.back() == splitIndex)
    return decidedValue ? elementAt(op.getX(), own) : elementAt(op.getValue(), {});
  return choose(
      inside, tensorTypeOf(op.getResult()).getDtype(), [&] { return elementAt(op.getX(), own); },
      [&] { return elementAt(op.getValue(), {}); });
}

KernelEmitter::Indices KernelEmitter::sliceIndices(SliceOp op, const Indices &indices) {
  Indices own = indices;
  for (auto [axis, index] : enumerate(own)) {
    const bool goesOn = op.getSteps()[axis] > 0; // steps may be negative
    Value *step = op.getSteps()[axis] == 1 ? index : k.CreateMul(index, i64(op.getSteps()[axis]), "", goesOn, true);
    index = k.CreateAdd(integer(op.getStarts()[axis]), step, "", goesOn, true);
  }
  return own;
}

Element KernelEmitter::computeElement(mlir::Value value, const Indices &indices) {
  if (auto it = rowValues.find(value); it != rowValues.end())
    return it->second;
  if (isStaged(value, indices))
    return scalars.load(tensorTypeOf(value).getDtype(), stagedRow.buffer, indices.back());
  if (mlir::Value inner = behind(value))
    return elementAt(inner, indices);
  if (auto argument = dyn_cast<mlir::BlockArgument>(value)) {
    const Slot &slot = inputs[argument.getArgNumber()];
    return slot.inLanes ? elementOf(k, slot.scalar, indices[0]) : loadInput(value, indices);
  }
  mlir::Operation *def = value.getDefiningOp();
  const CodePlaces::Scope place(places, k, def->getLoc());
  if (def == decided && !isa<PadOp>(def) && indices.back() == splitIndex)
    return {k.getInt1(decidedValue)};
  if (def->hasTrait<OpTrait::Elementwise>()) {
    SmallVector<Element> args;
    for (mlir::Value operand : def->getOperands())
      args.push_back(elementAt(operand, aligned(operand, tensorTypeOf(value).getRank(), indices)));
    return scalars.apply(def, args);
  }
  if (auto o = dyn_cast<FullOp>(def))
    return elementAt(o.getValue(), {});
  if (isa<IotaOp>(def))
    return {indices[0]};
  if (auto o = dyn_cast<PermuteOp>(def)) {
    Indices own(indices.size());
    for (auto [i, axis] : enumerate(o.getPermutation()))
      own[axis] = indices[i];
    return elementAt(o.getX(), own);
  }
  if (auto o = dyn_cast<BroadcastOp>(def))
    return elementAt(o.getX(), stretched(o, indices));
  if (auto o = dyn_cast<SliceOp>(def))
    return elementAt(o.getX(), sliceIndices(o, indices));
  if (auto o = dyn_cast<ReshapeOp>(def))
    return elementAt(o.getX(), throughReshape(o, {indices, std::nullopt}).first);
  if (auto o = dyn_cast<ConcatOp>(def))
    return concatAt(o, indices);
  if (auto o = dyn_cast<PadOp>(def))
    return padAt(o, indices);
  if (auto o = dyn_cast<DiagonalOp>(def)) {
    Indices own = indices;
    int64_t offset = o.getOffset();
    Value *i = own.back();
    own.back() = k.CreateAdd(i, i64(std::max<int64_t>(-offset, 0)));
    own.push_back(k.CreateAdd(i, i64(std::max<int64_t>(offset, 0))));
    return elementAt(o.getX(), own);
  }
  if (auto o = dyn_cast<PartOp>(def)) {
    Indices own = indices;
    own.push_back(i64(o.getIndex()));
    return elementAt(o.getX(), own);
  }
  if (auto o = dyn_cast<PackOp>(def)) {
    Indices own(indices.begin(), indices.end() - 1);
    if (auto which = dyn_cast<ConstantInt>(indices.back()))
      return elementAt(which->isZero() ? o.getRe() : o.getIm(), own);
    Element re = elementAt(o.getRe(), own), im = elementAt(o.getIm(), own);
    return {k.CreateSelect(k.CreateICmpEQ(indices.back(), i64(0)), re.re, im.re)};
  }
  if (auto o = dyn_cast<ConstantOp>(def))
    return asWord(scalars.constant(cast<mlir::DenseElementsAttr>(o.getValue()), tensorTypeOf(value).getDtype()));
  llvm_unreachable("an operation that cannot be in a group");
}

} // namespace toy
