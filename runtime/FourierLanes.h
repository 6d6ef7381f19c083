// SPDX-License-Identifier: Apache-2.0
/// \file
/// Fourier transforms of many complex rows at once, an element of each in a lane of a register: of rows that stand side
/// by side, and of lengths that FFTW has no short code for. Compiled once for each instruction set.
#pragma once

#include "runtime/Isa.h"

#include <cstdint>

namespace toy::rt {

/// One step of a transform by Stockham's method: `groups` times `radix` elements of sub-transforms, `stride` of which
/// are interleaved.
template <typename R> struct LaneStage {
  int64_t radix, groups, stride;
  const R *turns; ///< exp(-+2 pi i p k / (radix * groups)) for p < groups, 0 < k < radix, interleaved
  const R *roots; ///< of an odd radix: cosine and sine of 2 pi j / radix, of -2 pi j / radix backwards
};

constexpr int64_t laneBytes = 128; ///< of rows that are transformed together, whatever the registers are
template <typename R> constexpr int64_t laneRows = laneBytes / (2 * static_cast<int64_t>(sizeof(R)));
constexpr int64_t largestLanePrime = 127;

/// `laneRows` rows side by side: element k of all of them is at `in + k * inPitch`, in reals. `work` has room for two
/// times all elements.
template <typename R> struct LaneRows {
  const R *in;
  int64_t inPitch;
  R *out;
  int64_t outPitch;
  R *work;
  R scale;
};

/// `laneRows` real rows of 2 * half points side by side, whose first half + 1 points of a transform are complex. What
/// is between is the transform of `half` complex points, dense: even elements are real parts, odd ones imaginary parts.
template <typename R> struct RealLaneRows {
  R *reals;
  int64_t pitch; ///< of the reals' rows
  R *halves;
  int64_t halfPitch; ///< of the complex rows, in reals
  R *between;
  int64_t half;
  const R *factors; ///< as those of FourierKernels<R>::fold
  R scale;
};

/// The first step of real rows of radix * groups points, of an odd radix, or the last one backwards. What it leaves is
/// a real row of `groups` points, whose transform has every radix-th point, and complex ones for the points before and
/// behind those, radix / 2 of them: the others are their conjugates.
template <typename R> struct RealStage {
  int64_t radix, groups;
  const R *turns; ///< exp(-+2 pi i p k / (radix * groups)) for p < groups, 0 < k <= radix / 2, interleaved
  const R *roots; ///< exp(2 pi i j / radix)
};

/// The points k, k + radix, k + 2 radix and so on of the transform of a real row of `points`, of which the first half
/// is there: every `step`-th row at `halves`. `part` is dense.
template <typename R> struct HalfPart {
  R *halves, *part;
  int64_t points, radix, k, step;
  R scale;
};

template <typename R> struct LaneKernels {
  void (*transform)(const LaneStage<R> *stages, int64_t count, const LaneRows<R> &rows, bool isBackward);
  /// `count` elements of rows, each by a complex factor and the scale; `out` may be `in`.
  void (*multiply)(const LaneRows<R> &rows, const R *factors, int64_t count);
  void (*turn)(R *elements, const R *factors, int64_t count); ///< each by its own factor; `count` reals of both
  void (*pair)(const RealLaneRows<R> &rows);                  ///< reals to what is between
  void (*unfold)(const RealLaneRows<R> &rows);                ///< what is between to halves
  void (*fold)(const RealLaneRows<R> &rows);                  ///< halves to what is between
  void (*split)(const RealLaneRows<R> &rows);                 ///< what is between to reals
  /// Dense real rows to a shorter real one and complex ones, and back.
  void (*partReal)(const RealStage<R> &stage, const R *reals, R *first, R *others);
  void (*joinReal)(const RealStage<R> &stage, const R *first, const R *others, R *reals);
  void (*spread)(const HalfPart<R> &part);  ///< a part to where it belongs
  void (*collect)(const HalfPart<R> &part); ///< and from there
};
TOY_KERNELS_FOR_ISA(LaneKernels<float>, laneKernelsF32)
TOY_KERNELS_FOR_ISA(LaneKernels<double>, laneKernelsF64)

} // namespace toy::rt
