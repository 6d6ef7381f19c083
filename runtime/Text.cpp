// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions of text.
#include "runtime/Text.h"

#include "runtime/Error.h"
#include "runtime/Io.h"
#include "runtime/List.h"
#include "runtime/Memory.h"
#include "runtime/Parallel.h"
#include "runtime/Picture.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <variant>

namespace toy::rt {

namespace text {

/// Objects, borrowed, or their values where a function is about the world.
using Arguments = void *const *;
using Values = std::span<const Value>;

static const std::string &string(Arguments x, size_t i) { return static_cast<Str *>(x[i])->text; }
static const std::string &string(Values x, size_t i) { return std::get<StrRef>(x[i])->text; }
static Value made(std::string text) { return StrRef(newStr(std::move(text))); }
static Value made(int64_t n) { return TensorRef(newScalar(DType::I64, &n)); }
/// An argument that is its own result.
static Value same(Arguments x, size_t i) {
  auto *text = static_cast<Str *>(x[i]);
  retain(text);
  return StrRef(text);
}

/// Calls `found` with each place of a byte.
template <typename Found> static void eachPlace(std::string_view text, char byte, Found found) {
  constexpr uint64_t low = ~uint64_t(0) / 255, rest = low * 127; // 0x01 and 0x7f in each byte
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= text.size(); at += sizeof(uint64_t)) {
    uint64_t x;
    std::memcpy(&x, text.data() + at, sizeof x);
    x ^= low * static_cast<unsigned char>(byte);
    for (uint64_t hits = ~(((x & rest) + rest) | x | rest); hits;
         hits &= hits - 1) // the highest bits of bytes that are 0
      found(at + std::countr_zero(hits) / 8);
  }
  for (; at < text.size(); ++at)
    if (text[at] == byte)
      found(at);
}

/// What is between the separators; `piece` takes each part.
template <typename Piece> static void eachPart(std::string_view text, std::string_view separator, Piece piece) {
  if (separator.size() == 1) {
    size_t begin = 0, count = 0;
    eachPlace(text, separator[0], [&](size_t end) {
      piece(text.substr(begin, end - begin));
      begin = end + 1;
      if (++count % 4096 == 0)
        poll();
    });
    return piece(text.substr(begin));
  }
  for (size_t at = 0, count = 0;; ++count) {
    size_t end = std::min(text.find(separator, at), text.size());
    piece(text.substr(at, end - at));
    if (end == text.size())
      return;
    at = end + separator.size();
    if (count % 4096 == 0)
      poll();
  }
}

/// The parts as strings, each as `piece` gives it.
template <typename Piece> static Value listOfParts(std::string_view text, std::string_view separator, Piece piece) {
  constexpr size_t many = 4096;
  ListRef all = listOf({});
  std::vector<std::string_view> parts;
  parts.reserve(many);
  eachPart(text, separator, [&](std::string_view part) {
    parts.push_back(piece(part));
    if (parts.size() == many) {
      appendTexts(*all, parts);
      parts.clear();
    }
  });
  appendTexts(*all, parts);
  return all;
}

static Value split(Arguments x) {
  if (string(x, 1).empty())
    fail(DiagId::EmptySeparator, {"split"});
  return listOfParts(string(x, 0), string(x, 1), std::identity());
}

/// Without the last line's end, and with those of Windows.
static Value lines(Arguments x) {
  std::string_view text = string(x, 0);
  if (text.empty())
    return listOf({});
  if (text.ends_with('\n'))
    text.remove_suffix(1);
  return listOfParts(
      text, "\n", [](std::string_view line) { return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line; });
}

static Value join(Arguments x) {
  const List &parts = *static_cast<List *>(x[0]);
  const std::string &separator = string(x, 1);
  int64_t bytes = 0;
  for (const Item &part : parts.elements())
    bytes += static_cast<int64_t>(part.text->text.size() + separator.size());
  requireMemory(bytes, "a string");
  if (parts.count == 0)
    return made(std::string());
  std::string out(bytes - separator.size(), '\0');
  char *to = out.data();
  for (const Item &part : parts.elements()) {
    if (&part != parts.items)
      to = std::ranges::copy(separator, to).out;
    to = std::ranges::copy(part.text->text, to).out;
  }
  return made(std::move(out));
}

static Value strip(Arguments x) {
  const std::string &text = string(x, 0);
  auto isBlank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  auto begin = std::ranges::find_if_not(text, isBlank), end = text.end();
  while (end != begin && isBlank(end[-1]))
    --end;
  return begin == text.begin() && end == text.end() ? same(x, 0) : made(std::string(begin, end));
}

static Value replace(Arguments x) {
  if (string(x, 1).empty())
    fail(DiagId::EmptySeparator, {"replace"});
  std::string out;
  bool isFirst = true;
  eachPart(string(x, 0), string(x, 1), [&](std::string_view part) {
    out += std::exchange(isFirst, false) ? "" : string(x, 2);
    out += part;
  });
  return made(std::move(out));
}

static int64_t find(Arguments x) {
  const std::string &text = string(x, 0), &part = string(x, 1);
  const auto *at = static_cast<const char *>(memmem(text.data(), text.size(), part.data(), part.size()));
  return at ? at - text.data() : -1;
}

static int64_t starts_with(Arguments x) { return string(x, 0).starts_with(string(x, 1)); }
static int64_t ends_with(Arguments x) { return string(x, 0).ends_with(string(x, 1)); }
static int64_t before(Arguments x) { return string(x, 0) < string(x, 1); }

static Value changed(std::string text, char first, char last, int by) {
  for (char &c : text) // each is stored, so that many are at once
    c = static_cast<char>(c + (c >= first && c <= last ? by : 0));
  return made(std::move(text));
}
static Value lower(Arguments x) { return changed(string(x, 0), 'A', 'Z', 'a' - 'A'); }
static Value upper(Arguments x) { return changed(string(x, 0), 'a', 'z', 'A' - 'a'); }

static Value decode(Arguments x) {
  const Tensor &bytes = *static_cast<Tensor *>(x[0]);
  return made(std::string(static_cast<const char *>(onHost(bytes)), bytes.count()));
}

static Value read_text(Values x) { return made(readText(string(x, 0))); }
static Value file_size(Values x) { return made(InputFile(string(x, 0)).size()); }
static Value text_column(Values x) {
  CsvOptions csv{string(x, 2)[0], string(x, 3)[0], true,
                 *static_cast<const int64_t *>(onHost(*std::get<TensorRef>(x[4])))};
  return loadColumn(string(x, 0), string(x, 1), csv, /*asTexts=*/true);
}
static Value write_text(Values x) {
  const std::string &path = string(x, 0), &text = string(x, 1);
  if (*static_cast<const uint8_t *>(onHost(*std::get<TensorRef>(x[2]))))
    appendText(path, text);
  else
    writeFile(path, {text});
  return made(static_cast<int64_t>(text.size()));
}

// --- pictures
static Value picture_made(Values x) { return made(describe(pictureOf(x))); }
static Value picture_read(Values x) { return made(describe(pictureFrom(string(x, 0)))); }
static Value picture_text(Values x) {
  std::string text = pictureText(pictureFrom(string(x, 0)), 80, false);
  text.pop_back(); // what shows it ends the line
  return made(std::move(text));
}
static Value picture_shown(Values x) { return made(shownPicture(pictureFrom(string(x, 0)))); }
static Value picture_saved(Values x) {
  savePicture(string(x, 0), pictureFrom(string(x, 1)));
  return made(int64_t(0));
}

} // namespace text

