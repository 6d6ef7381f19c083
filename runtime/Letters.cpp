// SPDX-License-Identifier: Apache-2.0
/// \file
/// The tables Glyphs.def and Letters.def.
#include "runtime/Letters.h"

#include <string_view>
#include <unordered_map>

namespace toy::rt {
namespace {

using Rows = std::array<uint8_t, 7>;
constexpr Rows ascii[] = {
#define TOY_GLYPH(...) {__VA_ARGS__},
#include "runtime/Glyphs.def"
};
constexpr Rows box = {0x1f, 0x11, 0x11, 0x11, 0x11, 0x11, 0x1f};

enum class Mark : uint8_t {
  None,
  Grave,
  Acute,
  Circumflex,
  Tilde,
  Diaeresis,
  Ring,
  Macron,
  Breve,
  Dot,
  DoubleAcute,
  Caron,
  Cedilla,
  Ogonek
};
/// Two rows each.
constexpr uint8_t markRows[][2] = {{0x00, 0x00}, {0x08, 0x04}, {0x02, 0x04}, {0x04, 0x0a}, {0x09, 0x16},
                                   {0x00, 0x0a}, {0x0e, 0x0a}, {0x00, 0x0e}, {0x11, 0x0e}, {0x00, 0x04},
                                   {0x05, 0x0a}, {0x0a, 0x04}, {0x04, 0x08}, {0x02, 0x03}};
constexpr bool isBelow(Mark mark) { return mark >= Mark::Cedilla; }

struct Marked {
  uint32_t base;
  Mark mark;
};

struct Tables {
  std::unordered_map<uint32_t, Rows> own = {
#define TOY_LETTER(CODE, ...) {CODE, {__VA_ARGS__}},
#define TOY_MARKED(CODE, BASE, MARK)
#include "runtime/Letters.def"
  };
  std::unordered_map<uint32_t, Marked> marked = {
#define TOY_LETTER(CODE, ...)
#define TOY_MARKED(CODE, BASE, MARK) {CODE, {BASE, Mark::MARK}},
#include "runtime/Letters.def"
  };
};

} // namespace

Letter letterOf(uint32_t code) {
  static const Tables tables;
  Marked marked = {code, Mark::None};
  if (auto it = tables.marked.find(code); it != tables.marked.end())
    marked = it->second;
  auto own = tables.own.find(marked.base);
  const bool isAscii = marked.base >= 32 && marked.base < 127;
  const Rows &rows = isAscii ? ascii[marked.base - 32] : own != tables.own.end() ? own->second : box;
  const bool hangs =
      isAscii && std::string_view("gjpqy").find(static_cast<char>(marked.base)) != std::string_view::npos;
  Letter out{};
  for (size_t i = 0; i < rows.size(); ++i)
    out[i + (hangs ? 4 : 2)] = rows[i];
  if (marked.mark == Mark::None)
    return out;
  size_t top = 0;
  while (top < out.size() && !out[top])
    ++top;
  const size_t at = isBelow(marked.mark) ? 9 : top >= 2 && top < out.size() ? top - 2 : 2;
  for (size_t i = 0; i < 2; ++i)
    out[at + i] |= markRows[static_cast<size_t>(marked.mark)][i];
  return out;
}

} // namespace toy::rt
