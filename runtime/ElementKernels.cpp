// SPDX-License-Identifier: Apache-2.0
/// \file
/// The rows of ElementFunctions.def in lanes. A kernel overwrites its arguments by its results and returns the lanes
/// whose arguments were ordinary.
#include "runtime/LaneMath.h"

#ifndef TOY_DEVICE_MATH
#include "runtime/ElementFunctions.h"
#endif

namespace toy::rt::TOY_ISA {
namespace {

template <int N> Mask<N> isBelow(Lanes<N> x, double limit) { return fabs<N>(x) < limit; }
template <int N> Mask<N> isPositive(Lanes<N> x) { return (x >= 0x1p-1022) & (x < 0x1p1000); }
/// Squares neither over- nor underflow.
template <int N> Mask<N> isModerate(Lanes<N> x) { return (fabs<N>(x) > 0x1p-400) & (fabs<N>(x) < 0x1p400); }
template <int N> Mask<N> isModerateOrZero(Lanes<N> x) { return isModerate<N>(x) | (x == 0); }
template <int N> Mask<N> isModeratePair(const Lanes<N> *v) {
  return isModerateOrZero<N>(v[0]) & isModerateOrZero<N>(v[1]) & ((v[0] != 0) | (v[1] != 0));
}
template <int N> Lanes<N> magnitude(const Lanes<N> *v) { return sqrt<N>(fma<N>(v[0], v[0], v[1] * v[1])); }

template <int N> Mask<N> RealExp(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], 708);
  v[0] = exp<N>(v[0]);
  return ok;
}
/// e^x - 1 with its rest.
template <int N> Twice<N> expm1Twice(Lanes<N> x) {
  Twice<N> e = expTwice<N>(x), large = twice<N>(all<N>(-1)) + e;
  Lanes<N> series =
      x * x *
      polynomial<N>(x, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
                    1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800, 1.0 / 87178291200);
  Twice<N> small = orderedSum<N>(x, series);
  Mask<N> isSmall = fabs<N>(x) < 0.5;
  return {isSmall ? small.high : large.high, isSmall ? small.low : large.low};
}
template <int N> Mask<N> RealExpm1(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], exponentLimit);
  v[0] = copysign<N>(expm1Twice<N>(v[0]).high, v[0]);
  return ok;
}
template <int N> Mask<N> RealLog1p(Lanes<N> *v) {
  Mask<N> ok = (v[0] > -0.5) & (v[0] < 0x1p900) & (fabs<N>(v[0]) > 0x1p-900);
  v[0] = log1p<N>(twice<N>(v[0]));
  return ok;
}
template <int N> Mask<N> RealLog(Lanes<N> *v) {
  Mask<N> ok = isPositive<N>(v[0]);
  v[0] = log<N>(v[0], all<N>(0));
  return ok;
}
template <int N> Mask<N> RealLog2(Lanes<N> *v) {
  Mask<N> ok = isPositive<N>(v[0]);
  v[0] = log2<N>(v[0], all<N>(0));
  return ok;
}
template <int N> Mask<N> RealLog10(Lanes<N> *v) {
  Mask<N> ok = isPositive<N>(v[0]);
  v[0] = rounded<N>(log10Twice<N>(twice<N>(v[0])));
  return ok;
}
/// To be rounded to f32.
template <int N> Mask<N> SingleLog10(Lanes<N> *v) {
  Mask<N> ok = RealLog<N>(v);
  v[0] *= 0x1.bcb7b1526e50ep-2;
  return ok;
}

// For f32: arguments and results are in double, rounded once by whoever asks. Polynomials within 2^-33 of the function
// (minimax, or interpolated at Chebyshev's nodes: log, erf), so that results are within
// 0.51 ulp, and as few other arguments as possible.

