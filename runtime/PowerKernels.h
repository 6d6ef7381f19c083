// SPDX-License-Identifier: Apache-2.0
/// \file
/// Real powers, for f64 and f32.
#pragma once

#include "runtime/SingleKernels.h"

namespace toy::rt::TOY_ISA {
namespace {

/// Logarithms of 1/inverse for 128 intervals of a mantissa between 0.71 and 1.42, as sums of a multiple of 2^-42 and a
/// rest. The inverse of an interval's middle is rounded so far that mantissa * inverse - 1 is a double; around 1 it is
/// 1, so that the logarithm of what lies there is as exact as that of any other interval.
struct LogTable {
  static constexpr long long begin = 0x3fe6900000000000; ///< bits of the least mantissa; 1 is the middle of an interval
  static constexpr int shift = 45, intervals = 128;
  double inverse[intervals], high[intervals], low[intervals];

  constexpr LogTable() : inverse(), high(), low() {
    for (int i = 0; i < intervals; ++i) {
      const double middle = __builtin_bit_cast(double, begin + (2LL * i + 1) * (1LL << (shift - 1)));
      const int unit = middle < 1 ? 128 : 256, count = static_cast<int>(unit / middle + 0.5);
      inverse[i] = static_cast<double>(count) / unit;
      // log(unit/count) = 2 atanh(p/q), in units of 2^-107
      const __int128 p = unit - count, q = unit + count;
      __int128 term = (p << 108) / q, sum = term;
      for (int n = 3; term != 0; n += 2) {
        term = term * (p * p) / (q * q);
        sum += term / n;
      }
      const __int128 whole = (sum + (__int128(1) << 64)) >> 65;
      high[i] = static_cast<double>(whole) * 0x1p-42;
      low[i] = static_cast<double>(sum - (whole << 65)) * 0x1p-107;
    }
  }
};
constexpr LogTable logTable;

/// log x of a normal x > 0 with an error below 2^-66 of the result: of k, an interval's middle and the rest r, log(2^k)
/// + log(middle) + (r - r^2/2 + r^3 q(r)), |r| < 0.006.
template <int N> Twice<N> logByTable(Lanes<N> x) {
  Mask<N> bits = bitsOf<N>(x), above = bits - LogTable::begin, k = above >> 52;
  Mask<N> interval = (above >> LogTable::shift) & (LogTable::intervals - 1);
  Lanes<N> inverse, high, low, n = __builtin_convertvector(k, Lanes<N>);
  for (int i = 0; i < N; ++i) {
    inverse[i] = logTable.inverse[interval[i]];
    high[i] = logTable.high[interval[i]];
    low[i] = logTable.low[interval[i]];
  }
  Lanes<N> r = fma<N>(fromBits<N>(bits - (k << 52)), inverse, all<N>(-1));
  Lanes<N> start = fma<N>(n, all<N>(0x1.62e42fefa3800p-1), high); // exact: multiples of 2^-42
  Lanes<N> first = start + r, half = -0.5 * r, square = r * half, sum = first + square;
  Lanes<N> tail =
      r * (-2 * square) *
      inTwoChains<N>(r, 0x1.5555555555555p-2, -0x1.0000000000008p-2, 0x1.99999999999a9p-3, -0x1.55555551b0aabp-3,
                     0x1.2492492142681p-3, -0x1.000331a686b21p-3, 0x1.c722406a763e1p-4);
  Lanes<N> lost = ((start - first) + r) + (((first - sum) + square) + fma<N>(half, r, -square));
  return orderedSum<N>(sum, (lost + fma<N>(n, all<N>(0x1.ef35793c76730p-45), low)) + tail);
}

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
/// e^x, |x| < 708, rounded once but for a sixteenth of an ulp: 2^k (1 + r) with what that rounds away, r^2 q(r), and
/// what is left of x.
template <int N> Lanes<N> expRounded(Twice<N> x) {
  Mask<N> k;
  Lanes<N> n = nearest<N>(x.high * 0x1.71547652b82fep+0, k), exact = fma<N>(-n, all<N>(0x1.62e42fefa3800p-1), x.high);
  Lanes<N> w = n * 0x1.ef35793c76730p-45, r = exact - w, rest = ((exact - r) - w) + x.low;
  Lanes<N> near = 1 + r, lost = (1 - near) + r;
  Lanes<N> small = fma<N>(r * r, expSeries<N>(r), lost), y = near + fma<N>(near + small, rest, small);
  return fromBits<N>(bitsOf<N>(y) + (k << 52));
}
/// Powers of positive bases with exponents that no rule is for: most of those that are no integers. Where all lanes are
/// such, nothing else is asked; one lane alone (a device's) has the registers for one way only.
template <int N> Mask<N> isPlainPower(Lanes<N> x, Lanes<N> y) {
  return isPositive<N>(x) & (y != __builtin_elementwise_trunc(y)) & (y != 0.5) & (fabs<N>(y) < 0x1p400);
}
/// The exponent with twice the digits; exact results come out exactly.
template <int N> Mask<N> RealPow(Lanes<N> *v) {
  Lanes<N> x = v[0], y = v[1];
  if (Mask<N> plain = isPlainPower<N>(x, y); N > 1 && __builtin_reduce_and(plain)) {
    Twice<N> exponent = twice<N>(y) * logByTable<N>(x);
    v[0] = expRounded<N>(exponent);
    return isBelow<N>(exponent.high, exponentLimit) & isModerate<N>(y);
  }
  Mask<N> small = isSmallExponent<N>(y), ok = small;
  if (__builtin_reduce_or(small))
    v[0] = smallPower<N>(twice<N>(x), x, y);
  if (!__builtin_reduce_and(small)) {
    Twice<N> exponent = twice<N>(y) * logByTable<N>(fabs<N>(x));
    ok |= hasOrdinaryPower<N>(x, y, exponent.high);
    v[0] = small ? v[0] : withPowersSign<N>(expRounded<N>(exponent), x, y);
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
  Lanes<N> x = v[0], y = v[1], scale;
  Lanes<N> p = singleExp<N>(clamped<N>(y * singleLogOfBase<N>(fabs<N>(x)), -110, 90), scale);
  if (Mask<N> plain = isPlainPower<N>(x, y); N > 1 && __builtin_reduce_and(plain)) {
    v[0] = fma<N>(p, scale, scale);
    return plain;
  }
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
