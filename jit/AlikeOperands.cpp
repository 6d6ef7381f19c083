// SPDX-License-Identifier: Apache-2.0
#include "jit/AlikeOperands.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace toy {

static bool isRoot(const Instruction &i) {
  auto *call = dyn_cast<IntrinsicInst>(&i);
  return call && call->getIntrinsicID() == Intrinsic::sqrt;
}

static bool isArithmetic(const Instruction &i) {
  return i.getType()->isFloatingPointTy() &&
         (isa<BinaryOperator>(i) || i.getOpcode() == Instruction::FNeg || isRoot(i));
}

/// The same operation, an earlier one of which only what `later` is used by makes use.
static bool areAlike(Value *early, Value *later) {
  auto *a = dyn_cast<Instruction>(early), *b = dyn_cast<Instruction>(later);
  return a && b && a->getParent() != b->getParent() && a->hasOneUser() && a->getOpcode() == b->getOpcode() &&
         a->getType() == b->getType() && isArithmetic(*a) && isArithmetic(*b);
}

/// Whether there is a root or a quotient in what is alike: the processor takes as long for two of them as for one.
static bool haveRoots(Value *early, Value *later, unsigned depth = 0) {
  constexpr unsigned mostSteps = 5;
  if (depth == mostSteps || !areAlike(early, later))
    return false;
  auto *a = cast<Instruction>(early), *b = cast<Instruction>(later);
  return isRoot(*a) || a->getOpcode() == Instruction::FDiv || any_of(zip(a->operands(), b->operands()), [&](auto pair) {
           return haveRoots(std::get<0>(pair), std::get<1>(pair), depth + 1);
         });
}

static void putBeside(Value *early, Value *later) {
  if (!areAlike(early, later))
    return;
  auto *a = cast<Instruction>(early), *b = cast<Instruction>(later);
  a->moveBefore(b->getIterator());
  for (auto [of, beside] : zip(a->operands(), b->operands()))
    putBeside(of, beside);
}

PreservedAnalyses AlikeOperands::run(Function &function, FunctionAnalysisManager &analyses) {
  const LoopInfo &loops = analyses.getResult<LoopAnalysis>(function);
  bool changed = false;
  for (Instruction &user : instructions(function)) {
    if (!(isa<BinaryOperator>(user) && isArithmetic(user)) && !isa<FCmpInst>(user))
      continue;
    auto *x = dyn_cast<Instruction>(user.getOperand(0)), *y = dyn_cast<Instruction>(user.getOperand(1));
    if (!x || !y || x->getParent() == y->getParent())
      continue;
    if (x->getParent() == user.getParent())
      std::swap(x, y);
    if (y->getParent() != user.getParent() || loops.getLoopFor(x->getParent()) != loops.getLoopFor(y->getParent()) ||
        !haveRoots(x, y))
      continue;
    putBeside(x, y);
    changed = true;
  }
  PreservedAnalyses kept;
  kept.preserveSet<CFGAnalyses>();
  return changed ? kept : PreservedAnalyses::all();
}

} // namespace toy
