// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists: lengths and elements are read as C reads a vector's, changes are calls of the runtime, as for tensors that
/// grow.
#include "passes/lowering/FunctionEmitter.h"

#include "runtime/List.h"

using namespace llvm;

namespace toy {

void FunctionEmitter::emit(ListLenOp op) {
  Value *at = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), slots[op.getList()].object, offsetof(rt::List, count));
  slots[op.getResult()].scalar = {b.CreateLoad(b.getInt64Ty(), at)};
}

void FunctionEmitter::emit(ListElementOp op) {
  Value *items = b.CreateLoad(
      b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), slots[op.getList()].object, offsetof(rt::List, items)));
  Value *offset = b.CreateMul(slots[op.getIndex()].scalar.re, b.getInt64(sizeof(rt::Item)), "", true, true);
  Value *item = b.CreateInBoundsGEP(b.getInt8Ty(), items, offset);
  mlir::Value result = op.getResult();
  if (!isObject(result)) {
    slots[result].scalar = scalars.load(tensorTypeOf(result).getDtype(), item, b.getInt64(0));
    return;
  }
  slots[result] = {b.CreateLoad(b.getPtrTy(), item), {}};
  retain(result);
}

/// An object with a reference for what takes it over: where it is used for the last time, its own.
Value *FunctionEmitter::ownReference(mlir::Value v, mlir::Operation *op) {
  if (diesAt(v, op) && llvm::count(op->getOperands(), v) == 1)
    moved.insert(v.getAsOpaquePointer());
  else
    retain(v);
  return slots[v].object;
}

/// A value as an element, whose reference the list takes over.
Value *FunctionEmitter::itemOf(mlir::Value v, mlir::Operation *op) {
  Value *item = stackArray(b.getInt64Ty(), sizeof(rt::Item) / sizeof(int64_t));
  if (!isObject(v)) {
    scalars.store(tensorTypeOf(v).getDtype(), item, b.getInt64(0), slots[v].scalar);
    return item;
  }
  b.CreateStore(ownReference(v, op), item);
  return item;
}

void FunctionEmitter::emit(ListAppendOp op) {
  setSite(op);
  Value *item = itemOf(op.getValue(), op);
  slots[op.getResult()] = {scalars.call("toy_rt_list_append", b.getPtrTy(), {ownReference(op.getList(), op), item}),
                           {}};
}

void FunctionEmitter::emit(AppendOp op) {
  setSite(op);
  mlir::Value row = op.getRow();
  Value *none = ConstantPointerNull::get(b.getPtrTy()), *tensor = isObject(row) ? slots[row].object : none;
  Value *element = isObject(row) ? none : stackArray(b.getInt64Ty(), 2);
  if (!isObject(row))
    scalars.store(tensorTypeOf(row).getDtype(), element, b.getInt64(0), slots[row].scalar);
  slots[op.getResult()].object =
      scalars.call("toy_rt_append", b.getPtrTy(), {ownReference(op.getX(), op), tensor, element});
}

void FunctionEmitter::emit(ListSetOp op) {
  setSite(op);
  Value *item = itemOf(op.getValue(), op), *index = slots[op.getIndex()].scalar.re;
  slots[op.getResult()] = {scalars.call("toy_rt_list_set", b.getPtrTy(), {ownReference(op.getList(), op), index, item}),
                           {}};
}

} // namespace toy
