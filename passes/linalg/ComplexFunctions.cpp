// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions of complex numbers in real arithmetic, for programs that upstream passes compile: accurate to rounding for
/// finite arguments. The evaluator's and the compiled program's (runtime/ComplexMath.cpp) also have C99's special
/// values.
#include "passes/linalg/Lowering.h"

#include "llvm/ADT/StringSwitch.h"

#include <numbers>

using namespace mlir;

namespace toy {
namespace {

struct Complex {
  Value re, im;
};

class ComplexFunctions {
public:
  ComplexFunctions(Lowering &l, Type type) : l(l), type(type) {}

  Value modulus(Complex z) {
    Value a = real<math::AbsFOp>(z.re), b = real<math::AbsFOp>(z.im);
    Value large = real<arith::MaximumFOp>(a, b), small = real<arith::MinimumFOp>(a, b);
    Value ratio = div(small, large);
    Value length = mul(large, real<math::SqrtOp>(add(c(1), mul(ratio, ratio))));
    return l.select(isEqual(large, c(0)), large, l.select(isEqual(large, infinity()), large, length));
  }
  Value angle(Complex z) { return real<math::Atan2Op>(z.im, z.re); }

  Complex exp(Complex z) { return polar(real<math::ExpOp>(z.re), z.im); }
  Complex expm1(Complex z) {
    Value half = real<math::SinOp>(mul(c(0.5), z.im)), e = real<math::ExpOp>(z.re);
    Value re = sub(mul(real<math::ExpM1Op>(z.re), real<math::CosOp>(z.im)), mul(c(2), mul(half, half)));
    return {re, l.select(isEqual(z.im, c(0)), z.im, mul(e, real<math::SinOp>(z.im)))};
  }
  Complex log(Complex z) { return {real<math::LogOp>(modulus(z)), angle(z)}; }
  Complex log2(Complex z) { return scaled(log(z), 1 / std::numbers::ln2); }
  Complex log10(Complex z) { return scaled(log(z), 1 / std::numbers::ln10); }
  Complex log1p(Complex z) {
    Value excess = add(mul(c(2), z.re), add(mul(z.re, z.re), mul(z.im, z.im)));
    return {mul(c(0.5), real<math::Log1pOp>(excess)), real<math::Atan2Op>(z.im, add(c(1), z.re))};
  }
  /// The part that does not cancel is computed as a root, the other one from it.
  Complex sqrt(Complex z) {
    Value large = real<math::SqrtOp>(mul(c(0.5), add(real<math::AbsFOp>(z.re), modulus(z))));
    Value isZero = isEqual(large, c(0)), small = l.select(isZero, z.im, div(z.im, mul(c(2), large)));
    Value right = l.make<arith::CmpFOp>(arith::CmpFPredicate::OGE, z.re, c(0));
    return {l.select(right, large, real<math::AbsFOp>(small)),
            l.select(right, small, real<math::CopySignOp>(large, z.im))};
  }
  Complex rsqrt(Complex z) { return reciprocal(sqrt(z)); }
  Complex reciprocal(Complex z) { return divide({c(1), c(0)}, z); }
  Complex sign(Complex z) {
    Value length = modulus(z), isZero = isEqual(length, c(0));
    return {l.select(isZero, z.re, div(z.re, length)), l.select(isZero, z.im, div(z.im, length))};
  }
  /// Smith's algorithm: the smaller part of the divisor over the larger one.
  Complex divide(Complex x, Complex y) {
    auto by = [&](Value a, Value b, Value large, Value small) -> Complex {
      Value ratio = div(small, large), whole = add(large, mul(small, ratio));
      return {div(add(a, mul(b, ratio)), whole), div(sub(b, mul(a, ratio)), whole)};
    };
    Complex first = by(x.re, x.im, y.re, y.im);
    Complex turned = by(x.im, x.re, y.im, y.re); // x and y with their parts exchanged: the conjugate quotient
    Value isWide = l.make<arith::CmpFOp>(arith::CmpFPredicate::OGE, real<math::AbsFOp>(y.re), real<math::AbsFOp>(y.im));
    return choose(isWide, first, {turned.re, neg(turned.im)});
  }
  Complex times(Complex x, Complex y) {
    return {sub(mul(x.re, y.re), mul(x.im, y.im)), add(mul(x.re, y.im), mul(x.im, y.re))};
  }

