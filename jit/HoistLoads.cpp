// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loads that no store of a loop changes, by how far from them the first store is.
#include "jit/HoistLoads.h"
#include "passes/lowering/Attributes.h"

#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace toy {

/// Whether no turn stores where a load reads. A loop's stores are to memory, which is too small for their addresses to
/// come round to the load from the other side.
static bool isApart(StoreInst &store, LoadInst &load, Loop &loop, ScalarEvolution &evolution, AAResults &aliases) {
  if (aliases.isNoAlias(MemoryLocation::get(&store), MemoryLocation::get(&load)))
    return true;
  auto *moving = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(store.getPointerOperand()));
  auto *step = moving && moving->getLoop() == &loop && moving->isAffine()
                   ? dyn_cast<SCEVConstant>(moving->getStepRecurrence(evolution))
                   : nullptr;
  if (!step)
    return false;
  const SCEV *read = evolution.getSCEV(load.getPointerOperand()), *first = moving->getStart();
  const bool goesUp = step->getAPInt().isNonNegative();
  const SCEV *distance = goesUp ? evolution.getMinusSCEV(first, read) : evolution.getMinusSCEV(read, first);
  if (isa<SCEVCouldNotCompute>(distance))
    return false;
  const DataLayout &layout = load.getDataLayout();
  const TypeSize size = layout.getTypeStoreSize(goesUp ? load.getType() : store.getValueOperand()->getType());
  return !size.isScalable() &&
         evolution.isKnownPredicate(ICmpInst::ICMP_SGE, distance,
                                    evolution.getConstant(distance->getType(), size.getFixedValue()));
}

/// Whether an instruction writes nothing that a program reads: the mark of a turn, and what says things to LLVM.
static bool isMark(const Instruction &i) {
  auto *call = dyn_cast<CallInst>(&i);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee && (callee->getName() == turnMark || isa<DbgInfoIntrinsic, AssumeInst>(i));
}

bool hoistLoads(Loop &loop, const SmallSetVector<BasicBlock *, 16> &decided, ScalarEvolution &evolution,
                AAResults &aliases, const DominatorTree &tree) {
  constexpr size_t mostStores = 8, mostLoads = 16; // each is compared with each
  BasicBlock *latch = loop.getLoopLatch(), *preheader = loop.getLoopPreheader();
  if (!loop.isInnermost() || !latch || !preheader)
    return false;
  SmallVector<BasicBlock *> exiting;
  loop.getExitingBlocks(exiting);
  if (llvm::any_of(exiting, [&](BasicBlock *block) { return block != latch && !decided.contains(block); }))
    return false;
  SmallVector<StoreInst *> stores;
  SmallVector<LoadInst *> loads;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &i : *block) {
      auto *load = dyn_cast<LoadInst>(&i);
      auto *store = dyn_cast<StoreInst>(&i);
      if (store && store->isSimple())
        stores.push_back(store);
      else if (load && load->isSimple()) {
        if (loop.isLoopInvariant(load->getPointerOperand()) && tree.dominates(block, latch))
          loads.push_back(load);
      } else if (i.mayHaveSideEffects() && !isMark(i))
        return false;
    }
  if (stores.empty() || stores.size() > mostStores || loads.size() > mostLoads)
    return false;
  bool any = false;
  for (LoadInst *load : loads)
    if (llvm::all_of(stores, [&](StoreInst *store) { return isApart(*store, *load, loop, evolution, aliases); })) {
      evolution.forgetValue(load);
      load->moveBefore(preheader->getTerminator()->getIterator());
      any = true;
    }
  return any;
}

} // namespace toy