/// 2^k and p with e^x = 2^k (1 + p), |x| < 2^20.
template <int N> Lanes<N> singleExp(Lanes<N> x, Lanes<N> &scale) {
  Mask<N> k;
  Lanes<N> n = nearest<N>(x * 0x1.71547652b82fep+0, k), r = fma<N>(-n, all<N>(0x1.62e42fefa39efp-1), x);
  Lanes<N> q = polynomial<N>(r, 0x1.00000042f8effp-1, 0x1.555555964af63p-3, 0x1.5554804b880dcp-5, 0x1.11107f44864ccp-7,
                             0x1.6d9686dfab088p-10, 0x1.a1b4f729edf90p-13);
  scale = fromBits<N>((Mask<N>(1023) + ((k << 52) >> 52)) << 52);
  return fma<N>(r * r, q, r);
}
/// NaN stays.
template <int N> Lanes<N> clamped(Lanes<N> x, double low, double high) {
  x = x < low ? all<N>(low) : x;
  return x > high ? all<N>(high) : x;
}
/// Beyond the limits rounding to f32 gives 0 and infinity.
template <int N> Mask<N> SingleExp(Lanes<N> *v) {
  Lanes<N> scale, p = singleExp<N>(clamped<N>(v[0], -110, 90), scale);
  v[0] = fma<N>(p, scale, scale);
  return ~Mask<N>{};
}
/// e^x - 1 = 2^k p + (2^k - 1).
template <int N> Mask<N> SingleExpm1(Lanes<N> *v) {
  Lanes<N> scale, p = singleExp<N>(clamped<N>(v[0], -110, 90), scale);
  v[0] = copysign<N>(fma<N>(p, scale, scale - 1), v[0]);
  return ~Mask<N>{};
}
/// (e^2x - 1)/(e^2x + 1), which is 1 in f32 from 10 on.
template <int N> Mask<N> SingleTanh(Lanes<N> *v) {
  Lanes<N> scale, p = singleExp<N>(2 * clamped<N>(v[0], -10, 10), scale), e = fma<N>(p, scale, scale - 1);
  v[0] = copysign<N>(e / (e + 2), v[0]);
  return ~Mask<N>{};
}
/// An odd polynomial below 1, from there to 4, where it is 1 in f32, 1 - e^(log(erfc x)).
template <int N> Mask<N> SingleErf(Lanes<N> *v) {
  Lanes<N> a = clamped<N>(fabs<N>(v[0]), 0, 4), z = a * a, scale;
  Lanes<N> small = a * polynomial<N>(z, 0x1.20dd750428cb9p+0, -0x1.812746ade3c08p-2, 0x1.ce2f20a7415c6p-4,
                                     -0x1.b82cbae7577a7p-6, 0x1.56588b32275a7p-8, -0x1.bfe158a7be278p-11,
                                     0x1.f57e9cee106c1p-14, -0x1.d2b8522d6f7cbp-17, 0x1.1c41ab6eec487p-20);
  Lanes<N> p = singleExp<N>(polynomial<N>(a, 0x1.1bfca68df6a08p-13, -0x1.2114364eef73cp+0, -0x1.44c3c586aced7p-1,
                                          -0x1.b47e1b4902e77p-4, 0x1.7c2390f75aa01p-6, -0x1.699c089633462p-9,
                                          -0x1.14c5e48888a2fp-12, 0x1.b90f4502ed171p-13, -0x1.a4eb9a0e1d1a4p-15,
                                          0x1.c6394f7195895p-18, -0x1.1417f6835fa06p-21, 0x1.27a9054be6cb7p-26),
                            scale);
  v[0] = copysign<N>(a < 1 ? small : 1 - fma<N>(p, scale, scale), v[0]);
  return ~Mask<N>{};
}
/// x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
template <int N> Lanes<N> singleLog(Lanes<N> x, Lanes<N> &n) {
  Mask<N> bits = bitsOf<N>(x), k = (bits - 0x3fe6a09e667f3bcd) >> 52;
  Lanes<N> f = fromBits<N>(bits - (k << 52)) - 1;
  n = __builtin_convertvector(k, Lanes<N>);
  // Even and odd coefficients apart: two chains of half the length.
  Lanes<N> z = f * f;
  Lanes<N> even = polynomial<N>(z, -0x1.0000000061fefp-1, -0x1.fffffce751926p-3, -0x1.555628452ffd2p-3,
                                -0x1.ffed885e08173p-4, -0x1.96fbfe69b0695p-4, -0x1.903d12a33abedp-4);
  Lanes<N> odd = polynomial<N>(z, 0x1.5555558685d78p-2, 0x1.99994a9651e26p-3, 0x1.24a4605850f32p-3,
                               0x1.c3b930b4ce5fdp-4, 0x1.967b6c007aa1cp-4, 0x1.b9ce201c5fbb0p-5);
  return fma<N>(z, fma<N>(odd, f, even), f);
}
template <int N> Mask<N> SingleLog(Lanes<N> *v) {
  Lanes<N> n, y = singleLog<N>(v[0], n);
  Mask<N> ok = isPositive<N>(v[0]);
  v[0] = fma<N>(n, all<N>(0x1.62e42fefa39efp-1), y);
  return ok;
}
template <int N> Mask<N> SingleLog2(Lanes<N> *v) {
  Lanes<N> n, y = singleLog<N>(v[0], n);
  Mask<N> ok = isPositive<N>(v[0]);
  v[0] = fma<N>(y, all<N>(0x1.71547652b82fep+0), n);
  return ok;
}
/// sin r, |r| <= pi/2, with the sign of (-1)^k.
template <int N> Lanes<N> singleSin(Lanes<N> r, Mask<N> k) {
  Lanes<N> z = r * r;
  Lanes<N> s = r * fma<N>(z,
                          polynomial<N>(z, -0x1.55555547697f2p-3, 0x1.11110c4a06565p-7, -0x1.a017d9a1c3dd8p-13,
                                        0x1.7170804fadc00p-19, -0x1.9a688b2680000p-26),
                          all<N>(1));
  return fromBits<N>(bitsOf<N>(s) ^ (k << 63));
}
/// x - n pi.
template <int N> Lanes<N> minusHalfTurns(Lanes<N> x, Lanes<N> n) {
  return fma<N>(-n, all<N>(0x1.1a62633145c07p-53), fma<N>(-n, all<N>(0x1.921fb54442d18p+1), x));
}
template <int N> Mask<N> SingleSin(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], angleLimit), k;
  Lanes<N> n = nearest<N>(v[0] * 0x1.45f306dc9c883p-2, k);
  v[0] = singleSin<N>(minusHalfTurns<N>(v[0], n), k);
  return ok;
}
/// cos x = -sin(x - (n + 1/2) pi) (-1)^n.
template <int N> Mask<N> SingleCos(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], angleLimit), k;
  Lanes<N> n = nearest<N>(fma<N>(v[0], all<N>(0x1.45f306dc9c883p-2), all<N>(-0.5)), k);
  v[0] = singleSin<N>(minusHalfTurns<N>(v[0], n + 0.5), k + 1);
  return ok;
}
template <int N> Mask<N> RealCis(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], angleLimit);
  sincos<N>(v[0], v[1], v[0]);
  return ok;
}
/// One of two results: of cis (cosine, sine), of sinhcosh.
template <int N> Mask<N> RealCos(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], angleLimit);
  Lanes<N> sine;
  sincos<N>(v[0], sine, v[0]);
  return ok;
}
template <int N> Mask<N> RealSin(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], angleLimit);
  Lanes<N> cosine;
  sincos<N>(v[0], v[0], cosine);
  return ok;
}
template <int N> Mask<N> RealTan(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], angleLimit);
  Lanes<N> s, c;
  sincos<N>(v[0], s, c);
  v[0] = s / c;
  return ok;
}
template <int N> Mask<N> RealSinh(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], exponentLimit);
  Lanes<N> c;
  sinhcosh<N>(v[0], v[0], c);
  return ok;
}
template <int N> Mask<N> RealCosh(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], exponentLimit);
  Lanes<N> s;
  sinhcosh<N>(v[0], s, v[0]);
  return ok;
}
template <int N> Mask<N> RealTanh(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], exponentLimit);
  Lanes<N> s, c, a = fabs<N>(v[0]), e = exp<N>(-2 * __builtin_elementwise_min(a, all<N>(50)));
  sinhcosh<N>(v[0], s, c);
  v[0] = a < 0.5 ? s / c : copysign<N>((1 - e) / (1 + e), v[0]);
  return ok;
}
template <int N> Mask<N> RealAsinh(Lanes<N> *v) {
  Mask<N> ok = isModerate<N>(v[0]);
  v[0] = copysign<N>(asinh<N>(twice<N>(fabs<N>(v[0]))), v[0]);
  return ok;
}
/// log(x + sqrt(x^2 - 1)), from 1 on.
template <int N> Mask<N> RealAcosh(Lanes<N> *v) {
  Mask<N> ok = (v[0] > 1) & isModerate<N>(v[0]);
  Twice<N> w = sum<N>(v[0], all<N>(-1)), above = sum<N>(v[0], all<N>(1));
  v[0] = log1p<N>(w + sqrt<N>(w * above));
  return ok;
}
/// log1p(2x/(1 - x))/2.
template <int N> Mask<N> RealAtanh(Lanes<N> *v) {
  Lanes<N> a = fabs<N>(v[0]);
  Mask<N> ok = isModerate<N>(a) & (a < 1);
  v[0] = copysign<N>(0.5 * log1p<N>(twice<N>(2 * a) / sum<N>(all<N>(1), -a)), v[0]);
  return ok;
}
template <int N> Mask<N> RealAtan(Lanes<N> *v) {
  Mask<N> ok = isModerate<N>(v[0]);
  v[0] = atan2<N>(v[0], all<N>(1));
  return ok;
}
/// The angle whose sine is x, and whose cosine is sqrt((1 - x)(1 + x)).
template <int N> Lanes<N> legOf(Lanes<N> x) {
  return sqrt<N>(rounded<N>(sum<N>(all<N>(1), -x) * sum<N>(all<N>(1), x)));
}
template <int N> Mask<N> RealAsin(Lanes<N> *v) {
  Mask<N> ok = isModerate<N>(v[0]) & isBelow<N>(v[0], 1);
  v[0] = atan2<N>(v[0], legOf<N>(v[0]));
  return ok;
}
template <int N> Mask<N> RealAcos(Lanes<N> *v) {
  Mask<N> ok = isModerate<N>(v[0]) & isBelow<N>(v[0], 1);
  v[0] = atan2<N>(legOf<N>(v[0]), v[0]);
  return ok;
}
/// Exponents whose powers have rules of their own, for every base: integers from 0 to 64, -1 and 1/2. Code that knows
/// the exponent has the same operations inline (ScalarEmitter::realPower).
template <int N> Mask<N> isSmallExponent(Lanes<N> y) {
  return ((y >= 0) & (y <= 64) & (y == __builtin_elementwise_trunc(y))) | (y == -1) | (y == 0.5);
}
template <int N> Lanes<N> times(Lanes<N> a, Lanes<N> b) { return a * b; }
/// Rounded to twice the digits, so that the high part is the product within 0.51 ulp. Zeros keep their signs, and
/// nothing beyond the range becomes NaN.
template <int N> Twice<N> times(Twice<N> a, Twice<N> b) {
  Lanes<N> p = a.high * b.high, e = fma<N>(a.high, b.high, -p) + (a.high * b.low + a.low * b.high), s = p + e;
  Mask<N> ok = (fabs<N>(s) < __builtin_inf()) & (s != 0);
  return {ok ? s : p, ok ? e - (s - p) : all<N>(0)};
}
template <int N> Lanes<N> choose(Mask<N> c, Lanes<N> a, Lanes<N> b) { return c ? a : b; }
template <int N> Twice<N> choose(Mask<N> c, Twice<N> a, Twice<N> b) { return {c ? a.high : b.high, c ? a.low : b.low}; }
/// x^n by repeated squaring.
template <int N, typename T> T integralPower(T x, Mask<N> n) {
  T result = x;
  Mask<N> any = {};
  for (; __builtin_reduce_or(n); n >>= 1) {
    Mask<N> odd = (n & 1) != 0;
    result = choose<N>(odd, choose<N>(any, times<N>(result, x), x), result);
    any |= odd;
    x = times<N>(x, x);
  }
  return result;
}
template <int N, typename T> Lanes<N> smallPower(T base, Lanes<N> x, Lanes<N> y) {
  Mask<N> small = isSmallExponent<N>(y), root = y == 0.5, inverse = y == -1, zero = y == 0;
  Mask<N> n = __builtin_convertvector((small & ~root & ~inverse) ? y : all<N>(0), Mask<N>);
  // In f64 products with up to three roundings are within 2.5 ulp, longer ones need twice the digits.
  Lanes<N> infinite = all<N>(__builtin_inf()), result = integralPower<N>(x, n <= 4 ? n : 0);
  T power = integralPower<N>(base, n <= 4 ? 0 : n);
  if constexpr (__is_same(T, Twice<N>))
    result = n <= 4 ? result : power.high;
  else
    result = n <= 4 ? result : power;
  result = zero ? all<N>(1) : inverse ? 1 / x : result;
  return root ? x == -infinite ? infinite : sqrt<N>(x + 0) : result; // the power of -0 is +0
}
/// e^(y log |x|) with the sign of odd powers, `exponent` being y log |x|.
template <int N> Mask<N> hasOrdinaryPower(Lanes<N> x, Lanes<N> y, Lanes<N> exponent) {
  Mask<N> integral = y == __builtin_elementwise_trunc(y);
  return isPositive<N>(fabs<N>(x)) & ((x > 0) | integral) & isModerate<N>(y) & isBelow<N>(exponent, exponentLimit);
}
template <int N> Lanes<N> withPowersSign(Lanes<N> power, Lanes<N> x, Lanes<N> y) {
  Lanes<N> half = 0.5 * y;
  return ((x < 0) & (half != __builtin_elementwise_trunc(half))) ? -power : power;
}
/// The exponent with twice the digits; exact results come out exactly.
template <int N> Mask<N> RealPow(Lanes<N> *v) {
  Lanes<N> x = v[0], y = v[1];
  Mask<N> small = isSmallExponent<N>(y), ok = small;
  if (__builtin_reduce_or(small))
    v[0] = smallPower<N>(twice<N>(x), x, y);
  if (!__builtin_reduce_and(small)) {
    Twice<N> exponent = twice<N>(y) * logTwice<N>(twice<N>(fabs<N>(x)));
    ok |= hasOrdinaryPower<N>(x, y, exponent.high);
    v[0] = small ? v[0] : withPowersSign<N>(rounded<N>(exp<N>(exponent)), x, y);
  }
  return ok;
}
/// The same for f32: double is enough.
template <int N> Mask<N> SinglePow(Lanes<N> *v) {
  Lanes<N> x = v[0], y = v[1];
  Mask<N> small = isSmallExponent<N>(y), ok = small;
  if (__builtin_reduce_or(small))
    v[0] = smallPower<N>(x, x, y);
  if (!__builtin_reduce_and(small)) {
    Lanes<N> exponent = y * log<N>(fabs<N>(x), all<N>(0));
    ok |= hasOrdinaryPower<N>(x, y, exponent);
    v[0] = small ? v[0] : withPowersSign<N>(exp<N>(exponent), x, y);
  }
  return ok;
}
/// floor(a / b) and a - floor(a / b) b, exact by one fused operation where the quotient has no more digits than a
/// double: rounding can only make it one too large.
template <int N> Mask<N> floorQuotient(const Lanes<N> *v, Lanes<N> &ratio, Lanes<N> &whole, Lanes<N> &rest) {
  ratio = v[0] / v[1];
  whole = __builtin_elementwise_floor(ratio);
  rest = fma<N>(-whole, v[1], v[0]);
  Mask<N> isAcross = (rest != 0) & ((bitsOf<N>(rest) ^ bitsOf<N>(v[1])) < 0);
  rest = isAcross ? rest + v[1] : rest;
  whole = isAcross ? whole - 1 : whole;
  return isBelow<N>(ratio, 0x1p52) & (fabs<N>(v[1]) < __builtin_inf());
}
template <int N> Mask<N> RealMod(Lanes<N> *v) {
  Lanes<N> ratio, whole, rest;
  Mask<N> ok = floorQuotient<N>(v, ratio, whole, rest);
  v[0] = rest == 0 ? copysign<N>(all<N>(0), v[1]) : rest;
  return ok;
}
template <int N> Mask<N> RealFloorDiv(Lanes<N> *v) {
  Lanes<N> ratio, whole, rest;
  Mask<N> ok = floorQuotient<N>(v, ratio, whole, rest) & isBelow<N>(ratio, 0x1p49); // beyond, Python's may be one off
  v[0] = whole == 0 ? copysign<N>(all<N>(0), ratio) : whole;
  return ok;
}
template <int N> Mask<N> RealAtan2(Lanes<N> *v) {
  Mask<N> ok = isModeratePair<N>(v);
  v[0] = atan2<N>(v[0], v[1]);
  return ok;
}

