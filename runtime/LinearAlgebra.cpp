// SPDX-License-Identifier: Apache-2.0
/// \file
/// Systems, factors and least squares of batches of row-major matrices. LAPACK sees a row-major matrix as its
/// transpose; where the factors of the transpose are the wanted ones in another layout, nothing is copied.
#include "runtime/Matrices.h"
#include "runtime/Parallel.h"
#include "runtime/SmallMatrices.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace toy::rt {
namespace {

/// Runs a kernel over a batch of small square matrices, each with a result of `resultSize` elements; false
/// where they are not small. A matrix that it fails for is the error `failure`.
template <typename T>
bool bySmallKernels(const Matrices &a, SmallMatrices all, int64_t resultSize,
                    int64_t (*SmallMatrixKernels::*kernel)(const SmallMatrices &), DiagId failure, const char *name) {
  if (a.n == 0 || a.n > SmallMatrices::largest)
    return false;
  const auto *x = static_cast<const T *>(all.a), *b = static_cast<const T *>(all.b);
  auto *out = static_cast<T *>(all.out);
  overBatch(a.count, smallMatricesOfPiece(a.n), [&](int64_t begin, int64_t end) {
    SmallMatrices some = all;
    some.order = a.n;
    some.count = end - begin;
    some.a = x + begin * a.n * a.n;
    some.b = b ? b + begin * a.n * all.columns : nullptr;
    some.out = out + begin * resultSize;
    if (int64_t failed = (smallMatrices<T>().*kernel)(some); failed >= 0)
      fail(failure, {name, a.label(begin + failed)});
  });
  return true;
}

std::vector<TensorRef> det(LibraryArguments arguments, LibraryParameters) {
  Matrices a(*arguments[0]);
  TensorRef out = a.make(arguments[0]->dtype, {});
  dispatch(out->dtype, [&]<typename T>(T) {
    if (bySmallKernels<T>(a, {.a = arguments[0]->data, .out = out->data}, 1, &SmallMatrixKernels::determinant,
                          DiagId::SingularMatrix, "det"))
      return;
    TensorRef lu = copyOf(*arguments[0]);
    overMatrices(a, 1, [&](int64_t begin, int64_t end) {
      std::vector<int> pivots(a.n);
      for (int64_t i = begin; i < end; ++i) {
        T *matrix = lu->as<T>() + i * a.n * a.n, value = 1;
        int info = a.n ? Lapack<T>::getrf(a.n, a.n, matrix, pivots.data()) : 0;
        for (int64_t j = 0; j < a.n; ++j)
          value *= pivots[j] == j + 1 ? matrix[j * a.n + j] : -matrix[j * a.n + j];
        out->as<T>()[i] = info > 0 ? T(0) : value;
      }
    });
  });
  return {out};
}

std::vector<TensorRef> inv(LibraryArguments arguments, LibraryParameters) {
  Matrices a(*arguments[0]);
  TensorRef out = copyOf(*arguments[0]);
  dispatch(out->dtype, [&]<typename T>(T) {
    if (bySmallKernels<T>(a, {.a = arguments[0]->data, .out = out->data}, a.n * a.n, &SmallMatrixKernels::inverse,
                          DiagId::SingularMatrix, "inv"))
      return;
    overMatrices(a, 1, [&](int64_t begin, int64_t end) {
      std::vector<int> pivots(a.n);
      for (int64_t i = begin; i < end && a.n; ++i) {
        T *matrix = out->as<T>() + i * a.n * a.n;
        if (Lapack<T>::getrf(a.n, a.n, matrix, pivots.data()) != 0 || Lapack<T>::getri(a.n, matrix, pivots.data()) != 0)
          fail(DiagId::SingularMatrix, {"inv", a.label(i)});
      }
    });
  });
  return {out};
}

std::vector<TensorRef> solve(LibraryArguments arguments, LibraryParameters) {
  Matrices a(*arguments[0]);
  TensorRef out(newTensor(arguments[1]->dtype, arguments[1]->shape()));
  int64_t columns = arguments[1]->rank == 1 ? 1 : arguments[1]->sizes[arguments[1]->rank - 1];
  dispatch(out->dtype, [&]<typename T>(T) {
    const SmallMatrices small{.a = arguments[0]->data, .out = out->data, .b = arguments[1]->data, .columns = columns};
    if (bySmallKernels<T>(a, small, a.n * columns, &SmallMatrixKernels::solve, DiagId::SingularMatrix, "solve"))
      return;
    TensorRef lu = copyOf(*arguments[0]);
    overMatrices(a, 1, [&](int64_t begin, int64_t end) {
      std::vector<int> pivots(a.n);
      std::vector<T> x(a.n * columns);
      for (int64_t i = begin; i < end && a.n; ++i) {
        T *matrix = lu->as<T>() + i * a.n * a.n;
        if (Lapack<T>::getrf(a.n, a.n, matrix, pivots.data()) != 0)
          fail(DiagId::SingularMatrix, {"solve", a.label(i)});
        transpose(arguments[1]->as<T>() + i * a.n * columns, x.data(), a.n, columns);
        Lapack<T>::getrs('T', a.n, columns, matrix, pivots.data(), x.data());
        transpose(x.data(), out->as<T>() + i * a.n * columns, columns, a.n);
      }
    });
  });
  return {out};
}

/// The factors over each other, where each row comes from, and the number of swaps.
std::vector<TensorRef> lu(LibraryArguments arguments, LibraryParameters) {
  Matrices a(*arguments[0]);
  TensorRef factors = copyOf(*arguments[0]), order = a.make(DType::I64, {a.m}), swaps = a.make(DType::I64, {});
  dispatch(factors->dtype, [&]<typename T>(T) {
    int64_t k = std::min(a.m, a.n);
    overMatrices(a, 1, [&](int64_t begin, int64_t end) {
      std::vector<int> pivots(k);
      std::vector<T> columns(a.m * a.n);
      for (int64_t i = begin; i < end; ++i) {
        T *matrix = factors->as<T>() + i * a.m * a.n;
        int64_t *rows = order->as<int64_t>() + i * a.m, swapped = 0;
        std::iota(rows, rows + a.m, 0);
        transpose(matrix, columns.data(), a.m, a.n);
        if (k > 0) // a singular factor is one, too
          Lapack<T>::getrf(a.m, a.n, columns.data(), pivots.data());
        transpose(columns.data(), matrix, a.n, a.m);
        for (int64_t j = 0; j < k; ++j) {
          swapped += pivots[j] != j + 1;
          std::swap(rows[j], rows[pivots[j] - 1]);
        }
        swaps->as<int64_t>()[i] = swapped;
      }
    });
  });
  return {factors, order, swaps};
}

/// A row-major triangle is the other one of the transpose.
std::vector<TensorRef> solveTriangular(LibraryArguments arguments, LibraryParameters parameters) {
  Matrices a(*arguments[0]);
  TensorRef out(newTensor(arguments[1]->dtype, arguments[1]->shape()));
  int64_t columns = arguments[1]->rank == 1 ? 1 : arguments[1]->sizes[arguments[1]->rank - 1];
  dispatch(out->dtype, [&]<typename T>(T) {
    overMatrices(a, double(columns) / std::max<int64_t>(a.n, 1), [&](int64_t begin, int64_t end) {
      std::vector<T> x(a.n * columns);
      for (int64_t i = begin; i < end && a.n; ++i) {
        transpose(arguments[1]->as<T>() + i * a.n * columns, x.data(), a.n, columns);
        if (Lapack<T>::trtrs(parameters[0] ? 'U' : 'L', 'T', a.n, columns, arguments[0]->as<T>() + i * a.n * a.n,
                             x.data()) != 0)
          fail(DiagId::SingularMatrix, {"solve_triangular", a.label(i)});
        transpose(x.data(), out->as<T>() + i * a.n * columns, columns, a.n);
      }
    });
  });
  return {out};
}

/// Row-major, the lower triangle: what LAPACK calls the upper triangle of the transpose.
std::vector<TensorRef> cholesky(LibraryArguments arguments, LibraryParameters) {
  Matrices a(*arguments[0]);
  TensorRef out = copyOf(*arguments[0]);
  dispatch(out->dtype, [&]<typename T>(T) {
    if (bySmallKernels<T>(a, {.a = arguments[0]->data, .out = out->data}, a.n * a.n, &SmallMatrixKernels::cholesky,
                          DiagId::NotPositiveDefinite, "cholesky"))
      return;
    overMatrices(a, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end && a.n; ++i) {
        T *matrix = out->as<T>() + i * a.n * a.n;
        if (Lapack<T>::potrf('U', a.n, matrix) != 0)
          fail(DiagId::NotPositiveDefinite, {"cholesky", a.label(i)});
        for (int64_t row = 0; row < a.n; ++row)
          std::fill(matrix + row * a.n + row + 1, matrix + (row + 1) * a.n, T(0));
      }
    });
  });
  return {out};
}

