// SPDX-License-Identifier: Apache-2.0
/// \file
/// What LLVM is told of a group's loops. Loops that call functions of elements are whole vectors, then one more whose
/// last lanes are masked: one call in place of one for each element that is left. So are loops over rows of unknown
/// length, of which LLVM would leave up to a register of elements to a loop over single ones.
#include "passes/lowering/Attributes.h"
#include "passes/lowering/KernelEmitter.h"
#include "passes/lowering/LoopProperties.h"

#include "runtime/ElementFunctions.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace toy {

bool hasVectorForm(const Instruction &i) {
  auto *call = dyn_cast<CallInst>(&i);
  return call && call->hasFnAttr("vector-function-abi-variant");
}

namespace {

/// How a loop's calls of functions want its turns.
struct CallTurns {
  int sideBySide; ///< vectors
  int64_t width;  ///< of one

  int64_t atOnce() const { return sideBySide * width; }
  /// Of few turns.
  CallTurns few() const { return {std::min(sideBySide, 2), width}; }
};

/// Whether a call takes what another one gives.
bool isOfAnother(const Instruction &call) {
  SmallVector<const Value *> open(call.op_begin(), call.op_end());
  SmallPtrSet<const Value *, 16> seen;
  while (!open.empty()) {
    auto *i = dyn_cast<Instruction>(open.pop_back_val());
    if (!i || i->getParent() != call.getParent() || isa<PHINode>(i) || !seen.insert(i).second)
      continue;
    if (hasVectorForm(*i))
      return true;
    open.append(i->op_begin(), i->op_end());
  }
  return false;
}

/// Two vectors side by side, of which functions of registers take both (jit/LanePairs.h). Where one call waits for
/// another, up to eight: a processor computes other pairs meanwhile, as long as not too much lies between (log(1 +
/// exp(x)) of a million f32 0.70 and 0.45 ms). Other calls are made one after the other: side by side they would keep
/// their arguments in memory.
std::optional<CallTurns> turnsOfCalls(const Instruction &latch) {
  auto calls = make_filter_range(*latch.getParent(), hasVectorForm);
  if (calls.empty())
    return std::nullopt;
  CallTurns out = {2, 0};
  for (const Instruction &i : calls) {
    const auto &call = cast<CallInst>(i);
    out.sideBySide = call.hasFnAttr(lanePairPrefix) ? out.sideBySide : 1;
    out.width = std::max<int64_t>(out.width, rt::laneWidth() * (call.getArgOperand(0)->getType()->isFloatTy() ? 2 : 1));
  }
  constexpr size_t most = 256; // instructions
  while (out.sideBySide > 1 && out.sideBySide < 8 && 2 * out.sideBySide * latch.getParent()->size() <= most &&
         any_of(calls, isOfAnother))
    out.sideBySide *= 2;
  return out;
}

/// Whether vectors may be masked: AVX-512 has masks for all that a loop does.
bool masksLanes() { return rt::laneWidth() >= 8; }

/// How the turns of a loop over a row go together: vectors of its widest elements, as many as LLVM would take; nothing
/// where a turn is more than a few operations, beside which its end is short.
std::optional<CallTurns> turnsOfRow(const Instruction &latch) {
  constexpr size_t most = 24; // instructions
  MDNode *properties = latch.getMetadata(LLVMContext::MD_loop);
  const auto isOfRow = [](const MDOperand &operand) {
    auto *property = dyn_cast<MDNode>(operand);
    auto *name = property && property->getNumOperands() ? dyn_cast<MDString>(property->getOperand(0)) : nullptr;
    return name && name->getString() == loopOfRow;
  };
  const BasicBlock &body = *latch.getParent();
  if (!properties || none_of(properties->operands(), isOfRow) || body.size() > most)
    return std::nullopt;
  uint64_t bits = 8;
  for (const Instruction &i : body) {
    Type *type = isa<StoreInst>(i) ? i.getOperand(0)->getType() : i.getType();
    if (isa<CallInst>(i) && !isa<IntrinsicInst>(i))
      return std::nullopt;
    if (isa<StoreInst, LoadInst>(i))
      bits = std::max<uint64_t>(bits, type->getScalarSizeInBits());
  }
  return CallTurns{1, static_cast<int64_t>(512 / bits)};
}

/// A loop of one block that counts from `begin` to `end`, and whose results are in memory.
struct CountedBlock {
  BranchInst *latch;
  PHINode *index;
  ICmpInst *goesOn;
  BasicBlock *before, *after;

