// SPDX-License-Identifier: Apache-2.0
#include "jit/CarriedExtrema.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Support/KnownFPClass.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace toy {
namespace {

/// `x < y ? x : y`, or of a maximum `x > y ? x : y`.
struct Choice {
  Value *x, *y;
  bool isMin;
};

std::optional<Choice> choiceOf(Value *v) {
  CmpPredicate given;
  Value *a, *b, *x, *y;
  if (!match(v, m_Select(m_FCmp(given, m_Value(a), m_Value(b)), m_Value(x), m_Value(y))) || v->getType()->isVectorTy())
    return std::nullopt;
  CmpInst::Predicate predicate = given;
  if (predicate == CmpInst::FCMP_UGE || predicate == CmpInst::FCMP_ULE) {
    predicate = CmpInst::getInversePredicate(predicate);
    std::swap(x, y);
  }
  if (x == b && y == a) {
    predicate = CmpInst::getSwappedPredicate(predicate);
    std::swap(a, b);
  }
  if (x != a || y != b || (predicate != CmpInst::FCMP_OLT && predicate != CmpInst::FCMP_OGT))
    return std::nullopt;
  return Choice{x, y, predicate == CmpInst::FCMP_OLT};
}

/// The operands of an operation of LLVM's, or of one that takes both choices, as ScalarEmitter makes it: of a maximum
/// without the selection of NaN, which LLVM may have moved behind what is computed of it.
std::optional<Choice> extremumOf(Value *v) {
  Value *first, *second;
  if (v->getType()->isVectorTy())
    return std::nullopt;
  const bool isMinimum = match(v, m_Intrinsic<Intrinsic::minimum>(m_Value(first), m_Value(second)));
  if (isMinimum || match(v, m_Intrinsic<Intrinsic::maximum>(m_Value(first), m_Value(second))))
    return Choice{first, second, isMinimum};
  auto bits = [](Value *&u) { return m_BitCast(m_Value(u)); };
  const bool isMin = match(v, m_BitCast(m_Or(bits(first), bits(second))));
  if (!isMin && !match(v, m_BitCast(m_And(bits(first), bits(second)))))
    return std::nullopt;
  auto one = choiceOf(first), other = choiceOf(second);
  const bool areBoth =
      one && other && one->isMin == isMin && other->isMin == isMin && one->x == other->y && one->y == other->x;
  return areBoth ? one : std::nullopt;
}

struct Carried {
  Instruction *result;
  WeakTrackingVH early, late;
  bool isMin;
};

/// What is computed of what an innermost loop hands to its next turn.
SmallPtrSet<Value *, 32> handedOn(const Loop &loop) {
  SmallPtrSet<Value *, 32> values;
  SmallVector<Instruction *> work;
  auto add = [&](Instruction &i) {
    if (values.insert(&i).second)
      work.push_back(&i);
  };
  for (PHINode &phi : loop.getHeader()->phis())
    if (phi.getType()->isFloatingPointTy())
      add(phi);
  while (!work.empty())
    for (User *user : work.pop_back_val()->users())
      if (auto *i = dyn_cast<Instruction>(user); i && loop.contains(i))
        add(*i);
  return values;
}

void findCarried(const Loop &loop, SmallVectorImpl<Carried> &found) {
  SmallPtrSet<Value *, 32> carried = handedOn(loop);
  if (carried.empty())
    return;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &i : *block)
      if (carried.contains(&i))
        if (auto extremum = extremumOf(&i);
            extremum && carried.contains(extremum->x) != carried.contains(extremum->y)) {
          const bool isFirst = carried.contains(extremum->x);
          found.push_back(
              {&i, isFirst ? extremum->y : extremum->x, isFirst ? extremum->x : extremum->y, extremum->isMin});
        }
}

/// A maximum that is NaN where an operand is makes what is computed of it NaN: that need not be chosen.
void dropSelection(Instruction *maximum, Value *x, Value *y) {
  SmallVector<Instruction *> values = {maximum};
  for (User *user : maximum->users())
    if (auto *i = cast<Instruction>(user); match(i, m_FAdd(m_Value(), m_Value())) ||
                                           match(i, m_FSub(m_Value(), m_Value())) ||
                                           match(i, m_FMul(m_Value(), m_Value())))
      values.push_back(i);
  for (Instruction *value : values)
    for (User *user : make_early_inc_range(value->users())) {
      auto *select = dyn_cast<SelectInst>(user);
      auto *compare = select ? dyn_cast<FCmpInst>(select->getCondition()) : nullptr;
      if (!compare || (compare->getPredicate() != CmpInst::FCMP_UNO && compare->getPredicate() != CmpInst::FCMP_ORD))
        continue;
      const bool isNanFirst = compare->getPredicate() == CmpInst::FCMP_UNO;
      Value *nan = isNanFirst ? select->getTrueValue() : select->getFalseValue(),
            *other = isNanFirst ? select->getFalseValue() : select->getTrueValue();
      Value *a = compare->getOperand(0), *b = compare->getOperand(1);
      if (other == value && match(nan, m_NaN()) && ((a == x && b == y) || (a == y && b == x)))
        select->replaceAllUsesWith(value);
    }
}

