// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where everything of a picture goes: axes, curves, bars, the colours of a map, names.
#include "runtime/Canvas.h"

#include "support/Unicode.h"

#include <algorithm>
#include <cmath>

namespace toy::rt {

static constexpr Colour black = {0, 0, 0}, grey = {224, 224, 224};

Colour seriesColour(size_t series) {
  static constexpr Colour colours[] = {{0, 114, 178}, {213, 94, 0},   {0, 158, 115}, {204, 121, 167},
                                       {230, 159, 0}, {86, 180, 233}, {0, 0, 0}};
  return colours[series % std::size(colours)];
}

std::string noteOf(const Picture &p) {
  if (p.leftOut == 0)
    return "";
  bool log = p.xlog || p.ylog;
  return std::to_string(p.leftOut) + (p.leftOut == 1 ? " value that is" : " values that are") + " not finite" +
         (log ? " or not positive" : "") + (p.leftOut == 1 ? " is" : " are") +
         (p.kind == Picture::Image ? " at the ends of the range" : " left out");
}

/// Curves get a little room around them; bars stand on the axis.
Frame frameOf(const Picture &p) {
  Extent x(p.xlog), y(p.ylog);
  for (const Series &s : p.series) {
    for (size_t i = 0; i < s.x.size(); ++i)
      if (std::isfinite(s.x[i]))
        x.add(s.x[i]);
    for (double v : s.y)
      if (std::isfinite(v) && (!p.ylog || v > 0))
        y.add(v);
  }
  if (p.kind == Picture::Bars) {
    if (p.ylog)
      y.add(0.5);
    else
      y.add(0);
    if (!p.ylog && y.range().low == -0.5) // all are empty
      y.add(1);
  }
  Range up = y.range();
  if (double room = (up.high / 2 - up.low / 2) * 0.04;
      p.kind != Picture::Bars && !p.ylog && up.high < 1e308 && up.low > -1e308)
    up.low -= room, up.high += room;
  return {x.range(), p.kind == Picture::Bars && !p.ylog ? Range{0, std::max(up.high, 1e-300), false} : up};
}

CanvasSize sizeOf(const Picture &p) {
  int64_t width = p.width ? p.width : 80, height = p.height ? p.height : p.kind == Picture::Image ? 24 : 20;
  return {width * 8, height * 16};
}

namespace {

class Drawing {
public:
  Drawing(const Picture &p, Canvas &canvas) : p(p), canvas(canvas), size(sizeOf(p)) {}

  void draw() {
    canvas.rectangle({0, 0}, double(size.width), double(size.height), {255, 255, 255});
    placeNames();
    if (p.kind == Picture::Image)
      return drawImage();
    Frame frame = frameOf(p);
    auto height = static_cast<int>(bottom - top);
    std::vector<Tick> ys = ticksOf(frame.y, height / 40 + 1);
    double widest = 0;
    for (const Tick &tick : ys)
      widest = std::max(widest, 8.0 * double(tick.text.size()));
    left += widest + 8;
    std::vector<Tick> xs = ticksOf(frame.x, std::max(2, static_cast<int>(right - left) / 90));
    for (const Tick &tick : xs) {
      double x = left + tick.place * (right - left);
      stroke({{x, top}, {x, bottom}}, grey);
      canvas.text({x, bottom + 10}, tick.text, Anchor::Middle);
    }
    for (const Tick &tick : ys) {
      double y = bottom - tick.place * (bottom - top);
      stroke({{left, y}, {right, y}}, grey);
      canvas.text({left - 6, y}, tick.text, Anchor::End);
    }
    for (size_t i = 0; i < p.series.size(); ++i)
      drawSeries(p.series[i], frame, seriesColour(i));
    stroke({{left, top}, {left, bottom}, {right, bottom}}, black);
    if (!p.xlabel.empty())
      canvas.text({(left + right) / 2, bottom + 26}, p.xlabel, Anchor::Middle);
  }

private:
  void stroke(std::initializer_list<Point> points, Colour colour) {
    canvas.line({points.begin(), points.size()}, colour, 1);
  }

