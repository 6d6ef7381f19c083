// SPDX-License-Identifier: Apache-2.0
/// \file
/// Checks of indices before loops: LLVM's own counts say how many turns a loop makes, and how an index moves.
#include "jit/HoistChecks.h"
#include "jit/CarriedLoads.h"
#include "jit/HoistLoads.h"
#include "passes/lowering/Attributes.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IR/ProfDataUtils.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace toy {

static constexpr const char *keepsTurns = "llvm.loop.unroll.disable";

namespace {
/// A branch to the cold where an index is not below a size that the loop does not change.
struct Check {
  BranchInst *branch;
  unsigned inside; ///< the successor of an index inside
  Value *index;
  Value *counted;    ///< the index, counted from the front where it was negative
  const SCEV *first; ///< the index in the first turn; with a step of 0 the most that it may be
  int64_t step;
  const SCEV *size;
  const SCEV *fails = nullptr; ///< the turn that is outside, where LLVM asks for just that
  /// Where only turns ask whose counter, which is this in the first turn, is not below what the index is counted from.
  const SCEV *counter = nullptr, *least = nullptr;
};
} // namespace

/// Whether a branch was made as one that is hardly ever taken.
static bool isRare(const BranchInst &branch, unsigned successor) {
  uint64_t taken[2];
  return extractBranchWeights(branch, taken[0], taken[1]) && taken[successor] < taken[1 - successor] / 100;
}

/// The value that a select compares with 0, if it chooses something else where that is negative.
static Value *ifNegative(Value *v, Value *&otherwise) {
  Value *index;
  auto *select = dyn_cast<SelectInst>(v);
  if (!select)
    return nullptr;
  const bool isSwapped = match(select->getCondition(), m_SpecificICmp(ICmpInst::ICMP_SGT, m_Value(index), m_AllOnes()));
  if (!isSwapped && !match(select->getCondition(), m_SpecificICmp(ICmpInst::ICMP_SLT, m_Value(index), m_Zero())))
    return nullptr;
  otherwise = isSwapped ? select->getTrueValue() : select->getFalseValue();
  return index;
}

/// What an index was before a select brought it to the front, in the forms that LLVM gives it.
static Value *beforeWrapping(Value *counted) {
  Value *otherwise = nullptr, *index = ifNegative(counted, otherwise);
  if (index && otherwise == index)
    return index;
  if (auto *sum = dyn_cast<BinaryOperator>(counted); sum && sum->getOpcode() == Instruction::Add)
    for (unsigned i : {0, 1}) {
      Value *other = sum->getOperand(1 - i);
      index = ifNegative(sum->getOperand(i), otherwise);
      const bool hasSign = index && (index == other || match(other, m_c_Or(m_Specific(index), m_NonNegative())));
      if (hasSign && match(otherwise, m_Zero())) // of 2 i + 1, the sign of 2 i is asked
        return other;
      if (match(sum->getOperand(i), m_c_And(m_AShr(m_Specific(other), m_SpecificInt(63)), m_Value())))
        return other;
    }
  return counted;
}

/// Of an index that is clamped, what it is at most, if that does not change in a loop and the index is then not
/// negative: of `min(max(i, 0), n - 2)` it is `n - 2`.
static const SCEV *mostOf(const SCEV *index, const Loop &loop, ScalarEvolution &evolution) {
  auto *clamp = dyn_cast<SCEVNAryExpr>(index);
  if (!clamp || !isa<SCEVSMinExpr, SCEVUMinExpr, SCEVSMaxExpr>(clamp))
    return nullptr;
  SmallVector<const SCEV *> fixed;
  const SCEV *moving = nullptr;
  for (const SCEV *operand : clamp->operands())
    if (evolution.isLoopInvariant(operand, &loop))
      fixed.push_back(operand);
    else if (std::exchange(moving, operand)) // several
      return nullptr;
  if (!moving || fixed.empty())
    return nullptr;
  if (isa<SCEVUMinExpr>(clamp))
    return evolution.getUMinExpr(fixed);
  if (isa<SCEVSMinExpr>(clamp))
    return evolution.isKnownNonNegative(moving) ? evolution.getSMinExpr(fixed) : nullptr;
  const SCEV *inner = isa<SCEVSMinExpr>(moving) ? moving : nullptr; // max(min(i, n - 2), 0)
  if (!inner || llvm::none_of(fixed, [&](const SCEV *s) { return evolution.isKnownNonNegative(s); }))
    return nullptr;
  for (const SCEV *operand : cast<SCEVNAryExpr>(inner)->operands())
    if (evolution.isLoopInvariant(operand, &loop)) {
      fixed.push_back(operand);
      return evolution.getSMaxExpr(fixed);
    }
  return nullptr;
}

