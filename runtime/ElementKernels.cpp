// SPDX-License-Identifier: Apache-2.0
/// \file
/// The rows of ElementFunctions.def in lanes. A kernel overwrites its arguments by its results and returns the lanes
/// whose arguments were ordinary.
#include "runtime/ComplexKernels.h"
#include "runtime/FloatKernels.h"
#include "runtime/PowerKernels.h"
#include "runtime/SingleKernels.h"

#ifndef TOY_DEVICE_MATH
#include "runtime/ElementRegisters.h"
#endif

namespace toy::rt::TOY_ISA {
namespace {

/// Also of what gives denormal numbers, 0 or infinity, by a factor of 2 in two steps. NaN stays.
template <int N> Lanes<N> expOfAny(Lanes<N> x) {
  Mask<N> k;
  Lanes<N> y = 1 + expPart<N>(clamped<N>(x, -746, 710), k);
  return x != x ? x + x : y * powerOfTwo<N>(k >> 1) * powerOfTwo<N>(k - (k >> 1));
}
template <int N> Mask<N> RealExp(Lanes<N> *v) {
  Lanes<N> x = v[0];
  if constexpr (N == 1) { // a device's thread: what a branch needs afterwards would wait in registers
    v[0] = expOfAny<N>(x);
    return ~Mask<N>{};
  }
  Mask<N> isInRange = isBelow<N>(x, 708);
  v[0] = exp<N>(x);
  if (__builtin_expect(!areAll(isInRange), 0))
    v[0] = isInRange ? v[0] : expOfAny<N>(x);
  return ~Mask<N>{};
}
template <int N> Mask<N> RealExp2(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], 1022);
  v[0] = exp2<N>(v[0]);
  return ok;
}
template <int N> Mask<N> RealExpm1(Lanes<N> *v) {
  Mask<N> ok = v[0] < exponentLimit;
  v[0] = copysign<N>(expm1<N>(v[0] < -exponentLimit ? all<N>(-exponentLimit) : v[0]), v[0]);
  return ok;
}
/// Up to -1/2 the sum is exact.
template <int N> Mask<N> RealLog1p(Lanes<N> *v) {
  Mask<N> ok = (v[0] > -1) & (v[0] < 0x1p900);
  v[0] = fabs<N>(v[0]) < 0x1p-60 ? v[0] : log1p<N>(twice<N>(v[0]));
  return ok;
}
template <int N> Mask<N> RealLog(Lanes<N> *v) {
  Mask<N> ok = isPositive<N>(v[0]);
  v[0] = log<N>(v[0]);
  return ok;
}
template <int N> Mask<N> RealLog2(Lanes<N> *v) {
  Mask<N> ok = isPositive<N>(v[0]);
  v[0] = log2<N>(v[0], all<N>(0));
  return ok;
}
template <int N> Mask<N> RealLog10(Lanes<N> *v) {
  Mask<N> ok = isPositive<N>(v[0]);
  v[0] = log10<N>(v[0]);
  return ok;
}

/// Half of the exponent begins; each step is the series of what 1 - x y^2 is, with three of its powers. Exact for
/// powers of 4, else within 1 ulp. A root and a quotient, which infinities and what is no normal number get, are within
/// 1.5.
template <int N> Mask<N> RealRsqrt(Lanes<N> *v) {
  Lanes<N> x = v[0], y = fromBits<N>(0x5fe6eb50c7b537a9 - (bitsOf<N>(x) >> 1));
  for (int step = 0; step < 2; ++step) {
    Lanes<N> e = fma<N>(-x * y, y, all<N>(1));
    y = fma<N>(y * e, polynomial<N>(e, 0.5, 0.375, 0.3125), y);
  }
  Mask<N> ok = (x >= 0x1p-1022) & (x < __builtin_inf());
  if (__builtin_expect(!areAll(ok), 0))
    y = ok ? y : 1 / sqrt<N>(x);
  v[0] = y;
  return ~Mask<N>{};
}

