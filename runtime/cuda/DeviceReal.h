// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elementary functions of any real argument, for a device: without a C library, within a few ulp (see DeviceMath.cpp,
/// which includes the lanes first).
#pragma once

namespace toy::rt::device {
namespace {

constexpr double infinity = __builtin_inf(), notANumber = __builtin_nan(""), pi = 0x1.921fb54442d18p+1,
                 ln2 = 0x1.62e42fefa39efp-1, ln2Low = 0x1.abc9e3b39803fp-56;

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
  return bits ? static_cast<int>(bits) - 1023
              : static_cast<int>(__builtin_bit_cast(int64_t, size(x) * 0x1p54) >> 52) - 1023 - 54;
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
double realExp2(double x) {
  if (isNan(x) || x > 1024)
    return x > 0 ? infinity : x;
  if (x < -1080)
    return 0;
  if (size(x) < 1000)
    return lane<RealExp2<1>>(x);
  int k = x < 0 ? -128 : 128;
  return lane<RealExp2<1>>(x - k) * powerOfTwo(k);
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
double realLog2(double x) {
  if (!(x > 0) || x == infinity)
    return realLog(x);
  int e = exponentOf(x);
  return lane<RealLog2<1>>(scale(x, -e)) + e;
}
double realLog10(double x) {
  if (!(x > 0) || x == infinity)
    return realLog(x);
  int e = exponentOf(x);
  Twice<1> log10Of2 = {all<1>(0x1.34413509f79ffp-2), all<1>(-0x1.9dc1da994fd21p-59)};
  return rounded<1>(twice<1>(all<1>(e)) * log10Of2 + log10Twice<1>(twice<1>(all<1>(scale(x, -e)))))[0];
}

/// x - k pi/2 for any finite x by M. Payne and R. Hanek: the fraction of x * 2/pi from the 192 of its bits that matter.
void largeAngle(double x, double &sine, double &cosine) {
  static const uint64_t twoOverPi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
                                       0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                                       0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
                                       0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
                                       0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};
  int e = exponentOf(x) - 52; // |x| = m 2^e
  uint64_t m = static_cast<uint64_t>(scale(size(x), -e)), words[3];
  int first = e - 2 > 0 ? e - 2 : 0, shift = first & 63; // bits before `first` give multiples of 4 in m * 2/pi * 2^e
  for (int i = 0; i < 3; ++i) {
    const uint64_t *at = twoOverPi + first / 64 + i;
    words[i] = shift ? at[0] << shift | at[1] >> (64 - shift) : at[0];
  }
  // m times the first three words, a fraction: an integer and three words behind the point.
  unsigned __int128 low = static_cast<unsigned __int128>(m) * words[2],
                    middle = static_cast<unsigned __int128>(m) * words[1] + static_cast<uint64_t>(low >> 64);
  unsigned __int128 high = static_cast<unsigned __int128>(m) * words[0] + static_cast<uint64_t>(middle >> 64);
  uint64_t whole = static_cast<uint64_t>(high >> 64), fraction = static_cast<uint64_t>(high),
           rest = static_cast<uint64_t>(middle);
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
  Twice<1> f = sum<1>(all<1>(static_cast<double>(fraction >> 11 << 11) * 0x1p-64),
                      all<1>(static_cast<double>(fraction & 2047) * 0x1p-64 + static_cast<double>(rest) * 0x1p-128));
  Twice<1> angle = f * Twice<1>{all<1>(pi / 2), all<1>(0x1.1a62633145c07p-54)};
  if (above)
    angle = -angle;
  Twice<1> sineTwice, cosineTwice;
  sincosTwice<1>(angle.high, sineTwice, cosineTwice);
  Lanes<1> s = sineTwice.high + fma<1>(cosineTwice.high, angle.low, sineTwice.low),
           c = cosineTwice.high + fma<1>(-sineTwice.high, angle.low, cosineTwice.low);
  sine = quadrant & 1 ? c[0] : s[0]; // chosen, as an array would be in memory
  cosine = quadrant & 1 ? s[0] : c[0];
  sine = isNegative(x) != ((quadrant & 2) != 0) ? -sine : sine;
  cosine = ((quadrant + 1) & 2) != 0 ? -cosine : cosine;
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
double realAsin(double x) {
  return size(x) < 0x1p-60 ? x : size(x) <= 1 ? realAtan2(x, root((1 - x) * (1 + x))) : notANumber;
}
double realAcos(double x) { return size(x) <= 1 ? realAtan2(root((1 - x) * (1 + x)), x) : notANumber; }
double realAsinh(double x) {
  if (isNan(x) || size(x) < 0x1p-60)
    return x;
  return withSign(size(x) < 0x1p400 ? asinh<1>(twice<1>(all<1>(size(x))))[0] : realLog(size(x)) + ln2, x);
}
double realAcosh(double x) {
  return x < 1 || isNan(x) ? notANumber : x == 1 ? 0 : x < 0x1p400 ? lane<RealAcosh<1>>(x) : realLog(x) + ln2;
}
double realAtanh(double x) {
  return size(x) < 0x1p-60 ? x
         : size(x) < 1     ? lane<RealAtanh<1>>(x)
         : size(x) == 1    ? withSign(infinity, x)
                           : notANumber;
}
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
  Twice<1> exponent = twice<1>(all<1>(y)) * (logTwice<1>(twice<1>(all<1>(scale(a, -e)))) +
                                             twice<1>(all<1>(e)) * Twice<1>{all<1>(ln2), all<1>(ln2Low)});
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

} // namespace
} // namespace toy::rt::device
