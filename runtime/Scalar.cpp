// SPDX-License-Identifier: Apache-2.0
/// \file
/// Checked integer and floor operations.
#include "runtime/Scalar.h"

#include "runtime/Error.h"

#include <cmath>

namespace toy::rt {

int64_t floorDivide(int64_t a, int64_t b) {
  if (b == 0)
    fail(DiagId::DivisionByZero);
  if (b == -1)
    return static_cast<int64_t>(-static_cast<uint64_t>(a));
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t floorModulo(int64_t a, int64_t b) {
  if (b == 0)
    fail(DiagId::DivisionByZero);
  if (b == -1)
    return 0;
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

int64_t integerPower(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1 || base == -1)
      return exponent % 2 ? base : 1;
    fail(DiagId::NegativePower);
  }
  uint64_t result = 1, factor = base;
  for (; exponent; exponent >>= 1, factor *= factor)
    if (exponent & 1)
      result *= factor;
  return static_cast<int64_t>(result);
}

double floorModulo(double a, double b) {
  double r = std::fmod(a, b);
  if (r == 0)
    return std::copysign(0.0, b);
  return (r < 0) != (b < 0) ? r + b : r;
}

double floorDivide(double a, double b) {
  double r = std::fmod(a, b);
  if (b == 0 || std::isinf(a) || std::isnan(r))
    return b == 0 ? a / b : std::isinf(a) ? NAN : a / b;
  double q = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0))
    q -= 1;
  if (q == 0)
    return std::copysign(0.0, a / b);
  double f = std::floor(q);
  return q - f > 0.5 ? f + 1 : f;
}

int64_t checkIndex(int64_t index, int64_t size, int64_t axis) {
  if (index < -size || index >= size)
    fail(DiagId::IndexRange, {std::to_string(index), std::to_string(axis), std::to_string(size)});
  return index < 0 ? index + size : index;
}

} // namespace toy::rt
