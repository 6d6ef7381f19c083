// SPDX-License-Identifier: Apache-2.0
/// \file
/// Quotients and remainders of single elements: of integers, which are rounded down and checked, of floats, of complex
/// numbers.
#include "passes/lowering/ScalarEmitter.h"
#include "runtime/ElementFunctions.h"

#include "llvm/ADT/APInt.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace toy {

/// Two doubles as a vector, and as one element.
static Value *pairOf(IRBuilder<> &b, Value *first, Value *second) {
  Value *pair = PoisonValue::get(FixedVectorType::get(b.getDoubleTy(), 2));
  return b.CreateInsertElement(b.CreateInsertElement(pair, first, uint64_t(0)), second, uint64_t(1));
}
static Element elementOf(IRBuilder<> &b, Value *pair) {
  return {b.CreateExtractElement(pair, uint64_t(0)), b.CreateExtractElement(pair, uint64_t(1))};
}

/// rt::divide where no product leaves the range; for other numbers, of which `isUsual` is false, the result says
/// nothing.
static Value *divideModerate(IRBuilder<> &b, Element x, Element y, Value *&isUsual) {
  Value *above = pairOf(b, x.re, x.im), *below = pairOf(b, y.re, y.im), *turned = pairOf(b, x.im, b.CreateFNeg(x.re)),
        *c = b.CreateVectorSplat(2, y.re), *d = b.CreateVectorSplat(2, y.im);
  auto fused = [&](Value *u, Value *v, Value *w) {
    return b.CreateIntrinsic(Intrinsic::fma, {u->getType()}, {u, v, w});
  };
  Value *denominator = b.CreateFAdd(b.CreateFMul(y.re, y.re), b.CreateFMul(y.im, y.im));
  Value *low = b.CreateFMul(turned, d);
  Value *sum = b.CreateFAdd(fused(above, c, low), fused(turned, d, b.CreateFNeg(low)));
  Value *all = b.CreateShuffleVector(above, below, {0, 1, 2, 3}), *size = b.CreateUnaryIntrinsic(Intrinsic::fabs, all);
  auto number = [&](double v) { return ConstantFP::get(all->getType(), v); };
  Value *isModerate =
      b.CreateOr(b.CreateAnd(b.CreateFCmpOGT(size, number(0x1p-400)), b.CreateFCmpOLT(size, number(0x1p400))),
                 b.CreateFCmpOEQ(all, number(0)));
  isUsual =
      b.CreateAnd(b.CreateAndReduce(isModerate), b.CreateFCmpOGT(denominator, ConstantFP::get(b.getDoubleTy(), 0)));
  return b.CreateFDiv(sum, b.CreateVectorSplat(2, denominator));
}

Element ScalarEmitter::divide(Element x, Element y, DType dx, DType dy) {
  if (!isComplex(dy))
    return {b.CreateFDiv(x.re, y.re), x.im ? b.CreateFDiv(x.im, y.re) : nullptr};
  if (dy == DType::C64)
    return divideSingle(cast(x, dx, dy), y);
  Element z = cast(x, dx, dy);
  auto byKernel = [&] { return byTable(rt::findElementFunction("div", dy), {z.re, z.im, y.re, y.im}, dy); };
  if (failLater || isForDevice) // a loop: in lanes
    return byKernel();
  Value *isUsual = nullptr, *quotient = divideModerate(b, z, y, isUsual);
  return elementOf(b, eitherOf(
                          isUsual, [&] { return quotient; },
                          [&] {
                            Element special = byKernel();
                            return pairOf(b, special.re, special.im);
                          }));
}

