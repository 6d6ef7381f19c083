// SPDX-License-Identifier: Apache-2.0
/// \file
/// The editor on readline: its buffer, keys, history search and paste, with a display of our own that knows colours and
/// texts of several lines.
#include "repl/LineEditor.h"

#include "repl/Highlight.h"
#include "repl/History.h"
#include "runtime/Guard.h"
#include "session/Session.h"
#include "support/Terminal.h"
#include "support/Unicode.h"

#include <iostream>

#ifdef TOY_HAVE_READLINE
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <readline/history.h>
#include <readline/readline.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>
#endif

namespace toy {

#ifdef TOY_HAVE_READLINE
namespace {

/// What readline's callbacks act on: there is one terminal.
struct Terminal {
  Session *session = nullptr;
  std::function<bool(const std::string &)> isUnfinished;
  std::function<void()> shown;
  bool color = false;
  pthread_t reader{};
  size_t cursorRow = 0;      ///< of the last drawing, from the prompt's row
  std::string hint;          ///< shown behind the text
  bool final = false;        ///< the text is accepted: no hint, no marks
  std::string prefix, saved; ///< of a recall: what entries begin with, and the text before
  int at = 0;
};
Terminal terminal;
volatile sig_atomic_t lineDropped, resized;

constexpr char continuation[] = "...> ";

size_t terminalWidth() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 10 ? size.ws_col : 80;
}

void put(const std::string &text) {
  std::fflush(rl_outstream);
  for (size_t at = 0; at < text.size();) {
    ssize_t n = ::write(STDOUT_FILENO, text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR && errno != EAGAIN)
      return;
    at += n > 0 ? n : 0;
  }
}

/// Where text ends that starts at a place of the screen; a full row continues on the next one.
void advance(std::string_view text, size_t width, size_t &row, size_t &column) {
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '\n') {
      ++row;
      column = sizeof continuation - 1;
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

/// What a function gives, or nothing: what fails while somebody types must not end the typing.
template <typename F> auto orNothing(F compute) {
  decltype(compute()) result{};
  rt::guarded([&] { result = compute(); });
  return result;
}

/// Draws prompt, text and hint anew from the prompt's row, and puts the cursor where it belongs.
void redraw() {
  std::string_view text(rl_line_buffer, rl_end);
  std::string prompt = rl_display_prompt ? rl_display_prompt : "";
  bool searching = RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH);
  size_t width = terminalWidth(), row = 0, column = 0;
  advance(prompt, width, row, column);
  size_t point = std::min<size_t>(rl_point, text.size()), cursorRow = row, cursorColumn = column;
  advance(text.substr(0, point), width, cursorRow, cursorColumn);
  advance(text, width, row, column);
  terminal.hint = terminal.color && !searching && !terminal.final && point == text.size()
                      ? orNothing([&] { return hintFor(text, *terminal.session); })
                      : "";
  if (column + columnsOf(terminal.hint) >= width)
    terminal.hint.clear();
  std::string shown = terminal.color ? orNothing([&] {
    return highlighted(text, terminal.final ? text.npos : point, *terminal.session);
  })
                                     : "",
              out = "\r";
  if (shown.empty())
    shown = text;
  if (terminal.cursorRow)
    out += "\x1b[" + std::to_string(terminal.cursorRow) + "A";
  out += "\x1b[J" + (terminal.color ? "\x1b[1m" + prompt + "\x1b[0m" : prompt);
  for (char c : shown)
    if (c == '\n')
      out += std::string("\r\n") + (terminal.color ? "\x1b[1m" : "") + continuation + (terminal.color ? "\x1b[0m" : "");
    else if (static_cast<unsigned char>(c) < 0x20 && c != '\x1b')
      out += {'^', static_cast<char>(c + 64)};
    else
      out += c;
  if (column == width) { // the terminal has not wrapped yet
    out += "\r\n";
    ++row;
    column = 0;
  }
  if (cursorColumn == width) {
    ++cursorRow;
    cursorColumn = 0;
  }
  if (!terminal.hint.empty())
    out += "\x1b[2m" + terminal.hint + "\x1b[0m";
  if (row > cursorRow)
    out += "\x1b[" + std::to_string(row - cursorRow) + "A";
  out += "\r";
  if (cursorColumn)
    out += "\x1b[" + std::to_string(cursorColumn) + "C";
  terminal.cursorRow = cursorRow;
  put(out);
}

/// The text as it stays on the screen, and the cursor on the line below it.
void leaveText() {
  int point = rl_point;
  rl_point = rl_end;
  terminal.final = true;
  redraw();
  terminal.final = false;
  rl_point = point;
  put("\r\n");
  terminal.cursorRow = 0;
}

/// The system may choose any thread for a signal; the one that reads must wake up.
void onSignal(int number) {
  (number == SIGINT ? lineDropped : resized) = 1;
  if (!pthread_equal(pthread_self(), terminal.reader))
    pthread_kill(terminal.reader, number);
}

/// The next byte; Ctrl-C empties the line and ends it. Signals are delivered only while waiting, so none is lost.
int readKey(FILE *stream) {
  if (terminal.shown)
    rt::guarded(std::exchange(terminal.shown, nullptr));
  sigset_t open;
  pthread_sigmask(SIG_SETMASK, nullptr, &open);
  sigdelset(&open, SIGINT);
  sigdelset(&open, SIGWINCH);
  while (true) {
    fd_set ready;
    FD_ZERO(&ready);
    FD_SET(fileno(stream), &ready);
    int n = lineDropped ? -1 : pselect(fileno(stream) + 1, &ready, nullptr, nullptr, nullptr, &open);
    if (lineDropped) {
      leaveText();
      rl_replace_line("", 0);
      rl_done = 1;
      return '\n';
    }
    if (resized) { // the terminal has wrapped the rows anew
      resized = 0;
      size_t row = 0, column = 0;
      advance(std::string(rl_display_prompt ? rl_display_prompt : "") + std::string(rl_line_buffer, rl_point),
              terminalWidth(), row, column);
      terminal.cursorRow = row;
      (*rl_redisplay_function)();
      continue;
    }
    unsigned char c;
    if (n > 0)
      return ::read(fileno(stream), &c, 1) == 1 ? c : EOF;
    if (n < 0 && errno != EINTR)
      return EOF;
  }
}

int onEnter(int, int) {
  if (!lineDropped && orNothing([] { return terminal.isUnfinished(std::string(rl_line_buffer, rl_end)); })) {
    rl_insert_text("\n");
    return 0;
  }
  if (!lineDropped)
    leaveText();
  return rl_newline(1, '\n');
}

/// Another line of the text, whatever the parser says.
int onNewLine(int, int) {
  rl_insert_text("\n");
  return 0;
}

void replaceText(const std::string &text) {
  rl_replace_line(text.c_str(), 0);
  rl_point = rl_end;
}

int onUp(int, int);
int onDown(int, int);

void beginRecall() {
  if (rl_last_func == onUp || rl_last_func == onDown)
    return;
  terminal.saved.assign(rl_line_buffer, rl_end);
  terminal.prefix.assign(rl_line_buffer, rl_point);
  terminal.at = history_length;
}

/// The line above; on the first one, the newest entry of the history that begins as the text does.
int onUp(int, int) {
  std::string_view text(rl_line_buffer, rl_end);
  size_t lineStart = rl_point ? text.rfind('\n', rl_point - 1) : text.npos;
  if (lineStart != text.npos && rl_last_func != onUp && rl_last_func != onDown) {
    size_t column = rl_point - lineStart - 1, above = lineStart ? text.rfind('\n', lineStart - 1) : text.npos,
           begin = above == text.npos ? 0 : above + 1;
    rl_point = static_cast<int>(std::min(begin + column, lineStart));
    return 0;
  }
  beginRecall();
  for (int i = terminal.at - 1; i >= 0; --i) {
    HIST_ENTRY *entry = history_get(history_base + i);
    if (entry && std::string_view(entry->line).starts_with(terminal.prefix) &&
        entry->line != std::string(rl_line_buffer, rl_end)) {
      terminal.at = i;
      replaceText(entry->line);
      return 0;
    }
  }
  return rl_ding();
}

int onDown(int, int) {
  std::string_view text(rl_line_buffer, rl_end);
  if (size_t lineEnd = text.find('\n', rl_point);
      lineEnd != text.npos && rl_last_func != onUp && rl_last_func != onDown) {
    size_t before = rl_point ? text.rfind('\n', rl_point - 1) : text.npos,
           column = rl_point - (before == text.npos ? 0 : before + 1);
    rl_point = static_cast<int>(std::min(lineEnd + 1 + column, std::min(text.find('\n', lineEnd + 1), text.size())));
    return 0;
  }
  beginRecall();
  for (int i = terminal.at + 1; i < history_length; ++i) {
    HIST_ENTRY *entry = history_get(history_base + i);
    if (entry && std::string_view(entry->line).starts_with(terminal.prefix) &&
        entry->line != std::string(rl_line_buffer, rl_end)) {
      terminal.at = i;
      replaceText(entry->line);
      return 0;
    }
  }
  terminal.at = history_length;
  replaceText(terminal.saved);
  return 0;
}

/// Completes the word; lists what it could become when nothing more is common.
int onTab(int, int) {
  size_t begin;
  std::string_view text(rl_line_buffer, rl_end);
  std::vector<Completion> all = orNothing([&] { return completionsAt(text, rl_point, *terminal.session, begin); });
  if (all.empty())
    return rl_ding();
  std::string common = all[0].text;
  for (const Completion &c : all)
    common.resize(std::mismatch(common.begin(), common.end(), c.text.begin(), c.text.end()).first - common.begin());
  while (!common.empty() && common.size() < all[0].text.size() && (all[0].text[common.size()] & 0xC0) == 0x80)
    common.pop_back();
  std::string typed(text.substr(begin, rl_point - begin));
  if (common != typed && (common.size() > typed.size() || all.size() == 1)) {
    rl_begin_undo_group();
    rl_delete_text(static_cast<int>(begin), rl_point);
    rl_point = static_cast<int>(begin);
    rl_insert_text(common.c_str());
    rl_end_undo_group();
    return 0;
  }
  if (all.size() == 1)
    return 0;
  leaveText();
  std::string out;
  constexpr size_t most = 60;
  size_t widest = 0;
  for (size_t i = 0; i < std::min(all.size(), most); ++i)
    widest = std::max(widest, columnsOf(all[i].text));
  for (size_t i = 0; i < std::min(all.size(), most); ++i) {
    std::string line = all[i].text + std::string(widest - columnsOf(all[i].text) + 2, ' ') + all[i].detail;
    if (size_t width = terminalWidth(); line.size() >= width)
      line = line.substr(0, width - 1);
    out += line + "\r\n";
  }
  if (all.size() > most)
    out += "and " + std::to_string(all.size() - most) + " more\r\n";
  put(out);
  return 0;
}

/// Takes the hint at the end of the text, where there is one that completes a word.
int onRight(int count, int key) {
  std::string_view text(rl_line_buffer, rl_end);
  if (rl_point == rl_end && !terminal.hint.empty() && !text.empty() && text.back() != '(') {
    rl_insert_text(terminal.hint.c_str());
    return 0;
  }
  return rl_forward_char(count, key);
}

int onClear(int, int) {
  put("\x1b[H\x1b[2J");
  terminal.cursorRow = 0;
  return 0;
}

} // namespace

