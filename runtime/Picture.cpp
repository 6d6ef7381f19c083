// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pictures from data, as texts, and back. What a picture keeps is bounded by what can be seen of it: runs of points in
/// one of 2,048 columns become their first, lowest, highest and last point, so that a line of any length costs one
/// pass.
#include "runtime/Picture.h"

#include "runtime/Axes.h"
#include "runtime/Error.h"
#include "runtime/Format.h"
#include "runtime/Io.h"
#include "runtime/List.h"
#include "runtime/Memory.h"
#include "runtime/Parallel.h"

#include "support/Unicode.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace toy::rt {
namespace {

constexpr int64_t finest = 2048; // columns that any drawing may tell apart
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kindNames[] = {"line", "points", "bars", "image"};

/// A text in one line that every terminal and XML take: without control characters, valid UTF-8.
std::string cleaned(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t length = characterLength(text.substr(at));
    auto first = static_cast<unsigned char>(text[at]);
    if (first < 0x20 || first == 0x7f)
      out += ' ';
    else if (length == 1 && first >= 0x80)
      out += '?';
    else if (uint32_t code = codePointAt(text.substr(at)); (code >= 0x80 && code < 0xa0) || (code & 0xfffe) == 0xfffe)
      out += '?';
    else
      out += text.substr(at, length);
    at += length;
  }
  return out;
}

struct Data {
  const double *at;
  int64_t rows, columns; ///< a vector has one column
  double operator()(int64_t i, int64_t column) const { return at[i * columns + column]; }
};
Data dataOf(const Value &value) {
  const Tensor &t = *std::get<TensorRef>(value);
  return {static_cast<const double *>(onHost(t)), t.rank ? t.sizes[0] : 1, t.rank > 1 ? t.sizes[1] : 1};
}

/// Keeps of a line what columns can show.
class LineKeeper {
public:
  LineKeeper(Series &out, Range x) : out(out), x(x) {}

  void add(double px, double py) {
    auto column = static_cast<int64_t>(x.place(px) * finest);
    if (kept == 0 || column != at) {
      finish();
      at = column;
      first = low = high = {px, py, count};
      kept = 1;
    } else {
      if (py < low.y)
        low = {px, py, count};
      if (py > high.y)
        high = {px, py, count};
    }
    last = {px, py, count++};
  }
  /// The line ends here, or is broken.
  void interrupt() {
    bool any = kept > 0;
    finish();
    if (any)
      put({nan, nan, 0});
  }
  void finish() {
    if (kept == 0)
      return;
    Point points[] = {first, low, high, last};
    std::ranges::sort(points, {}, &Point::order);
    for (int i = 0; i < 4; ++i)
      if (i == 0 || points[i].order != points[i - 1].order)
        put(points[i]);
    kept = 0;
  }

private:
  struct Point {
    double x = 0, y = 0;
    int64_t order = 0;
  };
  void put(Point p) {
    out.x.push_back(p.x);
    out.y.push_back(p.y);
  }

  Series &out;
  Range x;
  Point first, low, high, last;
  int64_t at = 0, kept = 0, count = 0;
};

/// One point of each cell of a fine grid.
class PointKeeper {
public:
  PointKeeper(Series &out, Range x, Range y) : out(out), x(x), y(y), seen(finest * finest) {}
  void add(double px, double py) {
    auto cell = [](double place) { return std::clamp<int64_t>(static_cast<int64_t>(place * finest), 0, finest - 1); };
    auto &&bit = seen[cell(x.place(px)) * finest + cell(y.place(py))];
    if (bit)
      return;
    bit = true;
    out.x.push_back(px);
    out.y.push_back(py);
  }

private:
  Series &out;
  Range x, y;
  std::vector<bool> seen;
};

bool isShown(double v, bool log) { return std::isfinite(v) && (!log || v > 0); }

/// Arguments in the order that pictureOf documents.
class Maker {
public:
  explicit Maker(std::span<const Value> arguments) : rest(arguments) {}