/// e^x (cos y + i sin y).
template <int N> Mask<N> ComplexExp(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], exponentLimit) & isBelow<N>(v[1], angleLimit);
  Lanes<N> e = exp<N>(v[0]), s, c;
  sincos<N>(v[1], s, c);
  v[0] = e * c;
  v[1] = e * s;
  return ok;
}
/// |z|^2 = x^2 + y^2 with twice the digits; too close to 1 even those are not enough for its logarithm.
template <int N> Twice<N> squaredSize(const Lanes<N> *v, Mask<N> &ok) {
  Lanes<N> x = v[0], y = v[1], xx = x * x, yy = y * y, large = xx > yy ? xx : yy, small = xx > yy ? yy : xx;
  Lanes<N> sum = large + small, rest = ((large - sum) + small) + (fma<N>(x, x, -xx) + fma<N>(y, y, -yy));
  ok = isModeratePair<N>(v) & (fabs<N>((sum - 1) + rest) > 0x1p-40);
  return {sum, rest};
}
/// log|z| = log(|z|^2)/2.
template <int N> Mask<N> ComplexLog(Lanes<N> *v) {
  Mask<N> ok;
  Twice<N> square = squaredSize<N>(v, ok);
  v[1] = atan2<N>(v[1], v[0]);
  v[0] = 0.5 * log<N>(square.high, square.low);
  return ok;
}
template <int N> Mask<N> ComplexLog2(Lanes<N> *v) {
  Mask<N> ok;
  Twice<N> square = squaredSize<N>(v, ok);
  v[1] = atan2<N>(v[1], v[0]) * 0x1.71547652b82fep+0;
  v[0] = 0.5 * log2<N>(square.high, square.low);
  return ok;
}
template <int N> Mask<N> ComplexLog10(Lanes<N> *v) {
  Mask<N> ok;
  Twice<N> square = squaredSize<N>(v, ok);
  v[1] = atan2<N>(v[1], v[0]) * 0x1.bcb7b1526e50ep-2;
  v[0] = 0.5 * rounded<N>(log10Twice<N>(square));
  return ok;
}
/// t = sqrt((|z| + |x|)/2), u = |y|/(2t): t + iu on the right, u + it on the left.
template <int N> Mask<N> ComplexSqrt(Lanes<N> *v) {
  Mask<N> ok = isModeratePair<N>(v);
  Lanes<N> r = magnitude<N>(v), t = sqrt<N>(0.5 * (r + fabs<N>(v[0]))), u = fabs<N>(v[1]) / (2 * t);
  Mask<N> right = v[0] >= 0;
  v[0] = right ? t : u;
  v[1] = copysign<N>(right ? u : t, v[1]);
  return ok;
}
/// The square root of x + iy with rests, both parts made positive; the signs are those of ComplexSqrt.
template <int N> struct Root {
  Twice<N> re, im, size;
  Root(Twice<N> x, Lanes<N> y) {
    Lanes<N> ay = fabs<N>(y);
    size = sqrt<N>(x * x + twice<N>(ay) * twice<N>(ay));
    Twice<N> t = sqrt<N>(scaled<N>(size + fabs<N>(x), all<N>(0.5))), u = twice<N>(0.5 * ay) / t;
    Mask<N> right = x.high >= 0;
    re = {right ? t.high : u.high, right ? t.low : u.low};
    im = {right ? u.high : t.high, right ? u.low : t.low};
  }
};
/// conj(sqrt z)/|z|.
template <int N> Mask<N> ComplexRsqrt(Lanes<N> *v) {
  Mask<N> ok = isModeratePair<N>(v);
  Root<N> root(twice<N>(v[0]), v[1]);
  v[0] = rounded<N>(root.re / root.size);
  v[1] = copysign<N>(rounded<N>(root.im / root.size), -v[1]);
  return ok;
}
/// -i f(iz): asinh of asin, tan of tanh, atan of atanh.
template <int N, auto function> Mask<N> turned(Lanes<N> *v) {
  Lanes<N> w[2] = {-v[1], v[0]};
  Mask<N> ok = function(w);
  v[0] = w[1];
  v[1] = -w[0];
  return ok;
}
/// Off the axes, where signs of zeros and branch cuts need no care.
template <int N> Mask<N> isInside(const Lanes<N> *v) { return isModerate<N>(v[0]) & isModerate<N>(v[1]); }
/// W. Kahan (Branch cuts for complex elementary functions): with a = sqrt(1 - z), b = sqrt(1 + z) the parts are those
/// of a conj(b) and a b, of which no sum cancels.
template <int N> Mask<N> ComplexAsin(Lanes<N> *v) {
  Mask<N> ok = isInside<N>(v);
  Root<N> a(sum<N>(all<N>(1), -v[0]), v[1]), b(sum<N>(all<N>(1), v[0]), v[1]);
  Lanes<N> y = asinh<N>(a.re * b.im + a.im * b.re);
  v[0] = atan2<N>(v[0], rounded<N>(a.re * b.re + a.im * b.im));
  v[1] = copysign<N>(y, v[1]);
  return ok;
}
template <int N> Mask<N> ComplexAcos(Lanes<N> *v) {
  Mask<N> ok = isInside<N>(v);
  Root<N> a(sum<N>(all<N>(1), -v[0]), v[1]), b(sum<N>(all<N>(1), v[0]), v[1]);
  Lanes<N> y = asinh<N>(a.re * b.im + a.im * b.re);
  v[0] = 2 * atan2<N>(a.re.high, b.re.high);
  v[1] = copysign<N>(y, -v[1]);
  return ok;
}
template <int N> Mask<N> ComplexAcosh(Lanes<N> *v) { // i acos z, with the sign that makes the real part positive
  Lanes<N> w[2] = {v[0], v[1]};
  Mask<N> ok = ComplexAcos<N>(w);
  v[0] = fabs<N>(w[1]);
  v[1] = copysign<N>(w[0], v[1]);
  return ok;
}
template <int N> Mask<N> ComplexAsinh(Lanes<N> *v) { return turned<N, ComplexAsin<N>>(v); }
/// log1p(4|x|/((1 - |x|)^2 + y^2))/4, and half the angle of (1 - x^2 - y^2) + 2iy.
template <int N> Mask<N> ComplexAtanh(Lanes<N> *v) {
  Mask<N> ok = isInside<N>(v);
  Lanes<N> a = fabs<N>(v[0]), y = v[1];
  Twice<N> below = sum<N>(all<N>(1), -a), above = sum<N>(all<N>(1), a), square = twice<N>(y) * twice<N>(y);
  v[0] = copysign<N>(0.25 * log1p<N>(twice<N>(4 * a) / (below * below + square)), v[0]);
  v[1] = 0.5 * atan2<N>(2 * y, rounded<N>(below * above + -square));
  return ok;
}
template <int N> Mask<N> ComplexAtan(Lanes<N> *v) { return turned<N, ComplexAtanh<N>>(v); }
/// expm1(x) cos y - 2 sin(y/2)^2, unless the two nearly cancel, and e^x sin y.
template <int N> Mask<N> ComplexExpm1(Lanes<N> *v) {
  Mask<N> ok = isInside<N>(v) & isBelow<N>(v[0], exponentLimit) & isBelow<N>(v[1], angleLimit);
  Twice<N> s, c, halfSine, unused, m = expm1Twice<N>(v[0]);
  sincosTwice<N>(v[1], s, c);
  sincosTwice<N>(0.5 * v[1], halfSine, unused);
  Twice<N> first = m * c, second = scaled<N>(halfSine * halfSine, all<N>(-2)), re = first + second;
  v[1] = rounded<N>(expTwice<N>(v[0]) * s);
  v[0] = rounded<N>(re);
  return ok & (fabs<N>(v[0]) * 4 > fabs<N>(first.high));
}
/// log1p(x(2 + x) + y^2)/2, the sum with twice the digits, and the angle of (1 + x) + iy.
template <int N> Mask<N> ComplexLog1p(Lanes<N> *v) {
  Lanes<N> x = v[0], y = v[1];
  Twice<N> above = sum<N>(all<N>(1), x), square = twice<N>(y) * twice<N>(y),
           product = twice<N>(x) * sum<N>(all<N>(2), x), w = product + square;
  Mask<N> ok = isInside<N>(v) & (w.high > -0.5) & (fabs<N>(w.high) > 0x1p-40 * square.high);
  v[0] = 0.5 * log1p<N>(w);
  v[1] = atan2<N>(y, above.high);
  return ok;
}
/// What sin, cos, sinh, cosh, tan and tanh need of one real and one imaginary argument.
template <int N> struct Circular {
  Lanes<N> s, c, sh, ch;
  Mask<N> ok;
  Circular(Lanes<N> angle, Lanes<N> exponent) {
    ok = isBelow<N>(angle, angleLimit) & isBelow<N>(exponent, exponentLimit);
    sincos<N>(angle, s, c);
    sinhcosh<N>(exponent, sh, ch);
  }
};
template <int N> Mask<N> ComplexSin(Lanes<N> *v) {
  Circular<N> f(v[0], v[1]);
  v[0] = f.s * f.ch;
  v[1] = f.c * f.sh;
  return f.ok;
}
template <int N> Mask<N> ComplexCos(Lanes<N> *v) {
  Circular<N> f(v[0], v[1]);
  v[0] = f.c * f.ch;
  v[1] = -(f.s * f.sh);
  return f.ok;
}
template <int N> Mask<N> ComplexSinh(Lanes<N> *v) {
  Circular<N> f(v[1], v[0]);
  v[0] = f.c * f.sh;
  v[1] = f.s * f.ch;
  return f.ok;
}
template <int N> Mask<N> ComplexCosh(Lanes<N> *v) {
  Circular<N> f(v[1], v[0]);
  v[0] = f.c * f.ch;
  v[1] = f.s * f.sh;
  return f.ok;
}
/// tanh(x + iy) = (sinh x cosh x + i sin y cos y)/(sinh^2 x + cos^2 y).
template <int N> Mask<N> ComplexTanh(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[1], angleLimit) & isBelow<N>(v[0], exponentLimit / 2);
  Twice<N> s, c, sh, ch;
  sincosTwice<N>(v[1], s, c);
  sinhcoshTwice<N>(v[0], sh, ch);
  Twice<N> d = sh * sh + c * c;
  v[0] = copysign<N>((sh * ch / d).high, v[0]);
  v[1] = copysign<N>((s * c / d).high, s.high * c.high);
  return ok;
}
template <int N> Mask<N> ComplexTan(Lanes<N> *v) { return turned<N, ComplexTanh<N>>(v); }
template <int N> Mask<N> ComplexSign(Lanes<N> *v) {
  Mask<N> ok = isModeratePair<N>(v);
  Lanes<N> r = magnitude<N>(v);
  v[0] /= r;
  v[1] /= r;
  return ok;
}
template <int N> Mask<N> ComplexAbs(Lanes<N> *v) {
  Mask<N> ok = isModeratePair<N>(v);
  v[0] = magnitude<N>(v);
  return ok;
}
/// The numerators by Kahan's difference of products; the same operations as rt::divide.
template <int N> Mask<N> ComplexDiv(Lanes<N> *v) {
  Lanes<N> a = v[0], b = v[1], c = v[2], d = v[3];
  Mask<N> ok = isModerateOrZero<N>(a) & isModerateOrZero<N>(b) & isModeratePair<N>(v + 2);
  Lanes<N> denominator = c * c + d * d, bd = b * d, ad = -a * d;
  v[0] = (fma<N>(a, c, bd) + fma<N>(b, d, -bd)) / denominator;
  v[1] = (fma<N>(b, c, ad) + fma<N>(-a, d, -ad)) / denominator;
  return ok;
}
/// Powers z^w = e^(w log z). Exponents that are integers or 1/2 have exact rules, zeros have signs: those are no
/// ordinary arguments.
template <int N> Mask<N> hasOrdinaryPower(const Lanes<N> *v, Lanes<N> exponent, Lanes<N> angle) {
  Lanes<N> re = v[2], im = v[3];
  return isModeratePair<N>(v) & isModerateOrZero<N>(re) & isModerateOrZero<N>(im) &
         isBelow<N>(exponent, exponentLimit) & isBelow<N>(angle, 1024) & (angle != 0) &
         ((im != 0) | ((re != __builtin_elementwise_trunc(re)) & (re != 0.5)));
}
/// The product with twice the digits.
template <int N> Mask<N> ComplexPow(Lanes<N> *v) {
  Twice<N> x = twice<N>(v[0]), y = twice<N>(v[1]), re = twice<N>(v[2]), im = twice<N>(v[3]);
  Twice<N> size = scaled<N>(logTwice<N>(x * x + y * y), all<N>(0.5)), angle = atan2Twice<N>(v[1], v[0]);
  Twice<N> u = re * size + -(im * angle), t = re * angle + im * size, e = exp<N>(u), s, c;
  Mask<N> ok = hasOrdinaryPower<N>(v, u.high, t.high);
  sincosTwice<N>(t.high, s, c);
  v[0] = rounded<N>(e * (c + twice<N>(-s.high * t.low)));
  v[1] = rounded<N>(e * (s + twice<N>(c.high * t.low)));
  return ok;
}
/// The same for c64: double is enough, but where the sine or cosine is small.
template <int N> Mask<N> SingleComplexPow(Lanes<N> *v) {
  Lanes<N> full[4] = {v[0], v[1], v[2], v[3]};
  Lanes<N> size = 0.5 * log<N>(v[0] * v[0] + v[1] * v[1], all<N>(0)), angle = atan2<N>(v[1], v[0]);
  Lanes<N> u = v[2] * size - v[3] * angle, t = v[2] * angle + v[3] * size, e = exp<N>(u), s, c;
  Mask<N> ok = hasOrdinaryPower<N>(v, u, t);
  sincos<N>(t, s, c);
  v[0] = e * c;
  v[1] = e * s;
  Mask<N> isSmall = (fabs<N>(s) < 0x1p-16) | (fabs<N>(c) < 0x1p-16);
  if (__builtin_reduce_or(isSmall)) {
    ok &= ~isSmall | ComplexPow<N>(full);
    v[0] = isSmall ? full[0] : v[0];
    v[1] = isSmall ? full[1] : v[1];
  }
  return ok;
}
template <int N> Mask<N> ComplexReciprocal(Lanes<N> *v) {
  Lanes<N> quotient[4] = {all<N>(1), all<N>(0), v[0], v[1]};
  Mask<N> ok = ComplexDiv<N>(quotient);
  v[0] = quotient[0];
  v[1] = quotient[1];
  return ok;
}
/// z^n by repeated squaring, the operations of rt::power.
template <int N> Mask<N> ComplexPowi(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[2], 0x1p31), m = __builtin_convertvector(fabs<N>(ok ? v[2] : all<N>(0)), Mask<N>), any = {};
  Lanes<N> re = all<N>(1), im = all<N>(0), x = v[0], y = v[1];
  for (; __builtin_reduce_or(m); m >>= 1) {
    Mask<N> odd = (m & 1) != 0;
    Lanes<N> p = re * x - im * y, q = re * y + im * x;
    re = odd ? (any ? p : x) : re;
    im = odd ? (any ? q : y) : im;
    any |= odd;
    Lanes<N> square = x * x - y * y;
    y = x * y + y * x;
    x = square;
  }
  Lanes<N> inverse[2] = {re, im};
  Mask<N> negative = v[2] < 0, invertible = ComplexReciprocal<N>(inverse);
  v[0] = negative ? inverse[0] : re;
  v[1] = negative ? inverse[1] : im;
  return ok & (~negative | invertible);
}

