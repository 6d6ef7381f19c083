// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gives threads rows, or blocks of a long sum.
#include "runtime/NarrowProducts.h"
#include "runtime/ColumnKernels.h"
#include "runtime/FewRowsKernels.h"
#include "runtime/NarrowKernels.h"
#include "runtime/Parallel.h"
#include "runtime/Scratch.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <vector>

namespace toy::rt {
namespace {

constexpr int64_t severalVectors = 2 << 20; ///< bytes of a matrix up to which it stays in a cache for several vectors

template <typename T> const auto &kernelsOf(const NarrowProduct<T> &) {
  return TOY_KERNELS_OF_TYPE(T, narrowKernelsF32, narrowKernelsF64);
}
template <typename T> const auto &kernelsOf(const ComplexRows<T> &) {
  return TOY_KERNELS_OF_TYPE(T, complexRowKernelsC64, complexRowKernelsC128);
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

template <typename T> const ColumnKernels<T> &columnKernels() {
  return TOY_KERNELS_OF_TYPE(T, columnKernelsF32, columnKernelsF64);
}
template <typename T>
void rowsOfColumns(const NarrowProduct<T> &x, int64_t begin, int64_t end, const ColumnTiles &tiles, void *room) {
  columnKernels<T>().rows(x, begin, end, tiles, room);
}
template <typename T>
void rowsOfColumns(const ComplexRows<T> &x, int64_t begin, int64_t end, const ColumnTiles &tiles, void *room) {
  columnKernels<T>().complexRows(x, begin, end, tiles, room);
}

/// Rows [0, n) of a matrix whose columns lie together, whose numbers have so many bytes, by some
/// vectors. Of few columns, or in the second cache all columns of a few
/// rows are read before others; what does not fit is read as it lies, a few columns at a time.
template <typename Product> void byColumns(const Product &x, int64_t n, int64_t work, int64_t bytes, int64_t vectors) {
  constexpr int64_t grain = 1 << 15, cached = 1 << 19, fewColumns = 64;
  struct Context {
    const Product &x;
    ColumnTiles tiles;
    int64_t vectors;
  } context{x, {8192, vectors == 1 && (x.k <= fewColumns || n * x.k * bytes <= cached)}, vectors};
  if (vectors > 1)
    context.tiles.bytes = 1024;
  const int64_t ofTile = std::min(context.tiles.bytes / bytes, (n + threads() - 1) / threads());
  parallelFor(
      n, std::max(ofTile, grain / std::clamp<int64_t>(work, 1, grain)),
      [](void *opaque, int64_t begin, int64_t end) {
        const auto &[x, tiles, vectors] = *static_cast<const Context *>(opaque);
        constexpr int64_t few = 4096;
        alignas(64) std::byte little[few];
        if (tiles.room(vectors) <= few)
          return rowsOfColumns(x, begin, end, tiles, little);
        const Scratch<std::byte> room(tiles.room(vectors));
        rowsOfColumns(x, begin, end, tiles, room.data());
      },
      &context);
}

template <typename T>
void copyStrided(const T *from, int64_t outerFrom, int64_t innerFrom, int64_t outer, int64_t inner, T *to,
                 int64_t outerTo, int64_t innerTo) {
  for (int64_t i = 0; i < outer; ++i, from += outerFrom, to += outerTo)
    for (int64_t j = 0; j < inner; ++j)
      to[j * innerTo] = from[j * innerFrom];
}

/// Rows whose elements do not lie together, copied some at a time.
template <typename Product, typename T>
void byCopies(Product x, int64_t n, int64_t work, const T *a, const MatrixOperand &o, int64_t step) {
  constexpr int64_t grain = 1 << 15, copied = 1 << 13; // elements
  struct Context {
    const Product &x;
    const T *a;
    const MatrixOperand &o;
    int64_t step;
  } context{x, a, o, step};
  parallelFor(
      n, std::max<int64_t>(1, grain / std::clamp<int64_t>(work, 1, grain)),
      [](void *opaque, int64_t begin, int64_t end) {
        const auto &[whole, a, o, step] = *static_cast<const Context *>(opaque);
        const int64_t together = std::clamp<int64_t>(copied / std::max<int64_t>(whole.k, 1), 1, end - begin);
        const Scratch<T> rows(together * whole.k);
        for (int64_t first = begin; first < end; first += together) {
          const int64_t count = std::min(together, end - first);
          const T *from = a + first * o.rowStride;
          if (std::abs(o.rowStride) < std::abs(o.columnStride))
            copyStrided(from, o.columnStride, o.rowStride, whole.k, count, rows.data(), 1, whole.k);
          else
            copyStrided(from, o.rowStride, o.columnStride, count, whole.k, rows.data(), whole.k, 1);
          Product x = whole;
          x.a = reinterpret_cast<decltype(x.a)>(rows.data());
          x.stride = whole.k;
          x.c += first * step;
          kernelsOf(x).rows(x, 0, count);
        }
      },
      &context);
}

template <typename T> const FewRowsKernels<T> &fewRowsKernels() {
  return TOY_KERNELS_OF_TYPE(T, fewRowsKernelsF32, fewRowsKernelsF64);
}
/// Several vectors by the n rows of a matrix that stays in a cache, which threads share.
template <typename T> void fewRows(const NarrowProduct<T> &x, int64_t n, const T *a, const MatrixOperand &o) {
  constexpr int64_t grain = 1 << 15, together = 64;
  FewRowsProduct<T> product{x.count,     x.k, x.vectors, x.vectorStride, a,       o.columnStride,
                            o.rowStride, x.c, x.column,  x.row,          x.alpha, x.beta};
  std::vector<T> scratch;
  if (o.rowStride != 1 && o.columnStride != 1) {
    scratch.resize(n * x.k);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t p = 0; p < x.k; ++p)
        scratch[i * x.k + p] = a[i * o.rowStride + p * o.columnStride];
    product.b = scratch.data();
    product.bRow = 1;
    product.bColumn = x.k;
  }
  parallelFor(
      n, std::max(together, grain / std::max<int64_t>(x.k * x.count, 1)),
      [](void *context, int64_t begin, int64_t end) {
        fewRowsKernels<T>().columns(*static_cast<const FewRowsProduct<T> *>(context), begin, end);
      },
      &product);
}

/// How an operand with several rows lies. A single column is one, too.
enum class Layout { Rows, Columns, Apart };
Layout layoutOf(const MatrixOperand &o, int64_t k) {
  return o.rowStride == 1 && (o.columnStride != 1 || k == 1) ? Layout::Columns
         : o.columnStride == 1                               ? Layout::Rows
                                                             : Layout::Apart;
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
  const bool isCached = n > 1 && bytes <= severalVectors; // bound by arithmetic
  constexpr int64_t shallow = 64;                         // lanes would have few elements
  if (n > narrowest || (isCached && (k <= shallow || !fewRowsKernels<T>().columns)))
    return false;
  std::vector<T> scratch, scratchRow;
  x.vectors = columnsTogether(b, bo, k, n, scratch);
  x.vectorStride = scratch.empty() ? bo.columnStride : k;
  x.k = k;
  x.count = n;
  x.c = c;
  x.alpha = alpha;
  x.beta = beta;
  if (isCached) {
    fewRows(x, m, a, ao);
    return true;
  }
  x.a = m == 1 ? columnsTogether(a, {nullptr, ao.columnStride, ao.rowStride, nullptr}, k, 1, scratchRow) : a;
  const Layout layout = m == 1 ? Layout::Rows : layoutOf(ao, k);
  x.stride = layout == Layout::Columns ? ao.columnStride : ao.rowStride;
  if (m == 1 && n == 1 && k > sumBlock)
    longSum(x);
  else if (layout == Layout::Rows)
    inPieces(x, m, k * n);
  else if (layout == Layout::Columns)
    byColumns(x, m, k * n, sizeof(T), n);
  else
    byCopies(x, m, k * n, a, ao, x.row);
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
  if (n != 1)
    return false;
  std::vector<std::complex<T>> scratch, scratchRow;
  const auto *vector = columnsTogether(b, bo, k, 1, scratch);
  const auto *rows = m == 1 ? columnsTogether(a, {nullptr, ao.columnStride, 1, nullptr}, k, 1, scratchRow) : a;
  const Layout layout = m == 1 ? Layout::Rows : layoutOf(ao, k);
  ComplexRows<T> x{k,
                   reinterpret_cast<const T *>(rows),
                   layout == Layout::Columns ? ao.columnStride : ao.rowStride,
                   ao.conjugate,
                   reinterpret_cast<const T *>(vector),
                   bo.conjugate,
                   reinterpret_cast<T *>(c),
                   1};
  if (m == 1 && k > sumBlock)
    std::ranges::copy(sumOfBlocks<2>(x), x.c);
  else if (layout == Layout::Rows)
    inPieces(x, m, 4 * k);
  else if (layout == Layout::Columns)
    byColumns(x, m, 4 * k, sizeof(*a), 1);
  else
    byCopies(x, m, 4 * k, a, ao, 2);
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
