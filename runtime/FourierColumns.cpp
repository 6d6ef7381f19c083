// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows in lanes: plans, rows that stand side by side, and dense ones, which are transposed.
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

/// Steps, or where a prime factor is too large for them, a convolution with a chirp (L. I. Bluestein: A linear
/// filtering approach to the computation of discrete Fourier transform, 1970).
template <typename R> struct LanePlan {
  std::vector<LaneStage<R>> stages;
  std::vector<std::vector<C<R>>> factors; ///< of all stages
  std::vector<C<R>> ofReal;               ///< of real rows of twice as many points
  std::vector<C<R>> chirp, spectrum;      ///< exp(-+i pi k^2 / points); the transform of its conjugate, by its length
  std::vector<LanePlan> convolution;      ///< forwards, backwards

  LanePlan() = default;
  LanePlan(LanePlan &&) = default; ///< steps look into the factors, which stay where they are
  /// Complex elements of a row that are worked in.
  int64_t work(int64_t points) const { return convolution.empty() ? 2 * points : 3 * std::ssize(spectrum); }
};

namespace {

using Precise = std::complex<long double>;

template <typename R> C<R> rounded(Precise w, bool isConjugated) {
  return C<R>(static_cast<R>(w.real()), static_cast<R>(isConjugated ? -w.imag() : w.imag()));
}

/// The transform of n elements `step` apart; `turns` are exp(-2 pi i k / all) for all of them.
void transformPrecisely(const Precise *in, int64_t step, int64_t n, const std::vector<Precise> &turns, Precise *out) {
  if (n == 1) {
    *out = *in;
    return;
  }
  int64_t radix = 2;
  while (n % radix)
    ++radix;
  const int64_t rest = n / radix, all = std::ssize(turns);
  for (int64_t r = 0; r < radix; ++r)
    transformPrecisely(in + r * step, step * radix, rest, turns, out + r * rest);
  std::vector<Precise> parts(radix);
  for (int64_t k = 0; k < rest; ++k) {
    for (int64_t r = 0; r < radix; ++r)
      parts[r] = out[r * rest + k];
    for (int64_t q = 0; q < radix; ++q) {
      Precise &sum = out[q * rest + k] = 0;
      for (int64_t r = 0; r < radix; ++r)
        sum += parts[r] * turns[r * (q * rest + k) % n * (all / n)];
    }
  }
}

/// The least length with small prime factors only.
int64_t smoothLength(int64_t least) {
  for (;; ++least) {
    int64_t rest = least;
    for (int64_t factor : {2, 3, 5})
      while (rest % factor == 0)
        rest /= factor;
    if (rest == 1 && least % 8 == 0)
      return least;
  }
}

template <typename R> LanePlan<R> makeLanePlan(bool isBackward, int64_t points);

/// k n = (k^2 + n^2 - (k - n)^2) / 2.
template <typename R> void makeChirp(LanePlan<R> &plan, bool isBackward, int64_t points) {
  const int64_t length = smoothLength(2 * points - 1);
  const std::vector<Precise> all = roots(2 * points, 2 * points);
  std::vector<Precise> turns = roots(length, length), filter(length), spectrum(length);
  for (Precise &turn : turns)
    turn = std::conj(turn);
  for (int64_t k = 0; k < points; ++k) {
    const Precise w = all[k * k % (2 * points)];
    plan.chirp.push_back(rounded<R>(w, !isBackward));
    filter[k] = filter[(length - k) % length] = isBackward ? std::conj(w) : w;
  }
  transformPrecisely(filter.data(), 1, length, turns, spectrum.data());
  for (Precise w : spectrum)
    plan.spectrum.push_back(rounded<R>(w / static_cast<long double>(length), false));
  plan.convolution.push_back(makeLanePlan<R>(false, length));
  plan.convolution.push_back(makeLanePlan<R>(true, length));
}

template <typename R> LanePlan<R> makeLanePlan(bool isBackward, int64_t points) {
  LanePlan<R> plan;
  int64_t length = points, stride = 1;
  for (int64_t radix : laneRadices(points)) {
    const int64_t groups = length / radix;
    std::vector<C<R>> turns, ofRadix;
    const auto all = roots(length, length);
    for (int64_t p = 0; p < groups; ++p)
      for (int64_t k = 1; k < radix; ++k)
        turns.push_back(rounded<R>(all[p * k], !isBackward));
    for (auto w : roots(radix, radix))
      ofRadix.push_back(rounded<R>(w, isBackward));
    plan.factors.push_back(std::move(turns));
    plan.factors.push_back(std::move(ofRadix));
    plan.stages.push_back({radix, groups, stride, reinterpret_cast<const R *>((plan.factors.end() - 2)->data()),
                           reinterpret_cast<const R *>(plan.factors.back().data())});
    length = groups;
    stride *= radix;
  }
  if (plan.stages.empty())
    makeChirp(plan, isBackward, points);
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

template <typename R>
void transformRows(const LanePlan<R> &plan, int64_t points, const LaneRows<R> &rows, bool isBackward) {
  const LaneKernels<R> &kernels = laneKernels<R>();
  auto run = [&](const LanePlan<R> &steps, const LaneRows<R> &of, bool backward) {
    kernels.transform(steps.stages.data(), std::ssize(steps.stages), of, backward);
  };
  if (plan.convolution.empty())
    return run(plan, rows, isBackward);
  constexpr int64_t width = 2 * laneRows<R>;
  const int64_t length = std::ssize(plan.spectrum);
  const auto *chirp = reinterpret_cast<const R *>(plan.chirp.data());
  const LaneRows<R> within{rows.work, width, rows.work, width, rows.work + length * width, R(1)};
  kernels.multiply({rows.in, rows.inPitch, rows.work, width, nullptr, R(1)}, chirp, points);
  std::fill(rows.work + points * width, rows.work + length * width, R(0));
  run(plan.convolution[0], within, false);
  kernels.multiply(within, reinterpret_cast<const R *>(plan.spectrum.data()), length);
  run(plan.convolution[1], within, true);
  kernels.multiply({rows.work, width, rows.out, rows.outPitch, nullptr, rows.scale}, chirp, points);
}

/// Where the steps fit the caches.
bool fitsLanes(int64_t points) { return points <= 1 << 13 && !laneRadices(points).empty(); }
bool fitsChirp(int64_t points) { return points <= 1 << 12 && points > largestLanePrime && laneRadices(points).empty(); }
bool hasLargePrime(int64_t points) {
  for (int64_t factor = 2; factor <= 13; ++factor)
    while (points % factor == 0)
      points /= factor;
  return points > 1;
}

/// A group's rows side by side in a buffer, element k of all of them at `width * k`, of which `there` are read; zeros
/// around them.
template <typename T>
void gather(const Job &job, const T *from, int64_t there, int64_t some, T *to, int64_t width, int64_t elements) {
  if (job.inner > 1) {
    for (int64_t k = 0; k < elements; ++k) {
      const int64_t own = k < there ? some : 0;
      std::fill(std::copy_n(from + k * job.inner, own, to + k * width), to + (k + 1) * width, T());
    }
    return;
  }
  if (some < width)
    std::fill_n(to, there * width, T());
  std::fill(to + there * width, to + elements * width, T());
  transpose(sizeof(T), from, job.own, to, width, some, there);
}
template <typename T>
void scatter(const Job &job, const T *from, int64_t width, int64_t some, T *to, int64_t elements) {
  if (job.inner == 1)
    return transpose(sizeof(T), from, width, to, job.to, elements, some);
  for (int64_t k = 0; k < elements; ++k)
    std::copy_n(from + k * width, some, to + k * job.inner);
}
template <typename R> R *parts(const Scratch<C<R>> &room) { return reinterpret_cast<R *>(room.data()); }
template <typename R> R *parts(C<R> *at) { return reinterpret_cast<R *>(at); }

template <typename R> void transformComplex(const Job &job, int64_t begin, int64_t end) {
  const int64_t points = job.points, own = std::min(job.own, points);
  const LanePlan<R> &plan = lanePlanFor<R>(job.isBackward(), points);
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

/// Where a group of a real job is: its reals and its complex points, one of them read, the other written.
template <typename R> struct RealGroup {
  int64_t rows;
  R *reals;
  C<R> *halves;
  RealGroup(const Job &job, int64_t step) {
    const auto [from, to, some] = job.group<R>(step);
    char *in = const_cast<char *>(job.in), *of = job.kind == Kind::RealForward ? in : job.out;
    rows = some;
    reals = reinterpret_cast<R *>(of) + (of == in ? from : to);
    halves = reinterpret_cast<C<R> *>(of == in ? job.out : in) + (of == in ? to : from);
  }
};

/// Rows of an even length are complex ones of half of it.
template <typename R> void transformEvenReal(const Job &job, int64_t begin, int64_t end) {
  constexpr int64_t width = laneRows<R>;
  const int64_t points = job.points, half = points / 2, own = std::min(job.own, job.wanted());
  const bool isForward = job.kind == Kind::RealForward, isDense = job.inner == 1, isShort = own < job.wanted();
  const LanePlan<R> &plan = lanePlanFor<R>(!isForward, half);
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

/// Rows of an odd length as complex ones.
template <typename R> void transformOddReal(const Job &job, int64_t begin, int64_t end) {
  constexpr int64_t width = laneRows<R>;
  const int64_t points = job.points, half = points / 2, own = std::min(job.own, job.wanted());
  const bool isForward = job.kind == Kind::RealForward;
  const LanePlan<R> &plan = lanePlanFor<R>(!isForward, points);
  Scratch<C<R>> work(plan.work(points) * width), before(points * width), after(points * width);
  Scratch<R> reals(points * width);
  for (int64_t step = begin; step < end; ++step) {
    const RealGroup<R> group(job, step);
    if (isForward) {
      gather<R>(job, group.reals, own, group.rows, reals.data(), width, points);
      std::copy_n(reals.data(), points * width, before.data());
    } else {
      C<R> *z = before.data();
      gather<C<R>>(job, group.halves, own, group.rows, z, width, half + 1);
      for (int64_t i = 0; i < width; ++i)
        z[i] = z[i].real();
      for (int64_t k = 1; k <= half; ++k)
        std::transform(z + k * width, z + (k + 1) * width, z + (points - k) * width,
                       [](C<R> x) { return std::conj(x); });
    }
    transformRows<R>(plan, points,
                     {parts(before), 2 * width, parts(after), 2 * width, parts(work), static_cast<R>(job.scale)},
                     !isForward);
    if (isForward) {
      for (int64_t i = 0; i < width; ++i)
        after.data()[i].imag(0);
      scatter<C<R>>(job, after.data(), width, group.rows, group.halves, half + 1);
    } else {
      std::transform(after.data(), after.data() + points * width, reals.data(), [](C<R> x) { return x.real(); });
      scatter<R>(job, reals.data(), width, group.rows, group.reals, points);
    }
  }
}

} // namespace

template <typename R> bool goesInLanes(const Job &job) {
  const int64_t points = job.complexPoints();
  const bool hasManyRows = job.outer >= laneRows<R> && !std::has_single_bit(static_cast<uint64_t>(points));
  if (fitsChirp(points))
    return (job.inner > 1 ? job.inner : job.outer) >= laneRows<R>;
  return fitsLanes(points) && (job.inner > 1 || hasManyRows || hasLargePrime(points));
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
