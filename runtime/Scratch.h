// SPDX-License-Identifier: Apache-2.0
/// \file
/// Room for intermediate values.
#pragma once

#include "runtime/Apart.h"
#include "runtime/Value.h"

#include <array>

namespace toy::rt {

/// Room for elements, not initialised, which counts against the limit as a tensor's and begins at 64 bytes. Any thread
/// may make it: nobody frees it but its owner.
template <typename T> class Scratch {
public:
  explicit Scratch(int64_t count) {
    Unlisted unlisted;
    words = TensorRef(newTensor(DType::I64, std::array{(count * width + 7) / 8}));
  }
  T *data() const { return words->as<T>(); }

private:
  static constexpr int64_t width = sizeof(T);
  TensorRef words;
};

} // namespace toy::rt