/// A check that LLVM has made a comparison with the first index outside.
static std::optional<Check> equalityOf(BranchInst &branch, const ICmpInst &compared, Loop &loop,
                                       ScalarEvolution &evolution) {
  const unsigned inside = compared.getPredicate() == ICmpInst::ICMP_EQ ? 1 : 0;
  if (!compared.isEquality() || !isRare(branch, 1 - inside))
    return std::nullopt;
  for (unsigned i : {0, 1}) {
    auto *moving = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(compared.getOperand(i)));
    Value *end = compared.getOperand(1 - i);
    if (!moving || moving->getLoop() != &loop || !moving->isAffine() || !loop.isLoopInvariant(end))
      continue;
    const SCEV *step = moving->getStepRecurrence(evolution), *first = moving->getStart(),
               *last = evolution.getSCEV(end);
    if (!step->isOne() && !step->isAllOnesValue())
      return std::nullopt;
    const SCEV *turns = step->isOne() ? evolution.getMinusSCEV(last, first) : evolution.getMinusSCEV(first, last);
    Value *index = compared.getOperand(i);
    return Check{&branch, inside, index, index, turns, 0, turns, turns};
  }
  return std::nullopt;
}

static std::optional<Check> checkOf(BranchInst &branch, Loop &loop, ScalarEvolution &evolution) {
  Value *counted, *bound;
  CmpPredicate predicate;
  if (!branch.isConditional() || !match(branch.getCondition(), m_ICmp(predicate, m_Value(counted), m_Value(bound))) ||
      !counted->getType()->isIntegerTy(64))
    return std::nullopt;
  if (auto *compared = cast<ICmpInst>(branch.getCondition()); compared->isEquality())
    return equalityOf(branch, *compared, loop, evolution);
  CmpInst::Predicate order = predicate;
  const bool isFixed = loop.isLoopInvariant(counted) && loop.isLoopInvariant(bound); // LLVM leaves it in its branch
  if (isFixed ? order == CmpInst::ICMP_UGT || order == CmpInst::ICMP_ULE : loop.isLoopInvariant(counted)) {
    std::swap(counted, bound);
    order = CmpInst::getSwappedPredicate(order);
  }
  if (!loop.isLoopInvariant(bound))
    return std::nullopt;
  const SCEV *size = evolution.getSCEV(bound);
  if (order == CmpInst::ICMP_UGT || order == CmpInst::ICMP_ULE) { // below a constant and one more
    auto *constant = dyn_cast<ConstantInt>(bound);
    if (!constant || constant->isMinusOne())
      return std::nullopt;
    size = evolution.getConstant(constant->getValue() + 1);
  }
  unsigned inside;
  if (order == CmpInst::ICMP_UGE || order == CmpInst::ICMP_UGT)
    inside = 1;
  else if (order == CmpInst::ICMP_ULT || order == CmpInst::ICMP_ULE)
    inside = 0;
  else
    return std::nullopt;
  if (!isRare(branch, 1 - inside))
    return std::nullopt;
  if (isFixed)
    return Check{&branch, inside, counted, counted, evolution.getSCEV(counted), 0, size};
  Value *index = beforeWrapping(counted);
  const SCEV *at = evolution.getSCEV(index);
  if (const SCEV *most = mostOf(at, loop, evolution))
    return Check{&branch, inside, index, counted, most, 0, size};
  auto *moving = dyn_cast<SCEVAddRecExpr>(at);
  if (!moving || moving->getLoop() != &loop || !moving->isAffine())
    return std::nullopt;
  auto *step = dyn_cast<SCEVConstant>(moving->getStepRecurrence(evolution));
  // An index that is negative in the first turn is meant to be counted from the end.
  if (!step || step->getAPInt().abs().ugt(INT16_MAX) || evolution.isKnownNegative(moving->getStart()))
    return std::nullopt;
  return Check{&branch, inside, index, counted, moving->getStart(), step->getAPInt().getSExtValue(), size};
}

