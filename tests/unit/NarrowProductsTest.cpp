// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products by a few vectors: the order of sums of rule 12, written out, on every instruction set, for rows and vectors
/// alone and together, of matrices that lie by rows, by columns and apart, and for long sums that threads share.
#include "runtime/NarrowProducts.h"
#include "runtime/ColumnKernels.h"
#include "runtime/FewRowsKernels.h"
#include "runtime/Isa.h"
#include "runtime/NarrowKernels.h"
#include "runtime/Parallel.h"
#include "tests/unit/Drawn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

namespace toy::rt {
namespace {

template <typename T> std::vector<NarrowKernels<T>> tables() {
  constexpr bool isSingle = std::is_same_v<T, float>;
  auto of = [](auto single, auto twice) {
    if constexpr (isSingle)
      return single();
    else
      return twice();
  };
  std::vector<NarrowKernels<T>> all = {of(baseline::narrowKernelsF32, baseline::narrowKernelsF64)};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.push_back(of(avx2::narrowKernelsF32, avx2::narrowKernelsF64));
  if (machineIsa() == Isa::Avx512)
    all.push_back(of(avx512::narrowKernelsF32, avx512::narrowKernelsF64));
#endif
  return all;
}

/// Blocks of 8192 in order; in a block, element j goes to lane j mod 32, and lanes are combined by halving.
template <typename T> T sumOfProducts(const T *a, const T *x, int64_t n) {
  T all = 0;
  for (int64_t begin = 0; begin < n; begin += 8192) {
    T lanes[32] = {};
    for (int64_t j = begin; j < std::min(n, begin + 8192); ++j)
      lanes[(j - begin) % 32] += a[j] * x[j];
    for (int half = 16; half > 0; half /= 2)
      for (int i = 0; i < half; ++i)
        lanes[i] += lanes[i + half];
    all = begin == 0 ? lanes[0] : all + lanes[0];
  }
  return all;
}

template <typename T> class NarrowProductsTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(NarrowProductsTest, Types);

TYPED_TEST(NarrowProductsTest, RowsSumInLanes) {
  using T = TypeParam;
  for (int64_t k : {1, 31, 32, 33, 63, 100, 8192, 8193, 17000})
    for (int64_t count : {1, 2, 3, 4, 7, 8}) {
      constexpr int64_t rows = 7;
      const int64_t stride = k + 3;
      const auto a = drawn<T>(rows * stride), x = drawn<T>(count * k), before = drawn<T>(rows * count);
      for (const NarrowKernels<T> &kernels : tables<T>()) {
        auto c = before;
        NarrowProduct<T> plain{k, a.data(), stride, x.data(), k, count, c.data(), count, 1, 1, 0, 0};
        kernels.rows(plain, 0, 3);
        NarrowProduct<T> added = plain; // the rows from the third on
        added.alpha = T(-1.5);
        added.beta = 1;
        kernels.rows(added, 3, rows);
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < count; ++j) {
            const T sum = sumOfProducts(a.data() + i * stride, x.data() + j * k, k);
            const T expected = i < 3 ? sum : T(-1.5) * sum + before[i * count + j];
            ASSERT_EQ(std::memcmp(&expected, &c[i * count + j], sizeof(T)), 0) << k << " " << count << " " << i;
          }
      }
    }
}

/// Many at once: as many as lanes, with what is left over, with zeros of both signs and what is not finite.
TYPED_TEST(NarrowProductsTest, ShortRows) {
  using T = TypeParam;
  for (int64_t k = 1; k <= 34; ++k)
    for (int64_t rows : {8, 15, 16, 35}) {
      const int64_t stride = k + rows % 2;
      auto a = drawn<T>(rows * stride), x = drawn<T>(k), before = drawn<T>(2 * rows);
      for (int64_t i = 0; i < rows * stride; i += 7)
        a[i] = i % 2 ? T(-0.0) : T(0);
      a[2 * stride + k - 1] = std::numeric_limits<T>::infinity();
      if (k > 1)
        a[3 * stride + k - 2] = std::numeric_limits<T>::quiet_NaN();
      for (const NarrowKernels<T> &kernels : tables<T>())
        for (int64_t step : {1, 2}) {
          auto c = before;
          NarrowProduct<T> product{k, a.data(), stride, x.data(), k, 1, c.data(), step, 1, 1, 0, 0};
          product.alpha = step == 1 ? T(1) : T(-1.5);
          product.beta = step == 1 ? T(0) : T(1);
          kernels.rows(product, 0, rows);
          for (int64_t i = 0; i < rows; ++i) {
            const T sum = sumOfProducts(a.data() + i * stride, x.data(), k);
            const T expected = step == 1 ? sum : T(-1.5) * sum + before[i * step];
            if (std::isnan(expected))
              ASSERT_TRUE(std::isnan(c[i * step])) << k << " " << i;
            else
              ASSERT_EQ(std::memcmp(&expected, &c[i * step], sizeof(T)), 0) << k << " " << rows << " " << i;
          }
        }
    }
}

template <typename T> std::vector<ColumnKernels<T>> columnTables() {
  auto of = [](auto single, auto twice) {
    if constexpr (std::is_same_v<T, float>)
      return single();
    else
      return twice();
  };
  std::vector<ColumnKernels<T>> all = {of(baseline::columnKernelsF32, baseline::columnKernelsF64)};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.push_back(of(avx2::columnKernelsF32, avx2::columnKernelsF64));
  if (machineIsa() == Isa::Avx512)
    all.push_back(of(avx512::columnKernelsF32, avx512::columnKernelsF64));
#endif
  return all;
}

/// Columns that lie together: the sums of rows that do, with rows that are fewer than lanes, that fill tiles, and
/// between, for each way of reading them.
TYPED_TEST(NarrowProductsTest, ColumnsSumInLanes) {
  using T = TypeParam;
  for (int64_t k : {1, 7, 31, 32, 33, 100, 255, 256, 300, 8200})
    for (int64_t rows : {1, 3, 5, 8, 17, 40, 47, 300})
      for (int64_t count : {1, 2, 3, 7}) {
        const int64_t stride = rows + 3;
        const auto a = drawn<T>(k * stride), x = drawn<T>(count * k), before = drawn<T>(rows * count);
        std::vector<T> row(k), expected(rows * count);
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < count; ++j) {
            for (int64_t p = 0; p < k; ++p)
              row[p] = a[p * stride + i];
            const T sum = sumOfProducts(row.data(), x.data() + j * k, k);
            expected[i * count + j] = i < rows / 2 ? sum : T(-1.5) * sum + before[i * count + j];
          }
        for (const ColumnKernels<T> &kernels : columnTables<T>())
          for (ColumnTiles tiles : {ColumnTiles{1024, false}, ColumnTiles{1024, true}}) {
            if (tiles.isInRegisters && count > 1)
              continue;
            std::vector<T> room(tiles.room(count) / sizeof(T) + 64);
            void *aligned = room.data();
            size_t bytes = room.size() * sizeof(T);
            std::align(64, tiles.room(count), aligned, bytes);
            auto c = before;
            NarrowProduct<T> product{k, a.data(), stride, x.data(), k, count, c.data(), count, 1, 1, 0, 0};
            kernels.rows(product, 0, rows / 2, tiles, aligned);
            product.alpha = T(-1.5);
            product.beta = 1;
            kernels.rows(product, rows / 2, rows, tiles, aligned);
            ASSERT_EQ(std::memcmp(c.data(), expected.data(), c.size() * sizeof(T)), 0)
                << k << " " << rows << " " << count << " " << tiles.isInRegisters;
          }
      }
}