  Complex sinh(Complex z) {
    return {mul(real<math::SinhOp>(z.re), real<math::CosOp>(z.im)),
            mul(real<math::CoshOp>(z.re), real<math::SinOp>(z.im))};
  }
  Complex cosh(Complex z) {
    return {mul(real<math::CoshOp>(z.re), real<math::CosOp>(z.im)),
            mul(real<math::SinhOp>(z.re), real<math::SinOp>(z.im))};
  }
  Complex tanh(Complex z) {
    Value a = mul(c(2), z.re), b = mul(c(2), z.im), size = real<math::AbsFOp>(z.re);
    Value below = add(real<math::CoshOp>(a), real<math::CosOp>(b));
    Complex near = {div(real<math::SinhOp>(a), below), div(real<math::SinOp>(b), below)};
    Value tail = mul(mul(c(2), real<math::SinOp>(b)), real<math::ExpOp>(mul(c(-2), size)));
    Complex far = {real<math::CopySignOp>(c(1), z.re), tail};
    return choose(l.make<arith::CmpFOp>(arith::CmpFPredicate::OGT, size, c(20)), far, near);
  }
  Complex sin(Complex z) { return turnBack(sinh(turn(z))); }
  Complex cos(Complex z) { return cosh(turn(z)); }
  Complex tan(Complex z) { return turnBack(tanh(turn(z))); }

  /// Inverse functions as Kahan has them in "Branch cuts for complex elementary functions".
  Complex asin(Complex z) {
    Complex s = sqrt({sub(c(1), z.re), neg(z.im)}), t = sqrt({add(c(1), z.re), z.im});
    return {real<math::Atan2Op>(z.re, times(s, t).re), real<math::AsinhOp>(times(conj(s), t).im)};
  }
  Complex acos(Complex z) {
    Complex s = sqrt({sub(c(1), z.re), neg(z.im)}), t = sqrt({add(c(1), z.re), z.im});
    return {mul(c(2), real<math::Atan2Op>(s.re, t.re)), real<math::AsinhOp>(times(conj(t), s).im)};
  }
  Complex acosh(Complex z) {
    Complex s = sqrt({sub(z.re, c(1)), z.im}), t = sqrt({add(z.re, c(1)), z.im});
    return {real<math::AsinhOp>(times(conj(s), t).re), mul(c(2), real<math::Atan2Op>(s.im, t.re))};
  }
  Complex atanh(Complex z) {
    Value left = sub(c(1), z.re), square = mul(z.im, z.im);
    Value re = mul(c(0.25), real<math::Log1pOp>(div(mul(c(4), z.re), add(mul(left, left), square))));
    Value im = real<math::Atan2Op>(mul(c(2), z.im), sub(mul(left, add(c(1), z.re)), square));
    return {re, mul(c(0.5), im)};
  }
  Complex asinh(Complex z) { return turnBack(asin(turn(z))); }
  Complex atan(Complex z) { return turnBack(atanh(turn(z))); }

