// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pictures in characters: curves in braille (2 by 4 dots each), bars in eighths of blocks, images in half blocks of
/// colour, or in ten shades.
#include "runtime/Canvas.h"

#include "support/Unicode.h"

#include <algorithm>
#include <cmath>

namespace toy::rt {
namespace {

std::string utf8(uint32_t code) { // of three bytes
  return {static_cast<char>(0xe0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 63)),
          static_cast<char>(0x80 | (code & 63))};
}
std::string paint(Colour c, bool background = false) {
  return "\x1b[" + std::string(background ? "48" : "38") + ";2;" + std::to_string(c[0]) + ";" + std::to_string(c[1]) +
         ";" + std::to_string(c[2]) + "m";
}
const std::string plain = "\x1b[0m";

std::string centred(const std::string &text, int64_t left, int64_t width) {
  return std::string(std::max<int64_t>(0, left + (width - static_cast<int64_t>(columnsOf(text))) / 2), ' ') + text +
         "\n";
}

class TextDrawing {
public:
  TextDrawing(const Picture &p, int64_t columns, bool color) : p(p), color(color) {
    total = std::min<int64_t>(p.width ? p.width : 80, std::max<int64_t>(columns, 20));
    rows = p.height ? p.height : 20;
    rows = std::max<int64_t>(3, rows - 2 - !p.title.empty() - !p.xlabel.empty());
  }

  std::string draw() {
    Frame frame = frameOf(p);
    std::vector<Tick> ys = ticksOf(frame.y, std::max(2, static_cast<int>(rows) / 3));
    for (const Tick &tick : ys)
      margin = std::max<int64_t>(margin, static_cast<int64_t>(tick.text.size()));
    margin = std::min<int64_t>(margin, total / 3);
    width = total - margin - 2;
    cells.assign(rows * width, {});
    for (size_t i = 0; i < p.series.size(); ++i)
      p.kind == Picture::Bars ? drawBars(p.series[i], frame) : drawSeries(i, frame);
    std::string out;
    if (!p.title.empty())
      out += centred(p.title, margin + 1, width);
    if (!p.ylabel.empty())
      out += std::string(margin + 1, ' ') + p.ylabel + "\n";
    out += body(ys) + axis(ticksOf(frame.x, std::max(2, static_cast<int>(width) / 12)));
    if (!p.xlabel.empty())
      out += centred(p.xlabel, margin + 1, width);
    return out + legend() + note();
  }

private:
  struct Cell {
    uint8_t dots = 0;   ///< of braille
    uint8_t eighth = 0; ///< of a bar
    char mark = 0;      ///< a series in characters
    uint8_t series = 0;
  };
  /// Where there are no colours, series behind the first are told apart by characters.
  char markOf(size_t series) const { return color || series == 0 ? 0 : "ox+*#@%"[(series - 1) % 7]; }

