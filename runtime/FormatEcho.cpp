// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values as the prompt shows them on a terminal: what has parts is broken between these, and cut where the screen has
/// not room for all.
#include "runtime/Format.h"

#include "runtime/Error.h"
#include "runtime/List.h"
#include "runtime/Parallel.h"
#include "support/Unicode.h"

#include <algorithm>
#include <functional>
#include <ranges>

namespace toy::rt {
namespace {

constexpr int64_t leastWidth = 16, leastHeight = 3;

int64_t linesOf(const std::string &text) { return 1 + std::ranges::count(text, '\n'); }
/// Of the longest line.
int64_t widthOf(const std::string &text) {
  size_t widest = 0;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    widest = std::max(widest, columnsOf(text.substr(at, end - at)));
    at = end + 1;
  }
  return static_cast<int64_t>(widest);
}
std::string indented(const std::string &text, int64_t columns) {
  std::string out;
  for (char c : text)
    c == '\n' ? out += "\n" + std::string(columns, ' ') : out += c;
  return out;
}

/// A text that is longer than so many columns, without its middle.
std::string shortened(const std::string &text, int64_t most) {
  if (static_cast<int64_t>(columnsOf(text)) <= most)
    return text;
  auto isInside = [&](size_t at) { return at < text.size() && (text[at] & 0xC0) == 0x80; };
  size_t head = 0, tail = text.size();
  for (size_t end = 1; end < text.size() && static_cast<int64_t>(columnsOf(text.substr(0, end))) < most * 2 / 3; ++end)
    head = isInside(end) ? head : end;
  for (size_t begin = tail - 1; begin > head && static_cast<int64_t>(columnsOf(text.substr(begin))) < most / 3; --begin)
    tail = isInside(begin) ? tail : begin;
  return text.substr(0, head) + "…" + text.substr(tail);
}

/// Parts between brackets: as many in a line as fit, and those of several lines on lines of their own.
class Sequence {
public:
  Sequence(std::string open, int64_t width) : out(std::move(open)), width(width) {
    indent = static_cast<int64_t>(columnsOf(out)) <= 12 ? static_cast<int64_t>(columnsOf(out)) : 2;
    column = static_cast<int64_t>(columnsOf(out));
  }
  int64_t roomFor(const std::string &label) const {
    return std::max(leastWidth, width - indent - static_cast<int64_t>(columnsOf(label)) - 1);
  }
  void add(const std::string &label, const std::string &text) {
    auto labelWidth = static_cast<int64_t>(columnsOf(label));
    bool isTall = text.find('\n') != text.npos;
    int64_t wide = labelWidth + widthOf(text);
    if (hasParts) {
      bool breaks = isTall || lastIsTall || column + wide + 3 > width;
      out += breaks ? ",\n" + std::string(indent, ' ') : ", ";
      column = breaks ? indent : column + 2;
    }
    out += label + indented(text, column + labelWidth);
    column += wide;
    hasParts = true;
    lastIsTall = isTall;
  }
  std::string end(const std::string &close) && { return std::move(out) + close; }

private:
  std::string out;
  int64_t width, indent, column;
  bool hasParts = false, lastIsTall = false;
};

class EchoText {
public:
  explicit EchoText(const PrintOptions &options) : options(options) {}

  std::string of(const Value &value, int64_t width, int64_t height, bool isPart) {
    if (auto *t = std::get_if<TensorRef>(&value))
      return format(**t, fitting(width, height));
    if (auto *s = std::get_if<StrRef>(&value))
      return isPart ? shortened(quoted((*s)->text), width * height) : lines((*s)->text, width, height);
    if (auto *list = std::get_if<ListRef>(&value))
      return ofList((*list)->count, [&](int64_t i) { return valueOf(**list, i); }, width, height);
    auto *aggregate = std::get_if<std::shared_ptr<Aggregate>>(&value);
    if (!aggregate || (*aggregate)->isText)
      return format(value, options);
    const Aggregate &a = **aggregate;
    auto count = static_cast<int64_t>(a.elements.size());
    if (a.isList)
      return ofList(count, [&](int64_t i) { return a.elements[i]; }, width, height);
    Sequence parts(a.names.empty() ? "(" : a.typeName + "{", width);
    for (int64_t i = 0; i < count; ++i) {
      std::string label = a.names.empty() ? "" : a.names[i] + ": ";
      std::string text = of(a.elements[i], parts.roomFor(label), std::max(leastHeight, height / (count - i)), true);
      height -= text.find('\n') == text.npos ? 0 : linesOf(text);
      parts.add(label, text);
    }
    return std::move(parts).end(a.names.empty() ? count == 1 ? ",)" : ")" : "}");
  }

private:
  PrintOptions fitting(int64_t width, int64_t height) const {
    PrintOptions o = options;
    o.width = std::max(leastWidth, width);
    o.height = height;
    return o;
  }

  /// A text of many lines, without those in the middle.
  static std::string lines(const std::string &text, int64_t width, int64_t height) {
    std::vector<std::string> all;
    for (size_t at = 0; at <= text.size();) {
      size_t end = std::min(text.find('\n', at), text.size());
      all.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    auto rows = [&](const std::string &line) {
      return std::max<int64_t>(1, (static_cast<int64_t>(columnsOf(line)) + width - 1) / width);
    };
    int64_t total = 0;
    for (const std::string &line : all)
      total += rows(line);
    if (total <= height)
      return text;
    for (std::string &line : all)
      line = shortened(line, std::max<int64_t>(1, height / 2) * width);
    size_t head = 0, tail = all.size();
    int64_t left = height - 1;
    while (head < tail && rows(all[head]) + (head + 1 < tail ? rows(all[tail - 1]) : 0) <= left) {
      left -= rows(all[head++]);
      if (head < tail)
        left -= rows(all[--tail]);
    }
    std::string out;
    for (size_t i = 0; i < all.size(); i == head &&head < tail ? i = tail : ++i)
      out += (i ? "\n" : "") + (i == head && head < tail ? "…" : all[i]);
    return out;
  }

  /// As many elements of both ends as there is room for.
  std::string ofList(int64_t count, const std::function<Value(int64_t)> &element, int64_t width, int64_t height) {
    Sequence parts("list(", width);
    int64_t room = parts.roomFor(""), most = std::min(count, std::max<int64_t>(2, room * height));
    std::vector<std::string> head, tail; // of the tail the last one first
    int64_t free = room * height;
    auto costs = [&](const std::string &text) {
      int64_t wide = widthOf(text) + 2;
      return text.find('\n') == text.npos && wide < room ? wide + wide * wide / room : linesOf(text) * room;
    };
    for (int64_t i = 0; i < most; ++i) {
      if (i % 1024 == 1023)
        poll();
      bool isHead = i % 2 == 0;
      std::string text = of(element(isHead ? i / 2 : count - 1 - i / 2), room, std::max(leastHeight, height / 2), true);
      if (free -= costs(text); free < 0 && i >= 2)
        break;
      (isHead ? head : tail).push_back(std::move(text));
    }
    for (const std::string &text : head)
      parts.add("", text);
    if (static_cast<int64_t>(head.size() + tail.size()) < count)
      parts.add("", "…");
    for (const std::string &text : std::views::reverse(tail))
      parts.add("", text);
    return std::move(parts).end(")");
  }

  const PrintOptions &options;
};

} // namespace

std::string formatEcho(const Value &value, const PrintOptions &options) {
  if (options.full() || options.height == 0)
    return format(value, options);
  return EchoText(options).of(value, options.width, options.height, false);
}

} // namespace toy::rt
