// SPDX-License-Identifier: Apache-2.0
/// \file
/// The rows of ElementFunctions.def in lanes. A kernel overwrites its arguments by its results and returns the lanes
/// whose arguments were ordinary.
#include "runtime/PowerKernels.h"
#include "runtime/SingleKernels.h"

#ifndef TOY_DEVICE_MATH
#include "runtime/ElementFunctions.h"
#endif

namespace toy::rt::TOY_ISA {
namespace {

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
  v[0] = copysign<N>(expm1<N>(v[0]), v[0]);
  return ok;
}
template <int N> Mask<N> RealLog1p(Lanes<N> *v) {
  Mask<N> ok = (v[0] > -0.5) & (v[0] < 0x1p900) & (fabs<N>(v[0]) > 0x1p-900);
  v[0] = log1p<N>(twice<N>(v[0]));
  return ok;
}
template <int N> Mask<N> RealLog(Lanes<N> *v) {
  Mask<N> ok = isPositive<N>(v[0]);
  v[0] = log<N>(v[0]);
  return ok;
}
template <int N> Mask<N> RealLog2(Lanes<N> *v) {
  Mask<N> ok = isPositive<N>(v[0]);
  v[0] = log2<N>(v[0], all<N>(0));
  return ok;
}
template <int N> Mask<N> RealLog10(Lanes<N> *v) {
  Mask<N> ok = isPositive<N>(v[0]);
  v[0] = log10<N>(v[0]);
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
/// E/(E + 2), E = e^2a - 1, which is 1 from 20 on.
template <int N> Mask<N> RealTanh(Lanes<N> *v) {
  Lanes<N> e = expm1<N>(2 * clamped<N>(fabs<N>(v[0]), 0, 20));
  v[0] = copysign<N>(e / (e + 2), v[0]);
  return ~Mask<N>{};
}
/// An odd polynomial below 1, from there to 6, where it is 1, 1 - e^(log(erfc x)); that of x - 3.5 has an error of
/// 2^-55 of the result's.
template <int N> Mask<N> RealErf(Lanes<N> *v) {
  Lanes<N> a = clamped<N>(fabs<N>(v[0]), 0, 6), z = a * a, u = __builtin_elementwise_max(a, all<N>(1)) - 3.5;
  Lanes<N> small = inTwoChains<N>(
      z, 0x1.20dd750429b6dp+0, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b34p-4, -0x1.b82ce31284f37p-6, 0x1.565bcd0dbd8fcp-8,
      -0x1.c02db3db4923bp-11, 0x1.f9a321e4b13e1p-14, -0x1.f4d1e4345b5f0p-17, 0x1.b9df305990658p-20,
      -0x1.5f1f40ed7f4ddp-23, 0x1.f7b99d66aee24p-27, -0x1.38ac2398f942fp-30, 0x1.06275f9b4fc51p-34);
  Lanes<N> large =
      inTwoChains<N>(u, -0x1.c3991652a282dp+3, -0x1.d107c69162322p+2, -0x1.eefa41a29e42cp-1, -0x1.5677fe7c16d44p-8,
                     0x1.ca1057228feb5p-11, -0x1.34e82a9565a5ap-13, 0x1.991efb6c7c04fp-16, -0x1.0504c9cf99b30p-18,
                     0x1.3b0a46ec5e796p-21, -0x1.56f932b38b9c2p-24, 0x1.3d0f092317410p-27, -0x1.88e1c4b675ed9p-30,
                     -0x1.16f92056c0ccdp-32, 0x1.2874eaf55f04ep-33, 0x1.aca2faf7f77b2p-34, 0x1.caf9ad1d27f30p-36,
                     -0x1.edeae54a5987cp-38, -0x1.572c2a37fb843p-38, -0x1.37e516c41c322p-40, -0x1.9c8007a8e2d25p-44);
  v[0] = copysign<N>(a < 1 ? a * small : 1 - exp<N>(large), v[0]);
  return v[0] == v[0];
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
/// asin a = a + a z P(z), z = a^2, up to 1/2; above, of half of what is missing from 1, pi/2 - 2 asin(sqrt((1 - a)/2)).
template <int N> struct ArcSine {
  Lanes<N> base, rest; // of a, or of the root
  Mask<N> isLarge, ok;
  explicit ArcSine(Lanes<N> x) {
    Lanes<N> a = fabs<N>(x);
    isLarge = a > 0.5;
    ok = a <= 1;
    Lanes<N> z = isLarge ? 0.5 * (1 - a) : a * a;
    base = isLarge ? sqrt<N>(z) : x;
    rest = base * z *
           inTwoChains<N>(z, 0x1.5555555555578p-3, 0x1.333333332df7fp-4, 0x1.6db6db722603ep-5, 0x1.f1c71a8dc65a9p-6,
                          0x1.6e8bdfa616327p-6, 0x1.1c49e2c18d002p-6, 0x1.ca20cd812130bp-7, 0x1.757b7e67b044fp-7,
                          0x1.6173dc68eef93p-7, 0x1.e2bfdcd00af84p-9, 0x1.64924eecf41dap-6, -0x1.595403786f488p-6,
                          0x1.0bb03e5888a03p-5);
  }
};
constexpr double halfPi = 0x1.921fb54442d18p+0, halfPiLow = 0x1.1a62633145c07p-54;
template <int N> Mask<N> RealAsin(Lanes<N> *v) {
  ArcSine<N> asin(v[0]);
  Lanes<N> outside = halfPi - (2 * asin.base + (2 * asin.rest - halfPiLow));
  v[0] = copysign<N>(asin.isLarge ? outside : asin.base + asin.rest, v[0]);
  return asin.ok;
}
template <int N> Mask<N> RealAcos(Lanes<N> *v) {
  ArcSine<N> asin(v[0]);
  Lanes<N> twofold = 2 * (asin.base + asin.rest), other = 2 * halfPi - (twofold - 2 * halfPiLow);
  Lanes<N> inside = halfPi - (asin.base + (asin.rest - halfPiLow));
  v[0] = asin.isLarge ? (v[0] < 0 ? other : twofold) : inside;
  return asin.ok;
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

template <int N> Mask<N> RealHypot(Lanes<N> *v) {
  Mask<N> ok = isModeratePair<N>(v);
  v[0] = magnitude<N>(v);
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
  Lanes<N> size = 0.5 * log<N>(v[0] * v[0] + v[1] * v[1]), angle = atan2<N>(v[1], v[0]);
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
