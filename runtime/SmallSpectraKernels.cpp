// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built once for each instruction set, without the standard library (see PlanarKernels.cpp). Eigenvalues of Hermitian
/// matrices and singular values by Jacobi's rotations, a matrix in each lane (J. Demmel, K. Veselic, "Jacobi's method
/// is more accurate than QR", 1992; one-sided: M. R. Hestenes, 1958). A lane that is done is turned by 0 while others
/// go on, which may change the sign of a zero and nothing else: results have no negative zeros from there.
#include "runtime/MatrixLanes.h"

namespace toy::rt {
namespace {

constexpr int widest = SmallMatrices::widestSpectrum, mostSweeps = 40;

template <typename T> constexpr T epsilon = sizeof(T) == 4 ? T(0x1p-23) : T(0x1p-52);
/// Below this, of matrices near 1, sums of products have lost their digits.
template <typename T> constexpr T least = sizeof(T) == 4 ? T(0x1p-100) : T(0x1p-960);
/// Columns above this size are orthogonal to each other when rotations end.
template <typename T> constexpr T smallColumn = sizeof(T) == 4 ? T(0x1p-40) : T(0x1p-400);

template <typename L> typename L::Vector modulus(L x) {
  using V = typename L::Vector;
  if constexpr (L::parts == 1) {
    return x.size();
  } else {
    const V a = __builtin_elementwise_abs(x.re), b = __builtin_elementwise_abs(x.im);
    const V large = __builtin_elementwise_max(a, b), ratio = __builtin_elementwise_min(a, b) / large;
    const V size = large * __builtin_elementwise_sqrt(1 + ratio * ratio);
    return large > 0 ? size : V(0);
  }
}

/// [c, s; -conj(s), c], which makes [a, g; conj(g), b] diagonal with d = b - a: the smaller of both angles. What is
/// added to b and taken from a is `change`.
template <typename L> struct Rotation {
  using V = typename L::Vector;
  V c, change;
  L s;
  Rotation() = default;
  Rotation(V d, L g, V size, typename L::Mask where) {
    const V ratio = d / (2 * size),
            t = 1 / (__builtin_elementwise_abs(ratio) + __builtin_elementwise_sqrt(1 + ratio * ratio));
    const V tangent = where ? (ratio < 0 ? -t : t) : V(0);
    c = 1 / __builtin_elementwise_sqrt(1 + tangent * tangent);
    change = where ? tangent * size : V(0);
    s = L::choose(where, g.dividedBy(where ? size : V(1)).scaled(tangent * c), L::of(0));
  }
  void apply(L &x, L &y) const {
    const L turned = x.scaled(c) - y * s.conjugate();
    y = y.scaled(c) + x * s;
    x = turned;
  }
};

/// Rows, or columns, that are turned at the same time: pairs without a common one, so that their rotations do not wait
/// for each other. Those of all rounds are all pairs (the circle method of tournaments).
struct Round {
  int64_t count = 0, p[widest / 2], q[widest / 2];
  Round(int64_t n, int64_t round) {
    const int64_t last = n - 1 + n % 2; // of as many, or one more, who has a rest
    for (int64_t i = 0; i <= last / 2; ++i) {
      const int64_t first = (round + i) % last, second = i == 0 ? last : (round + last - i) % last;
      if (first >= n || second >= n)
        continue;
      p[count] = first < second ? first : second;
      q[count++] = first < second ? second : first;
    }
  }
  static int64_t rounds(int64_t n) { return n - 1 + n % 2; }
};

template <typename L> bool isAny(typename L::Mask mask) { return __builtin_reduce_or(mask) != 0; }
template <typename L> L withoutNegativeZeros(L x) { return x + L::of(0); }

template <typename L> typename L::Vector scaleOf(const L *x, int64_t count) {
  typename L::Vector size = x[0].largestPart();
  for (int64_t i = 1; i < count; ++i)
    size = __builtin_elementwise_max(size, x[i].largestPart());
  return nearPower(size);
}

/// A Hermitian matrix, of which the lower triangle is read; rows of `vectors` are as long as those of `a`.
template <typename L> struct Hermitian {
  using V = typename L::Vector;
  int64_t n;
  V scale;
  L a[widest * widest], vectors[widest * widest];

  Hermitian(const typename L::Part *from, int64_t order, int64_t here) : n(order) {
    load<0>(a, from, n * n, here);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j)
        a[j * n + i] = a[i * n + j].conjugate();
      a[i * n + i] = (a[i * n + i] + a[i * n + i].conjugate()).scaled(V(typename L::Part(0.5)));
    }
    scale = scaleOf(a, n * n);
    const V inverse = 1 / scale;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        a[i * n + j] = a[i * n + j].scaled(inverse);
        vectors[i * n + j] = L::of(i == j);
      }
  }

  typename L::Mask isUnfinished() const {
    V off = V(0);
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q)
        off = __builtin_elementwise_max(off, a[p * n + q].largestPart());
    return off > V(epsilon<typename L::Part> / 16);
  }

  template <bool hasVectors> void rotate(int64_t p, int64_t q, const Rotation<L> &rotation, typename L::Mask where) {
    for (int64_t k = 0; k < n; ++k)
      if (k != p && k != q) {
        rotation.apply(a[k * n + p], a[k * n + q]);
        a[p * n + k] = a[k * n + p].conjugate();
        a[q * n + k] = a[k * n + q].conjugate();
      }
    a[p * n + p].re -= rotation.change;
    a[q * n + q].re += rotation.change;
    a[p * n + q] = L::choose(where, L::of(0), a[p * n + q]);
    a[q * n + p] = a[p * n + q].conjugate();
    if constexpr (hasVectors)
      for (int64_t k = 0; k < n; ++k)
        rotation.apply(vectors[k * n + p], vectors[k * n + q]);
  }

  template <bool hasVectors> void diagonalize() {
    Rotation<L> rotations[widest / 2];
    for (int sweep = 0; sweep < mostSweeps; ++sweep) {
      const typename L::Mask where = isUnfinished();
      if (!isAny<L>(where))
        break;
      for (int64_t r = 0; r < Round::rounds(n); ++r) {
        const Round round(n, r);
        for (int64_t i = 0; i < round.count; ++i) {
          const int64_t p = round.p[i], q = round.q[i];
          const V size = modulus(a[p * n + q]);
          rotations[i] = {a[q * n + q].re - a[p * n + p].re, a[p * n + q], size, where & (size > 0)};
        }
        for (int64_t i = 0; i < round.count; ++i)
          rotate<hasVectors>(round.p[i], round.q[i], rotations[i], where);
      }
    }
  }

  /// Ascending; equal ones stay in order.
  template <bool hasVectors> void sort() {
    for (int64_t end = n - 1; end > 0; --end)
      for (int64_t j = 0; j < end; ++j) {
        const typename L::Mask where = a[j * n + j].re > a[(j + 1) * n + j + 1].re;
        exchange<L>(where, a[j * n + j], a[(j + 1) * n + j + 1]);
        if constexpr (hasVectors)
          for (int64_t k = 0; k < n; ++k)
            exchange<L>(where, vectors[k * n + j], vectors[k * n + j + 1]);
      }
  }
};

