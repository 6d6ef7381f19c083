// SPDX-License-Identifier: Apache-2.0
/// \file
/// Colour maps: straight lines in sRGB between control points. Those of viridis, magma and inferno are every 28th or so
/// of the tables that their authors gave to the public (S. van der Walt and N. Smith, 2015, CC0); coolwarm is the
/// diverging map of K. Moreland, Diverging Color Maps for Scientific Visualization, 2009.
#include "runtime/Picture.h"

#include <algorithm>
#include <cmath>

namespace toy::rt {
namespace {

struct Map {
  std::string_view name;
  std::vector<uint32_t> colours;
};

const std::vector<Map> &maps() {
  static const std::vector<Map> all = {
      {"viridis", {0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725}},
      {"magma", {0x000004, 0x180f3d, 0x440f76, 0x721f81, 0x9e2f7f, 0xcd4071, 0xf1605d, 0xfd9668, 0xfeca8d, 0xfcfdbf}},
      {"inferno", {0x000004, 0x1b0c41, 0x4a0c6b, 0x781c6d, 0xa52c60, 0xcf4446, 0xed6925, 0xfb9b06, 0xf7d13d, 0xfcffa4}},
      {"coolwarm", {0x3b4cc0, 0x7b9ff9, 0xc0d4f5, 0xdddddd, 0xf2cbb7, 0xee8468, 0xb40426}},
      {"gray", {0x000000, 0xffffff}},
  };
  return all;
}

} // namespace

bool isColourMap(std::string_view map) {
  return std::ranges::any_of(maps(), [&](const Map &m) { return m.name == map; });
}

std::string mapNames() {
  std::string out;
  for (const Map &map : maps())
    out += (out.empty() ? "\"" : &map == &maps().back() ? " or \"" : ", \"") + std::string(map.name) + "\"";
  return out;
}

std::array<uint8_t, 3> mapColour(std::string_view name, double t) {
  if (std::isnan(t))
    return {128, 128, 128};
  const std::vector<uint32_t> &colours = std::ranges::find(maps(), name, &Map::name)->colours;
  double place = std::clamp(t, 0.0, 1.0) * double(colours.size() - 1);
  size_t i = std::min(static_cast<size_t>(place), colours.size() - 2);
  double part = place - double(i);
  std::array<uint8_t, 3> out{};
  for (int c = 0; c < 3; ++c) {
    double a = colours[i] >> (16 - 8 * c) & 255, b = colours[i + 1] >> (16 - 8 * c) & 255;
    out[c] = static_cast<uint8_t>(std::lround(a + (b - a) * part));
  }
  return out;
}

} // namespace toy::rt
