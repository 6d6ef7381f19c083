// SPDX-License-Identifier: Apache-2.0
/// \file
/// Plans of transforms in lanes: their steps and factors.
#include "runtime/FourierPlans.h"

#include <bit>
#include <cmath>
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

template <> const LaneKernels<float> &laneKernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(laneKernelsF32);
  return chosen;
}
template <> const LaneKernels<double> &laneKernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(laneKernelsF64);
  return chosen;
}

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

bool hasLargePrime(int64_t points) {
  for (int64_t factor = 2; factor <= 13; ++factor)
    while (points % factor == 0)
      points /= factor;
  return points > 1;
}

namespace {

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

} // namespace

template <typename R> LanePlanRef<R> lanePlanFor(bool isBackward, int64_t points) {
  static KeptPlans<LanePlan<R>> plans;
  return plans.get(isBackward, points, [&] { return makeLanePlan<R>(isBackward, points); });
}

template LanePlanRef<float> lanePlanFor(bool, int64_t);
template LanePlanRef<double> lanePlanFor(bool, int64_t);

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

template void transformRows(const LanePlan<float> &, int64_t, const LaneRows<float> &, bool);
template void transformRows(const LanePlan<double> &, int64_t, const LaneRows<double> &, bool);

} // namespace toy::rt