  void dot(int64_t x, int64_t y, size_t series) {
    if (x < 0 || y < 0 || x >= 2 * width || y >= 4 * rows)
      return;
    Cell &cell = cells[y / 4 * width + x / 2];
    static constexpr uint8_t bits[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    cell.dots |= bits[y % 4][x % 2];
    cell.series = static_cast<uint8_t>(series);
    if (char mark = markOf(series))
      cell.mark = mark;
  }

  void drawSeries(size_t series, const Frame &frame) {
    const Series &s = p.series[series];
    double px = NAN, py = NAN;
    for (size_t i = 0; i < s.x.size(); ++i) {
      if (std::isnan(s.x[i])) {
        px = NAN;
        continue;
      }
      double x = frame.x.place(s.x[i]) * double(2 * width - 1), y = (1 - frame.y.place(s.y[i])) * double(4 * rows - 1);
      double steps =
          std::isnan(px) || p.kind == Picture::Points ? 0 : std::ceil(std::max(std::fabs(x - px), std::fabs(y - py)));
      for (double k = 0; k <= steps; ++k) {
        double t = steps > 0 ? k / steps : 1;
        dot(std::llround(std::isnan(px) || t == 1 ? x : px + (x - px) * t),
            std::llround(std::isnan(px) || t == 1 ? y : py + (y - py) * t), series);
      }
      px = x, py = y;
    }
  }

  /// Each column of characters is as high as the highest bar in it.
  void drawBars(const Series &s, const Frame &frame) {
    for (size_t i = 0; i < s.y.size(); ++i) {
      if (!(s.y[i] > 0))
        continue;
      auto column = [&](double edge) { return std::llround(frame.x.place(edge) * double(width)); };
      int64_t begin = column(s.x[i]), end = std::max<int64_t>(column(s.x[i + 1]), begin + 1);
      int64_t eighths = std::max<int64_t>(1, std::llround(frame.y.place(s.y[i]) * double(8 * rows)));
      for (int64_t x = begin; x < std::min(end, width); ++x)
        for (int64_t row = 0; row < rows; ++row) {
          uint8_t &cell = cells[(rows - 1 - row) * width + x].eighth;
          cell = std::max(cell, static_cast<uint8_t>(std::clamp<int64_t>(eighths - 8 * row, 0, 8)));
        }
    }
  }

  std::string character(const Cell &cell) const {
    std::string text = cell.mark     ? std::string(1, cell.mark)
                       : cell.dots   ? utf8(0x2800 + cell.dots)
                       : cell.eighth ? utf8(0x2580 + cell.eighth)
                                     : " ";
    return color && text != " " ? paint(seriesColour(cell.series)) + text + plain : text;
  }

  std::string body(const std::vector<Tick> &ticks) const {
    std::vector<std::string> labels(rows);
    for (const Tick &tick : ticks)
      labels[std::llround((1 - tick.place) * double(rows - 1))] = tick.text.substr(0, margin);
    std::string out;
    for (int64_t y = 0; y < rows; ++y) {
      out += std::string(margin - labels[y].size(), ' ') + labels[y] + (labels[y].empty() ? " \u2502" : " \u2524");
      std::string line;
      for (int64_t x = 0, blank = 0; x < width; ++x) {
        std::string c = character(cells[y * width + x]);
        blank = c == " " ? blank + 1 : 0;
        if (!blank)
          line += c;
        else if (std::any_of(&cells[y * width + x], &cells[y * width] + width,
                             [](const Cell &cell) { return cell.dots || cell.eighth || cell.mark; }))
          line += c;
      }
      out += line + "\n";
    }
    return out;
  }

  /// The line below, and its numbers, as far as they do not touch.
  std::string axis(const std::vector<Tick> &ticks) const {
    std::vector<bool> marks(width);
    std::string numbers;
    for (const Tick &tick : ticks) {
      int64_t x = std::llround(tick.place * double(width - 1));
      marks[x] = true;
      int64_t at = margin + 2 + x - static_cast<int64_t>(tick.text.size()) / 2;
      at = std::min(at, total - static_cast<int64_t>(tick.text.size()));
      if (at < static_cast<int64_t>(numbers.size()) + !numbers.empty())
        continue;
      numbers += std::string(at - numbers.size(), ' ') + tick.text;
    }
    std::string out = std::string(margin + 1, ' ') + "\u2514";
    for (bool mark : marks)
      out += mark ? "\u252c" : "\u2500";
    return out + "\n" + numbers + "\n";
  }

  std::string legend() const {
    std::string out;
    for (size_t i = 0; i < p.series.size(); ++i) {
      std::string label = p.series[i].label;
      if (label.empty() && p.series.size() == 1)
        continue;
      if (label.empty())
        label = std::to_string(i + 1);
      std::string mark = markOf(i) ? std::string(1, markOf(i)) : p.kind == Picture::Bars ? "\u2588" : utf8(0x28ff);
      out += (out.empty() ? std::string(margin + 2, ' ') : "   ") +
             (color ? paint(seriesColour(i)) + mark + plain : mark) + " " + label;
    }
    return out.empty() ? out : out + "\n";
  }
  std::string note() const {
    std::string text = noteOf(p);
    return text.empty() ? text : std::string(margin + 2, ' ') + "(" + text + ")\n";
  }

  const Picture &p;
  bool color;
  int64_t total, rows, margin = 0, width = 0;
  std::vector<Cell> cells;
};

/// Two rows of pixels a line; small images are enlarged by whole factors, large ones made smaller.
class ImageText {
public:
  ImageText(const Picture &p, int64_t columns, bool color) : p(p), color(color) {
    most = std::min<int64_t>(p.width ? p.width : 80, std::max<int64_t>(columns, 20));
    int64_t high = p.height ? 2 * p.height : INT64_MAX;
    int64_t up = std::min<int64_t>(most / 2 / p.pixels.columns, std::min<int64_t>(high, 24) / p.pixels.rows);
    double down = std::max(double(p.pixels.columns) / double(most), double(p.pixels.rows) / double(high));
    factor = up > 1 ? double(up) : down > 1 ? 1 / down : 1;
    width = std::max<int64_t>(1, std::min<int64_t>(most, std::llround(double(p.pixels.columns) * factor)));
    rows = std::max<int64_t>(1, std::llround(double(p.pixels.rows) * factor));
  }

