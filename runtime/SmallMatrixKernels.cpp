// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built once for each instruction set, without the standard library (see PlanarKernels.cpp). Systems are solved side
/// by side, a matrix in each lane: lanes know nothing of each other, so that a matrix has the same result whatever lies
/// beside it. No multiply-add is fused.
#include "runtime/SmallMatrixKernels.h"
#include "runtime/LaneTransposes.h"
#include "runtime/RegisterRows.h"

namespace toy::rt {
namespace {

/// A number of each of several matrices.
template <typename T> struct RealLanes {
  using Part = T;
  using Vector = Register<T>;
  using Mask = decltype(Vector() == Vector());
  static constexpr int parts = 1, lanes = registerLanes<T>;
  Vector re;

  static RealLanes of(T x) { return {Vector(x)}; }
  RealLanes operator-() const { return {-re}; }
  RealLanes operator+(RealLanes y) const { return {re + y.re}; }
  RealLanes operator-(RealLanes y) const { return {re - y.re}; }
  RealLanes operator*(RealLanes y) const { return {re * y.re}; }
  RealLanes operator/(RealLanes y) const { return {re / y.re}; }
  Vector size() const { return __builtin_elementwise_abs(re); }
  RealLanes conjugate() const { return *this; }
  RealLanes scaled(Vector factor) const { return {re * factor}; }
  RealLanes dividedBy(Vector divisor) const { return {re / divisor}; }
  Vector largestPart() const { return size(); }
  Vector square() const { return re * re; }
  Mask isZero() const { return re == 0; }
  Mask isReal() const { return Vector(T(0)) == Vector(T(0)); }
  static RealLanes choose(Mask c, RealLanes x, RealLanes y) { return {c ? x.re : y.re}; }
  T *part(int) { return reinterpret_cast<T *>(&re); }
};
template <typename T> struct ComplexLanes {
  using Part = T;
  using Vector = Register<T>;
  using Mask = decltype(Vector() == Vector());
  static constexpr int parts = 2, lanes = registerLanes<T>;
  Vector re, im;

  static ComplexLanes of(T x) { return {Vector(x), Vector(T(0))}; }
  ComplexLanes operator-() const { return {-re, -im}; }
  ComplexLanes operator+(ComplexLanes y) const { return {re + y.re, im + y.im}; }
  ComplexLanes operator-(ComplexLanes y) const { return {re - y.re, im - y.im}; }
  ComplexLanes operator*(ComplexLanes y) const { return {re * y.re - im * y.im, re * y.im + im * y.re}; }
  /// By the larger part of the divisor first, so that no square leaves the range.
  ComplexLanes operator/(ComplexLanes y) const {
    Vector a = __builtin_elementwise_abs(y.re), b = __builtin_elementwise_abs(y.im), scale = a < b ? b : a;
    Vector u = y.re / scale, v = y.im / scale, d = y.re * u + y.im * v;
    return {(re * u + im * v) / d, (im * u - re * v) / d};
  }
  /// As LAPACK compares pivots.
  Vector size() const { return __builtin_elementwise_abs(re) + __builtin_elementwise_abs(im); }
  ComplexLanes conjugate() const { return {re, -im}; }
  ComplexLanes scaled(Vector factor) const { return {re * factor, im * factor}; }
  ComplexLanes dividedBy(Vector divisor) const { return {re / divisor, im / divisor}; }
  Vector largestPart() const {
    return __builtin_elementwise_max(__builtin_elementwise_abs(re), __builtin_elementwise_abs(im));
  }
  Vector square() const { return re * re + im * im; }
  Mask isZero() const { return (re == 0) & (im == 0); }
  Mask isReal() const { return im == 0; }
  static ComplexLanes choose(Mask c, ComplexLanes x, ComplexLanes y) { return {c ? x.re : y.re, c ? x.im : y.im}; }
  T *part(int p) { return reinterpret_cast<T *>(p ? &im : &re); }
};

constexpr int largest = SmallMatrices::largest;

/// `here` arrays of `size` numbers, one in each lane; lanes beyond them get those of the first. `known` is the size
/// where the compiler knows it, or 0.
template <int known, typename L> void load(L *to, const typename L::Part *from, int64_t size, int64_t here) {
  if constexpr (isTransposedByShuffles(known * L::parts))
    if (here == L::lanes)
      return toLanes<known * L::parts>(&to->re, from);
  for (int lane = 0; lane < L::lanes; ++lane) {
    const auto *own = from + (lane < here ? lane : 0) * size * L::parts;
    for (int64_t e = 0; e < size; ++e)
      for (int p = 0; p < L::parts; ++p)
        to[e].part(p)[lane] = own[e * L::parts + p];
  }
}
template <int known, typename L> void store(typename L::Part *to, L *from, int64_t size, int64_t here) {
  if constexpr (isTransposedByShuffles(known * L::parts))
    if (here == L::lanes)
      return toArrays<known * L::parts>(to, &from->re);
  for (int lane = 0; lane < here; ++lane)
    for (int64_t e = 0; e < size; ++e)
      for (int p = 0; p < L::parts; ++p)
        to[(lane * size + e) * L::parts + p] = from[e].part(p)[lane];
}
/// The first of `here` lanes, or -1.
template <typename L> int64_t firstOf(typename L::Mask mask, int64_t here) {
  for (int lane = 0; lane < here; ++lane)
    if (mask[lane])
      return lane;
  return -1;
}

template <typename L> void exchange(typename L::Mask where, L &x, L &y) {
  L first = L::choose(where, y, x);
  y = L::choose(where, x, y);
  x = first;
}

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

/// Calls f(first, here) with the numbers of the matrices that go together, until it gives the lane of one that fails.
/// The number of that matrix, or -1.
template <typename L, typename F> int64_t firstFailure(const SmallMatrices &x, F f) {
  for (int64_t first = 0; first < x.count; first += L::lanes)
    if (int64_t lane = f(first, x.count - first < L::lanes ? x.count - first : L::lanes); lane >= 0)
      return first + lane;
  return -1;
}

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

/// A power of 2 near a size, for which neither it nor its reciprocal leaves the range; infinity and NaN stay.
template <typename V> V nearPower(V size) {
  V power;
  if constexpr (sizeof(size[0]) == 4) {
    using Bits = uint32_t __attribute__((ext_vector_type(sizeof(V) / 4)));
    Bits bits = __builtin_bit_cast(Bits, size) & 0x7f800000u;
    power = __builtin_bit_cast(V, bits);
    power = __builtin_elementwise_max(power, V(0x1p-126f));
    power = ((power > 0x1p126f) & (power <= 0x1p127f)) ? V(0x1p126f) : power;
  } else {
    using Bits = uint64_t __attribute__((ext_vector_type(sizeof(V) / 8)));
    Bits bits = __builtin_bit_cast(Bits, size) & 0x7ff0000000000000u;
    power = __builtin_bit_cast(V, bits);
    power = __builtin_elementwise_max(power, V(0x1p-1022));
    power = ((power > 0x1p1022) & (power <= 0x1p1023)) ? V(0x1p1022) : power;
  }
  return power;
}

/// Householder's reflection I - tau v v^H, v[0] = 1, whose adjoint makes a column with `step` between its elements a
/// multiple of the first unit vector, which is left there over the rest of v. Returns tau.
template <typename L> L reflection(L *column, int64_t step, int64_t rows) {
  using V = typename L::Vector;
  const L alpha = column[0];
  V size = alpha.largestPart();
  typename L::Mask isPlain = alpha.isReal();
  for (int64_t i = 1; i < rows; ++i) {
    size = __builtin_elementwise_max(size, column[i * step].largestPart());
    isPlain &= column[i * step].isZero();
  }
  const V scale = nearPower(size), inverse = 1 / scale;
  V sum = V(0);
  for (int64_t i = 0; i < rows; ++i)
    sum += column[i * step].scaled(inverse).square();
  V norm = __builtin_elementwise_sqrt(sum) * scale;
  norm = __builtin_elementwise_copysign(norm, -alpha.re);
  L first = L::of(0);
  first.re = norm;
  const L tau = L::choose(isPlain, L::of(0), (first - alpha).dividedBy(norm));
  const L divisor = L::choose(isPlain, L::of(1), alpha - first);
  for (int64_t i = 1; i < rows; ++i)
    column[i * step] = column[i * step] / divisor;
  column[0] = L::choose(isPlain, alpha, first);
  return tau;
}
/// (I - tau v v^H) x of columns [0, columns) of x.
template <typename L>
void reflect(L tau, const L *v, int64_t step, int64_t rows, L *x, int64_t pitch, int64_t columns) {
  for (int64_t j = 0; j < columns; ++j) {
    L sum = x[j];
    for (int64_t i = 1; i < rows; ++i)
      sum = sum + v[i * step].conjugate() * x[i * pitch + j];
    sum = tau * sum;
    x[j] = x[j] - sum;
    for (int64_t i = 1; i < rows; ++i)
      x[i * pitch + j] = x[i * pitch + j] - v[i * step] * sum;
  }
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
