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

/// What puts something in the place of an element, made of it or not, where nobody asks the list for anything but its
/// length in between; or null. Then the element is taken out of a list that nobody else holds, so that what changes it
/// finds that nobody else does.
static ListSetOp replacementOf(ListElementOp op, function_ref<bool(ListSetOp)> isLast) {
  ListSetOp found;
  for (mlir::Operation *user : op.getList().getUsers()) {
    if (user->getBlock() != op->getBlock() || !op->isBeforeInBlock(user) || isa<ListLenOp>(user))
      continue;
    auto set = dyn_cast<ListSetOp>(user);
    if (!set || found || set.getList() != op.getList() || set.getIndex() != op.getIndex() ||
        set.getValue() == op.getList())
      return {};
    found = set;
  }
  return found && isLast(found) ? found : ListSetOp();
}

bool FunctionEmitter::isTaken(ListElementOp op) {
  return isObject(op.getResult()) && !isBorrowed(op.getList()) &&
         replacementOf(op, [&](ListSetOp set) { return diesAt(op.getList(), set); });
}

/// Whether an element is only read while its list is held, and nothing is taken out of that: then nobody counts it.
/// What changes a list that is still needed changes a copy.
bool FunctionEmitter::isReadWhileHeld(ListElementOp op) {
  constexpr size_t mostBlocks = 64, mostUsers = 64;
  mlir::Value element = op.getResult(), list = op.getList();
  auto onlyReads = [&](mlir::OpOperand &use) {
    return (use.getOperandNumber() == 0 && isa<ElementOp, DimOp, ListLenOp, ListElementOp>(use.getOwner())) ||
           (!tables.device && isa<FusedOp>(use.getOwner()));
  };
  if (!llvm::all_of(element.getUses(), onlyReads) || llvm::hasNItemsOrMore(list.getUses(), mostUsers))
    return false;
  mlir::Block *block = op->getBlock();
  auto isHere = [&](mlir::Operation *user) { return user->getBlock() == block; };
  if (llvm::all_of(element.getUsers(), isHere)) {
    auto isBefore = [&](mlir::Operation *user) { // one of the reads
      return llvm::any_of(element.getUsers(), [&](mlir::Operation *read) { return user->isBeforeInBlock(read); });
    };
    auto isHeldBehind = [&](mlir::Operation *user) { return isHere(user) && !isBefore(user); };
    auto isTakenBefore = [&](mlir::Operation *user) {
      auto other = dyn_cast<ListElementOp>(user);
      return other && isHere(user) && op->isBeforeInBlock(user) && isBefore(user) && isTaken(other);
    };
    return (liveness.getLiveness(block)->isLiveOut(list) || llvm::any_of(list.getUsers(), isHeldBehind)) &&
           llvm::none_of(list.getUsers(), isTakenBefore);
  }
  llvm::SetVector<mlir::Block *> blocks;
  blocks.insert(block);
  for (mlir::Operation *user : element.getUsers())
    blocks.insert(user->getBlock());
  for (size_t i = 0; i < blocks.size() && i < mostBlocks; ++i) { // on the ways from the operation to its uses
    if (!liveness.getLiveness(blocks[i])->isLiveOut(list))
      return false;
    if (blocks[i] != block)
      blocks.insert(blocks[i]->pred_begin(), blocks[i]->pred_end());
  }
  return blocks.size() <= mostBlocks;
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
  if (isReadWhileHeld(op)) {
    borrowed.insert(result.getAsOpaquePointer());
    return;
  }
  if (!isTaken(op))
    return retain(result);
  Value *alone = b.CreateICmpEQ(loadWord(slots[op.getList()].object, 0), b.getInt64(1));
  b.CreateStore(b.CreateSelect(alone, ConstantPointerNull::get(b.getPtrTy()), slots[result].object), item);
  scalars.rarely(b.CreateNot(alone), [&] { retain(result); });
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

Value *FunctionEmitter::loadWord(Value *object, size_t offset, Type *type) {
  return b.CreateLoad(type ? type : b.getInt64Ty(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), object, offset));
}

/// An element behind the others of a list that nobody else holds and that has room, is a store; else a call.
void FunctionEmitter::emit(ListAppendOp op) {
  Value *item = itemOf(op.getValue(), op), *list = ownReference(op.getList(), op);
  Value *count = loadWord(list, offsetof(rt::List, count));
  Value *fits = b.CreateAnd(b.CreateICmpEQ(loadWord(list, 0), b.getInt64(1)),
                            b.CreateICmpSLT(count, loadWord(list, offsetof(rt::List, capacity))));
  auto inPlace = [&] {
    Value *offset = b.CreateMul(count, b.getInt64(sizeof(rt::Item)), "", true, true);
    Value *at = b.CreateInBoundsGEP(b.getInt8Ty(), loadWord(list, offsetof(rt::List, items), b.getPtrTy()), offset);
    b.CreateMemCpy(at, Align(8), item, Align(8), sizeof(rt::Item));
    b.CreateStore(b.CreateNUWAdd(count, b.getInt64(1)),
                  b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), list, offsetof(rt::List, count)));
    return list;
  };
  slots[op.getResult()] = {scalars.eitherOf(fits, inPlace,
                                            [&] {
                                              setSite(op);
                                              return scalars.call("toy_rt_list_append", b.getPtrTy(), {list, item});
                                            }),
                           {}};
}

/// In a list that nobody else holds, a number in the place of another, and an object where one was taken out, are
/// stores; else a call.
void FunctionEmitter::emit(ListSetOp op) {
  const bool isNumber = !isObject(op.getValue());
  Value *item = itemOf(op.getValue(), op), *index = slots[op.getIndex()].scalar.re,
        *list = ownReference(op.getList(), op);
  Value *offset = b.CreateMul(index, b.getInt64(sizeof(rt::Item)), "", true, true);
  Value *at = b.CreateInBoundsGEP(b.getInt8Ty(), loadWord(list, offsetof(rt::List, items), b.getPtrTy()), offset);
  Value *fits = b.CreateICmpEQ(loadWord(list, 0), b.getInt64(1));
  if (!isNumber)
    fits = b.CreateAnd(fits, b.CreateIsNull(b.CreateLoad(b.getPtrTy(), at)));
  auto inPlace = [&] {
    if (isNumber)
      scalars.store(tensorTypeOf(op.getValue()).getDtype(), at, b.getInt64(0), slots[op.getValue()].scalar);
    else
      b.CreateStore(slots[op.getValue()].object, at);
    return list;
  };
  auto byCall = [&] {
    setSite(op);
    return scalars.call("toy_rt_list_set", b.getPtrTy(), {list, index, item});
  };
  slots[op.getResult()] = {scalars.eitherOf(fits, inPlace, byCall), {}};
}

} // namespace toy
