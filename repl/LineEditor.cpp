// SPDX-License-Identifier: Apache-2.0
/// \file
/// readline with history in the XDG state directory and completion of names.
#include "repl/LineEditor.h"

#include "repl/Repl.h"
#include "repl/Session.h"

#include <filesystem>
#include <iostream>

#ifdef TOY_HAVE_READLINE
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <readline/history.h>
#include <readline/readline.h>
#endif

namespace toy {

#ifdef TOY_HAVE_READLINE

static Session *completionSession;
static sigjmp_buf interruptPoint;
static volatile sig_atomic_t reading;

static void onInterrupt(int) {
  if (reading)
    siglongjmp(interruptPoint, 1);
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
  using_history();
  stifle_history(10000);
  read_history(historyPath.c_str());
}

LineEditor::~LineEditor() { write_history(historyPath.c_str()); }

std::optional<std::string> LineEditor::read(const std::string &prompt, bool &interrupted) {
  interrupted = false;
  struct sigaction action = {}, old;
  action.sa_handler = onInterrupt;
  sigaction(SIGINT, &action, &old);
  if (sigsetjmp(interruptPoint, 1)) {
    reading = 0;
    rl_free_line_state();
    rl_cleanup_after_signal();
    std::fputs("\n", stdout);
    sigaction(SIGINT, &old, nullptr);
    interrupted = true;
    return "";
  }
  reading = 1;
  char *line = readline(prompt.c_str());
  reading = 0;
  sigaction(SIGINT, &old, nullptr);
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