template <typename L, bool hasVectors> void eigenvalues(const SmallMatrices &x, int64_t first, int64_t here) {
  using T = typename L::Part;
  using Real = RealLanes<T>;
  const int64_t n = x.order, size = n * n * L::parts;
  Hermitian<L> h(static_cast<const T *>(x.a) + first * size, n, here);
  h.template diagonalize<hasVectors>();
  h.template sort<hasVectors>();
  Real values[widest];
  for (int64_t j = 0; j < n; ++j)
    values[j] = withoutNegativeZeros(Real{h.a[j * n + j].re * h.scale});
  store<0>(static_cast<T *>(x.out) + first * n, values, n, here);
  if constexpr (hasVectors) {
    for (int64_t i = 0; i < n * n; ++i)
      h.vectors[i] = withoutNegativeZeros(h.vectors[i]);
    store<0>(static_cast<T *>(x.second) + first * size, h.vectors, n * n, here);
  }
}

template <typename L> int64_t hermitian(const SmallMatrices &x) {
  return firstFailure<L>(x, [&](int64_t first, int64_t here) -> int64_t {
    x.second ? eigenvalues<L, true>(x, first, here) : eigenvalues<L, false>(x, first, here);
    return -1;
  });
}

/// The columns of a matrix that has at least as many rows, turned until they are orthogonal to each other; `right` is
/// what turned them. Both by columns.
template <typename L> struct Columns {
  using V = typename L::Vector;
  using T = typename L::Part;
  int64_t m, n;
  V scale, squares[widest], sizes[widest];
  L a[widest * widest], right[widest * widest];

  /// Of a matrix with more columns, its adjoint.
  Columns(const T *from, int64_t rows, int64_t columns, int64_t here)
      : m(rows < columns ? columns : rows), n(rows < columns ? rows : columns) {
    L loaded[widest * widest];
    load<0>(loaded, from, m * n, here);
    scale = scaleOf(loaded, m * n);
    const V inverse = 1 / scale;
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < m; ++i)
        a[j * m + i] = (rows < columns ? loaded[j * m + i].conjugate() : loaded[i * n + j]).scaled(inverse);
      for (int64_t i = 0; i < n; ++i)
        right[j * n + i] = L::of(i == j);
    }
  }

  /// conj(column p) times column q.
  L product(int64_t p, int64_t q) const {
    L sum = a[p * m].conjugate() * a[q * m];
    for (int64_t i = 1; i < m; ++i)
      sum = sum + a[p * m + i].conjugate() * a[q * m + i];
    return sum;
  }

  /// Where columns p and q, of lanes `where`, have to be turned, and how.
  typename L::Mask find(int64_t p, int64_t q, typename L::Mask where, Rotation<L> &rotation) const {
    const L g = product(p, q);
    const V size = modulus(g), limit = __builtin_elementwise_sqrt(squares[p]) * __builtin_elementwise_sqrt(squares[q]);
    where &= (size > limit * (4 * epsilon<T>)) & (size > least<T>);
    rotation = {squares[q] - squares[p], g, size, where};
    return where;
  }
  template <bool hasVectors> void rotate(int64_t p, int64_t q, const Rotation<L> &rotation) {
    for (int64_t i = 0; i < m; ++i)
      rotation.apply(a[p * m + i], a[q * m + i]);
    squares[p] -= rotation.change;
    squares[q] += rotation.change;
    if constexpr (hasVectors)
      for (int64_t i = 0; i < n; ++i)
        rotation.apply(right[p * n + i], right[q * n + i]);
  }

  /// Until no columns of a lane had to be turned for a whole sweep.
  template <bool hasVectors> void orthogonalize() {
    Rotation<L> rotations[widest / 2];
    typename L::Mask where = L::of(0).re == L::of(0).re;
    for (int sweep = 0; sweep < mostSweeps && isAny<L>(where); ++sweep) {
      for (int64_t j = 0; j < n; ++j)
        squares[j] = product(j, j).re;
      typename L::Mask turned = {};
      for (int64_t r = 0; n > 1 && r < Round::rounds(n); ++r) {
        const Round round(n, r);
        typename L::Mask here = {};
        for (int64_t i = 0; i < round.count; ++i)
          here |= find(round.p[i], round.q[i], where, rotations[i]);
        turned |= here;
        for (int64_t i = 0; i < round.count && isAny<L>(here); ++i)
          rotate<hasVectors>(round.p[i], round.q[i], rotations[i]);
      }
      where = turned;
    }
  }

  /// Columns become unit vectors, or 0; their sizes are descending, and equal ones stay in order.
  template <bool hasVectors> void normalize() {
    for (int64_t j = 0; j < n; ++j) {
      const V power = scaleOf(a + j * m, m), inverse = 1 / power;
      V sum = V(0);
      for (int64_t i = 0; i < m; ++i) {
        a[j * m + i] = a[j * m + i].scaled(inverse);
        sum += a[j * m + i].square();
      }
      const V root = __builtin_elementwise_sqrt(sum), divisor = root > 0 ? root : V(1);
      sizes[j] = root * power;
      for (int64_t i = 0; hasVectors && i < m; ++i)
        a[j * m + i] = withoutNegativeZeros(a[j * m + i].dividedBy(divisor));
    }
    for (int64_t end = n - 1; end > 0; --end)
      for (int64_t j = 0; j < end; ++j) {
        const typename L::Mask where = sizes[j] < sizes[j + 1];
        const V greater = where ? sizes[j + 1] : sizes[j];
        sizes[j + 1] = where ? sizes[j] : sizes[j + 1];
        sizes[j] = greater;
        for (int64_t i = 0; hasVectors && i < m; ++i)
          exchange<L>(where, a[j * m + i], a[(j + 1) * m + i]);
        for (int64_t i = 0; hasVectors && i < n; ++i)
          exchange<L>(where, right[j * n + i], right[(j + 1) * n + i]);
      }
  }

  /// `count` orthonormal columns, by rows: those of `a`, and where there are more, or some are too small to be
  /// orthogonal to others, those of Householder's Q.
  void left(L *to, int64_t count) {
    typename L::Mask isShort = {};
    for (int64_t j = 0; j < n; ++j)
      isShort |= !(sizes[j] > smallColumn<T>);
    const bool byReflections = count > n || isAny<L>(isShort);
    L taus[widest], work[widest * widest];
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        work[i * n + j] = a[j * m + i];
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < count; ++j)
        to[i * count + j] = byReflections ? L::of(i == j) : work[i * n + j];
    if (!byReflections)
      return;
    for (int64_t j = 0; j < n; ++j) {
      L *column = work + j * n + j;
      taus[j] = reflection(column, n, m - j);
      reflect(taus[j].conjugate(), column, n, m - j, column + 1, n, n - j - 1);
    }
    for (int64_t j = n; j-- > 0;)
      reflect(taus[j], work + j * n + j, n, m - j, to + j * count + j, count, count - j);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < m; ++i) {
        const L q = L::choose(work[j * n + j].re < 0, -to[i * count + j], to[i * count + j]);
        to[i * count + j] = L::choose(isShort, q, a[j * m + i]);
      }
  }
};

