// SPDX-License-Identifier: Apache-2.0
/// \file
/// Scalar operations that need a check or more than one instruction; compiled code and the reference evaluator call the
/// same ones.
#pragma once

#include <cstdint>

namespace toy::rt {

/// Floor division and remainder; divisor 0 is an error, the most negative value by -1 wraps.
int64_t floorDivide(int64_t a, int64_t b);
int64_t floorModulo(int64_t a, int64_t b);
/// Repeated multiplication modulo 2^64; a negative exponent is an error (except of 1 and -1).
int64_t integerPower(int64_t base, int64_t exponent);
/// Python's floor division and remainder of floats: exact remainder with the divisor's sign.
double floorDivide(double a, double b);
double floorModulo(double a, double b);
/// Index from the front; throws when outside.
int64_t checkIndex(int64_t index, int64_t size, int64_t axis);

} // namespace toy::rt
