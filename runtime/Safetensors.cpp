// SPDX-License-Identifier: Apache-2.0
/// \file
/// `.safetensors` (huggingface.co/docs/safetensors): a JSON header of names, dtypes, shapes and places, then the data.
/// C64 is complex64; c128, which the format lacks, is F64 with a last axis of 2 and listed in the metadata entry
/// `toy.c128`.
#include "runtime/Io.h"

#include "runtime/Error.h"
#include "runtime/Memory.h"
#include "support/Source.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

namespace toy::rt {
namespace {

struct Entry {
  std::string name, dtype;
  std::vector<int64_t> shape;
  int64_t begin = -1, end = -1;
};

/// The JSON of a header: an object of objects whose values are strings and lists of numbers.
class HeaderParser {
public:
  HeaderParser(const Bytes &file, std::string_view text) : file(file), text(text) {}

  void parse(std::vector<Entry> &entries, std::map<std::string, std::string> &metadata) {
    std::set<std::string> names;
    object([&](std::string name) {
      if (!names.insert(name).second)
        bad("a name occurs twice");
      if (name == "__metadata__")
        return object([&](std::string key) { metadata[key] = string(); });
      Entry entry;
      entry.name = name;
      object([&](std::string key) {
        if (key == "dtype")
          entry.dtype = string();
        else if (key == "shape")
          entry.shape = numbers();
        else if (key == "data_offsets") {
          std::vector<int64_t> offsets = numbers();
          if (offsets.size() != 2)
            bad("data_offsets are not two numbers");
          entry.begin = offsets[0], entry.end = offsets[1];
        } else
          bad("an entry has an unknown key");
      });
      if (entry.dtype.empty() || entry.begin < 0)
        bad("an entry lacks a key");
      entries.push_back(std::move(entry));
    });
    skip();
    if (!text.empty())
      bad("text follows the header");
  }
  [[noreturn]] void bad(const char *why) const { fail(DiagId::MalformedFile, {file.getPath(), ".safetensors", why}); }

private:
  void skip() {
    while (!text.empty() && (text[0] == ' ' || text[0] == '\n' || text[0] == '\r' || text[0] == '\t'))
      text.remove_prefix(1);
  }
  bool accept(char c) {
    skip();
    if (text.empty() || text[0] != c)
      return false;
    text.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      bad("its header is not the JSON of the format");
  }
  template <typename F> void object(F member) {
    expect('{');
    if (accept('}'))
      return;
    do {
      std::string key = string();
      expect(':');
      member(std::move(key));
    } while (accept(','));
    expect('}');
  }
  std::string string() {
    expect('"');
    std::string out;
    while (!text.empty() && text[0] != '"') {
      char c = text[0];
      text.remove_prefix(1);
      if (c != '\\') {
        out += c;
        continue;
      }
      if (text.empty())
        break;
      char e = text[0];
      text.remove_prefix(1);
      static constexpr std::pair<char, char> escapes[] = {{'n', '\n'}, {'t', '\t'}, {'r', '\r'},  {'b', '\b'},
                                                          {'f', '\f'}, {'"', '"'},  {'\\', '\\'}, {'/', '/'}};
      if (e == 'u') {
        unsigned code = 0;
        for (int i = 0; i < 4; ++i) {
          if (text.empty() || !std::isxdigit(static_cast<unsigned char>(text[0])))
            bad("its header is not the JSON of the format");
          code = code * 16 +
                 (std::isdigit(static_cast<unsigned char>(text[0])) ? text[0] - '0' : (text[0] | 32) - 'a' + 10);
          text.remove_prefix(1);
        }
        if (code < 0x80)
          out += static_cast<char>(code);
        else if (code < 0x800)
          out += {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
        else
          out += {static_cast<char>(0xe0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 63)),
                  static_cast<char>(0x80 | (code & 63))};
        continue;
      }
      bool known = false;
      for (auto [from, to] : escapes)
        if (e == from)
          out += to, known = true;
      if (!known)
        bad("its header is not the JSON of the format");
    }
    expect('"');
    return out;
  }
  std::vector<int64_t> numbers() {
    std::vector<int64_t> out;
    expect('[');
    if (accept(']'))
      return out;
    do {
      skip();
      int64_t n = 0;
      size_t digits = 0;
      for (; digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])); ++digits)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, text[digits] - '0', &n))
          bad("a number is too large");
      if (!digits)
        bad("its header is not the JSON of the format");
      text.remove_prefix(digits);
      out.push_back(n);
    } while (accept(','));
    expect(']');
    if (out.size() > 64)
      bad("too many axes");
    return out;
  }

  const Bytes &file;
  std::string_view text;
};

