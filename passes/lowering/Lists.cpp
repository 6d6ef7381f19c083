// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists: lengths and elements are read as C reads a vector's, changes are calls of the runtime, as for tensors that
/// grow.
#include "passes/lowering/FunctionEmitter.h"

#include "runtime/List.h"

using namespace llvm;

namespace toy {

/// A word of a header, or a reference in a list, which no store of an element changes.
LoadInst *FunctionEmitter::readHeader(Type *type, Value *at) {
  LoadInst *word = b.CreateLoad(type, at);
  apart.markHeader(*word);
  return word;
}

Value *FunctionEmitter::lengthOfList(Value *list) {
  return readHeader(b.getInt64Ty(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), list, offsetof(rt::List, count)));
}

/// Where an element of a list is, of which may be known where its elements are.
Value *FunctionEmitter::placeOf(Value *list, Value *index, Value *items) {
  Value *at = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), list, offsetof(rt::List, items));
  Value *offset = b.CreateMul(index, b.getInt64(sizeof(rt::Item)), "", true, true);
  return b.CreateInBoundsGEP(b.getInt8Ty(), items ? items : readHeader(b.getPtrTy(), at), offset);
}

/// A list has one length, and its elements lie where they lie, until it is handed on: loops that ask find it before.
void FunctionEmitter::openList(mlir::Value list) {
  auto asksInLoop = [&](mlir::Operation *user) {
    return isa<ListLenOp, ListElementOp>(user) && user->getOperand(0) == list && isInLoopOver(user, list);
  };
  if (llvm::none_of(list.getUsers(), asksInLoop))
    return;
  Value *object = slots[list].object;
  ownSizes[{list, 0}] = lengthOfList(object);
  Value *at = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), object, offsetof(rt::List, items));
  slots[list].data = readHeader(b.getPtrTy(), at);
}

void FunctionEmitter::emit(ListLenOp op) {
  Value *known = ownSizes.lookup({op.getList(), 0});
  slots[op.getResult()].scalar = {known ? known : lengthOfList(slots[op.getList()].object)};
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
  return isObject(op.getResult()) && !op.getChanged() && !op->hasAttr(guardedElement) && !isBorrowed(op.getList()) &&
         replacementOf(op, [&](ListSetOp set) { return diesAt(op.getList(), set); });
}

/// The list that a list lies in, or in which that lies.
static mlir::Value outermostList(mlir::Value list) {
  while (auto element = list.getDefiningOp<ListElementOp>())
    list = element.getList();
  return list;
}

/// Whether an element is changed in its list, or in one that lies in it, in one of the blocks, or, where there are
/// none, before a use of another in its block.
bool FunctionEmitter::isChangedBefore(ListElementOp op, llvm::ArrayRef<mlir::Block *> blocks) {
  auto isBeforeUse = [&](mlir::Operation *change) {
    return change->getBlock() == op->getBlock() && op->isBeforeInBlock(change) &&
           llvm::any_of(op->getUsers(), [&](mlir::Operation *user) { return change->isBeforeInBlock(user); });
  };
  auto isChange = [&](ListElementOp other) {
    return other.getChanged() && (blocks.empty() ? isBeforeUse(other) : llvm::is_contained(blocks, other->getBlock()));
  };
  llvm::SmallVector<mlir::Value> open = {outermostList(op.getList())};
  while (!open.empty())
    for (mlir::Operation *user : open.pop_back_val().getUsers())
      if (auto other = dyn_cast<ListElementOp>(user)) {
        if (isChange(other))
          return true;
        if (isa<ListType>(other.getType()))
          open.push_back(other.getResult());
      }
  return false;
}