  /// Title above, legend and note below; the rest is for the axes.
  void placeNames() {
    top = 12, bottom = double(size.height) - 22, left = 8, right = double(size.width) - 24;
    if (!p.title.empty()) {
      canvas.text({double(size.width) / 2, 12}, p.title, Anchor::Middle);
      top = 28;
    }
    double line = double(size.height) - 8;
    if (std::string note = noteOf(p); !note.empty()) {
      canvas.text({double(size.width) / 2, line}, note, Anchor::Middle);
      line -= 16, bottom -= 16;
    }
    bool named = std::ranges::any_of(p.series, [](const Series &s) { return !s.label.empty(); });
    if (named) {
      legend(line);
      bottom -= 16;
    }
    if (!p.xlabel.empty())
      bottom -= 16;
    if (!p.ylabel.empty()) {
      canvas.text({10, (top + bottom) / 2}, p.ylabel, Anchor::Middle, true);
      left += 16;
    }
  }

  void legend(double y) {
    double width = 0;
    for (const Series &s : p.series)
      width += s.label.empty() ? 0 : 8 * double(columnsOf(s.label)) + 40;
    double x = std::max(4.0, (double(size.width) - width) / 2);
    for (size_t i = 0; i < p.series.size(); ++i) {
      if (p.series[i].label.empty())
        continue;
      if (p.kind == Picture::Lines)
        canvas.line(std::array{Point{x, y}, Point{x + 18, y}}, seriesColour(i), 2);
      else if (p.kind == Picture::Points)
        canvas.dot({x + 9, y}, 2.5, seriesColour(i));
      else
        canvas.rectangle({x + 4, y - 5}, 10, 10, seriesColour(i));
      canvas.text({x + 24, y}, p.series[i].label, Anchor::Start);
      x += 8 * double(columnsOf(p.series[i].label)) + 40;
    }
  }

  void drawSeries(const Series &s, const Frame &frame, Colour colour) {
    auto place = [&](double x, double y) {
      return Point{left + frame.x.place(x) * (right - left), bottom - frame.y.place(y) * (bottom - top)};
    };
    if (p.kind == Picture::Bars) {
      for (size_t i = 0; i < s.y.size(); ++i) {
        if (!(s.y[i] > 0) || (p.ylog && s.y[i] < frame.y.low))
          continue;
        Point a = place(s.x[i], s.y[i]), b = place(s.x[i + 1], s.y[i]);
        double gap = b.x - a.x > 4 ? 1 : 0;
        canvas.rectangle(a, std::max(b.x - a.x - gap, 0.5), bottom - a.y, colour);
      }
      return;
    }
    std::vector<Point> run;
    auto finish = [&] {
      if (run.size() > 1)
        canvas.line(run, colour, 2);
      else if (!run.empty())
        canvas.dot(run[0], 1.5, colour);
      run.clear();
    };
    for (size_t i = 0; i < s.x.size(); ++i)
      if (std::isnan(s.x[i]))
        finish();
      else if (p.kind == Picture::Points)
        canvas.dot(place(s.x[i], s.y[i]), 2.5, colour);
      else
        run.push_back(place(s.x[i], s.y[i]));
    finish();
  }

  /// The image keeps its sides' ratio; to its right the colours of its map with their numbers.
  void drawImage() {
    double bar = p.map.empty() ? 0 : 110, room = double(size.width) - bar - 16, high = bottom + 14 - top;
    if (!p.xlabel.empty())
      high -= 16;
    double unit = std::min((room - left + 8) / double(p.pixels.columns), high / double(p.pixels.rows));
    double width = unit * double(p.pixels.columns), height = unit * double(p.pixels.rows);
    double x = left + std::max(0.0, (room - left - width) / 2), y = top + (high - height) / 2;
    canvas.image({x, y}, width, height, p.pixels);
    if (!p.xlabel.empty())
      canvas.text({x + width / 2, y + height + 12}, p.xlabel, Anchor::Middle);
    if (p.map.empty())
      return;
    Pixels colours{256, 1, std::string(768, '\0')};
    for (int i = 0; i < 256; ++i)
      std::ranges::copy(mapColour(p.map, 1 - i / 255.0), reinterpret_cast<uint8_t *>(colours.rgb.data()) + 3 * i);
    double barLeft = x + width + 16;
    canvas.image({barLeft, y}, 14, height, colours);
    Range range{p.low, p.high, false};
    for (const Tick &tick : ticksOf(range, std::max(2, static_cast<int>(height) / 40)))
      canvas.text({barLeft + 20, y + height - tick.place * height}, tick.text, Anchor::Start);
  }

  const Picture &p;
  Canvas &canvas;
  CanvasSize size;
  double top = 0, bottom = 0, left = 0, right = 0;
};

} // namespace

void draw(const Picture &picture, Canvas &canvas) { Drawing(picture, canvas).draw(); }

} // namespace toy::rt
