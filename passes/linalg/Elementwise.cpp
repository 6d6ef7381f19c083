// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elementwise operations: arith and math on scalars, in the body of a linalg.generic on tensors.
#include "passes/linalg/Lowering.h"

#include "llvm/ADT/StringSwitch.h"

#include <limits>

using namespace mlir;

namespace toy {
namespace {

using Values = ArrayRef<Value>;
/// An element of the result from the elements of the operands; null where there is no form.
using ScalarForm = Value (*)(Lowering &l, Values x);

bool isReal(Value x) { return isa<FloatType>(x.getType()); }

template <typename Real> Value byMath(Lowering &l, Values x) {
  return isReal(x[0]) ? l.make<Real>(x[0].getType(), ValueRange(x)) : Value();
}
template <typename Real, typename Integer> Value byArith(Lowering &l, Values x) {
  return isReal(x[0]) ? l.make<Real>(x[0].getType(), ValueRange(x)) : l.make<Integer>(x[0].getType(), ValueRange(x));
}
template <typename Real, typename Signed, typename Unsigned> Value bySign(Lowering &l, Values x) {
  return isReal(x[0])      ? l.make<Real>(x[0].getType(), ValueRange(x))
         : l.isUnsigned(0) ? l.make<Unsigned>(x[0].getType(), ValueRange(x))
                           : l.make<Signed>(x[0].getType(), ValueRange(x));
}
template <arith::CmpFPredicate real, arith::CmpIPredicate sign, arith::CmpIPredicate noSign>
Value byOrder(Lowering &l, Values x) {
  if (isReal(x[0]))
    return l.make<arith::CmpFOp>(real, x[0], x[1]);
  return l.compare(l.isUnsigned(0) ? noSign : sign, x[0], x[1]);
}

Value zeroLike(Lowering &l, Value x) { return l.number(x.getType(), 0); }
Value isEqual(Lowering &l, Value x, double n) {
  Value number = l.number(x.getType(), n);
  return isReal(x) ? l.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x, number)
                   : l.compare(arith::CmpIPredicate::eq, x, number);
}

Value negative(Lowering &l, Values x) {
  return isReal(x[0]) ? l.make<arith::NegFOp>(x[0]) : l.make<arith::SubIOp>(zeroLike(l, x[0]), x[0]);
}
Value logicalNot(Lowering &l, Values x) { return l.make<arith::XOrIOp>(x[0], l.number(x[0].getType(), 1)); }
Value magnitude(Lowering &l, Values x) {
  if (isReal(x[0]))
    return l.make<math::AbsFOp>(x[0]);
  return l.isUnsigned(0) ? x[0] : l.make<math::AbsIOp>(x[0]);
}
Value square(Lowering &l, Values x) { return byArith<arith::MulFOp, arith::MulIOp>(l, {x[0], x[0]}); }
Value sign(Lowering &l, Values x) {
  Type type = x[0].getType();
  if (isReal(x[0])) {
    Value one = l.make<math::CopySignOp>(l.number(type, 1), x[0]);
    Value isZeroOrNan = l.make<arith::CmpFOp>(arith::CmpFPredicate::UEQ, x[0], l.number(type, 0));
    return l.select(isZeroOrNan, x[0], one);
  }
  Value zero = zeroLike(l, x[0]), one = l.number(type, 1);
  Value below = l.isUnsigned(0) ? zero : l.number(type, -1);
  Value isAbove = l.compare(l.isUnsigned(0) ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt, x[0], zero);
  return l.select(isAbove, one, l.select(isEqual(l, x[0], 0), zero, below));
}
Value isNan(Lowering &l, Values x) { return l.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x[0], x[0]); }
Value infinityOf(Lowering &l, Value x) { return l.number(x.getType(), std::numeric_limits<double>::infinity()); }
Value isInf(Lowering &l, Values x) {
  return l.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, magnitude(l, x), infinityOf(l, x[0]));
}
Value isFinite(Lowering &l, Values x) {
  return l.make<arith::CmpFOp>(arith::CmpFPredicate::OLT, magnitude(l, x), infinityOf(l, x[0]));
}
Value reciprocal(Lowering &l, Values x) { return l.make<arith::DivFOp>(l.number(x[0].getType(), 1), x[0]); }
Value rsqrt(Lowering &l, Values x) { return reciprocal(l, l.make<math::SqrtOp>(x[0])); }
/// The larger part in front of the root, so that its square does not overflow.
Value hypot(Lowering &l, Values x) { return complexFunction(l, "abs", x)->first; }
Value choose(Lowering &l, Values x) { return l.select(x[0], x[1], x[2]); }

