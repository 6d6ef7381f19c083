// SPDX-License-Identifier: Apache-2.0
/// \file
/// Vectors that numbers are appended to and taken off: in place where nobody else holds them, else calls of the
/// runtime. Their length, and where their elements are, is known behind it without a look at the header.
#include "passes/lowering/FrameTensors.h"
#include "passes/lowering/FunctionEmitter.h"

#include "runtime/Blocks.h"
#include "runtime/Value.h"

#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace toy {

/// Where the elements of a vector are and how many, from what was read where it was made, if it was.
std::pair<Value *, Value *> FunctionEmitter::dataAndLength(mlir::Value v) {
  Value *data = slots[v].data, *length = ownSizes.lookup({v, 0});
  if (Dim size = tensorTypeOf(v).getDim(0); !length && size.isNumber())
    length = b.getInt64(size.value());
  return {data ? data : loadWord(slots[v].object, offsetof(rt::Tensor, data), b.getPtrTy()),
          length ? length : loadWord(slots[v].object, offsetof(rt::Tensor, sizes))};
}

void FunctionEmitter::setDataAndLength(mlir::Value v, Value *data, Value *length) {
  slots[v].data = data;
  ownSizes[{v, 0}] = length;
}

Value *FunctionEmitter::roomOf(mlir::Value v, Value *object) {
  Value *storage = loadWord(object, offsetof(rt::Tensor, storage), b.getPtrTy()),
        *bytes = loadWord(storage, offsetof(rt::Storage, bytes)), *least = b.getInt64(rt::Blocks::leastBytes());
  return b.CreateUDiv(b.CreateBinaryIntrinsic(Intrinsic::smax, bytes, least),
                      b.getInt64(toy::sizeOf(tensorTypeOf(v).getDtype())));
}

/// On an edge to a block, in front of its branch.
void FunctionEmitter::handOn(mlir::Value to, mlir::Value from) {
  auto [data, length] = dataAndLength(from);
  cast<PHINode>(slots[to].data)->addIncoming(data, b.GetInsertBlock());
  cast<PHINode>(ownSizes.at({to, 0}))->addIncoming(length, b.GetInsertBlock());
  cast<PHINode>(rooms.at(to))->addIncoming(rooms.at(from), b.GetInsertBlock());
}

void FunctionEmitter::storeLength(Value *object, Value *length) {
  b.CreateStore(length, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), object, offsetof(rt::Tensor, sizes)));
}

/// Stores the lengths that an operation will look for in headers.
void FunctionEmitter::bringHeadersUpToDate(mlir::Operation *op) {
  SmallPtrSet<void *, 4> done;
  for (mlir::Value operand : op->getOperands())
    if (carried.needsHeader(op, operand) && done.insert(operand.getAsOpaquePointer()).second)
      storeLength(slots[operand].object, dataAndLength(operand).second);
}

/// Whether nobody else holds a tensor or its elements, and these are all of its memory, on the host.
Value *FunctionEmitter::isAlone(Value *object) {
  Value *storage = loadWord(object, offsetof(rt::Tensor, storage), b.getPtrTy());
  Value *data = loadWord(object, offsetof(rt::Tensor, data), b.getPtrTy());
  auto isOne = [&](Value *counted) { return b.CreateICmpEQ(loadWord(counted, 0), b.getInt64(1)); };
  return b.CreateAnd(b.CreateAnd(isOne(object), isOne(storage)),
                     b.CreateAnd(b.CreateICmpEQ(data, loadWord(storage, offsetof(rt::Storage, data), b.getPtrTy())),
                                 b.CreateIsNotNull(data)));
}

/// Of a vector whose length was stored in place, or that a call gave.
Value *FunctionEmitter::valueOfEither(PHINode *object, Value *inPlace, Value *called) {
  PHINode *data = b.CreatePHI(inPlace->getType(), 2);
  data->addIncoming(inPlace, object->getIncomingBlock(0));
  data->addIncoming(called, object->getIncomingBlock(1));
  return data;
}

/// Where nobody else holds the tensor, its size is stored; else a call.
void FunctionEmitter::emit(ShortenOp op) {
  if (tables.valuesMoveAway)
    return emitEval(op);
  auto [data, length] = dataAndLength(op.getX());
  Value *object = ownReference(op.getX(), op), *count = slots[op.getCount()].scalar.re, *moved = nullptr,
        *room = rooms.lookup(op.getX()), *newRoom = nullptr;
  const bool isLate = carried.contains(op.getX());
  auto inPlace = [&] {
    if (!isLate)
      storeLength(object, count);
    return object;
  };
  auto byCall = [&] {
    setSite(op);
    if (isLate)
      storeLength(object, length);
    Value *objects = stackArray(b.getPtrTy(), 1);
    b.CreateStore(object, objects);
    Value *shorter = scalars.call("toy_rt_shorten", b.getPtrTy(), {objects, sizesArray({count})});
    moved = loadWord(shorter, offsetof(rt::Tensor, data), b.getPtrTy());
    if (isLate)
      newRoom = roomOf(op.getResult(), shorter);
    return shorter;
  };
  if (op->hasAttr(ownedOperand))
    slots[op.getResult()].object = inPlace();
  else {
    auto *either = cast<PHINode>(scalars.eitherOf(isAlone(object), inPlace, byCall));
    slots[op.getResult()].object = either;
    data = valueOfEither(either, data, moved);
    if (isLate)
      room = valueOfEither(either, room, newRoom);
  }
  if (isLate)
    rooms[op.getResult()] = room;
  setDataAndLength(op.getResult(), data, count);
}

