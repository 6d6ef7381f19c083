// SPDX-License-Identifier: Apache-2.0
#include "jit/AlikeOperands.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
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

namespace {

/// What is computed alike, at places of which one comes before the other.
class Pairs {
public:
  Pairs(const LoopInfo &loops, const DominatorTree &tree) : loops(loops), tree(tree) {}

  bool haveRoots(Value *early, Value *later, unsigned depth = 0) const;
  void putBeside(Value *early, Value *later) const;

private:
  bool areAlike(Value *early, Value *later) const;

  const LoopInfo &loops;
  const DominatorTree &tree;
};

} // namespace

/// The same operation, an earlier one of which only what `later` is used by makes use. (Of the operands of two such
/// operations, the one of the later operation may be the earlier one: what it would be put before lacks its operands.)
bool Pairs::areAlike(Value *early, Value *later) const {
  auto *a = dyn_cast<Instruction>(early), *b = dyn_cast<Instruction>(later);
  return a && b && a->hasOneUser() && a->getOpcode() == b->getOpcode() && a->getType() == b->getType() &&
         isArithmetic(*a) && isArithmetic(*b) && tree.properlyDominates(a->getParent(), b->getParent()) &&
         loops.getLoopFor(a->getParent()) == loops.getLoopFor(b->getParent());
}

/// Whether there is a root or a quotient in what is alike: the processor takes as long for two of them as for one.
bool Pairs::haveRoots(Value *early, Value *later, unsigned depth) const {
  constexpr unsigned mostSteps = 5;
  if (depth == mostSteps || !areAlike(early, later))
    return false;
  auto *a = cast<Instruction>(early), *b = cast<Instruction>(later);
  return isRoot(*a) || a->getOpcode() == Instruction::FDiv || any_of(zip(a->operands(), b->operands()), [&](auto pair) {
           return haveRoots(std::get<0>(pair), std::get<1>(pair), depth + 1);
         });
}

void Pairs::putBeside(Value *early, Value *later) const {
  if (!areAlike(early, later))
    return;
  auto *a = cast<Instruction>(early), *b = cast<Instruction>(later);
  a->moveBefore(b->getIterator());
  for (auto [of, beside] : zip(a->operands(), b->operands()))
    putBeside(of, beside);
}

PreservedAnalyses AlikeOperands::run(Function &function, FunctionAnalysisManager &analyses) {
  const Pairs pairs(analyses.getResult<LoopAnalysis>(function), analyses.getResult<DominatorTreeAnalysis>(function));
  bool changed = false;
  for (Instruction &user : instructions(function)) {
    if (!(isa<BinaryOperator>(user) && isArithmetic(user)) && !isa<FCmpInst>(user))
      continue;
    auto *x = dyn_cast<Instruction>(user.getOperand(0)), *y = dyn_cast<Instruction>(user.getOperand(1));
    if (!x || !y || x->getParent() == y->getParent())
      continue;
    if (x->getParent() == user.getParent())
      std::swap(x, y);
    if (y->getParent() != user.getParent() || !pairs.haveRoots(x, y))
      continue;
    pairs.putBeside(x, y);
    changed = true;
  }
  PreservedAnalyses kept;
  kept.preserveSet<CFGAnalyses>();
  return changed ? kept : PreservedAnalyses::all();
}

} // namespace toy
