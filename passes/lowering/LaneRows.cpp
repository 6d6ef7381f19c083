// SPDX-License-Identifier: Apache-2.0
/// \file
/// Short rows in registers: what `toy-hold-short-rows` marks is one vector an operation, without a kernel, a tensor or
/// a loop. Lanes behind the end of a row hold anything.
#include "passes/RowLanes.h"
#include "passes/lowering/KernelEmitter.h"

using namespace llvm;

namespace toy {

void storeLanes(IRBuilder<> &b, const ScalarEmitter &scalars, DType dtype, Element lanes, Value *to, Value *mask) {
  const auto number = cast<FixedVectorType>(lanes.re->getType())->getNumElements();
  const Align align(sizeOf(dtype) / (lanes.im ? 2 : 1));
  Value *words = lanes.re;
  if (dtype == DType::Bool)
    words = b.CreateZExt(words, FixedVectorType::get(scalars.memoryType(dtype), number));
  if (lanes.im) {
    SmallVector<int> pairs, twice;
    for (unsigned lane = 0; lane < number; ++lane) {
      pairs.append({static_cast<int>(lane), static_cast<int>(number + lane)});
      twice.append(2, lane);
    }
    words = b.CreateShuffleVector(lanes.re, lanes.im, pairs);
    mask = mask ? b.CreateShuffleVector(mask, twice) : nullptr;
  }
  if (mask)
    b.CreateMaskedStore(words, to, align, mask);
  else
    b.CreateAlignedStore(words, to, align);
}

/// The sum of the elements one after the other, from +0 on; lanes that the mask leaves out add what changes nothing.
Element KernelEmitter::foldLanesInOrder(mlir::Operation *op, Value *mask) {
  const DType dtype = rootType.getDtype();
  mlir::Value x = op->getOperand(0);
  const Element elements = scalars.cast(laneElements(x, {{i64(0)}, 0}, mask), tensorTypeOf(x).getDtype(), dtype);
  const Element start = identityOf(op, dtype);
  auto sum = [&](Value *part, Value *from) -> Value * {
    if (!part)
      return nullptr;
    Type *type = part->getType();
    if (!type->isFPOrFPVectorTy())
      return k.CreateAddReduce(k.CreateSelect(mask, part, Constant::getNullValue(type)));
    return k.CreateFAddReduce(from, k.CreateSelect(mask, part, ConstantFP::getNegativeZero(type)));
  };
  return {sum(elements.re, start.re), sum(elements.im, start.im)};
}

Element elementOf(IRBuilder<> &b, Element row, Value *i) {
  return {b.CreateExtractElement(row.re, i), row.im ? b.CreateExtractElement(row.im, i) : nullptr};
}

/// A group of rows of so many elements, one by one: its row is put together for what is handed on, and LLVM takes the
/// elements of which that is made. A number has the order of sums of rows in lanes.
Element KernelEmitter::computeByElement(int64_t lanes, int64_t elements) {
  const DType dtype = rootType.getDtype();
  mlir::Operation *def = root.getDefiningOp();
  if (def && def->hasAttr("toy.inOrder")) {
    Element sum = identityOf(def, dtype);
    for (int64_t j = 0; j < elements; ++j)
      sum = scalars.add(sum, reductionElement(def, {}, i64(j)), dtype);
    return sum;
  }
  if (def && def->hasTrait<OpTrait::Reduction>())
    return foldTinyRow(def, {}, nullptr, elements);
  Element row;
  for (int64_t j = 0; j < elements; ++j) {
    const Element next = elementAt(root, {i64(j)});
    auto put = [&](Value *&all, Value *one) {
      if (one)
        all = k.CreateInsertElement(all ? all : PoisonValue::get(FixedVectorType::get(one->getType(), lanes)), one, j);
    };
    put(row.re, next.re);
    put(row.im, next.im);
  }
  return row;
}

/// What follows is code of the caller, in a block of it.
void KernelEmitter::beginInCaller(BasicBlock *block) {
  isOfCaller = true;
  kernel = block->getParent();
  k.SetInsertPoint(block);
  if (places)
    k.SetCurrentDebugLocation(places->of(root.getLoc()));
}

Slot KernelEmitter::emitInLanes(int64_t lanes, int64_t elements, bool leaves) {
  Value *count = inputs.back().scalar.re;
  Slot result;
  if (leaves) {
    std::tie(result.object, result.data) = makeTensor(module, caller, rootType.getDtype(), {count}, frame);
    callerOut = result.data;
    if (!frame)
      result.data = nullptr;
  }
  beginInCaller(caller.GetInsertBlock());
  lanesAtOnce = lanes;
  Value *mask = firstLanes(count);
  mlir::Operation *def = root.getDefiningOp();
  if (!def || !def->hasTrait<OpTrait::Reduction>()) {
    Element row = elements ? computeByElement(lanes, elements) : laneElements(root, {{i64(0)}, 0}, mask);
    if (leaves && elements)
      for (int64_t j = 0; j < elements; ++j)
        scalars.store(rootType.getDtype(), callerOut, i64(j), elementOf(k, row, i64(j)));
    else if (leaves)
      storeLanes(k, scalars, rootType.getDtype(), row, callerOut, mask);
    else {
      result.scalar = row;
      result.inLanes = true;
    }
  } else if (elements)
    result.scalar = computeByElement(lanes, elements);
  else if (def->hasAttr("toy.inOrder"))
    result.scalar = foldLanesInOrder(def, mask);
  else
    result.scalar = foldMasked(def, 0, mask);
  caller.SetInsertPoint(k.GetInsertBlock());
  return result;
}

} // namespace toy