Value needDivisor(Lowering &l, Value divisor) {
  Value isZero = isEqual(l, divisor, 0);
  l.require(l.make<arith::XOrIOp>(isZero, l.number(isZero.getType(), 1)), "division by zero");
  return divisor;
}
/// What is left of a division that rounds down, for floats with the sign of the divisor.
Value modulo(Lowering &l, Values x) {
  Value divisor = isReal(x[0]) ? x[1] : needDivisor(l, x[1]);
  if (!isReal(x[0]) && l.isUnsigned(0))
    return l.make<arith::RemUIOp>(x[0], divisor);
  if (!isReal(x[0])) {
    Value isMinusOne = isEqual(l, divisor, -1), one = l.number(divisor.getType(), 1), zero = zeroLike(l, divisor);
    Value rest = l.make<arith::RemSIOp>(x[0], l.select(isMinusOne, one, divisor));
    Value crosses =
        l.make<arith::AndIOp>(logicalNot(l, isEqual(l, rest, 0)),
                              l.compare(arith::CmpIPredicate::slt, l.make<arith::XOrIOp>(rest, divisor), zero));
    return l.select(crosses, l.make<arith::AddIOp>(rest, divisor), rest);
  }
  Value rest = l.make<arith::RemFOp>(x[0], divisor), zero = zeroLike(l, rest);
  Value crosses =
      l.make<arith::CmpIOp>(arith::CmpIPredicate::ne, l.make<arith::CmpFOp>(arith::CmpFPredicate::OLT, rest, zero),
                            l.make<arith::CmpFOp>(arith::CmpFPredicate::OLT, divisor, zero));
  Value moved = l.select(crosses, l.make<arith::AddFOp>(rest, divisor), rest);
  return l.select(isEqual(l, rest, 0), l.make<math::CopySignOp>(zero, divisor), moved);
}
Value floorDivide(Lowering &l, Values x) {
  if (isReal(x[0])) { // as Python computes it: from the remainder, rounded
    Value quotient = l.make<arith::DivFOp>(l.make<arith::SubFOp>(x[0], modulo(l, x)), x[1]);
    return l.make<math::CopySignOp>(l.make<math::RoundEvenOp>(quotient), l.make<arith::DivFOp>(x[0], x[1]));
  }
  Value divisor = needDivisor(l, x[1]);
  if (l.isUnsigned(0))
    return l.make<arith::DivUIOp>(x[0], divisor);
  Value isMinusOne = isEqual(l, divisor, -1), one = l.number(divisor.getType(), 1);
  Value quotient = l.make<arith::FloorDivSIOp>(x[0], l.select(isMinusOne, one, divisor));
  return l.select(isMinusOne, negative(l, x[0]), quotient); // the most negative value by -1 wraps
}
Value power(Lowering &l, Values x) {
  std::optional<int64_t> known = smallExponent(x[1]);
  if (known && (*known >= 0 || isReal(x[0]))) {
    auto times = [&](Value a, Value b) { return byArith<arith::MulFOp, arith::MulIOp>(l, {a, b}); };
    Value whole = powerByProducts<Value>(std::abs(*known), l.number(x[0].getType(), 1), x[0], times);
    return *known < 0 ? reciprocal(l, whole) : whole;
  }
  if (isReal(x[0]))
    return isReal(x[1]) ? l.make<math::PowFOp>(x[0], x[1])
                        : l.make<math::PowFOp>(x[0], l.make<arith::SIToFPOp>(x[0].getType(), x[1]));
  if (x[0].getType() != x[1].getType() || l.isUnsigned(0))
    return {};
  l.require(l.compare(arith::CmpIPredicate::sge, x[1], zeroLike(l, x[1])), "a negative exponent");
  return l.make<math::IPowIOp>(x[0], x[1]);
}

