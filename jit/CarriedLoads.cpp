// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements that go from turn to turn: which loops have them; LLVM's numbering of values does the rest.
#include "jit/CarriedLoads.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Scalar/GVN.h"

using namespace llvm;

namespace toy {

/// The address of each turn, where it moves by the same in all of them.
static const SCEVAddRecExpr *movingAddress(Value *pointer, const Loop &loop, ScalarEvolution &evolution) {
  auto *moving = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(pointer));
  return moving && moving->getLoop() == &loop && moving->isAffine() ? moving : nullptr;
}

/// Whether a loop begins its turns with a read of what the turn before may have stored.
static bool readsWhatWasStored(const Loop &loop, ScalarEvolution &evolution) {
  constexpr unsigned mostAccesses = 8; // of each kind
  SmallVector<const SCEVAddRecExpr *> loads, stores;
  for (Instruction &i : *loop.getHeader())
    if (auto *load = dyn_cast<LoadInst>(&i); load && load->isSimple())
      if (auto *address = movingAddress(load->getPointerOperand(), loop, evolution))
        loads.push_back(address);
  if (loads.empty() || loads.size() > mostAccesses)
    return false;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &i : *block)
      if (auto *store = dyn_cast<StoreInst>(&i); store && store->isSimple())
        if (auto *address = movingAddress(store->getPointerOperand(), loop, evolution))
          stores.push_back(address);
  return stores.size() <= mostAccesses && any_of(loads, [&](const SCEVAddRecExpr *load) {
           return any_of(stores, [&](const SCEVAddRecExpr *store) {
             return evolution.getMinusSCEV(store, load) == load->getStepRecurrence(evolution);
           });
         });
}

PreservedAnalyses CarriedLoads::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  if (loops.empty())
    return PreservedAnalyses::all();
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  for (const Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost() && readsWhatWasStored(*loop, evolution))
      return GVNPass().run(function, analyses);
  return PreservedAnalyses::all();
}

} // namespace toy
