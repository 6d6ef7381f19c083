// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a picture is drawn on: SVG or pixels. Coordinates go right and down, in units of 1/8 of a character's width.
#pragma once

#include "runtime/Axes.h"
#include "runtime/Picture.h"

namespace toy::rt {

using Colour = std::array<uint8_t, 3>;
struct Point {
  double x, y;
};
enum class Anchor : uint8_t { Start, Middle, End };

class Canvas {
public:
  virtual ~Canvas() = default;
  virtual void line(std::span<const Point> points, Colour colour, double width) = 0;
  virtual void dot(Point centre, double radius, Colour colour) = 0;
  virtual void rectangle(Point corner, double width, double height, Colour colour) = 0;
  /// The middle of the text's height is at the point; upwards where `turned`.
  virtual void text(Point at, const std::string &text, Anchor anchor, bool turned = false) = 0;
  virtual void image(Point corner, double width, double height, const Pixels &pixels) = 0;
};

struct CanvasSize {
  int64_t width, height;
};
CanvasSize sizeOf(const Picture &picture);
/// Draws all of a picture.
void draw(const Picture &picture, Canvas &canvas);

/// Series have the colours of Okabe and Ito, which people who see few colours tell apart (Color Universal Design,
/// 2008).
Colour seriesColour(size_t series);
/// What the axes of plots show.
struct Frame {
  Range x, y;
};
Frame frameOf(const Picture &picture);
/// A sentence about what no axis can show; empty where all is shown.
std::string noteOf(const Picture &picture);

} // namespace toy::rt