namespace {
/// A loop with its checks; `back` is how often it goes back.
struct Checked {
  Loop *loop;
  const SCEV *back;
  SmallVector<Check> checks;
};
} // namespace

/// Whether each turn that comes to its end has been in one of some blocks.
static bool isInEachTurn(Loop &loop, const SmallPtrSetImpl<BasicBlock *> &blocks) {
  SmallVector<BasicBlock *> left = {loop.getHeader()};
  SmallPtrSet<BasicBlock *, 16> seen(blocks.begin(), blocks.end());
  while (!left.empty()) {
    BasicBlock *block = left.pop_back_val();
    if (!loop.contains(block) || !seen.insert(block).second)
      continue;
    if (block == loop.getLoopLatch())
      return false;
    append_range(left, successors(block));
  }
  return true;
}

/// What a check asks: its index in the first turn, the step, and the size.
using Question = std::tuple<const SCEV *, int64_t, const SCEV *, const SCEV *>;
static Question questionOf(const Check &check) {
  return {check.first, check.fails ? INT64_MAX : check.step, check.size, check.counter};
}

/// Whether a condition compares what is known of all turns: a counter with a bound.
static bool comparesCounters(Value *condition, Loop &loop, ScalarEvolution &evolution, int depth = 0) {
  constexpr int deepest = 4;
  auto *op = dyn_cast<Instruction>(condition);
  if (!op || !loop.contains(op))
    return false;
  if (auto *compared = dyn_cast<ICmpInst>(op))
    return llvm::all_of(compared->operands(), [&](Value *v) {
      auto *moving = evolution.isSCEVable(v->getType()) ? dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(v)) : nullptr;
      return moving || loop.isLoopInvariant(v);
    });
  return depth < deepest &&
         llvm::any_of(
             op->operands(),
             [&](Value *v) { return v->getType()->isIntegerTy(1) && comparesCounters(v, loop, evolution, depth + 1); });
}

/// Whether a check is behind `if counter >= least`, of the index `counter - least`: where that is asked, no part of the
/// difference is lost as a number without a sign, and the last turn's is the largest.
static bool isBehindLeast(Check &check, BranchInst &branch, Loop &loop, DominatorTree &tree,
                          ScalarEvolution &evolution) {
  auto *compared = dyn_cast<ICmpInst>(branch.getCondition());
  if (!compared || check.step != 1 || check.fails || check.counter ||
      !compared->getOperand(0)->getType()->isIntegerTy(64))
    return false;
  for (unsigned way : {0, 1}) {
    if (!tree.dominates(BasicBlockEdge(branch.getParent(), branch.getSuccessor(way)), check.branch->getParent()))
      continue;
    CmpInst::Predicate order = way == 0 ? compared->getPredicate() : compared->getInversePredicate();
    const SCEV *a = evolution.getSCEV(compared->getOperand(0)), *b = evolution.getSCEV(compared->getOperand(1));
    if (order == CmpInst::ICMP_SLE || order == CmpInst::ICMP_SLT)
      std::swap(a, b), order = CmpInst::getSwappedPredicate(order);
    auto *moving = dyn_cast<SCEVAddRecExpr>(a);
    if ((order != CmpInst::ICMP_SGE && order != CmpInst::ICMP_SGT) || !moving || moving->getLoop() != &loop ||
        !moving->isAffine() || !moving->getStepRecurrence(evolution)->isOne() || !evolution.isLoopInvariant(b, &loop) ||
        evolution.getMinusSCEV(moving->getStart(), b) != check.first)
      return false;
    check.counter = moving->getStart();
    check.least = b;
    return true;
  }
  return false;
}

