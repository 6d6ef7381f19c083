// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pictures in pixels: lines are smooth, letters are those of Letters.h.
#include "runtime/Canvas.h"

#include "runtime/Letters.h"
#include "support/Source.h"
#include "support/Unicode.h"

#include <algorithm>
#include <cmath>

namespace toy::rt {
namespace {

class PixelCanvas : public Canvas {
public:
  PixelCanvas(CanvasSize size, int scale) : scale(scale) {
    out.columns = size.width * scale, out.rows = size.height * scale;
    out.rgb.assign(out.rows * out.columns * 3, '\xff');
  }

  /// Each pixel by its distance from the line, and once where the line comes back to it.
  void line(std::span<const Point> points, Colour colour, double width) override {
    std::vector<float> cover(out.rows * out.columns);
    double half = width * scale / 2;
    for (size_t i = 0; i + 1 < points.size(); ++i) {
      Point a = scaled(points[i]), b = scaled(points[i + 1]);
      double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
      for (int64_t y = from(std::min(a.y, b.y) - half - 1); y < to(std::max(a.y, b.y) + half + 1, out.rows); ++y) {
        // Of a long line that is not steep, this row's part only.
        double low = std::min(a.x, b.x), high = std::max(a.x, b.x);
        if (std::fabs(dy) > 1) {
          double middle = a.x + (double(y) + 0.5 - a.y) * dx / dy;
          double reach = std::fabs(dx / dy) * (half + 2) + half + 1;
          low = std::max(low, middle - reach), high = std::min(high, middle + reach);
        }
        for (int64_t x = from(low - half - 1); x < to(high + half + 1, out.columns); ++x) {
          double px = double(x) + 0.5 - a.x, py = double(y) + 0.5 - a.y;
          double t = square > 0 ? std::clamp((px * dx + py * dy) / square, 0.0, 1.0) : 0;
          double distance = std::hypot(px - t * dx, py - t * dy);
          float &c = cover[y * out.columns + x];
          c = std::max(c, static_cast<float>(std::clamp(half + 0.5 - distance, 0.0, 1.0)));
        }
      }
    }
    for (int64_t i = 0; i < out.rows * out.columns; ++i)
      if (cover[i] > 0)
        blend(i, colour, cover[i]);
  }

  void dot(Point centre, double radius, Colour colour) override {
    Point c = scaled(centre);
    double r = radius * scale;
    for (int64_t y = from(c.y - r - 1); y < to(c.y + r + 1, out.rows); ++y)
      for (int64_t x = from(c.x - r - 1); x < to(c.x + r + 1, out.columns); ++x)
        blend(y * out.columns + x, colour,
              std::clamp(r + 0.5 - std::hypot(double(x) + 0.5 - c.x, double(y) + 0.5 - c.y), 0.0, 1.0));
  }

  void rectangle(Point corner, double width, double height, Colour colour) override {
    Point a = scaled(corner), b = scaled({corner.x + width, corner.y + height});
    int64_t left = std::llround(a.x), right = std::max<int64_t>(std::llround(b.x), left + 1);
    for (int64_t y = std::max<int64_t>(std::llround(a.y), 0); y < std::min<int64_t>(std::llround(b.y), out.rows); ++y)
      for (int64_t x = std::max<int64_t>(left, 0); x < std::min(right, out.columns); ++x)
        blend(y * out.columns + x, colour, 1);
  }

  void text(Point at, const std::string &text, Anchor anchor, bool turned) override {
    std::vector<Letter> letters;
    for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(characterLength(rest)))
      letters.push_back(letterOf(utf8Length(rest) ? codePointAt(rest) : 0));
    double width = double(letters.size()) * advance - 1;
    double start = anchor == Anchor::Start ? 0 : anchor == Anchor::Middle ? -width / 2 : -width;
    for (size_t i = 0; i < letters.size(); ++i)
      for (int row = 0; row < static_cast<int>(letters[i].size()); ++row)
        for (int column = 0; column < 5; ++column)
          if (letters[i][row] >> (4 - column) & 1) {
            double x = start + double(i) * advance + column, y = row - 2 - 3.5;
            if (turned)
              rectangle({at.x + y, at.y - x - 1}, 1, 1, {0, 0, 0});
            else
              rectangle({std::round(at.x + x), std::round(at.y + y)}, 1, 1, {0, 0, 0});
          }
  }

  void image(Point corner, double width, double height, const Pixels &pixels) override {
    Point a = scaled(corner), b = scaled({corner.x + width, corner.y + height});
    for (int64_t y = from(a.y); y < to(b.y, out.rows); ++y)
      for (int64_t x = from(a.x); x < to(b.x, out.columns); ++x) {
        auto part = [](double v, double low, double high, int64_t n) {
          return std::clamp<int64_t>(static_cast<int64_t>((v - low) / (high - low) * double(n)), 0, n - 1);
        };
        int64_t i = part(double(y) + 0.5, a.y, b.y, pixels.rows), j = part(double(x) + 0.5, a.x, b.x, pixels.columns);
        out.rgb.replace((y * out.columns + x) * 3, 3, pixels.rgb, (i * pixels.columns + j) * 3, 3);
      }
  }

  Pixels out;

private:
  static constexpr int advance = 6;
  Point scaled(Point p) const { return {p.x * scale, p.y * scale}; }
  static int64_t from(double v) { return std::max<int64_t>(0, static_cast<int64_t>(std::floor(v))); }
  static int64_t to(double v, int64_t end) { return std::min<int64_t>(end, static_cast<int64_t>(std::ceil(v))); }
  void blend(int64_t i, Colour colour, double part) {
    for (int c = 0; c < 3; ++c) {
      auto &byte = reinterpret_cast<uint8_t &>(out.rgb[i * 3 + c]);
      byte = static_cast<uint8_t>(std::lround(byte + (colour[c] - byte) * part));
    }
  }
  int scale;
};

} // namespace

Pixels picturePixels(const Picture &picture, int scale) {
  PixelCanvas canvas(sizeOf(picture), scale);
  draw(picture, canvas);
  return std::move(canvas.out);
}

} // namespace toy::rt
