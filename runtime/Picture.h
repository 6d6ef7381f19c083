// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pictures as values: plots, histograms and images. A picture is made of numbers, is held by the program as a text
/// that describes it (so that it is a value like any other), and is drawn when it is shown or saved.
#pragma once

#include "runtime/Value.h"

#include <array>
#include <functional>
#include <optional>

namespace toy::rt {

struct Series {
  std::string label;
  std::vector<double> x, y; ///< nan breaks a line. Of bars: x has the edges, one more than y
};

/// Rows of colours, 3 bytes a pixel.
struct Pixels {
  int64_t rows = 0, columns = 0;
  std::string rgb;
};

struct Picture {
  enum Kind : uint8_t { Lines, Points, Bars, Image } kind = Lines;
  std::string title, xlabel, ylabel;
  int64_t width = 0, height = 0; ///< in characters of 8 by 16 pixels; 0: what fits
  bool xlog = false, ylog = false;
  int64_t leftOut = 0; ///< values that no axis can show
  std::vector<Series> series;
  Pixels pixels;   ///< of an image
  std::string map; ///< the colour map of real numbers from `low` to `high`; empty where colours are given
  double low = 0, high = 0;
};

/// A picture from the arguments that IR generation passes: what it is (`line`, `points`, `bars`, `image`, `complex`,
/// `colours`), title, names of the axes, labels (a list, or a text), width, height, whether axes are logarithmic, the
/// colour map, its range (nan: that of the data), how many values were left out before, and the data, f64 but for
/// colours.
Picture pictureOf(std::span<const Value> arguments);

/// The text that a program holds, and the picture of one; fails where it describes none.
std::string describe(const Picture &picture);
Picture pictureFrom(const std::string &description);

/// Lines of characters, at most `columns` wide, with escape codes for colours only where `color`.
std::string pictureText(const Picture &picture, int64_t columns, bool color);
std::string pictureSvg(const Picture &picture);
/// The same drawing in pixels, each unit of its size `scale` pixels wide.
Pixels picturePixels(const Picture &picture, int scale);
/// What standard output gets: text, or an image in the terminal's own way (TOY_GRAPHICS, TERM and others decide);
/// nothing where `pictureSink` takes pictures.
std::string shownPicture(const Picture &picture);
std::function<void(const Picture &)> &pictureSink();
/// By the suffix .svg, .png or .txt.
void savePicture(const std::string &path, const Picture &picture);

/// A colour of a map for t from 0 to 1; nan is grey. `mapNames` lists them for messages.
std::array<uint8_t, 3> mapColour(std::string_view map, double t);
bool isColourMap(std::string_view map);
std::string mapNames();

/// A `.png` file of colours.
std::string pngOf(const Pixels &pixels);
std::string base64(const std::string &bytes);
/// A complex number's hue by its argument, and lightness by its magnitude.
std::array<uint8_t, 3> complexColour(double re, double im);

} // namespace toy::rt
