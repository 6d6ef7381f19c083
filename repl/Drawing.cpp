// SPDX-License-Identifier: Apache-2.0
/// \file
/// The display of the editor: it knows colours, texts of several lines, and what is shown in grey: how the text may go
/// on behind it, and on a row of its own the parameters of the call that is being typed.
#include "repl/Completion.h"
#include "repl/Editor.h"
#include "repl/Highlight.h"
#include "repl/LineEditor.h"
#include "repl/Signature.h"
#include "repl/StringTexts.h"
#include "session/Session.h"
#include "support/Theme.h"
#include "support/Unicode.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <readline/history.h>
#include <readline/readline.h>
#include <unistd.h>

namespace toy {

Editor editor;

void put(const std::string &text) {
  std::fflush(rl_outstream);
  for (size_t at = 0; at < text.size();) {
    ssize_t n = ::write(STDOUT_FILENO, text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR && errno != EAGAIN)
      return;
    at += n > 0 ? n : 0;
  }
}

void advance(std::string_view text, size_t width, size_t &row, size_t &column) {
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '\n') {
      ++row;
      column = continuation.size();
      ++i;
      continue;
    }
    size_t length = 1;
    while (i + length < text.size() && (text[i + length] & 0xC0) == 0x80)
      ++length;
    size_t columns = static_cast<unsigned char>(text[i]) < 0x20 ? 2 : columnsOf(text.substr(i, length));
    if (column + columns > width) {
      ++row;
      column = 0;
    }
    column += columns;
    i += length;
  }
}

namespace {

constexpr size_t narrowest = 16; ///< with rows of hints

bool paints() { return editor.color && theme() != Theme::None; }

/// How the newest entry of the history goes on that begins with a text; of a word with a single completion, its rest.
std::string suggestionFor(std::string_view text) {
  if (!editorOptions().suggestions || text.find_first_not_of(" \n") == text.npos || text.back() == '\n')
    return "";
  for (int i = history_length - 1; i >= 0; --i)
    if (HIST_ENTRY *entry = history_get(history_base + i))
      if (std::string_view line = entry->line; line.size() > text.size() && line.starts_with(text))
        return std::string(line.substr(text.size()));
  return completionOf(text, *editor.session);
}

/// As much of a suggestion as its row has room for.
std::string firstRow(std::string text, size_t room) {
  std::ranges::replace(text, '\x1b', ' ');
  bool isCut = text.find('\n') != text.npos;
  text.resize(std::min(text.find('\n'), text.size()));
  while (!text.empty() && columnsOf(text) + 2 > room) {
    isCut = true;
    do
      text.pop_back();
    while (!text.empty() && (text.back() & 0xC0) == 0x80);
  }
  return room < 3 ? "" : isCut ? text + "…" : text;
}

std::string signatureRow(std::string_view before, size_t width) {
  size_t field = StringTexts(before).field;
  Surroundings around(before.substr(field));
  auto call = around.isInComment() ? std::nullopt : around.call();
  auto signature = call ? signatureOf(*call, *editor.session) : std::nullopt;
  if (!signature)
    return "";
  const std::string plain = "\x1b[0m", hint = startOf(Style::Hint);
  return paints() ? hint + textOf(*signature, width - 1, plain + startOf(Style::Current), plain + hint) + plain
                  : textOf(*signature, width - 3, "«", "»");
}

/// The value of the text, where it is an expression that can be computed at once.
std::string previewRow(const std::string &text, size_t width) {
  if (!editorOptions().values || text.find_first_not_of(" \n") == text.npos)
    return "";
  if (text != editor.previewed) {
    editor.previewed = text;
    editor.preview = orNothing([&] { return editor.session->preview(text); });
  }
  return editor.preview.empty() ? "" : painted(Style::Hint, firstRow(editor.preview, width));
}

/// Stands for an escape that the text holds, while those around it are of colours.
constexpr char escapeOfText = '\x1c';

/// The text as it is drawn: control characters are visible, and lines begin with the prompt of continuations.
std::string drawn(std::string_view text) {
  std::string out;
  std::string margin = paints() ? painted(Style::Strong, continuation) : std::string(continuation);
  for (char c : text)
    if (c == '\n')
      out += "\r\n" + margin;
    else if (static_cast<unsigned char>(c) < 0x20 && c != '\x1b')
      out += {'^', c == escapeOfText ? '[' : static_cast<char>(c + 64)};
    else
      out += c;
  return out;
}

/// Some rows of what is drawn; colours that begin before them stay.
std::string rowsOf(std::string_view all, size_t width, size_t first, size_t count) {
  std::string out;
  size_t row = 0, column = 0;
  for (size_t i = 0; i < all.size() && row < first + count;) {
    size_t length = 1;
    if (all[i] == '\x1b') {
      length = std::min(all.find('m', i), all.size() - 1) - i + 1;
      out += all.substr(i, length);
    } else if (all[i] == '\n') {
      column = 0;
      if (++row > first && row < first + count)
        out += "\r\n";
    } else if (all[i] != '\r') {
      while (i + length < all.size() && (all[i + length] & 0xC0) == 0x80)
        ++length;
      size_t columns = columnsOf(all.substr(i, length));
      if (column + columns > width) {
        ++row;
        column = 0;
      }
      column += columns;
      if (row >= first && row < first + count)
        out += all.substr(i, length);
    }
    i += length;
  }
  return out + (paints() ? "\x1b[0m" : "");
}

/// The first row that is shown of a text that has more rows than the screen: the last one that keeps the cursor there.
size_t topFor(size_t cursorRow, size_t lastRow, size_t height) {
  size_t top = std::min(editor.top, cursorRow);
  return std::min(std::max(top, cursorRow + 1 - std::min(cursorRow + 1, height)), lastRow + 1 - height);
}

} // namespace

