// SPDX-License-Identifier: Apache-2.0
/// \file
/// Complex matrix products of planar operands: real and imaginary parts are matrices of their own.
#pragma once

#include "runtime/Blas.h"

#include <optional>
#include <string_view>
#include <utility>

namespace toy::rt {

/// Auto: four real products, whose sums those of complex matrices are. Native: interleaved first. Gauss: three real
/// products; small parts beside large ones lose their digits (the error is relative to the norm, not to the part).
/// Small products (rule 13) sum complex products; where the program itself has the sums of the four real ones,
/// AutoParts keeps those, and is Auto otherwise.
enum class ComplexProduct : uint8_t { Auto, Native, FourReal, Gauss, AutoParts };

/// `auto`, `native`, `four-real`, `gauss`, `auto-parts`.
std::string_view nameOf(ComplexProduct strategy);
std::optional<ComplexProduct> complexProductNamed(std::string_view name);
/// What Auto or AutoParts means for a size.
ComplexProduct strategyFor(ComplexProduct automatic, int64_t m, int64_t n, int64_t k);

struct PlanarOperand {
  StridedView re, im;
  bool conjugated;
};

/// The parts of `x @ y` with NumPy's rank rules, f32 or f64. `used` becomes the strategy that ran.
std::pair<TensorRef, TensorRef> planarMatmul(const PlanarOperand &x, const PlanarOperand &y, ComplexProduct strategy,
                                             ComplexProduct &used);

} // namespace toy::rt