  Picture make() {
    what = text();
    picture.title = text(), picture.xlabel = text(), picture.ylabel = text();
    readLabels();
    picture.width = size("width", 20, 500), picture.height = size("height", 4, 200);
    picture.xlog = number() != 0, picture.ylog = number() != 0;
    picture.map = text();
    picture.low = real(), picture.high = real();
    picture.leftOut = number();
    if (what == "bars")
      makeBars();
    else if (what == "line" || what == "points")
      makeSeries();
    else
      makeImage();
    return std::move(picture);
  }

private:
  const Value &next() {
    const Value &value = rest.front();
    rest = rest.subspan(1);
    return value;
  }
  std::string text() { return cleaned(std::get<StrRef>(next())->text); }
  int64_t number() {
    const Tensor &t = *std::get<TensorRef>(next());
    return integerOf(t.dtype, onHost(t));
  }
  double real() { return *static_cast<const double *>(onHost(*std::get<TensorRef>(next()))); }
  [[noreturn]] void refuse(const std::string &why) { fail(DiagId::ValueNotTaken, {name() + why}); }
  std::string name() const {
    return what == "line" ? "plot: " : what == "points" ? "scatter_plot: " : what == "bars" ? "hist: " : "image: ";
  }
  int64_t size(const std::string &word, int64_t least, int64_t most) {
    int64_t n = number();
    if (n != 0 && (n < least || n > most))
      refuse(word + " is from " + std::to_string(least) + " to " + std::to_string(most) + " characters");
    return n;
  }
  void readLabels() {
    const Value &value = next();
    if (auto *list = std::get_if<ListRef>(&value))
      for (const Item &item : (*list)->elements())
        labels.push_back(cleaned(item.text->text));
    else if (std::string only = cleaned(std::get<StrRef>(value)->text); !only.empty())
      labels.push_back(only);
  }
  std::string label(int64_t i) const { return labels.empty() ? "" : labels[i]; }

  /// x, and pairs: a matrix (or vector) of series, and one that holds their imaginary parts or nothing.
  void makeSeries() {
    picture.kind = what == "line" ? Picture::Lines : Picture::Points;
    Data x = dataOf(next());
    struct Column {
      Data data;
      int64_t column;
      std::string label;
    };
    std::vector<Column> columns;
    int64_t named = 0;
    std::vector<std::pair<Data, Data>> groups;
    for (; !rest.empty(); rest = rest.subspan(2))
      groups.emplace_back(dataOf(rest[0]), dataOf(rest[1]));
    for (const auto &group : groups)
      named += group.first.columns;
    if (!labels.empty() && static_cast<int64_t>(labels.size()) != named)
      refuse("labels are as many as series, " + std::to_string(named) + ", got " + std::to_string(labels.size()));
    int64_t i = 0;
    for (const auto &[re, im] : groups) {
      if (re.rows != x.rows)
        fail(DiagId::SizesDiffer,
             {name() + "the sizes of x and of y", std::to_string(x.rows), std::to_string(re.rows)});
      for (int64_t column = 0; column < re.columns; ++column, ++i) {
        bool complex = im.at != re.at;
        std::string own = label(i), pre = own.empty() ? "" : own + " ";
        if (complex)
          own = pre + "re";
        columns.push_back({re, column, own});
        if (complex)
          columns.push_back({im, column, pre + "im"});
      }
    }
    Extent ex(picture.xlog), ey(picture.ylog);
    for (const Column &c : columns)
      for (int64_t k = 0; k < x.rows; ++k) {
        double px = x(k, 0), py = c.data(k, c.column);
        if (isShown(px, picture.xlog) && isShown(py, picture.ylog))
          ex.add(px), ey.add(py);
        else
          picture.leftOut += !std::isnan(px) && !std::isnan(py);
        if (k % 65536 == 0)
          poll();
      }
    if (!ex.any())
      refuse(x.rows == 0 ? "there is no data"
                         : "no value is finite" + std::string(picture.ylog || picture.xlog ? " and positive" : ""));
    for (const Column &c : columns) {
      Series &out = picture.series.emplace_back();
      out.label = c.label;
      LineKeeper line(out, ex.range());
      std::optional<PointKeeper> points;
      if (picture.kind == Picture::Points)
        points.emplace(out, ex.range(), ey.range());
      for (int64_t k = 0; k < x.rows; ++k) {
        double px = x(k, 0), py = c.data(k, c.column);
        bool shown = isShown(px, picture.xlog) && isShown(py, picture.ylog);
        if (points && shown)
          points->add(px, py);
        else if (!points && shown)
          line.add(px, py);
        else if (!points)
          line.interrupt();
        if (k % 65536 == 0)
          poll();
      }
      if (!points)
        line.finish();
    }
  }