/// Whether a block is behind a way that is hardly ever taken, as that of an index that is then counted from the end.
static bool isBehindRare(BasicBlock *block, BranchInst &branch, DominatorTree &tree) {
  return branch.isConditional() && llvm::any_of(seq<unsigned>(0, 2), [&](unsigned way) {
           return isRare(branch, way) &&
                  tree.dominates(BasicBlockEdge(branch.getParent(), branch.getSuccessor(way)), block);
         });
}

/// Whether a check is behind a branch that a counter decides, or another check that has failed: it may be there because
/// the index is outside elsewhere.
static bool isGuarded(Check &check, Loop &loop, DominatorTree &tree, ScalarEvolution &evolution) {
  BasicBlock *at = check.branch->getParent();
  while (at != loop.getHeader()) {
    at = tree.getNode(at)->getIDom()->getBlock();
    auto *branch = dyn_cast<BranchInst>(at->getTerminator());
    if (!branch || isBehindRare(check.branch->getParent(), *branch, tree))
      return true;
    const bool decides = branch->isConditional() &&
                         llvm::all_of(branch->successors(), [&](BasicBlock *to) { return loop.contains(to); });
    if (decides && comparesCounters(branch->getCondition(), loop, evolution) &&
        !isBehindLeast(check, *branch, loop, tree, evolution))
      return true;
  }
  return false;
}

/// Leaves what every turn asks, in whatever branch, and what data decide whether a turn asks: other questions need not
/// be true of all turns.
static void keepCertain(Loop &loop, DominatorTree &tree, ScalarEvolution &evolution, SmallVectorImpl<Check> &checks) {
  SmallDenseMap<Question, SmallPtrSet<BasicBlock *, 4>> blocks;
  for (const Check &check : checks)
    blocks[questionOf(check)].insert(check.branch->getParent());
  SCEVExpander expander(evolution, "");
  Instruction *at = loop.getLoopPreheader()->getTerminator();
  erase_if(checks, [&](Check &check) {
    return !isInEachTurn(loop, blocks[questionOf(check)]) &&
           (isGuarded(check, loop, tree, evolution) ||
            (check.counter &&
             (!expander.isSafeToExpandAt(check.counter, at) || !expander.isSafeToExpandAt(check.least, at))));
  });
}

static std::optional<Checked> checksOf(Loop &loop, DominatorTree &tree, ScalarEvolution &evolution) {
  constexpr unsigned mostInstructions = 250;
  BasicBlock *latch = loop.getLoopLatch();
  if (!loop.isInnermost() || !loop.getLoopPreheader() || !latch || !loop.isLoopExiting(latch) || !loop.isSafeToClone())
    return std::nullopt;
  unsigned instructions = 0;
  for (BasicBlock *block : loop.blocks())
    instructions += block->size();
  if (instructions > mostInstructions)
    return std::nullopt;
  Checked out{&loop, evolution.getExitCount(&loop, latch), {}};
  if (isa<SCEVCouldNotCompute>(out.back) || !out.back->getType()->isIntegerTy() ||
      evolution.getTypeSizeInBits(out.back->getType()) > 64)
    return std::nullopt;
  for (BasicBlock *block : loop.blocks())
    if (auto *branch = dyn_cast<BranchInst>(block->getTerminator()))
      if (auto check = checkOf(*branch, loop, evolution))
        out.checks.push_back(*check);
  SCEVExpander expander(evolution, "");
  Instruction *at = loop.getLoopPreheader()->getTerminator();
  if (!expander.isSafeToExpandAt(out.back, at))
    return std::nullopt;
  erase_if(out.checks, [&](const Check &check) {
    return !expander.isSafeToExpandAt(check.first, at) || !expander.isSafeToExpandAt(check.size, at);
  });
  keepCertain(loop, tree, evolution, out.checks);
  return out.checks.empty() ? std::nullopt : std::optional(std::move(out));
}

