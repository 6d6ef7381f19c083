// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built once for each instruction set, without the standard library (see PlanarKernels.cpp). Systems are solved side
/// by side, a matrix in each lane.
#include "runtime/MatrixLanes.h"
#include "runtime/RegisterRows.h"

namespace toy::rt {
namespace {

/// Row-major factors P A = L U by columns, with the largest element of each as its pivot.
template <typename L, int known> struct Factors {
  using Mask = typename L::Mask;
  int64_t n;
  L a[known ? known * known : largest * largest];
  Mask pivots[known ? known : largest], singular = {};

  Factors(const typename L::Part *from, int64_t order, int64_t here) : n(known ? known : order) {
    load<known * known>(a, from, n * n, here);
    for (int64_t j = 0; j < n; ++j) {
      typename L::Vector best = a[j * n + j].size();
      Mask at = Mask(j);
      for (int64_t i = j + 1; i < n; ++i) {
        typename L::Vector size = a[i * n + j].size();
        Mask isLarger = size > best;
        best = isLarger ? size : best;
        at = isLarger ? Mask(i) : at;
      }
      pivots[j] = at;
      singular |= best == 0;
      for (int64_t i = j + 1; i < n; ++i)
        if (isPivot(j, i))
          for (int64_t column = 0; column < n; ++column)
            exchange<L>(at == Mask(i), a[j * n + column], a[i * n + column]);
      for (int64_t i = j + 1; i < n; ++i) {
        L factor = a[i * n + j] / a[j * n + j];
        a[i * n + j] = factor;
        for (int64_t column = j + 1; column < n; ++column)
          a[i * n + column] = a[i * n + column] - factor * a[j * n + column];
      }
    }
  }

  L determinant() const {
    L value = L::of(1);
    for (int64_t j = 0; j < n; ++j)
      value = value * L::choose(pivots[j] == Mask(j), a[j * n + j], -a[j * n + j]);
    return L::choose(singular, L::of(0), value);
  }

  /// Whether row i takes the place of row j in any of the matrices; of few rows, nearly always.
  bool isPivot(int64_t j, int64_t i) const { return known || __builtin_reduce_or(pivots[j] == Mask(i)) != 0; }

  /// The solutions of `width` columns side by side, with `step` between the elements of each, in their places. Some at
  /// a time: the steps of one column wait for each other.
  void solve(L *x, int64_t step, int64_t width) const {
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = j + 1; i < n; ++i)
        if (isPivot(j, i))
          for (int64_t c = 0; c < width; ++c)
            exchange<L>(pivots[j] == Mask(i), x[j * step + c], x[i * step + c]);
    int64_t c = 0;
    for (; c + 4 <= width; c += 4)
      substitute<4>(x + c, step);
    for (; c < width; ++c)
      substitute<1>(x + c, step);
  }
  template <int width> void substitute(L *x, int64_t step) const {
    L row[width];
    auto subtract = [&](int64_t i, int64_t from, int64_t to) {
      for (int c = 0; c < width; ++c)
        row[c] = x[i * step + c];
      for (int64_t j = from; j < to; ++j)
        for (int c = 0; c < width; ++c)
          row[c] = row[c] - a[i * n + j] * x[j * step + c];
    };
    for (int64_t i = 1; i < n; ++i) {
      subtract(i, 0, i);
      for (int c = 0; c < width; ++c)
        x[i * step + c] = row[c];
    }
    for (int64_t i = n; i-- > 0;) {
      subtract(i, i + 1, n);
      for (int c = 0; c < width; ++c)
        x[i * step + c] = row[c] / a[i * n + i];
    }
  }
};

template <typename L, int known> int64_t determinants(const SmallMatrices &x) {
  const auto *a = static_cast<const typename L::Part *>(x.a);
  auto *out = static_cast<typename L::Part *>(x.out);
  return firstFailure<L>(x, [&](int64_t first, int64_t here) -> int64_t {
    L value = Factors<L, known>(a + first * x.order * x.order * L::parts, x.order, here).determinant();
    store<1>(out + first * L::parts, &value, 1, here);
    return -1;
  });
}

template <typename L, int known> int64_t inverses(const SmallMatrices &x) {
  const int64_t n = known ? known : x.order, size = n * n * L::parts;
  const auto *a = static_cast<const typename L::Part *>(x.a);
  auto *out = static_cast<typename L::Part *>(x.out);
  return firstFailure<L>(x, [&](int64_t first, int64_t here) -> int64_t {
    const Factors<L, known> factors(a + first * size, n, here);
    if (int64_t lane = firstOf<L>(factors.singular, here); lane >= 0)
      return lane;
    L result[known ? known * known : largest * largest];
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        result[i * n + j] = L::of(i == j);
    factors.solve(result, n, n);
    store<known * known>(out + first * size, result, n * n, here);
    return -1;
  });
}

template <typename L, int known> int64_t solutions(const SmallMatrices &x) {
  constexpr int64_t most = 8; // columns at once
  const int64_t n = known ? known : x.order, parts = L::parts;
  const auto *a = static_cast<const typename L::Part *>(x.a), *b = static_cast<const typename L::Part *>(x.b);
  auto *out = static_cast<typename L::Part *>(x.out);
  return firstFailure<L>(x, [&](int64_t first, int64_t here) -> int64_t {
    const Factors<L, known> factors(a + first * n * n * parts, n, here);
    if (int64_t lane = firstOf<L>(factors.singular, here); lane >= 0)
      return lane;
    for (int64_t from = 0; from < x.columns; from += most) {
      const int64_t width = x.columns - from < most ? x.columns - from : most;
      L columns[largest * most];
      for (int64_t i = 0; i < n; ++i)
        for (int lane = 0; lane < L::lanes; ++lane) {
          const int64_t matrix = first + (lane < here ? lane : 0);
          const auto *row = b + ((matrix * n + i) * x.columns + from) * parts;
          for (int64_t j = 0; j < width; ++j)
            for (int p = 0; p < parts; ++p)
              columns[i * width + j].part(p)[lane] = row[j * parts + p];
        }
      factors.solve(columns, width, width);
      for (int64_t i = 0; i < n; ++i)
        for (int lane = 0; lane < here; ++lane) {
          auto *row = out + (((first + lane) * n + i) * x.columns + from) * parts;
          for (int64_t j = 0; j < width; ++j)
            for (int p = 0; p < parts; ++p)
              row[j * parts + p] = columns[i * width + j].part(p)[lane];
        }
    }
    return -1;
  });
}

/// The lower factor, from the lower triangle; diagonals count by their real parts.
template <typename L, int known> int64_t choleskyFactors(const SmallMatrices &x) {
  const int64_t n = known ? known : x.order, size = n * n * L::parts;
  const auto *from = static_cast<const typename L::Part *>(x.a);
  auto *out = static_cast<typename L::Part *>(x.out);
  return firstFailure<L>(x, [&](int64_t first, int64_t here) -> int64_t {
    L a[known ? known * known : largest * largest];
    load<known * known>(a, from + first * size, n * n, here);
    typename L::Mask isDefinite = L::of(0).re == L::of(0).re;
    for (int64_t j = 0; j < n; ++j) {
      typename L::Vector square = a[j * n + j].re;
      for (int64_t q = 0; q < j; ++q)
        square = square - (a[j * n + q] * a[j * n + q].conjugate()).re;
      isDefinite &= square > 0;
      L root = L::of(0);
      root.re = __builtin_elementwise_sqrt(square);
      a[j * n + j] = root;
      for (int64_t i = j + 1; i < n; ++i) {
        L rest = a[i * n + j];
        for (int64_t q = 0; q < j; ++q)
          rest = rest - a[i * n + q] * a[j * n + q].conjugate();
        for (int p = 0; p < L::parts; ++p) {
          auto &part = p ? *reinterpret_cast<typename L::Vector *>(rest.part(1)) : rest.re;
          part = part / root.re;
        }
        a[i * n + j] = rest;
        a[j * n + i] = L::of(0);
      }
    }
    if (int64_t lane = firstOf<L>(~isDefinite, here); lane >= 0)
      return lane;
    store<known * known>(out + first * size, a, n * n, here);
    return -1;
  });
}

template <typename L, int known> int64_t orthogonalFactors(const SmallMatrices &x) {
  const int64_t m = known ? known : x.order, n = known ? known : x.columns, k = m < n ? m : n;
  const auto *from = static_cast<const typename L::Part *>(x.a);
  auto *q = static_cast<typename L::Part *>(x.out), *r = static_cast<typename L::Part *>(x.second);
  return firstFailure<L>(x, [&](int64_t first, int64_t here) -> int64_t {
    constexpr int order = known ? known : largest;
    L a[order * order], result[order * order], taus[order];
    load<known * known>(a, from + first * m * n * L::parts, m * n, here);
    for (int64_t j = 0; j < k; ++j) {
      L *column = a + j * n + j;
      taus[j] = reflection(column, n, m - j);
      reflect(taus[j].conjugate(), column, n, m - j, column + 1, n, n - j - 1);
    }
    for (int64_t i = 0; i < k; ++i)
      for (int64_t j = 0; j < n; ++j)
        result[i * n + j] = j < i ? L::of(0) : a[i * n + j];
    store<known * known>(r + first * k * n * L::parts, result, k * n, here);
    if (!q)
      return -1;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < k; ++j)
        result[i * k + j] = L::of(i == j);
    for (int64_t j = k; j-- > 0;)
      reflect(taus[j], a + j * n + j, n, m - j, result + j * k + j, k, k - j);
    store<known * known>(q + first * m * k * L::parts, result, m * k, here);
    return -1;
  });
}

