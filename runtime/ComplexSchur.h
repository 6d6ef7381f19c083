// SPDX-License-Identifier: Apache-2.0
/// \file
/// The Schur form of a small complex Hessenberg matrix, by QR steps with Wilkinson's shift and rotations.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

namespace toy::rt {

/// As written, without a look at infinities.
template <typename R> std::complex<R> times(std::complex<R> x, std::complex<R> y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

/// h has n rows, column-major, and is Hessenberg in [low, high), whose other columns and rows are those of a triangle.
template <typename R> class ComplexSchur {
public:
  using C = std::complex<R>;
  ComplexSchur(int n, int low, int high, C *h, C *z)
      : n(n), low(low), high(high), h(h), z(z), tiny(std::numeric_limits<R>::min() * (R(high - low) / ulp)) {}

  /// h becomes triangular in [low, high); where z is not null it becomes the Schur form, and z what it was times the
  /// rotations. False where there are more steps than are usual.
  bool find() {
    constexpr int most = 30;
    int left = most * std::max(10, high - low);
    for (int last = high - 1; last >= low; --last)
      for (int first = low, step = 0;; ++step) {
        first = splitAbove(first, last);
        if (first > low)
          at(first, first - 1) = 0;
        if (first == last)
          break;
        if (left-- == 0)
          return false;
        turnDown(first, last, shiftOf(first, last, step));
      }
    return true;
  }

private:
  static constexpr R ulp = std::numeric_limits<R>::epsilon();
  int n, low, high;
  C *h, *z;
  R tiny;

  C &at(int i, int j) { return h[j * n + i]; }
  static R size(C x) { return std::abs(x.real()) + std::abs(x.imag()); }

  /// The first row of the block that ends with `last`: the element left of its diagonal is negligible (Ahues and
  /// Tisseur).
  int splitAbove(int first, int last) {
    int k = last;
    for (; k > first; --k) {
      const R below = size(at(k, k - 1));
      if (below <= tiny)
        break;
      R around = size(at(k - 1, k - 1)) + size(at(k, k));
      if (around == 0) {
        if (k - 2 >= low)
          around += size(at(k - 1, k - 2));
        if (k + 1 < high)
          around += size(at(k + 1, k));
      }
      if (below > ulp * around)
        continue;
      const R above = size(at(k - 1, k)), apart = size(at(k - 1, k - 1) - at(k, k)), own = size(at(k, k));
      const R ab = std::max(below, above), ba = std::min(below, above), aa = std::max(own, apart),
              bb = std::min(own, apart), s = aa + ab;
      if (ba * (ab / s) <= std::max(tiny, ulp * (bb * (aa / s))))
        break;
    }
    return k;
  }

  /// The eigenvalue of the last two rows that is nearer to the last element.
  C shiftOf(int first, int last, int step) {
    if (step % 20 == 10) // others where that does not help
      return at(first, first) + R(0.75) * size(at(first + 1, first));
    const C t = at(last, last);
    if (step % 20 == 0 && step > 0)
      return t + R(0.75) * size(at(last, last - 1));
    const C u = times(std::sqrt(at(last - 1, last)), std::sqrt(at(last, last - 1)));
    if (size(u) == 0)
      return t;
    const C x = R(0.5) * (at(last - 1, last - 1) - t);
    const R s = std::max(size(u), size(x));
    C y = s * std::sqrt(times(x / s, x / s) + times(u / s, u / s));
    if (x.real() / s * y.real() + x.imag() / s * y.imag() < 0)
      y = -y;
    return t - times(u, u / (x + y));
  }

  /// (c, s; -conj s, c) takes (x, y) to (x, 0).
  struct Rotation {
    R c = 1;
    C s = 0;
    Rotation(C &x, C y) {
      const R scale = std::max(size(x), size(y));
      if (y == C(0))
        return;
      const C a = x / scale, b = y / scale;
      // A square that has lost digits would make this no rotation; what it is of does not matter beside b.
      const R square = std::norm(a), first = square < std::numeric_limits<R>::min() / ulp ? 0 : square,
              all = std::sqrt(first + std::norm(b)), length = std::sqrt(first);
      const C sign = length == 0 ? C(1) : a / length;
      c = length / all;
      s = times(sign, std::conj(b)) / all;
      x = sign * (all * scale);
    }
    void fromLeft(C &x, C &y) const {
      const C before = x;
      x = c * x + times(s, y);
      y = c * y - times(std::conj(s), before);
    }
    void fromRight(C &x, C &y) const {
      const C before = x;
      x = c * x + times(std::conj(s), y);
      y = c * y - times(s, before);
    }
  };
  void turnDown(int first, int last, C shift) {
    const int begin = z ? 0 : first, end = z ? n : last + 1;
    C start = at(first, first) - shift;
    for (int k = first; k < last; ++k) {
      const Rotation turn(k == first ? start : at(k, k - 1), k == first ? at(k + 1, k) : at(k + 1, k - 1));
      if (k > first)
        at(k + 1, k - 1) = 0;
      for (int j = k; j < end; ++j)
        turn.fromLeft(at(k, j), at(k + 1, j));
      for (int i = begin; i <= std::min(k + 2, last); ++i)
        turn.fromRight(at(i, k), at(i, k + 1));
      for (int i = 0; z && i < n; ++i)
        turn.fromRight(z[k * n + i], z[(k + 1) * n + i]);
    }
  }
};

} // namespace toy::rt
