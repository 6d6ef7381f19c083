// SPDX-License-Identifier: Apache-2.0
/// \file
/// Eigenvalues of small general matrices by the steps of LAPACK's driver, without what a call of that costs: questions
/// for work space and block sizes, and products of matrices by vectors of a few elements.
#pragma once

#include "runtime/ComplexSchur.h"
#include "runtime/RealSchur.h"

#include <cmath>
#include <vector>

namespace toy::rt {

/// Matrices of n rows, column-major, one after the other.
template <typename T> class SmallEigen {
public:
  using R = Real<T>;
  using C = std::complex<R>;
  static constexpr int widest = 96;

  explicit SmallEigen(int n)
      : n(n), h(Lapack<T>::room(n * n, n)), z(Lapack<T>::room(n * n, n)), factors(n), scales(n), re(n), im(n),
        work(Lapack<T>::room(3 * n, n)), reals(n) {}

  /// Eigenvalues of `a` and, unless `v` is null, eigenvectors (columns); false where LAPACK's driver is to be asked,
  /// whose result has other errors.
  bool find(const T *a, C *w, C *v) {
    std::copy_n(a, n * n, h.data());
    R largest = 0;
    for (int i = 0; i < n * n; ++i)
      largest = std::max(largest, std::abs(h[i]));
    const R least = std::sqrt(std::numeric_limits<R>::min()) / std::numeric_limits<R>::epsilon();
    if (largest != 0 && (largest < least || largest > 1 / least))
      return false;
    low = 1;
    high = n;
    const bool isScaled = !isBalanced();
    if (isScaled)
      Lapack<T>::gebal(n, h.data(), low, high, scales.data());
    reduce(v != nullptr);
    if constexpr (isComplexScalar<T>) {
      if (!ComplexSchur<R>(n, low - 1, high, h.data(), v ? z.data() : nullptr).find())
        return false;
    } else if (!RealSchur<R>(n, low - 1, high, h.data(), re.data(), im.data(), v ? z.data() : nullptr).find())
      return false;
    for (int i = 0; i < n; ++i)
      w[i] = value(i);
    if (v) {
      Lapack<T>::trevc(n, h.data(), z.data(), work.data(), reals.data());
      if (isScaled)
        Lapack<T>::gebak(n, low, high, scales.data(), z.data());
      normalize(v);
    }
    return true;
  }

private:
  int n, low = 1, high = 0; ///< numbers from 1 on of the rows and columns that balancing has left
  std::vector<T> h, z, factors;
  std::vector<R> scales;
  std::vector<T> re;
  std::vector<R> im;
  std::vector<T> work;
  std::vector<R> reals;

  static T conjugate(T x) {
    if constexpr (isComplexScalar<T>)
      return std::conj(x);
    else
      return x;
  }
  static R square(T x) { return std::norm(x); }
  static R times(R x, R y) { return x * y; }
  static C times(C x, C y) { return ::toy::rt::times(x, y); }
  /// Whether gebal would find no isolated eigenvalue, and no row whose length is not within twice its column's.
  bool isBalanced() const {
    for (int i = 0; i < n; ++i) {
      R across = 0, down = 0;
      const R own = square(h[i * n + i]);
      for (int j = 0; j < n; ++j)
        if (j != i) {
          across += square(h[j * n + i]);
          down += square(h[i * n + j]);
        }
      if (across == 0 || down == 0 || 4 * (down + own) < across + own || 4 * (across + own) <= down + own)
        return false;
    }
    return true;
  }
  /// Isolated ones of real matrices stand on the diagonal, complex ones all.
  C value(int i) const {
    if constexpr (!isComplexScalar<T>)
      if (i + 1 >= low && i + 1 <= high)
        return C(re[i], im[i]);
    return h[i * n + i];
  }

  /// Householder's reflections: zeros below the subdiagonal; z is their product.
  void reduce(bool isProductWanted) {
    if (isProductWanted) {
      std::fill_n(z.data(), n * n, T(0));
      for (int i = 0; i < n; ++i)
        z[i * n + i] = 1;
    }
    for (int k = low - 1; k + 2 < high; ++k) {
      T *x = &h[k * n + k + 1];
      const int count = high - k - 1;
      R largest = 0;
      for (int i = 1; i < count; ++i)
        largest = std::max({largest, std::abs(std::real(x[i])), std::abs(std::imag(x[i]))});
      if (largest == 0)
        continue;
      // Squares of what elimination has made small have lost digits, and a reflection would be none.
      largest = std::max({largest, std::abs(std::real(x[0])), std::abs(std::imag(x[0]))});
      R rest = 0;
      for (int i = 0; i < count; ++i) {
        factors[i] = x[i] / largest;
        if (i > 0)
          rest += square(factors[i]);
      }
      const T start = factors[0];
      const R norm = std::copysign(std::sqrt(square(start) + rest), std::real(start));
      const T tau = T(1) + start / norm, divisor = T(1) / (start + norm);
      factors[0] = 1;
      for (int i = 1; i < count; ++i)
        factors[i] = times(factors[i], divisor);
      x[0] = -norm * largest;
      std::fill_n(x + 1, count - 1, T(0));
      fromLeft(k + 1, count, conjugate(tau));
      fromRight(h.data(), high, k + 1, count, tau);
      if (isProductWanted)
        fromRight(z.data(), n, k + 1, count, tau);
    }
  }
  void fromLeft(int begin, int count, T tau) {
    for (int j = begin; j < n; ++j) {
      T *column = &h[j * n + begin], sum = 0;
      for (int i = 0; i < count; ++i)
        sum += times(conjugate(factors[i]), column[i]);
      sum = times(sum, tau);
      for (int i = 0; i < count; ++i)
        column[i] -= times(sum, factors[i]);
    }
  }
  void fromRight(T *a, int rows, int begin, int count, T tau) {
    std::fill_n(work.data(), rows, T(0));
    for (int j = 0; j < count; ++j)
      for (int i = 0; i < rows; ++i)
        work[i] += times(a[(begin + j) * n + i], factors[j]);
    for (int j = 0; j < count; ++j) {
      const T factor = times(conjugate(factors[j]), tau);
      for (int i = 0; i < rows; ++i)
        a[(begin + j) * n + i] -= times(work[i], factor);
    }
  }

  /// Columns of length 1 whose largest element is real; pairs of columns of a real matrix are real and imaginary parts.
  void normalize(C *v) {
    for (int j = 0; j < n; ++j) {
      C *column = v + j * n;
      const bool isPair = !isComplexScalar<T> && im[j] != 0 && j + 1 >= low && j + 1 <= high;
      for (int i = 0; i < n; ++i) {
        column[i] = z[j * n + i];
        if constexpr (!isComplexScalar<T>)
          if (isPair)
            column[i] = {z[j * n + i], z[(j + 1) * n + i]};
      }
      scale(column, isPair || isComplexScalar<T>);
      if (isPair) {
        ++j;
        for (int i = 0; i < n; ++i)
          column[n + i] = std::conj(column[i]);
      }
    }
  }
  void scale(C *column, bool isTurned) {
    R largest = 0;
    for (int i = 0; i < n; ++i)
      largest = std::max({largest, std::abs(column[i].real()), std::abs(column[i].imag())});
    if (largest == 0)
      return;
    R sum = 0, most = -1;
    int at = 0;
    for (int i = 0; i < n; ++i) {
      column[i] /= largest;
      const R part = std::norm(column[i]);
      sum += part;
      if (part > most) {
        most = part;
        at = i;
      }
    }
    const C turn = isTurned ? std::conj(column[at]) / (std::sqrt(most) * std::sqrt(sum)) : C(1 / std::sqrt(sum));
    for (int i = 0; i < n; ++i)
      column[i] = isTurned ? times(column[i], turn) : column[i] * turn.real();
    if (isTurned)
      column[at] = column[at].real();
  }
};

} // namespace toy::rt