LineEditor::LineEditor(Session &session, bool color, std::function<bool(const std::string &)> isUnfinished) {
  blocks = terminalMovesCursor();
  terminal.session = &session;
  terminal.isUnfinished = std::move(isUnfinished);
  terminal.color = color && blocks;
  rl_readline_name = "toy";
  rl_catch_signals = 0;
  rl_catch_sigwinch = 0;
  rl_getc_function = readKey;
  using_history();
  stifle_history(historyLimit);
  for (const std::string &entry : readHistory())
    add_history(entry.c_str());
  rl_initialize();
  rl_bind_key('\t', onTab);
  if (!blocks)
    return;
  rl_redisplay_function = redraw;
  rl_variable_bind("enable-active-region",
                   "off"); // the mark around a paste has readline draw the text again below what was left
  rl_bind_key('\r', onEnter);
  rl_bind_key('\n', onEnter);
  rl_bind_keyseq("\\e\\r", onNewLine);
  rl_bind_key('\f', onClear);
  for (const char *key : {"\\e[A", "\\eOA", "\\C-p"})
    rl_bind_keyseq(key, onUp);
  for (const char *key : {"\\e[B", "\\eOB", "\\C-n"})
    rl_bind_keyseq(key, onDown);
  for (const char *key : {"\\e[C", "\\eOC", "\\C-f"})
    rl_bind_keyseq(key, onRight);
}