  std::string draw() const {
    std::string out;
    if (!p.title.empty())
      out += centred(p.title, 0, width);
    for (int64_t y = 0; y < rows; y += 2) {
      for (int64_t x = 0; x < width; ++x) {
        Colour above = mean(y, x), below = mean(std::min(y + 1, rows - 1), x);
        if (!color)
          out += " .:-=+*#%@"[(shade(above) + shade(below)) / 2];
        else
          out += paint(above) + (y + 1 < rows ? paint(below, true) : "") + "\u2580";
      }
      out += color ? plain + "\n" : "\n";
    }
    if (!p.xlabel.empty())
      out += centred(p.xlabel, 0, width);
    if (!p.map.empty())
      out += scale();
    std::string note = noteOf(p);
    return note.empty() ? out : out + "(" + note + ")\n";
  }

private:
  /// Of the pixels that a place stands for.
  Colour mean(int64_t y, int64_t x) const {
    auto begin = [&](int64_t at, int64_t n, int64_t all) { return std::min(at * n / all, n - 1); };
    int64_t top = begin(y, p.pixels.rows, rows), left = begin(x, p.pixels.columns, width);
    int64_t bottom = std::max(top + 1, begin(y + 1, p.pixels.rows, rows));
    int64_t right = std::max(left + 1, begin(x + 1, p.pixels.columns, width));
    std::array<int64_t, 3> sum{};
    for (int64_t i = top; i < bottom; ++i)
      for (int64_t j = left; j < right; ++j)
        for (int c = 0; c < 3; ++c)
          sum[c] += static_cast<uint8_t>(p.pixels.rgb[(i * p.pixels.columns + j) * 3 + c]);
    Colour out{};
    for (int c = 0; c < 3; ++c)
      out[c] = static_cast<uint8_t>(sum[c] / ((bottom - top) * (right - left)));
    return out;
  }
  static int shade(Colour c) { return (299 * c[0] + 587 * c[1] + 114 * c[2]) / 25501; } // luma of 0 to 255,000

  /// The colours of the map with the numbers at its ends.
  std::string scale() const {
    std::string out = shortNumber(p.low) + " ", end = " " + shortNumber(p.high);
    int64_t count = std::clamp<int64_t>(most - static_cast<int64_t>(out.size() + end.size()), 2, 20);
    for (int64_t i = 0; i < count; ++i) {
      Colour c = mapColour(p.map, double(i) / double(count - 1));
      out += color ? paint(c, true) + " " : std::string(1, " .:-=+*#%@"[shade(c)]);
    }
    return out + (color ? plain : "") + end + "\n";
  }

  const Picture &p;
  bool color;
  double factor;
  int64_t most, width, rows;
};

} // namespace

std::string pictureText(const Picture &p, int64_t columns, bool color) {
  return p.kind == Picture::Image ? ImageText(p, columns, color).draw() : TextDrawing(p, columns, color).draw();
}

} // namespace toy::rt
