// SPDX-License-Identifier: Apache-2.0
/// \file
/// The editor on readline: its buffer, history search and paste. Drawing.cpp shows the text, Keys.cpp has the keys.
#include "repl/LineEditor.h"

#include "repl/History.h"
#include "support/Terminal.h"

#include <iostream>
#include <iterator>

#ifdef TOY_HAVE_READLINE
#include "repl/Editor.h"

#include <algorithm>
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

volatile sig_atomic_t lineDropped, resized, stopping, continued;
constexpr int handled[] = {SIGINT, SIGWINCH, SIGTSTP, SIGCONT};

/// The system may choose any thread for a signal; the one that reads must wake up.
void onSignal(int number) {
  (number == SIGINT ? lineDropped : number == SIGWINCH ? resized : number == SIGTSTP ? stopping : continued) = 1;
  if (!pthread_equal(pthread_self(), editor.reader))
    pthread_kill(editor.reader, number);
}

/// Ctrl-Z: the terminal is as the shell left it until the program goes on.
void stopHere() {
  stopping = 0;
  leaveText();
  (*rl_deprep_term_function)();
  struct sigaction usual = {}, ours;
  usual.sa_handler = SIG_DFL;
  sigaction(SIGTSTP, &usual, &ours);
  sigset_t one, before;
  sigemptyset(&one);
  sigaddset(&one, SIGTSTP);
  raise(SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &one, &before); // it stops here
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  sigaction(SIGTSTP, &ours, nullptr);
  continued = 1;
}

void goOn() {
  continued = 0;
  (*rl_deprep_term_function)();
  (*rl_prep_term_function)(1);
  editor.cursorRow = 0;
  editor.top = 0;
  editor.blocks ? redraw() : void(rl_forced_update_display());
}

/// The terminal has wrapped the rows anew.
void drawResized() {
  resized = 0;
  size_t row = 0, column = 0;
  advance(std::string(rl_display_prompt ? rl_display_prompt : "") + std::string(rl_line_buffer, rl_point),
          screenSize().columns, row, column);
  editor.cursorRow = std::min(row - std::min(row, editor.top), screenSize().rows - 1);
  (*rl_redisplay_function)();
}

} // namespace

/// Signals are delivered only while waiting, so none is lost.
int readKey(FILE *stream) {
  if (editor.shown)
    rt::guarded(std::exchange(editor.shown, nullptr));
  sigset_t open;
  pthread_sigmask(SIG_SETMASK, nullptr, &open);
  for (int number : handled)
    sigdelset(&open, number);
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
    if (stopping || continued || resized) {
      stopping ? stopHere() : continued ? goOn() : drawResized();
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
  editor.blocks = blocks;
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
  for (volatile sig_atomic_t *flag : {&lineDropped, &resized, &stopping, &continued})
    *flag = 0;
  editor.reader = pthread_self();
  editor.cursorRow = editor.top = 0;
  editor.choices.clear();
  editor.previewed.clear();
  editor.preview.clear();
  struct sigaction action = {}, old[std::size(handled)];
  action.sa_handler = onSignal;
  sigset_t held, before;
  sigemptyset(&held);
  for (size_t i = 0; i < std::size(handled); ++i) {
    sigaddset(&held, handled[i]);
    sigaction(handled[i], nullptr, &old[i]);
    if (handled[i] != SIGTSTP || old[i].sa_handler != SIG_IGN)
      sigaction(handled[i], &action, nullptr);
  }
  pthread_sigmask(SIG_BLOCK, &held, &before);
  char *line = readline(prompt.c_str());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  for (size_t i = 0; i < std::size(handled); ++i)
    sigaction(handled[i], &old[i], nullptr);
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
