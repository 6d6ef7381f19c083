// SPDX-License-Identifier: Apache-2.0
/// \file
/// The machine's kernels for small matrices, by element type.
#pragma once

#include "runtime/SmallMatrixKernels.h"

#include <complex>
#include <cstdint>
#include <type_traits>

namespace toy::rt {

/// A table's kernels for an element type.
template <typename T, typename Table> const auto &kernelsFor(const Table &table) {
  if constexpr (std::is_same_v<T, float>)
    return table.f32;
  else if constexpr (std::is_same_v<T, double>)
    return table.f64;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return table.c64;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return table.c128;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return table.i32;
  else
    return table.i64;
}

template <typename T> const SmallMatrixKernels &smallMatrices() {
  static const SmallMatrixTable table = TOY_KERNELS_OF_MACHINE(smallMatrixKernels);
  return kernelsFor<T>(table);
}

template <typename T> const SmallSpectrumKernels &smallSpectra() {
  static const SmallSpectrumTable table = TOY_KERNELS_OF_MACHINE(smallSpectrumKernels);
  return kernelsFor<T>(table);
}

} // namespace toy::rt
