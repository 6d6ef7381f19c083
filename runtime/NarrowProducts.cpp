// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gives threads rows, or blocks of a long sum.
#include "runtime/NarrowProducts.h"
#include "runtime/NarrowKernels.h"
#include "runtime/Parallel.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <vector>

namespace toy::rt {
namespace {

constexpr int64_t severalVectors = 2 << 20; ///< bytes of a matrix above which a product by several vectors is ours

template <typename T> const auto &kernelsOf(const NarrowProduct<T> &) {
  static const NarrowKernels<T> chosen = [] {
    if constexpr (std::is_same_v<T, float>)
      return TOY_KERNELS_OF_MACHINE(narrowKernelsF32);
    else
      return TOY_KERNELS_OF_MACHINE(narrowKernelsF64);
  }();
  return chosen;
}
template <typename T> const auto &kernelsOf(const ComplexRows<T> &) {
  static const ComplexRowKernels<T> chosen = [] {
    if constexpr (std::is_same_v<T, float>)
      return TOY_KERNELS_OF_MACHINE(complexRowKernelsC64);
    else
      return TOY_KERNELS_OF_MACHINE(complexRowKernelsC128);
  }();
  return chosen;
}

/// Rows [0, n) in pieces that are worth a thread; each is so much work. Of rows of several blocks, as many together as
/// leave all threads some: a part of the vector is in a cache for them.
template <typename Product> void inPieces(const Product &x, int64_t n, int64_t work) {
  constexpr int64_t grain = 1 << 15, together = 16;
  const int64_t ofLong = x.k > sumBlock ? std::clamp<int64_t>(n / threads(), 1, together) : 1;
  parallelFor(
      n, std::max(ofLong, grain / std::clamp<int64_t>(work, 1, grain)),
      [](void *context, int64_t begin, int64_t end) {
        const auto &product = *static_cast<const Product *>(context);
        kernelsOf(product).rows(product, begin, end);
      },
      const_cast<Product *>(&x));
}

/// The sum of one long row of products, of numbers of so many parts: threads own its blocks, which are added in order.
template <int parts, typename Product> auto sumOfBlocks(Product blocks) {
  using T = std::remove_reference_t<decltype(*blocks.c)>;
  const int64_t k = blocks.k, whole = k / sumBlock, count = (k + sumBlock - 1) / sumBlock;
  std::vector<T> sums(parts * count);
  blocks.k = blocks.stride = blocks.shift = sumBlock;
  blocks.c = sums.data();
  inPieces(blocks, whole, parts * parts * sumBlock);
  if (whole < count) {
    blocks.a += parts * whole * sumBlock;
    blocks.vectors += parts * whole * sumBlock;
    blocks.k = k - whole * sumBlock;
    blocks.c += parts * whole;
    kernelsOf(blocks).rows(blocks, 0, 1);
  }
  std::array<T, parts> sum;
  std::copy_n(sums.data(), parts, sum.data());
  for (int64_t i = 1; i < count; ++i)
    for (int part = 0; part < parts; ++part)
      sum[part] += sums[parts * i + part];
  return sum;
}

template <typename T> void longSum(const NarrowProduct<T> &x) {
  NarrowProduct<T> blocks = x;
  blocks.row = 1;
  blocks.alpha = 1;
  blocks.beta = 0;
  const T sum = sumOfBlocks<1>(blocks)[0], scaled = x.alpha == 1 ? sum : x.alpha * sum;
  *x.c = x.beta == 0 ? scaled : scaled + x.beta * *x.c;
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
  constexpr int64_t shortRow = 32, fewOfBlas = 64; // between, BLAS adds several rows side by side
  if (n != 1 || (m > 1 && (ao.columnStride != 1 || (k > shortRow && k <= fewOfBlas))))
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
    std::ranges::copy(sumOfBlocks<2>(x), x.c);
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
