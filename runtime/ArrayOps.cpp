// SPDX-License-Identifier: Apache-2.0
/// \file
/// Templates over the element width where only bytes move, over the element type where values count.
#include "runtime/ArrayOps.h"

#include "runtime/ArrayLoops.h"
#include "runtime/Error.h"
#include "runtime/Memory.h"
#include "runtime/Scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstring>

namespace toy::rt {
namespace {

int64_t positionAt(const Tensor &index, int64_t i) {
  switch (index.dtype) {
  case DType::U8:
    return index.as<uint8_t>()[i];
  case DType::I32:
    return index.as<int32_t>()[i];
  default:
    return index.as<int64_t>()[i];
  }
}

/// Strides of a tensor broadcast to more axes (0 where it is repeated).
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

/// Linear offset of a row-major index under other strides.
int64_t offsetOf(int64_t linear, std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  int64_t offset = 0;
  for (size_t axis = sizes.size(); axis-- > 0;) {
    offset += linear % sizes[axis] * strides[axis];
    linear /= sizes[axis];
  }
  return offset;
}

/// What a `take` reads or a `takeStore` writes: for each combination of positions a run of `inner` elements.
struct TakePlan {
  std::vector<int64_t> middle; ///< broadcast sizes of the indices
  std::vector<int64_t> resultSizes;
  int64_t outer = 1, count = 1, inner = 1, indexed = 1;
  std::vector<int64_t> rows; ///< for each position: which row of the indexed axes
};

TakePlan planTake(const Tensor &x, std::span<const Tensor *const> indices, int64_t firstAxis) {
  TakePlan plan;
  size_t rank = 0;
  for (const Tensor *index : indices)
    rank = std::max<size_t>(rank, index->rank);
  plan.middle.assign(rank, 1);
  for (const Tensor *index : indices)
    for (int64_t i = 1; i <= index->rank; ++i) {
      int64_t &known = plan.middle[rank - i];
      known = known == 1 ? index->sizes[index->rank - i] : known;
    }
  for (int64_t size : plan.middle)
    plan.count *= size;
  int64_t last = firstAxis + indices.size();
  for (int64_t axis = 0; axis < x.rank; ++axis)
    (axis < firstAxis ? plan.outer : axis < last ? plan.indexed : plan.inner) *= x.sizes[axis];
  plan.resultSizes.assign(x.sizes, x.sizes + firstAxis);
  plan.resultSizes.insert(plan.resultSizes.end(), plan.middle.begin(), plan.middle.end());
  plan.resultSizes.insert(plan.resultSizes.end(), x.sizes + last, x.sizes + x.rank);
  plan.rows.assign(plan.count, 0);
  for (size_t k = 0; k < indices.size(); ++k) {
    auto strides = broadcastStrides(*indices[k], plan.middle);
    int64_t size = x.sizes[firstAxis + k];
    Watch watch;
    for (int64_t i = 0; i < plan.count; ++i, watch())
      plan.rows[i] = plan.rows[i] * size +
                     checkIndex(positionAt(*indices[k], offsetOf(i, plan.middle, strides)), size, firstAxis + k);
  }
  return plan;
}

} // namespace

TensorRef nonzero(const Tensor &x) {
  std::vector<int64_t> hits;
  Watch watch;
  dispatch(x.dtype, [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    for (int64_t i = 0, n = x.count(); i < n; ++i, watch())
      if (x.as<T>()[i] != T(0))
        hits.push_back(i);
  });
  int64_t sizes[2] = {static_cast<int64_t>(hits.size()), x.rank};
  TensorRef out(newTensor(DType::I64, sizes));
  for (size_t i = 0; i < hits.size(); ++i, watch())
    for (int64_t axis = x.rank, rest = hits[i]; axis-- > 0; rest /= x.sizes[axis])
      out->as<int64_t>()[i * x.rank + axis] = rest % x.sizes[axis];
  return out;
}

TensorRef maskSelect(const Tensor &x, const Tensor &mask) {
  int64_t n = mask.count(),
          hits = std::count_if(mask.as<uint8_t>(), mask.as<uint8_t>() + n, [](uint8_t b) { return b != 0; });
  std::vector<int64_t> sizes = {hits};
  sizes.insert(sizes.end(), x.sizes + mask.rank, x.sizes + x.rank);
  TensorRef out(newTensor(x.dtype, sizes));
  int64_t row = (n ? x.count() / n : 0) * sizeOf(x.dtype);
  char *to = out->as<char>();
  Watch watch;
  for (int64_t i = 0; i < n; ++i, watch())
    if (mask.as<uint8_t>()[i]) {
      std::memcpy(to, x.as<char>() + i * row, row);
      to += row;
    }
  return out;
}

TensorRef maskStore(TensorRef x, const Tensor &mask, const Tensor &values) {
  TensorRef out(unique(x.take()));
  int64_t n = mask.count(),
          hits = std::count_if(mask.as<uint8_t>(), mask.as<uint8_t>() + n, [](uint8_t b) { return b != 0; });
  int64_t width = sizeOf(out->dtype), rowCount = n ? out->count() / n : 0, inner = out->rank - mask.rank;
  std::vector<int64_t> sizes = {hits};
  sizes.insert(sizes.end(), out->sizes + mask.rank, out->sizes + out->rank);
  if (values.rank == inner + 1 && values.sizes[0] != 1 && values.sizes[0] != hits)
    fail(DiagId::StoreCount, {std::to_string(values.sizes[0]), std::to_string(hits)});
  auto strides = broadcastStrides(values, sizes);
  Watch watch;
  for (int64_t i = 0, hit = 0; i < n; ++i, watch())
    if (mask.as<uint8_t>()[i]) {
      watch(rowCount);
      for (int64_t j = 0; j < rowCount; ++j)
        std::memcpy(out->as<char>() + (i * rowCount + j) * width,
                    values.as<char>() + offsetOf(hit * rowCount + j, sizes, strides) * width, width);
      ++hit;
    }
  return out;
}

TensorRef take(const Tensor &x, std::span<const Tensor *const> indices, int64_t firstAxis) {
  TakePlan plan = planTake(x, indices, firstAxis);
  TensorRef out(newTensor(x.dtype, plan.resultSizes));
  int64_t run = plan.inner * sizeOf(x.dtype);
  Watch watch;
  for (int64_t o = 0; o < plan.outer; ++o)
    for (int64_t i = 0; i < plan.count; ++i, watch(plan.inner))
      std::memcpy(out->as<char>() + (o * plan.count + i) * run, x.as<char>() + (o * plan.indexed + plan.rows[i]) * run,
                  run);
  return out;
}

TensorRef takeStore(TensorRef x, const Tensor &values, std::span<const Tensor *const> indices, int64_t firstAxis) {
  TakePlan plan = planTake(*x, indices, firstAxis);
  auto strides = broadcastStrides(values, plan.resultSizes);
  TensorRef out(unique(x.take()));
  int64_t width = sizeOf(out->dtype);
  Watch watch;
  for (int64_t o = 0; o < plan.outer; ++o)
    for (int64_t i = 0; i < plan.count; ++i, watch(plan.inner))
      for (int64_t j = 0; j < plan.inner; ++j)
        std::memcpy(out->as<char>() + ((o * plan.indexed + plan.rows[i]) * plan.inner + j) * width,
                    values.as<char>() +
                        offsetOf((o * plan.count + i) * plan.inner + j, plan.resultSizes, strides) * width,
                    width);
  return out;
}

/// Calls `f(offset in x, offset in index)` for every element of the index.
template <typename F> static void forEachAlong(const Tensor &x, const Tensor &index, int64_t axis, F &&f) {
  std::vector<int64_t> strides(x.rank, 1);
  for (int64_t i = x.rank - 1; i > 0; --i)
    strides[i - 1] = strides[i] * x.sizes[i];
  for (int64_t i = 0; i < x.rank; ++i)
    if (i != axis && index.sizes[i] > x.sizes[i])
      fail(DiagId::BroadcastRun,
           {fmt::format("[{}]", fmt::join(index.shape(), ", ")), fmt::format("[{}]", fmt::join(x.shape(), ", "))});
  Watch watch;
  for (int64_t i = 0, n = index.count(); i < n; ++i, watch()) {
    int64_t offset = 0, rest = i;
    for (int64_t a = x.rank; a-- > 0; rest /= index.sizes[a])
      offset +=
          (a == axis ? checkIndex(positionAt(index, i), x.sizes[axis], axis) : rest % index.sizes[a]) * strides[a];
    f(offset, i);
  }
}

TensorRef takeAlong(const Tensor &x, const Tensor &index, int64_t axis) {
  TensorRef out(newTensor(x.dtype, index.shape()));
  int64_t width = sizeOf(x.dtype);
  forEachAlong(x, index, axis, [&](int64_t from, int64_t to) {
    std::memcpy(out->as<char>() + to * width, x.as<char>() + from * width, width);
  });
  return out;
}

TensorRef putAlong(TensorRef x, const Tensor &index, const Tensor &values, int64_t axis) {
  TensorRef out(unique(x.take()));
  int64_t width = sizeOf(out->dtype);
  forEachAlong(*out, index, axis, [&](int64_t to, int64_t from) {
    std::memcpy(out->as<char>() + to * width, values.as<char>() + from * width, width);
  });
  return out;
}

} // namespace toy::rt
