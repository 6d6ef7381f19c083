// SPDX-License-Identifier: Apache-2.0
#include "jit/LanePairs.h"

#include "passes/lowering/Attributes.h"
#include "runtime/ElementFunctions.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace toy {

/// The row of the table whose function of registers this calls, if there is one of pairs.
static std::optional<int> pairedRow(const Instruction &i) {
  auto *call = dyn_cast<CallInst>(&i);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  StringRef name = callee ? callee->getName() : "";
  int row = 0;
  if (!name.consume_front(laneFunctionPrefix) || name.getAsInteger(10, row) || !rt::pairFunction(row))
    return std::nullopt;
  return row;
}

static bool isOfLanes(const Instruction &i) {
  auto *call = dyn_cast<CallInst>(&i);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee && (callee->getName().starts_with(laneFunctionPrefix) || callee->hasFnAttribute(vectorVariant));
}

/// Both calls where the second one stands: first arguments, then second ones.
static void join(CallInst *first, CallInst *second, int row) {
  IRBuilder<> b(second);
  Type *lanes = first->getType(), *both = StructType::get(lanes, lanes);
  SmallVector<Value *> arguments;
  for (unsigned i = 0; i < first->arg_size(); ++i)
    arguments.append({first->getArgOperand(i), second->getArgOperand(i)});
  FunctionCallee callee = first->getModule()->getOrInsertFunction(
      (lanePairPrefix + Twine(row)).str(),
      FunctionType::get(both, SmallVector<Type *>(arguments.size(), lanes), false));
  CallInst *call = b.CreateCall(callee, arguments);
  call->setDoesNotThrow();
  call->setMemoryEffects(MemoryEffects::none());
  first->replaceAllUsesWith(b.CreateExtractValue(call, 0));
  second->replaceAllUsesWith(b.CreateExtractValue(call, 1));
  first->eraseFromParent();
  second->eraseFromParent();
}

/// A masked load that says nothing of the other lanes.
static IntrinsicInst *openLoad(Instruction &i) {
  constexpr unsigned others = 2; // of the arguments
  auto *load = dyn_cast<IntrinsicInst>(&i);
  const Intrinsic::ID id = load ? load->getIntrinsicID() : Intrinsic::not_intrinsic;
  const bool isMasked = id == Intrinsic::masked_load || id == Intrinsic::masked_gather;
  return isMasked && isa<FixedVectorType>(load->getType()) && isa<UndefValue>(load->getArgOperand(others)) ? load
                                                                                                           : nullptr;
}

/// Lanes behind the end of a loop, which masked loads leave open, get what the first lane has: a function takes long
/// for what is left in a register otherwise, such as the logarithm of 0. Of two registers side by side only the first
/// is sure to have a lane; its load stands before the other's.
static void fillLanes(BasicBlock &block) {
  Value *firstMask = nullptr;
  DenseMap<Type *, Value *> first; // what was loaded last into a first register, by its type
  for (Instruction &i : make_early_inc_range(block)) {
    IntrinsicInst *load = openLoad(i);
    if (!load)
      continue;
    Value *mask = load->getArgOperand(1);
    firstMask = firstMask ? firstMask : mask;
    Value *&sure = first[load->getType()];
    sure = mask == firstMask || !sure ? load : sure;
    IRBuilder<> b(load->getNextNode());
    const unsigned lanes = cast<FixedVectorType>(load->getType())->getNumElements();
    Value *filler = b.CreateShuffleVector(sure, SmallVector<int>(lanes, 0));
    Value *filled = b.CreateSelect(mask, load, filler);
    load->replaceUsesWithIf(filled, [&](const Use &use) { return use.getUser() != filler && use.getUser() != filled; });
  }
}

/// Whether nothing is asked for: of lanes behind the end of a short row. What memory holds in their place may be what a
/// function takes long for.
static bool isOfNothing(const CallInst &call) {
  return any_of(call.args(), [](const Use &argument) { return isa<UndefValue>(argument); });
}

PreservedAnalyses LanePairs::run(Function &function, FunctionAnalysisManager &) {
  for (BasicBlock &block : function) {
    if (any_of(block, isOfLanes))
      fillLanes(block);
    std::map<int, CallInst *> waiting; // by row; nothing has used them yet
    for (Instruction &i : make_early_inc_range(block)) {
      std::erase_if(waiting, [&](auto &call) { return is_contained(i.operands(), call.second); });
      const std::optional<int> row = pairedRow(i);
      if (!row)
        continue;
      if (isOfNothing(cast<CallInst>(i))) {
        i.replaceAllUsesWith(PoisonValue::get(i.getType()));
        i.eraseFromParent();
        continue;
      }
      CallInst *&first = waiting[*row];
      if (first)
        join(std::exchange(first, nullptr), cast<CallInst>(&i), *row);
      else
        first = cast<CallInst>(&i);
      if (!first)
        waiting.erase(*row);
    }
  }
  return PreservedAnalyses::none();
}

} // namespace toy
