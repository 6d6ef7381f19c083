// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elementary functions on N doubles at once, for ordinary arguments. Only IEEE operations and explicit fused
/// multiply-add: a lane's bits depend neither on its neighbours nor on the instruction set. Included once for each
/// instruction set, into a namespace of its own. Reductions and polynomials: Sun's fdlibm (W. J. Cody and W. Waite's
/// methods), with fused multiply-add in place of split constants.
#pragma once

#include <stdint.h> // also where there is no C++ library

namespace toy::rt::TOY_ISA {
namespace {

template <int N> using Lanes = double __attribute__((ext_vector_type(N)));
template <int N> using Mask = decltype(Lanes<N>() < Lanes<N>()); // of 64-bit integers

template <int N> Lanes<N> fma(Lanes<N> x, Lanes<N> y, Lanes<N> z) { return __builtin_elementwise_fma(x, y, z); }
template <int N> Lanes<N> fabs(Lanes<N> x) { return __builtin_elementwise_abs(x); }
template <int N> Lanes<N> sqrt(Lanes<N> x) { return __builtin_elementwise_sqrt(x); }
template <int N> Lanes<N> copysign(Lanes<N> x, Lanes<N> y) { return __builtin_elementwise_copysign(x, y); }
template <int N> Lanes<N> all(double x) { return Lanes<N>(x); }
template <int N> Mask<N> bitsOf(Lanes<N> x) { return __builtin_bit_cast(Mask<N>, x); }
template <int N> Lanes<N> fromBits(Mask<N> x) { return __builtin_bit_cast(Lanes<N>, x); }
/// Whether a mask is set in every lane: of its bits alone, which is one instruction.
template <typename M> bool areAll(M mask) {
  using Bits = bool __attribute__((ext_vector_type(sizeof(M) / sizeof(mask[0]))));
  return __builtin_reduce_and(__builtin_convertvector(mask, Bits));
}
/// c0 + x (c1 + x (c2 + …)).
template <int N, typename... C> Lanes<N> polynomial(Lanes<N> x, double c0, C... rest) {
  if constexpr (sizeof...(rest) == 0)
    return all<N>(c0);
  else
    return fma<N>(polynomial<N>(x, rest...), x, all<N>(c0));
}

/// The same, even and odd coefficients apart: two chains of half the length.
template <int N, typename... C> Lanes<N> inTwoChains(Lanes<N> x, C... coefficients) {
  constexpr int count = sizeof...(C), last = count - 1;
  const double c[count] = {coefficients...};
  Lanes<N> z = x * x, one = all<N>(c[last]), other = all<N>(c[last - 1]);
  for (int i = last - 2; i >= 0; i -= 2) {
    one = fma<N>(one, z, all<N>(c[i]));
    if (i > 0)
      other = fma<N>(other, z, all<N>(c[i - 1]));
  }
  return last % 2 ? fma<N>(one, x, other) : fma<N>(other, x, one);
}

/// The nearest integer of |x| < 2^51 and, in the low bits of `bits`, the same as an integer.
template <int N> Lanes<N> nearest(Lanes<N> x, Mask<N> &bits) {
  constexpr double shift = 0x1.8p52;
  Lanes<N> shifted = x + shift;
  bits = bitsOf<N>(shifted);
  return shifted - shift;
}

template <int N> Mask<N> isBelow(Lanes<N> x, double limit) { return fabs<N>(x) < limit; }
template <int N> Mask<N> isPositive(Lanes<N> x) { return (x >= 0x1p-1022) & (x < 0x1p1000); }
/// Squares neither over- nor underflow.
template <int N> Mask<N> isModerate(Lanes<N> x) { return (fabs<N>(x) > 0x1p-400) & (fabs<N>(x) < 0x1p400); }
template <int N> Mask<N> isModerateOrZero(Lanes<N> x) { return isModerate<N>(x) | (x == 0); }

constexpr double angleLimit = 0x1p20, exponentLimit = 700;

/// A value and what its rounding lost: about twice the digits. T. J. Dekker's and D. E. Knuth's sums and products.
template <int N> struct Twice {
  Lanes<N> high, low;
};
template <int N> Twice<N> sum(Lanes<N> a, Lanes<N> b) {
  Lanes<N> s = a + b, part = s - a;
  return {s, (a - (s - part)) + (b - part)};
}
/// |a| >= |b|.
template <int N> Twice<N> orderedSum(Lanes<N> a, Lanes<N> b) {
  Lanes<N> s = a + b;
  return {s, b - (s - a)};
}
template <int N> Twice<N> operator+(Twice<N> a, Twice<N> b) {
  Twice<N> s = sum<N>(a.high, b.high);
  return orderedSum<N>(s.high, s.low + (a.low + b.low));
}
template <int N> Twice<N> operator-(Twice<N> a) { return {-a.high, -a.low}; }
template <int N> Twice<N> operator*(Twice<N> a, Twice<N> b) {
  Lanes<N> p = a.high * b.high;
  return orderedSum<N>(p, fma<N>(a.high, b.high, -p) + (a.high * b.low + a.low * b.high));
}
template <int N> Twice<N> operator/(Twice<N> a, Twice<N> b) {
  Lanes<N> q = a.high / b.high;
  return orderedSum<N>(q, (fma<N>(-q, b.high, a.high) + (a.low - q * b.low)) / b.high);
}
/// Of positive values.
template <int N> Twice<N> sqrt(Twice<N> a) {
  Lanes<N> r = sqrt<N>(a.high);
  return orderedSum<N>(r, (fma<N>(-r, r, a.high) + a.low) / (2 * r));
}
template <int N> Twice<N> scaled(Twice<N> a, Lanes<N> factor) {
  return {a.high * factor, a.low * factor};
} // by powers of 2
template <int N> Twice<N> fabs(Twice<N> a) {
  Mask<N> negative = a.high < 0;
  return {negative ? -a.high : a.high, negative ? -a.low : a.low};
}
template <int N> Twice<N> twice(Lanes<N> x) { return {x, all<N>(0)}; }
template <int N> Lanes<N> rounded(Twice<N> a) { return a.high + a.low; }

/// (e^r - 1 - r)/r^2, |r| < 0.35.
template <int N> Lanes<N> expSeries(Lanes<N> r) {
  return inTwoChains<N>(r, 0x1p-1, 0x1.555555555555cp-3, 0x1.555555555555ep-5, 0x1.111111110ebb3p-7,
                        0x1.6c16c16c13554p-10, 0x1.a01a01b3bb293p-13, 0x1.a01a01b45fdd8p-16, 0x1.71ddef93b9e41p-19,
                        0x1.27e4bf2171219p-22, 0x1.af6cccf70d53bp-26, 0x1.1f9e00870bffdp-29);
}
/// p with e^x = 2^k (1 + p), |x| < 708.
template <int N> Lanes<N> expPart(Lanes<N> x, Mask<N> &k) {
  Lanes<N> n = nearest<N>(x * 0x1.71547652b82fep+0, k);
  Lanes<N> r = fma<N>(-n, all<N>(0x1.abc9e3b39803fp-56), fma<N>(-n, all<N>(0x1.62e42fefa39efp-1), x));
  return fma<N>(r * r, expSeries<N>(r), r);
}
template <int N> Lanes<N> powerOfTwo(Mask<N> k) { return fromBits<N>((Mask<N>(1023) + ((k << 52) >> 52)) << 52); }
/// Within 0.8 ulp; with its rest within 0.3.
template <int N> Twice<N> expTwice(Lanes<N> x) {
  Mask<N> k;
  Lanes<N> p = expPart<N>(x, k), y = 1 + p, scale = powerOfTwo<N>(k);
  return {fromBits<N>(bitsOf<N>(y) + (k << 52)), ((1 - y) + p) * scale};
}
template <int N> Lanes<N> exp(Lanes<N> x) { return expTwice<N>(x).high; }
/// 2^x, |x| < 1022: of the nearest integer, and of the rest, which is exact, as e^((x - k) log 2). Within 0.8 ulp.
template <int N> Lanes<N> exp2(Lanes<N> x) {
  Mask<N> k;
  Lanes<N> r = x - nearest<N>(x, k), t = r * 0x1.62e42fefa39efp-1;
  Lanes<N> rest = fma<N>(r, all<N>(0x1.62e42fefa39efp-1), -t) + r * 0x1.abc9e3b39803fp-56;
  Lanes<N> p = t + fma<N>(t * t, expSeries<N>(t), rest);
  return fromBits<N>(bitsOf<N>(1 + p) + (k << 52));
}
/// e^x - 1 of the same arguments, within 1.2 ulp: 2^k p + (2^k - 1).
template <int N> Lanes<N> expm1(Lanes<N> x) {
  Mask<N> k;
  Lanes<N> p = expPart<N>(x, k), scale = powerOfTwo<N>(k);
  return fma<N>(p, scale, scale - 1);
}

/// |x| < 2^20, each within 0.7 ulp; with its rest within 0.3.
template <int N> void sincosTwice(Lanes<N> x, Twice<N> &sine, Twice<N> &cosine) {
  constexpr double high = 0x1.921fb54442d18p+0, middle = 0x1.1a62633145c07p-54, low = -0x1.f1976b7ed8fbcp-110; // pi/2
  Mask<N> k;
  Lanes<N> n = nearest<N>(x * 0x1.45f306dc9c883p-1, k);
  Lanes<N> first = fma<N>(-n, all<N>(high), x), w = n * middle, r = first - w;
  Lanes<N> rest = ((first - r) - w) - fma<N>(n, all<N>(middle), -w) - n * low;
  Lanes<N> z = r * r, v = z * r;
  Lanes<N> p = polynomial<N>(z, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                             -2.50507602534068634195e-08, 1.58969099521155010221e-10);
  Lanes<N> t = (z * (0.5 * rest - v * p) - rest) + v * 1.66666666666666324348e-01, s = r - t;
  Lanes<N> q = z * polynomial<N>(z, 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                                 -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11);
  Lanes<N> half = 0.5 * z, c = 1 - half, u = ((1 - c) - half) + (z * q - r * rest), d = c + u;
  Twice<N> even = {s, (r - s) - t}, odd = {d, (c - d) + u};
  Mask<N> swap = (k & 1) != 0, flipSine = (k & 2) << 62, flipCosine = ((k + 1) & 2) << 62;
  auto chosen = [&](Twice<N> one, Twice<N> other, Mask<N> flip) {
    return Twice<N>{fromBits<N>(bitsOf<N>(swap ? one.high : other.high) ^ flip),
                    fromBits<N>(bitsOf<N>(swap ? one.low : other.low) ^ flip)};
  };
  sine = chosen(odd, even, flipSine);
  cosine = chosen(even, odd, flipCosine);
}
template <int N> void sincos(Lanes<N> x, Lanes<N> &sine, Lanes<N> &cosine) {
  Twice<N> s, c;
  sincosTwice<N>(x, s, c);
  sine = s.high;
  cosine = c.high;
}

/// x = 2^n (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), of normal x > 0.
template <int N> struct Parted {
  Mask<N> k;
  Lanes<N> n, f;
  explicit Parted(Lanes<N> x) : k((bitsOf<N>(x) - 0x3fe6a09e667f3bcd) >> 52) {
    f = fromBits<N>(bitsOf<N>(x) - (k << 52)) - 1;
    n = __builtin_convertvector(k, Lanes<N>);
  }
  /// A rest of x, as one of 1 + f.
  Lanes<N> scaled(Lanes<N> rest) { return rest * fromBits<N>((Mask<N>(1023) - k) << 52); }
};
/// log(1 + f) is high + low, high = f - f^2/2.
template <int N> Twice<N> logOfParted(Lanes<N> f) {
  Lanes<N> s = f / (2 + f), z = s * s, half = 0.5 * f * f, high = f - half;
  Lanes<N> series = z * inTwoChains<N>(z, 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                                       2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                                       1.479819860511658591e-01);
  return {high, ((f - high) - half) + s * (half + series)};
}
template <int N> Lanes<N> logOfParted(Parted<N> x, Lanes<N> tail) {
  Twice<N> l = logOfParted<N>(x.f);
  return fma<N>(x.n, all<N>(6.93147180369123816490e-01),
                l.high + (fma<N>(x.n, all<N>(1.90821492927058770002e-10), tail) + l.low));
}
/// Within 1 ulp.
template <int N> Lanes<N> log(Lanes<N> x) { return logOfParted<N>(Parted<N>(x), all<N>(0)); }
/// log(x + rest) of such an x and a rest of about its last digit, for which 1 - f + f^2 is near enough to 1/(1 + f).
template <int N> Lanes<N> log(Lanes<N> x, Lanes<N> rest) {
  Parted<N> parts(x);
  return logOfParted<N>(parts, parts.scaled(rest) * fma<N>(-parts.f, 1 - parts.f, all<N>(1)));
}
/// To base 10: the high product is exact with its rest, and so powers of 10 come out exactly.
template <int N> Lanes<N> log10(Lanes<N> x) {
  constexpr double inverse = 0x1.bcb7b1526e50ep-2, inverseLow = 0x1.95355baaafad3p-57, // 1/log(10)
      two = 0x1.34413509f6000p-2, twoLow = 0x1.9fef311f12b36p-42; // log10(2), exact times exponents
  Parted<N> parts(x);
  Twice<N> l = logOfParted<N>(parts.f);
  l = orderedSum<N>(l.high, l.low);
  Lanes<N> high = l.high * inverse,
           low = fma<N>(l.high, all<N>(inverse), -high) + fma<N>(l.high, all<N>(inverseLow), l.low * inverse);
  Twice<N> result = sum<N>(parts.n * two, high);
  return result.high + (result.low + fma<N>(parts.n, all<N>(twoLow), low));
}

/// log2(x + rest) of the same arguments; exact for powers of 2, else within 2 ulp.
template <int N> Lanes<N> log2(Lanes<N> x, Lanes<N> rest) {
  Mask<N> bits = bitsOf<N>(x), k = (bits - 0x3fe6a09e667f3bcd) >> 52;
  Lanes<N> mantissa = fromBits<N>(bits - (k << 52)), scale = fromBits<N>((Mask<N>(1023) - k) << 52);
  return fma<N>(log<N>(mantissa, rest * scale), all<N>(0x1.71547652b82fep+0), __builtin_convertvector(k, Lanes<N>));
}

/// |x| < 700, within 1.5 ulp.
template <int N> void sinhcosh(Lanes<N> x, Lanes<N> &sinh, Lanes<N> &cosh) {
  Lanes<N> a = fabs<N>(x), e = exp<N>(a), inverse = 1 / e, z = x * x;
  cosh = 0.5 * (e + inverse);
  Lanes<N> series = polynomial<N>(z, 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880, 1.0 / 39916800, 1.0 / 6227020800,
                                  1.0 / 1307674368000, 1.0 / 355687428096000, 1.0 / 121645100408832000);
  sinh = a < 1 ? fma<N>(x * z, series, x) : copysign<N>(0.5 * (e - inverse), x);
}

/// |x| < 350, with rests: within 0.6 ulp of the value.
template <int N> void sinhcoshTwice(Lanes<N> x, Twice<N> &sinh, Twice<N> &cosh) {
  Lanes<N> a = fabs<N>(x), z = x * x;
  Twice<N> e = expTwice<N>(a), inverse = twice<N>(all<N>(1)) / e;
  cosh = scaled<N>(e + inverse, all<N>(0.5));
  Lanes<N> series = polynomial<N>(z, 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880, 1.0 / 39916800, 1.0 / 6227020800,
                                  1.0 / 1307674368000, 1.0 / 355687428096000, 1.0 / 121645100408832000);
  Twice<N> small = orderedSum<N>(x, x * z * series), large = scaled<N>(e + -inverse, copysign<N>(all<N>(0.5), x));
  Mask<N> isSmall = a < 1;
  sinh = {isSmall ? small.high : large.high, isSmall ? small.low : large.low};
}

/// log(1 + w), w > -1/2 with its rest, within 1.5 ulp of the result.
template <int N> Lanes<N> log1p(Twice<N> w) {
  Twice<N> s = twice<N>(all<N>(1)) + w;
  return log<N>(s.high, s.low);
}

/// The inverse hyperbolic sine of 0 <= t < 2^400.
template <int N> Lanes<N> asinh(Twice<N> t) {
  Twice<N> one = twice<N>(all<N>(1)), square = t * t;
  return log1p<N>(t + square / (one + sqrt<N>(one + square)));
}

/// The angle of x + iy; neither both zero nor so far apart that y/x leaves the range. Within 1 ulp.
template <int N> Lanes<N> atan2(Lanes<N> y, Lanes<N> x) {
  Lanes<N> ay = fabs<N>(y), ax = fabs<N>(x), small = __builtin_elementwise_min(ax, ay),
           large = __builtin_elementwise_max(ax, ay);
  // atan(small/large), reduced by atan(1/2) and atan(1)
  Mask<N> second = small > 0.6875 * large, first = small > 0.4375 * large;
  Lanes<N> numerator = second  ? small - large
                       : first ? 2 * small - large
                               : small,
           denominator = second  ? small + large
                         : first ? 2 * large + small
                                 : large;
  Lanes<N> high = second ? all<N>(7.85398163397448278999e-01) : first ? all<N>(4.63647609000806093515e-01) : all<N>(0);
  Lanes<N> low = second ? all<N>(3.06161699786838301793e-17) : first ? all<N>(2.26987774529616870924e-17) : all<N>(0);
  Lanes<N> t = numerator / denominator, z = t * t;
  Lanes<N> series = t * z *
                    polynomial<N>(z, 3.33333333333329318027e-01, -1.99999999998764832476e-01,
                                  1.42857142725034663711e-01, -1.11111104054623557880e-01, 9.09088713343650656196e-02,
                                  -7.69187620504482999495e-02, 6.66107313738753120669e-02, -5.83357013379057348645e-02,
                                  4.97687799461593236017e-02, -3.65315727442169155270e-02, 1.62858201153657823623e-02);
  Lanes<N> angle = high - ((series - low) - t);
  constexpr double halfPi = 1.57079632679489655800, halfPiLow = 6.12323399573676603587e-17;
  angle = ay > ax ? halfPi - (angle - halfPiLow) : angle;
  angle = bitsOf<N>(x) < 0 ? 2 * halfPi - (angle - 2 * halfPiLow) : angle;
  return copysign<N>(angle, y);
}

/// log(x + rest) of x.high normal and positive, with an absolute error below 2^-64 of the larger of 1 and the result.
/// log(1 + f) = 2 atanh(f/(2 + f)).
template <int N> Twice<N> logTwice(Twice<N> x) {
  Parted<N> parts(x.high);
  Twice<N> f = sum<N>(parts.f, parts.scaled(x.low)), d = sum<N>(f.high, all<N>(2));
  Lanes<N> inverse = 1 / d.high, q = f.high * inverse;
  Twice<N> s = orderedSum<N>(q, (fma<N>(-q, d.high, f.high) + fma<N>(-q, d.low + f.low, f.low)) * inverse), z = s * s;
  Lanes<N> series =
      z.high * inTwoChains<N>(z.high, 0x1.9999999999c14p-3, 0x1.2492492440e43p-3, 0x1.c71c7249becbbp-4,
                              0x1.745ce123aae12p-4, 0x1.3b205cffbbcd2p-4, 0x1.0f60de5c63ffdp-4, 0x1.0f4f5c60d8464p-4);
  Twice<N> tail = z * orderedSum<N>(all<N>(0x1.5555555555555p-2), 0x1.5555555555555p-56 + series);
  return twice<N>(parts.n) * Twice<N>{all<N>(0x1.62e42fefa39efp-1), all<N>(0x1.abc9e3b39803fp-56)} +
         scaled<N>(s + s * tail, all<N>(2));
}

/// The logarithm to base 10 with its rest, of the same arguments: rounded, it is exact for powers of 10.
template <int N> Twice<N> log10Twice(Twice<N> x) {
  return logTwice<N>(x) * Twice<N>{all<N>(0x1.bcb7b1526e50ep-2), all<N>(0x1.95355baaafad3p-57)};
}

/// atan2 with its rest, of the same arguments, with an error below 2^-64. The ratio is reduced by the nearest k/16.
template <int N> Twice<N> atan2Twice(Lanes<N> y, Lanes<N> x) {
  constexpr double high[] = {0x0.0p+0,
                             0x1.ff55bb72cfdeap-5,
                             0x1.fd5ba9aac2f6ep-4,
                             0x1.7b97b4bce5b02p-3,
                             0x1.f5b75f92c80ddp-3,
                             0x1.362773707ebccp-2,
                             0x1.6f61941e4def1p-2,
                             0x1.a64eec3cc23fdp-2,
                             0x1.dac670561bb4fp-2,
                             0x1.0657e94db30d0p-1,
                             0x1.1e00babdefeb4p-1,
                             0x1.345f01cce37bbp-1,
                             0x1.4978fa3269ee1p-1,
                             0x1.5d58987169b18p-1,
                             0x1.700a7c5784634p-1,
                             0x1.819d0b7158a4dp-1,
                             0x1.921fb54442d18p-1};
  constexpr double low[] = {0x0.0p+0,
                            -0x1.c934d86d23f1dp-60,
                            -0x1.cd37686760c17p-59,
                            0x1.347b0b4f881cap-58,
                            0x1.8ab6e3cf7afbdp-57,
                            -0x1.963a544b672d8p-57,
                            -0x1.c63aae6f6e918p-56,
                            -0x1.24dec1b50b7ffp-56,
                            0x1.a2b7f222f65e2p-56,
                            -0x1.d5b495f6349e6p-56,
                            -0x1.928df287a668fp-58,
                            0x1.1021137c71102p-55,
                            0x1.2419a87f2a458p-56,
                            0x1.0028e4bc5e7cap-57,
                            -0x1.8c34d25aadef6p-56,
                            -0x1.bf76229d3b917p-56,
                            0x1.1a62633145c07p-55};
  Lanes<N> ay = fabs<N>(y), ax = fabs<N>(x), small = __builtin_elementwise_min(ax, ay),
           large = __builtin_elementwise_max(ax, ay);
  Mask<N> k;
  Lanes<N> n = nearest<N>(16 * (small / large), k);
  Twice<N> reduction;
  for (int i = 0; i < N; ++i) {
    reduction.high[i] = high[k[i] & 31];
    reduction.low[i] = low[k[i] & 31];
  }
  auto times = [&](Lanes<N> v) { return twice<N>(n) * twice<N>(v); };
  Twice<N> t = (twice<N>(16 * small) + -times(large)) / (twice<N>(16 * large) + times(small)), z = t * t;
  Lanes<N> series = z.high * polynomial<N>(z.high, -1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11);
  Twice<N> angle = reduction + (t + twice<N>(t.high * series)),
           halfPi = {all<N>(0x1.921fb54442d18p+0), all<N>(0x1.1a62633145c07p-54)};
  auto mirrored = [&](Mask<N> where, Twice<N> from) {
    Twice<N> other = from + -angle;
    angle = {where ? other.high : angle.high, where ? other.low : angle.low};
  };
  mirrored(ay > ax, halfPi);
  mirrored(bitsOf<N>(x) < 0, scaled<N>(halfPi, all<N>(2)));
  Lanes<N> sign = copysign<N>(all<N>(1), y);
  return scaled<N>(angle, sign);
}

/// e^x of a value with its rest, |x| < 708, within 0.35 ulp.
template <int N> Twice<N> exp(Twice<N> x) {
  Twice<N> e = expTwice<N>(x.high);
  return {e.high, fma<N>(e.high, x.low, e.low)};
}

} // namespace
} // namespace toy::rt::TOY_ISA
