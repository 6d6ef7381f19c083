// SPDX-License-Identifier: Apache-2.0
#include "passes/lowering/FrameTensors.h"

#include "passes/lowering/ScalarEmitter.h"

#include "runtime/Value.h"

using namespace llvm;

namespace toy {

static constexpr int64_t mostElements = 64, mostBytes = 512, mostOfAxis = 127; // of a tensor in the frame

bool isReadInPlace(mlir::Value v) {
  auto type = dyn_cast<TensorType>(v.getType());
  if (!type || type.getRank() < 1 || type.getRank() > 2)
    return false;
  return all_of(v.getUses(), [](mlir::OpOperand &use) {
    mlir::Operation *user = use.getOwner();
    if (auto group = dyn_cast<FusedOp>(user))
      return !isa<FusedOp>(group.getBody().front().front()); // loops of rows may wait
    return isa<DimOp, GemmOp>(user) || (isa<ElementOp, ElementSetOp>(user) && use.getOperandNumber() == 0);
  });
}

FrameTensor makeFrameTensor(Function *function, TensorType type) {
  IRBuilder<> b(&function->getEntryBlock(), function->getEntryBlock().begin());
  const int64_t most = std::min(mostElements, mostBytes / sizeOf(type.getDtype()));
  AllocaInst *header = b.CreateAlloca(ArrayType::get(b.getInt64Ty(), sizeof(rt::Tensor) / 8 + type.getRank() - 1));
  AllocaInst *data = b.CreateAlloca(ArrayType::get(b.getInt8Ty(), most * sizeOf(type.getDtype())));
  data->setAlignment(Align(64));
  auto set = [&](size_t offset, Value *v) {
    b.CreateStore(v, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), header, offset));
  };
  set(offsetof(rt::Tensor, refs), b.getInt64(1));
  set(offsetof(rt::Tensor, data), data);
  set(offsetof(rt::Tensor, storage), ConstantPointerNull::get(b.getPtrTy()));
  set(offsetof(rt::Tensor, dtype), b.getInt8(static_cast<uint8_t>(type.getDtype())));
  set(offsetof(rt::Tensor, rank), b.getInt8(static_cast<uint8_t>(type.getRank())));
  return {header, data, most};
}

/// By the runtime.
static std::pair<Value *, Value *> allocate(Module &module, IRBuilder<> &b, DType dtype, ArrayRef<Value *> sizes,
                                            Value *reusable) {
  auto withData = [&](Value *object) {
    Value *data = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), object, offsetof(rt::Tensor, data));
    return std::pair<Value *, Value *>(object, b.CreateLoad(b.getPtrTy(), data));
  };
  Value *kind = b.getInt64(static_cast<int>(dtype));
  if (sizes.size() == 1 && !reusable) {
    Value *bytes = b.CreateMul(sizes.front(), b.getInt64(sizeOf(dtype)));
    return withData(ScalarEmitter(module, b).call("toy_rt_alloc_vector", b.getPtrTy(), {kind, sizes.front(), bytes}));
  }
  Function *function = b.GetInsertBlock()->getParent();
  IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
  Value *array = entry.CreateAlloca(b.getInt64Ty(), b.getInt32(sizes.size()));
  for (auto [axis, size] : enumerate(sizes))
    b.CreateStore(size, b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), array, axis));
  SmallVector<Value *, 4> arguments = {kind, b.getInt64(sizes.size()), array};
  if (reusable)
    arguments.insert(arguments.begin(), reusable);
  return withData(ScalarEmitter(module, b).call(reusable ? "toy_rt_reuse" : "toy_rt_alloc", b.getPtrTy(), arguments));
}

Value *areFew(IRBuilder<> &b, ArrayRef<Value *> sizes, int64_t most, int64_t mostOfAxis) {
  Value *count = sizes.front(), *any = sizes.front();
  for (Value *size : sizes.drop_front()) {
    count = b.CreateMul(count, size);
    any = b.CreateOr(any, size);
  }
  Value *few = b.CreateICmpULE(count, b.getInt64(most));
  return sizes.size() == 1 ? few : b.CreateAnd(few, b.CreateICmpULE(any, b.getInt64(mostOfAxis)));
}

std::pair<Value *, Value *> makeTensor(Module &module, IRBuilder<> &b, DType dtype, ArrayRef<Value *> sizes,
                                       const FrameTensor *frame, Value *reusable) {
  Value *isHere = frame ? areFew(b, sizes, frame->most, mostOfAxis) : b.getFalse();
  auto *known = dyn_cast<ConstantInt>(isHere);
  if (known && known->isZero())
    return allocate(module, b, dtype, sizes, reusable);
  auto setSizes = [&] {
    for (auto [axis, size] : enumerate(sizes))
      b.CreateStore(size, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame->header,
                                                       offsetof(rt::Tensor, sizes) + sizeof(int64_t) * axis));
  };
  if (known) {
    setSizes();
    return {frame->header, frame->data};
  }
  std::pair<Value *, Value *> made;
  BasicBlock *away = nullptr;
  setSizes();
  BasicBlock *here = b.GetInsertBlock();
  ScalarEmitter(module, b).rarely(b.CreateNot(isHere), [&] {
    made = allocate(module, b, dtype, sizes, reusable);
    away = b.GetInsertBlock();
  });
  return {merged(b, frame->header, here, made.first, away), merged(b, frame->data, here, made.second, away)};
}

} // namespace toy
