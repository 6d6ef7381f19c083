// SPDX-License-Identifier: Apache-2.0
/// \file
/// Real powers, for f64 and f32.
#pragma once

#include "runtime/SingleKernels.h"

namespace toy::rt::TOY_ISA {
namespace {

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
/// log |x| of a normal x within 2^-36: log(1 + f) = 2 atanh(f/(2 + f)).
template <int N> Lanes<N> singleLogOfBase(Lanes<N> x) {
  Lanes<N> n, f = mantissa<N>(x, n), s = f / (2 + f), z = s * s;
  Lanes<N> series =
      polynomial<N>(z, 0x1.555554fd957e1p-2, 0x1.999a7a98fbfdbp-3, 0x1.2438d3ccc4a1ap-3, 0x1.e2f6fd6fce3a9p-4);
  return fma<N>(n, all<N>(0x1.62e42fefa39efp-1), 2 * fma<N>(s * z, series, s));
}
/// The same for f32: double is enough. Beyond the limits rounding gives 0 and infinity.
template <int N> Mask<N> SinglePow(Lanes<N> *v) {
  Lanes<N> x = v[0], y = v[1], a = fabs<N>(x), scale;
  Lanes<N> p = singleExp<N>(clamped<N>(y * singleLogOfBase<N>(a), -110, 90), scale);
  Mask<N> small = isSmallExponent<N>(y), ok = small | hasOrdinaryPower<N>(x, y, all<N>(0));
  v[0] = withPowersSign<N>(fma<N>(p, scale, scale), x, y);
  if (__builtin_reduce_or(small)) {
    Lanes<N> power = smallPower<N>(x, x, y);
    v[0] = small ? power : v[0];
  }
  return ok;
}

} // namespace
} // namespace toy::rt::TOY_ISA