  /// Edges and counts.
  void makeBars() {
    picture.kind = Picture::Bars;
    Series &bars = picture.series.emplace_back();
    Data edges = dataOf(next()), counts = dataOf(next());
    if (!labels.empty() && labels.size() != 1)
      refuse("there is one series, so that there is one label");
    bars.label = label(0);
    if (edges.rows < 2 || counts.rows + 1 != edges.rows)
      refuse("there is no data");
    bars.x.assign(edges.at, edges.at + edges.rows);
    bars.y.assign(counts.at, counts.at + counts.rows);
  }

  void makeImage() {
    picture.kind = Picture::Image;
    Pixels all;
    if (what == "colours") {
      all.rgb = imageColours("image", *std::get<TensorRef>(next()), all.rows, all.columns);
    } else {
      Data re = dataOf(next());
      Data im = what == "complex" ? dataOf(next()) : re;
      all.rows = re.rows, all.columns = re.columns;
      if (all.rows > 0 && all.columns > 0) {
        all.rgb.resize(all.rows * all.columns * 3);
        what == "complex" ? paintComplex(re, im, all) : paintReal(re, all);
      }
    }
    if (all.rows < 1 || all.columns < 1)
      refuse("there is no data");
    if (what != "image")
      picture.map.clear();
    pool(all);
  }
  static void put(Pixels &all, int64_t i, std::array<uint8_t, 3> colour) {
    std::ranges::copy(colour, reinterpret_cast<uint8_t *>(all.rgb.data()) + 3 * i);
  }
  void paintComplex(Data re, Data im, Pixels &all) {
    for (int64_t i = 0; i < all.rows * all.columns; ++i)
      put(all, i, complexColour(re.at[i], im.at[i]));
  }
  void paintReal(Data data, Pixels &all) {
    if (picture.map.empty())
      picture.map = "viridis";
    if (!isColourMap(picture.map))
      refuse("map is " + mapNames() + ", got \"" + picture.map + "\"");
    Extent extent(false);
    int64_t n = all.rows * all.columns;
    for (int64_t i = 0; i < n; ++i)
      if (std::isfinite(data.at[i]))
        extent.add(data.at[i]);
      else
        picture.leftOut += std::isinf(data.at[i]);
    bool given = !std::isnan(picture.low) || !std::isnan(picture.high);
    if (!extent.any() && !given)
      refuse("no value is finite");
    Range range = extent.any() ? extent.range() : Range{0, 1, false};
    if (!std::isnan(picture.low))
      range.low = picture.low;
    if (!std::isnan(picture.high))
      range.high = picture.high;
    if (!(std::isfinite(range.low) && std::isfinite(range.high) && range.low < range.high))
      refuse("low is below high, both finite");
    picture.low = range.low, picture.high = range.high;
    for (int64_t i = 0; i < n; ++i)
      put(all, i, mapColour(picture.map, range.place(data.at[i])));
  }
  /// Means of squares, so that no side has more pixels than a screen.
  void pool(const Pixels &all) {
    int64_t step = std::max<int64_t>(1, (std::max(all.rows, all.columns) + 1023) / 1024);
    Pixels &out = picture.pixels;
    out.rows = (all.rows + step - 1) / step, out.columns = (all.columns + step - 1) / step;
    out.rgb.resize(out.rows * out.columns * 3);
    for (int64_t y = 0; y < out.rows; ++y)
      for (int64_t x = 0; x < out.columns; ++x)
        for (int c = 0; c < 3; ++c) {
          int64_t sum = 0, count = 0;
          for (int64_t i = y * step; i < std::min((y + 1) * step, all.rows); ++i)
            for (int64_t j = x * step; j < std::min((x + 1) * step, all.columns); ++j, ++count)
              sum += static_cast<uint8_t>(all.rgb[(i * all.columns + j) * 3 + c]);
          out.rgb[(y * out.columns + x) * 3 + c] = static_cast<char>(sum / count);
        }
  }

  std::span<const Value> rest;
  std::string what;
  std::vector<std::string> labels;
  Picture picture;
};

void putNumbers(std::string &out, const std::vector<double> &numbers) {
  char digits[32];
  for (double v : numbers)
    out.append(digits, std::to_chars(digits, digits + sizeof digits, v).ptr) += ' ';
  out.back() = '\n';
}

/// Reads what `describe` writes, word by word.
class Reader {
public:
  explicit Reader(std::string_view text) : rest(text) {}