using TextFunction = std::variant<Value (*)(text::Arguments), int64_t (*)(text::Arguments), Value (*)(text::Values)>;
struct TextRow {
  std::string_view name;
  char result;
  TextFunction function;
};
static constexpr TextRow textRows[] = {
#define TOY_TEXT(NAME, PARAMETERS, RESULT) {#NAME, RESULT, text::NAME},
#include "ir/Text.def"
};

/// The object of a leaf, which goes on holding it.
static void *objectOf(const Value &leaf) {
  if (const auto *t = std::get_if<TensorRef>(&leaf))
    return t->get();
  if (const auto *s = std::get_if<StrRef>(&leaf))
    return s->get();
  return std::get<ListRef>(leaf).get();
}

Value textOf(int64_t row, void *const *arguments) {
  return std::get<Value (*)(text::Arguments)>(textRows[row].function)(arguments);
}
int64_t numberOfText(int64_t row, void *const *arguments) {
  return std::get<int64_t (*)(text::Arguments)>(textRows[row].function)(arguments);
}

Value callText(std::string_view function, std::span<const Value> arguments) {
  const TextRow &row = *std::ranges::find(textRows, function, &TextRow::name);
  if (const auto *ofWorld = std::get_if<Value (*)(text::Values)>(&row.function))
    return (*ofWorld)(arguments);
  std::vector<void *> objects;
  for (const Value &argument : arguments)
    objects.push_back(objectOf(argument));
  if (const auto *number = std::get_if<int64_t (*)(text::Arguments)>(&row.function)) {
    int64_t n = (*number)(objects.data());
    return TensorRef(newScalar(row.result == 't' ? DType::Bool : DType::I64, &n));
  }
  return textOf(&row - textRows, objects.data());
}

} // namespace toy::rt
