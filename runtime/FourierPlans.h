// SPDX-License-Identifier: Apache-2.0
/// \file
/// What transforms in lanes share: plans, and how rows come side by side.
#pragma once

#include "runtime/FourierColumns.h"

#include <list>
#include <map>
#include <memory>
#include <mutex>

namespace toy::rt {

template <typename R> const LaneKernels<R> &laneKernels();

/// The steps of a transform in lanes, odd ones first; none where a prime factor is too large.
std::vector<int64_t> laneRadices(int64_t points);

bool hasLargePrime(int64_t points); ///< above 13

using Precise = std::complex<long double>;
template <typename R> C<R> rounded(Precise w, bool isConjugated) {
  return C<R>(static_cast<R>(w.real()), static_cast<R>(isConjugated ? -w.imag() : w.imag()));
}

template <typename T> int64_t bytesOf(const std::vector<T> &of) { return std::ssize(of) * int64_t(sizeof(T)); }

/// Plans by direction and length. Those that were asked for longest ago are forgotten when all take more than `most`
/// bytes, which count against no limit; who holds one has it to the end.
template <typename Plan> class KeptPlans {
public:
  template <typename Make> std::shared_ptr<const Plan> get(bool isBackward, int64_t points, Make make) {
    std::lock_guard lock(mutex);
    const std::pair key(isBackward, points);
    if (auto known = places.find(key); known != places.end()) {
      latest.splice(latest.begin(), latest, known->second);
      return latest.front().plan;
    }
    auto plan = std::make_shared<const Plan>(make());
    latest.push_front({key, plan});
    places[key] = latest.begin();
    for (bytes += plan->bytes(); bytes > most && latest.size() > 1; latest.pop_back()) {
      bytes -= latest.back().plan->bytes();
      places.erase(latest.back().key);
    }
    return plan;
  }

private:
  static constexpr int64_t most = 64 << 20; // four of the longest
  using Key = std::pair<bool, int64_t>;
  struct Kept {
    Key key;
    std::shared_ptr<const Plan> plan;
  };
  std::mutex mutex;
  std::list<Kept> latest;
  std::map<Key, typename std::list<Kept>::iterator> places;
  int64_t bytes = 0;
};

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
  int64_t bytes() const {
    int64_t all = bytesOf(ofReal) + bytesOf(chirp) + bytesOf(spectrum);
    for (const auto &some : factors)
      all += bytesOf(some);
    for (const LanePlan &part : convolution)
      all += part.bytes();
    return all;
  }
};
template <typename R> using LanePlanRef = std::shared_ptr<const LanePlan<R>>;

template <typename R> LanePlanRef<R> lanePlanFor(bool isBackward, int64_t points);

/// Rows side by side, by a plan for `points`.
template <typename R>
void transformRows(const LanePlan<R> &plan, int64_t points, const LaneRows<R> &rows, bool isBackward);

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

/// Real rows of an odd length.
template <typename R> void transformOddReal(const Job &job, int64_t begin, int64_t end);

} // namespace toy::rt
