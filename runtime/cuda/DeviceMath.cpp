// SPDX-License-Identifier: Apache-2.0
/// \file
/// The runtime's elementary functions for a device, compiled to LLVM bitcode that kernels link what they need of. Ordinary arguments take the very
/// operations of the host (ElementKernels.cpp, one lane wide), so that results have the same bits; for all others the host has libm and wider types,
/// and here are forms in double: the same classes (zeros with their signs, infinities, NaN), within a few ulp. There is no C library on a device.
#define TOY_DEVICE_MATH
#define TOY_ISA device
#include "runtime/ElementKernels.cpp"

namespace toy::rt::device {
namespace {

constexpr double infinity = __builtin_inf(), notANumber = __builtin_nan(""), pi = 0x1.921fb54442d18p+1, ln2 = 0x1.62e42fefa39efp-1, ln2Low = 0x1.abc9e3b39803fp-56;

bool isNan(double x) { return x != x; }
double size(double x) { return __builtin_fabs(x); }
bool isInfinite(double x) { return size(x) == infinity; }
bool isFinite(double x) { return size(x) < infinity; }
double withSign(double x, double y) { return __builtin_copysign(x, y); }
bool isNegative(double x) { return __builtin_bit_cast(int64_t, x) < 0; }
double powerOfTwo(int e) { return __builtin_bit_cast(double, static_cast<int64_t>(1023 + e) << 52); } // -1022 … 1023
/// floor(log2 |x|) of finite x that is not 0.
int exponentOf(double x) {
  int64_t bits = __builtin_bit_cast(int64_t, size(x)) >> 52;
  return bits ? static_cast<int>(bits) - 1023 : static_cast<int>(__builtin_bit_cast(int64_t, size(x) * 0x1p54) >> 52) - 1023 - 54;
}
double scale(double x, int e) {
  for (; e > 1000; e -= 1000)
    x *= 0x1p1000;
  for (; e < -1000; e += 1000)
    x *= 0x1p-1000;
  return x * powerOfTwo(e);
}
double root(double x) { return __builtin_sqrt(x); }
/// A kernel on one value.
template <auto kernel> double lane(double x) {
  Lanes<1> v[2] = {all<1>(x)};
  kernel(v);
  return v[0][0];
}

// Any real argument.

double realExp(double x) {
  if (isNan(x) || x > 709.8)
    return x > 0 ? infinity : x;
  if (x < -746)
    return 0;
  if (size(x) < 700)
    return lane<RealExp<1>>(x);
  double k = x < 0 ? -128 : 128;
  Twice<1> reduced = sum<1>(all<1>(x), all<1>(-k * ln2));
  reduced.low -= k * ln2Low;
  return rounded<1>(exp<1>(reduced))[0] * powerOfTwo(static_cast<int>(k));
}
double realExpm1(double x) { return size(x) < 700 ? lane<RealExpm1<1>>(x) : x < 0 ? -1 : realExp(x); }
double realLog(double x) {
  if (!(x > 0) || x == infinity)
    return x == 0 ? -infinity : x > 0 ? x : notANumber;
  int e = x < 0x1p-1022 || x >= 0x1p1000 ? exponentOf(x) : 0;
  return lane<RealLog<1>>(scale(x, -e)) + e * ln2;
}
double realLog1p(double x) {
  if (size(x) < 0x1p-800)
    return x;
  return x > -0.5 && x < 0x1p900 ? lane<RealLog1p<1>>(x) : realLog(x < 0 ? 1 + x : x);
}
double realLog2(double x) { return realLog(x) * 0x1.71547652b82fep+0; }
double realLog10(double x) { return realLog(x) * 0x1.bcb7b1526e50ep-2; }

/// x - k pi/2 for any finite x by M. Payne and R. Hanek: the fraction of x * 2/pi from the 192 of its bits that matter.
void largeAngle(double x, double &sine, double &cosine) {
  static const uint64_t twoOverPi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
                                       0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
                                       0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};
  int e = exponentOf(x) - 52; // |x| = m 2^e
  uint64_t m = static_cast<uint64_t>(scale(size(x), -e)), words[3];
  int first = e - 2 > 0 ? e - 2 : 0, shift = first & 63; // bits before `first` give multiples of 4 in m * 2/pi * 2^e
  for (int i = 0; i < 3; ++i) {
    const uint64_t *at = twoOverPi + first / 64 + i;
    words[i] = shift ? at[0] << shift | at[1] >> (64 - shift) : at[0];
  }
  // m times the first three words, a fraction: an integer and three words behind the point.
  unsigned __int128 low = static_cast<unsigned __int128>(m) * words[2], middle = static_cast<unsigned __int128>(m) * words[1] + static_cast<uint64_t>(low >> 64);
  unsigned __int128 high = static_cast<unsigned __int128>(m) * words[0] + static_cast<uint64_t>(middle >> 64);
  uint64_t whole = static_cast<uint64_t>(high >> 64), fraction = static_cast<uint64_t>(high), rest = static_cast<uint64_t>(middle);
  int up = e - first; // 2, or e itself when that is small
  for (int i = 0; i < up; ++i) {
    whole = whole << 1 | fraction >> 63;
    fraction = fraction << 1 | rest >> 63;
    rest <<= 1;
  }
  for (int i = 0; i > up; --i) {
    rest = rest >> 1 | fraction << 63;
    fraction = fraction >> 1 | whole << 63;
    whole >>= 1;
  }
  int quadrant = static_cast<int>(whole & 3);
  bool above = fraction >> 63;
  if (above) { // the nearest multiple
    quadrant = (quadrant + 1) & 3;
    fraction = ~fraction;
    rest = ~rest;
  }
  Twice<1> f = sum<1>(all<1>(static_cast<double>(fraction >> 11 << 11) * 0x1p-64), all<1>(static_cast<double>(fraction & 2047) * 0x1p-64 + static_cast<double>(rest) * 0x1p-128));
  Twice<1> angle = f * Twice<1>{all<1>(pi / 2), all<1>(0x1.1a62633145c07p-54)};
  if (above)
    angle = -angle;
  Twice<1> sineTwice, cosineTwice;
  sincosTwice<1>(angle.high, sineTwice, cosineTwice);
  Lanes<1> s = sineTwice.high + fma<1>(cosineTwice.high, angle.low, sineTwice.low), c = cosineTwice.high + fma<1>(-sineTwice.high, angle.low, cosineTwice.low);
  double bySine[] = {s[0], c[0], -s[0], -c[0]}, byCosine[] = {c[0], -s[0], -c[0], s[0]};
  sine = isNegative(x) ? -bySine[quadrant] : bySine[quadrant];
  cosine = byCosine[quadrant];
}
void anyAngle(double x, double &sine, double &cosine) {
  if (!isFinite(x)) {
    sine = cosine = notANumber;
    return;
  }
  if (size(x) >= angleLimit)
    return largeAngle(x, sine, cosine);
  Lanes<1> s, c;
  sincos<1>(all<1>(x), s, c);
  sine = x == 0 ? x : s[0];
  cosine = c[0];
}
double realSin(double x) {
  double s, c;
  anyAngle(x, s, c);
  return s;
}
double realCos(double x) {
  double s, c;
  anyAngle(x, s, c);
  return c;
}
double realTan(double x) {
  double s, c;
  anyAngle(x, s, c);
  return s / c;
}
double halfExp(double x) { // e^|x| / 2 without early overflow
  double h = realExp(0.5 * size(x));
  return 0.5 * h * h;
}
double realSinh(double x) { return size(x) < 700 ? lane<RealSinh<1>>(x) : withSign(halfExp(x), x); }
double realCosh(double x) { return size(x) < 700 ? lane<RealCosh<1>>(x) : halfExp(x); }
double realTanh(double x) { return size(x) < 350 ? lane<RealTanh<1>>(x) : isNan(x) ? x : withSign(1, x); }

double realAtan2(double y, double x) {
  if (isNan(x) || isNan(y))
    return notANumber;
  double ax = size(x), ay = size(y);
  if (isInfinite(x) || isInfinite(y)) {
    ax = isInfinite(x) ? 1 : 0;
    ay = isInfinite(y) ? 1 : 0;
  }
  double angle;
  if (ay == 0 || (ax > 0 && exponentOf(ax) - exponentOf(ay) > 60)) {
    if (!isNegative(x))
      return ax == 0 || ay == 0 ? withSign(0, y) : y / x;
    angle = pi;
  } else if (ax == 0 || exponentOf(ay) - exponentOf(ax) > 60)
    angle = pi / 2;
  else {
    int e = exponentOf(ax);
    return atan2<1>(all<1>(withSign(scale(ay, -e), y)), all<1>(withSign(scale(ax, -e), x)))[0];
  }
  return withSign(angle, y);
}
double realAtan(double x) { return size(x) < 0x1p-60 ? x : realAtan2(x, 1); }
double realAsin(double x) { return size(x) < 0x1p-60 ? x : size(x) <= 1 ? realAtan2(x, root((1 - x) * (1 + x))) : notANumber; }
double realAcos(double x) { return size(x) <= 1 ? realAtan2(root((1 - x) * (1 + x)), x) : notANumber; }
double realAsinh(double x) {
  if (isNan(x) || size(x) < 0x1p-60)
    return x;
  return withSign(size(x) < 0x1p400 ? asinh<1>(twice<1>(all<1>(size(x))))[0] : realLog(size(x)) + ln2, x);
}
double realAcosh(double x) { return x < 1 || isNan(x) ? notANumber : x == 1 ? 0 : x < 0x1p400 ? lane<RealAcosh<1>>(x) : realLog(x) + ln2; }
double realAtanh(double x) { return size(x) < 0x1p-60 ? x : size(x) < 1 ? lane<RealAtanh<1>>(x) : size(x) == 1 ? withSign(infinity, x) : notANumber; }
double realTruncated(double x) { return __builtin_trunc(x); }
double realPow(double x, double y) {
  if (y == 0 || x == 1)
    return 1;
  if (isNan(x) || isNan(y))
    return notANumber;
  double a = size(x);
  bool isInteger = realTruncated(y) == y, isOdd = isInteger && size(y) < 0x1p53 && realTruncated(y / 2) * 2 != y;
  if (isInfinite(y))
    return a == 1 ? 1 : (a > 1) == (y > 0) ? infinity : 0;
  double sign = isNegative(x) && isOdd ? -1 : 1;
  if (a == 0 || isInfinite(x))
    return withSign((a == 0) == (y > 0) ? 0 : infinity, sign);
  if (isNegative(x) && !isInteger)
    return notANumber;
  int e = exponentOf(a);
  if (double estimate = y * realLog(a); size(estimate) > 1000)
    return sign * (estimate > 0 ? infinity : 0);
  Twice<1> exponent = twice<1>(all<1>(y)) * (logTwice<1>(twice<1>(all<1>(scale(a, -e)))) + twice<1>(all<1>(e)) * Twice<1>{all<1>(ln2), all<1>(ln2Low)});
  double high = exponent.high[0];
  return sign * (high > 710 ? infinity : high < -750 ? 0 : realExp(high) * (1 + exponent.low[0]));
}
double realHypot(double x, double y) {
  if (isInfinite(x) || isInfinite(y))
    return infinity;
  double large = size(x) > size(y) ? size(x) : size(y), small = size(x) > size(y) ? size(y) : size(x);
  if (isNan(x) || isNan(y))
    return notANumber;
  if (large == 0)
    return 0;
  int e = exponentOf(large);
  large = scale(large, -e);
  small = scale(small, -e);
  return scale(root(__builtin_fma(large, large, small * small)), e);
}
/// By its series of positive terms, from 3 on by the continued fraction of erfc.
double realErf(double x) {
  double a = size(x);
  if (isNan(x) || a < 0x1p-500)
    return isNan(x) ? x : x * 0x1.20dd750429b6dp+0;
  if (a > 6)
    return withSign(1, x);
  double square = a * a, e = realExp(-square);
  if (a < 3) {
    double term = a, total = a;
    for (int n = 1; n < 100 && term > total * 0x1p-56; ++n)
      total += term *= 2 * square / (2 * n + 1);
    return withSign(0x1.20dd750429b6dp+0 * e * total, x);
  }
  double f = a;
  for (int n = 60; n > 0; --n)
    f = a + 0.5 * n / f;
  return withSign(1 - e / (f * 0x1.c5bf891b4ef6bp+0), x);
}
/// The exact remainder, with the sign of x: long division by halves.
double remainder(double x, double y) {
  double a = size(x), b = size(y);
  if (isNan(x) || isNan(y) || isInfinite(x) || b == 0)
    return notANumber;
  while (a >= b && isFinite(b)) {
    int e = exponentOf(a) - exponentOf(b);
    double step = scale(b, e);
    a -= step <= a ? step : 0.5 * step;
  }
  return withSign(a, x);
}
double floorModulo(double a, double b) {
  double r = remainder(a, b);
  return r == 0 ? withSign(0, b) : (r < 0) != (b < 0) ? r + b : r;
}
double floorDivide(double a, double b) {
  double r = remainder(a, b);
  if (b == 0 || isInfinite(a) || isNan(r))
    return b == 0 ? a / b : isInfinite(a) ? notANumber : a / b;
  double q = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0))
    q -= 1;
  if (q == 0)
    return withSign(0, a / b);
  double whole = __builtin_floor(q);
  return q - whole > 0.5 ? whole + 1 : whole;
}

