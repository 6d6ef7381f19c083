// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random tensors: every key has a number of its own, every element a counter.
#include "runtime/Random.h"

#include "runtime/Memory.h"
#include "runtime/Parallel.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

namespace toy::rt {

std::optional<Distribution> distributionNamed(std::string_view name) {
#define TOY_DISTRIBUTION(NAME, DTYPE, RESULT)                                                                          \
  if (name == #NAME)                                                                                                   \
    return Distribution::NAME;
#include "ir/Distributions.def"
  return std::nullopt;
}

static RandomKernels::Fill kernelFor(Distribution distribution, DType dtype) {
  static const RandomKernels random = TOY_KERNELS_OF_MACHINE(randomKernels);
  static const SampleKernels samples = TOY_KERNELS_OF_MACHINE(sampleKernels);
  bool isSingle = dtype == DType::F32;
  switch (distribution) {
  case Distribution::uniform:
    return isSingle ? random.uniformF32 : random.uniformF64;
  case Distribution::normal:
    return isSingle              ? random.normalF32
           : dtype == DType::F64 ? random.normalF64
           : dtype == DType::C64 ? random.normalC64
                                 : random.normalC128;
  case Distribution::exponential:
    return isSingle ? random.exponentialF32 : random.exponentialF64;
  case Distribution::gamma:
    return samples.gamma;
  case Distribution::poisson:
    return samples.poisson;
  case Distribution::binomial:
    return samples.binomial;
  case Distribution::integers:
    return samples.integers;
  }
  return nullptr;
}

TensorRef keyTensor(RandomKey key) {
  const int64_t sizes[] = {2};
  TensorRef out(newTensor(DType::I64, sizes));
  out->as<uint64_t>()[0] = key.seed;
  out->as<uint64_t>()[1] = key.call;
  return out;
}

RandomKey keyOf(const Tensor &key) {
  assert(key.dtype == DType::I64 && key.count() == 2);
  return {key.as<uint64_t>()[0], key.as<uint64_t>()[1]};
}

/// Elements [begin, end) of what a job makes.
static void fillAll(const RandomJob &job, RandomKernels::Fill kernel, int64_t begin, int64_t end) {
  struct Fill {
    const RandomJob &job;
    RandomKernels::Fill kernel;
    int64_t begin;
  } fill{job, kernel, begin};
  parallelFor(
      end - begin, 1 << 15,
      [](void *context, int64_t from, int64_t to) {
        auto &fill = *static_cast<Fill *>(context);
        fill.kernel(fill.job, fill.begin + from, fill.begin + to);
      },
      &fill);
}

TensorRef sample(RandomKey key, Distribution distribution, DType dtype, std::span<const int64_t> sizes, const Tensor &a,
                 const Tensor &b) {
  TensorRef out(newTensor(dtype, sizes));
  fillAll({key, out->data, a.data, b.data, a.rank > 0, b.rank > 0}, kernelFor(distribution, dtype), 0, out->count());
  return out;
}

namespace {

/// Numbers by their keys and counters. It holds no tensors, because it goes while the heap is locked.
struct SampledElements : ElementSource {
  SampledElements(RandomKey key, RandomKernels::Fill kernel, int64_t width, const Tensor &a, const Tensor &b)
      : key(key), kernel(kernel), width(width) {
    assert(a.rank == 0 && b.rank == 0);
    std::memcpy(parameters[0], a.data, sizeOf(a.dtype));
    std::memcpy(parameters[1], b.data, sizeOf(b.dtype));
  }

  void read(void *to, int64_t offset, int64_t bytes) override {
    // Element i is put at i of `data`.
    const RandomJob job = {key, static_cast<char *>(to) - offset, parameters[0], parameters[1]};
    fillAll(job, kernel, offset / width, (offset + bytes) / width);
  }
  int64_t readTogether() const override { return 16 * width; }

private:
  RandomKey key;
  RandomKernels::Fill kernel;
  int64_t width;
  alignas(8) char parameters[2][8]; ///< of f64 or i64
};

} // namespace

TensorRef sampleLate(RandomKey key, Distribution distribution, DType dtype, std::span<const int64_t> sizes,
                     const Tensor &a, const Tensor &b) {
  auto source = std::make_unique<SampledElements>(key, kernelFor(distribution, dtype), sizeOf(dtype), a, b);
  return TensorRef(newLateTensor(dtype, sizes, std::move(source)));
}

void draw(RandomKey key, Distribution distribution, DType dtype, const void *a, const void *b, void *to) {
  kernelFor(distribution, dtype)({key, to, a, b}, 0, 1);
}

/// Fisher and Yates from the front: the i-th is exchanged with one of those behind it. Where few of many are wanted,
/// only what has moved is kept.
TensorRef permutation(RandomKey key, int64_t n, int64_t count) {
  TensorRef out(newTensor(DType::I64, {&count, 1}));
  auto *to = out->as<int64_t>();
  const RandomKernels::Fill integers = kernelFor(Distribution::integers, DType::I64);
  constexpr int64_t block = 1024;
  std::vector<int64_t> from(block), chosen(block);
  auto exchange = [&](auto &&swap) {
    for (int64_t first = 0; first < count; first += block) {
      int64_t end = std::min(first + block, count);
      std::iota(from.begin(), from.end(), first);
      integers({key, chosen.data() - first, from.data() - first, &n, true, false}, first, end);
      for (int64_t i = first; i < end; ++i)
        swap(i, chosen[i - first]);
    }
  };
  if (count < n / 16) {
    std::unordered_map<int64_t, int64_t> moved(2 * count);
    exchange([&](int64_t i, int64_t j) {
      auto at = [&](int64_t k) {
        auto it = moved.find(k);
        return it == moved.end() ? k : it->second;
      };
      to[i] = at(j);
      moved[j] = at(i);
    });
  } else if (n <= INT32_MAX) { // half the memory to jump in
    std::vector<int32_t> apart(count < n ? n : 0);
    // Of all, they are where the second half of the result comes, each of which is written behind those still read.
    auto *order = count < n ? apart.data() : reinterpret_cast<int32_t *>(to) + n;
    std::iota(order, order + n, 0);
    exchange([&](int64_t i, int64_t j) { std::swap(order[i], order[j]); });
    for (int64_t i = 0; i < count; ++i) {
      int32_t chosen;
      std::memcpy(&chosen, order + i, sizeof chosen);
      to[i] = chosen;
    }
  } else {
    std::vector<int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    exchange([&](int64_t i, int64_t j) { std::swap(order[i], order[j]); });
    std::copy_n(order.begin(), count, to);
  }
  return out;
}

/// The key is mixed with a counter that no element has (its highest bit is set), the integers with what that gives.
TensorRef foldIn(RandomKey key, const Tensor &integers) {
  static const RandomKernels::Fill mix = TOY_KERNELS_OF_MACHINE(randomKernels).mix;
  std::vector<int64_t> sizes(integers.shape().begin(), integers.shape().end());
  sizes.push_back(2);
  TensorRef out(newTensor(DType::I64, sizes));
  const int64_t outside = INT64_MIN;
  int64_t inner[2];
  mix({key, inner, &outside}, 0, 1);
  mix({{static_cast<uint64_t>(inner[0]), static_cast<uint64_t>(inner[1])}, out->data, integers.data}, 0,
      integers.count());
  return out;
}

} // namespace toy::rt
