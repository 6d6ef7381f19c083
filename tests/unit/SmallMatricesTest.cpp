// SPDX-License-Identifier: Apache-2.0
/// \file
/// Kernels of small matrices: products as plain loops compute them, solutions beside a larger type's, the same bits on
/// every instruction set and wherever a matrix lies in a batch.
#include "runtime/SmallMatrices.h"
#include "runtime/IntegerKernels.h"
#include "runtime/Isa.h"
#include "tests/unit/Drawn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace toy::rt {
namespace {

std::vector<SmallMatrixTable> tables() {
  std::vector<SmallMatrixTable> all = {baseline::smallMatrixKernels()};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.push_back(avx2::smallMatrixKernels());
  if (machineIsa() == Isa::Avx512)
    all.push_back(avx512::smallMatrixKernels());
#endif
  return all;
}
const SmallMatrixKernels &of(const SmallMatrixTable &t, float) { return t.f32; }
const SmallMatrixKernels &of(const SmallMatrixTable &t, double) { return t.f64; }
const SmallMatrixKernels &of(const SmallMatrixTable &t, std::complex<float>) { return t.c64; }
const SmallMatrixKernels &of(const SmallMatrixTable &t, std::complex<double>) { return t.c128; }

template <typename T> T times(T x, T y) { return x * y; }
template <typename T> std::complex<T> times(std::complex<T> x, std::complex<T> y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}
template <typename T> T conjugated(T x) { return x; }
template <typename T> std::complex<T> conjugated(std::complex<T> x) { return std::conj(x); }

template <typename T> bool sameBits(const std::vector<T> &x, const std::vector<T> &y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

template <typename T> class SmallMatricesTest : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(SmallMatricesTest, Types);

TYPED_TEST(SmallMatricesTest, ProductsAreSumsInOrder) {
  using T = TypeParam;
  const int64_t count = 2;
  for (int64_t m : {1, 3, 4, 5, 10})
    for (int64_t n : {1, 2, 3, 4, 5, 8, 11, 16})
      for (int64_t k : {1, 2, 3, 4, 7, 64})
        for (int layout = 0; layout < 8; ++layout) {
          const bool turnsA = layout & 1, turnsB = layout & 2, conjugates = layout & 4;
          auto a = drawn<T>(count * m * k), b = drawn<T>(count * k * n);
          SmallProducts x{m, n, k, count, {}, {}, nullptr};
          x.a = {a.data(), turnsA ? 1 : k, turnsA ? m : 1, m * k, conjugates};
          x.b = {b.data(), turnsB ? 1 : n, turnsB ? k : 1, k * n, conjugates && turnsA};
          std::vector<T> want(count * m * n);
          for (int64_t c = 0; c < count; ++c)
            for (int64_t i = 0; i < m; ++i)
              for (int64_t j = 0; j < n; ++j)
                for (int64_t p = 0; p < k; ++p) {
                  T left = a[c * m * k + i * x.a.row + p * x.a.column];
                  T right = b[c * k * n + p * x.b.row + j * x.b.column];
                  want[(c * m + i) * n + j] +=
                      times(x.a.conjugate ? conjugated(left) : left, x.b.conjugate ? conjugated(right) : right);
                }
          for (const SmallMatrixTable &table : tables()) {
            std::vector<T> got(count * m * n);
            x.c = got.data();
            ASSERT_TRUE(of(table, T()).product(x));
            ASSERT_TRUE(sameBits(want, got)) << m << " " << n << " " << k << " " << layout;
          }
        }
}

/// What each kernel gives for a batch: determinants, inverses, solutions of three columns, Cholesky factors.
template <typename T>
std::vector<std::vector<T>> results(const SmallMatrixKernels &kernels, int64_t n, int64_t count, const T *a,
                                    const T *positive, const T *b) {
  std::vector<std::vector<T>> out = {std::vector<T>(count), std::vector<T>(count * n * n),
                                     std::vector<T>(count * n * 3), std::vector<T>(count * n * n)};
  kernels.determinant({n, count, a, out[0].data()});
  EXPECT_EQ(kernels.inverse({n, count, a, out[1].data()}), -1);
  EXPECT_EQ(kernels.solve({n, count, a, out[2].data(), b, 3}), -1);
  EXPECT_EQ(kernels.cholesky({n, count, positive, out[3].data()}), -1);
  return out;
}

/// Largest distance of two products of n x n by n x k matrices from each other.
template <typename T> double residual(const T *a, const T *x, const std::vector<T> &want, int64_t n, int64_t k) {
  double most = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < k; ++j) {
      std::complex<double> sum = 0;
      for (int64_t p = 0; p < n; ++p)
        sum += std::complex<double>(a[i * n + p]) * std::complex<double>(x[p * k + j]);
      most = std::max(most, std::abs(sum - std::complex<double>(want[i * k + j])));
    }
  return most;
}

TYPED_TEST(SmallMatricesTest, Systems) {
  using T = TypeParam;
  const int64_t count = 37;
  const double epsilon = sizeof(std::abs(T())) == 4 ? 1e-3 : 1e-11; // of matrices that are not well conditioned
  for (int64_t n = 1; n <= SmallMatrices::largest; ++n) {
    auto a = drawn<T>(count * n * n), b = drawn<T>(count * n * 3);
    std::vector<T> positive(count * n * n), identity(n * n);
    for (int64_t i = 0; i < n; ++i)
      identity[i * n + i] = 1;
    for (int64_t c = 0; c < count; ++c)
      for (int64_t i = 0; i < n; ++i)
        a[(c * n + i) * n + (i + c) % n] += T(3 + n / 2); // pivots on several diagonals
    for (int64_t c = 0; c < count; ++c)
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j)
          for (int64_t p = 0; p < n; ++p)
            positive[(c * n + i) * n + j] += times(a[(c * n + i) * n + p], conjugated(a[(c * n + j) * n + p]));
        positive[(c * n + i) * n + i] += T(n);
      }
    auto all = results(of(tables()[0], T()), n, count, a.data(), positive.data(), b.data());
    for (const SmallMatrixTable &table : tables()) {
      auto other = results(of(table, T()), n, count, a.data(), positive.data(), b.data());
      for (size_t f = 0; f < all.size(); ++f)
        ASSERT_TRUE(sameBits(all[f], other[f])) << n << " function " << f;
    }
    for (int64_t c = 0; c < count; ++c) {
      auto alone = results(of(tables().back(), T()), n, 1, &a[c * n * n], &positive[c * n * n], &b[c * n * 3]);
      for (size_t f = 0; f < all.size(); ++f)
        ASSERT_EQ(std::memcmp(&all[f][c * alone[f].size()], alone[f].data(), alone[f].size() * sizeof(T)), 0) << f;
      std::vector<T> right(&b[c * n * 3], &b[c * n * 3] + n * 3);
      EXPECT_LT(residual(&a[c * n * n], alone[1].data(), identity, n, n), epsilon);
      EXPECT_LT(residual(&a[c * n * n], alone[2].data(), right, n, 3), epsilon);
      std::vector<T> adjoint(n * n), own(&positive[c * n * n], &positive[c * n * n] + n * n);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) {
          adjoint[j * n + i] = conjugated(alone[3][i * n + j]);
          if (j > i) {
            EXPECT_EQ(alone[3][i * n + j], T(0));
          }
        }
      EXPECT_LT(residual(alone[3].data(), adjoint.data(), own, n, n), 100 * epsilon);
    }
  }
}