template <int N> Mask<N> RealCis(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], angleLimit);
  sincos<N>(v[0], v[1], v[0]);
  return ok;
}
/// One of two results: of cis (cosine, sine), of sinhcosh.
template <int N> Mask<N> RealCos(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], angleLimit);
  Lanes<N> sine;
  sincos<N>(v[0], sine, v[0]);
  return ok;
}
template <int N> Mask<N> RealSin(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], angleLimit);
  Lanes<N> cosine;
  sincos<N>(v[0], v[0], cosine);
  return ok;
}
template <int N> Mask<N> RealTan(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], angleLimit);
  Lanes<N> s, c;
  sincos<N>(v[0], s, c);
  v[0] = s / c;
  return ok;
}
template <int N> Mask<N> RealSinh(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], exponentLimit);
  Lanes<N> c;
  sinhcosh<N>(v[0], v[0], c);
  return ok;
}
template <int N> Mask<N> RealCosh(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], exponentLimit);
  Lanes<N> s;
  sinhcosh<N>(v[0], s, v[0]);
  return ok;
}
/// E/(E + 2), E = e^2a - 1, which is 1 from 20 on.
template <int N> Mask<N> RealTanh(Lanes<N> *v) {
  Lanes<N> e = expm1<N>(2 * clamped<N>(fabs<N>(v[0]), 0, 20));
  v[0] = copysign<N>(e / (e + 2), v[0]);
  return ~Mask<N>{};
}
/// An odd polynomial below 1, from there to 6, where it is 1, 1 - e^(log(erfc x)); that of x - 3.5 has an error of
/// 2^-55 of the result's.
template <int N> Mask<N> RealErf(Lanes<N> *v) {
  Lanes<N> a = clamped<N>(fabs<N>(v[0]), 0, 6), z = a * a, u = __builtin_elementwise_max(a, all<N>(1)) - 3.5;
  Lanes<N> small = inTwoChains<N>(
      z, 0x1.20dd750429b6dp+0, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b34p-4, -0x1.b82ce31284f37p-6, 0x1.565bcd0dbd8fcp-8,
      -0x1.c02db3db4923bp-11, 0x1.f9a321e4b13e1p-14, -0x1.f4d1e4345b5f0p-17, 0x1.b9df305990658p-20,
      -0x1.5f1f40ed7f4ddp-23, 0x1.f7b99d66aee24p-27, -0x1.38ac2398f942fp-30, 0x1.06275f9b4fc51p-34);
  Lanes<N> large =
      inTwoChains<N>(u, -0x1.c3991652a282dp+3, -0x1.d107c69162322p+2, -0x1.eefa41a29e42cp-1, -0x1.5677fe7c16d44p-8,
                     0x1.ca1057228feb5p-11, -0x1.34e82a9565a5ap-13, 0x1.991efb6c7c04fp-16, -0x1.0504c9cf99b30p-18,
                     0x1.3b0a46ec5e796p-21, -0x1.56f932b38b9c2p-24, 0x1.3d0f092317410p-27, -0x1.88e1c4b675ed9p-30,
                     -0x1.16f92056c0ccdp-32, 0x1.2874eaf55f04ep-33, 0x1.aca2faf7f77b2p-34, 0x1.caf9ad1d27f30p-36,
                     -0x1.edeae54a5987cp-38, -0x1.572c2a37fb843p-38, -0x1.37e516c41c322p-40, -0x1.9c8007a8e2d25p-44);
  v[0] = copysign<N>(a < 1 ? a * small : 1 - exp<N>(large), v[0]);
  return v[0] == v[0];
}
/// What the rounding of a root loses, of p: a few digits of 1/root, from half of the exponent, are enough.
template <int N> Lanes<N> lostOfRoot(Twice<N> p, Lanes<N> root) {
  return (fma<N>(-root, root, p.high) + p.low) * (0.5 * fromBits<N>(0x5fe6eb50c7b537a9 - (bitsOf<N>(p.high) >> 1)));
}
/// An odd polynomial below 1, from there log(a + sqrt(a^2 + 1)).
template <int N> Mask<N> RealAsinh(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], 0x1p400);
  Lanes<N> a = fabs<N>(v[0]), b = a < 1 ? all<N>(1) : a, z = a * a, square = b * b;
  Lanes<N> small = fma<N>(
      a * z,
      inTwoChains<N>(z, -0x1.5555555555555p-3, 0x1.3333333333203p-4, -0x1.6db6db6da5ac6p-5, 0x1.f1c71c6b0350dp-6,
                     -0x1.6e8ba22d86c72p-6, 0x1.1c4eb84d0d92cp-6, -0x1.c998735529e25p-7, 0x1.7a7dfba181ef6p-7,
                     -0x1.3fa3a53cccf7ep-7, 0x1.11dcdcb91eac4p-7, -0x1.d7712bba9dad2p-8, 0x1.902353dc1e0b3p-8,
                     -0x1.449bb29839438p-8, 0x1.e251b0e065a75p-9, -0x1.38435e7d53203p-9, 0x1.4e0cd65ac5451p-10,
                     -0x1.1628f08c8d881p-11, 0x1.4dd1663869729p-13, -0x1.fd4564149e3eap-16, 0x1.70c75165020f5p-19),
      a);
  Twice<N> p = orderedSum<N>(square, all<N>(1));
  p.low += fma<N>(b, b, -square);
  Lanes<N> root = sqrt<N>(p.high), s = b + root, lost = b - (s - root) + lostOfRoot<N>(p, root);
  v[0] = copysign<N>(a < 1 ? small : log<N>(s, lost), v[0]);
  return ok;
}
/// log(1 + w + sqrt(w^2 + 2w)), w = x - 1.
template <int N> Mask<N> RealAcosh(Lanes<N> *v) {
  Mask<N> ok = (v[0] >= 1) & (v[0] < 0x1p400);
  Lanes<N> w = v[0] - 1, square = w * w;
  Twice<N> p = sum<N>(2 * w, square);
  p.low += fma<N>(w, w, -square);
  Lanes<N> root = sqrt<N>(p.high);
  Twice<N> t = orderedSum<N>(root, w);
  t.low += lostOfRoot<N>(p, root);
  v[0] = log1p<N>(t);
  return ok;
}
/// An odd polynomial below 1/2, from there log((1 + a)/(1 - a))/2.
template <int N> Mask<N> RealAtanh(Lanes<N> *v) {
  Lanes<N> a = fabs<N>(v[0]), b = a < 0.5 ? all<N>(0.5) : a, z = a * a, above = 1 + b, inverse = 1 / (1 - b);
  Lanes<N> small =
      fma<N>(a * z,
             inTwoChains<N>(z, 0x1.5555555555555p-2, 0x1.9999999999bcep-3, 0x1.2492492474e25p-3, 0x1.c71c71dc3cdcdp-4,
                            0x1.745d132ce3fb5p-4, 0x1.3b142cf801093p-4, 0x1.11078bbf5a31ep-4, 0x1.e2e0e3874eed3p-5,
                            0x1.a5e256d9b07bbp-5, 0x1.c27e9fb4fcc11p-5, 0x1.4f4ddb83a9ddfp-7, 0x1.1f7e316eeba64p-3,
                            -0x1.3552c07ef060cp-3, 0x1.b82ab2e4c4281p-3),
             a);
  Lanes<N> q = above * inverse, lost = (fma<N>(-q, 1 - b, above) + (b - (above - 1))) * inverse;
  v[0] = copysign<N>(a < 0.5 ? small : 0.5 * log<N>(q, lost), v[0]);
  return a < 1;
}
template <int N> Mask<N> RealAtan(Lanes<N> *v) {
  Mask<N> ok = v[0] == v[0];
  v[0] = atan2<N>(v[0], all<N>(1));
  return ok;
}
/// asin a = a + a z P(z), z = a^2, up to 1/2; above, of half of what is missing from 1, pi/2 - 2 asin(sqrt((1 - a)/2)).
template <int N> struct ArcSine {
  Lanes<N> base, rest; // of a, or of the root
  Mask<N> isLarge, ok;
  explicit ArcSine(Lanes<N> x) {
    Lanes<N> a = fabs<N>(x);
    isLarge = a > 0.5;
    ok = a <= 1;
    Lanes<N> z = isLarge ? 0.5 * (1 - a) : a * a;
    base = isLarge ? sqrt<N>(z) : x;
    rest = base * z *
           inTwoChains<N>(z, 0x1.5555555555578p-3, 0x1.333333332df7fp-4, 0x1.6db6db722603ep-5, 0x1.f1c71a8dc65a9p-6,
                          0x1.6e8bdfa616327p-6, 0x1.1c49e2c18d002p-6, 0x1.ca20cd812130bp-7, 0x1.757b7e67b044fp-7,
                          0x1.6173dc68eef93p-7, 0x1.e2bfdcd00af84p-9, 0x1.64924eecf41dap-6, -0x1.595403786f488p-6,
                          0x1.0bb03e5888a03p-5);
  }
};
constexpr double halfPi = 0x1.921fb54442d18p+0, halfPiLow = 0x1.1a62633145c07p-54;
template <int N> Mask<N> RealAsin(Lanes<N> *v) {
  ArcSine<N> asin(v[0]);
  Lanes<N> outside = halfPi - (2 * asin.base + (2 * asin.rest - halfPiLow));
  v[0] = copysign<N>(asin.isLarge ? outside : asin.base + asin.rest, v[0]);
  return asin.ok;
}
template <int N> Mask<N> RealAcos(Lanes<N> *v) {
  ArcSine<N> asin(v[0]);
  Lanes<N> twofold = 2 * (asin.base + asin.rest), other = 2 * halfPi - (twofold - 2 * halfPiLow);
  Lanes<N> inside = halfPi - (asin.base + (asin.rest - halfPiLow));
  v[0] = asin.isLarge ? (v[0] < 0 ? other : twofold) : inside;
  return asin.ok;
}
/// floor(a / b) and a - floor(a / b) b, exact by one fused operation where the quotient has no more digits than a
/// double: rounding can only make it one too large.
template <int N> Mask<N> floorQuotient(const Lanes<N> *v, Lanes<N> &ratio, Lanes<N> &whole, Lanes<N> &rest) {
  ratio = v[0] / v[1];
  whole = __builtin_elementwise_floor(ratio);
  rest = fma<N>(-whole, v[1], v[0]);
  Mask<N> isAcross = (rest != 0) & ((bitsOf<N>(rest) ^ bitsOf<N>(v[1])) < 0);
  rest = isAcross ? rest + v[1] : rest;
  whole = isAcross ? whole - 1 : whole;
  return isBelow<N>(ratio, 0x1p52) & (fabs<N>(v[1]) < __builtin_inf());
}
template <int N> Mask<N> RealMod(Lanes<N> *v) {
  Lanes<N> ratio, whole, rest;
  Mask<N> ok = floorQuotient<N>(v, ratio, whole, rest);
  v[0] = rest == 0 ? copysign<N>(all<N>(0), v[1]) : rest;
  return ok;
}
template <int N> Mask<N> RealFloorDiv(Lanes<N> *v) {
  Lanes<N> ratio, whole, rest;
  Mask<N> ok = floorQuotient<N>(v, ratio, whole, rest) & isBelow<N>(ratio, 0x1p49); // beyond, Python's may be one off
  v[0] = whole == 0 ? copysign<N>(all<N>(0), ratio) : whole;
  return ok;
}
/// Integers below 2^50, which are the last bits of doubles around 1.5 * 2^52, as doubles, and back.
template <int N> Lanes<N> ofInteger(Mask<N> x) {
  return fromBits<N>(x + __builtin_bit_cast(long long, 0x1.8p52)) - 0x1.8p52;
}
template <int N> Mask<N> toInteger(Lanes<N> x) {
  return bitsOf<N>(x + 0x1.8p52) - __builtin_bit_cast(long long, 0x1.8p52);
}
/// A quotient of such is too far from the next integer to be rounded to it.
template <int N> Mask<N> wholeQuotient(Lanes<N> *v, Lanes<N> &whole) {
  constexpr long long limit = 1LL << 50;
  const Mask<N> x = bitsOf<N>(v[0]), y = bitsOf<N>(v[1]);
  const Mask<N> ok = (((x + limit) | (y + limit)) & ~(2 * limit - 1)) == 0;
  v[0] = ofInteger<N>(x);
  v[1] = ofInteger<N>(y);
  const Lanes<N> ratio = v[0] / v[1], nearest = (ratio + 0x1.8p52) - 0x1.8p52;
  whole = nearest > ratio ? nearest - 1 : nearest;
  return ok & (y != 0);
}
template <int N> Mask<N> IntegerFloorDiv(Lanes<N> *v) {
  Lanes<N> whole;
  const Mask<N> ok = wholeQuotient<N>(v, whole);
  v[0] = fromBits<N>(toInteger<N>(whole));
  return ok;
}
template <int N> Mask<N> IntegerMod(Lanes<N> *v) {
  Lanes<N> whole;
  const Mask<N> ok = wholeQuotient<N>(v, whole);
  v[0] = fromBits<N>(toInteger<N>(fma<N>(-whole, v[1], v[0])));
  return ok;
}
template <int N> Mask<N> RealAtan2(Lanes<N> *v) {
  Mask<N> ok = isModeratePair<N>(v);
  v[0] = atan2<N>(v[0], v[1]);
  return ok;
}