/// Whether all turns lie inside: the first one does, and there is room for the steps that follow. No sum wraps.
static Value *allInside(const Checked &checked, Instruction *before, ScalarEvolution &evolution) {
  SCEVExpander expander(evolution, "check");
  IRBuilder<> b(before);
  Type *i64 = b.getInt64Ty();
  auto expand = [&](const SCEV *s) { return expander.expandCodeFor(s, i64, before); };
  Value *back = expand(evolution.getNoopOrZeroExtend(checked.back, i64)), *all = nullptr;
  auto require = [&](Value *condition) { all = all ? b.CreateAnd(all, condition) : condition; };
  SmallDenseSet<Question> done;
  for (const Check &check : checked.checks) {
    if (!done.insert(questionOf(check)).second)
      continue;
    Value *first = expand(check.first), *size = expand(check.size);
    if (check.counter) { // the last turn does not ask, and so none does, or its index is inside
      Value *start = expand(check.counter), *last = b.CreateAdd(start, back), *least = expand(check.least);
      require(b.CreateICmpSGE(b.CreateOr(start, b.CreateOr(back, last)), b.getInt64(0)));
      require(b.CreateOr(b.CreateICmpSLT(last, least), b.CreateICmpULT(b.CreateSub(last, least), size)));
      continue;
    }
    if (check.fails) {
      require(b.CreateICmpULT(back, first));
      continue;
    }
    if (check.step == 1) { // the last turn's index is often a number that the program has: what a range ends before
      Value *last = expand(evolution.getAddExpr(check.first, evolution.getNoopOrZeroExtend(checked.back, i64)));
      require(b.CreateICmpULE(first, last));
      require(b.CreateICmpULT(last, size));
      continue;
    }
    require(b.CreateICmpULT(first, size));
    if (check.step == 0) // the most that it may be
      continue;
    Value *room = check.step < 0 ? first : b.CreateSub(b.CreateSub(size, first), b.getInt64(1)), *way = back;
    if (uint64_t step = std::abs(check.step); step != 1) {
      require(b.CreateICmpULE(back, b.getInt64(INT64_MAX >> 16))); // so that the product does not wrap
      way = b.CreateMul(back, b.getInt64(step));
    }
    require(b.CreateICmpULE(way, room));
  }
  return all;
}

/// preheader → test: all inside? → loop without checks
///                             : → copy of the loop with checks
static void makeVersions(const Checked &checked, DominatorTree &tree, LoopInfo &loops, ScalarEvolution &evolution) {
  Loop &loop = *checked.loop;
  formLCSSA(loop, tree, &loops, &evolution);
  BasicBlock *test = loop.getLoopPreheader();
  Value *all = allInside(checked, test->getTerminator(), evolution);
  BasicBlock *begin = SplitBlock(test, test->getTerminator(), &tree, &loops);
  SmallVector<BasicBlock *> exits, blocks;
  loop.getUniqueExitBlocks(exits);
  ValueToValueMapTy map;
  Loop *copy = cloneLoopWithPreheader(begin, test, &loop, map, ".checked", &loops, &tree, blocks);
  remapInstructionsInBlocks(blocks, map);
  for (BasicBlock *exit : exits) {
    if (loop.contains(tree.getNode(exit)->getIDom()->getBlock()))
      tree.changeImmediateDominator(exit, test);
    for (PHINode &phi : exit->phis())
      for (unsigned i = 0, n = phi.getNumIncomingValues(); i < n; ++i) {
        BasicBlock *from = phi.getIncomingBlock(i);
        if (!loop.contains(from))
          continue;
        auto it = map.find(phi.getIncomingValue(i));
        phi.addIncoming(it == map.end() ? phi.getIncomingValue(i) : static_cast<Value *>(it->second),
                        cast<BasicBlock>(map[from]));
      }
    for (PHINode &phi : exit->phis())
      evolution.forgetLcssaPhiWithNewPredecessor(&loop, &phi);
  }
  evolution.forgetLoop(&loop);
  addStringMetadataToLoop(copy, keepsTurns, 1);
  addStringMetadataToLoop(copy, "llvm.loop.vectorize.enable", 0);
  ReplaceInstWithInst(test->getTerminator(), BranchInst::Create(begin, copy->getLoopPreheader(), all));
  NamedMDNode *hoisted = test->getModule()->getOrInsertNamedMetadata(hoistedChecks);
  for (const Check &check : checked.checks) {
    if (MDNode *number = check.branch->getMetadata(checkNumber)) {
      hoisted->addOperand(number);
      cast<Instruction>(map[check.branch])->setMetadata(checkNumber, nullptr);
    }
    if (check.counted != check.index)
      check.counted->replaceAllUsesWith(check.index);
    check.branch->setCondition(ConstantInt::getBool(test->getContext(), check.inside == 0));
  }
}