/// As `sumOfProducts` of at most 8192 complex numbers, conjugated as the signs say.
template <typename T>
std::complex<T> complexSum(const std::complex<T> *a, T signA, const std::complex<T> *x, T signX, int64_t n) {
  std::complex<T> lanes[32] = {};
  for (int64_t j = 0; j < n; ++j) {
    const T re = a[j].real(), im = signA * a[j].imag(), factor = x[j].real(), other = signX * x[j].imag();
    lanes[j % 32] += std::complex<T>(re * factor - im * other, im * factor + re * other);
  }
  for (int half = 16; half > 0; half /= 2)
    for (int i = 0; i < half; ++i)
      lanes[i] += lanes[i + half];
  return lanes[0];
}

template <typename T> std::vector<std::complex<T>> complexes(int64_t count) {
  const auto parts = drawn<T>(2 * count);
  std::vector<std::complex<T>> out(count);
  std::memcpy(static_cast<void *>(out.data()), parts.data(), parts.size() * sizeof(T));
  return out;
}

TYPED_TEST(NarrowProductsTest, ComplexColumns) {
  using T = TypeParam;
  for (int64_t k : {1, 2, 31, 33, 64, 290})
    for (int64_t rows : {1, 2, 3, 9, 70, 130})
      for (int conjugates = 0; conjugates < 4; ++conjugates) {
        const int64_t stride = rows + 1, step = 1 + conjugates % 2;
        const auto a = complexes<T>(k * stride), x = complexes<T>(k);
        for (const ColumnKernels<T> &kernels : columnTables<T>())
          for (bool isInRegisters : {false, true}) {
            const ColumnTiles tiles{1024, isInRegisters};
            std::vector<T> room(tiles.room(1) / sizeof(T) + 64);
            void *aligned = room.data();
            size_t bytes = room.size() * sizeof(T);
            std::align(64, tiles.room(1), aligned, bytes);
            std::vector<std::complex<T>> c(rows * step), row(k);
            kernels.complexRows({k, reinterpret_cast<const T *>(a.data()), stride, (conjugates & 1) != 0,
                                 reinterpret_cast<const T *>(x.data()), (conjugates & 2) != 0,
                                 reinterpret_cast<T *>(c.data()), step},
                                0, rows, tiles, aligned);
            for (int64_t i = 0; i < rows; ++i) {
              for (int64_t p = 0; p < k; ++p)
                row[p] = a[p * stride + i];
              const auto expected =
                  complexSum<T>(row.data(), conjugates & 1 ? T(-1) : T(1), x.data(), conjugates & 2 ? T(-1) : T(1), k);
              ASSERT_EQ(expected, c[i * step]) << k << " " << rows << " " << i;
            }
          }
      }
}

