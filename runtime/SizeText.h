// SPDX-License-Identifier: Apache-2.0
/// \file
/// A number of bytes for people.
#pragma once

#include <fmt/format.h>

#include <string>

namespace toy::rt {

inline std::string sizeText(double bytes) {
  const char *units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 6)
    bytes /= 1024, ++unit;
  return unit ? fmt::format("{:.3g} {}", bytes, units[unit]) : fmt::format("{:.0f} bytes", bytes);
}

} // namespace toy::rt