struct Name {
  std::string_view name;
  DType dtype;
};
constexpr Name names[] = {{"BOOL", DType::Bool}, {"U8", DType::U8},     {"I32", DType::I32},
                          {"I64", DType::I64},   {"BF16", DType::BF16}, {"F16", DType::F16},
                          {"F32", DType::F32},   {"F64", DType::F64},   {"C64", DType::C64}};

} // namespace

std::vector<NamedTensor> readSafetensors(Bytes &file, const std::string &wanted, std::vector<ArrayHeader> *only) {
  HeaderParser refuse(file, "");
  uint64_t length = 0;
  if (file.size() < 8)
    refuse.bad("it is shorter than a header");
  file.read(&length, 8, 0);
  if (length > (100u << 20))
    refuse.bad("the header is larger than 100 MiB");
  if (length > static_cast<uint64_t>(file.size()) - 8)
    refuse.bad("the header is cut off");
  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;
  std::string header = file.text(8, static_cast<int64_t>(length));
  HeaderParser(file, header).parse(entries, metadata);
  int64_t base = 8 + static_cast<int64_t>(length), available = file.size() - base;
  std::string pairs = "," + metadata["toy.c128"] + ",";
  std::vector<NamedTensor> out;
  for (Entry &e : entries) {
    if (!wanted.empty() && e.name != wanted)
      continue;
    const Name *known = nullptr;
    for (const Name &name : names)
      if (name.name == e.dtype)
        known = &name;
    if (!known)
      fail(DiagId::UnsupportedDType, {file.getPath(), e.dtype});
    int64_t width = sizeOf(known->dtype), count = 1;
    bool overflow = false;
    for (int64_t n : e.shape)
      overflow |= __builtin_mul_overflow(count, n, &count);
    if (std::find(e.shape.begin(), e.shape.end(), 0) != e.shape.end())
      count = 0, overflow = false;
    if (overflow || e.end < e.begin || e.end > available || (e.end - e.begin) / width != count ||
        (e.end - e.begin) % width)
      refuse.bad("an entry's place, shape and dtype contradict each other or the file's size");
    DType dtype = known->dtype;
    if (dtype == DType::F64 && !e.shape.empty() && e.shape.back() == 2 &&
        pairs.find("," + e.name + ",") != std::string::npos) {
      e.shape.pop_back();
      dtype = DType::C128;
    }
    if (only) {
      only->push_back({e.name, dtype, e.shape, base + e.begin});
      continue;
    }
    TensorRef t(newTensor(dtype, e.shape));
    readElements(file, dtype, false, t->data, e.end - e.begin, base + e.begin);
    out.push_back({e.name, std::move(t)});
  }
  return out;
}

FileParts safetensorsParts(const std::string &path, std::span<const NamedTensor> tensors) {
  std::string header, pairs;
  int64_t place = 0;
  for (const auto &[name, t] : tensors) {
    std::string dtype;
    std::vector<int64_t> shape(t->sizes, t->sizes + t->rank);
    for (const Name &known : names)
      if (known.dtype == t->dtype)
        dtype = known.name;
    if (t->dtype == DType::C128) {
      dtype = "F64";
      shape.push_back(2);
      pairs += (pairs.empty() ? "" : ",") + name;
    }
    if (dtype.empty())
      fail(DiagId::FormatWithoutDType, {path, std::string(nameOf(t->dtype))});
    int64_t bytes = t->count() * sizeOf(t->dtype);
    header +=
        fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", header.empty() ? "" : ",",
                    jsonText(name), dtype, fmt::join(shape, ","), place, place + bytes);
    place += bytes;
  }
  std::string metadata =
      pairs.empty() ? "" : "\"__metadata__\":{\"toy.c128\":" + jsonText(pairs) + "}" + (header.empty() ? "" : ",");
  header = "{" + metadata + header + "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  uint64_t length = header.size();
  FileParts parts;
  parts.add(std::string(reinterpret_cast<const char *>(&length), 8) + header);
  for (const NamedTensor &entry : tensors)
    parts.add(*entry.tensor);
  return parts;
}

} // namespace toy::rt
