// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions of f32 that need more digits on the way than f32 has (the others: runtime/FloatKernels.h). Arguments and
/// results are in double, rounded once by whoever asks: polynomials within 2^-33 of the function, so that results are
/// within 0.51 ulp, and as few arguments as possible that no lane takes.
#pragma once

#include "runtime/LaneMath.h"

namespace toy::rt::TOY_ISA {
namespace {

/// NaN stays.
template <int N> Lanes<N> clamped(Lanes<N> x, double low, double high) {
  x = x < low ? all<N>(low) : x;
  return x > high ? all<N>(high) : x;
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
