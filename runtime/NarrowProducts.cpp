// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gives threads rows, or blocks of a long sum.
#include "runtime/NarrowProducts.h"
#include "runtime/NarrowKernels.h"
#include "runtime/Parallel.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace toy::rt {
namespace {

constexpr int64_t cached = 256 << 10;       ///< bytes of a matrix that is likely to be in a cache still
constexpr int64_t severalVectors = 2 << 20; ///< bytes of a matrix above which a product by several vectors is ours

template <typename T> const NarrowKernels<T> &kernels();
template <> const NarrowKernels<float> &kernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(narrowKernelsF32);
  return chosen;
}
template <> const NarrowKernels<double> &kernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(narrowKernelsF64);
  return chosen;
}

template <typename T> const ComplexRowKernels<T> &complexKernels();
template <> const ComplexRowKernels<float> &complexKernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(complexRowKernelsC64);
  return chosen;
}
template <> const ComplexRowKernels<double> &complexKernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(complexRowKernelsC128);
  return chosen;
}
template <typename T> const auto &kernelsOf(const NarrowProduct<T> &) { return kernels<T>(); }
template <typename T> const auto &kernelsOf(const ComplexRows<T> &) { return complexKernels<T>(); }

/// Rows [0, n) in pieces that are worth a thread; each is so much work.
template <typename Product> void inPieces(const Product &x, int64_t n, int64_t work) {
  constexpr int64_t grain = 1 << 15;
  parallelFor(
      n, grain / std::clamp<int64_t>(work, 1, grain),
      [](void *context, int64_t begin, int64_t end) {
        const auto &product = *static_cast<const Product *>(context);
        kernelsOf(product).rows(product, begin, end);
      },
      const_cast<Product *>(&x));
}

/// The sum of one long row of products: threads own its blocks.
template <typename T> void longSum(const NarrowProduct<T> &x) {
  const int64_t whole = x.k / sumBlock, count = (x.k + sumBlock - 1) / sumBlock;
  std::vector<T> sums(count);
  NarrowProduct<T> blocks = x;
  blocks.k = blocks.stride = blocks.shift = sumBlock;
  blocks.c = sums.data();
  blocks.row = 1;
  blocks.alpha = 1;
  blocks.beta = 0;
  blocks.isCached = false; // each block has a part of the vector of its own
  inPieces(blocks, whole, sumBlock);
  if (whole < count) {
    blocks.a += whole * sumBlock;
    blocks.vectors += whole * sumBlock;
    blocks.k = x.k - whole * sumBlock;
    blocks.c += whole;
    kernels<T>().rows(blocks, 0, 1);
  }
  T sum = sums[0];
  for (int64_t i = 1; i < count; ++i)
    sum += sums[i];
  const T scaled = x.alpha == 1 ? sum : x.alpha * sum;
  *x.c = x.beta == 0 ? scaled : scaled + x.beta * *x.c;
}

/// The same of complex numbers.
template <typename T> void longSum(const ComplexRows<T> &x) {
  const int64_t whole = x.k / sumBlock, count = (x.k + sumBlock - 1) / sumBlock;
  std::vector<T> sums(2 * count);
  ComplexRows<T> blocks = x;
  blocks.k = blocks.stride = blocks.shift = sumBlock;
  blocks.c = sums.data();
  blocks.step = 1;
  inPieces(blocks, whole, 4 * sumBlock);
  if (whole < count) {
    blocks.a += 2 * whole * sumBlock;
    blocks.vector += 2 * whole * sumBlock;
    blocks.k = x.k - whole * sumBlock;
    blocks.c += 2 * whole;
    complexKernels<T>().rows(blocks, 0, 1);
  }
  for (int64_t i = 1; i < count; ++i)
    for (int part = 0; part < 2; ++part)
      sums[part] += sums[2 * i + part];
  std::copy_n(sums.data(), 2, x.c);
}

