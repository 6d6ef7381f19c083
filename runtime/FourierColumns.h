// SPDX-License-Identifier: Apache-2.0
/// \file
/// What transforms by FFTW and those in lanes share, and the latter.
#pragma once

#include "runtime/FourierLanes.h"
#include "runtime/Scratch.h"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

namespace toy::rt {

template <typename R> using C = std::complex<R>;

enum class Kind : uint8_t { Forward, Backward, RealForward, RealBackward };

/// `outer` blocks of rows of `own` elements, which become `to`; `inner` rows beside one another.
struct Job {
  Kind kind;
  int64_t points, outer, inner, own, to;
  double scale;
  const char *in;
  char *out;
  int inWidth, outWidth; ///< bytes of an element

  /// Of the complex rows that are transformed: real ones of even length become those of half the length.
  int64_t complexPoints() const { return kind <= Kind::Backward ? points : points / 2; }
  /// Rows that are transposed together: some cache lines, and what stays in the caches.
  int64_t together() const { return inner == 1 ? 1 : std::clamp<int64_t>((1 << 14) / points, 8, 32); }
  int64_t steps() const { return (inner + together() - 1) / together(); }
  template <typename R> int64_t laneSteps() const { return (inner + laneRows<R> - 1) / laneRows<R>; }
};

/// exp(2 pi i k / n) for k below `count`.
std::vector<std::complex<long double>> roots(int64_t n, int64_t count);
/// Of real rows of even length: -i/2 conj(w) forwards, i w backwards.
template <typename R> std::vector<C<R>> factorsOf(Kind kind, int64_t points) {
  std::vector<C<R>> factors;
  for (auto w : roots(points, points / 4 + 1))
    factors.push_back(kind == Kind::RealForward ? C<R>(-w.imag() / 2, -w.real() / 2) : C<R>(-w.imag(), w.real()));
  return factors;
}
/// Elements of 4, 8 or 16 bytes.
void transpose(int width, const void *from, int64_t fromStride, void *to, int64_t toStride, int64_t rows,
               int64_t columns);

/// Whether complex rows of a length may be transformed in lanes, and whether they are wherever they stand: FFTW has
/// codes for factors up to 13, and what others take grows with their square.
bool fitsLanes(int64_t points);
bool needsLanes(int64_t points);
/// Some of the steps of a job: rows along another axis than the last, complex ones, and real ones of even length.
template <typename R> void transformColumns(void *job, int64_t begin, int64_t end);
template <typename R> void transformRealColumns(void *job, int64_t begin, int64_t end);

template <typename R> struct LanePlan;
/// Dense rows of some points.
template <typename R> class RowsInLanes {
public:
  RowsInLanes(bool isBackward, int64_t points);
  /// At most `laneRows` rows, where they are.
  void transform(C<R> *rows, int64_t count);

private:
  const LanePlan<R> &plan;
  bool isBackward;
  int64_t points;
  Scratch<C<R>> work, sides;
};

} // namespace toy::rt
