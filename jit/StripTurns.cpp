// SPDX-License-Identifier: Apache-2.0
/// \file
/// Strips of turns: LLVM's own counts say how many turns a loop makes, so that it does not matter what its passes have
/// made of the counter.
#include "jit/StripTurns.h"
#include "passes/lowering/Attributes.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace toy {

static constexpr uint64_t turnsOfFew = 8;

static bool calls(const Instruction &i, StringRef name) {
  auto *call = dyn_cast<CallInst>(&i);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == name;
}

/// Before an instruction: if (interrupted) { site = …; poll(); }, with the place of a mark; where the mark says how far
/// the loops are, that is told as well when it is asked.
static void look(Instruction *before, ArrayRef<Value *> mark) {
  Module &module = *before->getModule();
  IRBuilder<> b(before);
  Value *place = mark[0];
  ArrayRef<Value *> turns = mark.drop_front(2);
  Type *type = turns.empty() ? b.getInt8Ty() : b.getInt16Ty();
  Value *flag =
      b.CreateLoad(type, module.getOrInsertGlobal(turns.empty() ? "toy_rt_interrupted" : "toy_rt_requests", type),
                   /*isVolatile=*/true);
  Instruction *rare =
      SplitBlockAndInsertIfThen(b.CreateICmpNE(flag, ConstantInt::get(type, 0)), before,
                                /*Unreachable=*/false, MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  b.SetInsertPoint(rare);
  Value *first = b.CreateLoad(b.getInt64Ty(), module.getOrInsertGlobal("toy.data", b.getInt64Ty()),
                              /*isVolatile=*/true); // not before the loop, where it would take a register
  b.CreateStore(b.CreateAdd(first, place), module.getOrInsertGlobal("toy_rt_site", b.getInt64Ty()));
  SmallVector<Type *, 4> types(turns.size(), b.getInt64Ty());
  FunctionCallee function = module.getOrInsertFunction(turns.empty() ? "toy_rt_poll" : "toy_rt_turn",
                                                       FunctionType::get(b.getVoidTy(), types, /*isVarArg=*/false));
  b.CreateCall(function, turns)->setMemoryEffects(MemoryEffects::readOnly() | MemoryEffects::inaccessibleMemOnly());
}

static SmallVector<Value *, 6> argumentsOf(CallInst &mark) { return {mark.arg_begin(), mark.arg_end()}; }

namespace {
/// A loop that becomes strips: `left` is how often it goes back, known before it.
struct Strips {
  Loop *loop;
  Value *left;
  uint64_t turns;
  SmallVector<Value *, 6> mark; ///< its arguments
};
} // namespace

static BranchInst *leavingLatch(Loop &loop) {
  BasicBlock *latch = loop.getLoopLatch();
  return latch && loop.isLoopExiting(latch) ? dyn_cast<BranchInst>(latch->getTerminator()) : nullptr;
}

/// Gives `left` where the turns of a loop can be counted; zero where it has no more than a strip. One of fewer turns
/// than a vector has lanes stays as it is written.
static Value *turnsBack(Loop &loop, uint64_t turns, ScalarEvolution &evolution) {
  BasicBlock *preheader = loop.getLoopPreheader();
  if (!preheader || !leavingLatch(loop))
    return nullptr;
  const SCEV *count = evolution.getExitCount(&loop, loop.getLoopLatch());
  Type *i64 = Type::getInt64Ty(preheader->getContext());
  if (isa<SCEVCouldNotCompute>(count) || !count->getType()->isIntegerTy() ||
      evolution.getTypeSizeInBits(count->getType()) > 64)
    return nullptr;
  const APInt most = evolution.getUnsignedRangeMax(evolution.applyLoopGuards(count, &loop)); // by tests before it
  if (most.ult(turnsOfFew)) {
    addStringMetadataToLoop(&loop, "llvm.loop.vectorize.enable", 0);
    addStringMetadataToLoop(&loop, "llvm.loop.unroll.runtime.disable", 1);
  }
  if (most.ult(turns))
    return ConstantInt::get(i64, 0);
  SCEVExpander expander(evolution, "turns");
  Instruction *at = preheader->getTerminator();
  return expander.isSafeToExpandAt(count, at)
             ? expander.expandCodeFor(evolution.getNoopOrZeroExtend(count, i64), i64, at)
             : nullptr;
}

/// What a value of a loop's header gets more by in each turn, as the addition that says so, or null.
static BinaryOperator *additionOf(PHINode &phi, Loop &loop) {
  Value *step = nullptr;
  auto *next = dyn_cast<BinaryOperator>(phi.getIncomingValueForBlock(loop.getLoopLatch()));
  return next && match(next, m_c_Add(m_Specific(&phi), m_Value(step))) && loop.isLoopInvariant(step) ? next : nullptr;
}

/// preheader → header … latch ? header : exit        becomes
/// preheader → strip(left): left < turns ? begin(left) : whole; whole → begin(turns - 1)
/// begin(here) → header(turn = here + 1) … latch: turn - 1 == 0 ? between : header(turn - 1);
/// between: left < turns ? exit : again; again: a look → strip(left - turns)
/// Most loops are short, and then nothing waits for the choice of `here`.
/// Gives the loop's own condition, which may be needed no more.
static Value *stripMine(const Strips &strips) {
  BasicBlock *header = strips.loop->getHeader(), *latch = strips.loop->getLoopLatch(),
             *preheader = strips.loop->getLoopPreheader();
  BranchInst *back = leavingLatch(*strips.loop);
  const unsigned leaves = back->getSuccessor(0) == header ? 1 : 0;
  BasicBlock *exit = back->getSuccessor(leaves);
  LLVMContext &context = header->getContext();
  auto make = [&](BasicBlock *next) { return BasicBlock::Create(context, "", header->getParent(), next); };
  BasicBlock *strip = make(header), *whole = make(header), *begin = make(header), *between = make(exit),
             *again = make(exit);
  IRBuilder<> b(strip);
  Type *i64 = b.getInt64Ty();
  MDNode *isShort = MDBuilder(context).createLikelyBranchWeights();
  PHINode *left = b.CreatePHI(i64, 2);
  SmallVector<std::tuple<PHINode *, BinaryOperator *, Value *>> counters; // by strips, and what is added in a turn
  for (PHINode &phi : header->phis()) {
    BinaryOperator *next = phi.getType()->isIntegerTy(64) ? additionOf(phi, *strips.loop) : nullptr;
    PHINode *first = b.CreatePHI(phi.getType(), 2);
    first->addIncoming(phi.getIncomingValueForBlock(preheader), preheader);
    if (next)
      counters.emplace_back(first, next, next->getOperand(next->getOperand(0) == &phi));
    else
      first->addIncoming(phi.getIncomingValueForBlock(latch), again);
    phi.setIncomingValueForBlock(preheader, first);
    phi.replaceIncomingBlockWith(preheader, begin);
  }
  b.CreateCondBr(b.CreateICmpULT(left, b.getInt64(strips.turns)), begin, whole, isShort);
  b.SetInsertPoint(whole);
  b.CreateBr(begin);
  b.SetInsertPoint(begin);
  PHINode *here = b.CreatePHI(i64, 2);
  here->addIncoming(left, strip);
  here->addIncoming(b.getInt64(strips.turns - 1), whole);
  Value *all = b.CreateAdd(here, b.getInt64(1), "", /*HasNUW=*/true, /*HasNSW=*/true);
  b.CreateBr(header);
  preheader->getTerminator()->replaceSuccessorWith(header, strip);

  b.SetInsertPoint(header, header->begin());
  PHINode *turn = b.CreatePHI(i64, 2);
  b.SetInsertPoint(back);
  Value *more = b.CreateSub(turn, b.getInt64(1), "", /*HasNUW=*/true, /*HasNSW=*/true); // one instruction with the jump
  Value *isLast = leaves ? b.CreateICmpNE(more, b.getInt64(0)) : b.CreateICmpEQ(more, b.getInt64(0));
  turn->addIncoming(all, begin);
  turn->addIncoming(more, latch);
  Value *before = back->getCondition();
  back->setCondition(isLast);
  back->setSuccessor(leaves, between);
  exit->replacePhiUsesWith(latch, between);

  b.SetInsertPoint(between);
  b.CreateCondBr(b.CreateICmpULT(left, b.getInt64(strips.turns)), exit, again, isShort);
  b.SetInsertPoint(again);
  // A strip that is not the last one is whole. What is asked of a loop's last turn would keep its end from vectors, and
  // so would a beginning that follows from it keep what lies before that apart from what the loop stores.
  for (auto [first, next, step] : counters) {
    Value *way = b.CreateMul(step, b.getInt64(strips.turns), "", next->hasNoUnsignedWrap(), next->hasNoSignedWrap());
    first->addIncoming(b.CreateAdd(first, way, "", next->hasNoUnsignedWrap(), next->hasNoSignedWrap()), again);
  }
  left->addIncoming(strips.left, preheader);
  left->addIncoming(b.CreateSub(left, b.getInt64(strips.turns)), again);
  look(b.CreateBr(strip), strips.mark);
  return before;
}

PreservedAnalyses StripTurns::run(Function &function, FunctionAnalysisManager &analyses) {
  SmallVector<CallInst *> marks;
  for (Instruction &i : instructions(function))
    if (calls(i, turnMark))
      marks.push_back(cast<CallInst>(&i));
  if (marks.empty())
    return PreservedAnalyses::all();
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  SmallVector<Strips> found;
  SmallDenseMap<Loop *, bool> done; // whether its marks are needed no more
  for (CallInst *mark : marks) {    // counts first, while what LLVM knows of the loops is true
    Loop *loop = loops.getLoopFor(mark->getParent());
    auto [it, isNew] = done.try_emplace(loop, !loop);
    if (isNew && loop) {
      uint64_t turns = cast<ConstantInt>(mark->getArgOperand(1))->getZExtValue();
      if (Value *left = turnsBack(*loop, turns, evolution)) {
        it->second = true;
        if (!isa<ConstantInt>(left) || !cast<ConstantInt>(left)->isZero())
          found.push_back({loop, left, turns, argumentsOf(*mark)});
      }
    }
    if (it->second)
      mark->eraseFromParent();
  }
  SmallVector<WeakTrackingVH> conditions; // of which one may be what another loop's turns follow from
  for (const Strips &strips : found)
    conditions.emplace_back(stripMine(strips));
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(conditions);
  return PreservedAnalyses::none();
}

void lookAtEachTurn(Module &module) {
  Function *mark = module.getFunction(turnMark);
  if (!mark)
    return;
  while (!mark->use_empty()) {
    auto *call = cast<CallInst>(mark->user_back());
    look(call, argumentsOf(*call));
    call->eraseFromParent();
  }
  mark->eraseFromParent();
}

} // namespace toy
