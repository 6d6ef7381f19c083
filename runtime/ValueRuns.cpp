// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values as they are where their runs are dense, else copied as often as they are repeated.
#include "runtime/ValueRuns.h"

#include "runtime/ArrayLoops.h"
#include "runtime/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace toy::rt {

std::vector<int64_t> broadcastStrides(const Tensor &t, std::span<const int64_t> target) {
  std::vector<int64_t> strides(target.size(), 0);
  int64_t stride = 1;
  for (int64_t i = 1; i <= t.rank; ++i) {
    int64_t size = t.sizes[t.rank - i], to = target[target.size() - i];
    if (size != 1 && size != to)
      fail(DiagId::BroadcastRun,
           {fmt::format("[{}]", fmt::join(t.shape(), ", ")), fmt::format("[{}]", fmt::join(target, ", "))});
    strides[target.size() - i] = size == 1 ? 0 : stride;
    stride *= size;
  }
  return strides;
}

static int64_t product(std::span<const int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
}

/// Dense, whatever is repeated.
static TensorRef expanded(const Tensor &values, std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  TensorRef out(newTensor(values.dtype, sizes));
  int64_t count = out->count(), row = count ? sizes.back() : 1;
  dispatchWidth(values.dtype, [&](auto *type) {
    using E = std::remove_pointer_t<decltype(type)>;
    Watch watch;
    for (int64_t begin = 0; begin < count; begin += row, watch(row)) {
      const E *from = values.as<E>() + offsetOf(begin / row, sizes.first(sizes.size() - 1), strides);
      if (strides.back())
        std::copy_n(from, row, out->as<E>() + begin);
      else
        std::fill_n(out->as<E>() + begin, row, *from);
    }
  });
  return out;
}

ValueRuns::ValueRuns(const Tensor &values, std::span<const int64_t> sizes, int64_t inner)
    : data(values.as<char>()), step(inner * sizeOf(values.dtype)) {
  auto strides = broadcastStrides(values, sizes);
  int64_t all = product(sizes), count = values.count();
  if (count == all)
    return;
  size_t outerAxes = sizes.size();
  for (int64_t n = 1; outerAxes > 0 && n < inner;)
    n *= sizes[--outerAxes];
  bool repeats =
      std::all_of(strides.begin(), strides.begin() + static_cast<int64_t>(outerAxes), [](int64_t s) { return s == 0; });
  if (repeats && all > 0)
    step = 0;
  if (repeats && count == inner)
    return;
  auto first = repeats ? outerAxes : 0;
  if (first == sizes.size())
    return; // one element for runs of one
  copy = expanded(values, sizes.subspan(first), std::span(strides).subspan(first));
  data = copy->as<char>();
}

} // namespace toy::rt
