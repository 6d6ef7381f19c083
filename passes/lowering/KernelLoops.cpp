// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loops over the result of a group, and the call of the kernel that holds them.
#include "passes/lowering/Attributes.h"
#include "passes/lowering/KernelEmitter.h"

#include "runtime/Parallel.h"
#include "runtime/RowLoops.h"
#include "runtime/Value.h"

#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace toy {

static constexpr int64_t parallelElements = 1 << 15;

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
  latches.push_back(k.CreateCondBr(k.CreateICmpSLT(next, end), header, exit));
  k.SetInsertPoint(exit);
  memo = saved;
}

KernelEmitter::Indices KernelEmitter::decode(Value *linear, ArrayRef<Value *> sizes) {
  Indices out(sizes.size());
  for (size_t i = sizes.size(); i-- > 1;) {
    Value *rest = quotient(linear, sizes[i]);
    out[i] = device ? k.CreateSub(linear, k.CreateMul(rest, sizes[i], "", true, true), "", true, true)
                    : k.CreateURem(linear, sizes[i]);
    linear = rest;
  }
  if (!sizes.empty())
    out[0] = linear;
  return out;
}

void KernelEmitter::begin() {
  Type *i64Type = k.getInt64Ty(), *pointer = k.getPtrTy();
  auto *type = FunctionType::get(k.getVoidTy(), {pointer, i64Type, i64Type}, false);
  kernel = Function::Create(type, Function::InternalLinkage, name + ".loop" + (parts++ ? std::to_string(parts) : ""),
                            module);
  kernel->addFnAttr(Attribute::getWithUWTableKind(k.getContext(), UWTableKind::Default));
  kernel->addFnAttr(sharedKernel);
  k.SetInsertPoint(BasicBlock::Create(k.getContext(), "entry", kernel));
  BasicBlock *body = BasicBlock::Create(k.getContext(), "body", kernel);
  k.CreateBr(body);
  k.SetInsertPoint(body);
  if (places)
    k.SetCurrentDebugLocation(places->of(root.getLoc()));
  leastBlock = threadsOfBlock;
  rangeBegin = kernel->getArg(1);
  rangeEnd = kernel->getArg(2);
  captured.clear();
  captures.clear();
  memo.clear();
  latches.clear();
  divisorWasZero = nullptr;
  if (!device)
    scalars.failLater = [this](Value *condition) {
      if (!divisorWasZero) {
        IRBuilder<> entry(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
        divisorWasZero = entry.CreateAlloca(entry.getInt8Ty());
        entry.CreateStore(entry.getInt8(0), divisorWasZero);
      }
      k.CreateStore(k.CreateOr(k.CreateLoad(k.getInt8Ty(), divisorWasZero), k.CreateZExt(condition, k.getInt8Ty())),
                    divisorWasZero);
    };
}

/// Inputs of the result's type that are read only at the index that is written next: their memory may be the result's.
SmallVector<unsigned> KernelEmitter::alignedInputs(FusedOp op) {
  mlir::Value root = op.getBody().front().getTerminator()->getOperand(0);
  TensorType type = tensorTypeOf(root);
  llvm::SetVector<mlir::Value> aligned, others;
  auto visit = [&](auto &self, mlir::Value v, bool isAligned) -> void {
    if (!(isAligned ? aligned : others).insert(v))
      return;
    mlir::Operation *def = v.getDefiningOp();
    if (!def)
      return;
    bool elementwise = def->hasTrait<OpTrait::Elementwise>();
    for (mlir::Value operand : def->getOperands()) {
      bool samePair = isa<PackOp>(def) && v == root; // its parts, both before the pair is stored
      bool partOfPair = isa<PartOp>(def) && operand.getType() == root.getType(); // and of such a pair
      self(self, operand,
           isAligned && (samePair || partOfPair ||
                         (elementwise && tensorTypeOf(operand).getSizes() == tensorTypeOf(v).getSizes())));
    }
  };
  visit(visit, root, true);
  SmallVector<unsigned> found;
  if (mlir::Operation *def = root.getDefiningOp();
      type.isScalar() || !def || !(def->hasTrait<OpTrait::Elementwise>() || isa<PackOp>(def)))
    return found;
  for (mlir::BlockArgument argument : op.getBody().getArguments())
    if (argument.getType() == root.getType() && aligned.contains(argument) && !others.contains(argument))
      found.push_back(argument.getArgNumber());
  return found;
}

/// The elements that `range` steps of `work` each read or write, where both are known.
static std::optional<double> knownElements(Value *range, Value *work) {
  auto *steps = dyn_cast<ConstantInt>(range), *each = dyn_cast<ConstantInt>(work);
  if (!steps || !each)
    return std::nullopt;
  return static_cast<double>(steps->getSExtValue()) * static_cast<double>(each->getSExtValue());
}

/// What an operation takes in quick code, beside an addition of reals.
static int64_t quickWork(mlir::Operation *op) {
  auto isOfComplex = [](mlir::Value v) {
    auto type = dyn_cast<TensorType>(v.getType());
    return type && isComplex(type.getDtype());
  };
  if (!any_of(op->getOperands(), isOfComplex))
    return 1;
  return isa<DivOp>(op) ? 32 : isa<MulOp>(op) ? 4 : 2;
}
/// The same for a call of a function of elements. Only functions of registers have a quick form that is not much
/// slower.
static int64_t quickWork(Instruction &i) {
  auto *call = dyn_cast<CallInst>(&i);
  Function *callee = call ? call->getCalledFunction() : nullptr;
  return !callee || callee->isIntrinsic() ? 0 : hasVectorForm(i) && !call->getType()->isStructTy() ? 8 : 128;
}

/// Tells how many elements the operations of the group compute in a call, for jit/Promotion.h: nothing where that is
/// known and much.
void KernelEmitter::tellElements(Value *callerRange, Value *callerWork) {
  constexpr double muchWork = 1 << 19; // takes about as long as code for it
  int64_t operations = 0;
  op.walk([&](mlir::Operation *nested) { operations += quickWork(nested); });
  for (Instruction &i : instructions(kernel))
    operations += quickWork(i);
  if (auto known = knownElements(callerRange, callerWork); known && *known * operations > muchWork)
    return;
  Value *steps = capture(callerWork);
  IRBuilder<> b(kernel->getEntryBlock().getTerminator());
  Value *each = b.CreateMul(b.CreateBinaryIntrinsic(Intrinsic::smax, steps, b.getInt64(1)), b.getInt64(operations));
  b.CreateCall(module.getOrInsertFunction(kernelElements, b.getVoidTy(), b.getInt64Ty()),
               b.CreateMul(b.CreateSub(rangeEnd, rangeBegin), each));
}

/// Ends the kernel. The loop's real work is in a function of its own whose pointer parameters do not alias: LLVM then
/// vectorizes without run-time checks.
Function *KernelEmitter::finishWork() {
  if (divisorWasZero)
    scalars.rarely(k.CreateICmpNE(k.CreateLoad(k.getInt8Ty(), divisorWasZero), k.getInt8(0)),
                   [&] { scalars.fail("toy_rt_division_by_zero", {}); });
  k.CreateRetVoid();
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
    if (v->getType()->isPointerTy() && !(reusable && (v == callerOut || v == dataPointers.lookup(reusable))))
      work->addParamAttr(i, Attribute::NoAlias);
  }
  describeLoops(work);
  kernel->getArg(1)->replaceAllUsesWith(work->getArg(captured.size()));
  kernel->getArg(2)->replaceAllUsesWith(work->getArg(captured.size() + 1));
  return work;
}

