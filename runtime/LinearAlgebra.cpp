// SPDX-License-Identifier: Apache-2.0
/// \file
/// Linear algebra on batches of row-major matrices. LAPACK sees a row-major matrix as its transpose; where the factors
/// of the transpose are the wanted ones in another layout, nothing is copied.
#include "runtime/Lapack.h"
#include "runtime/Library.h"

#include "runtime/Error.h"
#include "runtime/Parallel.h"
#include "runtime/SmallMatrices.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace toy::rt {
namespace {

template <typename T>
constexpr DType dtypeOf = std::is_same_v<T, float>                 ? DType::F32
                          : std::is_same_v<T, double>              ? DType::F64
                          : std::is_same_v<T, std::complex<float>> ? DType::C64
                                                                   : DType::C128;

/// Calls f with a value of the dtype's C++ type.
template <typename F> auto dispatch(DType dtype, F f) {
  switch (dtype) {
  case DType::F32:
    return f(float());
  case DType::F64:
    return f(double());
  case DType::C64:
    return f(std::complex<float>());
  default:
    return f(std::complex<double>());
  }
}

/// The matrices of a tensor's last two axes.
struct Matrices {
  std::vector<int64_t> batch;
  int64_t count = 1, m, n;
  explicit Matrices(const Tensor &t)
      : batch(t.sizes, t.sizes + t.rank - 2), m(t.sizes[t.rank - 2]), n(t.sizes[t.rank - 1]) {
    for (int64_t size : batch)
      count *= size;
  }
  TensorRef make(DType dtype, std::initializer_list<int64_t> matrix) const {
    std::vector<int64_t> sizes(batch);
    sizes.insert(sizes.end(), matrix);
    return TensorRef(newTensor(dtype, sizes));
  }
  std::string label(int64_t i) const { return batch.empty() ? "" : " " + std::to_string(i) + " of the batch"; }
};

TensorRef copyOf(const Tensor &t) {
  TensorRef out(newTensor(t.dtype, t.shape()));
  std::memcpy(out->data, t.data, t.count() * sizeOf(t.dtype));
  return out;
}

/// m x n row-major to column-major.
template <typename T> void transpose(const T *from, T *to, int64_t m, int64_t n) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      to[j * m + i] = from[i * n + j];
}

template <typename T> void needFinite(const T *x, int64_t count, const char *name, const std::string &label) {
  for (int64_t i = 0; i < count; ++i)
    if (!std::isfinite(std::real(x[i])) || !std::isfinite(std::imag(x[i])))
      fail(DiagId::NoConvergence, {name, ": the matrix" + label + " holds nan or infinity"});
}
void needConvergence(int info, const char *name, const std::string &label) {
  if (info != 0)
    fail(DiagId::NoConvergence, {name, label.empty() ? "" : " for matrix" + label});
}