template <int N> Mask<N> RealHypot(Lanes<N> *v) {
  Mask<N> ok = isModeratePair<N>(v);
  v[0] = magnitude<N>(v);
  return ok;
}

#ifndef TOY_DEVICE_MATH // see runtime/cuda/DeviceMath.cpp
/// n elements in place, N at a time; the lanes beyond n compute the values of 1.
template <int N, auto kernel, int inputs, int outputs, typename T>
void run(int64_t n, T *values, CarefulFunction careful) {
  using Stored = T __attribute__((ext_vector_type(N)));
  constexpr int most = inputs > outputs ? inputs : outputs;
  for (int64_t begin = 0; begin < n; begin += N) {
    const int count = n - begin < N ? static_cast<int>(n - begin) : N;
    Lanes<N> arguments[most];
    Argument<kernel> v[most];
    for (int i = 0; i < inputs; ++i) {
      Stored stored = 1;
      if (count == N)
        __builtin_memcpy(&stored, values + i * n + begin, sizeof stored);
      else
        for (int lane = 0; lane < count; ++lane)
          stored[lane] = values[i * n + begin + lane];
      arguments[i] = __builtin_convertvector(stored, Lanes<N>);
      v[i] = __builtin_convertvector(arguments[i], Argument<kernel>);
    }
    auto ordinary = kernel(v);
    for (int i = 0; i < outputs; ++i) {
      Stored result = __builtin_convertvector(v[i], Stored);
      if (count == N)
        __builtin_memcpy(values + i * n + begin, &result, sizeof result);
      else
        for (int lane = 0; lane < count; ++lane)
          values[i * n + begin + lane] = result[lane];
    }
    if (areAll(ordinary))
      continue;
    for (int lane = 0; lane < count; ++lane)
      if (!ordinary[lane]) {
        double one[most];
        for (int i = 0; i < inputs; ++i)
          one[i] = arguments[i][lane];
        careful(one);
        for (int i = 0; i < outputs; ++i)
          values[i * n + begin + lane] = static_cast<T>(one[i]);
      }
  }
}

