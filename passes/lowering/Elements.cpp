// SPDX-License-Identifier: Apache-2.0
/// \file
/// Single elements: their place in memory, checks of indices, values that are changed in place. What a loop needs of a
/// tensor's header is read where the tensor is made: stores of elements could change a header for all that LLVM knows.
#include "passes/lowering/Attributes.h"
#include "passes/lowering/FunctionEmitter.h"

#include "runtime/Value.h"

using namespace llvm;

namespace toy {

/// Whether elements of a value are read or written one by one, or row by row.
static bool isOpened(mlir::Value v) {
  return any_of(v.getUsers(), [&](mlir::Operation *user) {
    return (isa<ElementOp, ElementSetOp>(user) && user->getOperand(0) == v) || user->hasAttr("toy.inLoop");
  });
}

/// Whether a size of a value is asked for: where stores lie between, a loop would read it anew in each turn.
static bool isMeasured(mlir::Value v, int64_t axis) {
  return any_of(v.getUsers(), [&](mlir::Operation *user) {
    auto dim = dyn_cast<DimOp>(user);
    return dim && static_cast<int64_t>(dim.getAxis()) == axis && user->getBlock() != v.getParentBlock();
  });
}

/// Whether nothing in this function takes the elements of a value elsewhere.
static bool staysOnHost(mlir::Value v) {
  return all_of(v.getUsers(), [](mlir::Operation *user) {
    return isa<ElementOp, ElementSetOp, DimOp>(user) || user->hasTrait<mlir::OpTrait::IsTerminator>();
  });
}

/// Whether an operation runs more often than the value was made.
bool FunctionEmitter::isInLoopOver(mlir::Operation *op, mlir::Value v) {
  return loops && loops->of(op->getBlock()) != loops->of(v.getParentBlock());
}

/// A row in registers of which elements are read is in memory of the stack, too.
void FunctionEmitter::openLanes(mlir::Value v) {
  if (none_of(v.getUsers(), [](mlir::Operation *user) { return isa<ElementOp>(user); }))
    return;
  const DType dtype = tensorTypeOf(v).getDtype();
  Slot &slot = slots[v];
  slot.data = stackArray(scalars.memoryType(dtype), rowLanesOf.lookup(v) * (slot.scalar.im ? 2 : 1));
  storeLanes(b, scalars, dtype, slot.scalar, slot.data, nullptr);
}

void FunctionEmitter::openElements(mlir::Value v) {
  if (rowLanesOf.contains(v))
    return openLanes(v);
  if (isa<ListType>(v.getType()))
    return openList(v);
  if (!isObject(v) || !isa<TensorType>(v.getType()))
    return;
  if (carried.contains(v)) {
    auto [data, length] = dataAndLength(v);
    if (Value *&room = rooms[v]; !room)
      room = roomOf(v, slots[v].object);
    return setDataAndLength(v, data, length);
  }
  const bool opened = isOpened(v);
  for (int64_t axis = 0; axis < tensorTypeOf(v).getRank(); ++axis)
    if ((opened && axis > 0) || isMeasured(v, axis))
      if (Value *size = sizeOf(v, axis); isa<LoadInst>(size))
        ownSizes[{v, axis}] = size;
  if (!opened)
    return;
  bool isWritten = any_of(v.getUsers(), [](mlir::Operation *user) { return isa<ElementSetOp>(user); });
  if (tables.valuesMoveAway) {
    auto readsMany = [&](mlir::Operation *user) { return isa<ElementOp>(user) && isInLoopOver(user, v); };
    if (!staysOnHost(v) || !(isWritten || any_of(v.getUsers(), readsMany)))
      return;
  }
  slots[v].data = dataOf(v, isWritten);
}

/// Where elements are. What is written on the host is no longer on a device.
Value *FunctionEmitter::dataOf(mlir::Value v, bool isWritten) {
  if (Value *known = slots[v].data)
    return known;
  if (tables.valuesMoveAway)
    scalars.call(isWritten ? "toy_rt_only_on_host" : "toy_rt_on_host", b.getVoidTy(), {slots[v].object});
  Value *at = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), slots[v].object, offsetof(rt::Tensor, data));
  return readHeader(b.getPtrTy(), at);
}

Value *FunctionEmitter::linearIndex(mlir::Value tensor, mlir::ValueRange indices) {
  Value *at = slots[indices.front()].scalar.re;
  for (auto [axis, index] : drop_begin(enumerate(indices)))
    at = b.CreateNUWAdd(b.CreateMul(at, sizeOf(tensor, axis), "", true, true), slots[index].scalar.re);
  return at;
}