/// The same of a number behind those of a vector.
void FunctionEmitter::emit(AppendOp op) {
  mlir::Value x = op.getX(), row = op.getRow();
  if (isObject(row) || tables.valuesMoveAway) {
    slots[op.getResult()].object = appended(op, ownReference(x, op));
    return;
  }
  if (!diesAt(x, op))
    return emitLongerCopy(op);
  const DType dtype = tensorTypeOf(row).getDtype();
  auto [data, count] = dataAndLength(x);
  Value *object = ownReference(x, op), *longer = b.CreateAdd(count, b.getInt64(1), "", true, true), *place = data,
        *moved = nullptr;
  const bool isLate = carried.contains(x);
  auto inPlace = [&] {
    scalars.store(dtype, place, count, slots[row].scalar);
    if (!isLate)
      storeLength(object, longer);
    return object;
  };
  Value *room = rooms.lookup(x), *newRoom = nullptr;
  if (haveRoom.contains(op)) {
    slots[op.getResult()].object = inPlace();
    rooms[op.getResult()] = room;
    return setDataAndLength(op.getResult(), data, longer);
  }
  const int64_t more = makeRoomBehind(op);
  Value *alone = op->hasAttr(ownedOperand) ? b.getTrue() : isAlone(object),
        *needed = b.CreateAdd(longer, b.getInt64(more), "", true, true),
        *fits = b.CreateICmpSLE(needed, isLate ? room : roomOf(x, object));
  auto byCall = [&] {
    if (isLate)
      storeLength(object, count);
    Value *other = appended(op, object, more);
    moved = loadWord(other, offsetof(rt::Tensor, data), b.getPtrTy());
    if (isLate)
      newRoom = roomOf(x, other);
    return other;
  };
  auto *either = cast<PHINode>(scalars.eitherOf(b.CreateAnd(alone, fits), inPlace, byCall));
  slots[op.getResult()].object = either;
  setDataAndLength(op.getResult(), valueOfEither(either, data, moved), longer);
  if (isLate)
    rooms[op.getResult()] = valueOfEither(either, room, newRoom);
}

/// Numbers that are put behind this one at once, one after the other, need not ask for room. Gives how many.
int64_t FunctionEmitter::makeRoomBehind(AppendOp op) {
  constexpr int64_t most = 16;
  int64_t more = 0;
  for (AppendOp last = op; last->hasOneUse() && more + 1 < most; ++more) {
    auto next = dyn_cast<AppendOp>(*last->user_begin());
    if (!next || next.getX() != last.getResult() || isObject(next.getRow()) || next->getBlock() != op->getBlock())
      break;
    haveRoom.insert(next);
    last = next;
  }
  return more;
}

/// Of a vector that is still needed, which nobody counts meanwhile.
void FunctionEmitter::emitLongerCopy(AppendOp op) {
  const DType dtype = tensorTypeOf(op.getRow()).getDtype();
  auto [data, count] = dataAndLength(op.getX());
  setSite(op);
  Value *longer = b.CreateAdd(count, b.getInt64(1), "", true, true);
  auto [object, place] = makeTensor(module, b, dtype, {longer});
  b.CreateMemCpy(place, Align(8), data, Align(8), b.CreateMul(count, b.getInt64(toy::sizeOf(dtype)), "", true, true));
  scalars.store(dtype, place, count, slots[op.getRow()].scalar);
  slots[op.getResult()].object = object;
  setDataAndLength(op.getResult(), place, longer);
}

/// In a loop that counts, and appends to one vector in each turn, how many turns there are from this one on; else 0.
Value *FunctionEmitter::turnsLeft(AppendOp op) {
  mlir::CFGLoop *loop = loops->of(op->getBlock());
  const std::optional<CountedLoop> counted = loop ? countedLoop(*loop) : std::nullopt;
  mlir::Value first = op.getX();
  while (isa_and_present<RelabelOp, AppendOp>(first.getDefiningOp()))
    first = first.getDefiningOp()->getOperand(0);
  auto argument = dyn_cast<mlir::BlockArgument>(first);
  if (!counted || !argument || argument.getOwner() != loop->getHeader())
    return b.getInt64(0);
  mlir::cf::BranchOp back = counted->back;
  mlir::Value next = back.getDestOperands()[argument.getArgNumber()];
  while (isa_and_present<RelabelOp, AppendOp>(next.getDefiningOp()) && next.getDefiningOp() != op)
    next = next.getDefiningOp()->getOperand(0);
  if (next.getDefiningOp() != op || !dominance.dominates(op->getBlock(), back->getBlock()))
    return b.getInt64(0);
  Value *at = slots[counted->counter].scalar.re, *end = slots[counted->bound].scalar.re;
  return counted->isDown ? b.CreateSub(at, end) : b.CreateSub(end, at);
}

/// A call, which makes room for more numbers that follow.
Value *FunctionEmitter::appended(AppendOp op, Value *object, int64_t more) {
  setSite(op);
  mlir::Value row = op.getRow();
  Value *none = ConstantPointerNull::get(b.getPtrTy()), *tensor = isObject(row) ? slots[row].object : none;
  Value *element = isObject(row) ? none : stackArray(b.getInt64Ty(), 2);
  if (!isObject(row))
    scalars.store(tensorTypeOf(row).getDtype(), element, b.getInt64(0), slots[row].scalar);
  constexpr int64_t mostTurns = 4096; // for which there is room at once
  Value *turns = turnsLeft(op), *all = turns;
  if (more && match(turns, PatternMatch::m_Zero()))
    all = b.getInt64(more + 1);
  else if (more)
    all = b.CreateMul(b.CreateBinaryIntrinsic(Intrinsic::umin, turns, b.getInt64(mostTurns)), b.getInt64(more + 1));
  return scalars.call("toy_rt_append", b.getPtrTy(), {object, tensor, element, all});
}

} // namespace toy