// Any complex argument.

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
    double first = e - exponent < -1000 ? 0 : scale(x.significand, e - exponent), second = f - exponent < -1000 ? 0 : scale(z.significand, f - exponent);
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
    return z.re == -infinity ? Complex{0, withSign(0, z.im)} : z.re == infinity ? Complex{infinity, notANumber} : Complex{notANumber, notANumber};
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
  Twice<1> r = twice<1>(all<1>(x)) + -times(n, 0x1.921fb54442d18p+0) + -times(n, 0x1.1a62633145c07p-54) + -times(n, -0x1.f1976b7ed8fbcp-110), z = r * r;
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
    Twice<1> w = sum<1>(all<1>(large), all<1>(-1)) * sum<1>(all<1>(large), all<1>(1)) + twice<1>(all<1>(small)) * twice<1>(all<1>(small));
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
    Twice<1> w = twice<1>(all<1>(z.re)) * sum<1>(all<1>(2), all<1>(z.re)) + twice<1>(all<1>(z.im)) * twice<1>(all<1>(z.im));
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
  return size(z.re) > 700 ? Complex{withSign(half, z.re) * c * (2 * half), half * s * (2 * half)} : Complex{realSinh(z.re) * c, realCosh(z.re) * s};
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
  return size(z.re) > 700 ? Complex{half * c * (2 * half), withSign(half, z.re) * s * (2 * half)} : Complex{realCosh(z.re) * c, realSinh(z.re) * s};
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
Complex complexSin(Complex z) { return isInfinite(z.im) && !isFinite(z.re) ? Complex{notANumber, infinity} : turnedBack(complexSinh(turned(z))); }
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
    return {isInfinite(z.im) || isInfinite(z.re) ? withSign(0, z.re) : notANumber, isInfinite(z.im) ? withSign(pi / 2, z.im) : notANumber};
  if (isHuge(z))
    return {withSign(size(complexReciprocal(z).re), z.re), withSign(pi / 2, z.im)};
  double a = size(z.re), y = z.im;
  if (a == 1 && y != 0 && size(y) < 0x1p-400) // its square would be 0
    return {withSign(0.5 * (ln2 - realLog(size(y))), z.re), withSign(pi / 4, y)};
  return {withSign(0.25 * realLog1p(4 * a / ((1 - a) * (1 - a) + y * y)), z.re), 0.5 * realAtan2(2 * y, (1 - a) * (1 + a) - y * y)};
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
  Lanes<1> v[4] = {all<1>(imHides ? withSign(0, z.re) : z.re), all<1>(reHides ? withSign(0, z.im) : z.im), all<1>(w.re), all<1>(w.im)};
  if (ComplexPow<1>(v)[0])
    return {v[0][0], v[1][0]};
  return complexExp(timesAny(w, complexLog(z)));
}

