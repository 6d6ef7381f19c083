// SPDX-License-Identifier: Apache-2.0
/// \file
/// Blocks, edges and the life of references: each tensor or string value holds one reference, given up behind its last
/// use; references passed along an edge are the receiving block's own. Arguments belong to the callee, results to the
/// caller.
#include "passes/lowering/FunctionEmitter.h"

#include "passes/RowLanes.h"
#include "passes/lowering/Attributes.h"
#include "passes/lowering/LentArguments.h"
#include "passes/lowering/LoopProperties.h"

#include "runtime/Parallel.h"
#include "runtime/Value.h"

using namespace llvm;

namespace toy {

/// The LLVM types of a value of the dialect.
static void appendTypes(SmallVectorImpl<Type *> &types, ScalarEmitter &scalars, mlir::Type type, LLVMContext &context) {
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor || !tensor.isScalar()) {
    types.push_back(PointerType::getUnqual(context));
    return;
  }
  types.append(tensor.isComplex() ? 2 : 1, scalars.partType(tensor.getDtype()));
}

Function *FunctionEmitter::declare(Module &module, mlir::func::FuncOp function) {
  const bool lent = hasLentArguments(function);
  const std::string name = (function.getSymName() + (lent ? ".lent" : "")).str();
  if (Function *known = module.getFunction(name))
    return known;
  IRBuilder<> b(module.getContext());
  ScalarEmitter scalars(module, b);
  SmallVector<Type *> arguments, results;
  for (mlir::Type type : function.getFunctionType().getInputs())
    appendTypes(arguments, scalars, type, module.getContext());
  for (mlir::Type type : function.getFunctionType().getResults())
    appendTypes(results, scalars, type, module.getContext());
  arguments.push_back(b.getInt64Ty());
  Type *result = results.empty()       ? b.getVoidTy()
                 : results.size() == 1 ? results[0]
                                       : StructType::get(module.getContext(), results);
  auto *f = Function::Create(FunctionType::get(result, arguments, false),
                             lent ? Function::InternalLinkage : Function::ExternalLinkage, name, module);
  f->addFnAttr(Attribute::getWithUWTableKind(module.getContext(), UWTableKind::Default));
  return f;
}

Slot FunctionEmitter::slotFromArguments(mlir::Type type, Function::arg_iterator &argument) {
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor || !tensor.isScalar())
    return {&*argument++, {}};
  Slot slot;
  slot.scalar.re = &*argument++;
  if (tensor.isComplex())
    slot.scalar.im = &*argument++;
  return slot;
}

void FunctionEmitter::append(SmallVectorImpl<Value *> &values, mlir::Value v) {
  const Slot &slot = slots[v];
  if (slot.object)
    values.push_back(slot.object);
  else {
    values.push_back(slot.scalar.re);
    if (slot.scalar.im)
      values.push_back(slot.scalar.im);
  }
}

/// Rows that stay in registers (passes/ShortRows.cpp): what groups compute there, and what blocks are handed of it.
void FunctionEmitter::findRowsInLanes() {
  SmallVector<mlir::Value> found;
  auto add = [&](mlir::Value v, int64_t lanes) {
    if (rowLanesOf.try_emplace(v, lanes).second)
      found.push_back(v);
  };
  for (FusedOp group : function.getOps<FusedOp>())
    if (auto lanes = group->getAttrOfType<mlir::IntegerAttr>(rowLanes);
        lanes && !group->hasAttr(leavesLanes) && !tensorTypeOf(group.getResult(0)).isScalar())
      add(group.getResult(0), lanes.getInt());
  for (size_t i = 0; i < found.size(); ++i)
    for (mlir::OpOperand &use : found[i].getUses())
      if (auto branch = dyn_cast<mlir::BranchOpInterface>(use.getOwner()))
        if (auto argument = branch.getSuccessorBlockArgument(use.getOperandNumber()))
          add(*argument, rowLanesOf.lookup(found[i]));
}

Slot FunctionEmitter::makePhi(mlir::Value argument) {
  SmallVector<Type *> types;
  mlir::Type type = argument.getType();
  auto tensor = dyn_cast<TensorType>(type);
  Slot slot;
  if (int64_t lanes = rowLanesOf.lookup(argument)) {
    Type *part = FixedVectorType::get(scalars.partType(tensor.getDtype()), lanes);
    slot.scalar = {b.CreatePHI(part, 2), tensor.isComplex() ? b.CreatePHI(part, 2) : nullptr};
    slot.inLanes = true;
    return slot;
  }
  appendTypes(types, scalars, type, module.getContext());
  if (carried.contains(argument)) {
    setDataAndLength(argument, slot.data = b.CreatePHI(b.getPtrTy(), 2), b.CreatePHI(b.getInt64Ty(), 2));
    rooms[argument] = b.CreatePHI(b.getInt64Ty(), 2);
  }
  if (!tensor || !tensor.isScalar())
    slot.object = b.CreatePHI(types[0], 2);
  else {
    slot.scalar.re = b.CreatePHI(types[0], 2);
    if (types.size() > 1)
      slot.scalar.im = b.CreatePHI(types[1], 2);
  }
  return slot;
}

