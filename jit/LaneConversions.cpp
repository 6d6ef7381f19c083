// SPDX-License-Identifier: Apache-2.0
#include "jit/LaneConversions.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <cmath>

using namespace llvm;

namespace toy {

/// Where floats hold both ends of the integers: the conversion of the nearest one between them. NaN becomes 0.
static Value *clamped(IRBuilder<> &b, Value *x, Type *to, bool isUnsigned) {
  const int width = static_cast<int>(to->getScalarSizeInBits());
  Type *from = x->getType(), *wide = to->getWithNewBitWidth(std::max(width, 32));
  Constant *least = ConstantFP::get(from, isUnsigned ? 0 : -std::ldexp(1.0, width - 1));
  Constant *most = ConstantFP::get(from, std::ldexp(1.0, isUnsigned ? width : width - 1) - 1);
  Value *inside = b.CreateSelect(b.CreateFCmpOGT(x, least), x, least); // the least for NaN
  inside = b.CreateSelect(b.CreateFCmpOLT(inside, most), inside, most);
  Value *whole = b.CreateTrunc(b.CreateFPToSI(inside, wide), to);
  return isUnsigned ? whole : b.CreateSelect(b.CreateFCmpORD(x, x), whole, Constant::getNullValue(to));
}

/// The conversion of what the integers hold, with 0 in place of the rest, then the ends in place of what lies beyond
/// them; NaN stays 0.
static Value *saturating(IntrinsicInst *call, bool isUnsigned) {
  IRBuilder<> b(call);
  Value *x = call->getArgOperand(0);
  Type *from = x->getType(), *to = call->getType();
  const int width = static_cast<int>(to->getScalarSizeInBits());
  if (width <= from->getFPMantissaWidth())
    return clamped(b, x, to, isUnsigned);
  Constant *least = ConstantFP::get(from, isUnsigned ? 0 : -std::ldexp(1.0, width - 1));
  Constant *beyond = ConstantFP::get(from, std::ldexp(1.0, isUnsigned ? width : width - 1));
  Value *isInside = b.CreateAnd(b.CreateFCmpOGE(x, least), b.CreateFCmpOLT(x, beyond));
  Value *inside = b.CreateSelect(isInside, x, Constant::getNullValue(from));
  Type *wide = to->getWithNewBitWidth(std::max(width, 32)); // bytes have no conversion of their own
  Value *whole = b.CreateTrunc(b.CreateFPToSI(inside, wide), to);
  APInt most = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  APInt smallest = isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width);
  whole = b.CreateSelect(b.CreateFCmpOGE(x, beyond), ConstantInt::get(to, most), whole);
  return isUnsigned ? whole : b.CreateSelect(b.CreateFCmpOLT(x, least), ConstantInt::get(to, smallest), whole);
}

PreservedAnalyses LaneConversions::run(Function &function, FunctionAnalysisManager &) {
  if (!function.getParent()->getTargetTriple().isX86())
    return PreservedAnalyses::all();
  bool changed = false;
  for (Instruction &i : make_early_inc_range(instructions(function))) {
    auto *call = dyn_cast<IntrinsicInst>(&i);
    const Intrinsic::ID id = call ? call->getIntrinsicID() : Intrinsic::not_intrinsic;
    const bool isUnsigned = id == Intrinsic::fptoui_sat; // of bytes alone
    if ((!isUnsigned && id != Intrinsic::fptosi_sat) || !call->getType()->isVectorTy())
      continue;
    call->replaceAllUsesWith(saturating(call, isUnsigned));
    call->eraseFromParent();
    changed = true;
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace toy
