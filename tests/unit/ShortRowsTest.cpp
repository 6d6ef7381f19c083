// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of a few elements, many at once: the kernels of every instruction set that this machine has.
#include "runtime/FourierKernels.h"
#include "runtime/Isa.h"
#include "runtime/SortKernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

namespace toy::rt {
namespace {

constexpr int64_t rows = 77;

/// Rows of n values in a lane each, dense and apart, beside a sort of their positions that is stable.
template <typename T, typename Key>
void checkRows(const std::vector<T> &values, int64_t n, bool isDense, bool descending, auto sort, auto order) {
  const int64_t stride = isDense ? 1 : rows;
  std::vector<Key> bits(values.size()), sorted(values.size());
  std::vector<int64_t> positions(values.size());
  std::transform(values.begin(), values.end(), bits.begin(), [](T v) { return std::bit_cast<Key>(v); });
  sort(bits.data(), sorted.data(), n, stride, rows, descending);
  order(bits.data(), positions.data(), n, stride, rows, descending);
  for (int64_t row = 0; row < rows; ++row) {
    auto at = [&](int64_t k) { return isDense ? row * n + k : k * rows + row; };
    std::vector<int64_t> expected(n);
    std::iota(expected.begin(), expected.end(), int64_t(0));
    std::sort(expected.begin(), expected.end(), [&](int64_t i, int64_t j) {
      T a = values[at(i)], b = values[at(j)];
      if (a == b || (a != a && b != b))
        return i < j;
      return a != a || b != b ? a == a : descending ? a > b : a < b;
    });
    for (int64_t k = 0; k < n; ++k) {
      ASSERT_EQ(positions[at(k)], expected[k]) << n << " " << isDense << " " << descending;
      ASSERT_EQ(sorted[at(k)], bits[at(expected[k])]) << n << " " << isDense << " " << descending;
    }
  }
}

template <typename Key, typename Float> void checkSorts(const SortKernels<Key> &kernels) {
  std::mt19937_64 random(5);
  const Float special[] = {0, Float(-0.0), 1, -1, NAN, Float(-NAN), INFINITY, -INFINITY, Float(2.5)};
  for (int64_t n = 1; n <= shortRow; ++n)
    for (bool isDense : {true, false})
      for (bool descending : {true, false}) {
        std::vector<Float> floats(n * rows);
        std::vector<Key> integers(n * rows);
        for (Float &v : floats)
          v = special[random() % std::size(special)];
        for (Key &v : integers)
          v = random() % 3 ? static_cast<Key>(random()) : static_cast<Key>(random() % 4);
        checkRows<Float, Key>(floats, n, isDense, descending, kernels.sortShortFloats, kernels.orderShortFloats);
        checkRows<Key, Key>(integers, n, isDense, descending, kernels.sortShortIntegers, kernels.orderShortIntegers);
      }
}

/// Longer rows in lanes. Of floats, groups that have a -0 or a NaN are left to others.
template <typename Key, typename Float> void checkLaneSorts(const SortKernels<Key> &kernels) {
  std::mt19937_64 random(11);
  for (int64_t n = 1; n <= kernels.mostInLanes; ++n)
    for (bool isDense : {true, false})
      for (bool descending : {true, false}) {
        const int64_t stride = isDense ? 1 : rows;
        std::vector<Float> floats(n * rows);
        std::vector<Key> integers(n * rows);
        std::vector<uint8_t> bytes(n * rows);
        for (Float &v : floats)
          v = random() % 4 ? static_cast<Float>(static_cast<int>(random() % 2001) - 1000) / 8 : -INFINITY;
        for (Float &v : floats)
          v = v == 0 ? 0 : v;
        for (Key &v : integers)
          v = random() % 3 ? static_cast<Key>(random()) : static_cast<Key>(random() % 4);
        for (uint8_t &v : bytes)
          v = static_cast<uint8_t>(random() % 3 ? random() : 7);
        auto whole = [](auto kernel) {
          return [kernel](auto *from, auto *to, int64_t n, int64_t stride, int64_t count, bool descending) {
            ASSERT_EQ(kernel(from, to, n, stride, count, descending), count);
          };
        };
        checkRows<Float, Key>(floats, n, isDense, descending, whole(kernels.sortRowsOfFloats),
                              whole(kernels.orderRowsOfFloats));
        checkRows<Key, Key>(integers, n, isDense, descending, whole(kernels.sortRowsOfIntegers),
                            whole(kernels.orderRowsOfIntegers));
        checkRows<uint8_t, uint8_t>(bytes, n, isDense, descending, whole(kernels.sortRowsOfBytes),
                                    whole(kernels.orderRowsOfBytes));
        // In a group between others, and in place.
        floats[isDense ? 40 * n : 40] = random() % 2 ? Float(-0.0) : Float(NAN);
        std::vector<Key> bits(n * rows);
        std::transform(floats.begin(), floats.end(), bits.begin(), [](Float v) { return std::bit_cast<Key>(v); });
        EXPECT_EQ(kernels.sortRowsOfFloats(bits.data(), bits.data(), n, stride, rows, descending),
                  40 / kernels.rowsAtOnce * kernels.rowsAtOnce);
        EXPECT_TRUE(std::equal(bits.end() - 1, bits.end(), reinterpret_cast<Key *>(&floats.back())));
      }
}

/// What real rows become and what becomes of that, in all layouts, one behind the other.
template <typename R> std::vector<R> transforms(const FourierKernels<R> &kernels) {
  std::mt19937_64 random(7);
  std::normal_distribution<R> normal;
  std::vector<R> all;
  for (int64_t points : {4, 8, 16, 32}) {
    const int64_t half = points / 2 + 1;
    std::vector<R> forwards, backwards;
    for (int64_t k = 0; k <= points / 4; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(points);
      const R re = static_cast<R>(std::cos(angle)), im = static_cast<R>(std::sin(angle));
      forwards.insert(forwards.end(), {-im / 2, -re / 2});
      backwards.insert(backwards.end(), {-im, re});
    }
    std::vector<R> x(rows * points), there(rows * half * 2), back(rows * points);
    std::generate(x.begin(), x.end(), [&] { return normal(random); });
    for (int64_t own : {points, points - 3}) {
      kernels.shortRealRows(x.data(), there.data(), {points, own, rows, points, 1, half, 1, false}, forwards.data(), 1);
      kernels.shortRealRows(there.data(), back.data(), {points, half, rows, half, 1, points, 1, true}, backwards.data(),
                            R(1) / points);
      for (int64_t i = 0; i < rows * points; ++i)
        EXPECT_NEAR(back[i], i % points < own ? x[i] : 0, 40 * std::numeric_limits<R>::epsilon());
      all.insert(all.end(), there.begin(), there.end());
      all.insert(all.end(), back.begin(), back.end());
    }
    // Element k of row i at k * rows + i.
    kernels.shortRealRows(x.data(), there.data(), {points, points, rows, 1, rows, 1, rows, false}, forwards.data(), 2);
    kernels.shortRealRows(there.data(), back.data(), {points, half, rows, 1, rows, 1, rows, true}, backwards.data(), 1);
    all.insert(all.end(), there.begin(), there.end());
    all.insert(all.end(), back.begin(), back.end());
  }
  return all;
}

} // namespace

TEST(ShortRows, AreSortedByEveryInstructionSet) {
  checkSorts<int32_t, float>(baseline::sortKernels32());
  checkLaneSorts<int32_t, float>(baseline::sortKernels32());
  checkSorts<int64_t, double>(baseline::sortKernels64());
  checkLaneSorts<int64_t, double>(baseline::sortKernels64());
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    checkSorts<int32_t, float>(avx2::sortKernels32());
    checkLaneSorts<int32_t, float>(avx2::sortKernels32());
    checkSorts<int64_t, double>(avx2::sortKernels64());
    checkLaneSorts<int64_t, double>(avx2::sortKernels64());
  }
  if (machineIsa() == Isa::Avx512) {
    checkSorts<int32_t, float>(avx512::sortKernels32());
    checkLaneSorts<int32_t, float>(avx512::sortKernels32());
    checkSorts<int64_t, double>(avx512::sortKernels64());
    checkLaneSorts<int64_t, double>(avx512::sortKernels64());
  }
#endif
}

TEST(ShortRows, AreTransformedByEveryInstructionSet) {
  const auto single = transforms(baseline::fourierKernelsF32());
  const auto wide = transforms(baseline::fourierKernelsF64());
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    EXPECT_EQ(single, transforms(avx2::fourierKernelsF32()));
    EXPECT_EQ(wide, transforms(avx2::fourierKernelsF64()));
  }
  if (machineIsa() == Isa::Avx512) {
    EXPECT_EQ(single, transforms(avx512::fourierKernelsF32()));
    EXPECT_EQ(wide, transforms(avx512::fourierKernelsF64()));
  }
#endif
}

} // namespace toy::rt
