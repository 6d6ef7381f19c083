// SPDX-License-Identifier: Apache-2.0
/// \file
/// The time that each phase of a run takes, for --time, --stats and `:time`.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace toy {

/// Milliseconds by phase, in the order in which they began first. Time counts for the innermost phase only. For one
/// thread.
class PhaseTimes {
public:
  using Clock = std::chrono::steady_clock;

  /// A phase lasts as long as this.
  class Phase {
  public:
    Phase(PhaseTimes &times, std::string_view name) : times(times), outer(times.enter(times.indexOf(name))) {}
    ~Phase() { times.enter(outer); }
    Phase(const Phase &) = delete;

  private:
    PhaseTimes &times;
    size_t outer;
  };

  /// No phase runs: after an error that no destructor has seen.
  void leaveAll() { enter(none); }

  double of(std::string_view name) const {
    for (const auto &[other, ms] : all)
      if (other == name)
        return ms;
    return 0;
  }
  /// Names and milliseconds, those of the phases that have ended or been left for an inner one.
  const std::vector<std::pair<std::string, double>> &list() const { return all; }

private:
  static constexpr size_t none = static_cast<size_t>(-1);

  size_t indexOf(std::string_view name) {
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i].first == name)
        return i;
    all.emplace_back(name, 0);
    return all.size() - 1;
  }
  /// Ends what runs and gives it.
  size_t enter(size_t next) {
    Clock::time_point now = Clock::now();
    if (current != none)
      all[current].second += std::chrono::duration<double, std::milli>(now - since).count();
    since = now;
    return std::exchange(current, next);
  }

  std::vector<std::pair<std::string, double>> all;
  size_t current = none;
  Clock::time_point since;
};

} // namespace toy
