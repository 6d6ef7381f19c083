// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions of f32 in f32 lanes, within 0.9 ulp: reductions to a small range whose rests are kept (W. J. Cody and W.
/// Waite), and polynomials with relative errors below 2^-26 whose leading terms are added last, so that only one
/// rounding of the size of the result is left.
#pragma once

#include "runtime/SingleKernels.h"

namespace toy::rt::TOY_ISA {
namespace {

template <int N> using Floats = float __attribute__((ext_vector_type(N)));
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
/// e^x within 1.2 ulp, -87 < x < 88: for what is small beside something else.
template <int N> Floats<N> expNearly(Floats<N> x) {
  FloatMask<N> k;
  Floats<N> n = nearest<N>(x * 0x1.715476p+0f, k);
  Floats<N> r = fma<N>(-n, floats<N>(0x1.7f7d1cp-20f), fma<N>(-n, floats<N>(0x1.62e4p-1f), x)),
            scale = powerOfTwo<N>(k);
  Floats<N> p = polynomial<N>(r, 1.0f, 0x1p-1f, 0x1.5554aap-3f, 0x1.5554e2p-5f, 0x1.122bf4p-7f, 0x1.6d548cp-10f);
  return fma<N>(scale * r, p, scale);
}
template <int N> FloatMask<N> SingleExp(Floats<N> *v) {
  ExpOfFloats<N> e(clamped<N>(v[0], -104, 89));
  v[0] = scaled<N>(e.sum(floats<N>(1), floats<N>(1), floats<N>(0)), e.k);
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
/// An odd polynomial below 1, from there 1 - 2/(e^2a + 1), which is 1 from 9.1 on.
template <int N> FloatMask<N> SingleTanh(Floats<N> *v) {
  Floats<N> a = clamped<N>(fabs<N>(v[0]), 0, 10), z = a * a;
  Floats<N> small = fma<N>(a * z,
                           polynomial<N>(z, -0x1.555556p-2f, 0x1.11113p-3f, -0x1.ba1c2cp-5f, 0x1.661p-6f,
                                         -0x1.1f09f8p-7f, 0x1.af19d2p-9f, -0x1.00a3fp-10f, 0x1.4ad2b2p-13f),
                           a);
  v[0] = copysign<N>(a < 1 ? small : 1 - 2 / (expNearly<N>(2 * a) + 1), v[0]);
  return ~FloatMask<N>{};
}
/// An odd polynomial below 1, from there to 4, where it is 1 in f32, 1 - e^(log(erfc x)).
template <int N> FloatMask<N> SingleErf(Floats<N> *v) {
  Floats<N> a = clamped<N>(fabs<N>(v[0]), 0, 4), z = a * a, u = (a < 1 ? floats<N>(1) : a) - 1;
  Floats<N> small = fma<N>(a,
                           polynomial<N>(z, 0x1.06eba8p-3f, -0x1.81274p-2f, 0x1.ce2d52p-4f, -0x1.b7fec4p-6f,
                                         0x1.542fecp-8f, -0x1.a5197ap-11f, 0x1.4c5cb4p-14f),
                           a);
  Floats<N> large =
      expNearly<N>(polynomial<N>(u, -0x1.d97fcp0f, -0x1.51c9a8p1f, -0x1.afac3ap-1f, -0x1.54795ep-5f, 0x1.49b0e4p-7f,
                                 -0x1.0bd85ep-9f, 0x1.4b98eep-12f, -0x1.0defe6p-15f, 0x1.a6ad26p-20f));
  v[0] = copysign<N>(a < 1 ? small : 1 - large, v[0]);
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
/// To another base: `high` + `low` is 1/log(base), `two` + `twoLow` the logarithm of 2, `two` so short that its
/// products with exponents are exact, and the coefficients are those of (log(1 + f) - f/log(base))/f^2.
template <int N, typename... C>
FloatMask<N> logToBase(Floats<N> *v, float high, float low, float two, float twoLow, C... coefficients) {
  PartedFloats<N> x(v[0]);
  FloatMask<N> ok = isPositive<N>(v[0]);
  Floats<N> t = x.f * high, rest = fma<N>(x.f, floats<N>(high), -t) + x.f * low;
  Floats<N> s = fma<N>(x.n, floats<N>(two), t), lost = t - fma<N>(x.n, floats<N>(-two), s);
  v[0] = s + fma<N>(x.f * x.f, polynomial<N>(x.f, coefficients...), fma<N>(x.n, floats<N>(twoLow), lost + rest));
  return ok;
}
template <int N> FloatMask<N> SingleLog2(Floats<N> *v) {
  return logToBase<N>(v, 0x1.715476p+0f, 0x1.4ae0cp-26f, 1, 0, -0x1.715476p-1f, 0x1.ec7094p-2f, -0x1.7154ccp-2f,
                      0x1.277c48p-2f, -0x1.ec626ap-3f, 0x1.a4736ep-3f, -0x1.7016c4p-3f, 0x1.5e69fap-3f, -0x1.5063c8p-3f,
                      0x1.7ed278p-4f);
}
template <int N> FloatMask<N> SingleLog10(Floats<N> *v) {
  return logToBase<N>(v, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344p-2f, 0x1.3509f8p-18f, -0x1.bcb7b2p-3f, 0x1.287a7p-3f,
                      -0x1.bcb6f8p-4f, 0x1.63cc74p-4f, -0x1.289bc8p-4f, 0x1.fa8c96p-5f, -0x1.b69f92p-5f, 0x1.9fe20ap-5f,
                      -0x1.ab122p-5f, 0x1.0c34f2p-5f);
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