/// Runs a kernel over pieces of a batch of small square matrices, each with a result of `resultSize` elements; false
/// where they are not small. A matrix that it fails for is the error `failure`. Ctrl-C is looked for between pieces.
template <typename T>
bool bySmallKernels(const Matrices &a, SmallMatrices all, int64_t resultSize,
                    int64_t (*SmallMatrixKernels::*kernel)(const SmallMatrices &), DiagId failure, const char *name) {
  if (a.n == 0 || a.n > SmallMatrices::largest)
    return false;
  constexpr int64_t piece = 1024;
  const auto *x = static_cast<const T *>(all.a), *b = static_cast<const T *>(all.b);
  auto *out = static_cast<T *>(all.out);
  for (int64_t first = 0; first < a.count; first += piece) {
    if (first > 0)
      poll();
    all.order = a.n;
    all.count = std::min(piece, a.count - first);
    all.a = x + first * a.n * a.n;
    all.b = b ? b + first * a.n * all.columns : nullptr;
    all.out = out + first * resultSize;
    if (int64_t failed = (smallMatrices<T>().*kernel)(all); failed >= 0)
      fail(failure, {name, a.label(first + failed)});
  }
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
    std::vector<int> pivots(a.n);
    for (int64_t i = 0; i < a.count; ++i) {
      T *matrix = lu->as<T>() + i * a.n * a.n, value = 1;
      int info = a.n ? Lapack<T>::getrf(a.n, a.n, matrix, pivots.data()) : 0;
      for (int64_t j = 0; j < a.n; ++j)
        value *= pivots[j] == j + 1 ? matrix[j * a.n + j] : -matrix[j * a.n + j];
      out->as<T>()[i] = info > 0 ? T(0) : value;
      poll();
    }
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
    std::vector<int> pivots(a.n);
    for (int64_t i = 0; i < a.count && a.n; ++i) {
      T *matrix = out->as<T>() + i * a.n * a.n;
      if (Lapack<T>::getrf(a.n, a.n, matrix, pivots.data()) != 0 || Lapack<T>::getri(a.n, matrix, pivots.data()) != 0)
        fail(DiagId::SingularMatrix, {"inv", a.label(i)});
      poll();
    }
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
    std::vector<int> pivots(a.n);
    std::vector<T> x(a.n * columns);
    for (int64_t i = 0; i < a.count && a.n; ++i) {
      T *matrix = lu->as<T>() + i * a.n * a.n;
      if (Lapack<T>::getrf(a.n, a.n, matrix, pivots.data()) != 0)
        fail(DiagId::SingularMatrix, {"solve", a.label(i)});
      transpose(arguments[1]->as<T>() + i * a.n * columns, x.data(), a.n, columns);
      Lapack<T>::getrs('T', a.n, columns, matrix, pivots.data(), x.data());
      transpose(x.data(), out->as<T>() + i * a.n * columns, columns, a.n);
      poll();
    }
  });
  return {out};
}

/// The factors over each other, where each row comes from, and the number of swaps.
std::vector<TensorRef> lu(LibraryArguments arguments, LibraryParameters) {
  Matrices a(*arguments[0]);
  TensorRef factors = copyOf(*arguments[0]), order = a.make(DType::I64, {a.m}), swaps = a.make(DType::I64, {});
  dispatch(factors->dtype, [&]<typename T>(T) {
    int64_t k = std::min(a.m, a.n);
    std::vector<int> pivots(k);
    std::vector<T> columns(a.m * a.n);
    for (int64_t i = 0; i < a.count; ++i) {
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
      poll();
    }
  });
  return {factors, order, swaps};
}

/// A row-major triangle is the other one of the transpose.
std::vector<TensorRef> solveTriangular(LibraryArguments arguments, LibraryParameters parameters) {
  Matrices a(*arguments[0]);
  TensorRef out(newTensor(arguments[1]->dtype, arguments[1]->shape()));
  int64_t columns = arguments[1]->rank == 1 ? 1 : arguments[1]->sizes[arguments[1]->rank - 1];
  dispatch(out->dtype, [&]<typename T>(T) {
    std::vector<T> x(a.n * columns);
    for (int64_t i = 0; i < a.count && a.n; ++i) {
      transpose(arguments[1]->as<T>() + i * a.n * columns, x.data(), a.n, columns);
      if (Lapack<T>::trtrs(parameters[0] ? 'U' : 'L', 'T', a.n, columns, arguments[0]->as<T>() + i * a.n * a.n,
                           x.data()) != 0)
        fail(DiagId::SingularMatrix, {"solve_triangular", a.label(i)});
      transpose(x.data(), out->as<T>() + i * a.n * columns, columns, a.n);
      poll();
    }
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
    for (int64_t i = 0; i < a.count && a.n; ++i) {
      T *matrix = out->as<T>() + i * a.n * a.n;
      if (Lapack<T>::potrf('U', a.n, matrix) != 0)
        fail(DiagId::NotPositiveDefinite, {"cholesky", a.label(i)});
      for (int64_t row = 0; row < a.n; ++row)
        std::fill(matrix + row * a.n + row + 1, matrix + (row + 1) * a.n, T(0));
      poll();
    }
  });
  return {out};
}