/// Whether what a loop carries is never a zero of one sign: neither is anything that it begins with or chooses from.
bool isNeverCarried(FPClassTest zero, Value *v, const SimplifyQuery &query, SmallPtrSetImpl<Value *> &seen) {
  constexpr unsigned mostValues = 32;
  if (!seen.insert(v).second)
    return true;
  if (seen.size() > mostValues)
    return false;
  auto isNever = [&](Value *of) { return isNeverCarried(zero, of, query, seen); };
  if (auto *phi = dyn_cast<PHINode>(v))
    return all_of(phi->incoming_values(), isNever);
  if (auto *select = dyn_cast<SelectInst>(v))
    return isNever(select->getTrueValue()) && isNever(select->getFalseValue());
  if (auto *call = dyn_cast<IntrinsicInst>(v))
    switch (call->getIntrinsicID()) {
    case Intrinsic::minimum:
    case Intrinsic::maximum:
    case Intrinsic::vector_reduce_fminimum:
    case Intrinsic::vector_reduce_fmaximum:
      return all_of(call->args(), isNever);
    default:
      break;
    }
  return computeKnownFPClass(v, zero, query).isKnownNever(zero);
}

/// Both zeros are equal to the instruction, which then gives its second operand, as it does where one is NaN: right
/// unless the first one is NaN, or the zero that the operation prefers and the second one may be the other.
void shorten(Carried &c) {
  IRBuilder<> b(c.result);
  Value *early = c.early, *late = c.late;
  SmallPtrSet<Value *, 32> seen;
  const FPClassTest other = c.isMin ? fcPosZero : fcNegZero;
  const SimplifyQuery query(c.result->getDataLayout());
  bool hasOneZero = isNeverCarried(other, late, query, seen);
  if (!hasOneZero && computeKnownFPClass(early, other, query).isKnownNever(other)) { // of `abs(d)`, whatever is carried
    std::swap(early, late);
    hasOneZero = true;
  }
  Type *word = b.getIntNTy(early->getType()->getScalarSizeInBits());
  Value *preferred = ConstantInt::get(word, c.isMin ? APInt::getSignMask(word->getIntegerBitWidth())
                                                    : APInt::getZero(word->getIntegerBitWidth()));
  Value *isRare = b.CreateFCmpUNO(early, early);
  if (!hasOneZero)
    isRare = b.CreateOr(isRare, b.CreateICmpEQ(b.CreateBitCast(early, word), preferred));
  Instruction *usualEnd, *rareEnd;
  SplitBlockAndInsertIfThenElse(isRare, c.result, &rareEnd, &usualEnd,
                                MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  b.SetInsertPoint(usualEnd);
  Value *comes = c.isMin ? b.CreateFCmpOLT(early, late) : b.CreateFCmpOGT(early, late);
  Value *usual = b.CreateSelect(comes, early, late);
  b.SetInsertPoint(rareEnd);
  Value *rare = b.CreateBinaryIntrinsic(c.isMin ? Intrinsic::minimum : Intrinsic::maximum, early, late);
  b.SetInsertPoint(c.result->getParent(), c.result->getParent()->begin());
  PHINode *both = b.CreatePHI(early->getType(), 2);
  both->addIncoming(usual, usualEnd->getParent());
  both->addIncoming(rare, rareEnd->getParent());
  c.result->replaceAllUsesWith(both);
  if (!c.isMin)
    dropSelection(both, early, late);
}

} // namespace

PreservedAnalyses CarriedExtrema::run(Function &function, FunctionAnalysisManager &analyses) {
  if (!function.getParent()->getTargetTriple().isX86())
    return PreservedAnalyses::all();
  SmallVector<Carried> found;
  for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
    if (loop->isInnermost())
      findCarried(*loop, found);
  for (Carried &c : found)
    shorten(c);
  for (Carried &c : found)
    RecursivelyDeleteTriviallyDeadInstructions(c.result);
  return found.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace toy
