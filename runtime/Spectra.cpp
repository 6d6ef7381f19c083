// SPDX-License-Identifier: Apache-2.0
/// \file
/// Eigenvalues and singular values of batches of matrices: small Hermitian problems in lanes, others by LAPACK.
#include "runtime/Matrices.h"
#include "runtime/Parallel.h"
#include "runtime/SmallEigen.h"
#include "runtime/SmallMatrices.h"

#include <algorithm>
#include <optional>

namespace toy::rt {
namespace {

/// Runs a kernel over a batch of small matrices, with the `results` that begin at a matrix; false where they are not
/// small.
template <typename T, typename F>
bool bySmallSpectra(const Matrices &a, const Tensor &x, int64_t (*kernel)(const SmallMatrices &), const char *name,
                    F results) {
  if (a.m == 0 || a.n == 0 || std::max(a.m, a.n) > SmallMatrices::widestSpectrum)
    return false;
  overBatch(a.count, smallMatricesOfPiece(std::max(a.m, a.n)), [&](int64_t begin, int64_t end) {
    SmallMatrices some = results(begin);
    some.order = a.m;
    some.columns = a.n;
    some.count = end - begin;
    some.a = x.as<T>() + begin * a.m * a.n;
    for (int64_t i = begin; i < end; ++i)
      needFinite(x.as<T>() + i * a.m * a.n, a.m * a.n, name, a.label(i));
    kernel(some);
  });
  return true;
}

constexpr double steps = 10; ///< of a spectrum, in factorizations

/// A^T = U S V^H in column-major order: V^H is our U and U our V^H, element for element.
std::vector<TensorRef> svd(LibraryArguments arguments, LibraryParameters parameters) {
  Matrices a(*arguments[0]);
  bool full = parameters[0] != 0;
  int64_t m = a.m, n = a.n, k = std::min(m, n);
  DType dtype = arguments[0]->dtype;
  TensorRef u = a.make(dtype, {m, full ? m : k}), s = a.make(realOf(dtype), {k}), vh = a.make(dtype, {full ? n : k, n});
  dispatch(dtype, [&]<typename T>(T) {
    const int64_t leftSize = m * (full ? m : k), rightSize = n * (full ? n : k);
    if (bySmallSpectra<T>(a, *arguments[0], smallSpectra<T>().singular, "svd", [&](int64_t i) {
          return SmallMatrices{.out = s->as<Real<T>>() + i * k,
                               .second = u->as<T>() + i * leftSize,
                               .third = vh->as<T>() + i * rightSize,
                               .isFull = full};
        }))
      return;
    overMatrices(a, steps, [&](int64_t begin, int64_t end) {
      std::vector<T> matrix = Lapack<T>::room(m * n, n), leftRoom = Lapack<T>::room(leftSize, m),
                     rightRoom = Lapack<T>::room(rightSize, n);
      for (int64_t i = begin; i < end; ++i) {
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
      }
    });
  });
  return {u, s, vh};
}

std::vector<TensorRef> svdvals(LibraryArguments arguments, LibraryParameters) {
  Matrices a(*arguments[0]);
  int64_t m = a.m, n = a.n, k = std::min(m, n);
  TensorRef s = a.make(realOf(arguments[0]->dtype), {k});
  dispatch(arguments[0]->dtype, [&]<typename T>(T) {
    if (bySmallSpectra<T>(a, *arguments[0], smallSpectra<T>().singular, "svdvals",
                          [&](int64_t i) { return SmallMatrices{.out = s->as<Real<T>>() + i * k}; }))
      return;
    overMatrices(a, steps, [&](int64_t begin, int64_t end) {
      T unused;
      std::vector<T> matrix = Lapack<T>::room(m * n, n);
      for (int64_t i = begin; i < end && k; ++i) {
        std::copy_n(arguments[0]->as<T>() + i * m * n, m * n, matrix.data());
        needFinite(matrix.data(), m * n, "svdvals", a.label(i));
        needConvergence(Lapack<T>::gesdd('N', n, m, matrix.data(), s->as<Real<T>>() + i * k, &unused, &unused),
                        "svdvals", a.label(i));
      }
    });
  });
  return {s};
}

/// Eigenvalues in LAPACK's order; of a real matrix in exact conjugate pairs.
std::vector<TensorRef> eigen(const Tensor &x, bool vectors, const char *name) {
  Matrices a(x);
  TensorRef w = a.make(complexOf(x.dtype), {a.n}), v = vectors ? a.make(complexOf(x.dtype), {a.n, a.n}) : TensorRef();
  dispatch(x.dtype, [&]<typename T>(T) {
    using C = std::complex<Real<T>>;
    overMatrices(a, steps, [&](int64_t begin, int64_t end) {
      std::vector<T> columns = Lapack<T>::room(a.n * a.n, a.n);
      std::vector<C> found = Lapack<C>::room(vectors ? a.n * a.n : 0, a.n);
      std::optional<SmallEigen<T>> small;
      if (a.n > 0 && a.n <= SmallEigen<T>::widest)
        small.emplace(a.n);
      for (int64_t i = begin; i < end && a.n; ++i) {
        transpose(x.as<T>() + i * a.n * a.n, columns.data(), a.n, a.n);
        C *values = w->as<C>() + i * a.n, *columnsFound = vectors ? found.data() : nullptr;
        needFinite(columns.data(), a.n * a.n, name, a.label(i));
        if (!small || !small->find(columns.data(), values, columnsFound))
          needConvergence(Lapack<T>::geev(a.n, columns.data(), values, columnsFound), name, a.label(i));
        if (vectors)
          transpose(found.data(), v->as<C>() + i * a.n * a.n, a.n, a.n);
      }
    });
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
    if (bySmallSpectra<T>(a, *arguments[0], smallSpectra<T>().hermitian, "eigh", [&](int64_t i) {
          return SmallMatrices{.out = w->as<Real<T>>() + i * a.n, .second = v->as<T>() + i * a.n * a.n};
        }))
      return;
    overMatrices(a, steps, [&](int64_t begin, int64_t end) {
      std::vector<T> columns = Lapack<T>::room(a.n * a.n, a.n);
      for (int64_t i = begin; i < end && a.n; ++i) {
        std::copy_n(arguments[0]->as<T>() + i * a.n * a.n, a.n * a.n, columns.data());
        needFinite(columns.data(), a.n * a.n, "eigh", a.label(i));
        needConvergence(Lapack<T>::heevd('V', 'U', a.n, columns.data(), w->as<Real<T>>() + i * a.n), "eigh",
                        a.label(i));
        if constexpr (isComplexScalar<T>)
          for (T &x : columns)
            x = std::conj(x);
        transpose(columns.data(), v->as<T>() + i * a.n * a.n, a.n, a.n);
      }
    });
  });
  return {w, v};
}

std::vector<TensorRef> eigvalsh(LibraryArguments arguments, LibraryParameters) {
  Matrices a(*arguments[0]);
  TensorRef w = a.make(realOf(arguments[0]->dtype), {a.n});
  dispatch(arguments[0]->dtype, [&]<typename T>(T) {
    if (bySmallSpectra<T>(a, *arguments[0], smallSpectra<T>().hermitian, "eigvalsh",
                          [&](int64_t i) { return SmallMatrices{.out = w->as<Real<T>>() + i * a.n}; }))
      return;
    overMatrices(a, steps, [&](int64_t begin, int64_t end) {
      std::vector<T> matrix = Lapack<T>::room(a.n * a.n, a.n);
      for (int64_t i = begin; i < end && a.n; ++i) {
        std::copy_n(arguments[0]->as<T>() + i * a.n * a.n, a.n * a.n, matrix.data());
        needFinite(matrix.data(), a.n * a.n, "eigvalsh", a.label(i));
        needConvergence(Lapack<T>::heevd('N', 'U', a.n, matrix.data(), w->as<Real<T>>() + i * a.n), "eigvalsh",
                        a.label(i));
      }
    });
  });
  return {w};
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

constexpr LibraryRow rows[] = {
    {"svd", svd, factorization},     {"svdvals", svdvals, factorization}, {"eigvalsh", eigvalsh, factorization},
    {"eig", eig, factorization},     {"eigvals", eigvals, factorization}, {"eigh", eigh, factorization},
    {"roots", roots, factorization},
};

} // namespace

std::span<const LibraryRow> spectralFunctions() { return rows; }

} // namespace toy::rt