void redraw() {
  std::string text(rl_line_buffer, rl_end);
  std::ranges::replace(text, '\x1b', escapeOfText);
  std::string prompt = rl_display_prompt ? rl_display_prompt : "";
  bool hints = !editor.final && !RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH);
  size_t width = screenSize().columns, row = 0, column = 0;
  hints &= width >= narrowest;
  advance(prompt, width, row, column);
  size_t point = std::min<size_t>(rl_point, text.size()), cursorRow = row, cursorColumn = column;
  advance(text.substr(0, point), width, cursorRow, cursorColumn);
  advance(text, width, row, column);
  editor.suggestion = paints() && hints && point == text.size() ? orNothing([&] { return suggestionFor(text); }) : "";
  std::string signature = hints ? orNothing([&] { return signatureRow(text.substr(0, point), width); }) : "";
  if (signature.empty() && paints() && hints)
    signature = previewRow(text, width);
  std::string shown =
                  paints()
                      ? orNothing([&] { return highlighted(text, editor.final ? text.npos : point, *editor.session); })
                      : "",
              out = "\r";
  if (shown.empty())
    shown = text;
  if (editor.cursorRow)
    out += "\x1b[" + std::to_string(editor.cursorRow) + "A";
  std::string rows = (paints() ? painted(Style::Strong, prompt) : prompt) + drawn(shown);
  if (column == width && !editor.final) { // the terminal has not wrapped yet
    rows += "\r\n";
    ++row;
    column = 0;
  }
  if (cursorColumn == width && !editor.final) {
    ++cursorRow;
    cursorColumn = 0;
  }
  if (!editor.suggestion.empty())
    rows += painted(Style::Hint, firstRow(editor.suggestion, width - column));
  if (!signature.empty()) {
    rows += "\r\n" + signature;
    ++row;
  }
  size_t height = screenSize().rows;
  bool isAtSignature = !signature.empty() && cursorRow + 1 == row;
  editor.top = row < height || editor.final ? 0 : topFor(cursorRow + isAtSignature, row, height);
  if (row >= height && !editor.final) {
    rows = rowsOf(rows, width, editor.top, height);
    cursorRow -= editor.top;
    row = height - 1;
  }
  out += "\x1b[J" + rows;
  if (row > cursorRow)
    out += "\x1b[" + std::to_string(row - cursorRow) + "A";
  out += "\r";
  if (cursorColumn)
    out += "\x1b[" + std::to_string(cursorColumn) + "C";
  editor.cursorRow = cursorRow;
  put(out);
}

void leaveText() {
  if (!editor.blocks) // readline ends the line
    return;
  int point = rl_point;
  rl_point = rl_end;
  editor.final = true;
  redraw();
  editor.final = false;
  rl_point = point;
  put("\r\n");
  editor.cursorRow = 0;
  editor.top = 0;
}

} // namespace toy
