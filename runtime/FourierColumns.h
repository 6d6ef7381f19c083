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

  bool isReal() const { return kind >= Kind::RealForward; }
  bool isBackward() const { return kind == Kind::Backward || kind == Kind::RealBackward; }
  /// Of the complex rows that are transformed: real ones of even length become those of half the length.
  int64_t complexPoints() const { return isReal() && points % 2 == 0 ? points / 2 : points; }
  /// Elements of a row that are used, if they are there.
  int64_t wanted() const { return kind == Kind::RealBackward ? points / 2 + 1 : points; }
  /// Rows that are transposed together: some cache lines, and what stays in the caches.
  int64_t together() const { return inner == 1 ? 1 : std::clamp<int64_t>((1 << 14) / points, 8, 32); }
  int64_t steps() const { return (inner + together() - 1) / together(); }

  /// Rows that are transformed in lanes, and where the first one begins.
  struct Group {
    int64_t from, to, rows;
  };
  template <typename R> int64_t groups() const { return inner == 1 ? groupsOf<R>(outer) : outer * groupsOf<R>(inner); }
  template <typename R> Group group(int64_t number) const {
    const int64_t side = inner == 1 ? outer : inner, block = number / groupsOf<R>(side),
                  first = number % groupsOf<R>(side) * laneRows<R>, rows = std::min(laneRows<R>, side - first);
    return inner == 1 ? Group{first * own, first * to, rows}
                      : Group{block * own * inner + first, block * to * inner + first, rows};
  }

private:
  template <typename R> static int64_t groupsOf(int64_t rows) { return (rows + laneRows<R> - 1) / laneRows<R>; }
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

/// Whether a job's rows are transformed in lanes: along other axes than the last one; rows of the last axis if there
/// are enough of them and FFTW has no codes for a power of 2, or if their length has a prime factor above 13, for which
/// FFTW has no code: what others take grows with their square. Where one is above largestLanePrime, if there are enough
/// rows.
template <typename R> bool goesInLanes(const Job &job);
/// Some of the groups of such a job.
template <typename R> void transformInLanes(void *job, int64_t begin, int64_t end);

/// Whether a complex row is so long that it is transformed in lanes by itself.
template <typename R> bool isLongRow(int64_t points);
template <typename R> void transformLongRow(bool isBackward, int64_t points, const C<R> *in, C<R> *out, R scale);

} // namespace toy::rt
