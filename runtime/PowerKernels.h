// SPDX-License-Identifier: Apache-2.0
/// \file
/// Real powers, for f64 and f32.
#pragma once

#include "runtime/FloatKernels.h"

namespace toy::rt::TOY_ISA {
namespace {

/// table[i] in each lane: registers that one instruction chooses from two by two, or loads.
template <int N, int size> Lanes<N> fromTable(const double (&table)[size], Mask<N> i) {
#ifdef __AVX512F__
  if constexpr (N > 8) {
    Lanes<N> both;
    both.lo = fromTable<N / 2>(table, i.lo);
    both.hi = fromTable<N / 2>(table, i.hi);
    return both;
  } else if constexpr (N == 8) {
    using Eight = double __attribute__((vector_size(64)));
    using Numbers = long long __attribute__((vector_size(64)));
    Lanes<N> found[size / 16];
    for (int part = 0; part < size / 16; ++part) {
      Eight halves[2];
      __builtin_memcpy(halves, table + 16 * part, sizeof halves);
      found[part] = __builtin_bit_cast(
          Lanes<N>, __builtin_ia32_vpermi2varpd512(halves[0], __builtin_bit_cast(Numbers, i), halves[1]));
    }
    for (int step = 1; step < size / 16; step *= 2)
      for (int part = 0; part < size / 16; part += 2 * step)
        found[part] = (i & (16 * step)) != 0 ? found[part + step] : found[part];
    return found[0];
  }
#endif
  Lanes<N> found;
  for (int lane = 0; lane < N; ++lane)
    found[lane] = table[i[lane]];
  return found;
}

/// Logarithms of 1/inverse for 32 intervals of a mantissa between 0.711 and 1.422, as sums of a multiple of 2^-42 and a
/// rest. The inverse of an interval's middle is rounded so far that mantissa * inverse - 1 is a double; around 1 it is
/// 1, so that the logarithm of what lies there is as exact as that of any other interval.
struct LogTable {
  static constexpr long long begin = 0x3fe6c00000000000; ///< bits of the least mantissa; 1 is the middle of an interval
  static constexpr int shift = 47, intervals = 32;
  double inverse[intervals], high[intervals], low[intervals];