/// Truncates and saturates; NaN gives 0.
Value toInteger(Lowering &l, Value x, Type to, bool isUnsigned) {
  unsigned width = to.getIntOrFloatBitWidth();
  double low = isUnsigned ? 0 : -std::ldexp(1.0, width - 1), high = std::ldexp(1.0, isUnsigned ? width : width - 1);
  Value isBelow = l.make<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, l.number(x.getType(), low));
  Value isAbove = l.make<arith::CmpFOp>(arith::CmpFPredicate::OGE, x, l.number(x.getType(), high));
  Value isOutside = l.make<arith::OrIOp>(l.make<arith::OrIOp>(isBelow, isAbove), isNan(l, x));
  Value inside = l.select(isOutside, zeroLike(l, x), x);
  Value whole = isUnsigned ? l.make<arith::FPToUIOp>(to, inside) : l.make<arith::FPToSIOp>(to, inside);
  auto end = [&](APInt value) { return l.make<arith::ConstantOp>(l.b.getIntegerAttr(to, value)); };
  APInt least = isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width);
  APInt most = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  return l.select(isBelow, end(least), l.select(isAbove, end(most), whole));
}
Value convert(Lowering &l, Values values) {
  Value x = values[0];
  DType to = l.resultType().getDtype();
  Type type = l.element(to), from = x.getType();
  if (type == from)
    return x;
  if (to == DType::Bool)
    return isReal(x) ? l.make<arith::CmpFOp>(arith::CmpFPredicate::UNE, x, zeroLike(l, x))
                     : l.compare(arith::CmpIPredicate::ne, x, zeroLike(l, x));
  const bool widens = type.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth();
  if (isa<FloatType>(type)) {
    if (!isReal(x))
      return l.isUnsigned(0) ? l.make<arith::UIToFPOp>(type, x) : l.make<arith::SIToFPOp>(type, x);
    if (widens)
      return l.make<arith::ExtFOp>(type, x);
    if (type.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth())
      return l.make<arith::TruncFOp>(type, x);
    return l.make<arith::TruncFOp>(type, l.make<arith::ExtFOp>(l.b.getF32Type(), x)); // bf16 and f16
  }
  if (isReal(x))
    return toInteger(l, x, type, to == DType::U8);
  if (!widens)
    return l.make<arith::TruncIOp>(type, x);
  return l.isUnsigned(0) ? l.make<arith::ExtUIOp>(type, x) : l.make<arith::ExtSIOp>(type, x);
}

Value functionPart(Lowering &l, Values x) {
  auto function = cast<FunctionPartOp>(l.op);
  auto parts = complexFunction(l, function.getFunction(), x);
  return !parts ? Value() : function.getPart() == 0 ? parts->first : parts->second;
}