/// An element through its kernel, or through the function for any argument.
template <auto kernel, int inputs, int outputs, typename Any> void apply(double *v, Any any) {
  constexpr int most = inputs > outputs ? inputs : outputs;
  Lanes<1> lanes[most];
  for (int i = 0; i < inputs; ++i)
    lanes[i] = all<1>(v[i]);
  if (Mask<1> ordinary = kernel(lanes); ordinary[0])
    for (int i = 0; i < outputs; ++i)
      v[i] = lanes[i][0];
  else
    any(v);
}

// Arguments in memory; rare, so these stay calls.
#define TOY_RARE __attribute__((noinline, cold)) void
#define TOY_REAL(NAME, FUNCTION)                                                                                        \
  TOY_RARE any_##NAME##_F64(double *v) { v[0] = FUNCTION(v[0]); }                                                          \
  TOY_RARE any_##NAME##_F32(double *v) { v[0] = FUNCTION(v[0]); }
#define TOY_COMPLEX(NAME, FUNCTION)                                                                                     \
  TOY_RARE any_##NAME##_C128(double *v) {                                                                                  \
    Complex z = FUNCTION({v[0], v[1]});                                                                                \
    v[0] = z.re;                                                                                                       \
    v[1] = z.im;                                                                                                       \
  }                                                                                                                    \
  TOY_RARE any_##NAME##_C64(double *v) { any_##NAME##_C128(v); }