TYPED_TEST(SmallMatricesTest, FailuresHaveNumbers) {
  using T = TypeParam;
  const int64_t n = 3, count = 40;
  std::vector<T> a(count * n * n), out(a.size());
  for (int64_t i = 0; i < count * n * n; ++i)
    a[i] = T(i % (n * n) % (n + 1) == 0 ? 2 : 0);
  for (const SmallMatrixTable &table : tables()) {
    const SmallMatrixKernels &kernels = of(table, T());
    for (int64_t wrong : {39, 21, 3}) {
      std::vector<T> x = a, determinants(count);
      x[wrong * n * n + 4] = T(0);
      EXPECT_EQ(kernels.inverse({n, count, x.data(), out.data()}), wrong);
      EXPECT_EQ(kernels.solve({n, count, x.data(), out.data(), a.data(), n}), wrong);
      EXPECT_EQ(kernels.cholesky({n, count, x.data(), out.data()}), wrong);
      kernels.determinant({n, count, x.data(), determinants.data()});
      for (int64_t i = 0; i < count; ++i)
        EXPECT_EQ(determinants[i], T(i == wrong ? 0 : 8));
    }
  }
}

/// Integers wrap, so that any order gives the same.
template <typename T> void checkIntegers(const std::vector<IntegerKernels<T>> &all) {
  for (int64_t m : {1, 5, 21})
    for (int64_t n : {1, 2, 15, 16, 17, 40, 129})
      for (int64_t k : {0, 1, 130}) {
        std::vector<T> a(m * k), b(k * n), want(m * n);
        for (std::vector<T> *factor : {&a, &b})
          for (T &x : *factor)
            x = static_cast<T>(drawnBits());
        for (int64_t i = 0; i < m; ++i)
          for (int64_t p = 0; p < k; ++p)
            for (int64_t j = 0; j < n; ++j)
              want[i * n + j] = T(want[i * n + j] + T(a[i * k + p] * b[p * n + j]));
        for (const IntegerKernels<T> &kernels : all) {
          std::vector<T> got(m * n + 1, T(7)); // what lies behind stays
          kernels.product({n, k, a.data(), k, 1, b.data(), n, got.data()}, 0, m);
          EXPECT_EQ(got.back(), T(7));
          got.pop_back();
          EXPECT_EQ(got, want) << m << " " << n << " " << k;
        }
      }
}

TEST(IntegerProducts, AreOfAllSizes) {
  std::vector<IntegerKernels<uint8_t>> bytes = {baseline::integerKernelsU8()};
  std::vector<IntegerKernels<uint32_t>> words = {baseline::integerKernelsI32()};
  std::vector<IntegerKernels<uint64_t>> longs = {baseline::integerKernelsI64()};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    bytes.push_back(avx2::integerKernelsU8());
    words.push_back(avx2::integerKernelsI32());
    longs.push_back(avx2::integerKernelsI64());
  }
  if (machineIsa() == Isa::Avx512) {
    bytes.push_back(avx512::integerKernelsU8());
    words.push_back(avx512::integerKernelsI32());
    longs.push_back(avx512::integerKernelsI64());
  }
#endif
  checkIntegers(bytes);
  checkIntegers(words);
  checkIntegers(longs);
}

} // namespace
} // namespace toy::rt