TYPED_TEST(NarrowProductsTest, ComplexRows) {
  using T = TypeParam;
  std::vector<ComplexRowKernels<T>> tables;
  auto add = [&](auto single, auto twice) {
    if constexpr (std::is_same_v<T, float>)
      tables.push_back(single());
    else
      tables.push_back(twice());
  };
  add(baseline::complexRowKernelsC64, baseline::complexRowKernelsC128);
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    add(avx2::complexRowKernelsC64, avx2::complexRowKernelsC128);
  if (machineIsa() == Isa::Avx512)
    add(avx512::complexRowKernelsC64, avx512::complexRowKernelsC128);
#endif
  for (int64_t k = 1; k <= 66; ++k)
    for (int64_t rows : {3, 4, 8, 21})
      for (int conjugates = 0; conjugates < 4; ++conjugates) {
        const int64_t stride = k + rows % 2, step = 1 + conjugates % 2;
        const auto a = complexes<T>(rows * stride), x = complexes<T>(k);
        for (const ComplexRowKernels<T> &kernels : tables) {
          std::vector<std::complex<T>> c(rows * step);
          kernels.rows({k, reinterpret_cast<const T *>(a.data()), stride, (conjugates & 1) != 0,
                        reinterpret_cast<const T *>(x.data()), (conjugates & 2) != 0, reinterpret_cast<T *>(c.data()),
                        step},
                       0, rows);
          for (int64_t i = 0; i < rows; ++i) {
            const auto expected = complexSum<T>(a.data() + i * stride, conjugates & 1 ? T(-1) : T(1), x.data(),
                                                conjugates & 2 ? T(-1) : T(1), k);
            ASSERT_EQ(expected, c[i * step]) << k << " " << rows << " " << i;
          }
        }
      }
}

/// Where elements of a matrix lie: by rows, by columns, or apart.
std::array<MatrixOperand, 3> layoutsOf(int64_t rows, int64_t columns) {
  return {MatrixOperand{nullptr, columns, 1, nullptr}, MatrixOperand{nullptr, 1, rows, nullptr},
          MatrixOperand{nullptr, 2 * columns, 2, nullptr}};
}