#ifndef TOY_DEVICE_MATH // see runtime/cuda/DeviceMath.cpp
/// n elements in place, N at a time; the lanes beyond n compute the values of 1.
template <int N, auto kernel, int inputs, int outputs> void run(int64_t n, double *values, CarefulFunction careful) {
  constexpr int most = inputs > outputs ? inputs : outputs;
  for (int64_t begin = 0; begin < n; begin += N) {
    const int count = n - begin < N ? static_cast<int>(n - begin) : N;
    Lanes<N> v[most], arguments[most];
    for (int i = 0; i < inputs; ++i) {
      v[i] = all<N>(1);
      if (count == N)
        __builtin_memcpy(&v[i], values + i * n + begin, sizeof v[i]);
      else
        for (int lane = 0; lane < count; ++lane)
          v[i][lane] = values[i * n + begin + lane];
      arguments[i] = v[i];
    }
    Mask<N> ordinary = kernel(v);
    for (int i = 0; i < outputs; ++i)
      if (count == N)
        __builtin_memcpy(values + i * n + begin, &v[i], sizeof v[i]);
      else
        for (int lane = 0; lane < count; ++lane)
          values[i * n + begin + lane] = v[i][lane];
    if (__builtin_reduce_and(ordinary) != 0)
      continue;
    for (int lane = 0; lane < count; ++lane)
      if (!ordinary[lane]) {
        double one[most];
        for (int i = 0; i < inputs; ++i)
          one[i] = arguments[i][lane];
        careful(one);
        for (int i = 0; i < outputs; ++i)
          values[i * n + begin + lane] = one[i];
      }
  }
}

