// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements from indices, loops over the result, and the call of a kernel.
#include "passes/lowering/KernelEmitter.h"

#include "runtime/Value.h"

using namespace llvm;

namespace toy {

static constexpr int64_t parallelElements = 1 << 15;

KernelEmitter::KernelEmitter(Module &module, FusedOp op, IRBuilder<> &caller, ArrayRef<Slot> inputs, const std::string &name)
    : module(module), op(op), caller(caller), inputs(inputs), name(name), root(op.getBody().front().getTerminator()->getOperand(0)),
      rootType(tensorTypeOf(root)), k(module.getContext()), scalars(module, k) {}

// --- sizes, in the caller

Value *KernelEmitter::callerInteger(mlir::Value scalar) {
  if (auto argument = dyn_cast<mlir::BlockArgument>(scalar))
    return inputs[argument.getArgNumber()].scalar.re;
  return caller.getInt64(*cast<mlir::DenseElementsAttr>(scalar.getDefiningOp<ConstantOp>().getValue()).value_begin<int64_t>());
}

Value *KernelEmitter::callerSize(mlir::Value value, int64_t axis) {
  TensorType type = tensorTypeOf(value);
  if (Dim dim = type.getDim(axis); dim.isNumber())
    return caller.getInt64(dim.value());
  auto key = std::pair(value.getAsOpaquePointer(), axis);
  if (auto it = callerSizes.find(key); it != callerSizes.end())
    return it->second;
  auto compute = [&]() -> Value * {
    if (auto argument = dyn_cast<mlir::BlockArgument>(value)) {
      Value *at = caller.CreateConstInBoundsGEP1_64(caller.getInt8Ty(), inputs[argument.getArgNumber()].object, offsetof(rt::Tensor, sizes) + 8 * axis);
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
  if (isa<Constant>(callerValue))
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

KernelEmitter::Indices KernelEmitter::aligned(mlir::Value operand, int64_t resultRank, const Indices &indices) {
  TensorType type = tensorTypeOf(operand);
  if (flat || type.isScalar())
    return type.isScalar() ? Indices() : indices;
  Indices own(indices.end() - type.getRank(), indices.end());
  for (auto [axis, index] : enumerate(own))
    if (type.getDim(axis).is(1))
      index = i64(0);
  return own;
}

Element KernelEmitter::loadInput(mlir::Value value, const Indices &indices) {
  const Slot &slot = inputs[cast<mlir::BlockArgument>(value).getArgNumber()];
  TensorType type = tensorTypeOf(value);
  if (type.isScalar())
    return {capture(slot.scalar.re), slot.scalar.im ? capture(slot.scalar.im) : nullptr};
  Value *&callerData = dataPointers[slot.object];
  if (!callerData)
    callerData = caller.CreateLoad(caller.getPtrTy(), caller.CreateConstInBoundsGEP1_64(caller.getInt8Ty(), slot.object, offsetof(rt::Tensor, data)));
  Value *data = capture(callerData);
  Value *offset = indices.empty() ? i64(0) : indices.back();
  if (flat && indices.size() == 2) // a pair: its number and its part
    offset = k.CreateAdd(k.CreateShl(indices[0], 1, "", true, true), indices[1], "", true, true);
  if (!flat) {
    Value *stride = i64(1);
    offset = i64(0);
    for (int64_t axis = type.getRank(); axis-- > 0;) {
      if (!type.getDim(axis).is(1)) {
        Value *term = stride == i64(1) ? indices[axis] : k.CreateMul(indices[axis], stride, "", true, true);
        offset = offset == i64(0) ? term : k.CreateAdd(offset, term, "", true, true);
      }
      if (axis > 0) {
        Value *extent = size(value, axis);
        stride = stride == i64(1) ? extent : k.CreateMul(stride, extent, "", true, true);
      }
    }
  }
  return scalars.load(type.getDtype(), data, offset);
}

Element KernelEmitter::elementAt(mlir::Value value, const Indices &indices) {
  auto key = std::pair(value.getAsOpaquePointer(), std::vector<Value *>(indices.begin(), indices.end()));
  if (auto it = memo.find(key); it != memo.end())
    return it->second;
  Element element = computeElement(value, indices);
  memo[key] = element;
  return element;
}

Element KernelEmitter::choose(Value *condition, DType dtype, function_ref<Element()> then, function_ref<Element()> otherwise) {
  auto saved = memo;
  BasicBlock *thenBlock = BasicBlock::Create(k.getContext(), "", kernel), *elseBlock = BasicBlock::Create(k.getContext(), "", kernel);
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
  auto phi = [&](Value *x, Value *y) -> Value * {
    if (!x)
      return nullptr;
    PHINode *node = k.CreatePHI(x->getType(), 2);
    node->addIncoming(x, thenEnd);
    node->addIncoming(y, elseEnd);
    return node;
  };
  return {phi(a.re, b.re), phi(a.im, b.im)};
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
    return choose(k.CreateICmpSLT(indices[axis], end), tensorTypeOf(op.getResult()).getDtype(), [&] { return elementAt(op.getParts()[part], own); },
                  [&] { return self(self, part + 1, end); });
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
  return choose(inside, tensorTypeOf(op.getResult()).getDtype(), [&] { return elementAt(op.getX(), own); }, [&] { return elementAt(op.getValue(), {}); });
}

Element KernelEmitter::computeElement(mlir::Value value, const Indices &indices) {
  if (isa<mlir::BlockArgument>(value))
    return loadInput(value, indices);
  mlir::Operation *def = value.getDefiningOp();
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
    return elementAt(o.getX(), aligned(o.getX(), tensorTypeOf(value).getRank(), indices));
  if (auto o = dyn_cast<SliceOp>(def)) {
    Indices own = indices;
    for (auto [axis, index] : enumerate(own)) {
      Value *step = o.getSteps()[axis] == 1 ? index : k.CreateMul(index, i64(o.getSteps()[axis]), "", /*HasNUW=*/false, true); // steps may be negative
      index = k.CreateAdd(integer(o.getStarts()[axis]), step, "", /*HasNUW=*/false, true);
    }
    return elementAt(o.getX(), own);
  }
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
    return scalars.constant(cast<mlir::DenseElementsAttr>(o.getValue()), tensorTypeOf(value).getDtype());
  llvm_unreachable("an operation that cannot be in a group");
}

// --- loops

void KernelEmitter::loop(Value *begin, Value *end, function_ref<void(Value *)> body) {
  auto saved = memo;
  BasicBlock *entry = k.GetInsertBlock(), *header = BasicBlock::Create(k.getContext(), "loop", kernel);
  BasicBlock *exit = BasicBlock::Create(k.getContext(), "done", kernel);
  k.CreateCondBr(k.CreateICmpSLT(begin, end), header, exit);
  k.SetInsertPoint(header);
  PHINode *i = k.CreatePHI(k.getInt64Ty(), 2, "i");
  i->addIncoming(begin, entry);
  body(i);
  Value *next = k.CreateAdd(i, i64(1), "", true, true);
  i->addIncoming(next, k.GetInsertBlock());
  k.CreateCondBr(k.CreateICmpSLT(next, end), header, exit);
  k.SetInsertPoint(exit);
  memo = saved;
}

KernelEmitter::Indices KernelEmitter::decode(Value *linear, ArrayRef<Value *> sizes) {
  Indices out(sizes.size());
  for (size_t i = sizes.size(); i-- > 1;) {
    out[i] = k.CreateURem(linear, sizes[i]);
    linear = k.CreateUDiv(linear, sizes[i]);
  }
  if (!sizes.empty())
    out[0] = linear;
  return out;
}

void KernelEmitter::begin() {
  Type *i64Type = k.getInt64Ty(), *pointer = k.getPtrTy();
  auto *type = FunctionType::get(k.getVoidTy(), {pointer, i64Type, i64Type}, false);
  kernel = Function::Create(type, Function::InternalLinkage, name + ".loop" + (parts++ ? std::to_string(parts) : ""), module);
  kernel->addFnAttr(Attribute::getWithUWTableKind(k.getContext(), UWTableKind::Default));
  k.SetInsertPoint(BasicBlock::Create(k.getContext(), "entry", kernel));
  BasicBlock *body = BasicBlock::Create(k.getContext(), "body", kernel);
  k.CreateBr(body);
  k.SetInsertPoint(body);
  rangeBegin = kernel->getArg(1);
  rangeEnd = kernel->getArg(2);
  captured.clear();
  captures.clear();
  memo.clear();
}

void KernelEmitter::finish(Value *callerRange, Value *callerGrain, bool parallel) {
  k.CreateRetVoid();
  // The loop's real work is in a function of its own whose pointer parameters do not alias: LLVM then vectorizes without run-time checks.
  SmallVector<Type *> types;
  for (Value *v : captured)
    types.push_back(v->getType());
  types.append({k.getInt64Ty(), k.getInt64Ty()});
  auto *type = FunctionType::get(k.getVoidTy(), types, false);
  Function *work = Function::Create(type, Function::InternalLinkage, kernel->getName() + ".work", module);
  work->copyAttributesFrom(kernel);
  work->addFnAttr(Attribute::NoInline);
  work->splice(work->end(), kernel);
  for (auto [i, v] : enumerate(captured)) {
    Value *loaded = captures[v];
    loaded->replaceAllUsesWith(work->getArg(i));
    auto *load = cast<LoadInst>(loaded);
    auto *slot = dyn_cast<Instruction>(load->getPointerOperand());
    load->eraseFromParent();
    if (slot && slot->use_empty())
      slot->eraseFromParent();
    if (v->getType()->isPointerTy())
      work->addParamAttr(i, Attribute::NoAlias);
  }
  kernel->getArg(1)->replaceAllUsesWith(work->getArg(captured.size()));
  kernel->getArg(2)->replaceAllUsesWith(work->getArg(captured.size() + 1));
  if (!parallel) {
    SmallVector<Value *> arguments(captured);
    arguments.append({caller.getInt64(0), callerRange});
    caller.CreateCall(work, arguments);
    kernel->eraseFromParent();
    return;
  }
  IRBuilder<> t(BasicBlock::Create(k.getContext(), "entry", kernel));
  SmallVector<Value *> arguments;
  for (auto [i, v] : enumerate(captured))
    arguments.push_back(t.CreateLoad(v->getType(), t.CreateConstInBoundsGEP1_64(t.getInt64Ty(), kernel->getArg(0), i)));
  arguments.append({kernel->getArg(1), kernel->getArg(2)});
  t.CreateCall(work, arguments);
  t.CreateRetVoid();
  Function *function = caller.GetInsertBlock()->getParent();
  IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
  Value *context = entry.CreateAlloca(entry.getInt64Ty(), entry.getInt32(std::max<size_t>(captured.size(), 1)));
  for (auto [i, v] : enumerate(captured))
    caller.CreateStore(v, caller.CreateConstInBoundsGEP1_64(caller.getInt64Ty(), context, i));
  ScalarEmitter(module, caller).call("toy_rt_parallel_for", caller.getVoidTy(), {kernel, context, callerRange, callerGrain});
}

/// Whether the group only combines values of one shape, so that one counter serves all.
bool KernelEmitter::isAllElementwise(mlir::Value of) {
  auto sizes = tensorTypeOf(of).getSizes();
  auto fits = [&](mlir::Value v) { return tensorTypeOf(v).isScalar() || tensorTypeOf(v).getSizes() == sizes; };
  SmallVector<mlir::Value> work = {of};
  SmallPtrSet<void *, 16> seen;
  while (!work.empty()) {
    mlir::Value v = work.pop_back_val();
    if (!seen.insert(v.getAsOpaquePointer()).second)
      continue;
    if (!fits(v))
      return false;
    mlir::Operation *def = v.getDefiningOp();
    if (!def || tensorTypeOf(v).isScalar())
      continue;
    if (isa<FullOp>(def))
      continue;
    if (auto part = dyn_cast<PartOp>(def)) { // the same counter, doubled
      if (part.getX().getDefiningOp())
        return false;
      continue;
    }
    if (!def->hasTrait<OpTrait::Elementwise>())
      return false;
    append_range(work, def->getOperands());
  }
  return true;
}

Value *KernelEmitter::product(ArrayRef<Value *> values) {
  Value *out = caller.getInt64(1);
  for (Value *v : values)
    out = caller.CreateMul(out, v);
  return out;
}

/// Joins along the last axis that are read at the index of the result itself.
void KernelEmitter::collectConcats(mlir::Value value, SmallVectorImpl<ConcatOp> &concats) {
  mlir::Operation *def = value.getDefiningOp();
  auto sameRow = [&](mlir::Value v) {
    TensorType type = tensorTypeOf(v);
    return type.getRank() > 0 && type.getDim(type.getRank() - 1) == rootType.getDim(rootType.getRank() - 1);
  };
  if (auto concat = dyn_cast_if_present<ConcatOp>(def); concat && concat.getAxis() == static_cast<uint64_t>(tensorTypeOf(value).getRank() - 1)) {
    concats.push_back(concat);
    return;
  }
  if (def && def->hasTrait<OpTrait::Elementwise>())
    for (mlir::Value operand : def->getOperands())
      if (sameRow(operand))
        collectConcats(operand, concats);
}

void KernelEmitter::loopOverRow(Value *size, function_ref<void(Value *)> body) {
  SmallVector<ConcatOp> concats;
  collectConcats(root, concats);
  auto lastSizes = [](ConcatOp op) { return map_to_vector(op.getParts(), [](mlir::Value part) { return tensorTypeOf(part).getDims().back(); }); };
  if (concats.empty() || any_of(concats, [&](ConcatOp op) { return lastSizes(op) != lastSizes(concats[0]); }))
    return loop(i64(0), size, body);
  splitConcats.insert(concats.begin(), concats.end());
  splitBegin = i64(0);
  for (auto [part, value] : enumerate(concats[0].getParts())) {
    Value *end = k.CreateAdd(splitBegin, this->size(value, tensorTypeOf(value).getRank() - 1), "", true, true);
    splitPart = part;
    loop(splitBegin, end, [&](Value *j) {
      splitIndex = j;
      body(j);
    });
    splitBegin = end;
  }
  splitConcats.clear();
}

/// One loop over rows (all axes but the last, or everything when flat), one over the last axis.
void KernelEmitter::emitMap() {
  auto pack = root.getDefiningOp<PackOp>();
  // Pairs: one step computes both parts and stores them side by side.
  int64_t axes = rootType.getRank() - (pack ? 1 : 0);
  flat = pack ? isAllElementwise(pack.getRe()) && isAllElementwise(pack.getIm()) : isAllElementwise(root);
  SmallVector<Value *> sizes;
  for (int64_t axis = 0; axis < axes; ++axis)
    sizes.push_back(callerSize(root, axis));
  auto store = [&](Value *out, Value *at, const Indices &indices) {
    if (!pack)
      return scalars.store(rootType.getDtype(), out, at, elementAt(root, indices));
    Element pair{elementAt(pack.getRe(), indices).re, elementAt(pack.getIm(), indices).re};
    scalars.store(complexOf(rootType.getDtype()), out, at, pair);
  };
  Value *count = product(sizes);
  bool oneLoop = flat || sizes.size() <= 1;
  Value *range = oneLoop ? count : product(ArrayRef(sizes).drop_back());
  auto known = rootType.getStaticCount();
  begin();
  Value *out = capture(callerOut);
  if (oneLoop)
    loop(rangeBegin, rangeEnd, [&](Value *i) { store(out, i, axes == 0 ? Indices() : Indices{i}); });
  else {
    SmallVector<Value *> inner;
    for (Value *v : sizes)
      inner.push_back(capture(v));
    loop(rangeBegin, rangeEnd, [&](Value *row) {
      Indices outer = decode(row, ArrayRef(inner).drop_back());
      Value *base = k.CreateMul(row, inner.back(), "", true, true);
      loopOverRow(inner.back(), [&](Value *j) {
        Indices indices = outer;
        indices.push_back(j);
        store(out, k.CreateAdd(base, j, "", true, true), indices);
      });
    });
  }
  Value *grain = caller.getInt64(parallelElements);
  if (!oneLoop)
    grain = caller.CreateUDiv(caller.getInt64(parallelElements), caller.CreateBinaryIntrinsic(Intrinsic::smax, sizes.back(), caller.getInt64(1)));
  finish(range, caller.CreateBinaryIntrinsic(Intrinsic::smax, grain, caller.getInt64(1)), !known || *known > parallelElements);
}

Slot KernelEmitter::emit() {
  Slot result;
  mlir::Operation *def = root.getDefiningOp();
  Function *function = caller.GetInsertBlock()->getParent();
  IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
  ScalarEmitter calls(module, caller);
  if (rootType.isScalar())
    callerOut = entry.CreateAlloca(entry.getDoubleTy(), entry.getInt32(2));
  else {
    Value *sizes = entry.CreateAlloca(entry.getInt64Ty(), entry.getInt32(rootType.getRank()));
    for (int64_t axis = 0; axis < rootType.getRank(); ++axis)
      caller.CreateStore(callerSize(root, axis), caller.CreateConstInBoundsGEP1_64(caller.getInt64Ty(), sizes, axis));
    result.object = calls.call("toy_rt_alloc", caller.getPtrTy(), {caller.getInt64(static_cast<int>(rootType.getDtype())), caller.getInt64(rootType.getRank()), sizes});
    callerOut = caller.CreateLoad(caller.getPtrTy(), caller.CreateConstInBoundsGEP1_64(caller.getInt8Ty(), result.object, offsetof(rt::Tensor, data)));
  }
  Value *counter = module.getOrInsertGlobal("toy_rt_loops", caller.getInt64Ty());
  caller.CreateStore(caller.CreateAdd(caller.CreateLoad(caller.getInt64Ty(), counter), caller.getInt64(1)), counter);
  if (def && def->hasTrait<OpTrait::Reduction>())
    emitReduction(def);
  else
    emitMap();
  if (rootType.isScalar())
    result.scalar = calls.load(rootType.getDtype(), callerOut, caller.getInt64(0));
  return result;
}

} // namespace toy