template <bool hasQ> std::vector<TensorRef> qr(LibraryArguments arguments, LibraryParameters) {
  Matrices a(*arguments[0]);
  int64_t m = a.m, n = a.n, k = std::min(m, n);
  TensorRef q = a.make(arguments[0]->dtype, {hasQ ? m : 0, k}), r = a.make(arguments[0]->dtype, {k, n});
  dispatch(q->dtype, [&]<typename T>(T) {
    if (k > 0 && std::max(m, n) <= SmallMatrices::largest) {
      constexpr int64_t piece = 1024;
      for (int64_t i = 0; i < a.count; i += piece, poll())
        smallMatrices<T>().orthogonal({.order = m,
                                       .count = std::min(piece, a.count - i),
                                       .a = arguments[0]->as<T>() + i * m * n,
                                       .out = hasQ ? q->as<T>() + i * m * k : nullptr,
                                       .columns = n,
                                       .second = r->as<T>() + i * k * n});
      return;
    }
    std::vector<T> columns(m * n), tau(k);
    for (int64_t i = 0; i < a.count && k; ++i) {
      transpose(arguments[0]->as<T>() + i * m * n, columns.data(), m, n);
      Lapack<T>::geqrf(m, n, columns.data(), tau.data());
      for (int64_t row = 0; row < k; ++row)
        for (int64_t j = 0; j < n; ++j)
          r->as<T>()[(i * k + row) * n + j] = j < row ? T(0) : columns[j * m + row];
      if constexpr (hasQ) {
        Lapack<T>::orgqr(m, k, columns.data(), tau.data());
        transpose(columns.data(), q->as<T>() + i * m * k, k, m);
      }
      poll();
    }
  });
  return {q, r};
}

/// A^T = U S V^H in column-major order: V^H is our U and U our V^H, element for element.
std::vector<TensorRef> svd(LibraryArguments arguments, LibraryParameters parameters) {
  Matrices a(*arguments[0]);
  bool full = parameters[0] != 0;
  int64_t m = a.m, n = a.n, k = std::min(m, n);
  DType dtype = arguments[0]->dtype;
  TensorRef u = a.make(dtype, {m, full ? m : k}), s = a.make(realOf(dtype), {k}), vh = a.make(dtype, {full ? n : k, n});
  dispatch(dtype, [&]<typename T>(T) {
    const int64_t leftSize = m * (full ? m : k), rightSize = n * (full ? n : k);
    std::vector<T> matrix = Lapack<T>::room(m * n, n), leftRoom = Lapack<T>::room(leftSize, m),
                   rightRoom = Lapack<T>::room(rightSize, n);
    for (int64_t i = 0; i < a.count; ++i) {
      T *left = u->as<T>() + i * leftSize, *right = vh->as<T>() + i * rightSize;
      if (k == 0) {
        for (int64_t j = 0; full && j < m; ++j)
          for (int64_t l = 0; l < m; ++l)
            left[j * m + l] = T(j == l);
        for (int64_t j = 0; full && j < n; ++j)
          for (int64_t l = 0; l < n; ++l)
            right[j * n + l] = T(j == l);
        continue;
      }
      std::copy_n(arguments[0]->as<T>() + i * m * n, m * n, matrix.data());
      needFinite(matrix.data(), m * n, "svd", a.label(i));
      needConvergence(Lapack<T>::gesdd(full ? 'A' : 'S', n, m, matrix.data(), s->as<Real<T>>() + i * k,
                                       rightRoom.data(), leftRoom.data()),
                      "svd", a.label(i));
      std::copy_n(leftRoom.data(), leftSize, left);
      std::copy_n(rightRoom.data(), rightSize, right);
      poll();
    }
  });
  return {u, s, vh};
}

