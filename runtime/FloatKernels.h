// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions of f32 in f32 lanes, within 1 ulp: reductions to a small range whose rests are kept (W. J. Cody and W.
/// Waite), and polynomials with relative errors below 2^-26 whose leading terms are added last, so that only one
/// rounding of the size of the result is left.
#pragma once

#include "runtime/SingleKernels.h"

namespace toy::rt::TOY_ISA {
namespace {

template <int N> using Floats = float __attribute__((ext_vector_type(N)));

/// What a kernel computes with: doubles or floats.
template <int N, typename M> Lanes<N> argumentOf(M (*)(Lanes<N> *));
template <int N, typename M> Floats<N> argumentOf(M (*)(Floats<N> *));
template <auto kernel> using Argument = decltype(argumentOf(kernel));
template <int N> using FloatMask = decltype(Floats<N>() < Floats<N>()); // of 32-bit integers

template <int N> Floats<N> fma(Floats<N> x, Floats<N> y, Floats<N> z) { return __builtin_elementwise_fma(x, y, z); }
template <int N> Floats<N> fabs(Floats<N> x) { return __builtin_elementwise_abs(x); }
template <int N> Floats<N> sqrt(Floats<N> x) { return __builtin_elementwise_sqrt(x); }
template <int N> Floats<N> copysign(Floats<N> x, Floats<N> y) { return __builtin_elementwise_copysign(x, y); }
template <int N> Floats<N> floats(float x) { return Floats<N>(x); }
template <int N> FloatMask<N> bitsOf(Floats<N> x) { return __builtin_bit_cast(FloatMask<N>, x); }
template <int N> Floats<N> fromBits(FloatMask<N> x) { return __builtin_bit_cast(Floats<N>, x); }
template <int N, typename... C> Floats<N> polynomial(Floats<N> x, float c0, C... rest) {
  if constexpr (sizeof...(rest) == 0)
    return floats<N>(c0);
  else
    return fma<N>(polynomial<N>(x, rest...), x, floats<N>(c0));
}
/// NaN stays.
template <int N> Floats<N> clamped(Floats<N> x, float low, float high) {
  x = x < low ? floats<N>(low) : x;
  return x > high ? floats<N>(high) : x;
}
/// The nearest integer of |x| < 2^22, also as k.
template <int N> Floats<N> nearest(Floats<N> x, FloatMask<N> &k) {
  constexpr float shift = 0x1.8p23f;
  Floats<N> shifted = x + shift;
  k = bitsOf<N>(shifted) - 0x4b400000;
  return shifted - shift;
}
/// -126 <= k <= 127.
template <int N> Floats<N> powerOfTwo(FloatMask<N> k) { return fromBits<N>((k + 127) << 23); }
/// x 2^k in two steps, -252 <= k <= 254.
template <int N> Floats<N> scaled(Floats<N> x, FloatMask<N> k) {
  FloatMask<N> half = k >> 1;
  return x * powerOfTwo<N>(half) * powerOfTwo<N>(k - half);
}

/// e^x = 2^k (1 + r + rest), |x| < 2^7.
template <int N> struct ExpOfFloats {
  FloatMask<N> k;
  Floats<N> r, rest;
  explicit ExpOfFloats(Floats<N> x) {
    Floats<N> n = nearest<N>(x * 0x1.715476p+0f, k), exact = fma<N>(-n, floats<N>(0x1.62e4p-1f), x),
              low = n * 0x1.7f7d1cp-20f;
    r = exact - low;
    rest = fma<N>(
        r * r, polynomial<N>(r, 0x1p-1f, 0x1.555556p-3f, 0x1.5555p-5f, 0x1.110fc4p-7f, 0x1.6d3132p-10f, 0x1.a2d3ap-13f),
        (exact - r) - low);
  }
  /// offset + factor (r + rest) + more, with one rounding; |offset| is above |factor r|, or 0.
  Floats<N> sum(Floats<N> factor, Floats<N> offset, Floats<N> more) const {
    Floats<N> s = fma<N>(factor, r, offset), lost = fma<N>(factor, r, offset - s);
    return s + (fma<N>(factor, rest, lost) + more);
  }
  /// factor e^(x - k log 2), nearly.
  Floats<N> times(Floats<N> factor) const { return fma<N>(factor, r + rest, factor); }
};
template <int N> FloatMask<N> SingleExp(Floats<N> *v) {
  FloatMask<N> k;
  Floats<N> x = clamped<N>(v[0], -104, 89), n = nearest<N>(x * 0x1.715476p+0f, k);
  Floats<N> r = fma<N>(-n, floats<N>(0x1.7f7d1cp-20f), fma<N>(-n, floats<N>(0x1.62e4p-1f), x));
  Floats<N> series =
      polynomial<N>(r, 0x1p-1f, 0x1.555556p-3f, 0x1.5555p-5f, 0x1.110fc4p-7f, 0x1.6d3132p-10f, 0x1.a2d3ap-13f);
  v[0] = scaled<N>(1 + fma<N>(r * r, series, r), k);
  return ~FloatMask<N>{};
}
template <int N> FloatMask<N> SingleExp2(Floats<N> *v) {
  FloatMask<N> k;
  Floats<N> x = clamped<N>(v[0], -151, 129), r = x - nearest<N>(x, k);
  Floats<N> p =
      polynomial<N>(r, 0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6af94p-5f, 0x1.3b2a44p-7f, 0x1.5efc54p-10f, 0x1.442a6p-13f);
  v[0] = scaled<N>(fma<N>(r, p, floats<N>(1)), k);
  return ~FloatMask<N>{};
}
/// Half of 2^k - 1 + 2^k (r + rest), which does not overflow on the way.
template <int N> FloatMask<N> SingleExpm1(Floats<N> *v) {
  ExpOfFloats<N> e(clamped<N>(v[0], -30, 89));
  Floats<N> half = powerOfTwo<N>(e.k - 1);
  FloatMask<N> isLarge = e.k > 1; // there half - 1/2 may need more digits than there are
  Floats<N> y = 2 * e.sum(half, isLarge ? half : half - 0.5f, isLarge ? floats<N>(-0.5f) : floats<N>(0));
  v[0] = fabs<N>(v[0]) < 0x1p-30f ? v[0] : y;
  return ~FloatMask<N>{};
}
/// Half of (e^a + e^-a)/2, or with -e^-a.
template <int N> Floats<N> halfHyperbolic(Floats<N> a, float sign) {
  ExpOfFloats<N> e(clamped<N>(a, 0, 89.5f));
  Floats<N> scale = powerOfTwo<N>(e.k - 2);
  return e.sum(scale, scale, sign * 0.0625f / e.times(scale));
}
template <int N> FloatMask<N> SingleCosh(Floats<N> *v) {
  v[0] = 2 * halfHyperbolic<N>(fabs<N>(v[0]), 1);
  return ~FloatMask<N>{};
}
/// An odd polynomial below 1.
template <int N> FloatMask<N> SingleSinh(Floats<N> *v) {
  Floats<N> a = fabs<N>(v[0]), z = a * a;
  Floats<N> small =
      fma<N>(a * z, polynomial<N>(z, 0x1.555556p-3f, 0x1.1110c6p-7f, 0x1.a03554p-13f, 0x1.725236p-19f), a);
  v[0] = copysign<N>(a < 1 ? small : 2 * halfHyperbolic<N>(a, -1), v[0]);
  return ~FloatMask<N>{};
}
/// An odd function that nears 1, from its parts: up to 3/4, then two an octave. Of each the middle m, so chosen that
/// the function is nearly a float there, that float, and the coefficients of (f(m + r) - f(m))/r as a polynomial of r;
/// of the first part those of f(a)/a - 1, of a^2.
struct PartsOfFunction {
  float middles[8], values[8], coefficients[7][8];
};
/// table[i modulo its size] in each lane: registers that one instruction chooses from, or loads.
template <int N, int size> Floats<N> fromTable(const float (&table)[size], FloatMask<N> i) {
#ifdef __AVX512F__
  constexpr int most = 16;
#else
  constexpr int most = 8;
#endif
  if constexpr (N > most) {
    Floats<N> both;
    both.lo = fromTable<N / 2>(table, i.lo);
    both.hi = fromTable<N / 2>(table, i.hi);
    return both;
  }
#ifdef __AVX512F__
  if constexpr (N == 16) {
    using Sixteen = float __attribute__((vector_size(64)));
    using Numbers = int __attribute__((vector_size(64)));
    const Numbers at = __builtin_bit_cast(Numbers, i);
    Sixteen halves[2];
    if constexpr (size == 8)
      __builtin_memcpy(reinterpret_cast<float *>(halves) + 8, table, sizeof table);
    __builtin_memcpy(halves, table, sizeof table);
    return __builtin_bit_cast(Floats<N>, size == 32 ? __builtin_ia32_vpermi2varps512(halves[0], at, halves[1])
                                                    : __builtin_ia32_permvarsf512(halves[0], at));
  }
#endif
#ifdef __AVX2__
  if constexpr (N == 8) {
    using Eight = float __attribute__((vector_size(32)));
    using Numbers = int __attribute__((vector_size(32)));
    Floats<N> found[size / 8];
    for (int part = 0; part < size / 8; ++part) {
      Eight whole;
      __builtin_memcpy(&whole, table + 8 * part, sizeof whole);
      found[part] = __builtin_bit_cast(Floats<N>, __builtin_ia32_permvarsf256(whole, __builtin_bit_cast(Numbers, i)));
    }
    for (int step = 1; step < size / 8; step *= 2)
      for (int part = 0; part < size / 8; part += 2 * step)
        found[part] = (i & (8 * step)) != 0 ? found[part + step] : found[part];
    return found[0];
  }
#endif
  Floats<N> found;
  for (int lane = 0; lane < N; ++lane)
    found[lane] = table[i[lane] & (size - 1)];
  return found;
}
constexpr PartsOfFunction tanhParts{
    {0, 0x1.bb2a1p-1f, 0x1.3b2aep+0f, 0x1.bb2a8p+0f, 0x1.3b1f2p+1f, 0x1.bb287p+1f, 0x1.3b1fdp+2f, 0x1.bb9ccp+2f},
    {0, 0x1.65f198p-1f, 0x1.af9136p-1f, 0x1.e0dd3ap-1f, 0x1.f89b8cp-1f, 0x1.fefe6cp-1f, 0x1.fff224p-1f, 0x1.ffffcp-1f},
    {{0, 0x1.05c226p-1f, 0x1.2875bap-2f, 0x1.e3069cp-4f, 0x1.d5b2ap-6f, 0x1.01533cp-8f, 0x1.bb8056p-13f,
      0x1.001b22p-18f},
     {-0x1.55554ap-2f, -0x1.6dfeb8p-2f, -0x1.f3c66p-3f, -0x1.c5a6e8p-4f, -0x1.cee9f8p-6f, -0x1.00d222p-8f,
      -0x1.bba9f2p-13f, -0x1.fe58f4p-19f},
     {0x1.110ddap-3f, 0x1.4566cap-4f, 0x1.bf3e8ep-4f, 0x1.090ed8p-4f, 0x1.2bab56p-6f, 0x1.5511b2p-9f, 0x1.274748p-13f,
      0x1.539372p-19f},
     {-0x1.b98108p-5f, 0x1.044b9cp-4f, -0x1.5e4c34p-7f, -0x1.86e8bep-6f, -0x1.1a2e2ap-7f, -0x1.523e3ap-10f,
      -0x1.24892cp-14f, -0x1.5ebf84p-20f},
     {0x1.5f9082p-6f, -0x1.d9ce6ap-5f, -0x1.57287p-6f, 0x1.c2ca58p-9f, 0x1.8c42f6p-9f, 0x1.0ad814p-11f, 0x1.dd18d4p-16f,
      0x1.257ad2p-21f},
     {-0x1.f662fep-8f, 0x1.d8d5aep-7f, 0x1.00d1c4p-6f, 0x1.30d94p-9f, -0x1.76be8cp-11f, -0x1.609dfcp-13f,
      -0x1.63ef7cp-17f, -0x1.504a48p-23f},
     {0x1.c8975p-10f, -0x1.999b3ap-5f, -0x1.23724ep-8f, -0x1.f2777p-10f, 0x1.eff168p-15f, 0x1.5f2742p-15f,
      0x1.5f28e4p-19f, 0x1.62cc38p-26f}}};
constexpr PartsOfFunction erfParts{
    {0, 0x1.bb814p-1f, 0x1.3b23cp+0f, 0x1.bb222p+0f, 0x1.3b329p+1f, 0x1.bb952p+1f},
    {0, 0x1.8f11cap-1f, 0x1.d62baap-1f, 0x1.f8a512p-1f, 0x1.ffbee2p-1f, 0x1.ffffep-1f},
    {{0x1.06eba8p-3f, 0x1.10cee6p-1f, 0x1.fbc214p-3f, 0x1.cde914p-5f, 0x1.57f06ap-9f, 0x1.cd22a2p-18f},
     {-0x1.81273ep-2f, -0x1.d89fc6p-2f, -0x1.388766p-2f, -0x1.8fc7fp-4f, -0x1.a76a5cp-8f, -0x1.91076cp-16f},
     {0x1.ce2c4ap-4f, 0x1.6c3744p-4f, 0x1.57b68ap-3f, 0x1.805c5p-4f, 0x1.3ef8aep-7f, 0x1.b8306p-15f},
     {-0x1.b7d574p-6f, 0x1.d86ee2p-4f, -0x1.95672cp-10f, -0x1.8ed13p-5f, -0x1.42dcfcp-7f, -0x1.52cb38p-14f},
     {0x1.518b44p-8f, -0x1.0ebb14p-4f, -0x1.958526p-5f, 0x1.6b32a4p-8f, 0x1.baf2f8p-8f, 0x1.a9db2p-14f},
     {-0x1.7f84c6p-11f, -0x1.81792ep-7f, 0x1.4a072ep-6f, 0x1.42421ep-7f, -0x1.6a50bap-9f, -0x1.d33114p-14f},
     {0x1.16d36p-15f, 0x1.8429a2p-10f, 0x1.e5238ap-9f, -0x1.84d6d2p-8f, 0x1.9a4bdp-12f, 0x1.1bd4cep-14f}}};
/// Beyond `limit` the function is 1 in f32.
template <int N> Floats<N> inParts(Floats<N> x, const PartsOfFunction &f, float limit) {
  Floats<N> a = fabs<N>(x);
  a = a > limit ? floats<N>(limit) : a;
  FloatMask<N> halfOctave = bitsOf<N>(a) >> 22, first = FloatMask<N>(0xfc), last = FloatMask<N>(0xfc + 7);
  FloatMask<N> part = __builtin_elementwise_min(__builtin_elementwise_max(halfOctave, first), last) - first;
  auto c = [&](int i) { return fromTable<N>(f.coefficients[i], part); };
  FloatMask<N> isFirst = part == 0;
  Floats<N> r = a - fromTable<N>(f.middles, part), square = r * r, t = isFirst ? square : r, z = t * t;
  Floats<N> high = fma<N>(fma<N>(c(6), t, c(5)), t, c(4)), middle = fma<N>(c(3), t, c(2)), low = fma<N>(c(1), t, c(0));
  Floats<N> quotient = fma<N>(fma<N>(high, z, middle), z, low);
  return copysign<N>(fma<N>(r, quotient, isFirst ? a : fromTable<N>(f.values, part)), x);
}
template <int N> FloatMask<N> SingleTanh(Floats<N> *v) {
  v[0] = inParts<N>(v[0], tanhParts, 9.05f);
  return ~FloatMask<N>{};
}
template <int N> FloatMask<N> SingleErf(Floats<N> *v) {
  v[0] = inParts<N>(v[0], erfParts, 3.99f);
  return ~FloatMask<N>{};
}

/// x = 2^n (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), of normal x > 0.
template <int N> struct PartedFloats {
  FloatMask<N> k;
  Floats<N> n, f;
  explicit PartedFloats(Floats<N> x) : k((bitsOf<N>(x) - 0x3f3504f3) >> 23) {
    n = __builtin_convertvector(k, Floats<N>);
    f = fromBits<N>(bitsOf<N>(x) - (k << 23)) - 1;
  }
};
/// (log(1 + f) - f)/f^2 of such an f.
template <int N> Floats<N> logSeries(Floats<N> f) {
  return fma<N>(f,
                polynomial<N>(f, 0x1.555554p-2f, -0x1.fffff8p-3f, 0x1.999d48p-3f, -0x1.555c8ep-3f, 0x1.23d49ep-3f,
                              -0x1.fcbea2p-4f, 0x1.de418ap-4f, -0x1.d7895cp-4f, 0x1.202e1ep-4f),
                floats<N>(-0.5f));
}
/// n log 2 + log(1 + f) + rest, the sum of the two leading terms with what its rounding loses.
template <int N> Floats<N> logOfParted(Floats<N> n, Floats<N> f, Floats<N> rest) {
  Floats<N> s = fma<N>(n, floats<N>(0x1.62e4p-1f), f), lost = f - fma<N>(n, floats<N>(-0x1.62e4p-1f), s);
  return s + fma<N>(f * f, logSeries<N>(f), fma<N>(n, floats<N>(0x1.7f7d1cp-20f), lost + rest));
}
template <int N> FloatMask<N> isPositive(Floats<N> x) { return (x >= 0x1p-126f) & (x < __builtin_inff()); }
template <int N> FloatMask<N> SingleLog(Floats<N> *v) {
  PartedFloats<N> x(v[0]);
  FloatMask<N> ok = isPositive<N>(v[0]);
  v[0] = logOfParted<N>(x.n, x.f, floats<N>(0));
  return ok;
}
/// Logarithms of 1/inverse for the intervals of a mantissa between 0.71 and 1.42, in units of log(2)/scale, as sums of
/// a multiple of 2^-17, to which those of powers of 2 can be added without rounding, and a rest. Inverses have so few
/// digits that mantissa * inverse - 1 is a float, and that of what lies around 1 is 1.
template <int intervals> struct FloatLogTable {
  static constexpr int shift = intervals == 32 ? 18 : 19;
  /// Bits of the least mantissa; 1 is the middle of an interval.
  static constexpr int begin = 0x3f800000 - ((intervals == 32 ? 37 : 19) << (shift - 1));
  float inverse[intervals], high[intervals], low[intervals];

  constexpr explicit FloatLogTable(double scale) : inverse(), high(), low() {
    for (int i = 0; i < intervals; ++i) {
      const float middle = __builtin_bit_cast(float, begin + (2 * i + 1) * (1 << (shift - 1)));
      const int unit = intervals == 32 ? 64 : middle < 1 ? 16 : 32, count = static_cast<int>(unit / middle + 0.5f);
      inverse[i] = static_cast<float>(count) / unit;
      // log(unit/count) = 2 atanh(q)
      const double q = static_cast<double>(unit - count) / (unit + count);
      double power = q, logarithm = 0;
      for (int n = 1; n < 40; n += 2, power *= q * q)
        logarithm += power / n;
      logarithm *= 2 * scale;
      const double whole = static_cast<int>(logarithm * 0x1p17 + (logarithm < 0 ? -0.5 : 0.5)) * 0x1p-17;
      high[i] = static_cast<float>(whole);
      low[i] = static_cast<float>(logarithm - whole);
    }
  }
};
/// x = 2^n (1 + r) / inverse, the inverse of an interval's middle, of normal x > 0.
template <int N, int intervals> struct TabledFloats {
  using Table = FloatLogTable<intervals>;
  FloatMask<N> interval; ///< modulo their number
  Floats<N> n, r;
  TabledFloats(Floats<N> x, const Table &table) {
    FloatMask<N> bits = bitsOf<N>(x), above = bits - Table::begin, k = above >> 23;
    interval = above >> Table::shift;
    n = __builtin_convertvector(k, Floats<N>);
    r = fma<N>(fromBits<N>(bits - (k << 23)), fromTable<N>(table.inverse, interval), floats<N>(-1)); // exact
  }
};
constexpr FloatLogTable<16> binaryLogs(0x1.71547652b82fep+0), decimalLogs(0x1.bcb7b1526e50ep-2);
/// To another base: `high` + `low` is 1/log(base), `two` + `twoLow` the logarithm of 2, `two` so short that its
/// products with exponents are exact, and the coefficients are those of (log(1 + r) - r/log(base))/r^2, |r| < 0.046.
template <int N, typename... C>
FloatMask<N> logToBase(Floats<N> *v, const FloatLogTable<16> &table, float high, float low, float two, float twoLow,
                       C... coefficients) {
  const TabledFloats<N, 16> x(v[0], table);
  const FloatMask<N> ok = isPositive<N>(v[0]);
  Floats<N> tabled = fromTable<N>(table.high, x.interval);
  Floats<N> start = two == 1 ? x.n + tabled : fma<N>(x.n, floats<N>(two), tabled); // exact
  Floats<N> first = x.r * high, s = start + first, lost = first - (s - start);
  Floats<N> rest = fma<N>(x.r, floats<N>(low), fma<N>(x.r, floats<N>(high), -first)) + lost;
  rest += fromTable<N>(table.low, x.interval);
  if (twoLow != 0)
    rest = fma<N>(x.n, floats<N>(twoLow), rest);
  v[0] = s + fma<N>(x.r * x.r, polynomial<N>(x.r, coefficients...), rest);
  return ok;
}
template <int N> FloatMask<N> SingleLog2(Floats<N> *v) {
  return logToBase<N>(v, binaryLogs, 0x1.715476p+0f, 0x1.4ae0cp-26f, 1, 0, -0x1.71546cp-1f, 0x1.ec7076p-2f,
                      -0x1.71f7dcp-2f, 0x1.28334cp-2f);
}
template <int N> FloatMask<N> SingleLog10(Floats<N> *v) {
  return logToBase<N>(v, decimalLogs, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344p-2f, 0x1.3509f8p-18f, -0x1.bcb7a4p-3f,
                      0x1.287a5ep-3f, -0x1.bd7c7p-4f, 0x1.64a92ap-4f);
}
/// 1 + t with what its rounding loses; t itself is the rest of a sum between sqrt(1/2) and sqrt(2).
template <int N> FloatMask<N> SingleLog1p(Floats<N> *v) {
  Floats<N> t = v[0], u = 1 + t, lost = t > 1 ? 1 - (u - t) : t - (u - 1);
  FloatMask<N> ok = (t > -1) & (t < 0x1p126f), isWhole;
  PartedFloats<N> x(u);
  isWhole = x.k == 0;
  lost *= powerOfTwo<N>(-x.k);
  Floats<N> rest = isWhole ? floats<N>(0) : lost * fma<N>(-x.f, 1 - x.f, floats<N>(1)); // nearly lost/(1 + f)
  v[0] = copysign<N>(logOfParted<N>(x.n, isWhole ? t : x.f, rest), t);
  return ok;
}

/// What the rounding of a root loses, of x + more: a few digits of 1/root, from half of the exponent, are enough.
template <int N> Floats<N> lostOfRoot(Floats<N> x, Floats<N> root, Floats<N> more = floats<N>(0)) {
  return (fma<N>(-root, root, x) + more) * (0.5f * fromBits<N>(0x5f3759df - (bitsOf<N>(x) >> 1)));
}
/// log(s + lost) + n log 2; log(1 + t + lost) where `isWhole`: s is 1 + t rounded, and below sqrt(2).
template <int N>
Floats<N> logOfSum(Floats<N> s, Floats<N> lost, Floats<N> n, FloatMask<N> isWhole = {}, Floats<N> t = floats<N>(0)) {
  PartedFloats<N> x(s);
  lost *= powerOfTwo<N>(-__builtin_elementwise_min(x.k, FloatMask<N>(100))) *
          fma<N>(-x.f, 1 - x.f, floats<N>(1)); // nearly 1/(1 + f)
  return logOfParted<N>(x.n + n, isWhole ? t : x.f, lost);
}
/// An odd polynomial up to the sine of 1, from there log(a + sqrt(a^2 + 1)), which is log(2a) from 2^14 on.
template <int N> FloatMask<N> SingleAsinh(Floats<N> *v) {
  Floats<N> a = fabs<N>(v[0]), b = clamped<N>(a, 1, 0x1p14f), z = a * a;
  Floats<N> small = fma<N>(a * z,
                           polynomial<N>(z, -0x1.555556p-3f, 0x1.333358p-4f, -0x1.6db63ap-5f, 0x1.f15be2p-6f,
                                         -0x1.6ab5fp-6f, 0x1.0b035cp-6f, -0x1.6a848p-7f, 0x1.947b14p-8f,
                                         -0x1.474616p-9f, 0x1.49092cp-11f, -0x1.2ed386p-14f),
                           a);
  Floats<N> root = sqrt<N>(fma<N>(b, b, floats<N>(1))), s = b + root;
  FloatMask<N> isHuge = a > b, ok = a < __builtin_inff();
  Floats<N> lost = isHuge ? floats<N>(0) : b - (s - root);
  Floats<N> large = logOfSum<N>(isHuge ? a : s, lost, isHuge ? floats<N>(1) : floats<N>(0));
  v[0] = copysign<N>(a < 0x1.2cd9fcp+0f ? small : large, v[0]);
  return ok;
}
/// log(1 + w + sqrt(w^2 + 2w)), w = x - 1, which is log(2x) from 2^14 on.
template <int N> FloatMask<N> SingleAcosh(Floats<N> *v) {
  Floats<N> x = clamped<N>(v[0], 1, 0x1p14f), w = x - 1, twice = 2 * w, square = w * w, p = twice + square;
  Floats<N> more = (w < 2 ? square - (p - twice) : twice - (p - square)) + fma<N>(w, w, -square);
  Floats<N> root = sqrt<N>(p), t = root + w, lost = (w - (t - root)) + lostOfRoot<N>(p, root, more), u = 1 + t;
  FloatMask<N> isHuge = v[0] > x, isWhole = u < 0x1.6a09e6p+0f, ok = (v[0] >= 1) & (v[0] < __builtin_inff());
  lost = isHuge ? floats<N>(0) : isWhole ? lost : lost + (t > 1 ? 1 - (u - t) : t - (u - 1));
  v[0] = logOfSum<N>(isHuge ? v[0] : u, lost, isHuge ? floats<N>(1) : floats<N>(0), isWhole, t);
  return ok;
}
/// An odd polynomial below 1/2, from there log((1 + a)/(1 - a))/2.
template <int N> FloatMask<N> SingleAtanh(Floats<N> *v) {
  Floats<N> a = fabs<N>(v[0]), b = a < 0.5f ? floats<N>(0.5f) : a, z = a * a, above = 1 + b, below = 1 - b;
  FloatMask<N> ok = a < 1;
  Floats<N> small = fma<N>(a * z,
                           polynomial<N>(z, 0x1.555556p-2f, 0x1.9998dap-3f, 0x1.24b13ep-3f, 0x1.c2bd5cp-4f,
                                         0x1.9c49aep-4f, 0x1.f822aep-6f, 0x1.59e448p-3f),
                           a);
  Floats<N> inverse = 1 / below, q = above * inverse;
  Floats<N> lost = (fma<N>(-q, below, above) + (b - (above - 1))) * inverse;
  v[0] = copysign<N>(a < 0.5f ? small : 0.5f * logOfSum<N>(q, lost, floats<N>(0)), v[0]);
  return ok;
}
/// Of r + rest, what is left of multiples of pi/2, an odd polynomial with what its last sum loses, or -1 over it.
template <int N> FloatMask<N> SingleTan(Floats<N> *v) {
  FloatMask<N> isSmall = fabs<N>(v[0]) < 0x1p13f, ok = isSmall, k;
  Floats<N> large = v[0];
  if (__builtin_expect(!areAll(isSmall), 0)) {
    Lanes<N> x = __builtin_convertvector(v[0], Lanes<N>);
    ok = __builtin_convertvector(tanOfFloats<N>(x), FloatMask<N>);
    large = __builtin_convertvector(x, Floats<N>);
  }
  Floats<N> n = nearest<N>(v[0] * 0x1.45f306p-1f, k), exact = fma<N>(-n, floats<N>(0x1.921fb6p+0f), v[0]);
  Floats<N> low = n * 0x1.777a5cp-25f, r = exact + low, part = r - exact;
  Floats<N> rest =
      (exact - (r - part)) + (low - part) + fma<N>(n, floats<N>(0x1.777a5cp-25f), -low) + n * 0x1.ee59dap-50f;
  Floats<N> z = r * r, cube = fma<N>(r, z, r * fma<N>(r, r, -z)); // rounded once
  Floats<N> series = polynomial<N>(z, -0x1.68c5f6p-27f, 0x1.11112p-3f, 0x1.ba1408p-5f, 0x1.670bbp-6f, 0x1.198ac6p-7f,
                                   0x1.24b6d8p-8f, -0x1.988edep-15f, 0x1.dafbd8p-10f);
  Floats<N> w = fma<N>(cube, floats<N>(0x1.555556p-2f), fma<N>(cube, series, rest * (1 + z)));
  Floats<N> t = r + w, lost = w - (t - r), q = -1 / t,
            other = fma<N>(q, fma<N>(q, lost, fma<N>(q, t, floats<N>(1))), q);
  t = t == 0 ? v[0] : t; // of -0
  v[0] = isSmall ? ((k & 1) != 0 ? other : t) : large;
  return ok;
}
/// asin a = a + a z P(z), z = a^2, up to 1/2; above, of half of what is missing from 1, pi/2 - 2 asin(sqrt((1 - a)/2)).
template <int N> struct ArcSineOfFloats {
  Floats<N> base, rest; // of x, or of the root
  FloatMask<N> isLarge, ok;
  explicit ArcSineOfFloats(Floats<N> x) {
    Floats<N> a = fabs<N>(x);
    isLarge = a > 0.5f;
    ok = a <= 1;
    Floats<N> z = isLarge ? 0.5f * (1 - a) : a * a, root = sqrt<N>(z);
    base = isLarge ? root : x;
    rest = fma<N>(
        base * z,
        polynomial<N>(z, 0x1.555554p-3f, 0x1.3334cep-4f, 0x1.6d3e76p-5f, 0x1.ffbd4cp-6f, 0x1.0fedbcp-6f, 0x1.1abf9p-5f),
        isLarge ? lostOfRoot<N>(z, root) : floats<N>(0));
  }
};
constexpr float singleHalfPi = 0x1.921fb6p+0f, singleHalfPiLow = -0x1.777a5cp-25f;
template <int N> FloatMask<N> SingleAsin(Floats<N> *v) {
  ArcSineOfFloats<N> asin(v[0]);
  Floats<N> outside = fma<N>(asin.base, floats<N>(-2), floats<N>(singleHalfPi)),
            lost = (singleHalfPi - outside) - 2 * asin.base;
  outside += lost - (2 * asin.rest - singleHalfPiLow);
  v[0] = copysign<N>(asin.isLarge ? outside : asin.base + asin.rest, v[0]);
  return asin.ok;
}
template <int N> FloatMask<N> SingleAcos(Floats<N> *v) {
  ArcSineOfFloats<N> asin(v[0]);
  Floats<N> twofold = 2 * (asin.base + asin.rest),
            other = 2 * singleHalfPi - (2 * asin.base + (2 * asin.rest - 2 * singleHalfPiLow)),
            inside = singleHalfPi - (asin.base + (asin.rest - singleHalfPiLow));
  v[0] = asin.isLarge ? (v[0] < 0 ? other : twofold) : inside;
  return asin.ok;
}
/// atan(t + lost) - t + more, 0 <= t <= 1; the first coefficient is not rounded into the others' sum.
template <int N> Floats<N> atanRest(Floats<N> t, Floats<N> lost, Floats<N> more) {
  Floats<N> z = t * t, w = fma<N>(t, z, t * fma<N>(t, t, -z)); // t^3, rounded once
  Floats<N> series = z * polynomial<N>(z, 0x1.9999c4p-3f, -0x1.24917p-3f, 0x1.c6b586p-4f, -0x1.704154p-4f,
                                       0x1.265b42p-4f, -0x1.a516p-5f, 0x1.d462d8p-6f, -0x1.51c7dap-7f, 0x1.c78b04p-10f);
  more = fma<N>(lost, fma<N>(z, floats<N>(-0.5f), floats<N>(1)), more); // nearly lost/(1 + z)
  return fma<N>(w, floats<N>(-0x1.555556p-2f), fma<N>(w, series, more));
}
/// turn + t + rest with one rounding of the size of the result; |turn| >= |t|, or 0.
template <int N> Floats<N> turned(Floats<N> turn, Floats<N> t, Floats<N> rest) {
  Floats<N> s = turn + t, lost = t - (s - turn);
  return s + (lost + rest);
}
template <int N> FloatMask<N> SingleAtan(Floats<N> *v) {
  Floats<N> a = clamped<N>(fabs<N>(v[0]), 0, 0x1p60f), inverse = 1 / a, zero = floats<N>(0);
  FloatMask<N> isLarge = a > 1;
  Floats<N> t = isLarge ? -inverse : a, lost = fma<N>(inverse, a, floats<N>(-1)) * inverse;
  Floats<N> rest = atanRest<N>(t, isLarge ? lost : zero, isLarge ? floats<N>(singleHalfPiLow) : zero);
  v[0] = copysign<N>(turned<N>(isLarge ? floats<N>(singleHalfPi) : zero, t, rest), v[0]);
  return ~FloatMask<N>{};
}
/// The angle of x + iy, of sizes whose quotient stays in the range: 0, pi/2 or pi and plus or minus the angle to the
/// nearest axis; the quotient with what its rounding loses.
template <int N> FloatMask<N> SingleAtan2(Floats<N> *v) {
  Floats<N> y = fabs<N>(v[0]), x = fabs<N>(v[1]), small = x < y ? x : y, large = x < y ? y : x, zero = floats<N>(0);
  FloatMask<N> ok = (large > 0x1p-60f) & (large < 0x1p60f) & ((small > 0x1p-60f) | (small == 0));
  FloatMask<N> isSteep = x < y, isLeft = bitsOf<N>(v[1]) < 0, isBack = isSteep ^ isLeft;
  Floats<N> inverse = 1 / large, t = small * inverse;
  t = fma<N>(fma<N>(-t, large, small), inverse, t);
  Floats<N> lost = fma<N>(-t, large, small) * inverse;
  Floats<N> turn = isSteep ? floats<N>(singleHalfPi) : isLeft ? floats<N>(2 * singleHalfPi) : zero;
  Floats<N> low = isSteep ? floats<N>(singleHalfPiLow) : isLeft ? floats<N>(2 * singleHalfPiLow) : zero;
  t = isBack ? -t : t;
  v[0] = copysign<N>(turned<N>(turn, t, atanRest<N>(t, isBack ? -lost : lost, low)), v[0]);
  return ok;
}

} // namespace
} // namespace toy::rt::TOY_ISA