template <bool hasQ> std::vector<TensorRef> qr(LibraryArguments arguments, LibraryParameters) {
  Matrices a(*arguments[0]);
  int64_t m = a.m, n = a.n, k = std::min(m, n);
  TensorRef q = a.make(arguments[0]->dtype, {hasQ ? m : 0, k}), r = a.make(arguments[0]->dtype, {k, n});
  dispatch(q->dtype, [&]<typename T>(T) {
    if (k > 0 && std::max(m, n) <= SmallMatrices::largest) {
      overBatch(a.count, smallMatricesOfPiece(std::max(m, n)), [&](int64_t i, int64_t end) {
        smallMatrices<T>().orthogonal({.order = m,
                                       .count = end - i,
                                       .a = arguments[0]->as<T>() + i * m * n,
                                       .out = hasQ ? q->as<T>() + i * m * k : nullptr,
                                       .columns = n,
                                       .second = r->as<T>() + i * k * n});
      });
      return;
    }
    overMatrices(a, 1, [&](int64_t begin, int64_t end) {
      std::vector<T> columns(m * n), tau(k);
      for (int64_t i = begin; i < end && k; ++i) {
        transpose(arguments[0]->as<T>() + i * m * n, columns.data(), m, n);
        Lapack<T>::geqrf(m, n, columns.data(), tau.data());
        for (int64_t row = 0; row < k; ++row)
          for (int64_t j = 0; j < n; ++j)
            r->as<T>()[(i * k + row) * n + j] = j < row ? T(0) : columns[j * m + row];
        if constexpr (hasQ) {
          Lapack<T>::orgqr(m, k, columns.data(), tau.data());
          transpose(columns.data(), q->as<T>() + i * m * k, k, m);
        }
      }
    });
  });
  return {q, r};
}