std::vector<TensorRef> svdvals(LibraryArguments arguments, LibraryParameters) {
  Matrices a(*arguments[0]);
  int64_t m = a.m, n = a.n, k = std::min(m, n);
  TensorRef s = a.make(realOf(arguments[0]->dtype), {k});
  dispatch(arguments[0]->dtype, [&]<typename T>(T) {
    T unused;
    std::vector<T> matrix = Lapack<T>::room(m * n, n);
    for (int64_t i = 0; i < a.count && k; ++i) {
      std::copy_n(arguments[0]->as<T>() + i * m * n, m * n, matrix.data());
      needFinite(matrix.data(), m * n, "svdvals", a.label(i));
      needConvergence(Lapack<T>::gesdd('N', n, m, matrix.data(), s->as<Real<T>>() + i * k, &unused, &unused), "svdvals",
                      a.label(i));
      poll();
    }
  });
  return {s};
}

/// Eigenvalues in LAPACK's order; of a real matrix in exact conjugate pairs.
std::vector<TensorRef> eigen(const Tensor &x, bool vectors, const char *name) {
  Matrices a(x);
  TensorRef w = a.make(complexOf(x.dtype), {a.n}), v = vectors ? a.make(complexOf(x.dtype), {a.n, a.n}) : TensorRef();
  dispatch(x.dtype, [&]<typename T>(T) {
    using C = std::complex<Real<T>>;
    std::vector<T> columns = Lapack<T>::room(a.n * a.n, a.n);
    std::vector<C> found = Lapack<C>::room(vectors ? a.n * a.n : 0, a.n);
    for (int64_t i = 0; i < a.count && a.n; ++i) {
      transpose(x.as<T>() + i * a.n * a.n, columns.data(), a.n, a.n);
      needFinite(columns.data(), a.n * a.n, name, a.label(i));
      needConvergence(Lapack<T>::geev(a.n, columns.data(), w->as<C>() + i * a.n, vectors ? found.data() : nullptr),
                      name, a.label(i));
      if (vectors)
        transpose(found.data(), v->as<C>() + i * a.n * a.n, a.n, a.n);
      poll();
    }
  });
  return vectors ? std::vector<TensorRef>{w, v} : std::vector<TensorRef>{w};
}
std::vector<TensorRef> eig(LibraryArguments arguments, LibraryParameters) { return eigen(*arguments[0], true, "eig"); }
std::vector<TensorRef> eigvals(LibraryArguments arguments, LibraryParameters) {
  return eigen(*arguments[0], false, "eigvals");
}

/// The lower triangle of A is the upper one of its transpose, which is its conjugate.
std::vector<TensorRef> eigh(LibraryArguments arguments, LibraryParameters) {
  Matrices a(*arguments[0]);
  TensorRef w = a.make(realOf(arguments[0]->dtype), {a.n}), v = a.make(arguments[0]->dtype, {a.n, a.n});
  dispatch(v->dtype, [&]<typename T>(T) {
    std::vector<T> columns = Lapack<T>::room(a.n * a.n, a.n);
    for (int64_t i = 0; i < a.count && a.n; ++i) {
      std::copy_n(arguments[0]->as<T>() + i * a.n * a.n, a.n * a.n, columns.data());
      needFinite(columns.data(), a.n * a.n, "eigh", a.label(i));
      needConvergence(Lapack<T>::heevd('V', 'U', a.n, columns.data(), w->as<Real<T>>() + i * a.n), "eigh", a.label(i));
      if constexpr (isComplexScalar<T>)
        for (T &x : columns)
          x = std::conj(x);
      transpose(columns.data(), v->as<T>() + i * a.n * a.n, a.n, a.n);
      poll();
    }
  });
  return {w, v};
}

