// SPDX-License-Identifier: Apache-2.0
/// \file
/// Groups whose result has an element for each index: the loops over them.
#include "passes/lowering/KernelEmitter.h"
#include "passes/lowering/LoopProperties.h"

#include "runtime/ElementFunctions.h"
#include "runtime/Parallel.h"
#include "runtime/Value.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace toy {

KernelEmitter::Map KernelEmitter::beginMap() {
  auto pack = root.getDefiningOp<PackOp>();
  flat = pack ? isAllElementwise(pack.getRe()) && isAllElementwise(pack.getIm()) : isAllElementwise(root);
  Map map{{}, sizeOf(rootType.getDtype()) * (pack ? 2 : 1)};
  for (int64_t axis = 0; axis < rootType.getRank() - (pack ? 1 : 0); ++axis)
    map.sizes.push_back(callerSize(root, axis));
  return map;
}

/// A value that is computed here: the optimizer would move what follows an elementary function behind the functions of
/// later elements, which have branches, and all that it needs would wait in registers until then.
static Value *computedHere(IRBuilder<> &k, Value *x) {
  Type *type = x->getType(),
       *held = type->isIntegerTy() && !type->isIntegerTy(64) && !type->isIntegerTy(32) ? k.getInt16Ty() : type;
  const char *registers = held->isFloatTy()       ? "=f,0"
                          : held->isDoubleTy()    ? "=d,0"
                          : held->isIntegerTy(16) ? "=h,0"
                          : held->isIntegerTy(32) ? "=r,0"
                                                  : "=l,0";
  auto *nothing = InlineAsm::get(FunctionType::get(held, {held}, false), "", registers, true);
  Value *same = held == type ? x : k.CreateZExt(x, held);
  Value *here = k.CreateCall(nothing, {same});
  return held == type ? here : k.CreateTrunc(here, type);
}

Element KernelEmitter::mapElement(mlir::Value value, const Indices &indices) {
  Element element;
  if (auto pack = value.getDefiningOp<PackOp>())
    element = {elementAt(pack.getRe(), indices).re, elementAt(pack.getIm(), indices).re};
  else
    element = elementAt(value, indices);
  auto isFunction = [](Instruction &i) {
    auto *call = dyn_cast<CallInst>(&i);
    return call && call->getCalledFunction() && !isa<IntrinsicInst>(call);
  };
  if (device && any_of(instructions(*kernel), isFunction))
    for (Value **part : {&element.re, &element.im})
      if (*part)
        *part = computedHere(k, *part);
  return element;
}

void KernelEmitter::storeMapElement(mlir::Value value, Value *out, Value *at, Element element) {
  DType dtype = movesWords ? DType::I64 : tensorTypeOf(value).getDtype();
  bool isPair = value.getDefiningOp<PackOp>() != nullptr;
  if (!isPair || realOf(complexOf(dtype)) == dtype)
    return scalars.store(isPair ? complexOf(dtype) : dtype, out, at, element);
  Value *first = k.CreateShl(at, 1, "", true, true); // there are no complex halves
  scalars.store(dtype, out, first, {element.re});
  scalars.store(dtype, out, k.CreateOr(first, i64(1)), {element.im});
}

/// Rows of so few elements, and so little code, that they are written without a loop: LLVM takes a row a lane then.
bool KernelEmitter::isTinyRow(Value *size) {
  auto *known = dyn_cast<ConstantInt>(size);
  auto operations = static_cast<int64_t>(op.getBody().front().getOperations().size());
  return known && known->getSExtValue() <= 7 && known->getSExtValue() * operations <= 64;
}

/// The exponents that the group's powers of integers read at the index of the result, if they are inputs; of powers
/// that it would compute at a cost, none.
SmallVector<mlir::Value> KernelEmitter::exponentsOfIntegers() {
  SmallVector<mlir::Value> found;
  bool areRead = flat && rootType.getRank() > 0;
  op.walk([&](PowOp power) {
    mlir::Value exponent = power->getOperand(1);
    const DType dtype = tensorTypeOf(exponent).getDtype();
    if (kindOf(dtype) != DKind::Int || exponent.getDefiningOp<ConstantOp>())
      return;
    areRead &= isa<mlir::BlockArgument>(exponent) && tensorTypeOf(exponent).getSizes() == rootType.getSizes();
    found.push_back(exponent);
  });
  return areRead ? found : SmallVector<mlir::Value>();
}

