// SPDX-License-Identifier: Apache-2.0
/// \file
/// The keys that readline has not, or that do more in a text of several lines.
#include "repl/Completion.h"
#include "repl/Editor.h"
#include "repl/Surroundings.h"
#include "session/Session.h"
#include "support/Unicode.h"

#include <algorithm>
#include <cstdio>
#include <readline/history.h>
#include <readline/readline.h>
#include <sys/select.h>

namespace toy {
namespace {

std::string_view typed() { return {rl_line_buffer, static_cast<size_t>(rl_end)}; }
size_t lineBegin(size_t at) { return at ? typed().rfind('\n', at - 1) + 1 : 0; }
size_t lineEnd(size_t at) { return std::min(typed().find('\n', at), typed().size()); }
/// Whether the line has nothing but blanks before the cursor.
bool isInIndentation() {
  size_t begin = lineBegin(rl_point);
  return typed().substr(begin, rl_point - begin).find_first_not_of(' ') == std::string_view::npos;
}

void replaceText(const std::string &text) {
  rl_replace_line(text.c_str(), 0);
  rl_point = rl_end;
}

/// Blanks before the cursor's line, two for each line with brackets that are open there.
void indent(size_t closing) {
  size_t blanks = orNothing([&] { return 2 * Surroundings(typed().substr(0, rl_point)).openLines(closing); }),
         begin = lineBegin(rl_point);
  rl_delete_text(static_cast<int>(begin), rl_point);
  rl_point = static_cast<int>(begin);
  rl_insert_text(std::string(blanks, ' ').c_str());
}

/// More keys are waiting: a terminal that cannot mark a paste sends one, which has its own indentation.
bool isPasting() {
  timeval none{};
  fd_set ready;
  FD_ZERO(&ready);
  FD_SET(fileno(rl_instream), &ready);
  return select(fileno(rl_instream) + 1, &ready, nullptr, nullptr, &none) > 0;
}

/// Another line of the text, whatever the parser says. A line of blanks loses them.
int onNewLine(int, int) {
  rl_begin_undo_group();
  if (size_t begin = lineBegin(rl_point); isInIndentation()) {
    rl_delete_text(static_cast<int>(begin), rl_point);
    rl_point = static_cast<int>(begin);
  }
  rl_insert_text("\n");
  if (!isPasting())
    indent(0);
  rl_end_undo_group();
  return 0;
}

int onEnter(int count, int key) {
  if (rl_done) // Ctrl-C has dropped the text
    return rl_newline(1, '\n');
  if (orNothing([] { return editor.isUnfinished(std::string(typed())); }))
    return onNewLine(count, key);
  leaveText();
  return rl_newline(1, '\n');
}

/// A closing bracket that comes first on its line, where the editor has put the cursor, stands below the line that
/// opened it.
int onClosing(int count, int key) {
  size_t column = rl_point - lineBegin(rl_point);
  rl_begin_undo_group();
  if (column && lineBegin(rl_point) && isInIndentation() &&
      column == orNothing([] { return 2 * Surroundings(typed().substr(0, rl_point)).openLines(); }))
    indent(1);
  rl_insert(count, key);
  rl_end_undo_group();
  return 0;
}

/// In the indentation a whole step of it.
int onBackspace(int count, int key) {
  size_t column = rl_point - lineBegin(rl_point);
  return rl_rubout(column && isInIndentation() && lineBegin(rl_point) ? static_cast<int>((column - 1) % 2 + 1) : count,
                   key);
}

/// The line's begin; from there the text's.
int onHome(int, int) {
  size_t begin = lineBegin(rl_point);
  rl_point = begin == static_cast<size_t>(rl_point) ? 0 : static_cast<int>(begin);
  return 0;
}

void takeSuggestion(size_t length) { rl_insert_text(editor.suggestion.substr(0, length).c_str()); }

/// The line's end; from there the text's. At the text's end the suggestion is taken.
int onEnd(int, int) {
  if (rl_point == rl_end)
    takeSuggestion(std::string::npos);
  else
    rl_point = lineEnd(rl_point) == static_cast<size_t>(rl_point) ? rl_end : static_cast<int>(lineEnd(rl_point));
  return 0;
}

int onRight(int count, int key) {
  if (rl_point < rl_end || editor.suggestion.empty())
    return rl_forward_char(count, key);
  takeSuggestion(std::string::npos);
  return 0;
}

/// The next word, or that of the suggestion.
int onWordRight(int count, int key) {
  if (rl_point < rl_end || editor.suggestion.empty())
    return rl_forward_word(count, key);
  const std::string &text = editor.suggestion;
  auto isPart = [](unsigned char c) { return std::isalnum(c) || c == '_' || (c & 0x80); };
  size_t end = 0;
  while (end < text.size() && !isPart(text[end]))
    ++end;
  while (end < text.size() && isPart(text[end]))
    ++end;
  takeSuggestion(end);
  return 0;
}

int onUp(int, int);
int onDown(int, int);

/// Whether Up and Down go on with a recall.
bool isRecalling() { return editor.recalling && (rl_last_func == onUp || rl_last_func == onDown); }

/// Shows the next entry, in a direction, that begins as the text did when the recall began; false: there is none.
bool recall(int step) {
  if (!isRecalling()) {
    editor.saved.assign(rl_line_buffer, rl_end);
    editor.prefix.assign(rl_line_buffer, rl_point);
    editor.at = history_length;
  }
  editor.recalling = true;
  for (int i = editor.at + step; i >= 0 && i < history_length; i += step) {
    HIST_ENTRY *entry = history_get(history_base + i);
    if (entry && std::string_view(entry->line).starts_with(editor.prefix) && entry->line != typed()) {
      editor.at = i;
      replaceText(entry->line);
      return true;
    }
  }
  return false;
}

/// The line above; on the first one, the newest entry of the history that begins as the text does.
int onUp(int, int) {
  size_t begin = lineBegin(rl_point), column = rl_point - begin;
  if (begin == 0 || isRecalling())
    return recall(-1) ? 0 : rl_ding();
  editor.recalling = false;
  rl_point = static_cast<int>(std::min(lineBegin(begin - 1) + column, begin - 1));
  return 0;
}

int onDown(int, int) {
  size_t column = rl_point - lineBegin(rl_point), end = lineEnd(rl_point);
  if (end < typed().size() && !isRecalling()) {
    editor.recalling = false;
    rl_point = static_cast<int>(std::min(end + 1 + column, lineEnd(end + 1)));
  } else if (!recall(1)) {
    editor.at = history_length;
    replaceText(editor.saved);
  }
  return 0;
}

/// Lines below the text, a screen at a time.
void showPages(const std::vector<std::string> &lines) {
  size_t room = screenSize().rows - 1;
  constexpr const char *question = "--More--";
  for (const std::string &line : lines) {
    put(line + "\r\n");
    if (&line == &lines.back() || --room > 0)
      continue;
    put(question);
    int key = readKey(rl_instream);
    put("\r\x1b[J");
    if (key == ' ' || key == '\t' || key == 'y')
      room = screenSize().rows - 1;
    else if (key == '\r' || key == '\n')
      room = 1;
    else {
      if (!rl_done && key != 'q' && key != EOF)
        rl_execute_next(key);
      return;
    }
    if (rl_done) // Ctrl-C
      return;
  }
}

void showChoices(const std::vector<Completion> &all) {
  size_t widest = 0, width = screenSize().columns;
  for (const Completion &c : all)
    widest = std::max(widest, columnsOf(c.text));
  std::vector<std::string> lines;
  for (const Completion &c : all) {
    std::string line =
        c.text + std::string(widest - columnsOf(c.text) + 2, ' ') + c.detail.substr(0, c.detail.find('\n'));
    while (columnsOf(line) >= width)
      do
        line.pop_back();
      while (!line.empty() && (line.back() & 0xC0) == 0x80);
    lines.push_back(std::move(line));
  }
  if (editor.blocks) {
    leaveText();
    return showPages(lines);
  }
  put("\r\n");
  for (const std::string &line : lines)
    put(line + "\r\n");
  rl_forced_update_display();
}

int onTab(int, int);
int onBackTab(int, int);

/// The word becomes the next of those that are listed, or the one before.
void takeTurn(size_t step) {
  rl_begin_undo_group();
  rl_delete_text(static_cast<int>(editor.word), rl_point);
  rl_point = static_cast<int>(editor.word);
  rl_insert_text(editor.choices[editor.choice].c_str());
  rl_end_undo_group();
  editor.choice = (editor.choice + step) % editor.choices.size();
}

/// Whether the last key was a Tab that has shown a list, or went through it.
bool isInList() {
  if (rl_last_func != onTab && rl_last_func != onBackTab)
    editor.choices.clear();
  return !editor.choices.empty();
}

int onBackTab(int, int) {
  if (!isInList())
    return rl_ding();
  size_t count = editor.choices.size(), last = (editor.choice + count - 1) % count;
  bool isFirst = rl_last_func == onTab && editor.word + editor.choices[last].size() != static_cast<size_t>(rl_point);
  editor.choice = isFirst ? count - 1 : (last + count - 1) % count;
  takeTurn(1);
  return 0;
}

/// Completes the word; lists what it could become when nothing more is common, and then takes those in turn.
int onTab(int, int) {
  if (isInList()) {
    takeTurn(1);
    return 0;
  }
  size_t begin;
  std::string_view text = typed();
  std::vector<Completion> all =
      orNothing([&] { return completionsAt(text.substr(0, rl_point), *editor.session, begin); });
  if (all.empty())
    return rl_ding();
  std::string common = all[0].text;
  for (const Completion &c : all)
    common.resize(std::mismatch(common.begin(), common.end(), c.text.begin(), c.text.end()).first - common.begin());
  while (!common.empty() && common.size() < all[0].text.size() && (all[0].text[common.size()] & 0xC0) == 0x80)
    common.pop_back();
  std::string word(text.substr(begin, rl_point - begin));
  if (common != word && (common.size() > word.size() || all.size() == 1)) {
    rl_begin_undo_group();
    rl_delete_text(static_cast<int>(begin), rl_point);
    rl_point = static_cast<int>(begin);
    rl_insert_text(common.c_str());
    rl_end_undo_group();
  } else if (all.size() > 1) {
    showChoices(all);
    for (const Completion &c : all)
      editor.choices.push_back(c.text);
    editor.choice = 0;
    editor.word = begin;
  }
  return 0;
}

int onClear(int, int) {
  put("\x1b[H\x1b[2J");
  editor.cursorRow = 0;
  return 0;
}

void bind(std::initializer_list<const char *> keys, rl_command_func_t *function) {
  for (const char *key : keys)
    rl_bind_keyseq(key, function);
}

} // namespace

void bindKeys(bool blocks) {
  rl_bind_key('\t', onTab);
  if (!blocks)
    return;
  rl_variable_bind("bind-tty-special-chars", "off"); // each reading would take Backspace away
  bind({"\\C-m", "\\C-j"}, onEnter);
  bind({"\\e\\C-m"}, onNewLine);
  bind({"\\e[Z"}, onBackTab);
  bind({"\\C-l"}, onClear);
  bind({"}", ")", "]"}, onClosing);
  bind({"\\C-?", "\\C-h"}, onBackspace);
  bind({"\\e[A", "\\eOA", "\\C-p"}, onUp);
  bind({"\\e[B", "\\eOB", "\\C-n"}, onDown);
  bind({"\\e[C", "\\eOC", "\\C-f"}, onRight);
  bind({"\\e[1;5C", "\\e[1;3C", "\\ef"}, onWordRight);
  bind({"\\e[1;5D", "\\e[1;3D"}, rl_backward_word);
  bind({"\\e[H", "\\eOH", "\\e[1~", "\\C-a"}, onHome);
  bind({"\\e[F", "\\eOF", "\\e[4~", "\\C-e"}, onEnd);
}

} // namespace toy