std::string forObject(StringRef name, mlir::Type type) {
  return (name + (isa<StrType>(type) ? "_str" : isa<ListType>(type) ? "_list" : "")).str();
}

void FunctionEmitter::release(mlir::Value v) {
  if (isBorrowed(v))
    return;
  Value *object = slots[v].object;
  auto give = [&] {
    scalars.call(forObject("toy_rt_release", v.getType()), b.getVoidTy(), {object})->setDoesNotThrow();
  };
  auto frame = frames.find(v.getAsOpaquePointer());
  if (frame == frames.end())
    give();
  else if (object != frame->second.header)
    scalars.rarely(b.CreateICmpNE(object, frame->second.header), give);
}
void FunctionEmitter::retain(mlir::Value v) {
  scalars.call(forObject("toy_rt_retain", v.getType()), b.getVoidTy(), {slots[v].object})->setDoesNotThrow();
}

const FrameTensor *FunctionEmitter::frameOf(mlir::Value v) {
  constexpr size_t mostOfFrame = 16; // some kilobytes
  if (tables.valuesMoveAway || !loops->of(v.getParentBlock()) || !isReadInPlace(v))
    return nullptr;
  auto known = frames.find(v.getAsOpaquePointer());
  if (known == frames.end()) {
    if (frames.size() == mostOfFrame)
      return nullptr;
    known = frames.emplace(v.getAsOpaquePointer(), makeFrameTensor(f, tensorTypeOf(v))).first;
  }
  return &known->second;
}

/// Gives up references whose last use this operation was, and results that nobody uses.
void FunctionEmitter::releaseDead(mlir::Operation *op) {
  SmallPtrSet<void *, 8> done;
  for (mlir::Value operand : op->getOperands())
    if (isObject(operand) && done.insert(operand.getAsOpaquePointer()).second && diesAt(operand, op) &&
        !moved.contains(operand.getAsOpaquePointer()))
      release(operand);
  moved.clear();
  for (mlir::Value result : op->getResults())
    if (isObject(result) && result.use_empty())
      release(result);
}

/// The instructions from here on belong to an operation.
void FunctionEmitter::setPlace(mlir::Operation *op) {
  if (CodePlaces *places = ownPlaces())
    b.SetCurrentDebugLocation(places->of(op->getLoc()));
}

void FunctionEmitter::emitBlock(mlir::Block &block) {
  b.SetInsertPoint(blocks[&block]);
  current = &block;
  setPlace(&block.front());
  if (!block.isEntryBlock())
    for (mlir::Value argument : block.getArguments())
      slots[argument] = makePhi(argument);
  for (mlir::Value argument : block.getArguments())
    openElements(argument);
  for (mlir::Value argument : block.getArguments())
    if (isObject(argument) && argument.use_empty())
      release(argument);
  if (tables.device) {
    constexpr int64_t turns = 16; // of a loop
    tables.device->region =
        llvm::count_if(block, [](mlir::Operation &op) { return isa<FusedOp, GemmOp, LibraryOp>(op); }) *
        (loops && loops->of(&block) ? turns : 1);
  }
  if (block.isEntryBlock() && function->hasAttr("toy.recursive"))
    emitPoll(&block.front())->setMetadata(entryPoll, MDNode::get(b.getContext(), {}));
  for (mlir::Operation &op : block.without_terminator()) {
    rt::poll();
    setPlace(&op);
    bringHeadersUpToDate(&op);
    emitOp(&op);
    for (mlir::Value result : op.getResults())
      openElements(result);
    releaseDead(&op);
  }
  blocks[&block] = b.GetInsertBlock(); // where its branches leave from
}

