// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows in lanes: rows that stand side by side, and dense ones, which are transposed.
#include "runtime/FourierKernels.h"
#include "runtime/FourierPlans.h"

#include <bit>

namespace toy::rt {

void transpose(int width, const void *from, int64_t fromStride, void *to, int64_t toStride, int64_t rows,
               int64_t columns) {
  static const TransposeKernels kernels = TOY_KERNELS_OF_MACHINE(transposeKernels);
  auto f = width == 4 ? kernels.of4 : width == 8 ? kernels.of8 : kernels.of16;
  f(from, fromStride, to, toStride, rows, columns);
}

namespace {

/// Where the steps fit the caches.
bool fitsLanes(int64_t points) { return points <= 1 << 13 && !laneRadices(points).empty(); }
bool fitsChirp(int64_t points) { return points <= 1 << 12 && points > largestLanePrime && laneRadices(points).empty(); }
template <typename R> void transformComplex(const Job &job, int64_t begin, int64_t end) {
  const int64_t points = job.points, own = std::min(job.own, points);
  const LanePlanRef<R> known = lanePlanFor<R>(job.isBackward(), points);
  const LanePlan<R> &plan = *known;
  // Rows some pages apart push one another out of the cache while they are read.
  const bool isDense = job.inner == 1,
             isGathered = isDense || own < points || job.inner * static_cast<int64_t>(sizeof(C<R>)) % 4096 == 0;
  Scratch<C<R>> work(plan.work(points) * laneRows<R>),
      all(isGathered || job.inner % laneRows<R> ? points * laneRows<R> : 0);
  for (int64_t step = begin; step < end; ++step) {
    const Job::Group group = job.group<R>(step);
    auto *from = reinterpret_cast<C<R> *>(const_cast<char *>(job.in)) + group.from;
    auto *to = reinterpret_cast<C<R> *>(job.out) + group.to;
    LaneRows<R> rows{parts(from), 2 * job.inner, parts(to), 2 * job.inner, parts(work), static_cast<R>(job.scale)};
    if (group.rows < laneRows<R> || isGathered) {
      gather<C<R>>(job, from, own, group.rows, all.data(), laneRows<R>, points);
      rows.in = parts(all);
      rows.inPitch = 2 * laneRows<R>;
    }
    const bool isScattered = group.rows < laneRows<R> || isDense;
    if (isScattered) {
      rows.out = parts(all);
      rows.outPitch = 2 * laneRows<R>;
      // A single step would write over what it reads.
      if (plan.stages.size() == 1) {
        std::copy_n(rows.in, 2 * points * laneRows<R>, rows.work);
        rows.in = rows.work;
      }
    }
    transformRows(plan, points, rows, job.isBackward());
    if (isScattered)
      scatter<C<R>>(job, all.data(), laneRows<R>, group.rows, to, points);
  }
}

/// Rows of an even length are complex ones of half of it.
template <typename R> void transformEvenReal(const Job &job, int64_t begin, int64_t end) {
  constexpr int64_t width = laneRows<R>;
  const int64_t points = job.points, half = points / 2, own = std::min(job.own, job.wanted());
  const bool isForward = job.kind == Kind::RealForward, isDense = job.inner == 1, isShort = own < job.wanted();
  const LanePlanRef<R> known = lanePlanFor<R>(!isForward, half);
  const LanePlan<R> &plan = *known;
  const LaneKernels<R> &kernels = laneKernels<R>();
  Scratch<C<R>> work(plan.work(half) * width), before(half * width), after(half * width), halves((half + 1) * width);
  Scratch<R> reals(points * width);
  for (int64_t step = begin; step < end; ++step) {
    const RealGroup<R> group(job, step);
    const bool isPart = group.rows < width || isDense;
    RealLaneRows<R> rows{group.reals,
                         job.inner,
                         parts(group.halves),
                         2 * job.inner,
                         parts(before),
                         half,
                         reinterpret_cast<const R *>(plan.ofReal.data()),
                         static_cast<R>(job.scale)};
    if (isPart || (isForward && isShort)) {
      if (isForward)
        gather<R>(job, group.reals, own, group.rows, reals.data(), width, points);
      rows.reals = reals.data();
      rows.pitch = width;
    }
    if (isPart || (!isForward && isShort)) {
      if (!isForward)
        gather<C<R>>(job, group.halves, own, group.rows, halves.data(), width, half + 1);
      rows.halves = parts(halves);
      rows.halfPitch = 2 * width;
    }
    (isForward ? kernels.pair : kernels.fold)(rows);
    transformRows<R>(plan, half, {parts(before), 2 * width, parts(after), 2 * width, parts(work), R(1)}, !isForward);
    rows.between = parts(after);
    (isForward ? kernels.unfold : kernels.split)(rows);
    if (isPart && isForward)
      scatter<C<R>>(job, halves.data(), width, group.rows, group.halves, half + 1);
    else if (isPart)
      scatter<R>(job, reals.data(), width, group.rows, group.reals, points);
  }
}

} // namespace

template <typename R> bool goesInLanes(const Job &job) {
  const int64_t points = job.complexPoints();
  const bool hasManyRows = job.outer >= laneRows<R> && !std::has_single_bit(static_cast<uint64_t>(points));
  if (fitsChirp(points))
    return (job.inner > 1 ? job.inner : job.outer) >= laneRows<R>;
  // FFTW's code for real rows of an odd length uses no registers: from a few on they are less work in lanes.
  constexpr int64_t fewRows = 3, fewPoints = 27;
  const bool areOddReals = job.isReal() && job.points % 2 && job.outer >= fewRows && points >= fewPoints;
  return fitsLanes(points) && (job.inner > 1 || hasManyRows || areOddReals || hasLargePrime(points));
}
template bool goesInLanes<float>(const Job &);
template bool goesInLanes<double>(const Job &);

template <typename R> void transformInLanes(void *opaque, int64_t begin, int64_t end) {
  const Job &job = *static_cast<Job *>(opaque);
  if (!job.isReal())
    return transformComplex<R>(job, begin, end);
  (job.points % 2 ? transformOddReal<R> : transformEvenReal<R>)(job, begin, end);
}
template void transformInLanes<float>(void *, int64_t, int64_t);
template void transformInLanes<double>(void *, int64_t, int64_t);

} // namespace toy::rt