/// rt::divideSingle, with selects in place of branches: (a + ib)/(c + id) by the plain formula
/// in double, then C99 Annex G where both parts are NaN.
Element ScalarEmitter::divideSingle(Element x, Element y) {
  if (failLater && !isForDevice) // a loop: in lanes
    return byTable(rt::findElementFunction("quotient", DType::C64), {x.re, x.im, y.re, y.im}, DType::C64);
  Value *a = toF64(x.re), *b_ = toF64(x.im), *c = toF64(y.re), *d = toF64(y.im);
  auto times = [&](Value *u, Value *v) { return b.CreateFMul(u, v); };
  auto constant = [&](double v) { return ConstantFP::get(b.getDoubleTy(), v); };
  auto absolute = [&](Value *v) { return b.CreateUnaryIntrinsic(Intrinsic::fabs, v); };
  Value *infinity = ConstantFP::getInfinity(b.getDoubleTy());
  auto isInfinite = [&](Value *v) { return b.CreateFCmpOEQ(absolute(v), infinity); };
  auto isFinite = [&](Value *v) { return b.CreateFCmpOLT(absolute(v), infinity); };
  auto isNan = [&](Value *v) { return b.CreateFCmpUNO(v, v); };
  auto boxed = [&](Value *v) {
    return b.CreateBinaryIntrinsic(Intrinsic::copysign, b.CreateSelect(isInfinite(v), constant(1), constant(0)), v);
  };
  Value *inverse = b.CreateFDiv(constant(1), b.CreateFAdd(times(c, c), times(d, d)));
  Value *re = times(b.CreateFAdd(times(a, c), times(b_, d)), inverse),
        *im = times(b.CreateFSub(times(b_, c), times(a, d)), inverse);
  // From the last case to the first.
  Value *nan = ConstantFP::getNaN(b.getDoubleTy()), *reSpecial = nan, *imSpecial = nan;
  auto override = [&](Value *condition, Value *real, Value *imaginary) {
    reSpecial = b.CreateSelect(condition, real, reSpecial);
    imSpecial = b.CreateSelect(condition, imaginary, imSpecial);
  };
  Value *c1 = boxed(c), *d1 = boxed(d), *a1 = boxed(a), *b1 = boxed(b_);
  override(b.CreateAnd(b.CreateOr(isInfinite(c), isInfinite(d)), b.CreateAnd(isFinite(a), isFinite(b_))),
           times(constant(0), b.CreateFAdd(times(a, c1), times(b_, d1))),
           times(constant(0), b.CreateFSub(times(b_, c1), times(a, d1))));
  override(b.CreateAnd(b.CreateOr(isInfinite(a), isInfinite(b_)), b.CreateAnd(isFinite(c), isFinite(d))),
           times(infinity, b.CreateFAdd(times(a1, c), times(b1, d))),
           times(infinity, b.CreateFSub(times(b1, c), times(a1, d))));
  Value *zero = b.CreateAnd(b.CreateFCmpOEQ(c, constant(0)), b.CreateFCmpOEQ(d, constant(0)));
  Value *signedInfinity = b.CreateBinaryIntrinsic(Intrinsic::copysign, infinity, c);
  override(b.CreateAnd(zero, b.CreateNot(b.CreateAnd(isNan(a), isNan(b_)))), times(signedInfinity, a),
           times(signedInfinity, b_));
  Value *special = b.CreateAnd(isNan(re), isNan(im));
  auto single = [&](Value *v) { return b.CreateFPTrunc(v, b.getFloatTy()); };
  return {single(b.CreateSelect(special, reSpecial, re)), single(b.CreateSelect(special, imSpecial, im))};
}

/// Quotients that are rounded down, in lanes: those of u8 by f32, of i32 by f64, where they are too far from the next
/// integer to be rounded to it.
static Value *quotientInLanes(IRBuilder<> &b, Value *x, Value *y, DType dtype) {
  if (dtype == DType::U8)
    return b.CreateFPToUI(b.CreateFDiv(b.CreateUIToFP(x, b.getFloatTy()), b.CreateUIToFP(y, b.getFloatTy())),
                          x->getType());
  Value *ratio = b.CreateFDiv(b.CreateSIToFP(x, b.getDoubleTy()), b.CreateSIToFP(y, b.getDoubleTy()));
  return b.CreateFPToSI(b.CreateUnaryIntrinsic(Intrinsic::floor, ratio), x->getType());
}