/// The table: one row an operation.
ScalarForm formOf(StringRef mnemonic) {
  using FP = arith::CmpFPredicate;
  using IP = arith::CmpIPredicate;
  return llvm::StringSwitch<ScalarForm>(mnemonic)
      .Case("add", byArith<arith::AddFOp, arith::AddIOp>)
      .Case("sub", byArith<arith::SubFOp, arith::SubIOp>)
      .Case("mul", byArith<arith::MulFOp, arith::MulIOp>)
      .Case("div", byMath<arith::DivFOp>)
      .Case("floordiv", floorDivide)
      .Case("mod", modulo)
      .Case("pow", power)
      .Case("minimum", bySign<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>)
      .Case("maximum", bySign<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>)
      .Case("and", [](Lowering &l, Values x) { return l.make<arith::AndIOp>(x[0], x[1]); })
      .Case("or", [](Lowering &l, Values x) { return l.make<arith::OrIOp>(x[0], x[1]); })
      .Case("not", logicalNot)
      .Case("eq", byOrder<FP::OEQ, IP::eq, IP::eq>)
      .Case("ne", byOrder<FP::UNE, IP::ne, IP::ne>)
      .Case("lt", byOrder<FP::OLT, IP::slt, IP::ult>)
      .Case("le", byOrder<FP::OLE, IP::sle, IP::ule>)
      .Case("gt", byOrder<FP::OGT, IP::sgt, IP::ugt>)
      .Case("ge", byOrder<FP::OGE, IP::sge, IP::uge>)
      .Case("where", choose)
      .Case("cast", convert)
      .Case("neg", negative)
      .Case("abs", magnitude)
      .Case("abs2", square)
      .Case("sign", sign)
      .Case("isnan", isNan)
      .Case("isinf", isInf)
      .Case("isfinite", isFinite)
      .Case("reciprocal", reciprocal)
      .Case("rsqrt", rsqrt)
      .Case("hypot", hypot)
      .Case("function_part", functionPart)
      .Case("atan2", byMath<math::Atan2Op>)
      .Case("copysign", byMath<math::CopySignOp>)
      .Case("exp", byMath<math::ExpOp>)
      .Case("exp2", byMath<math::Exp2Op>)
      .Case("expm1", byMath<math::ExpM1Op>)
      .Case("log", byMath<math::LogOp>)
      .Case("log1p", byMath<math::Log1pOp>)
      .Case("log2", byMath<math::Log2Op>)
      .Case("log10", byMath<math::Log10Op>)
      .Case("sqrt", byMath<math::SqrtOp>)
      .Case("sin", byMath<math::SinOp>)
      .Case("cos", byMath<math::CosOp>)
      .Case("tan", byMath<math::TanOp>)
      .Case("sinh", byMath<math::SinhOp>)
      .Case("cosh", byMath<math::CoshOp>)
      .Case("tanh", byMath<math::TanhOp>)
      .Case("asin", byMath<math::AsinOp>)
      .Case("acos", byMath<math::AcosOp>)
      .Case("atan", byMath<math::AtanOp>)
      .Case("asinh", byMath<math::AsinhOp>)
      .Case("acosh", byMath<math::AcoshOp>)
      .Case("atanh", byMath<math::AtanhOp>)
      .Case("erf", byMath<math::ErfOp>)
      .Case("floor", byMath<math::FloorOp>)
      .Case("ceil", byMath<math::CeilOp>)
      .Case("round", byMath<math::RoundEvenOp>)
      .Case("trunc", byMath<math::TruncOp>)
      .Default(nullptr);
}

/// Scalars are computed where they are; in a loop they are read from around it.
FailureOr<SmallVector<Value>> elementwise(Lowering &l) {
  ScalarForm form = formOf(l.op->getName().stripDialect());
  TensorType type = l.resultType();
  if (type.isScalar()) {
    Value value = form(l, l.in);
    if (!value)
      return failure();
    return SmallVector<Value>{value};
  }
  SmallVector<Value> tensors;
  SmallVector<AffineMap> maps;
  for (auto [i, value] : llvm::enumerate(l.in))
    if (isa<RankedTensorType>(value.getType())) {
      tensors.push_back(value);
      maps.push_back(l.broadcastMap(l.operandType(i), type));
    }
  maps.push_back(l.b.getMultiDimIdentityMap(type.getRank()));
  bool known = true;
  SmallVector<bool> parallel(type.getRank(), false);
  Value out = l.empty(l.ranked(type), l.broadcastSizes(type));
  auto results = l.generic(tensors, out, maps, parallel, [&](ValueRange elements) -> SmallVector<Value> {
    SmallVector<Value> x;
    unsigned next = 0;
    for (Value value : l.in)
      x.push_back(isa<RankedTensorType>(value.getType()) ? elements[next++] : value);
    Value result = form(l, x);
    known = result != nullptr;
    return {known ? result : elements.back()};
  });
  if (!known)
    return failure();
  return results;
}

} // namespace

LoweringRow elementwiseRow(StringRef mnemonic) { return formOf(mnemonic) ? elementwise : nullptr; }

} // namespace toy
