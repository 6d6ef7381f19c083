// SPDX-License-Identifier: Apache-2.0
/// \file
/// The Schur form of a small real Hessenberg matrix, by Francis' double steps with the shifts and the criteria of
/// LAPACK's lahqr, which calls a library for each reflection of three elements.
#pragma once

#include "runtime/Lapack.h"

#include <cmath>
#include <limits>

namespace toy::rt {

/// h has n rows, column-major, and is Hessenberg in [low, high), whose other columns and rows are those of a triangle.
template <typename R> class RealSchur {
public:
  RealSchur(int n, int low, int high, R *h, R *re, R *im, R *z)
      : n(n), low(low), high(high), h(h), re(re), im(im), z(z),
        tiny(std::numeric_limits<R>::min() * (R(high - low) / ulp)) {}

  /// Eigenvalues of rows [low, high); where z is not null h becomes the Schur form, and z what it was times the
  /// reflections. False where there are more steps than are usual.
  bool find() {
    constexpr int most = 30;
    int left = most * std::max(10, high - low);
    for (int last = high - 1; last >= low;) {
      int first = low, step = 0;
      for (;; ++step, --left) {
        first = splitAbove(first, last);
        if (first > low)
          at(first, first - 1) = 0;
        if (first >= last - 1)
          break;
        if (left == 0)
          return false;
        doubleStep(first, last, step);
      }
      if (first == last) {
        re[last] = at(last, last);
        im[last] = 0;
      } else
        finishPair(last);
      last = first - 1;
    }
    return true;
  }

private:
  static constexpr R ulp = std::numeric_limits<R>::epsilon();
  int n, low, high;
  R *h, *re, *im, *z;
  R tiny;

  R &at(int i, int j) { return h[j * n + i]; }
  R size(int i, int j) { return std::abs(at(i, j)); }

  /// The first row of the block that ends with `last`: the element left of its diagonal is negligible (Ahues and
  /// Tisseur).
  int splitAbove(int first, int last) {
    int k = last;
    for (; k > first; --k) {
      if (size(k, k - 1) <= tiny)
        break;
      R around = size(k - 1, k - 1) + size(k, k);
      if (around == 0) {
        if (k - 2 >= low)
          around += size(k - 1, k - 2);
        if (k + 1 < high)
          around += size(k + 1, k);
      }
      if (size(k, k - 1) > ulp * around)
        continue;
      const R apart = std::abs(at(k - 1, k - 1) - at(k, k));
      const R ab = std::max(size(k, k - 1), size(k - 1, k)), ba = std::min(size(k, k - 1), size(k - 1, k));
      const R aa = std::max(size(k, k), apart), bb = std::min(size(k, k), apart), s = aa + ab;
      if (ba * (ab / s) <= std::max(tiny, ulp * (bb * (aa / s))))
        break;
    }
    return k;
  }

  struct Shifts {
    R re1 = 0, im1 = 0, re2 = 0, im2 = 0;
  };
  /// Eigenvalues of the last two rows; twice the nearer one if they are real.
  Shifts shiftsOf(int first, int last, int step) {
    R h11 = at(last - 1, last - 1), h21 = at(last, last - 1), h12 = at(last - 1, last), h22 = at(last, last);
    if (step % 20 == 10 || (step % 20 == 0 && step > 0)) { // others where these do not help
      const bool isAbove = step % 20 == 10;
      const R s = isAbove ? size(first + 1, first) + size(first + 2, first + 1)
                          : size(last, last - 1) + size(last - 1, last - 2);
      h11 = R(0.75) * s + (isAbove ? at(first, first) : at(last, last));
      h12 = R(-0.4375) * s;
      h21 = s;
      h22 = h11;
    }
    const R s = std::abs(h11) + std::abs(h12) + std::abs(h21) + std::abs(h22);
    if (s == 0)
      return {};
    h11 /= s, h21 /= s, h12 /= s, h22 /= s;
    const R half = (h11 + h22) / 2, determinant = (h11 - half) * (h22 - half) - h12 * h21,
            root = std::sqrt(std::abs(determinant));
    if (determinant >= 0)
      return {half * s, root * s, half * s, -root * s};
    const R one = half + root, other = half - root;
    const R nearer = (std::abs(one - h22) <= std::abs(other - h22) ? one : other) * s;
    return {nearer, 0, nearer, 0};
  }

  /// The first column of (H - shift1)(H - shift2), scaled, from the row on above which little changes.
  int startOf(int first, int last, const Shifts &x, R (&v)[3]) {
    int m = last - 2;
    for (;; --m) {
      const R s = std::abs(at(m, m) - x.re2) + std::abs(x.im2) + size(m + 1, m), below = at(m + 1, m) / s;
      v[0] = below * at(m, m + 1) + (at(m, m) - x.re1) * ((at(m, m) - x.re2) / s) - x.im1 * (x.im2 / s);
      v[1] = below * (at(m, m) + at(m + 1, m + 1) - x.re1 - x.re2);
      v[2] = below * at(m + 2, m + 1);
      const R sum = std::abs(v[0]) + std::abs(v[1]) + std::abs(v[2]);
      for (R &part : v)
        part /= sum;
      if (m == first || size(m, m - 1) * (std::abs(v[1]) + std::abs(v[2])) <=
                            ulp * std::abs(v[0]) * (size(m - 1, m - 1) + size(m, m) + size(m + 1, m + 1)))
        return m;
    }
  }

  /// v becomes (1, v1, v2) of the reflection I - t v v' that takes it to (`length`, 0, 0).
  static R reflection(R (&v)[3], R &length) {
    const R largest = std::max(std::abs(v[1]), std::abs(v[2]));
    length = v[0];
    if (largest == 0)
      return 0;
    const R scale = std::max(largest, std::abs(v[0])), a = v[0] / scale, b = v[1] / scale, c = v[2] / scale;
    const R norm = std::copysign(std::sqrt(a * a + (b * b + c * c)), a), first = a + norm;
    length = -norm * scale;
    v[1] = b / first;
    v[2] = c / first;
    return first / norm;
  }
  void doubleStep(int first, int last, int step) {
    R v[3];
    const int m = startOf(first, last, shiftsOf(first, last, step), v);
    const int begin = z ? 0 : first, end = z ? n : last + 1;
    for (int k = m; k < last; ++k) {
      const bool isThree = k + 2 <= last;
      if (k > m)
        v[0] = at(k, k - 1), v[1] = at(k + 1, k - 1), v[2] = isThree ? at(k + 2, k - 1) : 0;
      else if (!isThree)
        v[2] = 0;
      R length;
      const R t = reflection(v, length);
      if (k > m) {
        at(k, k - 1) = length;
        at(k + 1, k - 1) = 0;
        if (isThree)
          at(k + 2, k - 1) = 0;
      } else if (m > first) // of the small elements that were taken for nothing
        at(k, k - 1) *= 1 - t;
      for (int j = k; j < end; ++j)
        reflect(&at(k, j), 1, isThree, v, t);
      for (int i = begin; i <= std::min(k + 3, last); ++i)
        reflect(&at(i, k), n, isThree, v, t);
      for (int i = 0; z && i < n; ++i)
        reflect(z + k * n + i, n, isThree, v, t);
    }
  }
  static void reflect(R *x, int step, bool isThree, const R (&v)[3], R t) {
    const R sum = (x[0] + v[1] * x[step] + (isThree ? v[2] * x[2 * step] : 0)) * t;
    x[0] -= sum;
    x[step] -= sum * v[1];
    if (isThree)
      x[2 * step] -= sum * v[2];
  }

  /// Rows `last` - 1 and `last` become a pair's standard form, or a triangle.
  void finishPair(int last) {
    const int i = last - 1;
    R cosine, sine;
    Lapack<R>::lanv2(at(i, i), at(i, last), at(last, i), at(last, last), re[i], im[i], re[last], im[last], cosine,
                     sine);
    if (!z)
      return;
    auto turn = [&](R &x, R &y) {
      const R before = x;
      x = cosine * x + sine * y;
      y = cosine * y - sine * before;
    };
    for (int j = last + 1; j < n; ++j)
      turn(at(i, j), at(last, j));
    for (int j = 0; j < i; ++j)
      turn(at(j, i), at(j, last));
    for (int j = 0; j < n; ++j)
      turn(z[i * n + j], z[last * n + j]);
  }
};

} // namespace toy::rt