/// By a positive number that is known, rounded down: of a negative number's complement, which has 63 bits, the
/// complement. A product by 2^(63 + l) / divisor, rounded up, is exact for those (Granlund and Montgomery, 1994).
static Value *quotientByKnown(IRBuilder<> &b, Value *x, uint64_t divisor) {
  if (isPowerOf2_64(divisor))
    return b.CreateAShr(x, Log2_64(divisor));
  const unsigned shift = 63 + Log2_64_Ceil(divisor);
  const APInt factor =
      APIntOps::RoundingUDiv(APInt::getOneBitSet(128, shift), APInt(128, divisor), APInt::Rounding::UP);
  Value *sign = b.CreateAShr(x, 63), *size = b.CreateXor(x, sign);
  Value *product =
      b.CreateMul(b.CreateZExt(size, b.getInt128Ty()), ConstantInt::get(b.getContext(), factor), "", true, false);
  return b.CreateXor(b.CreateTrunc(b.CreateLShr(product, shift), x->getType()), sign);
}

/// Whether a number is a multiple of a positive one that is known, by one product: that by the inverse of the odd part
/// takes multiples, and nothing else, to the numbers around 0 (Warren, Hacker's Delight, 10-17).
Value *ScalarEmitter::isMultiple(Value *x, uint64_t divisor) {
  const int twos = countr_zero(divisor);
  const uint64_t odd = divisor >> twos;
  if (odd == 1)
    return b.CreateICmpEQ(b.CreateAnd(x, b.getInt64(divisor - 1)), b.getInt64(0));
  const uint64_t inverse = APInt(64, odd).multiplicativeInverse().getZExtValue(),
                 most = static_cast<uint64_t>(INT64_MAX) / odd >> twos << twos;
  Value *near = b.CreateAdd(b.CreateMul(x, b.getInt64(inverse)), b.getInt64(most));
  if (twos)
    near = b.CreateIntrinsic(Intrinsic::fshr, {b.getInt64Ty()}, {near, near, b.getInt64(twos)});
  return b.CreateICmpULE(near, b.getInt64(2 * most >> twos));
}

/// By a power of 2 a quotient is a shift, which rounds down, and a remainder its lower bits, whatever the sign.
Value *ScalarEmitter::integerDivision(bool isModulo, Value *x, Value *y, DType dtype) {
  Value *exponent = exponents.lookup(y);
  if (!exponent)
    return anyIntegerDivision(isModulo, x, y, dtype);
  return eitherOf(
      hasPowerOfTwo(exponent),
      [&] { return isModulo ? b.CreateAnd(x, b.CreateSub(y, b.getInt64(1))) : b.CreateAShr(x, exponent); },
      [&] { return anyIntegerDivision(isModulo, x, y, dtype); });
}