void LineEditor::whenShown(std::function<void()> action) { terminal.shown = std::move(action); }
LineEditor::~LineEditor() = default;

std::optional<std::string> LineEditor::read(const std::string &prompt, bool &interrupted) {
  struct sigaction action = {}, oldInterrupt, oldResize;
  action.sa_handler = onSignal;
  sigaction(SIGINT, &action, &oldInterrupt);
  sigaction(SIGWINCH, &action, &oldResize);
  lineDropped = 0;
  resized = 0;
  terminal.reader = pthread_self();
  terminal.cursorRow = 0;
  sigset_t held, before;
  sigemptyset(&held);
  sigaddset(&held, SIGINT);
  sigaddset(&held, SIGWINCH);
  pthread_sigmask(SIG_BLOCK, &held, &before);
  char *line = readline(prompt.c_str());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  sigaction(SIGINT, &oldInterrupt, nullptr);
  sigaction(SIGWINCH, &oldResize, nullptr);
  interrupted = lineDropped;
  if (!line)
    return std::nullopt;
  std::string text(line);
  free(line);
  return text;
}

void LineEditor::remember(const std::string &input) {
  if (input.empty() || input[0] == ' ' ||
      (history_length > 0 && input == history_get(history_base + history_length - 1)->line))
    return;
  add_history(input.c_str());
  appendToHistory(input);
}

#else

LineEditor::LineEditor(Session &, bool, std::function<bool(const std::string &)>) {}
void LineEditor::whenShown(std::function<void()>) {}
LineEditor::~LineEditor() = default;
std::optional<std::string> LineEditor::read(const std::string &prompt, bool &interrupted) {
  interrupted = false;
  std::cout << prompt << std::flush;
  std::string line;
  if (!std::getline(std::cin, line))
    return std::nullopt;
  return line;
}
void LineEditor::remember(const std::string &) {}

#endif

} // namespace toy
