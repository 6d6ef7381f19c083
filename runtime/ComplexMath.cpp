// SPDX-License-Identifier: Apache-2.0
/// \file
/// On glibc's complex functions where they are within 3 ulp a part; own forms for the rest.
#include "runtime/ComplexMath.h"

#include <cmath>

#ifdef __SIZEOF_FLOAT128__
extern "C" { // libquadmath
__float128 sinq(__float128);
__float128 cosq(__float128);
__float128 expm1q(__float128);
}
#endif

namespace toy::rt {
namespace {

#ifdef __SIZEOF_FLOAT128__
using Quad = __float128;
Quad quadSin(Quad x) { return sinq(x); }
Quad quadCos(Quad x) { return cosq(x); }
Quad quadExpm1(Quad x) { return expm1q(x); }
#else // long double has 113 bits where there is no __float128
using Quad = long double;
Quad quadSin(Quad x) { return std::sin(x); }
Quad quadCos(Quad x) { return std::cos(x); }
Quad quadExpm1(Quad x) { return std::expm1(x); }
#endif

/// Re: e^x cos y - 1 = expm1(x) cos y - 2 sin^2(y/2); Im: e^x sin y. Where the two terms of the real part cancel, they
/// are computed with more digits, as many as are lost.
c128 expm1(c128 z) {
  double x = z.real(), y = z.imag();
  if (y == 0)
    return {std::expm1(x), y};
  if (!std::isfinite(x) || !std::isfinite(y) || x > 700) {
    c128 w = std::exp(z);
    return {w.real() - 1, w.imag()};
  }
  double s = std::sin(y / 2), second = 2 * s * s, re = std::expm1(x) * std::cos(y) - second;
  if (std::fabs(re) < second / 128) {
    Quad wide = quadSin(static_cast<Quad>(y) / 2);
    re = static_cast<double>(quadExpm1(x) * quadCos(y) - 2 * wide * wide);
  } else if (std::fabs(re) < 2 * second) {
    long double longY = y, wide = std::sin(longY / 2);
    re = static_cast<double>(std::expm1(static_cast<long double>(x)) * std::cos(longY) - 2 * wide * wide);
  }
  return {re, std::exp(x) * std::sin(y)};
}

/// log|1+z| = log1p(2x + x^2 + y^2)/2 around 1, the sum with twice the digits because it may cancel; through log
/// elsewhere.
c128 log1p(c128 z) {
  double x = z.real(), y = z.imag(), m = x * (2 + x) + y * y;
  if (!(m > -0.75 && m < 3))
    return std::log(c128(1 + x, y));
  Quad wideX = x, wideY = y, wide = wideX * (2 + wideX) + wideY * wideY;
  double sum = static_cast<double>(wide), rest = static_cast<double>(wide - sum);
  // log1p(sum + rest) = log1p(sum) + rest / (1 + sum) up to rest^2
  return {(std::log1p(sum) + rest / (1 + sum)) / 2, std::atan2(y, 1 + x)};
}

/// The logarithm to another base: on the axes that of the real function, which is exact for powers of the base.
c128 scaledLog(c128 z, double factor, double (*real)(double)) {
  c128 w = std::log(z);
  double size = z.imag() == 0 ? std::fabs(z.real()) : z.real() == 0 ? std::fabs(z.imag()) : 0;
  return {size > 0 && std::isfinite(size) ? real(size) : w.real() * factor, w.imag() * factor};
}

c128 sign(c128 z) {
  if (z.real() == 0 && z.imag() == 0)
    return 0;
  if (std::isinf(z.real()) || std::isinf(z.imag())) {
    double re = std::isinf(z.real()) ? std::copysign(1.0, z.real()) : std::copysign(0.0, z.real());
    double im = std::isinf(z.imag()) ? std::copysign(1.0, z.imag()) : std::copysign(0.0, z.imag());
    double scale = re != 0 && im != 0 ? std::sqrt(0.5) : 1;
    return {re * scale, im * scale};
  }
  int e = std::ilogb(std::max(std::fabs(z.real()), std::fabs(z.imag())));
  double re = std::scalbn(z.real(), -e), im = std::scalbn(z.imag(), -e), r = std::hypot(re, im);
  return {re / r, im / r};
}

c128 rounded(std::complex<long double> z) { return {static_cast<double>(z.real()), static_cast<double>(z.imag())}; }

/// conj(w) / |w|^2 for w = sqrt(z), in long double.
c128 rsqrt(c128 z) {
  if (!std::isfinite(z.real()) || !std::isfinite(z.imag()) || z == c128(0))
    return divide(1, std::sqrt(z));
  std::complex<long double> w = std::sqrt(std::complex<long double>(z));
  long double square = w.real() * w.real() + w.imag() * w.imag();
  return rounded({w.real() / square, -w.imag() / square});
}

c128 absolute(c128 z) { return std::hypot(z.real(), z.imag()); }

struct Row {
  std::string_view name;
  ComplexFunction function;
};
const Row table[] = {
    {"exp", [](c128 z) { return std::exp(z); }},
    {"expm1", expm1},
    {"log", [](c128 z) { return std::log(z); }},
    {"log1p", log1p},
    {"log2", [](c128 z) { return scaledLog(z, M_LOG2E, std::log2); }},
    {"log10", [](c128 z) { return scaledLog(z, M_LOG10E, std::log10); }},
    {"sqrt", [](c128 z) { return std::sqrt(z); }},
    {"rsqrt", rsqrt},
    {"reciprocal", [](c128 z) { return divide(1, z); }},
    {"sin", [](c128 z) { return std::sin(z); }},
    {"cos", [](c128 z) { return std::cos(z); }},
    {"tan", [](c128 z) { return rounded(std::tan(std::complex<long double>(z))); }},
    {"sinh", [](c128 z) { return std::sinh(z); }},
    {"cosh", [](c128 z) { return std::cosh(z); }},
    {"tanh", [](c128 z) { return rounded(std::tanh(std::complex<long double>(z))); }},
    {"asin", [](c128 z) { return std::asin(z); }},
    {"acos", [](c128 z) { return std::acos(z); }},
    {"atan", [](c128 z) { return std::atan(z); }},
    {"asinh", [](c128 z) { return std::asinh(z); }},
    {"acosh", [](c128 z) { return std::acosh(z); }},
    {"atanh", [](c128 z) { return std::atanh(z); }},
    {"sign", sign},
    {"abs", absolute},
};

} // namespace

ComplexFunction complexFunction(std::string_view name) {
  for (const Row &row : table)
    if (row.name == name)
      return row.function;
  return nullptr;
}

/// C99 Annex G.5.1: infinities and zeros of quotients whose plain formula gives NaN.
static c128 divideSpecial(double a, double b, double c, double d) {
  auto boxed = [](double v) { return std::copysign(std::isinf(v) ? 1.0 : 0.0, v); };
  if (c == 0 && d == 0 && (!std::isnan(a) || !std::isnan(b)))
    return {std::copysign(INFINITY, c) * a, std::copysign(INFINITY, c) * b};
  if ((std::isinf(a) || std::isinf(b)) && std::isfinite(c) && std::isfinite(d))
    return {INFINITY * (boxed(a) * c + boxed(b) * d), INFINITY * (boxed(b) * c - boxed(a) * d)};
  if ((std::isinf(c) || std::isinf(d)) && std::isfinite(a) && std::isfinite(b))
    return {0.0 * (a * boxed(c) + b * boxed(d)), 0.0 * (b * boxed(c) - a * boxed(d))};
  return {NAN, NAN};
}

namespace {
/// A number as significand in [0.5, 1) and exponent.
struct Split {
  double significand;
  int exponent;
  explicit Split(double x) { significand = std::frexp(x, &exponent); }
};

/// x*y + z*w to about one unit in the last place whatever cancels (Kahan, with fused multiply-add), as `value` times
/// 2^`exponent`.
struct ScaledSum {
  double value;
  int exponent;
  ScaledSum(Split x, Split y, Split z, Split w) {
    int e = x.exponent + y.exponent, f = z.exponent + w.exponent;
    if (x.significand == 0 || y.significand == 0)
      e = f;
    if (z.significand == 0 || w.significand == 0)
      f = e;
    exponent = std::max(e, f);
    double first = std::ldexp(x.significand, std::max(e - exponent, -1100)),
           second = std::ldexp(z.significand, std::max(f - exponent, -1100));
    double product = second * w.significand, rest = std::fma(second, w.significand, -product);
    value = std::fma(first, y.significand, product) + rest;
  }
};
} // namespace

c128 divide(c128 x, c128 y) {
  double a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  double largest = std::max(std::fabs(c), std::fabs(d));
  if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c) || !std::isfinite(d) || largest == 0)
    return divideSpecial(a, b, c, d);
  auto isModerate = [](double v) { return v == 0 || (std::fabs(v) > 0x1p-400 && std::fabs(v) < 0x1p400); };
  if (isModerate(a) && isModerate(b) && isModerate(c) &&
      isModerate(d)) { // no product leaves the range: scaling would change nothing
    double denominator = c * c + d * d, bd = b * d, ad = -a * d;
    return {(std::fma(a, c, bd) + std::fma(b, d, -bd)) / denominator,
            (std::fma(b, c, ad) + std::fma(-a, d, -ad)) / denominator};
  }
  int scale = std::ilogb(largest);
  double cScaled = std::scalbn(c, -scale), dScaled = std::scalbn(d, -scale),
         denominator = cScaled * cScaled + dScaled * dScaled;
  ScaledSum re{Split(a), Split(c), Split(b), Split(d)}, im{Split(b), Split(c), Split(-a), Split(d)};
  return {std::scalbn(re.value / denominator, re.exponent - 2 * scale),
          std::scalbn(im.value / denominator, im.exponent - 2 * scale)};
}

