// SPDX-License-Identifier: Apache-2.0
/// \file
/// LAPACK's drivers for f32, f64, c64 and c128, from OpenBLAS, with work space handled. Matrices are column-major; the
/// result is LAPACK's `info`.
#pragma once

#include "runtime/OpenBlas.h"

#include <algorithm>
#include <complex>
#include <type_traits>
#include <vector>

namespace toy::rt {

template <typename T> struct RealOf {
  using type = T;
};
template <typename T> struct RealOf<std::complex<T>> {
  using type = T;
};
template <typename T> using Real = typename RealOf<T>::type;
template <typename T> constexpr bool isComplexScalar = !std::is_same_v<T, Real<T>>;

template <typename T> struct Lapack {
  using R = Real<T>;
  using Int = int;
  static constexpr bool complex = isComplexScalar<T>;
  static constexpr char letter = complex ? (sizeof(R) == 4 ? 'c' : 'z') : sizeof(R) == 4 ? 's' : 'd';

  /// Room for matrices of so many rows. OpenBLAS 0.3.21 multiplies complex ones of 4k + 2 rows by vectors with loads
  /// of one column more (gemv_n as GCC 12 vectorizes it), which eigenvalues, singular values and least squares use.
  static std::vector<T> room(size_t count, size_t rows) { return std::vector<T>(count + (complex ? rows + 4 : 0)); }

  /// A = P L U; info > 0: U is singular.
  static Int getrf(Int m, Int n, T *a, Int *pivots) {
    static const auto f = symbol<void(const Int *, const Int *, T *, const Int *, Int *, Int *)>("getrf");
    Int info = 0;
    f(&m, &n, a, &m, pivots, &info);
    return info;
  }
  static Int getri(Int n, T *a, const Int *pivots) {
    static const auto f = symbol<void(const Int *, T *, const Int *, const Int *, T *, const Int *, Int *)>("getri");
    return withWork(n, [&](T *work, Int size, Int &info) { f(&n, a, &n, pivots, work, &size, &info); });
  }
  /// Solves op(A) X = B from A's factors.
  static Int getrs(char op, Int n, Int columns, const T *a, const Int *pivots, T *b) {
    static const auto f = symbol<void(const char *, const Int *, const Int *, const T *, const Int *, const Int *, T *,
                                      const Int *, Int *, size_t)>("getrs");
    Int info = 0;
    f(&op, &n, &columns, a, &n, pivots, b, &n, &info, 1);
    return info;
  }
  /// Solves op(A) X = B with a triangle of A; info > 0: it is singular.
  static Int trtrs(char triangle, char op, Int n, Int columns, const T *a, T *b) {
    static const auto f = symbol<void(const char *, const char *, const char *, const Int *, const Int *, const T *,
                                      const Int *, T *, const Int *, Int *, size_t, size_t, size_t)>("trtrs");
    Int info = 0;
    char diagonal = 'N';
    f(&triangle, &op, &diagonal, &n, &columns, a, &n, b, &n, &info, 1, 1, 1);
    return info;
  }
  static Int potrf(char triangle, Int n, T *a) {
    static const auto f = symbol<void(const char *, const Int *, T *, const Int *, Int *, size_t)>("potrf");
    Int info = 0;
    f(&triangle, &n, a, &n, &info, 1);
    return info;
  }
  static Int geqrf(Int m, Int n, T *a, T *tau) {
    static const auto f =
        symbol<void(const Int *, const Int *, T *, const Int *, T *, T *, const Int *, Int *)>("geqrf");
    return withWork(m, [&](T *work, Int size, Int &info) { f(&m, &n, a, &m, tau, work, &size, &info); });
  }
  /// The first k columns of Q from geqrf's result.
  static Int orgqr(Int m, Int k, T *a, const T *tau) {
    static const auto f =
        symbol<void(const Int *, const Int *, const Int *, T *, const Int *, const T *, T *, const Int *, Int *)>(
            complex ? "ungqr" : "orgqr");
    return withWork(m, [&](T *work, Int size, Int &info) { f(&m, &k, &k, a, &m, tau, work, &size, &info); });
  }
  /// job 'A' all, 'S' the first min(m, n) singular vectors, 'N' none.
  static Int gesdd(char job, Int m, Int n, T *a, R *s, T *u, T *vt) {
    Int k = std::min(m, n), vtRows = job == 'A' ? n : k;
    std::vector<Int> integers(8 * std::max(k, 1));
    if constexpr (complex) {
      static const auto f = symbol<void(const char *, const Int *, const Int *, T *, const Int *, R *, T *, const Int *,
                                        T *, const Int *, T *, const Int *, R *, Int *, Int *, size_t)>("gesdd");
      size_t mn = std::min(m, n), mx = std::max(m, n);
      std::vector<R> reals(std::max<size_t>(1, mn * std::max(5 * mn + 7, 2 * mx + 2 * mn + 1)));
      return withWork(std::max(m, n), [&](T *work, Int size, Int &info) {
        f(&job, &m, &n, a, &m, s, u, &m, vt, &vtRows, work, &size, reals.data(), integers.data(), &info, 1);
      });
    } else {
      static const auto f = symbol<void(const char *, const Int *, const Int *, T *, const Int *, R *, T *, const Int *,
                                        T *, const Int *, T *, const Int *, Int *, Int *, size_t)>("gesdd");
      return withWork(std::max(m, n), [&](T *work, Int size, Int &info) {
        f(&job, &m, &n, a, &m, s, u, &m, vt, &vtRows, work, &size, integers.data(), &info, 1);
      });
    }
  }
  /// Eigenvalues and, unless null, right eigenvectors (columns).
  static Int geev(Int n, T *a, std::complex<R> *w, std::complex<R> *v) {
    char none = 'N', job = v ? 'V' : 'N';
    Int one = 1;
    if constexpr (complex) {
      static const auto f =
          symbol<void(const char *, const char *, const Int *, T *, const Int *, T *, T *, const Int *, T *,
                      const Int *, T *, const Int *, R *, Int *, size_t, size_t)>("geev");
      std::vector<R> reals(2 * std::max(n, 1));
      T unused;
      return withWork(n, [&](T *work, Int size, Int &info) {
        f(&none, &job, &n, a, &n, w, &unused, &one, v ? v : &unused, v ? &n : &one, work, &size, reals.data(), &info, 1,
          1);
      });
    } else {
      static const auto f =
          symbol<void(const char *, const char *, const Int *, T *, const Int *, T *, T *, T *, const Int *, T *,
                      const Int *, T *, const Int *, Int *, size_t, size_t)>("geev");
      std::vector<R> re(std::max(n, 1)), im(std::max(n, 1)), vectors(v ? size_t(n) * n + 1 : 1);
      R unused;
      Int info = withWork(n, [&](T *work, Int size, Int &i) {
        f(&none, &job, &n, a, &n, re.data(), im.data(), &unused, &one, vectors.data(), v ? &n : &one, work, &size, &i,
          1, 1);
      });
      for (Int j = 0; j < n; ++j)
        w[j] = {re[j], im[j]};
      for (Int j = 0; v && j < n; ++j)
        for (Int i = 0; i < n; ++i) {
          const R *column = &vectors[size_t(j) * n];
          if (im[j] == 0)
            v[size_t(j) * n + i] = column[i];
          else if (im[j] > 0) { // a pair: column j holds the real parts, j + 1 the imaginary ones
            v[size_t(j) * n + i] = {column[i], column[n + i]};
            v[size_t(j + 1) * n + i] = {column[i], -column[n + i]};
          }
        }
      return info;
    }
  }
  /// Steps of geev. Rows and columns [low, high], from 1 on, are what is left when isolated eigenvalues are at the
  /// ends, and scaled alike.
  static void gebal(Int n, T *a, Int &low, Int &high, R *scales) {
    static const auto f =
        symbol<void(const char *, const Int *, T *, const Int *, Int *, Int *, R *, Int *, size_t)>("gebal");
    const char both = 'B';
    Int info = 0;
    f(&both, &n, a, &n, &low, &high, scales, &info, 1);
  }
  static void gebak(Int n, Int low, Int high, const R *scales, T *v) {
    static const auto f = symbol<void(const char *, const char *, const Int *, const Int *, const Int *, const R *,
                                      const Int *, T *, const Int *, Int *, size_t, size_t)>("gebak");
    const char both = 'B', right = 'R';
    Int info = 0;
    f(&both, &right, &n, &low, &high, scales, &n, v, &n, &info, 1, 1);
  }
  /// A real matrix of two rows becomes (a b; c a) with b and c of different signs, or c is 0, by a rotation.
  static void lanv2(R &a, R &b, R &c, R &d, R &re, R &im, R &re2, R &im2, R &cosine, R &sine) {
    static const auto f = symbol<void(R *, R *, R *, R *, R *, R *, R *, R *, R *, R *)>("lanv2");
    f(&a, &b, &c, &d, &re, &im, &re2, &im2, &cosine, &sine);
  }
  /// z becomes the eigenvectors: pairs of columns are real and imaginary parts. Work has 3 n elements.
  static void trevc(Int n, T *h, T *z, T *work, R *reals) {
    const char right = 'R', back = 'B';
    const Int unused = 0, one = 1;
    Int found = 0, info = 0;
    T none{};
    if constexpr (complex) {
      static const auto f =
          symbol<void(const char *, const char *, const Int *, const Int *, T *, const Int *, T *, const Int *, T *,
                      const Int *, const Int *, Int *, T *, R *, Int *, size_t, size_t)>("trevc");
      f(&right, &back, &unused, &n, h, &n, &none, &one, z, &n, &n, &found, work, reals, &info, 1, 1);
    } else {
      static const auto f =
          symbol<void(const char *, const char *, const Int *, const Int *, T *, const Int *, T *, const Int *, T *,
                      const Int *, const Int *, Int *, T *, Int *, size_t, size_t)>("trevc");
      f(&right, &back, &unused, &n, h, &n, &none, &one, z, &n, &n, &found, work, &info, 1, 1);
    }
  }
  /// Eigenvalues in ascending order; with job 'V' a becomes the eigenvectors, with 'N' there are none.
  static Int heevd(char job, char triangle, Int n, T *a, R *w) {
    Int integerSize = 3 + 5 * n;
    std::vector<Int> integers(integerSize);
    if constexpr (complex) {
      static const auto f =
          symbol<void(const char *, const char *, const Int *, T *, const Int *, R *, T *, const Int *, R *,
                      const Int *, Int *, const Int *, Int *, size_t, size_t)>("heevd");
      Int realSize = 1 + 5 * n + 2 * n * n;
      std::vector<R> reals(realSize);
      return withWork(n, [&](T *work, Int size, Int &info) {
        f(&job, &triangle, &n, a, &n, w, work, &size, reals.data(), &realSize, integers.data(), &integerSize, &info, 1,
          1);
      });
    } else {
      static const auto f = symbol<void(const char *, const char *, const Int *, T *, const Int *, R *, T *,
                                        const Int *, Int *, const Int *, Int *, size_t, size_t)>("syevd");
      return withWork(n, [&](T *work, Int size, Int &info) {
        f(&job, &triangle, &n, a, &n, w, work, &size, integers.data(), &integerSize, &info, 1, 1);
      });
    }
  }
  /// Least squares by singular values; b has max(m, n) rows and becomes the solution.
  static Int gelsd(Int m, Int n, Int columns, T *a, T *b, R *s, R rcond, Int &rank) {
    Int rows = std::max({m, n, 1}), k = std::max(std::min(m, n), 1);
    std::vector<Int> integers(size_t(k) * (3 * 32 + 11) + 64);
    if constexpr (complex) {
      static const auto f = symbol<void(const Int *, const Int *, const Int *, T *, const Int *, T *, const Int *, R *,
                                        const R *, Int *, T *, const Int *, R *, Int *, Int *)>("gelsd");
      std::vector<R> reals(10 * size_t(k) + 2 * 25 * size_t(k) + 8 * size_t(k) * 32 + 3 * 25 * size_t(columns) +
                           std::max<size_t>(26 * 26, size_t(n) * (1 + columns) + 2 * columns) + 64);
      return withWork(rows, [&](T *work, Int size, Int &info) {
        f(&m, &n, &columns, a, &m, b, &rows, s, &rcond, &rank, work, &size, reals.data(), integers.data(), &info);
      });
    } else {
      static const auto f = symbol<void(const Int *, const Int *, const Int *, T *, const Int *, T *, const Int *, R *,
                                        const R *, Int *, T *, const Int *, Int *, Int *)>("gelsd");
      return withWork(rows, [&](T *work, Int size, Int &info) {
        f(&m, &n, &columns, a, &m, b, &rows, s, &rcond, &rank, work, &size, integers.data(), &info);
      });
    }
  }

private:
  template <typename F> static F *symbol(const char *name) {
    return reinterpret_cast<F *>(openBlasSymbol(std::string(1, letter) + name + "_"));
  }

  /// Asks for the best work space, then calls with it. There are matrices of so many rows in it.
  template <typename F> static Int withWork(Int rows, F call) {
    T best{};
    Int info = 0;
    call(&best, -1, info);
    if (info != 0)
      return info;
    const Int size = std::max(1, static_cast<Int>(std::real(best)));
    std::vector<T> work = room(size, rows);
    call(work.data(), size, info);
    return info;
  }
};

} // namespace toy::rt
