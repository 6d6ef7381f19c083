// SPDX-License-Identifier: Apache-2.0
/// \file
/// Complex rows in lanes: plans, rows that stand side by side, and dense ones, which are transposed.
#include "runtime/FourierColumns.h"

#include "runtime/FourierKernels.h"

#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

namespace toy::rt {

/// exp(2 pi i k / n) for k below `count`, from products of two in long double: rounded once, by the same operations on
/// every machine.
std::vector<std::complex<long double>> roots(int64_t n, int64_t count) {
  constexpr int64_t block = 256;
  auto root = [n](int64_t k) {
    long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
    return std::complex<long double>(std::cos(angle), std::sin(angle));
  };
  std::vector<std::complex<long double>> all(count);
  for (int64_t k = 0; k < count; ++k) {
    if (k < block || k % block == 0) {
      all[k] = root(k);
      continue;
    }
    auto a = all[k / block * block], b = all[k % block];
    all[k] = {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
  return all;
}

void transpose(int width, const void *from, int64_t fromStride, void *to, int64_t toStride, int64_t rows,
               int64_t columns) {
  static const TransposeKernels kernels = TOY_KERNELS_OF_MACHINE(transposeKernels);
  auto f = width == 4 ? kernels.of4 : width == 8 ? kernels.of8 : kernels.of16;
  f(from, fromStride, to, toStride, rows, columns);
}

namespace {

template <typename R> const LaneKernels<R> &laneKernels();
template <> const LaneKernels<float> &laneKernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(laneKernelsF32);
  return chosen;
}
template <> const LaneKernels<double> &laneKernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(laneKernelsF64);
  return chosen;
}

/// The steps of a transform in lanes, odd ones first; none where a prime factor is too large.
std::vector<int64_t> laneRadices(int64_t points) {
  std::vector<int64_t> radices;
  int64_t rest = points;
  for (int64_t factor = 3; factor <= largestLanePrime && factor <= rest; factor += 2)
    for (; rest % factor == 0; rest /= factor)
      radices.push_back(factor);
  while (rest % 2 == 0) { // by 8, with what is left by 4
    const int bits = std::countr_zero(static_cast<uint64_t>(rest)), step = bits == 1                ? 1
                                                                           : bits == 2 || bits == 4 ? 2
                                                                                                    : 3;
    radices.push_back(int64_t(1) << step);
    rest >>= step;
  }
  return rest == 1 ? radices : std::vector<int64_t>();
}

} // namespace

template <typename R> struct LanePlan {
  std::vector<LaneStage<R>> stages;
  std::vector<std::vector<C<R>>> factors; ///< of all stages
  std::vector<C<R>> ofReal;               ///< of real rows of twice as many points
};

namespace {

template <typename R> LanePlan<R> makeLanePlan(bool isBackward, int64_t points) {
  LanePlan<R> plan;
  int64_t length = points, stride = 1;
  auto rounded = [](std::complex<long double> w, bool isConjugated) {
    return C<R>(static_cast<R>(w.real()), static_cast<R>(isConjugated ? -w.imag() : w.imag()));
  };
  for (int64_t radix : laneRadices(points)) {
    const int64_t groups = length / radix;
    std::vector<C<R>> turns, ofRadix;
    const auto all = roots(length, length);
    for (int64_t p = 0; p < groups; ++p)
      for (int64_t k = 1; k < radix; ++k)
        turns.push_back(rounded(all[p * k], !isBackward));
    for (auto w : roots(radix, radix))
      ofRadix.push_back(rounded(w, isBackward));
    plan.factors.push_back(std::move(turns));
    plan.factors.push_back(std::move(ofRadix));
    plan.stages.push_back({radix, groups, stride, reinterpret_cast<const R *>((plan.factors.end() - 2)->data()),
                           reinterpret_cast<const R *>(plan.factors.back().data())});
    length = groups;
    stride *= radix;
  }
  plan.ofReal = factorsOf<R>(isBackward ? Kind::RealBackward : Kind::RealForward, 2 * points);
  return plan;
}

/// Plans are kept.
template <typename R> const LanePlan<R> &lanePlanFor(bool isBackward, int64_t points) {
  static std::mutex mutex;
  static std::map<std::pair<bool, int64_t>, LanePlan<R>> plans;
  std::lock_guard lock(mutex);
  auto known = plans.find({isBackward, points});
  return known != plans.end()
             ? known->second
             : plans.emplace(std::pair(isBackward, points), makeLanePlan<R>(isBackward, points)).first->second;
}

} // namespace

/// Where the steps fit the caches.
bool fitsLanes(int64_t points) { return points <= 1 << 13 && !laneRadices(points).empty(); }
bool needsLanes(int64_t points) {
  if (!fitsLanes(points))
    return false;
  for (int64_t factor = 2; factor <= 13; ++factor)
    while (points % factor == 0)
      points /= factor;
  return points > 1;
}

namespace {

/// Columns of `there` rows of `some` elements, as rows of a width with zeros around; and back.
template <typename T>
void gatherColumns(const T *from, int64_t pitch, int64_t there, int64_t some, T *to, int64_t width, int64_t rows) {
  for (int64_t k = 0; k < rows; ++k) {
    const int64_t own = k < there ? some : 0;
    std::fill(std::copy_n(from + k * pitch, own, to + k * width), to + (k + 1) * width, T());
  }
}
template <typename T>
void scatterColumns(const T *from, int64_t width, int64_t some, T *to, int64_t pitch, int64_t rows) {
  for (int64_t k = 0; k < rows; ++k)
    std::copy_n(from + k * width, some, to + k * pitch);
}

} // namespace

template <typename R> void transformColumns(void *opaque, int64_t begin, int64_t end) {
  const Job &job = *static_cast<Job *>(opaque);
  const int64_t points = job.points, own = std::min(job.own, points);
  const bool isBackward = job.kind == Kind::Backward;
  const LanePlan<R> &plan = lanePlanFor<R>(isBackward, points);
  // Rows some pages apart push one another out of the cache while they are read.
  const bool isGathered = own < points || job.inner * static_cast<int64_t>(sizeof(C<R>)) % 4096 == 0;
  Scratch<C<R>> work(2 * points * laneRows<R>), all(isGathered || job.inner % laneRows<R> ? points * laneRows<R> : 0);
  for (int64_t step = begin; step < end; ++step) {
    const int64_t block = step / job.laneSteps<R>(), first = step % job.laneSteps<R>() * laneRows<R>,
                  some = std::min(laneRows<R>, job.inner - first);
    const auto *from = reinterpret_cast<const C<R> *>(job.in) + block * job.own * job.inner + first;
    auto *to = reinterpret_cast<C<R> *>(job.out) + block * points * job.inner + first;
    LaneRows<R> rows{reinterpret_cast<const R *>(from),  2 * job.inner,
                     reinterpret_cast<R *>(to),          2 * job.inner,
                     reinterpret_cast<R *>(work.data()), static_cast<R>(job.scale)};
    if (some < laneRows<R> || isGathered) {
      gatherColumns<C<R>>(from, job.inner, own, some, all.data(), laneRows<R>, points);
      rows.in = reinterpret_cast<const R *>(all.data());
      rows.inPitch = 2 * laneRows<R>;
    }
    if (some < laneRows<R>) {
      rows.out = reinterpret_cast<R *>(all.data());
      rows.outPitch = 2 * laneRows<R>;
      // A single step would write over what it reads.
      if (plan.stages.size() == 1) {
        std::copy_n(rows.in, 2 * points * laneRows<R>, rows.work);
        rows.in = rows.work;
      }
    }
    laneKernels<R>().transform(plan.stages.data(), static_cast<int64_t>(plan.stages.size()), rows, isBackward);
    if (some < laneRows<R>)
      scatterColumns<C<R>>(all.data(), laneRows<R>, some, to, job.inner, points);
  }
}

template <typename R> void transformRealColumns(void *opaque, int64_t begin, int64_t end) {
  const Job &job = *static_cast<Job *>(opaque);
  constexpr int64_t width = laneRows<R>;
  const int64_t points = job.points, half = points / 2;
  const bool isForward = job.kind == Kind::RealForward;
  const int64_t wanted = isForward ? points : half + 1, own = std::min(job.own, wanted);
  const LanePlan<R> &plan = lanePlanFor<R>(!isForward, half);
  const LaneKernels<R> &kernels = laneKernels<R>();
  Scratch<C<R>> work(2 * half * width), before(half * width), after(half * width), halves((half + 1) * width);
  Scratch<R> reals(points * width);
  auto parts = [](const Scratch<C<R>> &room) { return reinterpret_cast<R *>(room.data()); };
  for (int64_t step = begin; step < end; ++step) {
    const int64_t block = step / job.laneSteps<R>(), first = step % job.laneSteps<R>() * width,
                  some = std::min(width, job.inner - first);
    const int64_t from = block * job.own * job.inner + first, to = block * job.to * job.inner + first;
    R *real =
        isForward ? const_cast<R *>(reinterpret_cast<const R *>(job.in)) + from : reinterpret_cast<R *>(job.out) + to;
    C<R> *complex = isForward ? reinterpret_cast<C<R> *>(job.out) + to
                              : const_cast<C<R> *>(reinterpret_cast<const C<R> *>(job.in)) + from;
    RealLaneRows<R> rows{real,
                         job.inner,
                         reinterpret_cast<R *>(complex),
                         2 * job.inner,
                         parts(before),
                         half,
                         reinterpret_cast<const R *>(plan.ofReal.data()),
                         static_cast<R>(job.scale)};
    if (some < width || (isForward && own < wanted)) {
      if (isForward)
        gatherColumns<R>(real, job.inner, own, some, reals.data(), width, points);
      rows.reals = reals.data();
      rows.pitch = width;
    }
    if (some < width || (!isForward && own < wanted)) {
      if (!isForward)
        gatherColumns<C<R>>(complex, job.inner, own, some, halves.data(), width, half + 1);
      rows.halves = parts(halves);
      rows.halfPitch = 2 * width;
    }
    (isForward ? kernels.pair : kernels.fold)(rows);
    kernels.transform(plan.stages.data(), static_cast<int64_t>(plan.stages.size()),
                      {parts(before), 2 * width, parts(after), 2 * width, parts(work), R(1)}, !isForward);
    rows.between = parts(after);
    (isForward ? kernels.unfold : kernels.split)(rows);
    if (some < width && isForward)
      scatterColumns<C<R>>(halves.data(), width, some, complex, job.inner, half + 1);
    else if (some < width)
      scatterColumns<R>(reals.data(), width, some, real, job.inner, points);
  }
}
template void transformRealColumns<float>(void *, int64_t, int64_t);
template void transformRealColumns<double>(void *, int64_t, int64_t);

template void transformColumns<float>(void *, int64_t, int64_t);
template void transformColumns<double>(void *, int64_t, int64_t);

template <typename R>
RowsInLanes<R>::RowsInLanes(bool isBackward, int64_t points)
    : plan(lanePlanFor<R>(isBackward, points)), isBackward(isBackward), points(points), work(2 * points * laneRows<R>),
      sides(points * laneRows<R>) {}

template <typename R> void RowsInLanes<R>::transform(C<R> *rows, int64_t count) {
  constexpr int64_t width = laneRows<R>;
  if (count < width)
    std::fill_n(sides.data(), points * width, C<R>());
  rt::transpose(sizeof(C<R>), rows, points, sides.data(), width, count, points);
  auto *at = reinterpret_cast<R *>(sides.data()), *room = reinterpret_cast<R *>(work.data());
  const auto steps = static_cast<int64_t>(plan.stages.size());
  // That half of the room which the last step does not read.
  R *to = room + (steps + 1) % 2 * 2 * points * width;
  laneKernels<R>().transform(plan.stages.data(), steps, {at, 2 * width, to, 2 * width, room, R(1)}, isBackward);
  rt::transpose(sizeof(C<R>), to, width, rows, points, points, count);
}

template class RowsInLanes<float>;
template class RowsInLanes<double>;

} // namespace toy::rt
