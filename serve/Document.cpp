// SPDX-License-Identifier: Apache-2.0
#include "serve/Document.h"

#include <algorithm>

namespace toy {

/// Units of UTF-16 of the character that begins with a byte; bytes inside one have none.
static int unitsOf(char c) { return (c & 0xC0) == 0x80 ? 0 : static_cast<unsigned char>(c) >= 0xF0 ? 2 : 1; }

llvm::lsp::Position positionOf(const SourceBuffer &text, uint32_t offset) {
  offset = std::min<uint32_t>(offset, text.getText().size());
  uint32_t line = text.lineOf(offset), begin = text.lineBegin(line);
  int column = 0;
  for (char c : text.getText().substr(begin, offset - begin))
    column += unitsOf(c);
  return {static_cast<int>(line) - 1, column};
}

llvm::lsp::Range rangeOf(const SourceBuffer &text, SourceRange range) {
  return {positionOf(text, range.begin), positionOf(text, range.end)};
}

uint32_t offsetOf(const SourceBuffer &text, llvm::lsp::Position position) {
  if (position.line < 0)
    return 0;
  if (static_cast<uint32_t>(position.line) >= text.lineCount())
    return text.getText().size();
  uint32_t at = text.lineBegin(position.line + 1);
  std::string_view rest = text.getText().substr(at);
  rest = rest.substr(0, rest.find_first_of("\r\n"));
  int column = 0;
  for (char c : rest) {
    if (column >= position.character && unitsOf(c) > 0)
      break;
    column += unitsOf(c);
    ++at;
  }
  return at;
}

llvm::json::Object locationOf(const llvm::lsp::URIForFile &uri, llvm::lsp::Range range) {
  return llvm::json::Object{{"uri", uri.uri().str()}, {"range", toJSON(range)}};
}

std::optional<llvm::lsp::URIForFile> uriOfFile(const std::string &path) {
  auto uri = llvm::lsp::URIForFile::fromFile(path);
  if (uri)
    return *uri;
  llvm::consumeError(uri.takeError());
  return std::nullopt;
}

ParsedText::ParsedText(std::string name, std::string text)
    : id(sources.add(std::move(name), std::move(text))), tokens(lex(id, quiet)) {
  ParseResult result = parse(tokens, quiet);
  module = std::move(result.module);
  isWhole = result.status == ParseStatus::Complete && !quiet.hasErrors();
  names = sema::namesOf(module);
}

} // namespace toy
