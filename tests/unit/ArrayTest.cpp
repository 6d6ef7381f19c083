// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sorting, scans and indexing by data beside plain loops that compare or count.
#include "runtime/ArrayOps.h"
#include "runtime/SortKernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

using namespace toy;
using namespace toy::rt;

namespace {

/// What `argsort` promises, by comparing.
template <typename T> std::vector<int64_t> stableOrder(const std::vector<T> &x, bool descending) {
  std::vector<int64_t> at(x.size());
  std::iota(at.begin(), at.end(), 0);
  std::stable_sort(at.begin(), at.end(), [&](int64_t i, int64_t j) {
    if (x[i] != x[i] || x[j] != x[j])
      return x[i] == x[i] && x[j] != x[j];
    return descending ? x[j] < x[i] : x[i] < x[j];
  });
  return at;
}

/// Along the middle axis of [outer, n, inner], whose rows are cut from x.
template <typename T> void checkSort(DType dtype, const std::vector<T> &x, int64_t outer, int64_t n, int64_t inner) {
  int64_t sizes[] = {outer, n, inner};
  TensorRef t(newTensor(dtype, sizes));
  std::copy_n(x.begin(), outer * n * inner, t->as<T>());
  for (bool descending : {false, true}) {
    TensorRef values = rt::sort(*t, 1, descending), positions = rt::argsort(*t, 1, descending);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        std::vector<T> row(n);
        auto at = [&](int64_t k) { return (o * n + k) * inner + i; };
        for (int64_t k = 0; k < n; ++k)
          row[k] = x[at(k)];
        auto order = stableOrder(row, descending);
        for (int64_t k = 0; k < n; ++k) {
          ASSERT_EQ(positions->as<int64_t>()[at(k)], order[k]) << nameOf(dtype) << " " << n << " " << k;
          ASSERT_EQ(std::memcmp(values->as<T>() + at(k), &row[order[k]], sizeof(T)), 0) << nameOf(dtype) << " " << n;
        }
      }
  }
}

/// Rows that sorters have failed on: random, nearly equal, ascending, a saw, all different in low or in high bits,
/// and what has the same rank and other bits.
template <typename T> void checkSorts(DType dtype) {
  std::mt19937_64 random(static_cast<uint64_t>(dtype));
  auto bits = [&] {
    T v;
    uint64_t word = random();
    std::memcpy(&v, &word, sizeof v);
    return v;
  };
  std::vector<std::function<T(int64_t)>> kinds = {
      [&](int64_t) { return bits(); },
      [&](int64_t) { return T(random() % 3); },
      [&](int64_t i) { return T(i); },
      [&](int64_t i) { return T(-i); },
      [&](int64_t i) { return T(i % 64 == 0 ? 100 : i % 64); },
      [&](int64_t i) { return T(i == 5 ? std::numeric_limits<T>::lowest() : T(random() % 4096)); },
      [&](int64_t i) { return i % 2 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest(); },
  };
  if constexpr (std::is_floating_point_v<T>)
    kinds.push_back([&](int64_t) {
      const T some[] = {T(0), -T(0), INFINITY, -INFINITY, NAN, -NAN, std::numeric_limits<T>::denorm_min(), bits()};
      return some[random() % 8];
    });
  for (auto &kind : kinds) {
    for (int64_t n : {1,   2,   3,   7,   8,   9,   15,  16,   17,   31,   33,   64,    100,
                      127, 129, 255, 256, 257, 511, 513, 1000, 2047, 2048, 5000, 20000, 70000}) {
      std::vector<T> x(2 * n);
      for (int64_t i = 0; i < 2 * n; ++i)
        x[i] = kind(i % n);
      checkSort(dtype, x, 2, n, 1);
      if (n < 600)
        checkSort(dtype, x, 1, n, 2);
    }
    std::vector<T> x(5 * 40 * 37);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = kind(i);
    checkSort(dtype, x, 5, 40, 37);
  }
}

/// The kernels of instruction sets that this machine has.
template <typename Key> void checkKernels(const SortKernels<Key> &kernels) {
  std::mt19937_64 random(3);
  for (int64_t n : {1, 5, 33, 200, 513, 3000, 40000})
    for (int bits : {1, 9, 30, static_cast<int>(8 * sizeof(Key))}) {
      std::vector<Key> x(n), scratch(n);
      for (Key &v : x)
        v = static_cast<Key>(random() >> (64 - bits)) - 3;
      std::vector<Key> sorted = x, digits = x;
      std::sort(sorted.begin(), sorted.end());
      kernels.sortBits(digits.data(), n, scratch.data(), std::numeric_limits<Key>::min(), 0, 8 * sizeof(Key));
      kernels.sort(x.data(), n, scratch.data());
      EXPECT_EQ(x, sorted) << n << " " << bits;
      EXPECT_EQ(digits, sorted) << n << " " << bits;
    }
}

} // namespace

TEST(Sort, AsStableSortByComparing) {
  checkSorts<uint8_t>(DType::U8);
  checkSorts<int32_t>(DType::I32);
  checkSorts<int64_t>(DType::I64);
  checkSorts<float>(DType::F32);
  checkSorts<double>(DType::F64);
}

TEST(Sort, EveryInstructionSet) {
  checkKernels(baseline::sortKernels32());
  checkKernels(baseline::sortKernels64());
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) {
    checkKernels(avx2::sortKernels32());
    checkKernels(avx2::sortKernels64());
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) {
    checkKernels(avx512::sortKernels32());
    checkKernels(avx512::sortKernels64());
  }
#endif
}
