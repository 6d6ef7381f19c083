// SPDX-License-Identifier: Apache-2.0
/// \file
/// The 16-bit storage types: f16 (IEEE binary16) and bf16 (the upper half of binary32). They are computed with in f32;
/// these are the conversions.
#pragma once

#include "support/DType.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace toy {

constexpr bool isHalf(DType d) { return d == DType::BF16 || d == DType::F16; }

/// The value of the bits of a half; exact.
inline float fromHalf(DType dtype, uint16_t bits) {
  if (dtype == DType::F16) {
    int exponent = (bits >> 10) & 31, fraction = bits & 1023;
    if (exponent != 31) {
      float magnitude = exponent ? std::ldexp(1024.0f + static_cast<float>(fraction), exponent - 25)
                                 : std::ldexp(static_cast<float>(fraction), -24);
      return bits & 0x8000 ? -magnitude : magnitude;
    }
  }
  uint32_t word = dtype == DType::BF16 ? uint32_t(bits) << 16
                                       : uint32_t(bits & 0x8000) << 16 | 0x7f800000u | uint32_t(bits & 1023) << 13;
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}

/// The nearest half, ties to even, with one rounding; overflow gives infinity, NaN keeps its sign and upper payload and
/// becomes quiet.
inline uint16_t toHalf(DType dtype, double value) {
  int digits = dtype == DType::F16 ? 11 : 8, least = dtype == DType::F16 ? -24 : -133,
      most = dtype == DType::F16 ? 16 : 128;
  uint64_t word;
  std::memcpy(&word, &value, 8);
  uint16_t sign = static_cast<uint16_t>(word >> 48 & 0x8000), infinity = dtype == DType::F16 ? 0x7c00 : 0x7f80;
  if (std::isnan(value)) {
    int fractionBits = digits - 1;
    return sign | infinity | uint16_t(1) << (fractionBits - 1) |
           static_cast<uint16_t>(word >> (52 - fractionBits) & ((1u << fractionBits) - 1));
  }
  double magnitude = std::fabs(value);
  if (magnitude == 0 || std::isinf(value))
    return sign | (magnitude != 0 ? infinity : uint16_t(0));
  int exponent = std::ilogb(magnitude);
  int unit = std::max(exponent - digits + 1, least); // exponent of the last kept digit
  double scaled = std::nearbyint(std::ldexp(magnitude, -unit));
  // Subnormal or normal, the integer of the digits plus the exponent above it is the encoding: a carry moves into the
  // exponent by itself.
  uint32_t encoded = static_cast<uint32_t>(scaled) + (static_cast<uint32_t>(unit - least) << (digits - 1));
  if (exponent >= most || encoded > infinity)
    encoded = infinity;
  return sign | static_cast<uint16_t>(encoded);
}

} // namespace toy
