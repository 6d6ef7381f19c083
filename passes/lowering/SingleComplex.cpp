// SPDX-License-Identifier: Apache-2.0
#include "passes/lowering/SingleComplex.h"

#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace toy {

Element signSingle(IRBuilder<> &b, Element z) {
  Type *f64 = b.getDoubleTy();
  auto number = [&](double v) { return ConstantFP::get(f64, v); };
  auto fma = [&](Value *x, Value *y, Value *w) { return b.CreateIntrinsic(Intrinsic::fma, {f64}, {x, y, w}); };
  Value *re = b.CreateFPExt(z.re, f64), *im = b.CreateFPExt(z.im, f64);
  auto isInfinite = [&](Value *v) {
    return b.CreateFCmpOEQ(b.CreateUnaryIntrinsic(Intrinsic::fabs, v), ConstantFP::getInfinity(f64));
  };
  auto boxed = [&](Value *v) { // 1 for infinity, 0 for anything else, with the sign
    return b.CreateBinaryIntrinsic(Intrinsic::copysign, b.CreateSelect(isInfinite(v), number(1), number(0)), v);
  };
  Value *anyInfinite = b.CreateOr(isInfinite(re), isInfinite(im)), *unitRe = boxed(re), *unitIm = boxed(im);
  re = b.CreateSelect(anyInfinite, unitRe, re);
  im = b.CreateSelect(anyInfinite, unitIm, im);
  Value *square = fma(re, re, b.CreateFMul(im, im)), *isZero = b.CreateFCmpOEQ(square, number(0));
  Value *half = b.CreateLShr(b.CreateBitCast(square, b.getInt64Ty()), 1);
  Value *inverse = b.CreateBitCast(b.CreateSub(b.getInt64(0x5fe6eb50c7b537a9), half), f64);
  for (int step = 0; step < 3; ++step)
    inverse =
        b.CreateFMul(inverse, fma(b.CreateFMul(b.CreateFMul(number(-0.5), square), inverse), inverse, number(1.5)));
  auto part = [&](Value *v) {
    return b.CreateFPTrunc(b.CreateSelect(isZero, number(0), b.CreateFMul(v, inverse)), b.getFloatTy());
  };
  return {part(re), part(im)};
}

} // namespace toy
