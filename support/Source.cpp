// SPDX-License-Identifier: Apache-2.0
/// \file
/// Line tables and columns.
#include "support/Source.h"

#include <algorithm>
#include <cassert>

namespace toy {

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
  size_t begin = lineBegin(line), end = line < lineStarts.size() ? lineStarts[line] - 1 : text.size();
  if (end > begin && text[end - 1] == '\r')
    --end;
  return std::string_view(text).substr(begin, end - begin);
}

uint32_t SourceBuffer::offsetOf(uint32_t line, uint32_t byteColumn) const {
  line = std::clamp<uint32_t>(line, 1, lineCount());
  return std::min<uint32_t>(lineBegin(line) + (byteColumn ? byteColumn - 1 : 0), text.size());
}

BufferId SourceManager::add(std::string name, std::string text) {
  buffers.push_back(std::make_unique<SourceBuffer>(std::move(name), std::move(text)));
  return buffers.size() - 1;
}

BufferId SourceManager::find(std::string_view name) const {
  for (size_t i = buffers.size(); i > 0; --i)
    if (buffers[i - 1]->getName() == name)
      return i - 1;
  return noBuffer;
}

std::string_view SourceManager::text(SourceRange range) const {
  if (!range.valid())
    return {};
  return get(range.buffer).getText().substr(range.begin, range.end - range.begin);
}

} // namespace toy