c128 divideSingle(c128 x, c128 y) {
  double a = x.real(), b = x.imag(), c = y.real(), d = y.imag(), inverse = 1 / (c * c + d * d);
  double re = (a * c + b * d) * inverse, im = (b * c - a * d) * inverse;
  return std::isnan(re) && std::isnan(im) ? divideSpecial(a, b, c, d) : c128(re, im);
}

static c128 product(c128 x, c128 y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

c128 power(c128 z, int64_t n) {
  uint64_t m = n < 0 ? -static_cast<uint64_t>(n) : n;
  c128 result = 1;
  bool any = false;
  for (c128 factor = z; m; m >>= 1, factor = product(factor, factor))
    if (m & 1) {
      result = any ? product(result, factor) : factor;
      any = true;
    }
  return n < 0 ? divide(1, result) : result;
}

c128 power(c128 z, c128 w) {
  if (w.imag() == 0 && w.real() == std::trunc(w.real()) && std::fabs(w.real()) < 2147483648.0)
    return power(z, static_cast<int64_t>(w.real()));
  if (z == c128(0) && w.imag() == 0 && w.real() > 0)
    return 0;
  if (w.imag() == 0 && w.real() == 0.5)
    return std::sqrt(z);
  // exp(w log z) in extended precision keeps the large intermediate angles.
  std::complex<long double> wide = std::exp(std::complex<long double>(w) * std::log(std::complex<long double>(z)));
  return {static_cast<double>(wide.real()), static_cast<double>(wide.imag())};
}

} // namespace toy::rt
