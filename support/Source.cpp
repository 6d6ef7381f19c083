// SPDX-License-Identifier: Apache-2.0
/// \file
/// Line tables and columns.
#include "support/Source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace toy {

size_t utf8Length(std::string_view text) {
  unsigned char c = text[0];
  size_t length = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : (c & 0xF0) == 0xE0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
  if (length == 0 || text.size() < length)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((text[i] & 0xC0) != 0x80)
      return 0;
  unsigned char d = length > 1 ? text[1] : 0;
  bool bad = (c == 0xE0 && d < 0xA0) || (c == 0xED && d >= 0xA0) || (c == 0xF0 && d < 0x90) || (c == 0xF4 && d >= 0x90);
  return bad ? 0 : length;
}

std::string printable(std::string_view text) {
  constexpr const char *digits = "0123456789ABCDEF";
  std::string out;
  while (!text.empty()) {
    size_t length = utf8Length(text);
    unsigned char c = text[0];
    bool isControl = (c < 32 && c != '\n' && c != '\t') || c == 127;
    if (length == 0 || isControl)
      out += {'\\', 'x', digits[c >> 4], digits[c & 15]};
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

SourceBuffer::SourceBuffer(std::string bufferName, std::string bufferText)
    : name(std::move(bufferName)), text(std::move(bufferText)) {
  assert(text.size() < (1ull << 31) && "callers refuse larger texts");
  lineStarts.push_back(0);
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    lineStarts.push_back(at + 1);
}

uint32_t SourceBuffer::lineOf(uint32_t offset) const {
  return std::upper_bound(lineStarts.begin(), lineStarts.end(), offset) - lineStarts.begin();
}

uint32_t SourceBuffer::columnOf(uint32_t offset) const {
  auto begin = text.begin() + lineBegin(lineOf(offset));
  auto end = text.begin() + std::min<size_t>(offset, text.size());
  return 1 + std::count_if(begin, end, [](char c) { return (c & 0xC0) != 0x80; });
}

std::string_view SourceBuffer::lineText(uint32_t line) const {
  if (line < 1 || line > lineCount())
    return {};
  size_t begin = lineBegin(line), end = line < lineStarts.size() ? lineStarts[line] - 1 : text.size();
  if (end > begin && text[end - 1] == '\r')
    --end;
  return std::string_view(text).substr(begin, end - begin);
}

uint32_t SourceBuffer::offsetOf(uint32_t line, uint32_t byteColumn) const {
  line = std::clamp<uint32_t>(line, 1, lineCount());
  return std::min<uint32_t>(lineBegin(line) + (byteColumn ? byteColumn - 1 : 0), text.size());
}

std::string jsonText(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "\"";
}

BufferId SourceManager::add(std::string name, std::string text) {
  buffers.push_back(std::make_unique<SourceBuffer>(std::move(name), std::move(text)));
  return buffers.size() - 1;
}

const SourceBuffer &SourceManager::get(BufferId id) const {
  static const SourceBuffer dropped("<earlier input>", "");
  return buffers[id] ? *buffers[id] : dropped;
}

void SourceManager::keepOnly(const std::set<BufferId> &live) {
  for (BufferId id = 0; id < buffers.size(); ++id)
    if (id != library && !live.count(id))
      buffers[id].reset();
}

BufferId SourceManager::find(std::string_view name) const {
  for (size_t i = buffers.size(); i > 0; --i)
    if (get(i - 1).getName() == name)
      return i - 1;
  return noBuffer;
}

std::string_view SourceManager::text(SourceRange range) const {
  if (!range.valid())
    return {};
  std::string_view whole = get(range.buffer).getText();
  return range.end <= whole.size() ? whole.substr(range.begin, range.end - range.begin) : std::string_view();
}

} // namespace toy
