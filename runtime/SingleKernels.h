// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions of f32 that need more digits on the way than f32 has (the others: runtime/FloatKernels.h). Arguments and
/// results are in double, rounded once by whoever asks: polynomials within 2^-33 of the function, so that results are
/// within 0.51 ulp, and as few arguments as possible that no lane takes.
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

/// Sine by cosine of what is left of multiples of pi/2, or the inverse with another sign.
template <int N> Mask<N> tanOfFloats(Lanes<N> &x) {
  Mask<N> ok = isBelow<N>(x, angleLimit), k;
  Lanes<N> n = nearest<N>(x * 0x1.45f306dc9c883p-1, k);
  Lanes<N> r = fma<N>(-n, all<N>(0x1.1a62633145c07p-54), fma<N>(-n, all<N>(0x1.921fb54442d18p+0), x)), z = r * r;
  Lanes<N> s = r * fma<N>(z,
                          polynomial<N>(z, -0x1.5555554cbacebp-3, 0x1.11110896f5b55p-7, -0x1.a00f9e31da2d2p-13,
                                        0x1.6cd87a0eb8eebp-19),
                          all<N>(1));
  Lanes<N> c = fma<N>(
      z, polynomial<N>(z, -0x1.ffffffd0c60e8p-2, 0x1.55553e1063cbdp-5, -0x1.6c087e87f8aefp-10, 0x1.99342fd1b2a02p-16),
      all<N>(1));
  Mask<N> isOdd = (k & 1) != 0;
  x = (isOdd ? -c : s) / (isOdd ? s : c);
  return ok;
}
/// Squares of f32 stay far inside the range of f64.
template <int N> Mask<N> SingleHypot(Lanes<N> *v) {
  v[0] = sqrt<N>(fma<N>(v[0], v[0], v[1] * v[1]));
  return v[0] < __builtin_inf();
}

} // namespace
} // namespace toy::rt::TOY_ISA
