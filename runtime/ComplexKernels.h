// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions of complex numbers: both parts in, both parts out, for c128 and, rounded once, c64.
#pragma once

#include "runtime/LaneMath.h"

namespace toy::rt::TOY_ISA {
namespace {

template <int N> Mask<N> isModeratePair(const Lanes<N> *v) {
  return isModerateOrZero<N>(v[0]) & isModerateOrZero<N>(v[1]) & ((v[0] != 0) | (v[1] != 0));
}
template <int N> Lanes<N> magnitude(const Lanes<N> *v) { return sqrt<N>(fma<N>(v[0], v[0], v[1] * v[1])); }

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
/// The same for c64: double is enough where they do not nearly cancel, and beside multiples of a turn the real part is
/// not too small.
template <int N> Mask<N> SingleComplexExpm1(Lanes<N> *v) {
  Mask<N> ok = isInside<N>(v) & isBelow<N>(v[0], exponentLimit) & isBelow<N>(v[1], angleLimit);
  Lanes<N> s, c, e = exp<N>(v[0]), m = expm1<N>(v[0]), z = v[1] * v[1];
  sincos<N>(v[1], s, c);
  Mask<N> isSmall = z < 0x1p-4;
  Lanes<N> series = z * polynomial<N>(z, -0x1p-1, 0x1.5555555555555p-5, -0x1.6c16c16c16c17p-10, 0x1.a01a01a01a01ap-16);
  Lanes<N> first = m * c, re = first + (isSmall ? series : c - 1), size = fabs<N>(re);
  v[0] = re;
  v[1] = e * s;
  return ok & (size * 0x1p16 > fabs<N>(first)) & (isSmall | (size > 0x1p-22));
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
/// sinh(x + iy) and cosh(x + iy) are those of y + ix with the parts exchanged, or the imaginary one negated.
template <int N> void exchangeParts(Lanes<N> *v) {
  Lanes<N> first = v[0];
  v[0] = v[1];
  v[1] = first;
}
template <int N> Mask<N> ComplexSinh(Lanes<N> *v) {
  exchangeParts<N>(v);
  Mask<N> ok = ComplexSin<N>(v);
  exchangeParts<N>(v);
  return ok;
}
template <int N> Mask<N> ComplexCosh(Lanes<N> *v) {
  exchangeParts<N>(v);
  Mask<N> ok = ComplexCos<N>(v);
  v[1] = -v[1];
  return ok;
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
/// Of parts in f32, whose squares stay inside the range of f64: 1/|z| from half of the exponent in three steps of
/// Newton's, within 2^-34.
template <int N> Mask<N> SingleComplexSign(Lanes<N> *v) {
  Lanes<N> square = fma<N>(v[0], v[0], v[1] * v[1]);
  Lanes<N> inverse = fromBits<N>(0x5fe6eb50c7b537a9 - (bitsOf<N>(square) >> 1));
  for (int step = 0; step < 3; ++step)
    inverse *= fma<N>(-0.5 * square * inverse, inverse, all<N>(1.5));
  const Lanes<N> infinity = all<N>(__builtin_inf()), re = v[0], im = v[1];
  v[0] = square == 0 ? all<N>(0) : re * inverse;
  v[1] = square == 0 ? all<N>(0) : im * inverse;
  return (fabs<N>(re) != infinity) & (fabs<N>(im) != infinity);
}
template <int N> Mask<N> ComplexAbs(Lanes<N> *v) {
  Mask<N> ok = isModeratePair<N>(v);
  v[0] = magnitude<N>(v);
  return ok;
}
/// Of parts in f32, by the plain formula; the same operations as rt::divideSingle.
template <int N> Mask<N> SingleComplexDiv(Lanes<N> *v) {
  Lanes<N> a = v[0], b = v[1], c = v[2], d = v[3], inverse = 1 / (c * c + d * d);
  v[0] = (a * c + b * d) * inverse;
  v[1] = (b * c - a * d) * inverse;
  return (v[0] == v[0]) | (v[1] == v[1]);
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
/// Lanes with the exponent 1/2 are roots.
template <int N> void takeRoots(const Lanes<N> *arguments, Lanes<N> *v, Mask<N> &ok) {
  Mask<N> isRoot = (arguments[2] == 0.5) & (arguments[3] == 0);
  if (!__builtin_reduce_or(isRoot))
    return;
  Lanes<N> root[] = {arguments[0], arguments[1]};
  ok |= isRoot & ComplexSqrt<N>(root);
  v[0] = isRoot ? root[0] : v[0];
  v[1] = isRoot ? root[1] : v[1];
}
/// The product with twice the digits.
template <int N> Mask<N> ComplexPow(Lanes<N> *v) {
  const Lanes<N> arguments[4] = {v[0], v[1], v[2], v[3]};
  Twice<N> x = twice<N>(v[0]), y = twice<N>(v[1]), re = twice<N>(v[2]), im = twice<N>(v[3]);
  Twice<N> size = scaled<N>(logTwice<N>(x * x + y * y), all<N>(0.5)), angle = atan2Twice<N>(v[1], v[0]);
  Twice<N> u = re * size + -(im * angle), t = re * angle + im * size, e = exp<N>(u), s, c;
  Mask<N> ok = hasOrdinaryPower<N>(v, u.high, t.high);
  sincosTwice<N>(t.high, s, c);
  v[0] = rounded<N>(e * (c + twice<N>(-s.high * t.low)));
  v[1] = rounded<N>(e * (s + twice<N>(c.high * t.low)));
  takeRoots<N>(arguments, v, ok);
  return ok;
}
/// The same for c64: double is enough, but where the sine or cosine is small.
template <int N> Mask<N> SingleComplexPow(Lanes<N> *v) {
  const Lanes<N> arguments[4] = {v[0], v[1], v[2], v[3]};
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
  takeRoots<N>(arguments, v, ok);
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

} // namespace
} // namespace toy::rt::TOY_ISA
