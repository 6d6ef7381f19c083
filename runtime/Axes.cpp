// SPDX-License-Identifier: Apache-2.0
/// \file
/// Round numbers on axes.
#include "runtime/Axes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace toy::rt {

double Range::place(double v) const {
  if (log)
    return (std::log10(v) - std::log10(low)) / (std::log10(high) - std::log10(low));
  // Halves, because high - low may be more than the largest number; exact but for the smallest numbers of all.
  return high - low < 1e308 ? (v - low) / (high - low) : (v / 2 - low / 2) / (high / 2 - low / 2);
}

Range Extent::range() const {
  if (log) {
    bool single = std::log10(high) - std::log10(low) < 1e-9;
    return single ? Range{std::max(low / 2, 5e-324), std::min(high * 2, 1.7e308), true} : Range{low, high, true};
  }
  double magnitude = std::max(std::fabs(low), std::fabs(high));
  // Two numbers that a few roundings separate have no round numbers between them.
  if (high - low <= 1e-14 * magnitude || high - low < 1e-300) {
    double room = std::clamp(magnitude / 2, 0.5, 8e307), middle = low / 2 + high / 2;
    return {std::max(middle - room, -1.7e308), std::min(middle + room, 1.7e308), false};
  }
  return {low, high, false};
}

static std::string printed(const char *format, int digits, double v) {
  char text[64];
  std::snprintf(text, sizeof text, format, digits, v);
  return text;
}

/// `1e5`, `-2.5e-7` of what printf calls `1e+05`.
static std::string withExponent(double v, int digits) {
  std::string text = printed("%.*e", digits, v);
  size_t e = text.find('e');
  return text.substr(0, e + 1) + std::to_string(std::atoi(text.c_str() + e + 1));
}

std::string shortNumber(double v) {
  std::string text = printed("%.*g", 4, v == 0 ? 0 : v);
  size_t e = text.find('e');
  return e == std::string::npos ? text : text.substr(0, e + 1) + std::to_string(std::atoi(text.c_str() + e + 1));
}

/// Multiples of a step, all with the digits that the step needs.
static std::vector<Tick> linearTicks(const Range &range, int most) {
  double rough = (range.high / most - range.low / most);
  double power = std::pow(10, std::floor(std::log10(rough))), step = power;
  auto count = [&] { return std::floor(range.high / step) - std::ceil(range.low / step) + 1; };
  for (double factor : {1.0, 2.0, 5.0, 10.0, 20.0, 50.0}) {
    step = factor * power;
    if (count() <= most)
      break;
  }
  double largest = std::max(std::fabs(range.low), std::fabs(range.high));
  int decade = static_cast<int>(std::floor(std::log10(step) + 1e-9));
  bool isLong = largest >= 1e6 || step < 1e-4;
  int digits = isLong ? static_cast<int>(std::floor(std::log10(largest) + 1e-9)) - decade : -decade;
  digits = std::clamp(digits, 0, 15);
  std::vector<Tick> ticks;
  double first = std::ceil(range.low / step - 1e-9), last = std::floor(range.high / step + 1e-9);
  for (double i = first; i <= last && ticks.size() < 100; ++i) {
    double v = i * step == 0 ? 0 : i * step; // no -0
    if (std::isfinite(v))
      ticks.push_back({std::clamp(range.place(v), 0.0, 1.0),
                       isLong && v != 0 ? withExponent(v, digits) : printed("%.*f", isLong ? 0 : digits, v)});
  }
  return ticks;
}

std::vector<Tick> ticksOf(const Range &range, int most) {
  most = std::max(most, 2);
  if (!range.log)
    return linearTicks(range, most);
  double first = std::ceil(std::log10(range.low) - 1e-9), last = std::floor(std::log10(range.high) + 1e-9);
  if (last - first < 1) { // less than two powers of ten
    Range plain{range.low, range.high, false};
    std::vector<Tick> ticks = linearTicks(plain, most);
    for (Tick &tick : ticks)
      tick.place = range.place(plain.low + tick.place * (plain.high - plain.low));
    std::erase_if(ticks, [](const Tick &tick) { return !(tick.place >= 0 && tick.place <= 1); });
    return ticks;
  }
  double step = std::ceil((last - first + 1) / most);
  std::vector<Tick> ticks;
  for (double e = first; e <= last; e += step) {
    double v = std::pow(10, e);
    ticks.push_back({std::clamp(range.place(v), 0.0, 1.0),
                     std::fabs(e) <= 4 ? printed("%.*f", std::max(0, static_cast<int>(-e)), v) : withExponent(v, 0)});
  }
  return ticks;
}

} // namespace toy::rt
