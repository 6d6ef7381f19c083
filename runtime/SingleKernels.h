// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions of f32. Arguments and results are in double, rounded once by whoever asks: polynomials within 2^-33 of the
/// function (minimax, or interpolated at Chebyshev's nodes: log, erf), so that results are within 0.51 ulp, and as few
/// arguments as possible that no lane takes.
#pragma once

#include "runtime/LaneMath.h"

namespace toy::rt::TOY_ISA {
namespace {

/// e^r - 1, |r| < 0.35.
template <int N> Lanes<N> singleExpSeries(Lanes<N> r) {
  Lanes<N> q = polynomial<N>(r, 0x1.00000042f8effp-1, 0x1.555555964af63p-3, 0x1.5554804b880dcp-5, 0x1.11107f44864ccp-7,
                             0x1.6d9686dfab088p-10, 0x1.a1b4f729edf90p-13);
  return fma<N>(r * r, q, r);
}
/// 2^k and p with e^x = 2^k (1 + p), |x| < 2^20.
template <int N> Lanes<N> singleExp(Lanes<N> x, Lanes<N> &scale) {
  Mask<N> k;
  Lanes<N> n = nearest<N>(x * 0x1.71547652b82fep+0, k), r = fma<N>(-n, all<N>(0x1.62e42fefa39efp-1), x);
  scale = powerOfTwo<N>(k);
  return singleExpSeries<N>(r);
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
template <int N> Mask<N> SingleExp2(Lanes<N> *v) {
  Mask<N> k;
  Lanes<N> x = clamped<N>(v[0], -160, 130), n = nearest<N>(x, k), scale = powerOfTwo<N>(k);
  v[0] = fma<N>(singleExpSeries<N>((x - n) * 0x1.62e42fefa39efp-1), scale, scale);
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
/// x = 2^n (1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
template <int N> Lanes<N> mantissa(Lanes<N> x, Lanes<N> &n) {
  Mask<N> bits = bitsOf<N>(x), k = (bits - 0x3fe6a09e667f3bcd) >> 52;
  n = __builtin_convertvector(k, Lanes<N>);
  return fromBits<N>(bits - (k << 52)) - 1;
}
/// log(1 + f) of such an f. Even and odd coefficients apart: two chains of half the length.
template <int N> Lanes<N> logOfMantissa(Lanes<N> f) {
  Lanes<N> z = f * f;
  Lanes<N> even = polynomial<N>(z, -0x1.0000000061fefp-1, -0x1.fffffce751926p-3, -0x1.555628452ffd2p-3,
                                -0x1.ffed885e08173p-4, -0x1.96fbfe69b0695p-4, -0x1.903d12a33abedp-4);
  Lanes<N> odd = polynomial<N>(z, 0x1.5555558685d78p-2, 0x1.99994a9651e26p-3, 0x1.24a4605850f32p-3,
                               0x1.c3b930b4ce5fdp-4, 0x1.967b6c007aa1cp-4, 0x1.b9ce201c5fbb0p-5);
  return fma<N>(z, fma<N>(odd, f, even), f);
}
template <int N> Mask<N> SingleLog(Lanes<N> *v) {
  Lanes<N> n, y = logOfMantissa<N>(mantissa<N>(v[0], n));
  Mask<N> ok = isPositive<N>(v[0]);
  v[0] = fma<N>(n, all<N>(0x1.62e42fefa39efp-1), y);
  return ok;
}
/// To base 10.
template <int N> Mask<N> SingleLog10(Lanes<N> *v) {
  Mask<N> ok = SingleLog<N>(v);
  v[0] *= 0x1.bcb7b1526e50ep-2;
  return ok;
}
template <int N> Mask<N> SingleLog2(Lanes<N> *v) {
  Lanes<N> n, y = logOfMantissa<N>(mantissa<N>(v[0], n));
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

/// log(1 + t), t > -1; t itself is the rest of a sum between sqrt(1/2) and sqrt(2).
template <int N> Lanes<N> singleLog1p(Lanes<N> t) {
  Lanes<N> n, f = mantissa<N>(1 + t, n);
  return fma<N>(n, all<N>(0x1.62e42fefa39efp-1), logOfMantissa<N>(n == 0 ? t : f));
}
template <int N> Mask<N> SingleLog1p(Lanes<N> *v) {
  Mask<N> ok = (v[0] > -1) & (v[0] < __builtin_inf());
  v[0] = copysign<N>(singleLog1p<N>(v[0]), v[0]);
  return ok;
}
/// With E = e^a - 1, sinh a = (E + E/(E + 1))/2.
template <int N> Mask<N> SingleSinh(Lanes<N> *v) {
  Lanes<N> scale, p = singleExp<N>(clamped<N>(fabs<N>(v[0]), 0, 91), scale), e = fma<N>(p, scale, scale - 1);
  v[0] = copysign<N>(0.5 * (e + e / (e + 1)), v[0]);
  return ~Mask<N>{};
}
template <int N> Mask<N> SingleCosh(Lanes<N> *v) {
  Lanes<N> scale, p = singleExp<N>(clamped<N>(fabs<N>(v[0]), 0, 91), scale), e = fma<N>(p, scale, scale);
  v[0] = 0.5 * (e + 1 / e);
  return ~Mask<N>{};
}
/// sinh^-1 a = log1p(a + a^2/(1 + sqrt(1 + a^2))).
template <int N> Mask<N> SingleAsinh(Lanes<N> *v) {
  Lanes<N> a = fabs<N>(v[0]), z = a * a;
  Mask<N> ok = a < __builtin_inf();
  v[0] = copysign<N>(singleLog1p<N>(a + z / (1 + sqrt<N>(1 + z))), v[0]);
  return ok;
}
/// log1p(w + sqrt(w (x + 1))), w = x - 1.
template <int N> Mask<N> SingleAcosh(Lanes<N> *v) {
  Mask<N> ok = (v[0] >= 1) & (v[0] < __builtin_inf());
  Lanes<N> w = v[0] - 1;
  v[0] = singleLog1p<N>(w + sqrt<N>(w * (v[0] + 1)));
  return ok;
}
/// log1p(2a/(1 - a))/2.
template <int N> Mask<N> SingleAtanh(Lanes<N> *v) {
  Lanes<N> a = fabs<N>(v[0]);
  Mask<N> ok = a < 1;
  v[0] = copysign<N>(0.5 * singleLog1p<N>(2 * a / (1 - a)), v[0]);
  return ok;
}
/// Sine by cosine of what is left of multiples of pi/2, or the inverse with another sign.
template <int N> Mask<N> SingleTan(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], angleLimit), k;
  Lanes<N> n = nearest<N>(v[0] * 0x1.45f306dc9c883p-1, k);
  Lanes<N> r = fma<N>(-n, all<N>(0x1.1a62633145c07p-54), fma<N>(-n, all<N>(0x1.921fb54442d18p+0), v[0])), z = r * r;
  Lanes<N> s = r * fma<N>(z,
                          polynomial<N>(z, -0x1.5555554cbacebp-3, 0x1.11110896f5b55p-7, -0x1.a00f9e31da2d2p-13,
                                        0x1.6cd87a0eb8eebp-19),
                          all<N>(1));
  Lanes<N> c = fma<N>(
      z, polynomial<N>(z, -0x1.ffffffd0c60e8p-2, 0x1.55553e1063cbdp-5, -0x1.6c087e87f8aefp-10, 0x1.99342fd1b2a02p-16),
      all<N>(1));
  Mask<N> isOdd = (k & 1) != 0;
  v[0] = (isOdd ? -c : s) / (isOdd ? s : c);
  return ok;
}
/// atan t, 0 <= t <= 1; two chains, as for log.
template <int N> Lanes<N> singleAtan(Lanes<N> t) {
  Lanes<N> z = t * t, w = z * z;
  Lanes<N> even =
      polynomial<N>(w, 0x1.ffffffffed99ap-1, 0x1.999981b2f5849p-3, 0x1.c6e6b6db3c575p-4, 0x1.3391bcc29deb9p-4,
                    0x1.69bd98dac31d9p-5, 0x1.81fa1ba6b44e5p-7, 0x1.ced3b57cfa8b1p-12);
  Lanes<N> odd = polynomial<N>(w, -0x1.55555521d895ep-2, -0x1.249018cfbdbb8p-3, -0x1.72cfc89146ec1p-4,
                               -0x1.efff3839c0d9ep-5, -0x1.b2cd02da54f40p-6, -0x1.b4509d9461067p-9);
  return t * fma<N>(odd, z, even);
}
template <int N> Mask<N> SingleAtan(Lanes<N> *v) {
  Lanes<N> a = fabs<N>(v[0]);
  Mask<N> isLarge = a > 1;
  Lanes<N> angle = singleAtan<N>((isLarge ? all<N>(1) : a) / (isLarge ? a : all<N>(1)));
  v[0] = copysign<N>(isLarge ? 0x1.921fb54442d18p+0 - angle : angle, v[0]);
  return ~Mask<N>{};
}
/// The angle of x + iy, not both zero or infinite.
template <int N> Mask<N> SingleAtan2(Lanes<N> *v) {
  Lanes<N> y = fabs<N>(v[0]), x = fabs<N>(v[1]), small = x < y ? x : y, large = x < y ? y : x;
  Mask<N> ok = (large > 0) & (small < __builtin_inf()) & (large == large);
  Lanes<N> angle = singleAtan<N>(small / large);
  angle = x < y ? 0x1.921fb54442d18p+0 - angle : angle;
  angle = bitsOf<N>(v[1]) < 0 ? 0x1.921fb54442d18p+1 - angle : angle;
  v[0] = copysign<N>(angle, v[0]);
  return ok;
}
/// asin a = a + a z P(z), z = a^2, up to 1/2; above, of half of what is missing from 1, pi/2 - 2 asin(sqrt((1 - a)/2)).
template <int N> Lanes<N> singleAsin(Lanes<N> a, Lanes<N> z) {
  return fma<N>(a * z,
                polynomial<N>(z, 0x1.555555479bf5ap-3, 0x1.333340bc1d7cdp-4, 0x1.6db24eb73ccd0p-5, 0x1.f2836dbe1f7ffp-6,
                              0x1.663411b38e36bp-6, 0x1.527a73e735da6p-6, 0x1.febff4c6f66a1p-10, 0x1.0ddc13d206579p-5),
                a);
}
template <int N> Mask<N> SingleAsin(Lanes<N> *v) {
  Lanes<N> a = fabs<N>(v[0]);
  Mask<N> isLarge = a > 0.5;
  Lanes<N> z = isLarge ? 0.5 * (1 - a) : a * a, angle = singleAsin<N>(isLarge ? sqrt<N>(z) : a, z);
  v[0] = copysign<N>(isLarge ? 0x1.921fb54442d18p+0 - 2 * angle : angle, v[0]);
  return a <= 1;
}
template <int N> Mask<N> SingleAcos(Lanes<N> *v) {
  Lanes<N> x = v[0], a = fabs<N>(x);
  Mask<N> isLarge = a > 0.5;
  Lanes<N> z = isLarge ? 0.5 * (1 - a) : a * a, angle = singleAsin<N>(isLarge ? sqrt<N>(z) : x, z);
  Lanes<N> outside = x < 0 ? 0x1.921fb54442d18p+1 - 2 * angle : 2 * angle;
  v[0] = isLarge ? outside : 0x1.921fb54442d18p+0 - angle;
  return a <= 1;
}
/// Squares of f32 stay far inside the range of f64.
template <int N> Mask<N> SingleHypot(Lanes<N> *v) {
  v[0] = sqrt<N>(fma<N>(v[0], v[0], v[1] * v[1]));
  return v[0] < __builtin_inf();
}

} // namespace
} // namespace toy::rt::TOY_ISA
