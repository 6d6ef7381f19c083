// SPDX-License-Identifier: Apache-2.0
/// \file
/// Promotion of element types.
#include "support/DType.h"

#include <algorithm>

namespace toy {

/// Bits of a floating or complex dtype's parts; 0 for integers and bool, which never widen a float.
static int precisionOf(DType d) {
  switch (realOf(d)) {
  case DType::BF16:
  case DType::F16:
    return 16;
  case DType::F32:
    return 32;
  case DType::F64:
    return 64;
  default:
    return 0;
  }
}

static DType withPrecision(DKind kind, int bits, DType narrow) {
  if (kind == DKind::Complex)
    return bits == 64 ? DType::C128 : DType::C64;
  return bits == 64 ? DType::F64 : bits == 32 ? DType::F32 : narrow;
}

DType promote(PromotionOperand a, PromotionOperand b) {
  if (a.dtype == b.dtype)
    return a.dtype;
  DKind ka = kindOf(a.dtype), kb = kindOf(b.dtype), kind = std::max(ka, kb);
  // A rank-0 operand beside a ranked one of the same or higher kind, and a literal beside anything of its kind, do not
  // widen.
  if (ka == kb && a.weak != b.weak)
    return a.weak ? b.dtype : a.dtype;
  if (!a.weak && !b.weak && a.ranked != b.ranked) {
    const PromotionOperand &ranked = a.ranked ? a : b, &scalar = a.ranked ? b : a;
    if (kindOf(ranked.dtype) >= kindOf(scalar.dtype))
      return ranked.dtype;
    if (kindOf(ranked.dtype) == DKind::Float) // complex scalar beside a real tensor: the tensor's precision
      return complexOf(ranked.dtype);
  }
  if (kind <= DKind::Int)
    return std::max(a.dtype, b.dtype);
  int bits = 0;
  DType narrow = DType::F32;
  for (const PromotionOperand *o : {&a, &b})
    if (int p = precisionOf(o->dtype); p && !(o->weak && precisionOf((o == &a ? b : a).dtype))) {
      if (p == 16)
        narrow = bits == 16 && narrow != o->dtype ? DType::F32 : o->dtype;
      bits = std::max(bits, p);
    }
  return withPrecision(kind, bits ? bits : 64, narrow);
}

} // namespace toy
