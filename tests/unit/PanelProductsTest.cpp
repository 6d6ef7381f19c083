// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products of f64 by tiles: sums in order by fused multiply-add, written out, on every instruction set that has it,
/// for sizes that are no multiples, for factors that lie in any way, and on several threads.
#include "runtime/PanelProducts.h"
#include "runtime/Isa.h"
#include "runtime/Parallel.h"
#include "runtime/ProductKernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace toy::rt {
namespace {

std::vector<double> drawn(int64_t count) {
  static std::mt19937_64 random(13);
  std::vector<double> x(count);
  for (double &element : x)
    element = std::normal_distribution<double>()(random);
  return x;
}
/// A matrix, stored in some way between numbers that are not its own.
struct Stored {
  std::vector<double> numbers;
  int64_t row, column;

  Stored(int64_t rows, int64_t columns, int way)
      : numbers(drawn(4 * rows * columns)), row(way == 0   ? columns
                                                : way == 1 ? 1
                                                           : 2 * columns),
        column(way == 0   ? 1
               : way == 1 ? rows
                          : 2) {}
  double at(int64_t i, int64_t j) const { return numbers[i * row + j * column]; }
};
/// Blocks of 1024 in order, each from 0 on.
double element(const Stored &a, const Stored &b, int64_t i, int64_t j, int64_t k, double alpha, double beta, double c) {
  for (int64_t begin = 0; begin < k; begin += PanelProduct::deepest) {
    double sum = 0;
    for (int64_t p = begin; p < std::min(k, begin + PanelProduct::deepest); ++p)
      sum = std::fma(a.at(i, p), b.at(p, j), sum);
    c = beta == 0 ? alpha * sum : alpha * sum + beta * c;
    beta = 1;
  }
  return c;
}

std::vector<ProductKernels> tables() {
  std::vector<ProductKernels> all = {baseline::productKernels()};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.push_back(avx2::productKernels());
  if (machineIsa() == Isa::Avx512)
    all.push_back(avx512::productKernels());
#endif
  std::erase_if(all, [](const ProductKernels &kernels) { return !kernels.panel; });
  return all;
}

TEST(PanelProducts, TilesSumInOrder) {
  for (const ProductKernels &kernels : tables())
    for (int64_t m : {1, 7, 8, 45})
      for (int64_t n : {1, 8, 13, 24, 31, 101})
        for (int64_t k : {1, 9, 40})
          for (int way = 0; way < 9; ++way) {
            const Stored a(m, k, way / 3), b(k, n, way % 3);
            const double alpha = way % 2 ? 0.5 : 1, beta = way == 4 ? -3 : 0;
            const std::vector<double> before = drawn(m * (n + 3));
            std::vector<double> c = before;
            alignas(64) static double room[1 << 14];
            ASSERT_LE(kernels.room(n, k), std::ssize(room));
            kernels.panel({m, n, k, a.numbers.data(), a.row, a.column, b.numbers.data(), b.row, b.column, c.data(),
                           n + 3, alpha, beta},
                          room);
            for (int64_t i = 0; i < m; ++i)
              for (int64_t j = 0; j < n + 3; ++j) {
                const double old = before[i * (n + 3) + j];
                ASSERT_EQ(c[i * (n + 3) + j], j < n ? element(a, b, i, j, k, alpha, beta, old) : old)
                    << m << " " << n << " " << k << " in way " << way << " at " << i << ", " << j;
              }
          }
}

TEST(PanelProducts, PanelsAndThreads) {
  struct Sizes {
    int64_t m, n, k;
  };
  for (Sizes s : {Sizes{33, 98, 1100}, {301, 97, 40}, {64, 1000, 37}, {40, 17, 2100}})
    for (int way = 0; way < 4; ++way)
      for (int count : {1, 3}) {
        setThreads(count);
        const Stored a(s.m, s.k, way / 2), b(s.k, s.n, way % 2);
        std::vector<double> c(s.m * s.n, NAN);
        const bool isDone = panelProduct(s.m, s.n, s.k, -2, a.numbers.data(), {nullptr, a.row, a.column, nullptr},
                                         b.numbers.data(), {nullptr, b.row, b.column, nullptr}, 0, c.data());
        setThreads(0);
        ASSERT_EQ(isDone, !tables().empty());
        for (int64_t i = 0; isDone && i < s.m; ++i)
          for (int64_t j = 0; j < s.n; ++j)
            ASSERT_EQ(c[i * s.n + j], element(a, b, i, j, s.k, -2, 0, 0)) << i << ", " << j;
      }
}

TEST(PanelProducts, OthersAreNotTaken) {
  const std::vector<double> x = drawn(1 << 20);
  std::vector<double> c(1 << 20);
  auto isTaken = [&](int64_t m, int64_t n, int64_t k) {
    return panelProduct(m, n, k, 1, x.data(), {nullptr, k, 1, nullptr}, x.data(), {nullptr, n, 1, nullptr}, 0,
                        c.data());
  };
  EXPECT_FALSE(isTaken(100, 100, 100));
  EXPECT_FALSE(isTaken(7, 1000, 1000));
  EXPECT_FALSE(isTaken(1000, 15, 1000));
  EXPECT_EQ(isTaken(101, 100, 100), !tables().empty());
}

} // namespace
} // namespace toy::rt
