// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lookups in tables that UnicodeTables.py writes, and normalization (Unicode Standard Annex 15; Hangul by its
/// arithmetic, section 3.12 of the standard).
#include "support/Unicode.h"

#include "support/Source.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace toy {
namespace {

struct CodeRange {
  uint32_t first, last;
};
struct CombiningClass {
  uint32_t first, last, order;
};
struct Decomposition {
  uint32_t code, first, second; ///< `second` is 0 where the code is another name of one character
};
struct Composition {
  uint32_t first, second, code;
};
#include "support/UnicodeTables.inc"

/// The range of a sorted table that holds a code, or null.
template <typename Row, size_t n> const Row *rangeOf(const Row (&table)[n], uint32_t code) {
  const Row *row =
      std::upper_bound(std::begin(table), std::end(table), code, [](uint32_t c, const Row &r) { return c < r.first; });
  return row != std::begin(table) && code <= std::prev(row)->last ? std::prev(row) : nullptr;
}

uint32_t orderOf(uint32_t code) {
  const CombiningClass *row = rangeOf(combiningClasses, code);
  return row ? row->order : 0;
}

constexpr uint32_t syllables = 0xAC00, leads = 0x1100, vowels = 0x1161, tails = 0x11A7;
constexpr uint32_t leadCount = 19, vowelCount = 21, tailCount = 28, syllableCount = leadCount * vowelCount * tailCount;

void decompose(uint32_t code, std::u32string &out) {
  if (code - syllables < syllableCount) {
    uint32_t at = code - syllables;
    out += leads + at / (vowelCount * tailCount);
    out += vowels + at / tailCount % vowelCount;
    if (at % tailCount)
      out += tails + at % tailCount;
    return;
  }
  auto *row = std::lower_bound(std::begin(decompositions), std::end(decompositions), code,
                               [](const Decomposition &d, uint32_t c) { return d.code < c; });
  if (row == std::end(decompositions) || row->code != code) {
    out += code;
    return;
  }
  decompose(row->first, out);
  if (row->second)
    decompose(row->second, out);
}

/// The character that two make together, or 0.
uint32_t composed(uint32_t first, uint32_t second) {
  if (first - leads < leadCount && second - vowels < vowelCount)
    return syllables + ((first - leads) * vowelCount + second - vowels) * tailCount;
  if (first - syllables < syllableCount && (first - syllables) % tailCount == 0 && second > tails &&
      second < tails + tailCount)
    return first + second - tails;
  auto before = [](const Composition &c, std::pair<uint32_t, uint32_t> key) {
    return std::pair(c.first, c.second) < key;
  };
  auto *row = std::lower_bound(std::begin(compositions), std::end(compositions), std::pair(first, second), before);
  return row != std::end(compositions) && row->first == first && row->second == second ? row->code : 0;
}

void append(std::string &out, uint32_t code) {
  auto more = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80)
    out += static_cast<char>(code);
  else if (code < 0x800)
    out += static_cast<char>(0xC0 | (code >> 6)), more(0);
  else if (code < 0x10000)
    out += static_cast<char>(0xE0 | (code >> 12)), more(6), more(0);
  else
    out += static_cast<char>(0xF0 | (code >> 18)), more(12), more(6), more(0);
}

/// Marks that follow a character are put in the order of their classes, then all that fits into one character becomes
/// one.
std::u32string compose(std::u32string text) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin + 1;
    while (end < text.size() && orderOf(text[end]))
      ++end;
    std::stable_sort(text.begin() + begin + (orderOf(text[begin]) == 0), text.begin() + end,
                     [](char32_t a, char32_t b) { return orderOf(a) < orderOf(b); });
    begin = end;
  }
  std::u32string out;
  size_t starter = std::u32string::npos;
  for (char32_t c : text) {
    uint32_t order = orderOf(c);
    bool blocked = starter != out.npos && starter + 1 < out.size() && (orderOf(out.back()) >= order || order == 0);
    if (uint32_t both = starter == out.npos || blocked ? 0 : composed(out[starter], c)) {
      out[starter] = both;
      continue;
    }
    if (order == 0)
      starter = out.size();
    out += c;
  }
  return out;
}

} // namespace

uint32_t codePointAt(std::string_view text) {
  unsigned char lead = text[0];
  if (lead < 0x80)
    return lead;
  size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  uint32_t code = lead & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i)
    code = code << 6 | (text[i] & 0x3F);
  return code;
}

bool startsName(uint32_t code) {
  if (code < 0x80)
    return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || code == '_';
  return rangeOf(nameStarts, code);
}

bool continuesName(uint32_t code) {
  return code < 0x80 ? startsName(code) || (code >= '0' && code <= '9') : rangeOf(nameParts, code) != nullptr;
}

Deception deceptionOf(uint32_t code) {
  if (code < 0x80)
    return Deception::None;
  if (code == 0x61C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
      (code >= 0x2066 && code <= 0x2069))
    return Deception::Direction;
  return rangeOf(ignorable, code) ? Deception::Invisible : rangeOf(blanks, code) ? Deception::Blank : Deception::None;
}

std::string describeCharacter(uint32_t code) {
  std::string number = fmt::format("U+{:04X}", code);
  bool isShown = code >= 0xA0 && deceptionOf(code) == Deception::None && orderOf(code) == 0;
  if (!isShown)
    return number;
  std::string character;
  append(character, code);
  return fmt::format("`{}` ({})", character, number);
}

std::string normalized(std::string_view text) {
  bool plain = true; // below U+0300 nothing changes
  for (char c : text)
    plain &= static_cast<unsigned char>(c) < 0xCC;
  if (plain)
    return std::string(text);
  std::u32string codes;
  for (size_t at = 0; at < text.size(); at += utf8Length(text.substr(at)))
    decompose(codePointAt(text.substr(at)), codes);
  std::string out;
  for (char32_t code : compose(std::move(codes)))
    append(out, code);
  return out;
}

size_t characterLength(std::string_view text) { return std::max<size_t>(utf8Length(text.substr(0, 4)), 1); }

size_t columnsOf(std::string_view text) {
  size_t columns = 0;
  for (size_t i = 0; i < text.size();) {
    size_t length = characterLength(text.substr(i));
    uint32_t code = length == 1 ? static_cast<unsigned char>(text[i]) : codePointAt(text.substr(i));
    columns += length == 1 ? 1 : rangeOf(zeroWidth, code) ? 0 : rangeOf(wide, code) ? 2 : 1;
    i += length;
  }
  return columns;
}

} // namespace toy