void KernelEmitter::finish(Value *callerRange, Value *callerWork, Value *leastGrain, Value *callerStepBytes) {
  leastGrain = leastGrain ? leastGrain : caller.getInt64(1);
  tellElements(callerRange, callerWork);
  Function *work = finishWork();
  auto *range = dyn_cast<ConstantInt>(callerRange);
  auto known = knownElements(callerRange, callerWork);
  constexpr size_t mostWords = 64;
  if (isInRows && isByRows && captured.size() <= mostWords) {
    rowWork = callerWork;
    return callInParallel(work, callerRange, leastGrain, nullptr);
  }
  if (isInRows) // it may read what others make
    ScalarEmitter(module, caller).call("toy_rt_run_row_loops", caller.getVoidTy(), {});
  if (!(range && range->getSExtValue() <= 1) && !(known && *known <= parallelElements)) {
    Value *each = caller.CreateBinaryIntrinsic(Intrinsic::smax, callerWork, caller.getInt64(1));
    Value *grain = caller.CreateBinaryIntrinsic(Intrinsic::smax,
                                                caller.CreateUDiv(caller.getInt64(parallelElements), each), leastGrain);
    // One thread's work is a call as any other: what shares it among threads takes longer than a short loop.
    BasicBlock *many = BasicBlock::Create(k.getContext(), "", caller.GetInsertBlock()->getParent()),
               *few = BasicBlock::Create(k.getContext(), "", many->getParent()),
               *done = BasicBlock::Create(k.getContext(), "", many->getParent());
    caller.CreateCondBr(caller.CreateICmpSLE(callerRange, grain), few, many);
    caller.SetInsertPoint(few);
    callDirectly(work, callerRange);
    caller.CreateBr(done);
    caller.SetInsertPoint(many);
    callInParallel(work, callerRange, grain, callerStepBytes);
    caller.CreateBr(done);
    caller.SetInsertPoint(done);
    return;
  }
  callDirectly(work, callerRange);
  kernel->eraseFromParent();
}