PreservedAnalyses KeepCheckedLoops::run(Loop &loop, LoopAnalysisManager &analyses, LoopStandardAnalysisResults &results,
                                        LPMUpdater &updater) {
  constexpr unsigned fewest = 6; // of fewer turns the checks cost no more than two loops
  BasicBlock *latch = loop.getLoopLatch();
  if (latch && loop.isLoopExiting(latch) && results.SE.getSmallConstantTripCount(&loop, latch) >= fewest &&
      !findOptionMDForLoop(&loop, keepsTurns) && checksOf(loop, results.DT, results.SE))
    addStringMetadataToLoop(&loop, keepsTurns, 1);
  return PreservedAnalyses::all();
}

/// Loops that were left whole may be written out from now on.
static void giveUpKept(LoopInfo &loops) {
  for (Loop *loop : loops.getLoopsInPreorder())
    if (MDNode *id = loop->getLoopID(); id && findOptionMDForLoop(loop, keepsTurns))
      loop->setLoopID(makePostTransformationMetadata(id->getContext(), id, {keepsTurns}, {}));
}

/// Inner loops whose turns data decide (a row of a sparse matrix, the neighbours of a node) are short as a rule: of
/// several turns written out they would pay for the choice between two loops.
static void keepRolled(Loop &loop, ScalarEvolution &evolution) {
  BasicBlock *latch = loop.getLoopLatch();
  const Loop *outer = loop.getParentLoop();
  if (!outer || !latch || !loop.isInnermost() || !loop.isLoopExiting(latch))
    return;
  auto isData = [&](const SCEV *s) {
    auto *unknown = dyn_cast<SCEVUnknown>(s);
    return unknown && !outer->isLoopInvariant(unknown->getValue());
  };
  const SCEV *count = evolution.getExitCount(&loop, latch);
  if (!isa<SCEVCouldNotCompute>(count) && SCEVExprContains(count, isData))
    addStringMetadataToLoop(&loop, "llvm.loop.unroll.runtime.disable", 1);
}

PreservedAnalyses HoistChecks::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  if (loops.empty())
    return PreservedAnalyses::all();
  auto &tree = analyses.getResult<DominatorTreeAnalysis>(function);
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  giveUpKept(loops);
  for (Loop *loop : loops.getLoopsInPreorder())
    keepRolled(*loop, evolution);
  auto &aliases = analyses.getResult<AAManager>(function);
  SmallSetVector<BasicBlock *, 16> decided;
  bool hoistsLoads = false, carriesLoads = false;
  for (Loop *loop : loops.getLoopsInPreorder()) {
    if (auto checked = checksOf(*loop, tree, evolution)) { // what a loop begins with may be another one's result
      carriesLoads |= readsWhatWasStored(*loop, tree, evolution);
      makeVersions(*checked, tree, loops, evolution);
      for (const Check &check : checked->checks)
        decided.insert(check.branch->getParent());
    }
    hoistsLoads |= hoistLoads(*loop, decided, evolution, aliases, tree);
  }
  if (decided.empty())
    return hoistsLoads ? PreservedAnalyses::none() : PreservedAnalyses::all();
  for (BasicBlock *block : decided)
    ConstantFoldTerminator(block, /*DeleteDeadConditions=*/true);
  removeUnreachableBlocks(function);
  for (BasicBlock &block : make_early_inc_range(function)) // what a check divided is one again
    MergeBlockIntoPredecessor(&block);
  if (carriesLoads) {
    analyses.invalidate(function, PreservedAnalyses::none());
    GVNPass().run(function, analyses);
  }
  return PreservedAnalyses::none();
}

} // namespace toy