#define TOY_BOTH(NAME, SUFFIX) TOY_REAL(NAME, real##SUFFIX) TOY_COMPLEX(NAME, complex##SUFFIX)
TOY_BOTH(exp, Exp) TOY_BOTH(expm1, Expm1) TOY_BOTH(log, Log) TOY_BOTH(log1p, Log1p) TOY_BOTH(log2, Log2) TOY_BOTH(log10, Log10) TOY_BOTH(sin, Sin) TOY_BOTH(cos, Cos) TOY_BOTH(tan, Tan)
TOY_BOTH(sinh, Sinh) TOY_BOTH(cosh, Cosh) TOY_BOTH(tanh, Tanh) TOY_BOTH(asin, Asin) TOY_BOTH(acos, Acos) TOY_BOTH(atan, Atan) TOY_BOTH(asinh, Asinh) TOY_BOTH(acosh, Acosh) TOY_BOTH(atanh, Atanh)
TOY_COMPLEX(sqrt, complexSqrt) TOY_COMPLEX(rsqrt, complexRsqrt) TOY_COMPLEX(sign, complexSign) TOY_COMPLEX(reciprocal, complexReciprocal)
TOY_RARE any_cis_F64(double *v) { anyAngle(v[0], v[1], v[0]); }
TOY_RARE any_cis_F32(double *v) { anyAngle(v[0], v[1], v[0]); }
TOY_RARE any_atan2_F64(double *v) { v[0] = realAtan2(v[0], v[1]); }
TOY_RARE any_atan2_F32(double *v) { v[0] = realAtan2(v[0], v[1]); }
TOY_RARE any_pow_F64(double *v) { v[0] = realPow(v[0], v[1]); }
TOY_RARE any_pow_F32(double *v) { v[0] = realPow(v[0], v[1]); }
TOY_RARE any_abs_C128(double *v) { v[0] = complexAbs({v[0], v[1]}); }
TOY_RARE any_abs_C64(double *v) { v[0] = complexAbs({v[0], v[1]}); }
void put(double *v, Complex z) {
  v[0] = z.re;
  v[1] = z.im;
}
TOY_RARE any_div_C128(double *v) { put(v, divide({v[0], v[1]}, {v[2], v[3]})); }
TOY_RARE any_pow_C128(double *v) { put(v, complexPow({v[0], v[1]}, {v[2], v[3]})); }
TOY_RARE any_pow_C64(double *v) { put(v, complexPow({v[0], v[1]}, {v[2], v[3]})); }
TOY_RARE any_powi_C128(double *v) { put(v, complexPowi({v[0], v[1]}, v[2])); }
TOY_RARE any_powi_C64(double *v) { put(v, complexPowi({v[0], v[1]}, v[2])); }