void KernelEmitter::callDirectly(Function *work, Value *callerRange) {
  SmallVector<Value *> arguments(captured);
  arguments.append({caller.getInt64(0), callerRange});
  caller.CreateCall(work, arguments);
}

/// The caller gives what was captured as words in memory; the kernel reads them and calls `work`.
void KernelEmitter::callInParallel(Function *work, Value *callerRange, Value *callerGrain, Value *callerStepBytes,
                                   bool oneByOne) {
  IRBuilder<> t(BasicBlock::Create(k.getContext(), "entry", kernel));
  SmallVector<Value *> arguments;
  auto word = [&](Type *type) {
    return t.CreateLoad(type, t.CreateConstInBoundsGEP1_64(t.getInt64Ty(), kernel->getArg(0), arguments.size()));
  };
  for (Value *v : captured)
    arguments.push_back(word(v->getType()));
  const size_t words = captured.size() + (callerStepBytes ? 2 : 0);
  Function *function = caller.GetInsertBlock()->getParent();
  IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
  Value *context = entry.CreateAlloca(entry.getInt64Ty(), entry.getInt32(std::max<size_t>(words, 1)));
  auto wordAt = [&](size_t i) { return caller.CreateConstInBoundsGEP1_64(caller.getInt64Ty(), context, i); };
  for (auto [i, v] : enumerate(captured))
    caller.CreateStore(v, wordAt(i));
  ScalarEmitter calls(module, caller);
  if (!callerStepBytes) {
    if (oneByOne)
      callOneByOne(work, arguments, t);
    else {
      arguments.append({kernel->getArg(1), kernel->getArg(2)});
      t.CreateCall(work, arguments);
    }
    t.CreateRetVoid();
    if (rowWork)
      return callByRows(context, callerRange, callerGrain, rowWork);
    calls.call("toy_rt_parallel_for", caller.getVoidTy(), {kernel, context, callerRange, callerGrain});
    return;
  }
  Value *inPlace = caller.getInt64(0);
  if (Value *reused = dataPointers.lookup(reusable)) // none in a kernel of no elements, which reads no input
    inPlace = caller.CreateZExt(caller.CreateICmpEQ(callerOut, reused), caller.getInt64Ty());
  calls.call("toy_rt_streamed_for", caller.getVoidTy(),
             {kernel, context, callerRange, callerGrain, wordAt(captured.size()), callerStepBytes, inPlace});
  SmallVector<Value *> own = arguments;
  Value *steps = word(t.getInt64Ty());
  arguments.push_back(steps);
  callByPieces(work, own, t, steps, word(t.getInt64Ty()));
}

/// A description of the loop, as rt::RowLoop.
void KernelEmitter::callByRows(Value *context, Value *callerRange, Value *callerGrain, Value *callerWork) {
  SmallVector<Value *> sizes = resultSizes();
  Value *rows = product(ArrayRef(sizes).drop_back()),
        *bytes = caller.CreateMul(product(sizes), caller.getInt64(sizeOf(rootType.getDtype())));
  Value *each = caller.CreateBinaryIntrinsic(Intrinsic::smax, callerWork, caller.getInt64(1)),
        *least = caller.CreateUDiv(caller.getInt64(parallelElements), each);
  Value *grain = caller.CreateBinaryIntrinsic(Intrinsic::smax, least, callerGrain);
  uint64_t pointers = 0;
  for (auto [i, v] : enumerate(captured))
    pointers |= uint64_t(v->getType()->isPointerTy()) << i;
  Value *fields[] = {kernel,      context, caller.getInt64(captured.size()),    caller.getInt64(pointers),
                     callerRange, rows,    caller.CreateMul(callerRange, each), callerOut,
                     bytes};
  static_assert(sizeof(rt::RowLoop) == sizeof(int64_t) * std::extent_v<decltype(fields)>);
  Function *function = caller.GetInsertBlock()->getParent();
  IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
  Value *loop = entry.CreateAlloca(entry.getInt64Ty(), entry.getInt32(std::size(fields)));
  for (auto [i, field] : enumerate(fields))
    caller.CreateStore(field, caller.CreateConstInBoundsGEP1_64(caller.getInt64Ty(), loop, i));
  ScalarEmitter(module, caller).call("toy_rt_row_loop", caller.getVoidTy(), {loop, grain});
}