/// Quotients are rounded down, remainders have the sign of the divisor; 0 as a divisor fails, and by -1 the most
/// negative number wraps.
Value *ScalarEmitter::anyIntegerDivision(bool isModulo, Value *x, Value *y, DType dtype) {
  if (dtype == DType::Bool) // true // true and false // true; no remainder
    return b.CreateICmpNE(
        integerDivision(isModulo, b.CreateZExt(x, b.getInt8Ty()), b.CreateZExt(y, b.getInt8Ty()), DType::U8),
        b.getInt8(0));
  Type *type = x->getType();
  Value *zero = ConstantInt::get(type, 0), *one = ConstantInt::get(type, 1),
        *minusOne = ConstantInt::getSigned(type, -1);
  auto *known = dyn_cast<ConstantInt>(y);
  if (!known || known->isZero()) {
    Value *isZero = b.CreateICmpEQ(y, zero);
    if (failLater) {
      failLater(isZero);
      y = b.CreateSelect(isZero, one, y);
    } else
      rarely(isZero, [&] {
        if (beforeFailure)
          beforeFailure();
        fail("toy_rt_division_by_zero", {});
      });
  }
  if (known && dtype == DType::I64 && known->getSExtValue() > 0) {
    Value *quotient = quotientByKnown(b, x, known->getZExtValue());
    return isModulo ? b.CreateSub(x, b.CreateMul(quotient, y)) : quotient;
  }
  const bool inLanes = failLater && !known;
  if (dtype == DType::U8) {
    if (!inLanes)
      return isModulo ? b.CreateURem(x, y) : b.CreateUDiv(x, y);
    Value *quotient = quotientInLanes(b, x, y, dtype);
    return isModulo ? b.CreateSub(x, b.CreateMul(quotient, y)) : quotient;
  }
  if (inLanes && dtype == DType::I64) {
    const int row = rt::findElementFunction(isModulo ? "integer_mod" : "integer_floordiv", DType::F64);
    auto bits = [&](Value *v) { return b.CreateBitCast(v, b.getDoubleTy()); };
    return b.CreateBitCast(byTable(row, {bits(x), bits(y)}, DType::F64).re, type);
  }
  Value *isMinusOne = b.CreateICmpEQ(y, minusOne), *divisor = b.CreateSelect(isMinusOne, one, y);
  if (inLanes && dtype == DType::I32) {
    Value *quotient = quotientInLanes(b, x, divisor, dtype);
    return isModulo ? b.CreateSub(x, b.CreateMul(quotient, divisor))
                    : b.CreateSelect(isMinusOne, b.CreateNeg(x), quotient);
  }
  Value *rest = b.CreateSRem(x, divisor);
  Value *isBelow = b.CreateAnd(b.CreateICmpNE(rest, zero), b.CreateICmpSLT(b.CreateXor(rest, divisor), zero));
  if (isModulo)
    return b.CreateSelect(isBelow, b.CreateAdd(rest, divisor), rest);
  Value *quotient = b.CreateSub(b.CreateSDiv(x, divisor), b.CreateZExt(isBelow, type));
  return b.CreateSelect(isMinusOne, b.CreateNeg(x), quotient);
}

/// a - floor(a / b) * b is exact by one fused operation where the quotient has no more digits than a double (rounding
/// can only make it one too large): this is no contraction of the program's arithmetic. Zeros have the sign of b.
Value *ScalarEmitter::floatModulo(Value *x, Value *y) {
  Value *a = toF64(x), *d = toF64(y), *zero = ConstantFP::get(b.getDoubleTy(), 0.0);
  auto absolute = [&](Value *v) { return b.CreateUnaryIntrinsic(Intrinsic::fabs, v); };
  Value *ratio = b.CreateFDiv(a, d);
  Value *isPlain = b.CreateAnd(b.CreateFCmpOLT(absolute(ratio), ConstantFP::get(b.getDoubleTy(), 0x1p52)),
                               b.CreateFCmpOLT(absolute(d), ConstantFP::getInfinity(b.getDoubleTy())));
  auto fused = [&] {
    Value *whole = b.CreateUnaryIntrinsic(Intrinsic::floor, ratio);
    Value *rest = b.CreateIntrinsic(Intrinsic::fma, {b.getDoubleTy()}, {b.CreateFNeg(whole), d, a});
    Value *isAcross = b.CreateICmpSLT(
        b.CreateXor(b.CreateBitCast(rest, b.getInt64Ty()), b.CreateBitCast(d, b.getInt64Ty())), b.getInt64(0));
    return b.CreateSelect(b.CreateFCmpOEQ(rest, zero), b.CreateBinaryIntrinsic(Intrinsic::copysign, zero, d),
                          b.CreateSelect(isAcross, b.CreateFAdd(rest, d), rest));
  };
  Value *result = eitherOf(isPlain, fused, [&] { return call("toy_rt_float_mod_f64", b.getDoubleTy(), {a, d}, true); });
  return x->getType()->isFloatTy() ? b.CreateFPTrunc(result, b.getFloatTy()) : result;
}

} // namespace toy
