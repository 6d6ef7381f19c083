// SPDX-License-Identifier: Apache-2.0
/// \file
/// The element types of the language, their kinds, sizes and promotion. Shared by every phase and the runtime.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace toy {

enum class DType : uint8_t { Bool, U8, I32, I64, BF16, F16, F32, F64, C64, C128 };
inline constexpr int numDTypes = 10;

/// Kinds in promotion order: bool < int < float < complex.
enum class DKind : uint8_t { Bool, Int, Float, Complex };

constexpr DKind kindOf(DType d) {
  return d == DType::Bool  ? DKind::Bool
         : d <= DType::I64 ? DKind::Int
         : d <= DType::F64 ? DKind::Float
                           : DKind::Complex;
}
constexpr bool isComplex(DType d) { return d >= DType::C64; }
constexpr bool isFloat(DType d) { return kindOf(d) == DKind::Float; }
constexpr bool isInteger(DType d) { return kindOf(d) == DKind::Int; }

/// Bytes of one element.
constexpr int64_t sizeOf(DType d) {
  constexpr int64_t bytes[numDTypes] = {1, 1, 4, 8, 2, 2, 4, 8, 8, 16};
  return bytes[static_cast<int>(d)];
}

/// The dtype of the real part (c64 -> f32, c128 -> f64); reals map to themselves.
constexpr DType realOf(DType d) { return d == DType::C64 ? DType::F32 : d == DType::C128 ? DType::F64 : d; }

/// The complex dtype holding a real dtype's values: f32 and narrower floats -> c64, everything else -> c128.
constexpr DType complexOf(DType d) {
  if (isComplex(d))
    return d;
  return d == DType::F32 || d == DType::F16 || d == DType::BF16 ? DType::C64 : DType::C128;
}

constexpr std::string_view nameOf(DType d) {
  constexpr std::string_view names[numDTypes] = {"bool", "u8",  "i32", "i64", "bf16",
                                                 "f16",  "f32", "f64", "c64", "c128"};
  return names[static_cast<int>(d)];
}

constexpr std::optional<DType> dtypeNamed(std::string_view name) {
  for (int i = 0; i < numDTypes; ++i)
    if (nameOf(static_cast<DType>(i)) == name)
      return static_cast<DType>(i);
  return std::nullopt;
}

/// Whether a value takes part in promotion with its rank (a rank-0 operand never widens a ranked one of the same or
/// higher kind).
struct PromotionOperand {
  DType dtype;
  bool ranked = true;
  bool weak = false; ///< a literal: gives its kind, never its precision
};

/// The common dtype of two operands: kind = the higher kind; precision = the highest among floating operands that may
/// widen (integers, literals, and rank-0 operands beside a ranked one of the same or higher kind may not).
DType promote(PromotionOperand a, PromotionOperand b);

} // namespace toy
