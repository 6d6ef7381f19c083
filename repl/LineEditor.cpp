// SPDX-License-Identifier: Apache-2.0
/// \file
/// readline with history in the XDG state directory and completion of names.
#include "repl/LineEditor.h"

#include "repl/Repl.h"
#include "repl/Session.h"

#include <filesystem>
#include <iostream>

#ifdef TOY_HAVE_READLINE
#include <csignal>
#include <cerrno>
#include <cstdio>
#include <sys/select.h>
#include <unistd.h>
#include <readline/history.h>
#include <readline/readline.h>
#endif

namespace toy {

#ifdef TOY_HAVE_READLINE

static Session *completionSession;
static volatile sig_atomic_t lineDropped;

static pthread_t reader;

/// The system may choose any thread for Ctrl-C; the one that reads must wake up.
static void onInterrupt(int) {
  lineDropped = 1;
  if (!pthread_equal(pthread_self(), reader))
    pthread_kill(reader, SIGINT);
}

/// The next byte; Ctrl-C empties the line and ends it. The signal is delivered only while waiting, so none is lost.
static int readKey(FILE *stream) {
  sigset_t open;
  pthread_sigmask(SIG_SETMASK, nullptr, &open);
  sigdelset(&open, SIGINT);
  while (true) {
    fd_set ready;
    FD_ZERO(&ready);
    FD_SET(fileno(stream), &ready);
    int n = lineDropped ? -1 : pselect(fileno(stream) + 1, &ready, nullptr, nullptr, nullptr, &open);
    if (lineDropped) {
      rl_replace_line("", 0);
      return '\n';
    }
    unsigned char c;
    if (n > 0)
      return ::read(fileno(stream), &c, 1) == 1 ? c : EOF;
    if (n < 0 && errno != EINTR)
      return EOF;
  }
}

static char *nextName(const char *text, int state) {
  static std::vector<std::string> matches;
  static size_t at;
  if (state == 0) {
    at = 0;
    matches.clear();
    for (const std::string &name : completions(*completionSession))
      if (name.starts_with(text))
        matches.push_back(name);
  }
  return at < matches.size() ? strdup(matches[at++].c_str()) : nullptr;
}

static char **complete(const char *text, int, int) {
  rl_completion_append_character = '\0';
  return rl_completion_matches(text, nextName);
}

static std::string statePath() {
  const char *state = std::getenv("XDG_STATE_HOME"), *home = std::getenv("HOME");
  std::filesystem::path folder = state && *state ? std::filesystem::path(state) : std::filesystem::path(home ? home : ".") / ".local/state";
  std::error_code ignored;
  std::filesystem::create_directories(folder / "toy", ignored);
  return (folder / "toy" / "history").string();
}

LineEditor::LineEditor(Session &session) : historyPath(statePath()) {
  completionSession = &session;
  rl_readline_name = "toy";
  rl_attempted_completion_function = complete;
  rl_catch_signals = 0;
  rl_getc_function = readKey;
  using_history();
  stifle_history(10000);
  read_history(historyPath.c_str());
}

LineEditor::~LineEditor() { write_history(historyPath.c_str()); }

std::optional<std::string> LineEditor::read(const std::string &prompt, bool &interrupted) {
  struct sigaction action = {}, old;
  action.sa_handler = onInterrupt;
  sigaction(SIGINT, &action, &old);
  lineDropped = 0;
  reader = pthread_self();
  sigset_t interrupts, before;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupts, &before);
  char *line = readline(prompt.c_str());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  sigaction(SIGINT, &old, nullptr);
  interrupted = lineDropped;
  if (!line)
    return std::nullopt;
  std::string text(line);
  free(line);
  return text;
}

void LineEditor::remember(const std::string &input) {
  if (!input.empty())
    add_history(input.c_str());
}

#else

LineEditor::LineEditor(Session &) {}
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
