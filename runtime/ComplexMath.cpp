// SPDX-License-Identifier: Apache-2.0
/// \file
/// On glibc's complex functions where they are within 2 ulp; own forms for the rest.
#include "runtime/ComplexMath.h"

#include <cmath>

namespace toy::rt {
namespace {

c128 expm1(c128 z) {
  // Re: e^x cos y - 1 = expm1(x) cos y - 2 sin^2(y/2); Im: e^x sin y.
  double x = z.real(), y = z.imag();
  if (y == 0)
    return {std::expm1(x), y};
  double s = std::sin(y / 2);
  return {std::expm1(x) * std::cos(y) - 2 * s * s, std::exp(x) * std::sin(y)};
}

c128 log1p(c128 z) {
  // log|1+z| = log1p(x(2+x) + y^2)/2 where that is small, else through log.
  double x = z.real(), y = z.imag();
  if (std::fabs(x) > 0.5 || std::fabs(y) > 0.5 || std::isnan(x) || std::isnan(y))
    return std::log(c128(1 + x, y));
  return {std::log1p(std::fma(y, y, x * (2 + x))) / 2, std::atan2(y, 1 + x)};
}

c128 scaledLog(c128 z, double factor) {
  c128 w = std::log(z);
  return {w.real() * factor, w.imag() * factor};
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
    {"log2", [](c128 z) { return scaledLog(z, M_LOG2E); }},
    {"log10", [](c128 z) { return scaledLog(z, M_LOG10E); }},
    {"sqrt", [](c128 z) { return std::sqrt(z); }},
    {"rsqrt", [](c128 z) { return divide(1, std::sqrt(z)); }},
    {"reciprocal", [](c128 z) { return divide(1, z); }},
    {"sin", [](c128 z) { return std::sin(z); }},
    {"cos", [](c128 z) { return std::cos(z); }},
    {"tan", [](c128 z) { return std::tan(z); }},
    {"sinh", [](c128 z) { return std::sinh(z); }},
    {"cosh", [](c128 z) { return std::cosh(z); }},
    {"tanh", [](c128 z) { return std::tanh(z); }},
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

c128 divide(c128 x, c128 y) {
  double a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  double largestY = std::max(std::fabs(c), std::fabs(d)), largestX = std::max(std::fabs(a), std::fabs(b));
  int ey = 0, ex = 0;
  if (std::isfinite(largestY) && largestY != 0) {
    ey = std::ilogb(largestY);
    c = std::scalbn(c, -ey);
    d = std::scalbn(d, -ey);
  }
  if (std::isfinite(largestX) && largestX != 0) {
    ex = std::ilogb(largestX);
    a = std::scalbn(a, -ex);
    b = std::scalbn(b, -ex);
  }
  double denominator = c * c + d * d;
  double re = std::scalbn((a * c + b * d) / denominator, ex - ey), im = std::scalbn((b * c - a * d) / denominator, ex - ey);
  if (!std::isnan(re) || !std::isnan(im))
    return {re, im};
  // C99 Annex G.5.1
  if (denominator == 0 && (!std::isnan(a) || !std::isnan(b)))
    return {std::copysign(INFINITY, c) * a, std::copysign(INFINITY, c) * b};
  auto boxed = [](double v) { return std::copysign(std::isinf(v) ? 1.0 : 0.0, v); };
  if ((std::isinf(a) || std::isinf(b)) && std::isfinite(c) && std::isfinite(d))
    return {INFINITY * (boxed(a) * c + boxed(b) * d), INFINITY * (boxed(b) * c - boxed(a) * d)};
  if (std::isinf(largestY) && std::isfinite(a) && std::isfinite(b))
    return {0.0 * (a * boxed(c) + b * boxed(d)), 0.0 * (b * boxed(c) - a * boxed(d))};
  return {re, im};
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
