// SPDX-License-Identifier: Apache-2.0
/// \file
/// Long complex rows as matrices in lanes: columns are transformed, multiplied by turns
/// and transposed, and so are the columns of that.
#include "runtime/FourierPlans.h"
#include "runtime/Parallel.h"

#include <cmath>

namespace toy::rt {
namespace {

/// The rows of a matrix of so many points, near a square, whose sides are whole registers and have short steps; else 0.
template <typename R> int64_t rowsOf(int64_t points) {
  if (hasLargePrime(points))
    return 0;
  auto rows = static_cast<int64_t>(std::sqrt(static_cast<double>(points)));
  while (rows > 0 && (points % rows || rows % laneRows<R> || points / rows % laneRows<R>))
    --rows;
  return rows * rows * 16 >= points ? rows : 0;
}

/// A row of columns * rows elements; between the two steps it lies by `laneRows` columns, one of these after the other.
template <typename R> struct LongPlan {
  static constexpr int64_t width = laneRows<R>;
  int64_t rows, columns;
  LanePlanRef<R> ofColumns, ofRows;
  std::vector<C<R>> turns; ///< exp(-+2 pi i j k / points) of column j and its k-th point, as they lie between

  LongPlan(bool isBackward, int64_t points)
      : rows(rowsOf<R>(points)), columns(points / rows), ofColumns(lanePlanFor<R>(isBackward, rows)),
        ofRows(lanePlanFor<R>(isBackward, columns)) {
    // Of products of two: a table of all would be read everywhere.
    constexpr int64_t block = 64; // both sides are multiples of 8
    const std::vector<Precise> near = roots(points, block), far = roots(points / block, points / block);
    turns.reserve(points);
    for (int64_t first = 0; first < columns; first += width)
      for (int64_t k = 0; k < rows; ++k)
        for (int64_t j = first; j < first + width; ++j) {
          const Precise a = far[j * k / block], b = near[j * k % block];
          turns.push_back(rounded<R>(
              {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()}, !isBackward));
        }
  }
  int64_t bytes() const { return bytesOf(turns); }
};

template <typename R> std::shared_ptr<const LongPlan<R>> longPlanFor(bool isBackward, int64_t points) {
  static KeptPlans<LongPlan<R>> plans;
  return plans.get(isBackward, points, [&] { return LongPlan<R>(isBackward, points); });
}

template <typename R> struct LongRow {
  static constexpr int64_t width = laneRows<R>;
  const LongPlan<R> &plan;
  const C<R> *in;
  C<R> *between, *out;
  R scale;
  bool isBackward;

  static void columns(void *opaque, int64_t begin, int64_t end) {
    const auto &x = *static_cast<LongRow *>(opaque);
    const LongPlan<R> &plan = x.plan;
    const LaneKernels<R> &kernels = laneKernels<R>();
    Scratch<C<R>> work(plan.ofColumns->work(plan.rows) * width), gathered(plan.rows * width);
    for (int64_t group = begin; group < end; ++group) {
      const C<R> *from = x.in + group * width;
      // Rows a power of 2 apart push one another out of the cache.
      for (int64_t k = 0; k < plan.rows; ++k)
        std::copy_n(from + k * plan.columns, width, gathered.data() + k * width);
      C<R> *to = x.between + group * plan.rows * width;
      transformRows<R>(*plan.ofColumns, plan.rows,
                       {parts(gathered), 2 * width, parts(to), 2 * width, parts(work), R(1)}, x.isBackward);
      kernels.turn(parts(to), reinterpret_cast<const R *>(plan.turns.data() + group * plan.rows * width),
                   2 * plan.rows * width);
    }
  }
  static void rows(void *opaque, int64_t begin, int64_t end) {
    const auto &x = *static_cast<LongRow *>(opaque);
    const LongPlan<R> &plan = x.plan;
    Scratch<C<R>> work(plan.ofRows->work(plan.columns) * width), gathered(plan.columns * width);
    for (int64_t group = begin; group < end; ++group) {
      const int64_t first = group * width;
      for (int64_t j = 0; j < plan.columns; j += width)
        transpose(sizeof(C<R>), x.between + j * plan.rows + first * width, width, gathered.data() + j * width, width,
                  width, width);
      transformRows<R>(*plan.ofRows, plan.columns,
                       {parts(gathered), 2 * width, parts(x.out + first), 2 * plan.rows, parts(work), x.scale},
                       x.isBackward);
    }
  }
};

} // namespace

template <typename R> bool isLongRow(int64_t points) {
  constexpr int64_t least = 1 << 13, most = 1 << 20; // FFTW's work is in the first caches; the turns are kept
  return points >= least && points <= most && rowsOf<R>(points) > 0;
}
template <typename R> void transformLongRow(bool isBackward, int64_t points, const C<R> *in, C<R> *out, R scale) {
  const auto known = longPlanFor<R>(isBackward, points);
  const LongPlan<R> &plan = *known;
  Scratch<C<R>> between(points);
  LongRow<R> row{plan, in, between.data(), out, scale, isBackward};
  constexpr int64_t grain = (1 << 15) / laneRows<R>;
  parallelFor(plan.columns / laneRows<R>, std::max<int64_t>(1, grain / plan.rows), LongRow<R>::columns, &row);
  parallelFor(plan.rows / laneRows<R>, std::max<int64_t>(1, grain / plan.columns), LongRow<R>::rows, &row);
}
template bool isLongRow<float>(int64_t);
template bool isLongRow<double>(int64_t);
template void transformLongRow(bool, int64_t, const C<float> *, C<float> *, float);
template void transformLongRow(bool, int64_t, const C<double> *, C<double> *, double);

} // namespace toy::rt