template <typename L, bool hasVectors> void singularValues(const SmallMatrices &x, int64_t first, int64_t here) {
  using T = typename L::Part;
  using Real = RealLanes<T>;
  const int64_t rows = x.order, columns = x.columns;
  Columns<L> c(static_cast<const T *>(x.a) + first * rows * columns * L::parts, rows, columns, here);
  const int64_t m = c.m, n = c.n, count = x.isFull ? m : n;
  c.template orthogonalize<hasVectors>();
  c.template normalize<hasVectors>();
  Real values[widest];
  for (int64_t j = 0; j < n; ++j)
    values[j] = {c.sizes[j] * c.scale};
  store<0>(static_cast<T *>(x.out) + first * n, values, n, here);
  if constexpr (hasVectors) {
    L large[widest * widest], turned[widest * widest];
    c.left(large, count);
    const bool isAdjoint = rows < columns;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < count; ++j)
        turned[isAdjoint ? j * m + i : i * count + j] =
            isAdjoint ? large[i * count + j].conjugate() : large[i * count + j];
    store<0>(static_cast<T *>(isAdjoint ? x.third : x.second) + first * m * count * L::parts, turned, m * count, here);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i) {
        const L entry = withoutNegativeZeros(c.right[j * n + i]);
        turned[isAdjoint ? i * n + j : j * n + i] = isAdjoint ? entry : entry.conjugate();
      }
    store<0>(static_cast<T *>(isAdjoint ? x.second : x.third) + first * n * n * L::parts, turned, n * n, here);
  }
}

template <typename L> int64_t singular(const SmallMatrices &x) {
  return firstFailure<L>(x, [&](int64_t first, int64_t here) -> int64_t {
    x.second ? singularValues<L, true>(x, first, here) : singularValues<L, false>(x, first, here);
    return -1;
  });
}

template <typename L> constexpr SmallSpectrumKernels kernels{hermitian<L>, singular<L>};

} // namespace

namespace TOY_ISA {
SmallSpectrumTable smallSpectrumKernels() {
  return {kernels<RealLanes<float>>, kernels<RealLanes<double>>, kernels<ComplexLanes<float>>,
          kernels<ComplexLanes<double>>};
}
} // namespace TOY_ISA

} // namespace toy::rt