/// Columns of a matrix one after the other, where they do not lie so already.
template <typename T>
const T *columnsTogether(const T *b, const MatrixOperand &o, int64_t rows, int64_t columns, std::vector<T> &scratch) {
  if (o.rowStride == 1 || rows == 1)
    return b;
  scratch.resize(rows * columns);
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i)
      scratch[j * rows + i] = b[i * o.rowStride + j * o.columnStride];
  return scratch.data();
}

} // namespace

template <typename T>
bool narrowProduct(int64_t m, int64_t n, int64_t k, T alpha, const T *a, MatrixOperand ao, const T *b, MatrixOperand bo,
                   T beta, T *c) {
  NarrowProduct<T> x{};
  x.row = n;
  x.column = 1;
  if (m < n) { // c' = b' a'
    std::swap(m, n);
    std::swap(a, b);
    std::swap(ao, bo);
    std::swap(ao.rowStride, ao.columnStride);
    std::swap(bo.rowStride, bo.columnStride);
    std::swap(x.row, x.column);
  }
  const int64_t bytes = m * k * static_cast<int64_t>(sizeof(T));
  x.isCached = bytes <= cached;
  // Products by several vectors that stay in the caches are bound by arithmetic, which is BLAS's field.
  if (n > narrowest || (n > 1 && bytes <= severalVectors) || (m > 1 && ao.columnStride != 1))
    return false;
  std::vector<T> scratch, scratchRow;
  x.vectors = columnsTogether(b, bo, k, n, scratch);
  x.vectorStride = scratch.empty() ? bo.columnStride : k;
  x.k = k;
  x.count = n;
  x.c = c;
  x.alpha = alpha;
  x.beta = beta;
  x.a = m == 1 ? columnsTogether(a, {nullptr, ao.columnStride, ao.rowStride, nullptr}, k, 1, scratchRow) : a;
  x.stride = ao.rowStride;
  if (m == 1 && n == 1 && k > sumBlock)
    longSum(x);
  else
    inPieces(x, m, k * n);
  return true;
}

template <typename T>
bool complexProduct(int64_t m, int64_t n, int64_t k, const std::complex<T> *a, MatrixOperand ao,
                    const std::complex<T> *b, MatrixOperand bo, std::complex<T> *c) {
  if (m < n) { // c' = b' a'
    std::swap(m, n);
    std::swap(a, b);
    std::swap(ao, bo);
    std::swap(ao.rowStride, ao.columnStride);
    std::swap(bo.rowStride, bo.columnStride);
  }
  constexpr int64_t shortRow = 64; // BLAS adds several rows side by side
  if (n != 1 || (m > 1 && (ao.columnStride != 1 || k <= shortRow)))
    return false;
  std::vector<std::complex<T>> scratch, scratchRow;
  const auto *vector = columnsTogether(b, bo, k, 1, scratch);
  const auto *rows = m == 1 ? columnsTogether(a, {nullptr, ao.columnStride, 1, nullptr}, k, 1, scratchRow) : a;
  ComplexRows<T> x{k,
                   reinterpret_cast<const T *>(rows),
                   ao.rowStride,
                   ao.conjugate,
                   reinterpret_cast<const T *>(vector),
                   bo.conjugate,
                   reinterpret_cast<T *>(c),
                   1};
  if (m == 1 && k > sumBlock)
    longSum(x);
  else
    inPieces(x, m, 4 * k);
  return true;
}
template bool complexProduct(int64_t, int64_t, int64_t, const std::complex<float> *, MatrixOperand,
                             const std::complex<float> *, MatrixOperand, std::complex<float> *);
template bool complexProduct(int64_t, int64_t, int64_t, const std::complex<double> *, MatrixOperand,
                             const std::complex<double> *, MatrixOperand, std::complex<double> *);
template bool narrowProduct(int64_t, int64_t, int64_t, float, const float *, MatrixOperand, const float *,
                            MatrixOperand, float, float *);
template bool narrowProduct(int64_t, int64_t, int64_t, double, const double *, MatrixOperand, const double *,
                            MatrixOperand, double, double *);

} // namespace toy::rt