  Picture read() {
    if (word() != "picture")
      refuse();
    std::string_view kind = word();
    auto found = std::ranges::find(kindNames, kind);
    if (found == std::end(kindNames))
      refuse();
    Picture p;
    p.kind = static_cast<Picture::Kind>(found - kindNames);
    p.width = integer(0, 500), p.height = integer(0, 200);
    p.xlog = integer(0, 1), p.ylog = integer(0, 1), p.leftOut = integer(0, INT64_MAX);
    int64_t series = integer(0, 1'000'000);
    p.title = line(), p.xlabel = line(), p.ylabel = line();
    while (series-- > 0) {
      Series &s = p.series.emplace_back();
      s.label = line();
      s.x = numbers(), s.y = numbers();
      if (s.x.size() != s.y.size() + (p.kind == Picture::Bars))
        refuse();
    }
    if (p.kind == Picture::Image)
      readImage(p);
    else
      checkSeries(p);
    if (!rest.empty())
      refuse();
    return p;
  }

private:
  [[noreturn]] static void refuse() { fail(DiagId::ValueNotTaken, {"picture: the text describes no picture"}); }
  std::string_view until(char end) {
    size_t at = rest.find(end);
    if (at == std::string_view::npos)
      refuse();
    std::string_view part = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    return part;
  }
  std::string_view word() { return until(' '); }
  std::string line() { return cleaned(until('\n')); }
  int64_t integer(int64_t least, int64_t most) {
    std::string_view digits = word();
    int64_t n = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (error != std::errc() || end != digits.data() + digits.size() || n < least || n > most)
      refuse();
    return n;
  }
  static double real(std::string_view digits) {
    double v = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), v);
    if (error != std::errc() || end != digits.data() + digits.size() || std::isinf(v))
      refuse();
    return v;
  }
  std::vector<double> numbers() {
    std::string_view all = until('\n');
    std::vector<double> out;
    while (!all.empty()) {
      size_t end = std::min(all.find(' '), all.size());
      out.push_back(real(all.substr(0, end)));
      all.remove_prefix(std::min(end + 1, all.size()));
    }
    return out;
  }
  void checkSeries(const Picture &p) {
    bool any = false;
    for (const Series &s : p.series) {
      for (size_t i = 0; i < s.y.size(); ++i)
        any |= isShown(s.x[i], p.xlog) && (p.kind == Picture::Bars || isShown(s.y[i], p.ylog));
      if (p.kind == Picture::Bars && !std::ranges::is_sorted(s.x))
        refuse();
    }
    if (!any || (p.kind == Picture::Bars && p.series.size() != 1))
      refuse();
  }
  void readImage(Picture &p) {
    p.pixels.rows = integer(1, 1024), p.pixels.columns = integer(1, 1024);
    p.low = real(word()), p.high = real(word());
    p.map = line();
    if ((!p.map.empty() && !isColourMap(p.map)) || !p.series.empty() || !(p.map.empty() || p.low < p.high))
      refuse();
    std::string_view digits = until('\n');
    if (static_cast<int64_t>(digits.size()) != p.pixels.rows * p.pixels.columns * 6)
      refuse();
    for (size_t i = 0; i < digits.size(); i += 2) {
      int byte = 0;
      if (std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16).ptr != digits.data() + i + 2)
        refuse();
      p.pixels.rgb += static_cast<char>(byte);
    }
  }

  std::string_view rest;
};

} // namespace

Picture pictureOf(std::span<const Value> arguments) { return Maker(arguments).make(); }

std::string describe(const Picture &p) {
  std::string out = "picture " + std::string(kindNames[p.kind]) + " ";
  for (int64_t n : {p.width, p.height, int64_t(p.xlog), int64_t(p.ylog), p.leftOut, int64_t(p.series.size())})
    out += std::to_string(n) + " ";
  out += p.title + "\n" + p.xlabel + "\n" + p.ylabel + "\n";
  for (const Series &s : p.series) {
    out += s.label + "\n";
    putNumbers(out, s.x);
    putNumbers(out, s.y);
  }
  if (p.kind == Picture::Image) {
    out += std::to_string(p.pixels.rows) + " " + std::to_string(p.pixels.columns) + " ";
    std::string range;
    putNumbers(range, p.map.empty() ? std::vector<double>{0, 0} : std::vector<double>{p.low, p.high});
    range.back() = ' ';
    out += range + p.map + "\n";
    for (unsigned char byte : p.pixels.rgb)
      out += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    out += '\n';
  }
  return out;
}

Picture pictureFrom(const std::string &description) { return Reader(description).read(); }

} // namespace toy::rt