  constexpr LogTable() : inverse(), high(), low() {
    for (int i = 0; i < intervals; ++i) {
      const double middle = __builtin_bit_cast(double, begin + (2LL * i + 1) * (1LL << (shift - 1)));
      const int unit = 64, count = static_cast<int>(unit / middle + 0.5);
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
/// + log(middle) + (r - r^2/2 + r^3 q(r)), |r| < 0.024.
template <int N> Twice<N> logByTable(Lanes<N> x) {
  Mask<N> bits = bitsOf<N>(x), above = bits - LogTable::begin, k = above >> 52;
  Mask<N> interval = (above >> LogTable::shift) & (LogTable::intervals - 1);
  Lanes<N> n = __builtin_convertvector(k, Lanes<N>), low = fromTable<N>(logTable.low, interval);
  Lanes<N> r = fma<N>(fromBits<N>(bits - (k << 52)), fromTable<N>(logTable.inverse, interval), all<N>(-1));
  Lanes<N> start = fma<N>(n, all<N>(0x1.62e42fefa3800p-1), fromTable<N>(logTable.high, interval)); // of 2^-42: exact
  Lanes<N> first = start + r, half = -0.5 * r, square = r * half, sum = first + square;
  Lanes<N> tail = r * (-2 * square) *
                  inTwoChains<N>(r, 0x1.5555555555555p-2, -0x1.fffffffffffe1p-3, 0x1.9999999999927p-3,
                                 -0x1.55555555c457bp-3, 0x1.249249257072ep-3, -0x1.ffffefa0eef6fp-4,
                                 0x1.c71c5a9477d61p-4, -0x1.9a17a3e47a190p-4, 0x1.74e943bc9b79ap-4);
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
/// Negative bases have no real power with an exponent that is no integer.
template <int N> Mask<N> hasNoPower(Lanes<N> x, Lanes<N> y) {
  return (x < 0) & (y != __builtin_elementwise_trunc(y)) & isPositive<N>(fabs<N>(x)) & isModerate<N>(y);
}
template <int N> Lanes<N> withPowersSign(Lanes<N> power, Lanes<N> x, Lanes<N> y) {
  Lanes<N> half = 0.5 * y;
  return ((x < 0) & (half != __builtin_elementwise_trunc(half))) ? -power : power;
}
/// 2^(i/16), and what rounding it loses.
constexpr double roots[] = {0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
                            0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
                            0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
                            0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};
constexpr double restsOfRoots[] = {0x0.0p+0,
                                   0x1.8a62e4adc610bp-54,
                                   -0x1.19041b9d78a76p-55,
                                   0x1.9b07eb6c70573p-54,
                                   0x1.6f46ad23182e4p-55,
                                   0x1.ada0911f09ebcp-55,
                                   0x1.d4397afec42e2p-56,
                                   0x1.6324c054647adp-54,
                                   -0x1.bdd3413b26456p-54,
                                   -0x1.41577ee04992fp-55,
                                   0x1.6e9f156864b27p-54,
                                   0x1.c7c46b071f2bep-56,
                                   0x1.7a1cd345dcc81p-54,
                                   0x1.11065895048ddp-55,
                                   0x1.2ed02d75b3707p-55,
                                   -0x1.e9c23179c2893p-54};
/// e^x, |x| < 708, rounded once but for a seventh of an ulp: 2^k root (1 + r + r^2 q(r)), |r| < 0.022.
template <int N> Lanes<N> expRounded(Twice<N> x) {
  Mask<N> k;
  Lanes<N> n = nearest<N>(x.high * 0x1.71547652b82fep+4, k), exact = fma<N>(-n, all<N>(0x1.62e42fefap-5), x.high);
  Lanes<N> r = fma<N>(-n, all<N>(0x1.cf79abc9e3b3ap-44), exact) + x.low;
  Lanes<N> p = fma<N>(r * r,
                      polynomial<N>(r, 0x1.0000000000005p-1, 0x1.555555548ebc0p-3, 0x1.555555545d79fp-5,
                                    0x1.11123b482edacp-7, 0x1.6c185ee973cc7p-10),
                      r);
  Mask<N> i = k & 15;
  Lanes<N> root = fromTable<N>(roots, i), y = root + fma<N>(root, p, fromTable<N>(restsOfRoots, i));
  return fromBits<N>(bitsOf<N>(y) + ((k >> 4) << 52));
}
/// y log x.
template <int N> Twice<N> exponentOf(Lanes<N> x, Lanes<N> y) {
  Twice<N> log = logByTable<N>(x);
  Lanes<N> product = y * log.high;
  return {product, fma<N>(y, log.high, -product) + y * log.low};
}
/// Powers of positive bases with exponents that no rule is for: most of those that are no integers. Where all lanes are
/// such, nothing else is asked; one lane alone (a device's) has the registers for one way only.
template <int N> Mask<N> isPlainPower(Lanes<N> x, Lanes<N> y) {
  return isPositive<N>(x) & (y != __builtin_elementwise_trunc(y)) & (y != 0.5);
}
/// The exponent with twice the digits; exact results come out exactly.
template <int N> Mask<N> RealPow(Lanes<N> *v) {
  Lanes<N> x = v[0], y = v[1];
  if (Mask<N> plain = isPlainPower<N>(x, y); N > 1 && areAll(plain)) {
    Twice<N> exponent = exponentOf<N>(x, y);
    v[0] = expRounded<N>(exponent);
    return isBelow<N>(exponent.high, exponentLimit);
  }
  Mask<N> small = isSmallExponent<N>(y), ok = small;
  if (__builtin_reduce_or(small))
    v[0] = smallPower<N>(twice<N>(x), x, y);
  if (!areAll(small)) {
    Twice<N> exponent = exponentOf<N>(fabs<N>(x), y);
    ok |= hasOrdinaryPower<N>(x, y, exponent.high);
    v[0] = small ? v[0] : withPowersSign<N>(expRounded<N>(exponent), x, y);
    Mask<N> none = hasNoPower<N>(x, y) & ~small;
    v[0] = none ? all<N>(__builtin_nan("")) : v[0];
    ok |= none;
  }
  return ok;
}
/// Inverses of the middles of 16 intervals of a mantissa between 0.703 and 1.406, of nine digits, and their logarithms
/// to base 2 without the sign. Around 1 they are 1 and 0.
constexpr double shortInverses[] = {0x1.64p+0, 0x1.55p+0, 0x1.48p+0, 0x1.3bp+0, 0x1.2fp+0, 0x1.25p+0,
                                    0x1.1ap+0, 0x1.11p+0, 0x1.08p+0, 0x1p+0,    0x1.e2p-1, 0x1.c8p-1,
                                    0x1.bp-1,  0x1.9ap-1, 0x1.86p-1, 0x1.74p-1};
constexpr double shortLogs[] = {
    -0x1.e726aa1e754d2p-2, -0x1.a78e146f7bef4p-2, -0x1.6e221cd9d0cdep-2, -0x1.32639636b2836p-2, -0x1.f205339208f27p-3,
    -0x1.8edcae8352b6cp-3, -0x1.1dcd197552b7bp-3, -0x1.7beee96b8a281p-4, -0x1.6bad3758efd87p-5, 0,
    0x1.64ce26c067157p-4,  0x1.563dc29ffacb2p-3,  0x1.f5fd8a9063e35p-3,  0x1.48365e695d797p-2,  0x1.921800924dd3bp-2,
    0x1.d7e6c0abc3579p-2};
/// log2 of a normal x > 0 within 2^-37 of the result: k, and the logarithms of an interval's middle and of the rest.
template <int N> Lanes<N> log2OfFloats(Floats<N> x) {
  FloatMask<N> above = bitsOf<N>(x) - 0x3f340000, k = above >> 23;
  Mask<N> interval = __builtin_convertvector((above >> 19) & 15, Mask<N>);
  Lanes<N> mantissa = __builtin_convertvector(fromBits<N>(bitsOf<N>(x) - (k << 23)), Lanes<N>);
  Lanes<N> r = fma<N>(mantissa, fromTable<N>(shortInverses, interval), all<N>(-1)); // exact
  Lanes<N> series = polynomial<N>(r, 0x1.71547652bd726p+0, -0x1.7154765121165p-1, 0x1.ec7097696384dp-2,
                                  -0x1.7154bc0d024f0p-2, 0x1.27bfd937a759cp-2, -0x1.ea651cb92c560p-3);
  return fma<N>(r, series, __builtin_convertvector(k, Lanes<N>) + fromTable<N>(shortLogs, interval));
}
/// 2^x within 2^-33 of the result, -1000 < x < 1000.
template <int N> Lanes<N> singleExp2(Lanes<N> x) {
  Mask<N> k;
  Lanes<N> r = x - nearest<N>(x, k);
  Lanes<N> series =
      polynomial<N>(r, 0x1.62e42fef95f0cp-1, 0x1.ebfbe045f8b83p-3, 0x1.c6b08dc5cdb06p-5, 0x1.3b2a1b6d8f434p-7,
                    0x1.5d874c9af2ee2p-10, 0x1.444002d0dff07p-13, 0x1.00dc37b5ae0d6p-16);
  return fromBits<N>(bitsOf<N>(fma<N>(r, series, all<N>(1))) + (k << 52));
}
constexpr FloatLogTable<32> floatLogTable(0x1.71547652b82fep+0); // to base 2
/// 2^(i/16), with what rounding to a float loses.
struct FloatRootTable {
  float high[16], low[16];

  constexpr FloatRootTable() : high(), low() {
    for (int i = 0; i < 16; ++i) {
      high[i] = static_cast<float>(roots[i]);
      low[i] = static_cast<float>(roots[i] - high[i]);
    }
  }
};
constexpr FloatRootTable floatRootTable;
/// x^y of a normal x > 0 within 0.6 ulp, where y log2(x) is below 125: the logarithm of k, an interval's middle and the
/// rest r, with what each sum loses; the power of a multiple of 1/16 and the rest.
template <int N> FloatMask<N> powerOfFloats(Floats<N> x, Floats<N> y, Floats<N> &power) {
  constexpr float inverse = 0x1.715476p+0f; // 1/log(2)
  const TabledFloats<N, 32> tabled(x, floatLogTable);
  Floats<N> r = tabled.r, start = tabled.n + fromTable<N>(floatLogTable.high, tabled.interval); // exact
  Floats<N> first = r * inverse, half = -0.5f * r, second = half * first;
  Floats<N> firstRest = fma<N>(r, floats<N>(0x1.4ae0cp-26f), fma<N>(r, floats<N>(inverse), -first));
  Floats<N> secondRest = fma<N>(half, firstRest, fma<N>(half, first, -second));
  Floats<N> near = start + first, log = near + second;
  Floats<N> others =
      fma<N>(r * second, polynomial<N>(r, -0x1.555554p-1f, 0x1.fffffcp-2f, -0x1.99d394p-2f, 0x1.55948ep-2f),
             fromTable<N>(floatLogTable.low, tabled.interval) + (firstRest + secondRest));
  Floats<N> rest = (((start - near) + first) + ((near - log) + second)) + others;
  Floats<N> t = y * log, tRest = fma<N>(y, rest, fma<N>(y, log, -t));
  constexpr float shift = 0x1.8p19f; // to multiples of 1/16
  Floats<N> shifted = t + shift, s = (t - (shifted - shift)) + tRest;
  FloatMask<N> n = bitsOf<N>(shifted);
  Floats<N> part = s * polynomial<N>(s, 0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6c45p-5f, 0x1.3b36dp-7f);
  Floats<N> root = fromTable<N>(floatRootTable.high, n);
  Floats<N> scaled = root + fma<N>(root, part, fromTable<N>(floatRootTable.low, n));
  power = fromBits<N>(bitsOf<N>(scaled) + ((n >> 4) << 23));
  return fabs<N>(t) < 125;
}
/// Powers of f32: in f32 those of positive bases with exponents that no rule is for, in double, which is enough on the
/// way, all others, and those near the limits. Beyond these rounding gives 0 and infinity.
template <int N> FloatMask<N> SinglePow(Floats<N> *v) {
  Floats<N> near;
  FloatMask<N> isNear = isPositive<N>(v[0]) & (v[1] != __builtin_elementwise_trunc(v[1])) & (v[1] != 0.5f);
  isNear &= powerOfFloats<N>(v[0], v[1], near);
  if (__builtin_expect(areAll(isNear), 1)) {
    v[0] = near;
    return isNear;
  }
  FloatMask<N> ok = isPositive<N>(fabs<N>(v[0])) & (fabs<N>(v[1]) < __builtin_inff());
  Lanes<N> x = __builtin_convertvector(v[0], Lanes<N>), y = __builtin_convertvector(v[1], Lanes<N>);
  Lanes<N> power = singleExp2<N>(clamped<N>(y * log2OfFloats<N>(fabs<N>(v[0])), -160, 130));
  Mask<N> small = isSmallExponent<N>(y);
  power = withPowersSign<N>(power, x, y);
  power = ((x < 0) & (y != __builtin_elementwise_trunc(y))) ? all<N>(__builtin_nan("")) : power;
  ok |= __builtin_convertvector(small, FloatMask<N>);
  if (__builtin_reduce_or(small))
    power = small ? smallPower<N>(x, x, y) : power;
  v[0] = isNear ? near : __builtin_convertvector(power, Floats<N>);
  return ok;
}

} // namespace
} // namespace toy::rt::TOY_ISA
