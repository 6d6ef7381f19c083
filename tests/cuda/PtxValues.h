// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the operations of PTX compute, for one thread. A register is a word of 64 bits, whatever its type.
#pragma once

#include "Ptx.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace ptx {

using Word = uint64_t;
using Half = _Float16;

/// A word's value of a type, and the other way round. Numbers smaller than a word leave zeros above.
template <typename T> T as(Word v) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(v);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(v);
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(static_cast<uint32_t>(v));
  else
    return std::bit_cast<T>(static_cast<uint16_t>(v));
}
template <typename T> Word wordOf(T x) {
  if constexpr (std::is_same_v<T, bool>)
    return x;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<std::make_unsigned_t<T>>(x);
  else if constexpr (sizeof(T) == 8)
    return std::bit_cast<Word>(x);
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<uint32_t>(x);
  else
    return std::bit_cast<uint16_t>(x);
}

inline Word truncated(Word v, unsigned bits) { return bits >= 64 ? v : v & ((Word(1) << bits) - 1); }
inline int64_t extended(Word v, unsigned bits) {
  return bits >= 64 ? static_cast<int64_t>(v) : static_cast<int64_t>(v << (64 - bits)) >> (64 - bits);
}

template <typename T> T least(T a, T b, bool nan) {
  if (std::isnan(a) || std::isnan(b))
    return nan ? std::numeric_limits<T>::quiet_NaN() : std::isnan(a) ? b : a;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

/// What a comparison finds, as a `Relation`.
template <typename T> unsigned relationOf(T x, T y) {
  return x < y ? Less : x == y ? Equal : x > y ? Greater : Unordered;
}

/// Integer division as a device does it, which has no faults.
template <typename T> T quotient(T a, T b) {
  if (b == 0)
    return static_cast<T>(~T(0));
  if (std::is_signed_v<T> && b == static_cast<T>(-1))
    return static_cast<T>(-static_cast<Word>(a));
  return static_cast<T>(a / b);
}
template <typename T> T remainder(T a, T b) {
  if (b == 0)
    return a;
  return std::is_signed_v<T> && b == static_cast<T>(-1) ? T(0) : static_cast<T>(a % b);
}

inline Word reversed(Word a, unsigned bits) {
  Word out = 0;
  for (unsigned k = 0; k < bits; ++k)
    out |= (a >> k & 1) << (bits - 1 - k);
  return out;
}

/// `length` bits from `start` on.
inline Word field(Word a, Word b, Word c, unsigned bits, bool isSigned) {
  unsigned start = b & 255, length = c & 255;
  if (length == 0)
    return 0;
  Word found = start >= bits ? 0 : truncated(a, bits) >> start;
  return isSigned ? static_cast<Word>(extended(found, std::min(length, bits)))
                  : truncated(found, std::min(length, 64u));
}

/// Four bytes chosen from two words, or their signs.
inline Word permuted(Word a, Word b, Word c) {
  Word wide = truncated(b, 32) << 32 | truncated(a, 32), out = 0;
  for (int k = 0; k < 4; ++k) {
    unsigned select = c >> (4 * k) & 15;
    Word byte = wide >> (8 * (select & 7)) & 255;
    if (select & 8)
      byte = byte & 128 ? 255 : 0;
    out |= byte << (8 * k);
  }
  return out;
}

/// shf: two words shifted as one.
inline Word funnel(Word a, Word b, Word c, unsigned flags) {
  Word wide = truncated(b, 32) << 32 | truncated(a, 32);
  unsigned by = flags & Clamp ? std::min<Word>(truncated(c, 32), 32) : c & 31;
  return truncated(flags & Left ? (wide << by) >> 32 : wide >> by, 32);
}

inline double rounded(double x, unsigned flags) {
  return flags & ToNearest ? std::nearbyint(x)
         : flags & ToZero  ? std::trunc(x)
         : flags & Down    ? std::floor(x)
         : flags & Up      ? std::ceil(x)
                           : x;
}

/// The nearest bf16 of a float, of two the even one; of any NaN the one that devices give.
inline Word nearestBrain(Word v) {
  auto bits = static_cast<uint32_t>(v);
  return std::isnan(as<float>(v)) ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

inline Word convert(const Instruction &i, Word v) {
  auto number = [&](auto x) {
    return i.bits == 64   ? wordOf(static_cast<double>(x))
           : i.bits == 32 ? wordOf(static_cast<float>(x))
                          : wordOf(static_cast<Half>(x));
  };
  if (i.fromKind == 'f') {
    double x = i.fromBits == 64 ? as<double>(v) : i.fromBits == 32 ? as<float>(v) : static_cast<float>(as<Half>(v));
    if (i.kind == 'f') {
      x = rounded(x, i.flags);
      return i.bits == 16 && i.fromBits != 64 ? wordOf(static_cast<Half>(static_cast<float>(x))) : number(x);
    }
    if (std::isnan(x))
      return i.kind == 's' && i.bits == 64 ? Word(1) << 63 : 0;
    x = rounded(x, i.flags);
    if (i.kind == 's') {
      double limit = std::ldexp(1.0, i.bits - 1);
      if (x >= limit)
        return truncated(i.bits == 64 ? INT64_MAX : (int64_t(1) << (i.bits - 1)) - 1, i.bits);
      if (x < -limit)
        return truncated(Word(1) << (i.bits - 1), i.bits);
      return truncated(static_cast<Word>(static_cast<int64_t>(x)), i.bits);
    }
    return x <= 0 ? 0 : x >= std::ldexp(1.0, i.bits) ? truncated(~Word(0), i.bits) : static_cast<Word>(x);
  }
  if (i.kind == 'f')
    return i.fromKind == 's' ? number(extended(v, i.fromBits)) : number(truncated(v, i.fromBits));
  // Registers are at least 32 bits wide: a narrow signed result is extended, as the hardware does.
  Word wide = i.fromKind == 's' ? static_cast<Word>(extended(v, i.fromBits)) : truncated(v, i.fromBits);
  return i.kind == 's' ? static_cast<Word>(extended(wide, i.bits)) : truncated(wide, i.bits);
}

} // namespace ptx
