// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pictures where they go: into files, and to terminals as text or by their own protocols for images (kitty's graphics,
/// iTerm2's inline images, DEC's sixels). Which one is asked of the environment only, so that nothing waits.
#include "runtime/Picture.h"

#include "runtime/Error.h"
#include "runtime/Format.h"
#include "runtime/Io.h"

#include <algorithm>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace toy::rt {
namespace {

enum class Graphics : uint8_t { Text, Kitty, Sixel, ITerm };

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

Graphics graphics() {
  if (!printOptions().color)
    return Graphics::Text;
  std::string choice = variable("TOY_GRAPHICS"), term = variable("TERM"), program = variable("TERM_PROGRAM");
  if (choice == "kitty" || choice == "sixel" || choice == "iterm" || choice == "text")
    return choice == "kitty"   ? Graphics::Kitty
           : choice == "sixel" ? Graphics::Sixel
           : choice == "iterm" ? Graphics::ITerm
                               : Graphics::Text;
  if (!isatty(STDOUT_FILENO) || !variable("TMUX").empty() || term.starts_with("screen")) // which pass nothing through
    return Graphics::Text;
  if (!variable("KITTY_WINDOW_ID").empty() || term == "xterm-kitty" || term == "xterm-ghostty" || program == "ghostty")
    return Graphics::Kitty;
  if (program == "iTerm.app" || program == "WezTerm")
    return Graphics::ITerm;
  if (term.starts_with("foot") || term.starts_with("mlterm") || term.find("sixel") != std::string::npos)
    return Graphics::Sixel;
  return Graphics::Text;
}

int64_t terminalColumns() {
  winsize size;
  return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 10 ? size.ws_col : 80;
}

/// https://sw.kovidgoyal.net/kitty/graphics-protocol: the file in pieces of 4,096 characters.
std::string kitty(const Pixels &pixels, int64_t columns) {
  std::string data = base64(pngOf(pixels)), out;
  constexpr size_t most = 4096;
  for (size_t at = 0; at < data.size(); at += most) {
    bool more = at + most < data.size();
    out += "\x1b_G";
    if (at == 0)
      out += "a=T,f=100,q=2,c=" + std::to_string(columns) + ",";
    out += std::string("m=") + (more ? "1" : "0") + ";" + data.substr(at, most) + "\x1b\\";
  }
  return out + "\n";
}

/// https://iterm2.com/documentation-images.html
std::string iterm(const Pixels &pixels, int64_t columns) {
  std::string file = pngOf(pixels);
  return "\x1b]1337;File=inline=1;size=" + std::to_string(file.size()) + ";width=" + std::to_string(columns) + ":" +
         base64(file) + "\a\n";
}

/// DEC STD 070: bands of six rows, in each of which every colour comes by itself; 6 by 6 by 6 colours.
std::string sixel(const Pixels &pixels) {
  std::string out = "\x1bP0;1q\"1;1;" + std::to_string(pixels.columns) + ";" + std::to_string(pixels.rows);
  auto colourAt = [&](int64_t y, int64_t x) {
    int index = 0;
    for (int c = 0; c < 3; ++c)
      index = index * 6 + (static_cast<uint8_t>(pixels.rgb[(y * pixels.columns + x) * 3 + c]) + 25) / 51;
    return index;
  };
  std::vector<bool> used(216);
  std::vector<uint8_t> band(216 * pixels.columns);
  std::string body;
  for (int64_t top = 0; top < pixels.rows; top += 6) {
    std::vector<bool> here(216);
    std::ranges::fill(band, 0);
    for (int64_t y = top; y < std::min(top + 6, pixels.rows); ++y)
      for (int64_t x = 0; x < pixels.columns; ++x) {
        int colour = colourAt(y, x);
        here[colour] = used[colour] = true;
        band[colour * pixels.columns + x] |= static_cast<uint8_t>(1 << (y - top));
      }
    for (int colour = 0; colour < 216; ++colour) {
      if (!here[colour])
        continue;
      body += "#" + std::to_string(colour);
      for (int64_t x = 0, run = 0; x < pixels.columns; x += run) {
        uint8_t bits = band[colour * pixels.columns + x];
        for (run = 1; x + run < pixels.columns && band[colour * pixels.columns + x + run] == bits;)
          ++run;
        auto letter = static_cast<char>(63 + bits);
        body += run > 3 ? "!" + std::to_string(run) + letter : std::string(run, letter);
      }
      body += '$';
    }
    body += '-';
  }
  for (int colour = 0; colour < 216; ++colour)
    if (used[colour])
      out += "#" + std::to_string(colour) + ";2;" + std::to_string(colour / 36 * 20) + ";" +
             std::to_string(colour / 6 % 6 * 20) + ";" + std::to_string(colour % 6 * 20);
  return out + body + "\x1b\\\n";
}

} // namespace

std::function<void(const Picture &)> &pictureSink() {
  static std::function<void(const Picture &)> sink;
  return sink;
}

/// As many lines as the screen has beside the input and the next prompt, where the program's user did not choose.
static std::string fittingText(Picture picture, int64_t columns, int64_t most) {
  std::string text = pictureText(picture, columns, printOptions().color);
  if (picture.height || most == 0)
    return text;
  for (int64_t height = most, more = std::ranges::count(text, '\n') - most; more > 0 && height > 0; height -= more) {
    picture.height = height;
    text = pictureText(picture, columns, printOptions().color);
    more = std::ranges::count(text, '\n') - most;
  }
  return text;
}

/// The columns that an image gets, so that it has no more rows than the screen; characters are twice as high as wide.
static int64_t fittingColumns(const Pixels &pixels, int64_t columns, int64_t most) {
  return most == 0 || pixels.rows == 0
             ? columns
             : std::clamp<int64_t>(most * 2 * pixels.columns / pixels.rows, 1, std::max<int64_t>(columns, 1));
}

std::string shownPicture(const Picture &picture) {
  if (pictureSink())
    return pictureSink()(picture), "";
  int64_t columns = terminalColumns(), width = std::min<int64_t>(picture.width ? picture.width : 80, columns);
  int64_t rows = printOptions().screenHeight, most = rows ? rows + 1 : 0; // there is no type
  switch (graphics()) {
  case Graphics::Kitty:
  case Graphics::ITerm: {
    Pixels pixels = picturePixels(picture, 2);
    width = fittingColumns(pixels, width, picture.height ? 0 : most);
    return graphics() == Graphics::Kitty ? kitty(pixels, width) : iterm(pixels, width);
  }
  case Graphics::Sixel:
    return sixel(picturePixels(picture, 1));
  case Graphics::Text:
    break;
  }
  return fittingText(picture, columns, most);
}

void savePicture(const std::string &path, const Picture &picture) {
  if (path.ends_with(".svg"))
    writeFile(path, {pictureSvg(picture)});
  else if (path.ends_with(".png"))
    writeFile(path, {pngOf(picturePixels(picture, 2))});
  else if (path.ends_with(".txt"))
    writeFile(path, {pictureText(picture, 80, false)});
  else
    fail(DiagId::CannotWrite, {path, "a picture is saved as .svg, .png or .txt"});
}

} // namespace toy::rt