/// A block on an edge: references for the receiver, and an end to those that the receiver does not need.
BasicBlock *FunctionEmitter::edge(mlir::Block *from, mlir::Block *to, mlir::ValueRange operands) {
  BasicBlock *block = BasicBlock::Create(b.getContext(), "", f);
  b.SetInsertPoint(block);
  const mlir::LivenessBlockInfo *here = liveness.getLiveness(from), *there = liveness.getLiveness(to);
  SmallPtrSet<void *, 8> done; // handed on, or ended
  for (mlir::Value operand : operands)
    if (isObject(operand) && (there->isLiveIn(operand) || !done.insert(operand.getAsOpaquePointer()).second))
      retain(operand);
  auto end = [&](mlir::Value v) {
    if (isObject(v) && done.insert(v.getAsOpaquePointer()).second && !there->isLiveIn(v))
      release(v);
  };
  std::vector<mlir::Value> live; // references only: constants live everywhere
  llvm::copy_if(here->out(), std::back_inserter(live),
                [&](mlir::Value v) { return isObject(v) && !there->isLiveIn(v); });
  // In a fixed order, so that the same program gives the same code.
  if (numbers.empty()) {
    auto number = [&](mlir::Value v) { numbers.try_emplace(v, numbers.size()); };
    for (mlir::Block &b : function.getBody()) {
      for_each(b.getArguments(), number);
      for (mlir::Operation &op : b)
        for_each(op.getResults(), number);
    }
  }
  llvm::sort(live, [&](mlir::Value x, mlir::Value y) { return numbers.at(x) < numbers.at(y); });
  for (mlir::Value v : live)
    end(v);
  for (mlir::Value v : from->getTerminator()->getOperands())
    if (isObject(v) && !here->isLiveOut(v))
      end(v);
  return block;
}

/// Gives the read of the flag.
LoadInst *FunctionEmitter::emitPoll(mlir::Operation *branch) {
  // Elements stay as they are: what is read of them before and behind it is the same.
  auto look = [&](Type *type, StringRef flags, StringRef function, ArrayRef<Value *> arguments) {
    LoadInst *flag = b.CreateLoad(type, module.getOrInsertGlobal(flags, type), /*isVolatile=*/true);
    scalars.rarely(b.CreateICmpNE(flag, ConstantInt::get(type, 0)), [&] {
      setSite(branch, /*isRare=*/true);
      scalars.call(function, b.getVoidTy(), arguments)
          ->setMemoryEffects(MemoryEffects::readOnly() | MemoryEffects::inaccessibleMemOnly());
    });
    return flag;
  };
  SmallVector<Value *, 4> turns = turnsAt(branch);
  return turns.empty() ? look(b.getInt8Ty(), "toy_rt_interrupted", "toy_rt_poll", {})
                       : look(b.getInt16Ty(), "toy_rt_requests", "toy_rt_turn", turns);
}

/// How far the loops of a statement are at the end of a turn: of the outermost one and the next, the turns that are
/// done and their number. Nothing where that is not known.
SmallVector<Value *, 4> FunctionEmitter::turnsAt(mlir::Operation *branch) {
  SmallVector<Value *, 4> turns;
  if (!tellsTurns)
    return turns;
  for (const CountedLoop &loop : countedLoopsAround(*loops, branch->getBlock())) {
    if (!loop.start)
      break;
    auto from = [&](mlir::Value v) {
      Value *first = slots[loop.start].scalar.re, *other = slots[v].scalar.re;
      return loop.isDown ? b.CreateSub(first, other) : b.CreateSub(other, first);
    };
    Value *done = from(loop.counter);
    turns.push_back(loop.back == branch ? b.CreateAdd(done, b.getInt64(1)) : done);
    turns.push_back(from(loop.bound));
    if (turns.size() == 4)
      break;
  }
  if (turns.size() == 2)
    turns.append(2, b.getInt64(0));
  return turns;
}

/// Elements stay as they are behind it, and nothing is thrown: it says what is to be looked for, later.
void FunctionEmitter::markTurn(mlir::Operation *branch, int64_t turns) {
  tables.sites.push_back(branch->getLoc());
  SmallVector<Value *> arguments = {b.getInt64(tables.sites.size() - 1), b.getInt64(turns)};
  append_range(arguments, turnsAt(branch));
  auto *type = FunctionType::get(b.getVoidTy(), {b.getInt64Ty(), b.getInt64Ty()}, /*isVarArg=*/true);
  FunctionCallee callee = module.getOrInsertFunction(turnMark, type);
  CallInst *mark = b.CreateCall(callee, arguments);
  cast<Function>(callee.getCallee())->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
  mark->setDoesNotThrow();
  mark->addFnAttr(Attribute::WillReturn);
}

