// SPDX-License-Identifier: Apache-2.0
/// \file
/// What loops over the elements of tensors share.
#pragma once

#include "runtime/Parallel.h"
#include "runtime/Value.h"

#include <array>
#include <complex>

namespace toy::rt {

/// Calls `f` with a null pointer of the dtype's C++ type.
template <typename F> auto dispatch(DType dtype, F &&f) {
  switch (dtype) {
  case DType::Bool:
  case DType::U8:
    return f(static_cast<uint8_t *>(nullptr));
  case DType::BF16:
  case DType::F16:
    return f(static_cast<uint16_t *>(nullptr)); // moved only
  case DType::I32:
    return f(static_cast<int32_t *>(nullptr));
  case DType::F32:
    return f(static_cast<float *>(nullptr));
  case DType::F64:
    return f(static_cast<double *>(nullptr));
  case DType::C64:
    return f(static_cast<std::complex<float> *>(nullptr));
  case DType::C128:
    return f(static_cast<std::complex<double> *>(nullptr));
  default:
    return f(static_cast<int64_t *>(nullptr));
  }
}

/// Calls `f` with a null pointer of a type as wide as the dtype's elements, which are only moved.
template <typename F> auto dispatchWidth(DType dtype, F &&f) {
  switch (sizeOf(dtype)) {
  case 1:
    return f(static_cast<uint8_t *>(nullptr));
  case 2:
    return f(static_cast<uint16_t *>(nullptr));
  case 4:
    return f(static_cast<uint32_t *>(nullptr));
  case 8:
    return f(static_cast<uint64_t *>(nullptr));
  default:
    return f(static_cast<std::array<uint64_t, 2> *>(nullptr));
  }
}

/// Linear offset of a row-major index under other strides.
inline int64_t offsetOf(int64_t linear, std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  int64_t offset = 0;
  for (size_t axis = sizes.size(); axis-- > 0;) {
    offset += linear % sizes[axis] * strides[axis];
    linear /= sizes[axis];
  }
  return offset;
}

/// A tensor seen from one axis: `outer` blocks of `size` rows of `inner` elements; no blocks where there are no
/// elements.
struct AxisView {
  int64_t outer = 1, size, inner = 1;
  AxisView(const Tensor &t, int64_t axis) : size(t.sizes[axis]) {
    if (t.count() == 0) {
      outer = inner = 0;
      return;
    }
    for (int64_t i = 0; i < axis; ++i)
      outer *= t.sizes[i];
    for (int64_t i = axis + 1; i < t.rank; ++i)
      inner *= t.sizes[i];
  }
};

/// Looks for Ctrl-C now and then: told of every element that a loop has done.
class Watch {
public:
  void operator()(int64_t elements = 1) {
    if ((left -= elements) < 0) {
      left = often;
      poll();
    }
  }

private:
  static constexpr int64_t often = 1 << 18;
  int64_t left = often;
};

} // namespace toy::rt