/// The nearest half of a double: to odd in single precision first, so that the second rounding is the only one.
float toOdd(double x) {
  float near = static_cast<float>(x);
  uint32_t bits = __builtin_bit_cast(uint32_t, near);
  if (static_cast<double>(near) == x || isNan(x) || (bits & 1))
    return near;
  bool up = size(x) > size(static_cast<double>(near));
  return __builtin_bit_cast(float, up ? bits + 1 : bits - 1);
}

} // namespace

#define TOY_SYMBOL_F32(NAME) toy_device_##NAME##_f32
#define TOY_SYMBOL_F64(NAME) toy_device_##NAME##_f64
#define TOY_SYMBOL_C64(NAME) toy_device_##NAME##_c64
#define TOY_SYMBOL_C128(NAME) toy_device_##NAME##_c128
extern "C" {
#define TOY_ELEMENT(KERNEL, NAME, DTYPE, INPUTS, OUTPUTS)                                                               \
  void TOY_SYMBOL_##DTYPE(NAME)(double *v) { apply<KERNEL<1>, INPUTS, OUTPUTS>(v, any_##NAME##_##DTYPE); }
#include "runtime/ElementFunctions.def"

double erf(double x) { return realErf(x); }
float erff(float x) { return static_cast<float>(realErf(x)); }
double hypot(double x, double y) { return realHypot(x, y); }
float hypotf(float x, float y) { return static_cast<float>(root(static_cast<double>(x) * x + static_cast<double>(y) * y)); }
double toy_rt_float_floordiv_f64(double a, double b) { return floorDivide(a, b); }
double toy_rt_float_mod_f64(double a, double b) { return floorModulo(a, b); }
float toy_rt_float_floordiv_f32(float a, float b) { return static_cast<float>(floorDivide(a, b)); }
float toy_rt_float_mod_f32(float a, float b) { return static_cast<float>(floorModulo(a, b)); }
uint16_t toy_rt_to_bf16(double x) {
  uint32_t bits = __builtin_bit_cast(uint32_t, toOdd(x)), upper = bits >> 16;
  return static_cast<uint16_t>(isNan(x) ? upper | 0x40 : (bits + 0x7fff + (upper & 1)) >> 16);
}
uint16_t toy_rt_to_f16(double x) { return __builtin_bit_cast(uint16_t, static_cast<_Float16>(toOdd(x))); }
}

} // namespace toy::rt::device