  Complex power(Complex z, Complex w) {
    Complex general = exp(times(w, log(z)));
    Value isZero = isEqual(modulus(z), c(0)), isOne = isEqual(modulus(w), c(0));
    return choose(isOne, {c(1), c(0)}, choose(isZero, {c(0), c(0)}, general));
  }
  /// Constant exponents by products, others by modulus and angle.
  Complex power(Complex z, Value n) {
    Complex one = {c(1), c(0)};
    if (std::optional<int64_t> known = smallExponent(n)) {
      Complex whole =
          powerByProducts<Complex>(std::abs(*known), one, z, [&](Complex x, Complex y) { return times(x, y); });
      return *known < 0 ? reciprocal(whole) : whole;
    }
    Value exponent = real<arith::SIToFPOp>(n);
    Complex general = polar(real<math::PowFOp>(modulus(z), exponent), mul(exponent, angle(z)));
    return choose(isEqual(exponent, c(0)), one, general);
  }

private:
  template <typename Op, typename... Args> Value real(Args... args) { return l.make<Op>(type, args...); }
  Value c(double value) { return l.number(type, value); }
  Value infinity() { return c(std::numeric_limits<double>::infinity()); }
  Value add(Value x, Value y) { return l.make<arith::AddFOp>(x, y); }
  Value sub(Value x, Value y) { return l.make<arith::SubFOp>(x, y); }
  Value mul(Value x, Value y) { return l.make<arith::MulFOp>(x, y); }
  Value div(Value x, Value y) { return l.make<arith::DivFOp>(x, y); }
  Value neg(Value x) { return l.make<arith::NegFOp>(x); }
  Value isEqual(Value x, Value y) { return l.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x, y); }
  Complex conj(Complex z) { return {z.re, neg(z.im)}; }
  Complex turn(Complex z) { return {neg(z.im), z.re}; }     // i z
  Complex turnBack(Complex z) { return {z.im, neg(z.re)}; } // -i z
  Complex scaled(Complex z, double factor) { return {mul(c(factor), z.re), mul(c(factor), z.im)}; }
  Complex choose(Value condition, Complex x, Complex y) {
    return {l.select(condition, x.re, y.re), l.select(condition, x.im, y.im)};
  }
  Complex polar(Value modulus, Value angle) {
    Value im = l.select(isEqual(angle, c(0)), angle, mul(modulus, real<math::SinOp>(angle)));
    return {mul(modulus, real<math::CosOp>(angle)), im};
  }

  Lowering &l;
  const Type type;
};

} // namespace

std::optional<std::pair<Value, Value>> complexFunction(Lowering &l, StringRef function, ArrayRef<Value> parts) {
  using F = ComplexFunctions;
  F f(l, parts[0].getType());
  Complex z = {parts[0], parts[1]};
  auto both = [](Complex result) { return std::pair(result.re, result.im); };
  if (function == "abs")
    return std::pair(f.modulus(z), Value());
  if (function == "div")
    return both(f.divide(z, {parts[2], parts[3]}));
  if (function == "pow")
    return both(parts.size() == 3 ? f.power(z, parts[2]) : f.power(z, Complex{parts[2], parts[3]}));
  using Unary = Complex (F::*)(Complex);
  Unary unary = llvm::StringSwitch<Unary>(function)
                    .Case("exp", &F::exp)
                    .Case("expm1", &F::expm1)
                    .Case("log", &F::log)
                    .Case("log1p", &F::log1p)
                    .Case("log2", &F::log2)
                    .Case("log10", &F::log10)
                    .Case("sqrt", &F::sqrt)
                    .Case("rsqrt", &F::rsqrt)
                    .Case("reciprocal", &F::reciprocal)
                    .Case("sign", &F::sign)
                    .Case("sin", &F::sin)
                    .Case("cos", &F::cos)
                    .Case("tan", &F::tan)
                    .Case("sinh", &F::sinh)
                    .Case("cosh", &F::cosh)
                    .Case("tanh", &F::tanh)
                    .Case("asin", &F::asin)
                    .Case("acos", &F::acos)
                    .Case("atan", &F::atan)
                    .Case("asinh", &F::asinh)
                    .Case("acosh", &F::acosh)
                    .Case("atanh", &F::atanh)
                    .Default(nullptr);
  return unary ? std::optional(both((f.*unary)(z))) : std::nullopt;
}

} // namespace toy