/// A call for each step of the range, of which there is one at least.
void KernelEmitter::callOneByOne(Function *work, SmallVector<Value *> arguments, IRBuilder<> &t) {
  BasicBlock *entry = t.GetInsertBlock(), *step = BasicBlock::Create(k.getContext(), "step", kernel),
             *done = BasicBlock::Create(k.getContext(), "done", kernel);
  t.CreateBr(step);
  t.SetInsertPoint(step);
  PHINode *at = t.CreatePHI(t.getInt64Ty(), 2);
  Value *next = t.CreateAdd(at, t.getInt64(1), "", true, true);
  at->addIncoming(kernel->getArg(1), entry);
  at->addIncoming(next, step);
  arguments.append({at, next});
  t.CreateCall(work, arguments);
  t.CreateCondBr(t.CreateICmpSLT(next, kernel->getArg(2)), step, done);
  t.SetInsertPoint(done);
}

/// Large results go past the caches: a piece at a time is computed into a buffer on the stack and copied by
/// non-temporal stores, so that memory is written without being read first. `steps` of the range are a piece, 0 for
/// none; each writes `stepBytes`.
void KernelEmitter::callByPieces(Function *work, ArrayRef<Value *> arguments, IRBuilder<> &t, Value *steps,
                                 Value *stepBytes) {
  size_t outAt = llvm::find(captured, callerOut) - captured.begin();
  Value *first = kernel->getArg(1), *end = kernel->getArg(2);
  AllocaInst *buffer = t.CreateAlloca(ArrayType::get(t.getInt8Ty(), rt::streamPiece));
  buffer->setAlignment(Align(64));
  BasicBlock *entry = t.GetInsertBlock(), *whole = BasicBlock::Create(k.getContext(), "whole", kernel);
  BasicBlock *pieces = BasicBlock::Create(k.getContext(), "pieces", kernel),
             *fence = BasicBlock::Create(k.getContext(), "fence", kernel);
  BasicBlock *done = BasicBlock::Create(k.getContext(), "done", kernel);
  t.CreateCondBr(t.CreateICmpEQ(steps, i64(0)), whole, pieces);
  auto callWork = [&](Value *out, Value *from, Value *to) {
    SmallVector<Value *> all(arguments);
    all[outAt] = out;
    all.append({from, to});
    t.CreateCall(work, all);
  };
  t.SetInsertPoint(whole);
  callWork(arguments[outAt], first, end);
  t.CreateBr(done);
  t.SetInsertPoint(pieces);
  PHINode *at = t.CreatePHI(t.getInt64Ty(), 2);
  at->addIncoming(first, entry);
  at->addIncoming(t.CreateBinaryIntrinsic(Intrinsic::smin, t.CreateAdd(at, steps), end), pieces);
  Value *next = at->getIncomingValue(1), *offset = t.CreateMul(at, stepBytes);
  callWork(t.CreateGEP(t.getInt8Ty(), buffer, t.CreateNeg(offset)), at, next);
  Value *to = t.CreateGEP(t.getInt8Ty(), arguments[outAt], offset);
  ScalarEmitter(module, t)
      .call("toy_rt_stream", t.getVoidTy(), {to, buffer, t.CreateMul(t.CreateSub(next, at), stepBytes)})
      ->setDoesNotThrow();
  t.CreateCondBr(t.CreateICmpSLT(next, end), pieces, fence);
  t.SetInsertPoint(fence);
  ScalarEmitter(module, t).call("toy_rt_finish_stream", t.getVoidTy(), {})->setDoesNotThrow();
  t.CreateBr(done);
  t.SetInsertPoint(done);
  t.CreateRetVoid();
}

