// SPDX-License-Identifier: Apache-2.0
/// \file
/// Real rows of an odd length, in lanes.
#include "runtime/FourierPlans.h"

namespace toy::rt {
namespace {

/// Rows of an odd length with a large prime factor as complex ones.
template <typename R> void transformRealByChirp(const Job &job, int64_t begin, int64_t end) {
  constexpr int64_t width = laneRows<R>;
  const int64_t points = job.points, half = points / 2, own = std::min(job.own, job.wanted());
  const bool isForward = job.kind == Kind::RealForward;
  const LanePlanRef<R> known = lanePlanFor<R>(!isForward, points);
  const LanePlan<R> &plan = *known;
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

/// Steps of real rows of an odd length, the largest radix first: it costs half of what it does to complex rows.
template <typename R> struct RealSteps {
  struct Step {
    RealStage<R> stage;
    LanePlanRef<R> others;  ///< of the complex rows; none of one element
    int64_t points, stride; ///< of the real row, and of what it has of the transform
  };
  std::vector<Step> steps;
  std::vector<std::vector<C<R>>> factors;
  int64_t work = 0;

  RealSteps(bool isBackward, int64_t points) {
    int64_t stride = 1;
    const std::vector<int64_t> radices = laneRadices(points);
    for (auto at = radices.rbegin(); at != radices.rend(); ++at) {
      const int64_t radix = *at;
      const int64_t groups = points / radix;
      const auto all = roots(points, points);
      std::vector<C<R>> turns, ofRadix;
      for (int64_t p = 0; p < groups; ++p)
        for (int64_t k = 1; k <= radix / 2; ++k)
          turns.push_back(rounded<R>(all[p * k], !isBackward));
      for (auto w : roots(radix, radix))
        ofRadix.push_back(rounded<R>(w, false));
      factors.push_back(std::move(turns));
      factors.push_back(std::move(ofRadix));
      LanePlanRef<R> others = groups > 1 ? lanePlanFor<R>(isBackward, groups) : nullptr;
      work = std::max(work, others ? others->work(groups) : 0);
      auto reals = [](const std::vector<C<R>> &of) { return reinterpret_cast<const R *>(of.data()); };
      steps.push_back({{radix, groups, reals(factors.end()[-2]), reals(factors.back())}, others, points, stride});
      points = groups;
      stride *= radix;
    }
  }
  int64_t bytes() const {
    int64_t all = 0;
    for (const auto &some : factors)
      all += bytesOf(some);
    return all;
  }
};

/// Of an odd length: from real rows in a buffer to the first half of their transform, in another, or back.
template <typename R> struct OddRealRows {
  static constexpr int64_t width = laneRows<R>;
  const RealSteps<R> &plan;
  bool isBackward;
  R scale;
  Scratch<C<R>> work, others, after, halves;
  Scratch<R> reals, next;

  OddRealRows(const RealSteps<R> &plan, int64_t points, bool isBackward, R scale)
      : plan(plan), isBackward(isBackward), scale(scale), work(plan.work * width), others(points / 2 * width),
        after(points / 3 * width), halves((points / 2 + 1) * width), reals(points * width), next(points * width) {}

  void forwards() {
    R *from = reals.data(), *to = next.data();
    for (const auto &step : plan.steps) {
      kernels.partReal(step.stage, from, to, parts(others));
      overOthers(step, [&](C<R> *other, HalfPart<R> part) {
        if (step.others) {
          transformed(step, other);
          part.part = parts(after);
        }
        kernels.spread(part);
      });
      std::swap(from, to);
    }
    for (int64_t i = 0; i < width; ++i)
      halves.data()[i] = scale * from[i];
  }
  void backwards() {
    R *from = plan.steps.size() % 2 ? next.data() : reals.data(),
      *to = plan.steps.size() % 2 ? reals.data() : next.data();
    for (int64_t i = 0; i < width; ++i)
      from[i] = scale * halves.data()[i].real();
    for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
      overOthers(*step, [&](C<R> *other, HalfPart<R> part) {
        kernels.collect(part);
        if (step->others) {
          transformed(*step, other);
          std::copy_n(after.data(), step->stage.groups * width, other);
        }
      });
      kernels.joinReal(step->stage, from, parts(others), to);
      std::swap(from, to);
    }
  }

private:
  using Step = typename RealSteps<R>::Step;
  const LaneKernels<R> &kernels = laneKernels<R>();

  void transformed(const Step &step, C<R> *other) {
    transformRows<R>(*step.others, step.stage.groups,
                     {parts(other), 2 * width, parts(after), 2 * width, parts(work), R(1)}, isBackward);
  }
  template <typename Body> void overOthers(const Step &step, Body body) {
    for (int64_t k = 1; k <= step.stage.radix / 2; ++k) {
      C<R> *other = others.data() + (k - 1) * step.stage.groups * width;
      body(other, {parts(halves), parts(other), step.points, step.stage.radix, k, step.stride, scale});
    }
  }
};

template <typename R> std::shared_ptr<const RealSteps<R>> realStepsFor(bool isBackward, int64_t points) {
  static KeptPlans<RealSteps<R>> plans;
  return plans.get(isBackward, points, [&] { return RealSteps<R>(isBackward, points); });
}

} // namespace

template <typename R> void transformOddReal(const Job &job, int64_t begin, int64_t end) {
  constexpr int64_t width = laneRows<R>;
  const int64_t points = job.points, half = points / 2, own = std::min(job.own, job.wanted());
  if (laneRadices(points).empty())
    return transformRealByChirp<R>(job, begin, end);
  const bool isForward = job.kind == Kind::RealForward;
  const auto known = realStepsFor<R>(!isForward, points);
  OddRealRows<R> rows(*known, points, !isForward, static_cast<R>(job.scale));
  for (int64_t step = begin; step < end; ++step) {
    const RealGroup<R> group(job, step);
    if (isForward) {
      gather<R>(job, group.reals, own, group.rows, rows.reals.data(), width, points);
      rows.forwards();
      scatter<C<R>>(job, rows.halves.data(), width, group.rows, group.halves, half + 1);
    } else {
      gather<C<R>>(job, group.halves, own, group.rows, rows.halves.data(), width, half + 1);
      rows.backwards();
      scatter<R>(job, rows.reals.data(), width, group.rows, group.reals, points);
    }
  }
}

template void transformOddReal<float>(const Job &, int64_t, int64_t);
template void transformOddReal<double>(const Job &, int64_t, int64_t);

} // namespace toy::rt