/// What LLVM is told of a loop: the number by which remarks know it, whether each turn is to have code of its own.
void FunctionEmitter::describeLoop(BranchInst *back, mlir::Operation *branch, mlir::Location place) {
  SmallVector<Metadata *> properties;
  if (branch->hasAttr("toy.bare")) {
    tables.sites.push_back(place);
    properties.push_back(loopProperty(b.getContext(), loopNumber, b.getInt64(tables.sites.size() - 1)));
  }
  if (branch->hasAttr("toy.unroll"))
    properties.push_back(loopProperty(b.getContext(), "llvm.loop.unroll.full"));
  toy::describeLoop(back, properties);
}

void FunctionEmitter::emitTerminator(mlir::Block &block) {
  mlir::Operation *terminator = block.getTerminator();
  b.SetInsertPoint(blocks[&block]);
  setPlace(terminator);
  bringHeadersUpToDate(terminator);
  if (auto ret = dyn_cast<mlir::func::ReturnOp>(terminator)) {
    SmallVector<Value *> values;
    SmallPtrSet<void *, 8> done; // the caller gets this block's reference
    for (mlir::Value v : ret.getOperands()) {
      append(values, v);
      if (isObject(v) && !done.insert(v.getAsOpaquePointer()).second)
        retain(v);
    }
    if (values.empty())
      b.CreateRetVoid();
    else if (values.size() == 1)
      b.CreateRet(values[0]);
    else {
      Value *aggregate = PoisonValue::get(f->getReturnType());
      for (auto [i, v] : enumerate(values))
        aggregate = b.CreateInsertValue(aggregate, v, i);
      b.CreateRet(aggregate);
    }
    return;
  }
  BasicBlock *from = b.GetInsertBlock();
  auto go = [&](mlir::Block *to, mlir::ValueRange operands, BasicBlock *start) {
    // `start` is the first block of the target; phis take the operands.
    BasicBlock *on = edge(&block, to, operands);
    if (position[to] <= position[&block] && !terminator->hasAttr("toy.bare") && !terminator->hasAttr("toy.brief"))
      emitPoll(terminator);
    if (auto turns = terminator->getAttrOfType<mlir::IntegerAttr>("toy.strip"))
      markTurn(terminator, turns.getInt());
    describeLoop(b.CreateBr(start), terminator, to->getTerminator()->getLoc());
    for (auto [argument, operand] : zip_equal(to->getArguments(), operands)) {
      SmallVector<Value *> phis, values;
      append(phis, argument);
      append(values, operand);
      for (auto [phi, value] : zip_equal(phis, values))
        cast<PHINode>(phi)->addIncoming(value, b.GetInsertBlock());
      if (carried.contains(argument))
        handOn(argument, operand);
    }
    return on;
  };
  if (auto branch = dyn_cast<mlir::cf::BranchOp>(terminator)) {
    BasicBlock *on = go(branch.getDest(), branch.getDestOperands(), starts[branch.getDest()]);
    b.SetInsertPoint(from);
    b.CreateBr(on);
    return;
  }
  auto branch = cast<mlir::cf::CondBranchOp>(terminator);
  BasicBlock *yes = go(branch.getTrueDest(), branch.getTrueDestOperands(), starts[branch.getTrueDest()]);
  BasicBlock *no = go(branch.getFalseDest(), branch.getFalseDestOperands(), starts[branch.getFalseDest()]);
  b.SetInsertPoint(from);
  b.CreateCondBr(slots[branch.getCondition()].scalar.re, yes, no);
}

/// A function that is given references to what its body is lent: as calls from other modules have it.
static Function *takingReferences(Function *body, mlir::func::FuncOp function) {
  Module &module = *body->getParent();
  auto *f = Function::Create(body->getFunctionType(), Function::ExternalLinkage, function.getSymName(), module);
  f->addFnAttr(Attribute::getWithUWTableKind(module.getContext(), UWTableKind::Default));
  IRBuilder<> b(BasicBlock::Create(module.getContext(), "", f));
  SmallVector<Value *> arguments;
  for (Argument &argument : f->args())
    arguments.push_back(&argument);
  CallInst *call = b.CreateCall(body, arguments);
  unsigned at = 0;
  for (mlir::Value argument : function.getArguments()) {
    if (isLent(argument))
      b.CreateCall(module.getOrInsertFunction("toy_rt_release", b.getVoidTy(), b.getPtrTy()), {f->getArg(at)})
          ->setDoesNotThrow();
    auto tensor = dyn_cast<TensorType>(argument.getType());
    at += tensor && tensor.isScalar() && tensor.isComplex() ? 2 : 1;
  }
  if (call->getType()->isVoidTy())
    b.CreateRetVoid();
  else
    b.CreateRet(call);
  return f;
}