/// NumPy's lstsq: the solution of least norm, squared residuals (where the rank is full and there are more rows than
/// columns), rank, singular values.
std::vector<TensorRef> lstsq(LibraryArguments arguments, LibraryParameters) {
  const Tensor &a = *arguments[0], &b = *arguments[1];
  int64_t m = a.sizes[0], n = a.sizes[1], k = std::min(m, n), columns = b.rank == 1 ? 1 : b.sizes[1],
          rows = std::max(m, n);
  std::vector<int64_t> sizes = {n};
  if (b.rank == 2)
    sizes.push_back(columns);
  TensorRef x(newTensor(a.dtype, sizes)), s(newTensor(realOf(a.dtype), std::vector<int64_t>{k})), residuals;
  int64_t rank64 = 0;
  dispatch(a.dtype, [&]<typename T>(T) {
    using R = Real<T>;
    std::vector<T> left = Lapack<T>::room(m * n, m),
                   right = Lapack<T>::room(std::max<int64_t>(rows * columns, 1), rows);
    transpose(a.as<T>(), left.data(), m, n);
    needFinite(left.data(), m * n, "lstsq", {});
    needFinite(b.as<T>(), b.count(), "lstsq", {});
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < columns; ++j)
        right[j * rows + i] = b.as<T>()[i * columns + j];
    int rank = 0;
    if (k && columns)
      needConvergence(Lapack<T>::gelsd(m, n, columns, left.data(), right.data(), s->as<R>(),
                                       std::numeric_limits<R>::epsilon() * R(rows), rank),
                      "lstsq", {});
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < columns; ++j)
        x->as<T>()[i * columns + j] = k ? right[j * rows + i] : T(0);
    bool hasResiduals = rank == n && m > n;
    residuals = TensorRef(newTensor(realOf(a.dtype), std::vector<int64_t>{hasResiduals ? columns : 0}));
    for (int64_t j = 0; hasResiduals && j < columns; ++j) {
      R sum = 0;
      for (int64_t i = n; i < m; ++i)
        sum += std::norm(right[j * rows + i]);
      residuals->as<R>()[j] = sum;
    }
    rank64 = rank;
  });
  return {x, residuals, TensorRef(newScalar(DType::I64, &rank64)), s};
}

constexpr LibraryRow rows[] = {
    {"det", det, factorization},
    {"inv", inv, factorization},
    {"solve", solve, factorization},
    {"cholesky", cholesky, factorization},
    {"qr", qr<true>, factorization, qr<false>},
    {"lstsq", lstsq, factorization},
    {"lu", lu, factorization},
    {"solve_triangular", solveTriangular, factorization},
};

} // namespace

std::span<const LibraryRow> linearAlgebraFunctions() { return rows; }

} // namespace toy::rt