TYPED_TEST(NarrowProductsTest, LayoutsAndThreads) {
  using T = TypeParam;
  struct OneThread {
    ~OneThread() { setThreads(0); }
  } restore;
  for (int threads : {1, 2})
    for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 100000},
                           {600, 1, 700},
                           {1, 600, 700},
                           {5, 900, 800},
                           {900, 8, 800},
                           {40, 1, 20},
                           {130000, 1, 9},
                           {3, 1, 9000}}) {
      setThreads(threads);
      const auto a = drawn<T>(2 * m * k), b = drawn<T>(2 * k * n);
      std::vector<T> c(m * n), row(k), column(k);
      for (const MatrixOperand &ao : layoutsOf(m, k))
        for (const MatrixOperand &bo : layoutsOf(k, n)) {
          ASSERT_TRUE((narrowProduct<T>(m, n, k, 1, a.data(), ao, b.data(), bo, 0, c.data())));
          for (int64_t i : {int64_t(0), m / 2, m - 1})
            for (int64_t j : {int64_t(0), n / 2, n - 1}) {
              for (int64_t p = 0; p < k; ++p) {
                row[p] = a[i * ao.rowStride + p * ao.columnStride];
                column[p] = b[p * bo.rowStride + j * bo.columnStride];
              }
              EXPECT_EQ(c[i * n + j], sumOfProducts(row.data(), column.data(), k)) << m << " " << n << " " << i;
            }
        }
    }
}

template <typename T> std::vector<FewRowsKernels<T>> fewRowsTables() {
  auto of = [](auto single, auto twice) {
    if constexpr (std::is_same_v<T, float>)
      return single();
    else
      return twice();
  };
  std::vector<FewRowsKernels<T>> all = {of(baseline::fewRowsKernelsF32, baseline::fewRowsKernelsF64)};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.push_back(of(avx2::fewRowsKernelsF32, avx2::fewRowsKernelsF64));
  if (machineIsa() == Isa::Avx512)
    all.push_back(of(avx512::fewRowsKernelsF32, avx512::fewRowsKernelsF64));
#endif
  std::erase_if(all, [](const FewRowsKernels<T> &kernels) { return !kernels.columns; });
  return all;
}
/// In as many lanes as 32 bytes have, by fused multiply-add.
template <typename T> T fusedSum(const T *a, const T *b, int64_t bStep, int64_t k) {
  constexpr int64_t lanes = 32 / sizeof(T);
  T sums[lanes] = {};
  for (int64_t p = 0; p < k; ++p)
    sums[p % lanes] = std::fma(a[p], b[p * bStep], sums[p % lanes]);
  for (int64_t half = lanes / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half; ++i)
      sums[i] += sums[i + half];
  return sums[0];
}
TYPED_TEST(NarrowProductsTest, FewRowsInBothLayouts) {
  using T = TypeParam;
  for (const FewRowsKernels<T> &kernels : fewRowsTables<T>())
    for (int64_t rows = 1; rows <= 8; ++rows)
      for (int64_t n : {1, 7, 16, 33, 101})
        for (int64_t k : {1, 3, 15, 16, 65, 130})
          for (bool isByRows : {true, false}) {
            const auto a = drawn<T>(rows * k), b = drawn<T>(n * k), before = drawn<T>(rows * n);
            std::vector<T> c = before;
            const T alpha = n == 33 ? 2 : 1, beta = n == 16 ? -1 : 0;
            const int64_t bRow = isByRows ? n : 1, bColumn = isByRows ? 1 : k;
            kernels.columns({rows, k, a.data(), k, b.data(), bRow, bColumn, c.data(), n, 1, alpha, beta}, 0, n);
            for (int64_t i = 0; i < rows; ++i)
              for (int64_t j = 0; j < n; ++j)
                ASSERT_EQ(c[i * n + j],
                          alpha * fusedSum<T>(&a[i * k], &b[j * bColumn], bRow, k) + beta * before[i * n + j])
                    << rows << " " << n << " " << k << " " << isByRows << " at " << i << ", " << j;
          }
}

TYPED_TEST(NarrowProductsTest, OthersAreNotTaken) {
  using T = TypeParam;
  const auto a = drawn<T>(40000), b = drawn<T>(40000);
  std::vector<T> c(40000);
  // wide ones, and several vectors of a short inner axis
  EXPECT_FALSE((narrowProduct<T>(9, 9, 50, 1, a.data(), {nullptr, 50, 1, nullptr}, b.data(), {nullptr, 9, 1, nullptr},
                                 0, c.data())));
  EXPECT_FALSE((narrowProduct<T>(50, 2, 50, 1, a.data(), {nullptr, 50, 1, nullptr}, b.data(), {nullptr, 2, 1, nullptr},
                                 0, c.data())));
}

} // namespace
} // namespace toy::rt
