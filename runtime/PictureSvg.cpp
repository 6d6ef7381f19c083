// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pictures as SVG 1.1, with a title and a description for those who do not see them.
#include "runtime/Canvas.h"

#include <fmt/format.h>

namespace toy::rt {
namespace {

std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return out;
}

/// Two digits behind the point, without those that say nothing.
std::string number(double v) {
  std::string text = fmt::format("{:.2f}", v);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return text == "-0" ? "0" : text;
}
std::string hex(Colour c) { return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]); }

class SvgCanvas : public Canvas {
public:
  void line(std::span<const Point> points, Colour colour, double width) override {
    out += "<polyline fill=\"none\" stroke=\"" + hex(colour) + "\" stroke-width=\"" + number(width) +
           "\" stroke-linejoin=\"round\" points=\"";
    for (const Point &p : points)
      out += number(p.x) + "," + number(p.y) + " ";
    out.back() = '"';
    out += "/>\n";
  }
  void dot(Point p, double radius, Colour colour) override {
    out += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n", number(p.x), number(p.y), number(radius),
                       hex(colour));
  }
  void rectangle(Point p, double width, double height, Colour colour) override {
    out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", number(p.x), number(p.y),
                       number(width), number(height), hex(colour));
  }
  void text(Point p, const std::string &text, Anchor anchor, bool turned) override {
    const char *words[] = {"start", "middle", "end"};
    std::string x = number(p.x), y = number(p.y);
    std::string turn = turned ? fmt::format(" transform=\"rotate(-90 {} {})\"", x, y) : "";
    out += fmt::format("<text x=\"{}\" y=\"{}\" dy=\"0.35em\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                       words[static_cast<int>(anchor)], turn, escaped(text));
  }
  void image(Point p, double width, double height, const Pixels &pixels) override {
    out += fmt::format("<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
                       "style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>\n",
                       number(p.x), number(p.y), number(width), number(height), base64(pngOf(pixels)));
  }

  std::string out;
};

std::string interval(const char *name, const Range &r) {
  return std::string(name) + " from " + shortNumber(r.low) + " to " + shortNumber(r.high) +
         (r.log ? " (logarithmic)" : "");
}

/// What there is to see, in a sentence.
std::string descriptionOf(const Picture &p) {
  std::string out;
  if (p.kind == Picture::Image) {
    out = fmt::format("An image of {} by {} pixels", p.pixels.rows, p.pixels.columns);
    if (!p.map.empty())
      out += fmt::format(", colours {} from {} to {}", p.map, shortNumber(p.low), shortNumber(p.high));
    return out + ".";
  }
  const char *what[] = {"line", "set of points", "histogram"}, *several[] = {"lines", "sets of points", "histograms"};
  Frame frame = frameOf(p);
  out =
      p.series.size() == 1 ? std::string("A ") + what[p.kind] : fmt::format("{} {}", p.series.size(), several[p.kind]);
  std::string labels;
  for (const Series &s : p.series)
    if (!s.label.empty())
      labels += (labels.empty() ? ": " : ", ") + s.label;
  out += labels + "; " + interval(p.xlabel.empty() ? "x" : p.xlabel.c_str(), frame.x) + ", " +
         interval(p.ylabel.empty() ? "y" : p.ylabel.c_str(), frame.y) + ".";
  std::string note = noteOf(p);
  return note.empty() ? out : out + " " + note + ".";
}

} // namespace

std::string base64(const std::string &bytes) {
  constexpr const char *digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k)
      word = word << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : digits[word >> (18 - 6 * k) & 63];
  }
  return out;
}

std::string pictureSvg(const Picture &p) {
  SvgCanvas canvas;
  CanvasSize size = sizeOf(p);
  draw(p, canvas);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
      "height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-labelledby=\"title desc\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n<title id=\"title\">{2}</title>\n<desc "
      "id=\"desc\">{3}</desc>\n{4}</svg>\n",
      size.width, size.height, escaped(p.title.empty() ? "A picture" : p.title), escaped(descriptionOf(p)), canvas.out);
}

} // namespace toy::rt
