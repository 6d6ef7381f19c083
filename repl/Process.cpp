// SPDX-License-Identifier: Apache-2.0
#include "repl/Process.h"

#include "support/PrivateFolder.h"

#include <cerrno>
#include <csignal>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

extern char **environ;

namespace toy {

std::vector<std::string> commandWords(const std::string &command) {
  std::vector<std::string> words;
  bool inWord = false;
  char quote = 0;
  for (size_t i = 0; i < command.size(); ++i) {
    char c = command[i];
    if (!quote && (c == ' ' || c == '\t' || c == '\n')) {
      inWord = false;
      continue;
    }
    if (!inWord)
      words.emplace_back();
    inWord = true;
    if (quote ? c == quote : c == '\'' || c == '"')
      quote = quote ? 0 : c;
    else if (c == '\\' && quote != '\'' && i + 1 < command.size() &&
             (!quote || command[i + 1] == '"' || command[i + 1] == '\\'))
      words.back() += command[++i];
    else
      words.back() += c;
  }
  return words;
}

namespace {

/// Signals of the keyboard are for the program that runs, as in `system`.
class KeyboardIsElsewhere {
public:
  KeyboardIsElsewhere() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
  }
  ~KeyboardIsElsewhere() {
    sigaction(SIGINT, &interrupt, nullptr);
    sigaction(SIGQUIT, &quit, nullptr);
  }

private:
  struct sigaction interrupt, quit;
};

/// What the child has of its own: usual signals, and the descriptors.
struct SpawnSettings {
  SpawnSettings(int input, int output) {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&files);
    sigset_t usual, none;
    sigemptyset(&none);
    sigemptyset(&usual);
    for (int number : {SIGINT, SIGQUIT, SIGPIPE})
      sigaddset(&usual, number);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    if (input >= 0)
      posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    if (output >= 0)
      posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  }
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
  }
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t files;
};

} // namespace

int runProgram(const std::vector<std::string> &words, int input, int output) {
  if (words.empty())
    return 127;
  std::vector<char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  KeyboardIsElsewhere keyboard;
  SpawnSettings settings(input, output);
  pid_t child;
  if (posix_spawnp(&child, arguments[0], &settings.files, &settings.attributes, arguments.data(), environ) != 0)
    return 127;
  int status;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool filterText(const std::vector<std::string> &words, const std::string &text, std::string &output) {
  Descriptor input(::memfd_create("toy-input", MFD_CLOEXEC)), result(::memfd_create("toy-output", MFD_CLOEXEC));
  if (!input || !result || !writeAll(input.get(), text) || ::lseek(input.get(), 0, SEEK_SET) != 0)
    return false;
  if (runProgram(words, input.get(), result.get()) != 0)
    return false;
  off_t size = ::lseek(result.get(), 0, SEEK_END);
  if (size < 0 || ::lseek(result.get(), 0, SEEK_SET) != 0)
    return false;
  output.resize(size);
  return readAll(result.get(), output.data(), output.size());
}

} // namespace toy
