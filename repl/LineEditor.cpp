// SPDX-License-Identifier: Apache-2.0
/// \file
/// The editor on readline: its buffer, history search and paste. Drawing.cpp shows the text, Keys.cpp has the keys.
#include "repl/LineEditor.h"

#include "repl/History.h"
#include "support/Terminal.h"

#include <iostream>

#ifdef TOY_HAVE_READLINE
#include "repl/Editor.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <readline/history.h>
#include <readline/readline.h>
#include <sys/select.h>
#include <unistd.h>
#endif

namespace toy {

EditorOptions &editorOptions() {
  static EditorOptions options;
  return options;
}

#ifdef TOY_HAVE_READLINE
namespace {

volatile sig_atomic_t lineDropped, resized;

/// The system may choose any thread for a signal; the one that reads must wake up.
void onSignal(int number) {
  (number == SIGINT ? lineDropped : resized) = 1;
  if (!pthread_equal(pthread_self(), editor.reader))
    pthread_kill(editor.reader, number);
}

} // namespace

/// Signals are delivered only while waiting, so none is lost.
int readKey(FILE *stream) {
  if (editor.shown)
    rt::guarded(std::exchange(editor.shown, nullptr));
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
              screenSize().columns, row, column);
      editor.cursorRow = row;
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

LineEditor::LineEditor(Session &session, bool color, std::function<bool(const std::string &)> isUnfinished) {
  blocks = terminalMovesCursor();
  editor.session = &session;
  editor.isUnfinished = std::move(isUnfinished);
  editor.color = color && blocks;
  rl_readline_name = "toy";
  rl_catch_signals = 0;
  rl_catch_sigwinch = 0;
  rl_getc_function = readKey;
  using_history();
  stifle_history(historyLimit);
  for (const std::string &entry : readHistory())
    add_history(entry.c_str());
  rl_initialize();
  bindKeys(blocks);
  if (!blocks)
    return;
  rl_redisplay_function = redraw;
  rl_variable_bind("enable-active-region",
                   "off"); // the mark around a paste has readline draw the text again below what was left
}

void LineEditor::whenShown(std::function<void()> action) { editor.shown = std::move(action); }
LineEditor::~LineEditor() = default;

std::optional<std::string> LineEditor::read(const std::string &prompt, bool &interrupted) {
  struct sigaction action = {}, oldInterrupt, oldResize;
  action.sa_handler = onSignal;
  sigaction(SIGINT, &action, &oldInterrupt);
  sigaction(SIGWINCH, &action, &oldResize);
  lineDropped = 0;
  resized = 0;
  editor.reader = pthread_self();
  editor.cursorRow = 0;
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
