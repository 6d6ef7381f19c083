// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products by tiles: sums in order by fused multiply-add, written out, on every instruction set that has it,
/// for sizes that are no multiples, for factors that lie in any way, and on several threads.
#include "runtime/PanelProducts.h"
#include "runtime/Isa.h"
#include "runtime/Parallel.h"
#include "runtime/ProductKernels.h"
#include "tests/unit/Drawn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

namespace toy::rt {
namespace {

template <typename T> constexpr bool isComplexNumber = sizeof(T) > sizeof(Part<T>);

/// A matrix, stored in some way between numbers that are not its own.
template <typename T> struct Stored {
  std::vector<T> numbers;
  int64_t row, column;

  Stored(int64_t rows, int64_t columns, int way)
      : numbers(drawn<T>(4 * rows * columns)), row(way == 0   ? columns
                                                   : way == 1 ? 1
                                                              : 2 * columns),
        column(way == 0   ? 1
               : way == 1 ? rows
                          : 2) {}
  T at(int64_t i, int64_t j) const { return numbers[i * row + j * column]; }
};
/// Conjugation of the first factor and of the second.
struct Conjugates {
  bool a, b;
};
/// The sum of some products, from 0 on: of complex numbers those of their parts, put together at the end.
template <typename T>
T sumOf(const Stored<T> &a, const Stored<T> &b, int64_t i, int64_t j, int64_t begin, int64_t end,
        Conjugates conjugates) {
  if constexpr (isComplexNumber<T>) {
    Part<T> ac = 0, bd = 0, ad = 0, bc = 0;
    for (int64_t p = begin; p < end; ++p) {
      const T x = a.at(i, p), y = b.at(p, j);
      ac = std::fma(x.real(), y.real(), ac);
      bd = std::fma(x.imag(), y.imag(), bd);
      ad = std::fma(x.real(), y.imag(), ad);
      bc = std::fma(x.imag(), y.real(), bc);
    }
    return {conjugates.a == conjugates.b ? ac - bd : ac + bd, (conjugates.b ? -ad : ad) + (conjugates.a ? -bc : bc)};
  } else {
    T sum = 0;
    for (int64_t p = begin; p < end; ++p)
      sum = std::fma(a.at(i, p), b.at(p, j), sum);
    return sum;
  }
}
/// Blocks of 1024 in order.
template <typename T>
T element(const Stored<T> &a, const Stored<T> &b, int64_t i, int64_t j, int64_t k, Part<T> alpha, Part<T> beta, T c,
          Conjugates conjugates) {
  for (int64_t begin = 0; begin < k; begin += PanelProduct<T>::deepest) {
    const T sum = sumOf(a, b, i, j, begin, std::min(k, begin + PanelProduct<T>::deepest), conjugates);
    c = beta == 0 ? alpha * sum : alpha * sum + beta * c;
    beta = 1;
  }
  return c;
}

#define TOY_KERNELS_OF(ISA)                                                                                            \
  [] {                                                                                                                 \
    if constexpr (std::is_same_v<T, float>)                                                                            \
      return ISA::productKernelsF32();                                                                                 \
    else if constexpr (std::is_same_v<T, double>)                                                                      \
      return ISA::productKernelsF64();                                                                                 \
    else if constexpr (std::is_same_v<T, std::complex<float>>)                                                         \
      return ISA::productKernelsC64();                                                                                 \
    else                                                                                                               \
      return ISA::productKernelsC128();                                                                                \
  }()
template <typename T> std::vector<ProductKernels<T>> tables() {
  std::vector<ProductKernels<T>> all = {TOY_KERNELS_OF(baseline)};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.push_back(TOY_KERNELS_OF(avx2));
  if (machineIsa() == Isa::Avx512)
    all.push_back(TOY_KERNELS_OF(avx512));
#endif
  std::erase_if(all, [](const ProductKernels<T> &kernels) { return !kernels.panel; });
  return all;
}

template <typename T> class PanelProducts : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(PanelProducts, Types);

TYPED_TEST(PanelProducts, TilesSumInOrder) {
  using T = TypeParam;
  for (const ProductKernels<T> &kernels : tables<T>())
    for (int64_t m : {1, 7, 8, 13, 45})
      for (int64_t n : {1, 8, 13, 24, 31, 101})
        for (int64_t k : {1, 9, 40})
          for (int way = 0; way < 9; ++way) {
            const Stored<T> a(m, k, way / 3), b(k, n, way % 3);
            const Part<T> alpha = way % 2 ? 0.5 : 1, beta = way == 4 ? -3 : 0;
            const Conjugates conjugates{m % 3 == 1, way % 3 == 1};
            const std::vector<T> before = drawn<T>(m * (n + 3));
            std::vector<T> packed = before, direct = before;
            alignas(64) static T room[1 << 15];
            ASSERT_LE(kernels.room(n, k), std::ssize(room));
            PanelProduct<T> x{
                m,     n,     k,    a.numbers.data(), a.row,       a.column, b.numbers.data(), b.row, b.column, nullptr,
                n + 3, alpha, beta, conjugates.a,     conjugates.b};
            x.c = packed.data();
            kernels.panel(x, room);
            x.c = direct.data();
            if (b.column == 1)
              kernels.direct(x);
            else
              direct = packed;
            for (int64_t i = 0; i < m; ++i)
              for (int64_t j = 0; j < n + 3; ++j) {
                const int64_t at = i * (n + 3) + j;
                const T sum = j < n ? element(a, b, i, j, k, alpha, beta, before[at], conjugates) : before[at];
                ASSERT_EQ(packed[at], sum)
                    << m << " " << n << " " << k << " in way " << way << " at " << i << ", " << j;
                ASSERT_EQ(direct[at], sum)
                    << m << " " << n << " " << k << " in way " << way << " at " << i << ", " << j;
              }
          }
}

TYPED_TEST(PanelProducts, PanelsAndThreads) {
  using T = TypeParam;
  struct Sizes {
    int64_t m, n, k;
  };
  for (Sizes s : {Sizes{33, 98, 1100},
                  {301, 97, 40},
                  {64, 1000, 37},
                  {40, 17, 2100},
                  {20, 90, 30},
                  {3, 200, 40},
                  {200, 3, 40},
                  {12, 9, 1100},
                  {130, 20, 50}})
    for (int way = 0; way < 4; ++way)
      for (int count : {1, 3}) {
        setThreads(count);
        const Stored<T> a(s.m, s.k, way / 2), b(s.k, s.n, way % 2);
        const Conjugates conjugates{way < 2, way % 2 == 0};
        std::vector<T> c(s.m * s.n, T(NAN));
        const bool isDone =
            panelProduct<T>(s.m, s.n, s.k, -2, a.numbers.data(), {nullptr, a.row, a.column, nullptr, conjugates.a},
                            b.numbers.data(), {nullptr, b.row, b.column, nullptr, conjugates.b}, 0, c.data());
        setThreads(0);
        ASSERT_EQ(isDone, !tables<T>().empty());
        for (int64_t i = 0; isDone && i < s.m; ++i)
          for (int64_t j = 0; j < s.n; ++j)
            ASSERT_EQ(c[i * s.n + j], element<T>(a, b, i, j, s.k, -2, 0, 0, conjugates)) << i << ", " << j;
      }
}

} // namespace
} // namespace toy::rt