void FunctionEmitter::emit() {
  f = declare(module, function);
  if (tellsTurns)
    f->addFnAttr(runsOnce);
  findRowsInLanes();
  for (mlir::Block &block : function.getBody()) {
    BasicBlock *start = BasicBlock::Create(b.getContext(), "", f);
    blocks[&block] = starts[&block] = start;
  }
  auto argument = f->arg_begin();
  for (mlir::Value v : function.getBody().front().getArguments())
    slots[v] = slotFromArguments(v.getType(), argument);
  // Definitions come before uses in dominance order; blocks that nothing reaches were removed before.
  SmallVector<mlir::Block *> order;
  DenseSet<mlir::Block *> seen;
  auto visit = [&](auto &self, mlir::Block *block) -> void {
    if (!seen.insert(block).second)
      return;
    for (mlir::Block *next : block->getSuccessors())
      self(self, next);
    order.push_back(block);
  };
  visit(visit, &function.getBody().front());
  for (mlir::Block *block : llvm::reverse(order)) {
    position[block] = position.size();
    emitBlock(*block);
  }
  for (mlir::Block *block : llvm::reverse(order))
    emitTerminator(*block);
  for (mlir::Block &block : function.getBody())
    if (!seen.contains(&block)) {
      b.SetInsertPoint(starts[&block]);
      b.CreateUnreachable();
    }
  // Allocas need an entry block that nothing jumps to.
  BasicBlock *entry = BasicBlock::Create(b.getContext(), "entry", f, &f->getEntryBlock());
  IRBuilder<>(entry).CreateBr(entry->getNextNode());
  for (BasicBlock &block : *f)
    for (Instruction &i : make_early_inc_range(block))
      if (isa<AllocaInst>(i) && &block != entry)
        i.moveBefore(*entry, entry->begin());
  b.SetCurrentDebugLocation(DebugLoc());
  if (tables.places)
    tables.places->tellCalls(*f, isLibrary);
  emitEntry(hasLentArguments(function) ? takingReferences(f, function) : f);
}

/// `void symbol.entry(void **arguments, void **results)`
void FunctionEmitter::emitEntry(Function *body) {
  auto *type = FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy()}, false);
  std::string name = (function.getSymName() + ".entry").str();
  auto *entry = cast<Function>(module.getOrInsertFunction(name, type).getCallee()); // a call may have named it before
  entry->addFnAttr(Attribute::getWithUWTableKind(b.getContext(), UWTableKind::Default));
  entry->addFnAttr(runsOnce);
  f = entry;
  b.SetInsertPoint(BasicBlock::Create(b.getContext(), "entry", entry));
  SmallVector<Value *> arguments;
  for (auto [i, input] : enumerate(function.getFunctionType().getInputs())) {
    Value *object = b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), entry->getArg(0), i));
    auto tensor = dyn_cast<TensorType>(input);
    Slot slot = tensor && tensor.isScalar() ? unbox(input, object) : Slot{object, {}};
    if (slot.object)
      arguments.push_back(slot.object);
    else {
      arguments.push_back(slot.scalar.re);
      if (slot.scalar.im)
        arguments.push_back(slot.scalar.im);
    }
  }
  bool isCall = function->hasAttr("toy.name") || function->hasAttr("toy.prelude"); // not a statement's own code
  arguments.push_back(b.getInt64(isCall));
  CallInst *call = b.CreateCall(body, arguments);
  unsigned part = 0;
  bool single = !call->getType()->isStructTy();
  auto next = [&]() -> Value * { return single ? static_cast<Value *>(call) : b.CreateExtractValue(call, part++); };
  for (auto [i, output] : enumerate(function.getFunctionType().getResults())) {
    auto tensor = dyn_cast<TensorType>(output);
    Value *object;
    if (tensor && tensor.isScalar()) {
      Slot slot;
      slot.scalar.re = next();
      if (tensor.isComplex())
        slot.scalar.im = next();
      Value *memory = b.CreateAlloca(b.getDoubleTy(), b.getInt32(2));
      scalars.store(tensor.getDtype(), memory, b.getInt64(0), slot.scalar);
      object = scalars.call("toy_rt_box", b.getPtrTy(), {b.getInt64(static_cast<int>(tensor.getDtype())), memory});
    } else
      object = next();
    b.CreateStore(object, b.CreateConstInBoundsGEP1_64(b.getPtrTy(), entry->getArg(1), i));
  }
  b.CreateRetVoid();
}

} // namespace toy
