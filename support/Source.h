// SPDX-License-Identifier: Apache-2.0
/// \file
/// Source texts and positions in them. A position is a byte offset into a buffer; lines and columns are computed when
/// something is shown.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace toy {

using BufferId = uint32_t;
inline constexpr BufferId noBuffer = ~0u;

/// The bytes [begin, end) of a buffer.
struct SourceRange {
  BufferId buffer = noBuffer;
  uint32_t begin = 0, end = 0;

  bool valid() const { return buffer != noBuffer; }
  /// From the start of this to the end of another.
  SourceRange to(SourceRange last) const { return {buffer, begin, last.end > end ? last.end : end}; }
};

/// Length of the UTF-8 sequence at the start of a text, 0 if malformed.
size_t utf8Length(std::string_view text);
/// A text for people: malformed bytes and control characters as \xHH, so that names from files neither break nor steer
/// a terminal.
std::string printable(std::string_view text);

/// A string of JSON: quoted, with escapes.
std::string jsonText(std::string_view text);

/// A text with a name: a file's path, `<input 3>`, `<command line>`.
class SourceBuffer {
public:
  SourceBuffer(std::string name, std::string text);
  const std::string &getName() const { return name; }
  std::string_view getText() const { return text; }
  /// 1-based line of an offset.
  uint32_t lineOf(uint32_t offset) const;
  /// 1-based column in UTF-8 characters.
  uint32_t columnOf(uint32_t offset) const;
  uint32_t lineBegin(uint32_t line) const { return lineStarts[line - 1]; }
  /// A line without its end; nothing where the text has no such line: it may have been given up.
  std::string_view lineText(uint32_t line) const;
  uint32_t lineCount() const { return lineStarts.size(); }
  /// The offset of a 1-based line and byte column.
  uint32_t offsetOf(uint32_t line, uint32_t byteColumn) const;

private:
  std::string name, text;
  std::vector<uint32_t> lineStarts;
};

/// All buffers of a process, by id; they live until they are dropped.
class SourceManager {
public:
  /// Adds a text of less than 2 GiB.
  BufferId add(std::string name, std::string text);
  /// Adds the language's own library. No other text is one, whatever its file is called.
  BufferId addLibrary(std::string text) { return library = add("<library>", std::move(text)); }
  bool isLibrary(SourceRange range) const { return range.valid() && range.buffer == library; }
  const SourceBuffer &get(BufferId id) const;
  /// Drops all others but the library's; what still names them sees an empty text.
  void keepOnly(const std::set<BufferId> &live);
  /// The latest buffer of that name, or noBuffer.
  BufferId find(std::string_view name) const;
  std::string_view text(SourceRange range) const;

private:
  std::vector<std::unique_ptr<SourceBuffer>> buffers;
  BufferId library = noBuffer;
};

} // namespace toy
