// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elementary functions of any complex argument, for a device (see DeviceMath.cpp).
#pragma once

#include "runtime/cuda/DeviceReal.h"

namespace toy::rt::device {
namespace {

struct Complex {
  double re, im;
};
Complex turned(Complex z) { return {-z.im, z.re}; }     // i z
Complex turnedBack(Complex z) { return {z.im, -z.re}; } // -i z

/// A number as significand in [1, 2) and exponent.
struct Split {
  double significand;
  int exponent;
  explicit Split(double x) : significand(x), exponent(-4000) {
    if (x != 0) {
      exponent = exponentOf(x);
      significand = scale(x, -exponent);
    }
  }
};
/// x*y + z*w as `value` times 2^`exponent`, as the host's: only what is far below the sum is lost.
struct ScaledSum {
  double value;
  int exponent;
  ScaledSum(Split x, Split y, Split z, Split w) {
    int e = x.exponent + y.exponent, f = z.exponent + w.exponent;
    exponent = e > f ? e : f;
    double first = e - exponent < -1000 ? 0 : scale(x.significand, e - exponent),
           second = f - exponent < -1000 ? 0 : scale(z.significand, f - exponent);
    double product = second * w.significand, rest = __builtin_fma(second, w.significand, -product);
    value = __builtin_fma(first, y.significand, product) + rest;
  }
};
Complex divide(Complex x, Complex y) {
  double a = x.re, b = x.im, c = y.re, d = y.im, largest = size(c) > size(d) ? size(c) : size(d);
  if (isFinite(a) && isFinite(b) && isFinite(c) && isFinite(d) && largest > 0) {
    int e = exponentOf(largest);
    double cScaled = scale(c, -e), dScaled = scale(d, -e), denominator = cScaled * cScaled + dScaled * dScaled;
    ScaledSum re{Split(a), Split(c), Split(b), Split(d)}, im{Split(b), Split(c), Split(-a), Split(d)};
    return {scale(re.value / denominator, re.exponent - 2 * e), scale(im.value / denominator, im.exponent - 2 * e)};
  }
  auto boxed = [](double v) { return withSign(isInfinite(v) ? 1 : 0, v); };
  if (c == 0 && d == 0 && (!isNan(a) || !isNan(b)))
    return {withSign(infinity, c) * a, withSign(infinity, c) * b};
  if ((isInfinite(a) || isInfinite(b)) && isFinite(c) && isFinite(d))
    return {infinity * (boxed(a) * c + boxed(b) * d), infinity * (boxed(b) * c - boxed(a) * d)};
  if ((isInfinite(c) || isInfinite(d)) && isFinite(a) && isFinite(b))
    return {0 * (a * boxed(c) + b * boxed(d)), 0 * (b * boxed(c) - a * boxed(d))};
  return {notANumber, notANumber};
}
Complex complexExp(Complex z) {
  if (z.im == 0)
    return {realExp(z.re), z.im};
  if (!isFinite(z.im))
    return z.re == -infinity  ? Complex{0, withSign(0, z.im)}
           : z.re == infinity ? Complex{infinity, notANumber}
                              : Complex{notANumber, notANumber};
  double s, c;
  anyAngle(z.im, s, c);
  if (z.re == -infinity)
    return {withSign(0, c), withSign(0, s)};
  double half = realExp(0.5 * z.re);
  return z.re > 700 ? Complex{half * c * half, half * s * half} : Complex{realExp(z.re) * c, realExp(z.re) * s};
}
/// The sine and cosine of |x| < 2^20, e^x - 1, all with twice the digits, by their series.
void sincosDouble(double x, Twice<1> &sine, Twice<1> &cosine) {
  double n = __builtin_rint(x * 0x1.45f306dc9c883p-1);
  auto times = [](double a, double b) {
    double p = a * b;
    return Twice<1>{all<1>(p), all<1>(__builtin_fma(a, b, -p))};
  };
  Twice<1> r = twice<1>(all<1>(x)) + -times(n, 0x1.921fb54442d18p+0) + -times(n, 0x1.1a62633145c07p-54) +
               -times(n, -0x1.f1976b7ed8fbcp-110),
           z = r * r;
  Twice<1> one = twice<1>(all<1>(1)), s = r, c = one, sineTerm = r, cosineTerm = one;
  for (int i = 1; i < 16; ++i) {
    cosineTerm = -(cosineTerm * z) / twice<1>(all<1>((2 * i - 1) * (2 * i)));
    sineTerm = -(sineTerm * z) / twice<1>(all<1>((2 * i) * (2 * i + 1)));
    c = c + cosineTerm;
    s = s + sineTerm;
  }
  int64_t quadrant = static_cast<int64_t>(n);
  double sineSign = quadrant & 2 ? -1 : 1, cosineSign = (quadrant + 1) & 2 ? -1 : 1;
  sine = scaled<1>(quadrant & 1 ? c : s, all<1>(sineSign));
  cosine = scaled<1>(quadrant & 1 ? s : c, all<1>(cosineSign));
}
Twice<1> expm1Double(double x) {
  if (size(x) > 40) // nothing cancels so far up
    return twice<1>(all<1>(realExpm1(x)));
  Twice<1> t = twice<1>(all<1>(x * 0x1p-8)), term = t, total = t;
  for (int i = 2; i < 18; ++i) {
    term = term * t / twice<1>(all<1>(i));
    total = total + term;
  }
  for (int i = 0; i < 8; ++i)
    total = total + total + total * total;
  return total;
}
Complex complexExpm1(Complex z) {
  if (z.im == 0)
    return {realExpm1(z.re), z.im};
  if (!isFinite(z.re) || !isFinite(z.im) || z.re > 700) {
    Complex e = complexExp(z);
    return {e.re - 1, e.im};
  }
  if (size(z.im) < angleLimit) {
    Lanes<1> v[2] = {all<1>(z.re), all<1>(z.im)};
    if (size(z.re) < 700 && ComplexExpm1<1>(v)[0])
      return {v[0][0], v[1][0]};
    Twice<1> s, c, halfSine, halfCosine; // the two terms cancel
    sincosDouble(z.im, s, c);
    sincosDouble(0.5 * z.im, halfSine, halfCosine);
    Twice<1> square = halfSine * halfSine;
    return {rounded<1>(expm1Double(z.re) * c + -(square + square))[0], realExp(z.re) * s.high[0]};
  }
  double s, c, halfSine, halfCosine;
  anyAngle(z.im, s, c);
  anyAngle(0.5 * z.im, halfSine, halfCosine);
  return {realExpm1(z.re) * c - 2 * halfSine * halfSine, realExp(z.re) * s};
}
Complex complexLog(Complex z) {
  double angle = realAtan2(z.im, z.re), x = size(z.re), y = size(z.im);
  if (isInfinite(x) || isInfinite(y))
    return {infinity, angle};
  if (isNan(x) || isNan(y))
    return {notANumber, notANumber};
  double large = x > y ? x : y, small = x > y ? y : x;
  if (large > 0.5 && large < 2) { // log1p of |z|^2 - 1, with twice the digits
    Twice<1> w = sum<1>(all<1>(large), all<1>(-1)) * sum<1>(all<1>(large), all<1>(1)) +
                 twice<1>(all<1>(small)) * twice<1>(all<1>(small));
    double t = w.high[0];
    if (t > -0.5)
      return {size(t) < 0x1p-60 ? 0.5 * t : 0.5 * log1p<1>(w)[0], angle};
  }
  if (large == 0)
    return {-infinity, angle};
  int e = exponentOf(large);
  return {realLog(realHypot(scale(x, -e), scale(y, -e))) + e * ln2, angle};
}
Complex complexLog1p(Complex z) {
  if (size(z.re) < 0x1p-60 && size(z.im) < 0x1p-60)
    return {z.re + z.im * z.im / 2, z.im};
  Complex out = complexLog({1 + z.re, z.im});
  if (size(z.re) < 0.5 && size(z.im) < 0.5) {
    Twice<1> w =
        twice<1>(all<1>(z.re)) * sum<1>(all<1>(2), all<1>(z.re)) + twice<1>(all<1>(z.im)) * twice<1>(all<1>(z.im));
    out.re = size(w.high[0]) < 0x1p-60 ? 0.5 * w.high[0] : 0.5 * log1p<1>(w)[0];
  }
  return out;
}
Complex scaledLog(Complex z, double factor) {
  Complex w = complexLog(z);
  return {w.re * factor, w.im * factor};
}
Complex complexLog2(Complex z) { return scaledLog(z, 0x1.71547652b82fep+0); }
Complex complexLog10(Complex z) { return scaledLog(z, 0x1.bcb7b1526e50ep-2); }
Complex complexSqrt(Complex z) {
  double x = z.re, y = z.im;
  if (isInfinite(y))
    return {infinity, y};
  if (isInfinite(x))
    return x > 0 ? Complex{infinity, isNan(y) ? y : withSign(0, y)} : Complex{isNan(y) ? y : 0, withSign(infinity, y)};
  if (isNan(x) || isNan(y))
    return {notANumber, notANumber};
  if (x == 0 && y == 0)
    return {0, y};
  int e = exponentOf(size(x) > size(y) ? x : y) / 2;
  x = scale(x, -2 * e);
  y = scale(y, -2 * e);
  double t = root(0.5 * (realHypot(x, y) + size(x))), u = size(y) / (2 * t);
  t = scale(t, e);
  u = size(y) < 0x1p-900 ? 0.5 * size(z.im) / t : scale(u, e);
  return x >= 0 ? Complex{t, withSign(u, y)} : Complex{u, withSign(t, y)};
}
Complex complexRsqrt(Complex z) {
  if (!isFinite(z.re) || !isFinite(z.im) || (z.re == 0 && z.im == 0))
    return divide({1, 0}, complexSqrt(z));
  int e = exponentOf(size(z.re) > size(z.im) ? z.re : z.im) / 2;
  Complex w = complexSqrt({scale(z.re, -2 * e), scale(z.im, -2 * e)});
  double r = realHypot(scale(z.re, -2 * e), scale(z.im, -2 * e));
  return {scale(w.re / r, -e), scale(-w.im / r, -e)};
}
Complex complexReciprocal(Complex z) { return divide({1, 0}, z); }
Complex complexSinh(Complex z) {
  if (z.im == 0)
    return {realSinh(z.re), z.im};
  if (z.re == 0 && !isFinite(z.im))
    return {z.re, notANumber};
  if (isInfinite(z.re) && !isFinite(z.im))
    return {infinity, notANumber};
  double s, c;
  anyAngle(z.im, s, c);
  double half = realExp(0.5 * size(z.re)) * 0.5;
  return size(z.re) > 700 ? Complex{withSign(half, z.re) * c * (2 * half), half * s * (2 * half)}
                          : Complex{realSinh(z.re) * c, realCosh(z.re) * s};
}
Complex complexCosh(Complex z) {
  if (z.im == 0)
    return {realCosh(z.re), isNan(z.re) ? z.im : withSign(0, z.re) * withSign(1, z.im)};
  if (z.re == 0 && !isFinite(z.im))
    return {notANumber, z.re};
  if (isInfinite(z.re) && !isFinite(z.im))
    return {infinity, notANumber};
  double s, c;
  anyAngle(z.im, s, c);
  double half = realExp(0.5 * size(z.re)) * 0.5;
  return size(z.re) > 700 ? Complex{half * c * (2 * half), withSign(half, z.re) * s * (2 * half)}
                          : Complex{realCosh(z.re) * c, realSinh(z.re) * s};
}
Complex complexTanh(Complex z) {
  if (z.im == 0)
    return {realTanh(z.re), z.im};
  if (isNan(z.re) || (!isFinite(z.im) && !isInfinite(z.re)))
    return {z.re == 0 ? z.re : notANumber, notANumber};
  double s, c;
  anyAngle(z.im, s, c);
  if (size(z.re) >= 20) {
    double e = realExp(-size(z.re));
    return {withSign(1, z.re), isFinite(z.im) ? 4 * e * s * c * e : withSign(0, z.im)};
  }
  double sh = realSinh(z.re), ch = realCosh(z.re), d = __builtin_fma(sh, sh, c * c);
  return {sh * ch / d, s * c / d};
}
Complex complexSin(Complex z) {
  return isInfinite(z.im) && !isFinite(z.re) ? Complex{notANumber, infinity} : turnedBack(complexSinh(turned(z)));
}
Complex complexCos(Complex z) { return complexCosh(turned(z)); }
Complex complexTan(Complex z) { return turnedBack(complexTanh(turned(z))); }
bool isHuge(Complex z) { return size(z.re) > 0x1p400 || size(z.im) > 0x1p400; }
bool isTiny(Complex z) { return size(z.re) < 0x1p-400 && size(z.im) < 0x1p-400; }
/// W. Kahan's forms; beyond their range log(2z).
Complex complexAsin(Complex z) {
  if (isTiny(z) || (z.re == 0 && isNan(z.im)))
    return z;
  if (isHuge(z)) {
    double angle = realAtan2(z.re, size(z.im));
    return {angle, withSign(complexLog({size(z.re), size(z.im)}).re + ln2, z.im)};
  }
  Complex a = complexSqrt({1 - z.re, -z.im}), b = complexSqrt({1 + z.re, z.im});
  return {realAtan2(z.re, a.re * b.re - a.im * b.im), realAsinh(a.re * b.im - a.im * b.re)};
}
Complex complexAcos(Complex z) {
  if (z.re == 0 && isNan(z.im))
    return {pi / 2, z.im};
  if (isHuge(z))
    return {realAtan2(size(z.im), z.re), withSign(complexLog({size(z.re), size(z.im)}).re + ln2, -z.im)};
  Complex a = complexSqrt({1 - z.re, -z.im}), b = complexSqrt({1 + z.re, z.im});
  return {2 * realAtan2(a.re, b.re), realAsinh(b.re * a.im - b.im * a.re)};
}
Complex complexAcosh(Complex z) {
  if (z.re == 0 && isNan(z.im))
    return {z.im, pi / 2};
  if (isHuge(z))
    return {complexLog({size(z.re), size(z.im)}).re + ln2, realAtan2(z.im, z.re)};
  Complex a = complexSqrt({z.re - 1, z.im}), b = complexSqrt({z.re + 1, z.im});
  return {realAsinh(a.re * b.re + a.im * b.im), 2 * realAtan2(a.im, b.re)};
}
Complex complexAsinh(Complex z) { return turnedBack(complexAsin(turned(z))); }
Complex complexAtanh(Complex z) {
  if (isTiny(z) || (z.re == 0 && isNan(z.im)))
    return z;
  if (isNan(z.re) || isNan(z.im))
    return {isInfinite(z.im) || isInfinite(z.re) ? withSign(0, z.re) : notANumber,
            isInfinite(z.im) ? withSign(pi / 2, z.im) : notANumber};
  if (isHuge(z))
    return {withSign(size(complexReciprocal(z).re), z.re), withSign(pi / 2, z.im)};
  double a = size(z.re), y = z.im;
  if (a == 1 && y != 0 && size(y) < 0x1p-400) // its square would be 0
    return {withSign(0.5 * (ln2 - realLog(size(y))), z.re), withSign(pi / 4, y)};
  return {withSign(0.25 * realLog1p(4 * a / ((1 - a) * (1 - a) + y * y)), z.re),
          0.5 * realAtan2(2 * y, (1 - a) * (1 + a) - y * y)};
}
Complex complexAtan(Complex z) { return turnedBack(complexAtanh(turned(z))); }
double complexAbs(Complex z) { return realHypot(z.re, z.im); }
Complex complexSign(Complex z) {
  if (z.re == 0 && z.im == 0)
    return {0, 0};
  if (isInfinite(z.re) || isInfinite(z.im)) {
    double both = isInfinite(z.re) && isInfinite(z.im) ? 0x1.6a09e667f3bcdp-1 : 1;
    return {withSign(isInfinite(z.re) ? both : 0, z.re), withSign(isInfinite(z.im) ? both : 0, z.im)};
  }
  if (isNan(z.re) || isNan(z.im))
    return {notANumber, notANumber};
  int e = exponentOf(size(z.re) > size(z.im) ? z.re : z.im);
  double re = scale(z.re, -e), im = scale(z.im, -e), r = realHypot(re, im);
  return {re / r, im / r};
}
Complex times(Complex x, Complex y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }
/// C99 Annex G.5.1: infinities of products whose plain formula gives NaN.
Complex timesAny(Complex x, Complex y) {
  Complex p = times(x, y);
  if (!isNan(p.re) || !isNan(p.im))
    return p;
  auto boxed = [](double v) { return withSign(isInfinite(v) ? 1 : 0, v); };
  auto cleared = [](double v) { return isNan(v) ? withSign(0, v) : v; };
  bool recalculate = false;
  if (isInfinite(x.re) || isInfinite(x.im)) {
    x = {boxed(x.re), boxed(x.im)};
    y = {cleared(y.re), cleared(y.im)};
    recalculate = true;
  }
  if (isInfinite(y.re) || isInfinite(y.im)) {
    y = {boxed(y.re), boxed(y.im)};
    x = {cleared(x.re), cleared(x.im)};
    recalculate = true;
  }
  Complex q = times(x, y);
  return recalculate ? Complex{infinity * q.re, infinity * q.im} : p;
}
Complex complexPowi(Complex z, double exponent) {
  uint64_t m = static_cast<uint64_t>(size(exponent));
  Complex result{1, 0};
  bool any = false;
  for (Complex factor = z; m; m >>= 1, factor = times(factor, factor))
    if (m & 1) {
      result = any ? times(result, factor) : factor;
      any = true;
    }
  return exponent < 0 ? divide({1, 0}, result) : result;
}
Complex complexPow(Complex z, Complex w) {
  if (w.im == 0 && w.re == realTruncated(w.re) && size(w.re) < 0x1p31)
    return complexPowi(z, w.re);
  if (z.re == 0 && z.im == 0 && w.im == 0 && w.re > 0)
    return {0, 0};
  if (w.im == 0 && w.re == 0.5)
    return complexSqrt(z);
  // A part that the other one hides has only a sign.
  bool reHides = size(z.re) > size(z.im) * 0x1p120, imHides = size(z.im) > size(z.re) * 0x1p120;
  Lanes<1> v[4] = {all<1>(imHides ? withSign(0, z.re) : z.re), all<1>(reHides ? withSign(0, z.im) : z.im), all<1>(w.re),
                   all<1>(w.im)};
  if (ComplexPow<1>(v)[0])
    return {v[0][0], v[1][0]};
  return complexExp(timesAny(w, complexLog(z)));
}

} // namespace
} // namespace toy::rt::device
