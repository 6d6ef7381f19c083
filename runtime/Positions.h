// SPDX-License-Identifier: Apache-2.0
/// \file
/// Positions that a tensor of integers holds: checked and scaled some at a time.
#pragma once

#include "runtime/IntegerKernels.h"
#include "runtime/Isa.h"
#include "runtime/Value.h"

#include <type_traits>

namespace toy::rt {

inline constexpr int64_t blockSize = 1 << 10, grain = 1 << 15;

/// Calls f(typed elements) of an index.
template <typename F> auto withPositions(const Tensor &index, F f) {
  switch (index.dtype) {
  case DType::U8:
    return f(index.as<uint8_t>());
  case DType::I32:
    return f(index.as<int32_t>());
  default:
    return f(index.as<int64_t>());
  }
}

inline const PositionKernels &positionKernels() {
  static const PositionKernels kernels = TOY_KERNELS_OF_MACHINE(positionKernels);
  return kernels;
}
template <typename P>
bool addPositions(const P *from, int64_t step, int64_t n, int64_t size, int64_t scale, int64_t *rows) {
  const PositionKernels &kernels = positionKernels();
  if constexpr (std::is_same_v<P, uint8_t>)
    return kernels.ofU8(from, step, n, size, scale, rows);
  else if constexpr (std::is_same_v<P, int32_t>)
    return kernels.ofI32(from, step, n, size, scale, rows);
  else
    return kernels.ofI64(from, step, n, size, scale, rows);
}

template <typename P> bool areInside(const P *positions, int64_t n, int64_t size) {
  const PositionKernels &kernels = positionKernels();
  if constexpr (std::is_same_v<P, uint8_t>)
    return kernels.insideU8(positions, n, size);
  else if constexpr (std::is_same_v<P, int32_t>)
    return kernels.insideI32(positions, n, size);
  else
    return kernels.insideI64(positions, n, size);
}

} // namespace toy::rt
