// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values that are stored run by run.
#pragma once

#include "runtime/Value.h"

#include <vector>

namespace toy::rt {

/// Strides of a tensor broadcast to more axes (0 where it is repeated); throws where that is not possible.
std::vector<int64_t> broadcastStrides(const Tensor &t, std::span<const int64_t> target);

/// A tensor broadcast to `sizes`, seen as runs of `inner` elements, which are the last axes.
class ValueRuns {
public:
  ValueRuns(const Tensor &values, std::span<const int64_t> sizes, int64_t inner);
  const char *run(int64_t i) const { return data + i * step; }

private:
  const char *data;
  int64_t step; ///< bytes from one run to the next; 0 where all are the same
  TensorRef copy;
};

} // namespace toy::rt