/// Powers up to 3 are vector code, and others are not: exponents are looked through first.
void KernelEmitter::loopBySmallExponents(function_ref<void()> loops) {
  const SmallVector<mlir::Value> exponents = exponentsOfIntegers();
  if (exponents.empty())
    return loops();
  IRBuilder<> entry(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
  AllocaInst *isLarge = entry.CreateAlloca(entry.getInt8Ty());
  entry.CreateStore(entry.getInt8(0), isLarge);
  loop(rangeBegin, rangeEnd, [&](Value *i) {
    for (mlir::Value exponent : exponents) {
      Value *n = elementAt(exponent, {i}).re;
      Value *isAbove = k.CreateZExt(k.CreateICmpUGT(n, ConstantInt::get(n->getType(), 3)), k.getInt8Ty());
      k.CreateStore(k.CreateOr(k.CreateLoad(k.getInt8Ty(), isLarge), isAbove), isLarge);
    }
  });
  BasicBlock *any = BasicBlock::Create(k.getContext(), "any", kernel),
             *small = BasicBlock::Create(k.getContext(), "small", kernel),
             *done = BasicBlock::Create(k.getContext(), "done", kernel);
  k.CreateCondBr(k.CreateICmpNE(k.CreateLoad(k.getInt8Ty(), isLarge), k.getInt8(0)), any, small);
  for (BasicBlock *block : {any, small}) {
    k.SetInsertPoint(block);
    scalars.smallExponents = block == small;
    loops();
    k.CreateBr(done);
  }
  scalars.smallExponents = false;
  k.SetInsertPoint(done);
}

/// The loop over a short row, that was emitted last, becomes vectors: written out, LLVM would take a row a lane, and
/// gather and scatter their elements.
static void keepAsLoop(Instruction *latch, Value *size, int64_t bytes, bool isMasked) {
  constexpr int64_t longest = 64;
  LLVMContext &context = latch->getContext();
  auto *known = dyn_cast<ConstantInt>(size);
  if (!known || known->getSExtValue() > longest)
    return;
  SmallVector<Metadata *> properties = {loopProperty(context, "llvm.loop.unroll.disable")};
  if (isMasked && known->getSExtValue() * bytes % 64 != 0)
    properties.push_back(loopProperty(context, "llvm.loop.vectorize.predicate.enable", ConstantInt::getTrue(context)));
  describeLoop(latch, properties);
}

/// One loop over rows (all axes but the last, or everything when flat), one over the last axis.
void KernelEmitter::emitMap() {
  movesWords = onlyMoves(root);
  if (emitSmallTransposes() || emitInterleaved() || emitPermutedMap() || emitTiledMap() || emitShortSides() ||
      emitRowsAsVectors() || emitRowsByHalves() || emitRowStrips())
    return;
  const auto [sizes, bytes] = beginMap();
  auto store = [&](Value *out, Value *at, const Indices &indices) {
    storeMapElement(root, out, at, mapElement(root, indices));
  };
  Value *count = product(sizes);
  bool oneLoop = flat || sizes.size() <= 1;
  Value *range = count;
  if (!oneLoop) // rows without elements are not counted
    range = caller.CreateSelect(caller.CreateICmpEQ(sizes.back(), caller.getInt64(0)), sizes.back(),
                                product(ArrayRef(sizes).drop_back()));
  auto known = rootType.getStaticCount();
  begin();
  Value *out = capture(callerOut);
  if (oneLoop)
    loopBySmallExponents([&] {
      loopOverRow(rangeBegin, rangeEnd, {}, [&](Value *i) { store(out, i, sizes.empty() ? Indices() : Indices{i}); });
    });
  else {
    SmallVector<Value *> inner = captureAll(sizes);
    loop(rangeBegin, rangeEnd, [&](Value *row) {
      Indices outer = decode(row, ArrayRef(inner).drop_back());
      Value *base = k.CreateMul(row, inner.back(), "", true, true);
      auto element = [&](Value *j) {
        Indices indices = outer;
        indices.push_back(j);
        store(out, k.CreateAdd(base, j, "", true, true), indices);
      };
      if (!isTinyRow(sizes.back())) {
        const size_t others = latches.size();
        loopOverRow(i64(0), inner.back(), outer, element);
        if (!reusable) // in place, a masked store would be waited for by the next row's load
          for (Instruction *latch : drop_begin(latches, others))
            describeLoop(latch, loopProperty(k.getContext(), loopOfRow));
        keepAsLoop(latches.back(), sizes.back(), bytes, !reusable && rt::laneWidth() >= 8);
        return;
      }
      for (int64_t j = 0, n = cast<ConstantInt>(sizes.back())->getSExtValue(); j < n; ++j)
        element(i64(j));
    });
  }
  Value *stepBytes = oneLoop ? caller.getInt64(bytes) : caller.CreateMul(sizes.back(), caller.getInt64(bytes));
  isByRows = true;
  bool mayStream = !known || *known * sizeOf(rootType.getDtype()) >= rt::streamBytes;
  finish(range, oneLoop ? caller.getInt64(1) : sizes.back(), nullptr, mayStream ? stepBytes : nullptr);
}

} // namespace toy