template <auto narrow, auto wide, int inputs, int outputs>
void apply(int64_t n, double *values, CarefulFunction careful) {
  if (n <= 2)
    run<2, narrow, inputs, outputs>(n, values, careful);
  else
    run < native<4 ? 4 : native, wide, inputs, outputs>(n, values, careful);
}

#endif

} // namespace

#ifndef TOY_DEVICE_MATH
extern const ElementKernel elementKernels[];
const ElementKernel elementKernels[] = {
#define TOY_ELEMENT(KERNEL, NAME, DTYPE, INPUTS, OUTPUTS)                                                              \
  apply < KERNEL<2>, KERNEL<native<4 ? 4 : native>, INPUTS, OUTPUTS>,
#include "runtime/ElementFunctions.def"
};
extern void *const laneFunctions[];
void *const laneFunctions[] = {
#define TOY_ELEMENT(KERNEL, NAME, DTYPE, INPUTS, OUTPUTS)                                                              \
  reinterpret_cast<void *>(                                                                                            \
      +direct<KERNEL<native>, row_##NAME##_##DTYPE, DType::DTYPE == DType::F32, INPUTS, OUTPUTS>()),
#define TOY_FLOAT(KERNEL, NAME, INPUTS)                                                                                \
  reinterpret_cast<void *>(+direct<KERNEL<2 * native>, row_##NAME##_F32, false, INPUTS, 1>()),
#include "runtime/ElementFunctions.def"
};
extern void *const pairFunctions[];
void *const pairFunctions[] = {
#define TOY_ELEMENT(KERNEL, NAME, DTYPE, INPUTS, OUTPUTS)                                                              \
  reinterpret_cast<void *>(                                                                                            \
      +paired<KERNEL<native>, KERNEL<2 * native>, row_##NAME##_##DTYPE, INPUTS, OUTPUTS, DType::DTYPE>()),
#define TOY_FLOAT(KERNEL, NAME, INPUTS)                                                                                \
  reinterpret_cast<void *>(+paired<KERNEL<2 * native>, KERNEL<4 * native>, row_##NAME##_F32, INPUTS, 1, DType::F32>()),
#include "runtime/ElementFunctions.def"
};
extern const int laneWidth;
const int laneWidth = native;
#endif

} // namespace toy::rt::TOY_ISA
