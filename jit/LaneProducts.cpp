// SPDX-License-Identifier: Apache-2.0
#include "jit/LaneProducts.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace toy {

/// The upper half of the products of unsigned numbers by a constant, by halves of both. What is carried never
/// overflows: (2^32 - 1)^2 + 2 (2^32 - 1) is 2^64 - 1.
static Value *upperHalf(IRBuilder<> &b, Value *x, uint64_t factor) {
  Type *type = x->getType();
  auto number = [&](uint64_t n) { return ConstantInt::get(type, n); };
  auto low = [&](Value *v) { return b.CreateAnd(v, number(UINT32_MAX)); };
  auto high = [&](Value *v) { return b.CreateLShr(v, number(32)); };
  auto product = [&](Value *v, uint64_t by) { return b.CreateMul(v, number(by), "", /*HasNUW=*/true); };
  auto sum = [&](Value *v, Value *w) { return b.CreateAdd(v, w, "", /*HasNUW=*/true); };
  const uint64_t lower = factor & UINT32_MAX, upper = factor >> 32;
  Value *lowX = low(x), *highX = high(x);
  Value *middle = sum(product(highX, lower), high(product(lowX, lower)));
  Value *other = sum(product(lowX, upper), low(middle));
  return sum(sum(product(highX, upper), high(middle)), high(other));
}

PreservedAnalyses LaneProducts::run(Function &function, FunctionAnalysisManager &) {
  if (!function.getParent()->getTargetTriple().isX86())
    return PreservedAnalyses::all();
  SmallVector<Instruction *> done;
  for (Instruction &i : instructions(function)) {
    Value *x;
    const APInt *factor, *shift;
    if (!isa<FixedVectorType>(i.getType()) || !i.getType()->getScalarType()->isIntegerTy(64) ||
        !match(&i, m_Trunc(m_LShr(m_c_Mul(m_ZExt(m_Value(x)), m_APInt(factor)), m_APInt(shift)))) ||
        x->getType() != i.getType() || factor->getActiveBits() > 64 || shift->ult(64) || shift->uge(128))
      continue;
    IRBuilder<> b(&i);
    Value *upper = upperHalf(b, x, factor->getZExtValue());
    i.replaceAllUsesWith(b.CreateLShr(upper, ConstantInt::get(x->getType(), shift->getZExtValue() - 64)));
    done.push_back(&i);
  }
  for (Instruction *i : done)
    RecursivelyDeleteTriviallyDeadInstructions(i);
  return done.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace toy