  Value *begin() const { return index->getIncomingValueForBlock(before); }
  Value *end() const { return goesOn->getOperand(1); }
};

/// What a turn adds to a number; nothing where that differs.
std::optional<int64_t> stepOf(const Value *v, const PHINode *index) {
  auto *i = dyn_cast<Instruction>(v);
  if (v == index)
    return 1;
  if (!i || i->getParent() != index->getParent())
    return 0;
  auto *operation = dyn_cast<BinaryOperator>(i);
  if (!operation)
    return std::nullopt;
  const auto a = stepOf(operation->getOperand(0), index), b = stepOf(operation->getOperand(1), index);
  auto *factor = dyn_cast<ConstantInt>(operation->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  switch (operation->getOpcode()) {
  case Instruction::Add:
    return *a + *b;
  case Instruction::Sub:
    return *a - *b;
  case Instruction::Mul:
  case Instruction::Shl: {
    if (*a == 0 && *b == 0)
      return 0;
    if (!factor)
      return std::nullopt;
    const int64_t by = factor->getSExtValue();
    return *a * (operation->getOpcode() == Instruction::Mul ? by : int64_t(1) << by);
  }
  default:
    return *a == 0 && *b == 0 ? std::optional<int64_t>(0) : std::nullopt;
  }
}
/// Whether some of what lies between loaded elements is not: LLVM loads it with them, and leaves the last turns of a
/// loop to single elements, so that it reads nothing behind the end.
bool leavesGaps(const PHINode *index) {
  SmallDenseMap<std::pair<const Value *, int64_t>, int64_t> loads; // of a tensor with a step
  for (const Instruction &i : *index->getParent()) {
    auto *load = dyn_cast<LoadInst>(&i);
    auto *place = load ? dyn_cast<GetElementPtrInst>(load->getPointerOperand()) : nullptr;
    if (!load || (!place && stepOf(load->getPointerOperand(), index) == 0))
      continue;
    while (place && place->hasAllConstantIndices()) // beside another element
      place = dyn_cast<GetElementPtrInst>(place->getPointerOperand());
    const auto step = place && place->getNumIndices() == 1 ? stepOf(place->getOperand(1), index) : std::nullopt;
    if (!step)
      return true;
    ++loads[{place->getPointerOperand(), std::abs(*step)}];
  }
  return any_of(loads, [](const auto &entry) { return entry.first.second > 1 && entry.second < entry.first.second; });
}

std::optional<CountedBlock> countedBlock(Instruction *latch) {
  auto *branch = cast<BranchInst>(latch);
  BasicBlock *body = latch->getParent(), *after = branch->getSuccessor(1);
  auto *goesOn = dyn_cast<ICmpInst>(branch->getCondition());
  if (branch->getSuccessor(0) != body || !goesOn || !hasSingleElement(body->phis()) || !after->phis().empty())
    return std::nullopt;
  PHINode *index = &*body->phis().begin();
  const unsigned fromBody = index->getIncomingBlock(0) == body ? 0 : 1;
  return CountedBlock{branch, index, goesOn, index->getIncomingBlock(1 - fromBody), after};
}

/// The loop counts its turns from 0, from a block that leads into it; its first index is `first`. LLVM sees so whether
/// the turns are whole vectors.
void countTurns(BasicBlock *body, BasicBlock *into, ICmpInst *goesOn, Value *first, Value *turns) {
  auto *index = cast<PHINode>(&body->front());
  Value *next = goesOn->getOperand(0);
  index->setIncomingValueForBlock(into, ConstantInt::get(index->getType(), 0));
  IRBuilder<> b(body, body->getFirstInsertionPt());
  Value *place = b.CreateAdd(first, index, "", true, true);
  index->replaceUsesWithIf(place, [&](const Use &use) { return use.getUser() != place && use.getUser() != next; });
  goesOn->setPredicate(ICmpInst::ICMP_NE);
  goesOn->setOperand(1, turns);
}

/// Ends the loop at the last whole step, behind which a copy goes to the end: its latch.
///   before → enter → loop → rest → start → copy → after
Instruction *splitEnd(const CountedBlock &loop, int64_t step) {
  BasicBlock *body = loop.latch->getParent();
  auto block = [&] { return BasicBlock::Create(body->getContext(), "", body->getParent(), loop.after); };
  BasicBlock *enter = block(), *rest = block(), *start = block();
  Value *begin = loop.begin();
  IRBuilder<> b(enter);
  Value *turns = b.CreateSub(loop.end(), begin), *zero = b.getInt64(0);
  Value *whole = b.CreateAnd(turns, b.getInt64(-step)), *left = b.CreateAnd(turns, b.getInt64(step - 1));
  b.CreateCondBr(b.CreateICmpSGT(whole, zero), body, rest);
  b.SetInsertPoint(rest);
  b.CreateCondBr(b.CreateICmpSGT(left, zero), start, loop.after);
  b.SetInsertPoint(start);
  Value *middle = b.CreateAdd(begin, whole, "", true, true);
  ValueToValueMapTy map;
  BasicBlock *copy = CloneBasicBlock(body, map, "", body->getParent());
  b.CreateBr(copy);
  map[body] = copy;
  for (Instruction &i : *copy)
    RemapInstruction(&i, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
  cast<PHINode>(map[loop.index])->replaceIncomingBlockWith(loop.before, start);
  countTurns(copy, start, cast<ICmpInst>(map[loop.goesOn]), middle, left);
  loop.before->getTerminator()->replaceSuccessorWith(body, enter);
  loop.index->replaceIncomingBlockWith(loop.before, enter);
  loop.latch->setSuccessor(1, rest);
  countTurns(body, enter, loop.goesOn, begin, whole);
  return copy->getTerminator();
}

} // namespace

/// The result may stand where an input stood: no promise then that their pointers differ, but one that iterations do
/// not depend on each other.
void KernelEmitter::describeLoops(Function *work) {
  LLVMContext &context = work->getContext();
  MDNode *group = MDNode::getDistinct(context, {});
  if (reusable)
    for (BasicBlock &block : *work)
      for (Instruction &i : block)
        if (isa<LoadInst, StoreInst>(i))
          i.setMetadata(LLVMContext::MD_access_group, group);
  auto describe = [&](Instruction *latch, std::optional<CallTurns> calls, bool isMasked) {
    SmallVector<Metadata *> properties;
    if (MDNode *known = latch->getMetadata(LLVMContext::MD_loop))
      append_range(properties, drop_begin(known->operands()));
    if (reusable)
      properties.push_back(MDNode::get(context, {MDString::get(context, "llvm.loop.parallel_accesses"), group}));
    if (calls) {
      properties.push_back(loopProperty(context, "llvm.loop.interleave.count", k.getInt32(calls->sideBySide)));
      // Written out, the turns of short rows would be calls for one element each.
      properties.push_back(loopProperty(context, "llvm.loop.unroll.disable"));
    }
    if (isMasked)
      properties.push_back(loopProperty(context, "llvm.loop.vectorize.predicate.enable", k.getTrue()));
    describeLoop(latch, properties);
  };
  for (Instruction *latch : latches) {
    std::optional<CallTurns> calls = turnsOfCalls(*latch);
    std::optional<CountedBlock> loop = calls && masksLanes() ? countedBlock(latch) : std::nullopt;
    if (const auto row = calls || !masksLanes() ? std::optional<CallTurns>() : turnsOfRow(*latch)) {
      loop = countedBlock(latch);
      // Where a part of a row begins at what is computed, LLVM does not see how far the whole registers go.
      if (loop && isa<ConstantInt>(loop->begin()) && !isa<ConstantInt>(loop->end()) && !leavesGaps(loop->index)) {
        describe(splitEnd(*loop, row->atOnce()), CallTurns{1, row->width}, true);
        describe(latch, row, false);
      } else
        describe(latch, std::nullopt, false);
      continue;
    }
    if (loop && leavesGaps(loop->index))
      loop.reset();
    if (calls && !loop) // what is left are single elements
      calls = calls->few();
    auto *begin = loop ? dyn_cast<ConstantInt>(loop->begin()) : nullptr;
    auto *end = loop ? dyn_cast<ConstantInt>(loop->end()) : nullptr;
    const int64_t known = begin && end ? end->getSExtValue() - begin->getSExtValue() : 0;
    const bool isSplit = loop && (known == 0 || (known > calls->atOnce() && known % calls->atOnce() != 0)),
               isShort = loop && known != 0 && known < calls->atOnce();
    if (isSplit)
      describe(splitEnd(*loop, calls->atOnce()), calls->few(), true);
    describe(latch, isShort ? calls->few() : calls, isShort);
  }
}

} // namespace toy
