// SPDX-License-Identifier: Apache-2.0
/// \file
/// Colour maps: straight lines in sRGB between control points at equal distances, at most 3 of 255 from the tables of
/// viridis, magma and inferno that their authors gave to the public (S. van der Walt and N. Smith, 2015, CC0), and from
/// Matplotlib's of the diverging map of K. Moreland, Diverging Color Maps for Scientific Visualization, 2009.
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
      {"viridis", {0x440154, 0x471164, 0x482072, 0x472e7c, 0x433c84, 0x3f4989, 0x39558c, 0x34608d,
                   0x2f6b8e, 0x2b768e, 0x26808e, 0x228b8d, 0x1f958b, 0x1fa088, 0x24aa83, 0x30b47c,
                   0x41be72, 0x57c766, 0x6fcf58, 0x8ad647, 0xa7db34, 0xc5e022, 0xe2e418, 0xfde725}},
      {"magma",
       {0x000004, 0x0b0924, 0x20114b, 0x3b0f70, 0x57157e, 0x721f81, 0x8c2981, 0xa8327d, 0xc43c75, 0xde4968, 0xf1605d,
        0xfa7f5e, 0xfe9f6d, 0xfebf84, 0xfddea0, 0xfcfdbf}},
      {"inferno", {0x000004, 0x060419, 0x120a32, 0x230c4d, 0x360961, 0x490b6a, 0x5b116e, 0x6d186e,
                   0x7e1e6c, 0x902468, 0xa12b62, 0xb3325a, 0xc33b4f, 0xd24644, 0xdf5437, 0xea632a,
                   0xf2751c, 0xf8880d, 0xfb9c06, 0xfcb116, 0xf9c72f, 0xf5dd4f, 0xf1f079, 0xfcffa4}},
      {"coolwarm", {0x3b4cc0, 0x465dce, 0x516ddb, 0x5d7ce6, 0x698bef, 0x7699f6, 0x83a6fb, 0x90b2fe, 0x9dbdff, 0xaac7fd,
                    0xb7cffa, 0xc3d5f4, 0xced9ec, 0xd8dce2, 0xe2dad6, 0xead4c8, 0xf1ccba, 0xf5c3ab, 0xf7b89c, 0xf7ab8d,
                    0xf59d7f, 0xf18e70, 0xeb7e62, 0xe36c55, 0xda5948, 0xcf443c, 0xc22c31, 0xb40426}},
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