void FunctionEmitter::access(mlir::Value tensor, function_ref<void()> body) {
  BasicBlock *block = b.GetInsertBlock();
  Instruction *before = block->empty() ? nullptr : &block->back();
  body();
  apart.mark(*block, before, tensor);
}

void FunctionEmitter::emit(RelabelOp op) {
  Slot same = slots[op.getX()]; // the map may move when it grows
  slots[op.getResult()] = same;
  if (carried.contains(op.getX())) {
    ownSizes[{op.getResult(), 0}] = dataAndLength(op.getX()).second;
    rooms[op.getResult()] = rooms.lookup(op.getX());
  }
  if (!isObject(op.getResult()))
    return;
  if (diesAt(op.getX(), op))
    moved.insert(op.getX().getAsOpaquePointer());
  else if (isReadWhileHeld(op))
    borrowed.insert(op.getResult().getAsOpaquePointer());
  else
    retain(op.getResult());
}

/// Whether what has another name is only read, or lent, by that name, in a block behind which it is held by the old
/// one.
bool FunctionEmitter::isReadWhileHeld(RelabelOp op) {
  mlir::Block *block = op->getBlock();
  return (isBorrowed(op.getX()) || liveness.getLiveness(block)->isLiveOut(op.getX())) &&
         llvm::all_of(op->getUsers(), [&](mlir::Operation *user) { return user->getBlock() == block; }) &&
         isOnlyRead(op.getResult(), op->getParentOfType<mlir::ModuleOp>());
}

/// One element of what may be on a device is fetched alone, several with all others.
void FunctionEmitter::emit(ElementOp op) {
  mlir::Value x = op.getX();
  DType dtype = tensorTypeOf(x).getDtype();
  Value *at = linearIndex(x, op.getIndices()), *from;
  if (tables.valuesMoveAway && !slots[x].data && !isInLoopOver(op, x)) {
    from = stackArray(b.getDoubleTy(), 2);
    scalars.call("toy_rt_read_element", b.getVoidTy(), {slots[x].object, at, from});
    slots[op.getResult()].scalar = scalars.load(dtype, from, b.getInt64(0));
    return;
  }
  from = dataOf(x, false);
  access(x, [&] { slots[op.getResult()].scalar = scalars.load(dtype, from, at); });
}

void FunctionEmitter::emit(ElementSetOp op) {
  Value *data = dataOf(op.getX(), true), *at = linearIndex(op.getX(), op.getIndices());
  access(op.getX(), [&] { scalars.store(tensorTypeOf(op.getX()).getDtype(), data, at, slots[op.getValue()].scalar); });
}

/// A constant of which only single elements are read, and that is small, as data of the code: what is read at a known
/// index is a number then.
bool FunctionEmitter::emitTable(ConstantOp op) {
  constexpr int64_t mostElements = 1024;
  auto value = cast<mlir::DenseElementsAttr>(op.getValue());
  if (value.getNumElements() > mostElements ||
      !all_of(op.getResult().getUsers(), [](mlir::Operation *user) { return isa<ElementOp, DimOp>(user); }))
    return false;
  const DType dtype = tensorTypeOf(op.getResult()).getDtype();
  Type *type = scalars.memoryType(dtype);
  SmallVector<Constant *> parts;
  for (int64_t i = 0; i < value.getNumElements(); ++i) {
    Element element = scalars.constant(value, dtype, i);
    for (Value *part : {element.re, element.im})
      if (part)
        parts.push_back(dtype == DType::Bool ? ConstantInt::get(type, cast<ConstantInt>(part)->getZExtValue())
                                             : cast<Constant>(part));
  }
  auto *array = ConstantArray::get(ArrayType::get(type, parts.size()), parts);
  auto *data = new GlobalVariable(module, array->getType(), /*isConstant=*/true, GlobalValue::PrivateLinkage, array);
  data->setAlignment(Align(64));
  data->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  slots[op.getResult()].data = data;
  borrowed.insert(op.getResult().getAsOpaquePointer());
  return true;
}

void FunctionEmitter::emit(FromElementsOp op) {
  DType dtype = op.getType().getDtype();
  SmallVector<Value *> sizes = map_to_vector(op.getSizes(), [&](int64_t n) -> Value * { return b.getInt64(n); });
  const FrameTensor *frame = frameOf(op.getResult());
  auto [object, data] = makeTensor(module, b, dtype, sizes, frame);
  slots[op.getResult()].object = object;
  slots[op.getResult()].data = frame ? data : nullptr;
  for (auto [i, element] : enumerate(op.getElements()))
    scalars.store(dtype, data, b.getInt64(i), slots[element].scalar);
}