template <auto two, auto three, auto four, auto any> auto ofOrder(const SmallMatrices &x) {
  return x.order == 2 ? two(x) : x.order == 3 ? three(x) : x.order == 4 ? four(x) : any(x);
}
template <auto two, auto three, auto four, auto any> auto ofSizes(const SmallMatrices &x) {
  return x.order == x.columns ? ofOrder<two, three, four, any>(x) : any(x);
}
template <typename T> constexpr SmallMatrixKernels productKernel{products<T, RealRow>};
template <typename T, template <typename, int> typename Row, typename L>
constexpr SmallMatrixKernels kernels{
    products<T, Row>,
    ofOrder<determinants<L, 2>, determinants<L, 3>, determinants<L, 4>, determinants<L, 0>>,
    ofOrder<inverses<L, 2>, inverses<L, 3>, inverses<L, 4>, inverses<L, 0>>,
    ofOrder<solutions<L, 2>, solutions<L, 3>, solutions<L, 4>, solutions<L, 0>>,
    ofOrder<choleskyFactors<L, 2>, choleskyFactors<L, 3>, choleskyFactors<L, 4>, choleskyFactors<L, 0>>,
    ofSizes<orthogonalFactors<L, 2>, orthogonalFactors<L, 3>, orthogonalFactors<L, 4>, orthogonalFactors<L, 0>>};

} // namespace

namespace TOY_ISA {
SmallMatrixTable smallMatrixKernels() {
  return {kernels<float, RealRow, RealLanes<float>>,
          kernels<double, RealRow, RealLanes<double>>,
          kernels<float, ComplexRow, ComplexLanes<float>>,
          kernels<double, ComplexRow, ComplexLanes<double>>,
          productKernel<uint32_t>,
          productKernel<uint64_t>};
}
} // namespace TOY_ISA

} // namespace toy::rt
