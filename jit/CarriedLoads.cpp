// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements that go from turn to turn: which loops have them.
#include "jit/CarriedLoads.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace toy {

/// The address of each turn, where it moves by the same in all of them.
static const SCEVAddRecExpr *movingAddress(Value *pointer, const Loop &loop, ScalarEvolution &evolution) {
  auto *moving = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(pointer));
  return moving && moving->getLoop() == &loop && moving->isAffine() ? moving : nullptr;
}

bool readsWhatWasStored(const Loop &loop, const DominatorTree &tree, ScalarEvolution &evolution) {
  constexpr unsigned mostAccesses = 8; // of each kind
  SmallVector<const SCEVAddRecExpr *> loads, stores;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &i : *block) {
      auto *load = dyn_cast<LoadInst>(&i);
      auto *store = dyn_cast<StoreInst>(&i);
      if ((load && load->isSimple() && tree.dominates(block, loop.getLoopLatch())) || (store && store->isSimple()))
        if (auto *address = movingAddress(getLoadStorePointerOperand(&i), loop, evolution))
          (load ? loads : stores).push_back(address);
    }
  return loads.size() <= mostAccesses && stores.size() <= mostAccesses &&
         any_of(loads, [&](const SCEVAddRecExpr *load) {
           return any_of(stores, [&](const SCEVAddRecExpr *store) {
             return evolution.getMinusSCEV(store, load) == load->getStepRecurrence(evolution);
           });
         });
}

} // namespace toy