void FunctionEmitter::emit(UniqueOp op) {
  Value *object = slots[op.getX()].object;
  auto copied = [&](StringRef function) { return scalars.call(function, b.getPtrTy(), {object}); };
  if (!diesAt(op.getX(), op)) {
    slots[op.getResult()].object = copied("toy_rt_copy");
    return;
  }
  moved.insert(op.getX().getAsOpaquePointer());
  if (tables.valuesMoveAway) {
    slots[op.getResult()].object = copied("toy_rt_unique");
    return;
  }
  auto isOne = [&](Value *count) { return b.CreateICmpEQ(b.CreateLoad(b.getInt64Ty(), count), b.getInt64(1)); };
  Value *storage =
      b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), object, offsetof(rt::Tensor, storage)));
  static_assert(offsetof(rt::Tensor, refs) == 0 && offsetof(rt::Storage, refs) == 0);
  Value *alone = b.CreateAnd(isOne(object), isOne(storage));
  Value *copy;
  BasicBlock *before = b.GetInsertBlock(), *shared;
  scalars.rarely(b.CreateNot(alone), [&] {
    copy = copied("toy_rt_unique");
    shared = b.GetInsertBlock();
  });
  PHINode *unique = b.CreatePHI(b.getPtrTy(), 2);
  unique->addIncoming(object, before);
  unique->addIncoming(copy, shared);
  slots[op.getResult()].object = unique;
}

/// Whether a value goes up or down by the same number from turn to turn of a loop: a branch on its sign would keep the
/// loop from becoming vector code.
static bool isRegular(mlir::Value v, int depth = 0) {
  auto argument = dyn_cast<mlir::BlockArgument>(v);
  if (!argument) {
    mlir::Operation *def = v.getDefiningOp();
    return isa<ConstantOp, DimOp>(def) ||
           (depth < 4 && isa<AddOp, SubOp, MulOp>(def) &&
            all_of(def->getOperands(), [&](mlir::Value operand) { return isRegular(operand, depth + 1); }));
  }
  return any_of(edgesInto(argument.getOwner()), [&](const BlockEdge &edge) {
    auto sum = edge.operandOf(argument).getDefiningOp<AddOp>();
    return sum && sum.getLhs() == v && sum.getRhs().getDefiningOp<ConstantOp>();
  });
}

/// An index counted from the front. One outside ends in a cold call; one from the end is the same to a loop that
/// counts, and elsewhere so rare that it is seen to in the cold.
void FunctionEmitter::emit(CheckIndexOp op) {
  Value *index = slots[op.getIndex()].scalar.re, *size = slots[op.getSize()].scalar.re, *at = index;
  auto *known = dyn_cast<ConstantInt>(index);
  bool mayBeNegative = !op.getNonnegative() && !(known && !known->isNegative()),
       isRare = mayBeNegative && !isRegular(op.getIndex());
  if (mayBeNegative && !isRare)
    at = b.CreateSelect(b.CreateICmpSLT(index, b.getInt64(0)), b.CreateAdd(index, size), index);
  BasicBlock *before = b.GetInsertBlock(), *behind = nullptr;
  Value *wrapped = nullptr;
  int64_t number = 0;
  scalars.rarely(b.CreateICmpUGE(at, size), [&] {
    auto fail = [&] { // where nothing comes back to a loop that would have the place ready
      setSite(op);
      number = tables.sites.size() - 1;
      scalars.fail("toy_rt_index_error", {index, size, b.getInt64(op.getAxis())});
    };
    if (!isRare)
      return fail();
    wrapped = b.CreateAdd(index, size);
    scalars.rarely(b.CreateICmpUGE(wrapped, size), fail);
    behind = b.GetInsertBlock();
  });
  auto *place = ConstantAsMetadata::get(b.getInt64(number));
  before->getTerminator()->setMetadata(checkNumber, MDNode::get(b.getContext(), place));
  if (isRare) {
    PHINode *phi = b.CreatePHI(b.getInt64Ty(), 2);
    phi->addIncoming(index, before);
    phi->addIncoming(wrapped, behind);
    at = phi;
  }
  slots[op.getResult()].scalar = {at};
}

} // namespace toy