/// Whether an element is only read while its list is held, and nothing is taken out of that: then nobody counts it.
/// What changes a list that is still needed changes a copy. One that is changed in its list is held by that as well.
bool FunctionEmitter::isReadWhileHeld(ListElementOp op) {
  constexpr size_t mostBlocks = 64, mostUsers = 64;
  mlir::Value element = op.getResult(), list = op.getList();
  const bool mayChange = op.getChanged() || op->hasAttr(guardedElement);
  auto onlyReads = [&](mlir::OpOperand &use) {
    return (use.getOperandNumber() == 0 &&
            isa<ElementOp, ElementSetOp, DimOp, ListLenOp, ListElementOp>(use.getOwner())) ||
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
           llvm::none_of(list.getUsers(), isTakenBefore) && (mayChange || !isChangedBefore(op, {}));
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
  return blocks.size() <= mostBlocks && (mayChange || !isChangedBefore(op, blocks.getArrayRef()));
}

/// An element whose index may be outside, for which an empty one stands there.
Value *FunctionEmitter::guarded(ListElementOp op) {
  Value *list = slots[op.getList()].object, *index = slots[op.getIndex()].scalar.re, *count = lengthOfList(list);
  Value *at = b.CreateSelect(b.CreateICmpSLT(index, b.getInt64(0)), b.CreateAdd(index, count), index);
  auto found = [&] { return readHeader(b.getPtrTy(), placeOf(list, at)); };
  auto none = [&]() -> Value * { // a header of zeros, but for a count that never ends
    constexpr int64_t words = 16, forever = int64_t(1) << 40;
    SmallVector<Constant *> header(words, b.getInt64(0));
    header[0] = b.getInt64(forever);
    auto *type = ArrayType::get(b.getInt64Ty(), words);
    const StringRef name = "toy.none";
    if (auto *known = module.getGlobalVariable(name, /*AllowInternal=*/true))
      return known;
    return new GlobalVariable(module, type, /*isConstant=*/false, GlobalValue::PrivateLinkage,
                              ConstantArray::get(type, header), name);
  };
  return scalars.eitherOf(b.CreateICmpULT(at, count), found, none);
}

void FunctionEmitter::emit(ListElementOp op) {
  mlir::Value result = op.getResult();
  const bool mayBeNone = op->hasAttr(guardedElement);
  Value *item = mayBeNone
                    ? nullptr
                    : placeOf(slots[op.getList()].object, slots[op.getIndex()].scalar.re, slots[op.getList()].data);
  if (!isObject(result)) {
    slots[result].scalar = scalars.load(tensorTypeOf(result).getDtype(), item, b.getInt64(0));
    return;
  }
  slots[result] = {mayBeNone ? guarded(op) : readHeader(b.getPtrTy(), item), {}};
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

void FunctionEmitter::emit(ListUniqueOp op) {
  if (!diesAt(op.getList(), op))
    retain(op.getList());
  else
    moved.insert(op.getList().getAsOpaquePointer());
  Value *list = slots[op.getList()].object;
  auto byCall = [&] {
    setSite(op);
    return scalars.call("toy_rt_list_unique", b.getPtrTy(), {list});
  };
  slots[op.getResult()] = {
      scalars.eitherOf(b.CreateICmpEQ(loadWord(list, 0), b.getInt64(1)), [&] { return list; }, byCall), {}};
}

/// Of a list that nobody else holds, an element that nobody else holds.
Value *FunctionEmitter::ownedElement(ListOwnOp op, Value *list, Value *index, mlir::Type type) {
  Value *element = readHeader(b.getPtrTy(), placeOf(list, index));
  auto isAlone = [&](Value *counted) { return b.CreateICmpEQ(readHeader(b.getInt64Ty(), counted), b.getInt64(1)); };
  Value *alone = isAlone(element);
  if (isa<TensorType>(type)) {
    Value *storage = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), element, offsetof(rt::Tensor, storage));
    alone = b.CreateAnd(alone, isAlone(readHeader(b.getPtrTy(), storage)));
  }
  return scalars.eitherOf(
      alone, [&] { return element; },
      [&] {
        setSite(op, /*isRare=*/true);
        return scalars.call("toy_rt_list_own", b.getPtrTy(), {list, index});
      });
}

void FunctionEmitter::emit(ListOwnOp op) {
  BasicBlock *behind = op.getInside() ? nullptr : BasicBlock::Create(b.getContext(), "", f);
  Value *in = slots[op.getList()].object;
  mlir::Type type = op.getList().getType();
  for (mlir::Value position : op.getIndices()) {
    type = cast<ListType>(type).getElement();
    Value *index = slots[position].scalar.re;
    if (behind) {
      Value *count = lengthOfList(in);
      index = b.CreateSelect(b.CreateICmpSLT(index, b.getInt64(0)), b.CreateAdd(index, count), index);
      BasicBlock *inside = BasicBlock::Create(b.getContext(), "", f);
      b.CreateCondBr(b.CreateICmpULT(index, count), inside, behind);
      b.SetInsertPoint(inside);
    }
    in = ownedElement(op, in, index, type);
  }
  if (!behind)
    return;
  b.CreateBr(behind);
  b.SetInsertPoint(behind);
}

} // namespace toy