#if defined(__AVX512F__)
constexpr int native = 8;
#elif defined(__AVX2__)
constexpr int native = 4;
#else
constexpr int native = 2;
#endif

template <auto narrow, auto wide, int inputs, int outputs>
void apply(int64_t n, double *values, CarefulFunction careful) {
  if (n <= 2)
    run<2, narrow, inputs, outputs>(n, values, careful);
  else
    run < native<4 ? 4 : native, wide, inputs, outputs>(n, values, careful);
}

/// What no lane's kernel takes goes one by one.
template <int inputs>
__attribute__((noinline, cold)) Lanes<native> applyCarefully(int row, Lanes<native> result, Mask<native> ordinary,
                                                             const Lanes<native> *arguments) {
  for (int lane = 0; lane < native; ++lane)
    if (!ordinary[lane]) {
      double one[inputs];
      for (int i = 0; i < inputs; ++i)
        one[i] = arguments[i][lane];
      elementFunctions()[row].careful(one);
      result[lane] = one[0];
    }
  return result;
}
template <auto kernel, int row> Lanes<native> unary(Lanes<native> x) {
  Lanes<native> v[] = {x};
  Mask<native> ordinary = kernel(v);
  return __builtin_expect(__builtin_reduce_and(ordinary) != 0, 1) ? v[0] : applyCarefully<1>(row, v[0], ordinary, &x);
}
template <auto kernel, int row> Lanes<native> binary(Lanes<native> x, Lanes<native> y) {
  Lanes<native> v[] = {x, y}, arguments[] = {x, y};
  Mask<native> ordinary = kernel(v);
  return __builtin_expect(__builtin_reduce_and(ordinary) != 0, 1) ? v[0]
                                                                  : applyCarefully<2>(row, v[0], ordinary, arguments);
}
template <auto kernel, int row, int inputs, int outputs> constexpr auto direct() {
  if constexpr (outputs != 1 || inputs > 2)
    return static_cast<void (*)()>(nullptr);
  else if constexpr (inputs == 1)
    return unary<kernel, row>;
  else
    return binary<kernel, row>;
}
enum Row {
#define TOY_ELEMENT(KERNEL, NAME, DTYPE, INPUTS, OUTPUTS) row_##NAME##_##DTYPE,
#include "runtime/ElementFunctions.def"
};
#endif

} // namespace

#ifndef TOY_DEVICE_MATH
extern const ElementKernel elementKernels[];
const ElementKernel elementKernels[] = {
#define TOY_ELEMENT(KERNEL, NAME, DTYPE, INPUTS, OUTPUTS)                                                              \
  apply < KERNEL<2>, KERNEL<native<4 ? 4 : native>, INPUTS, OUTPUTS>,
#include "runtime/ElementFunctions.def"
};
extern void *const laneFunctions[];
void *const laneFunctions[] = {
#define TOY_ELEMENT(KERNEL, NAME, DTYPE, INPUTS, OUTPUTS)                                                              \
  reinterpret_cast<void *>(+direct<KERNEL<native>, row_##NAME##_##DTYPE, INPUTS, OUTPUTS>()),
#include "runtime/ElementFunctions.def"
};
extern const int laneWidth;
const int laneWidth = native;
#endif

} // namespace toy::rt::TOY_ISA