std::vector<TensorRef> eigvalsh(LibraryArguments arguments, LibraryParameters) {
  Matrices a(*arguments[0]);
  TensorRef w = a.make(realOf(arguments[0]->dtype), {a.n});
  dispatch(arguments[0]->dtype, [&]<typename T>(T) {
    std::vector<T> matrix = Lapack<T>::room(a.n * a.n, a.n);
    for (int64_t i = 0; i < a.count && a.n; ++i) {
      std::copy_n(arguments[0]->as<T>() + i * a.n * a.n, a.n * a.n, matrix.data());
      needFinite(matrix.data(), a.n * a.n, "eigvalsh", a.label(i));
      needConvergence(Lapack<T>::heevd('N', 'U', a.n, matrix.data(), w->as<Real<T>>() + i * a.n), "eigvalsh",
                      a.label(i));
      poll();
    }
  });
  return {w};
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
    needFinite(left.data(), m * n, "lstsq", "");
    needFinite(b.as<T>(), b.count(), "lstsq", "");
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < columns; ++j)
        right[j * rows + i] = b.as<T>()[i * columns + j];
    int rank = 0;
    if (k && columns)
      needConvergence(Lapack<T>::gelsd(m, n, columns, left.data(), right.data(), s->as<R>(),
                                       std::numeric_limits<R>::epsilon() * R(rows), rank),
                      "lstsq", "");
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

/// Eigenvalues of the companion matrix; leading zeros are no coefficients, trailing ones are roots at 0.
std::vector<TensorRef> roots(LibraryArguments arguments, LibraryParameters) {
  const Tensor &p = *arguments[0];
  TensorRef out;
  dispatch(p.dtype, [&]<typename T>(T) {
    const T *first = p.as<T>(), *last = first + p.count();
    while (first < last && *first == T(0))
      ++first;
    int64_t zeros = 0;
    while (last - first > 1 && last[-1] == T(0))
      --last, ++zeros;
    int64_t n = std::max<int64_t>(last - first - 1, 0);
    out = TensorRef(newTensor(complexOf(p.dtype), std::vector<int64_t>{first == last ? 0 : n + zeros}));
    std::memset(out->data, 0, out->count() * sizeOf(out->dtype));
    if (n == 0)
      return;
    TensorRef companion(newTensor(p.dtype, std::vector<int64_t>{n, n}));
    std::fill_n(companion->as<T>(), n * n, T(0));
    for (int64_t j = 0; j < n; ++j)
      companion->as<T>()[j] = -first[j + 1] / first[0];
    for (int64_t i = 1; i < n; ++i)
      companion->as<T>()[i * n + i - 1] = T(1);
    std::memcpy(out->data, eigen(*companion, false, "roots")[0]->data, n * sizeOf(out->dtype));
  });
  return {out};
}

/// Of one matrix: the others are looked at between.
double factorization(LibraryArguments arguments) {
  const Tensor &a = *arguments[0];
  double m = a.rank > 1 ? static_cast<double>(a.sizes[a.rank - 2]) : 1,
         n = a.rank > 0 ? static_cast<double>(a.sizes[a.rank - 1]) : 1;
  return a.rank == 1 ? n * n * n * 10 : m * n * std::min(m, n); // the companion matrix of `roots`
}

constexpr LibraryRow rows[] = {
    {"det", det, factorization},
    {"inv", inv, factorization},
    {"solve", solve, factorization},
    {"cholesky", cholesky, factorization},
    {"qr", qr<true>, factorization, qr<false>},
    {"svd", svd, factorization},
    {"svdvals", svdvals, factorization},
    {"eigvalsh", eigvalsh, factorization},
    {"eig", eig, factorization},
    {"eigvals", eigvals, factorization},
    {"eigh", eigh, factorization},
    {"lstsq", lstsq, factorization},
    {"roots", roots, factorization},
    {"lu", lu, factorization},
    {"solve_triangular", solveTriangular, factorization},
};

} // namespace

std::span<const LibraryRow> linearAlgebraFunctions() { return rows; }

} // namespace toy::rt