/// Whether the group only combines values of one shape, so that one counter serves all.
bool KernelEmitter::isAllElementwise(mlir::Value of) {
  auto sizes = tensorTypeOf(of).getSizes();
  auto fits = [&](mlir::Value v) {
    return tensorTypeOf(v).isScalar() || isOneElement(v) || tensorTypeOf(v).getSizes() == sizes;
  };
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

/// Whether the result is all zeros of the host.
bool KernelEmitter::isZeros() {
  auto full = root.getDefiningOp<FullOp>();
  if (!full || device || isInRows)
    return false;
  mlir::Value value = full.getValue();
  while (mlir::Value inner = behind(value))
    value = inner;
  Element element;
  if (auto argument = dyn_cast<mlir::BlockArgument>(value))
    element = inputs[argument.getArgNumber()].scalar;
  else if (auto constant = value.getDefiningOp<ConstantOp>())
    element = scalars.constant(cast<mlir::DenseElementsAttr>(constant.getValue()), rootType.getDtype());
  auto isZero = [](Value *part) { return !part || (isa<Constant>(part) && cast<Constant>(part)->isNullValue()); };
  return element.re && isZero(element.re) && isZero(element.im);
}

/// Where the elements of the result lie, if they are a piece of a vector of the host.
Value *KernelEmitter::pieceOf() {
  auto slice = root.getDefiningOp<SliceOp>();
  if (!slice || device || isInRows || reusable || rootType.getRank() != 1 || slice.getSteps()[0] != 1 ||
      !isa<mlir::BlockArgument>(slice.getX()) || behind(slice.getX()))
    return nullptr;
  Value *first = caller.CreateMul(callerInteger(slice.getStarts()[0]), caller.getInt64(sizeOf(rootType.getDtype())));
  return caller.CreateInBoundsPtrAdd(dataOf(slice.getX()), first);
}

/// By libc where one thread is as fast as all, else by a kernel.
void KernelEmitter::emitBytes(int64_t mostBytes, function_ref<void(Value *)> byLibc) {
  Value *bytes = product(resultSizes());
  bytes = caller.CreateMul(bytes, caller.getInt64(sizeOf(rootType.getDtype())));
  if (auto *known = dyn_cast<ConstantInt>(bytes); known && known->getSExtValue() <= mostBytes)
    return byLibc(bytes);
  Function *function = caller.GetInsertBlock()->getParent();
  BasicBlock *few = BasicBlock::Create(k.getContext(), "", function),
             *many = BasicBlock::Create(k.getContext(), "", function),
             *done = BasicBlock::Create(k.getContext(), "", function);
  caller.CreateCondBr(caller.CreateICmpSLE(bytes, caller.getInt64(mostBytes)), few, many);
  caller.SetInsertPoint(few);
  byLibc(bytes);
  caller.CreateBr(done);
  caller.SetInsertPoint(many);
  emitMap();
  caller.CreateBr(done);
  caller.SetInsertPoint(done);
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
    std::tie(result.object, callerOut) =
        makeTensor(module, caller, rootType.getDtype(), resultSizes(), frame, reusable);
    result.data = frame ? callerOut : nullptr;
  }
  Value *counter = module.getOrInsertGlobal("toy_rt_loops", caller.getInt64Ty());
  caller.CreateStore(caller.CreateAdd(caller.CreateLoad(caller.getInt64Ty(), counter), caller.getInt64(1)), counter);
  constexpr int64_t mostZeros = 1 << 20, mostCopied = parallelElements * 8;
  if (auto full = dyn_cast_if_present<FullOp>(def); full && full.getUnwritten() && !device && !isInRows)
    return result;
  if (isZeros())
    emitBytes(mostZeros,
              [&](Value *bytes) { caller.CreateMemSet(callerOut, caller.getInt8(0), bytes, MaybeAlign(64)); });
  else if (Value *from = pieceOf())
    emitBytes(mostCopied,
              [&](Value *bytes) { caller.CreateMemCpy(callerOut, MaybeAlign(), from, MaybeAlign(), bytes); });
  else if (def && def->hasTrait<OpTrait::Reduction>())
    emitReduction(def);
  else if (auto sums = dyn_cast_if_present<CumSumOp>(def))
    emitScan(sums);
  else if (!emitJoin())
    emitMap();
  if (rootType.isScalar())
    result.scalar = folded.re ? folded : calls.load(rootType.getDtype(), callerOut, caller.getInt64(0));
  return result;
}

} // namespace toy
