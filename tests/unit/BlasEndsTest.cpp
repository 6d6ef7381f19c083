// SPDX-License-Identifier: Apache-2.0
/// \file
/// Behind the last element of a matrix there may be no memory: OpenBLAS is called so that it reads nothing there.
#include "runtime/Blas.h"
#include "runtime/Lapack.h"

#include <gtest/gtest.h>

#include <complex>
#include <sys/mman.h>
#include <vector>

namespace toy::rt {
namespace {

/// Memory that ends where a page ends that nobody may read.
template <typename T> class UpToTheEnd {
public:
  UpToTheEnd() {
    memory =
        static_cast<char *>(mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory + bytes, page, PROT_NONE);
  }
  ~UpToTheEnd() { munmap(memory, bytes + page); }
  UpToTheEnd(const UpToTheEnd &) = delete;
  T *last(int64_t count) { return reinterpret_cast<T *>(memory + bytes) - count; }

private:
  static constexpr size_t page = 1 << 16, bytes = 1 << 18;
  char *memory;
};

template <typename T> void checkVectorProducts(DType dtype) {
  UpToTheEnd<T> matrices, vectors, results;
  for (int64_t k = 1; k < 40; k += 3)
    for (int64_t n = 1; n < 70; ++n)
      for (bool conjugate : {false, true}) {
        T *b = matrices.last(k * n), *x = vectors.last(k), *y = results.last(n);
        for (int64_t i = 0; i < k * n; ++i)
          b[i] = T(i % 7, i % 5);
        for (int64_t i = 0; i < k; ++i)
          x[i] = T(i % 3, 1);
        for (bool isRow : {false, true}) { // x @ B, and the transpose of B times x
          MatrixOperand matrix = {b, isRow ? n : 1, isRow ? 1 : n, nullptr, conjugate}, vector = {x, k, 1, nullptr};
          if (isRow)
            gemm(dtype, 1, n, k, vector, matrix, y, {});
          else
            gemm(dtype, n, 1, k, matrix, {x, 1, 1, nullptr}, y, {});
          for (int64_t j = 0; j < n; ++j) {
            T sum = 0;
            for (int64_t p = 0; p < k; ++p)
              sum += x[p] * (conjugate ? std::conj(b[p * n + j]) : b[p * n + j]);
            ASSERT_LT(std::abs(y[j] - sum), 1e-3) << k << " " << n;
          }
        }
      }
}

/// With the room that is asked for, no driver reads on.
template <typename T> void checkEigenvalues() {
  UpToTheEnd<T> matrices;
  for (int n = 1; n < 80; ++n)
    for (char job : {'N', 'V'}) {
      const auto room = static_cast<int64_t>(Lapack<T>::room(n * n, n).size());
      T *a = matrices.last(room);
      for (int64_t i = 0; i < room; ++i)
        a[i] = T(0);
      for (int64_t i = 0; i < n; ++i)
        a[i * n + i] = T(static_cast<Real<T>>(n - i));
      std::vector<Real<T>> values(n);
      ASSERT_EQ(Lapack<T>::heevd(job, 'U', n, a, values.data()), 0);
      for (int i = 0; i < n; ++i)
        ASSERT_NEAR(values[i], i + 1, 1e-3);
    }
}

TEST(BlasEnds, ProductsOfVectorsReadNoFurther) {
  checkVectorProducts<std::complex<float>>(DType::C64);
  checkVectorProducts<std::complex<double>>(DType::C128);
}
TEST(BlasEnds, EigenvaluesReadNoFurther) {
  checkEigenvalues<std::complex<float>>();
  checkEigenvalues<std::complex<double>>();
}

} // namespace
} // namespace toy::rt
