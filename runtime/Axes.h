// SPDX-License-Identifier: Apache-2.0
/// \file
/// Axes of pictures: ranges, places on them, and round numbers to write beside them.
#pragma once

#include <string>
#include <vector>

namespace toy::rt {

/// What an axis shows, low < high; logarithmic ones are positive.
struct Range {
  double low = 0, high = 1;
  bool log = false;
  /// Where a value is, from 0 to 1 for the ends. No difference of two finite numbers overflows.
  double place(double v) const;
};

/// Gathers values that an axis is to show.
class Extent {
public:
  explicit Extent(bool log) : log(log) {}
  void add(double v) {
    low = v < low || !some ? v : low;
    high = v > high || !some ? v : high;
    some = true;
  }
  bool any() const { return some; }
  /// What was added; a single value gets room on both sides.
  Range range() const;

private:
  double low = 0, high = 0;
  bool log, some = false;
};

struct Tick {
  double place; ///< from 0 to 1
  std::string text;
};
/// At most `most` numbers (2 at least): 1, 2 or 5 times a power of ten apart, or powers of ten, in ascending order.
std::vector<Tick> ticksOf(const Range &range, int most);
/// A number with a few digits.
std::string shortNumber(double v);

} // namespace toy::rt
