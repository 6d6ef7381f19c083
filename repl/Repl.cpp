// SPDX-License-Identifier: Apache-2.0
/// \file
/// The loop: an input is a command, or text that is run as soon as the parser does not ask for more.
#include "repl/Repl.h"

#include "repl/Commands.h"
#include "repl/LineEditor.h"
#include "runtime/Apart.h"
#include "runtime/Format.h"
#include "runtime/Io.h"
#include "runtime/Output.h"
#include "runtime/Parallel.h"
#include "session/Session.h"
#include "support/PrivateFolder.h"
#include "support/Terminal.h"

#include <fmt/format.h>

#include <csignal>
#include <sstream>
#include <termios.h>
#include <thread>
#include <unistd.h>

namespace toy {

/// Brackets that a line opens and does not close; strings and comments aside.
static int openBrackets(const std::string &line) {
  int open = 0;
  bool inString = false;
  for (size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (inString) {
      i += c == '\\';
      inString = c != '"';
    } else if (c == '"')
      inString = true;
    else if (c == '#')
      break;
    else
      open += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
  }
  return open;
}

std::vector<std::string> inputsOf(Session &session, const std::string &text, bool &unfinished) {
  std::vector<std::string> inputs;
  std::istringstream lines(text);
  std::string input;
  int open = 0;
  unfinished = false;
  for (std::string line; std::getline(lines, line);) {
    if (input.empty() && (line.starts_with(":") || line.starts_with("?"))) {
      inputs.push_back(line);
      continue;
    }
    open = (input.empty() ? 0 : open) + openBrackets(line);
    input += (input.empty() ? "" : "\n") + line;
    if (unfinished = open > 0 || session.isUnfinished(input); unfinished)
      continue;
    inputs.push_back(std::exchange(input, {}));
  }
  if (!input.empty())
    inputs.push_back(input);
  return inputs;
}

std::string withoutPrompts(const std::string &text) {
  size_t margin = std::min(text.find_first_not_of(' '), text.size()); // as examples of help have
  std::string_view first = std::string_view(text).substr(margin);
  if (!first.starts_with("toy> ") && !first.starts_with("dbg> "))
    return text;
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, std::min(line.find_first_not_of(' '), margin));
    if (line.starts_with("toy> ") || line.starts_with("dbg> ") || line.starts_with("...> "))
      out += (out.empty() ? "" : "\n") + line.substr(5);
  }
  return out;
}

/// Whether a line is a command of the prompt, and no part of a program.
static bool isCommandLine(const std::string &line) {
  std::string name = line.starts_with(":") ? line.substr(1, line.find(' ') - 1) : "";
  return llvm::any_of(commandTable(), [&](const CommandInfo &c) { return c.name == name; });
}

/// A file of a program with commands between its lines, which come behind it: a program has the same lines without
/// them.
static void runWithCommands(Prompt &prompt, const std::string &path) {
  std::istringstream lines(rt::readSource(path));
  std::string program;
  std::vector<std::string> commands;
  for (std::string line; std::getline(lines, line); program += "\n")
    isCommandLine(line) ? commands.push_back(line) : void(program += line);
  prompt.session.run(path, program, {});
  for (const std::string &command : commands)
    prompt.run(command);
}

/// Runs ~/.config/toy/init.toy, unless others could have written it.
static void runInitFile(Prompt &prompt) {
  std::string folder = pathIn(configFolder), path = folder + "/init.toy";
  struct stat file, around;
  if (folder.empty() || ::stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode))
    return;
  if (::stat(folder.c_str(), &around) == 0 && isTrusted(file) && isTrusted(around))
    prompt.session.protect(path, [&] { runWithCommands(prompt, path); });
  else {
    prompt.session.getDiagnostics()
        .report(DiagId::CannotOpen, {}, {path, "another user could have written it"})
        .withHelp("chmod go-w " + path + " " + folder);
    prompt.session.showDiagnostics();
  }
  prompt.lastFile.clear();
}

/// What is echoed fits the terminal as it is now, and leaves room for the input and its type.
static void fitToScreen(const Prompt &prompt) {
  rt::PrintOptions &o = rt::printOptions();
  bool fits = prompt.fitsScreen && isatty(STDOUT_FILENO);
  o.screenWidth = fits ? static_cast<int64_t>(screenSize().columns) : 0;
  o.screenHeight = fits ? std::max<int64_t>(static_cast<int64_t>(screenSize().rows) - 3, 4) : 0;
}

namespace {

/// Ctrl-C and Ctrl-Z leave no `^C` on the screen in front of what follows, while an input runs.
class SilentSignals {
public:
  SilentSignals() {
    isChanged = isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp() && tcgetattr(STDIN_FILENO, &before) == 0 &&
                (before.c_lflag & ECHOCTL);
    termios now = before;
    now.c_lflag &= ~ECHOCTL;
    if (isChanged)
      tcsetattr(STDIN_FILENO, TCSANOW, &now);
  }
  ~SilentSignals() {
    if (isChanged)
      tcsetattr(STDIN_FILENO, TCSANOW, &before);
  }

private:
  termios before{};
  bool isChanged;
};

/// Reads inputs and runs them.
class Reader {
public:
  Reader(Prompt &prompt, LineEditor &editor) : prompt(prompt), editor(editor) {}

  /// Until the program ends, or goes on from where it has stopped; false at the end of input.
  bool read(const std::string &sign) {
    std::string pending; // a text that was begun, where the terminal gives lines
    bool interrupted;
    while (auto text = editor.read(pending.empty() ? sign : "...> ", interrupted)) {
      if (interrupted) {
        pending.clear();
        continue;
      }
      pending += (pending.empty() ? "" : "\n") + *text;
      bool unfinished;
      std::vector<std::string> inputs = inputsOf(prompt.session, withoutPrompts(pending), unfinished);
      if (unfinished && !editor.readsBlocks())
        continue;
      editor.remember(pending);
      pending.clear();
      if (run(inputs))
        return true;
    }
    return false;
  }

  /// While a program has stopped.
  Session::After readAtStop(const Session::Stop &stop) {
    const Session::Stop *outer = std::exchange(prompt.stop, &stop);
    prompt.after.reset();
    hasToldOfLocals = false;
    if (!stop.calls.empty())
      rt::output("stopped at " + prompt.session.describe(stop.calls[0]) + "\n");
    rt::flushOutput();
    if (!read("dbg> "))
      rt::output("\n");
    prompt.stop = outer;
    return std::exchange(prompt.after, std::nullopt).value_or(Session::After::Quit);
  }

private:
  /// True when nothing more is to be read.
  bool run(const std::vector<std::string> &inputs) {
    rt::interruptFlag() = false; // what came too late for the last input
    fitToScreen(prompt);
    SilentSignals silent;
    for (const std::string &input : inputs) {
      prompt.session.protect("the prompt", [&] {
        if (!prompt.run(input)) {
          prompt.runText(fmt::format("<input {}>", ++number), input);
          prompt.session.keepResult(number);
          tellOfLocals();
        }
        rt::endRow();
      });
      if (prompt.leave || prompt.after || prompt.session.exitStatus)
        return true;
    }
    return false;
  }

  /// Once at each stop.
  void tellOfLocals() {
    std::string changed = prompt.stop && !hasToldOfLocals ? prompt.session.changedLocal() : "";
    hasToldOfLocals |= !changed.empty();
    if (!changed.empty())
      rt::output("the program goes on with its own `" + changed + "`, whatever is typed here\n");
  }

  Prompt &prompt;
  LineEditor &editor;
  bool hasToldOfLocals = false;
  int number = 0;
};

} // namespace

int runPrompt(Session &session, bool color, bool init) {
  Prompt prompt{session};
  if (init)
    runInitFile(prompt);
  LineEditor editor(session, color, [&](const std::string &text) {
    bool unfinished;
    inputsOf(session, withoutPrompts(text), unfinished);
    return unfinished;
  });
  std::jthread preparation; // while the first line is typed
  editor.whenShown([&] {
    preparation = std::jthread([&, counted = std::make_unique<rt::OtherThread>()] {
      sigset_t signals;
      sigfillset(&signals);
      for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
        sigdelset(&signals, fault);
      pthread_sigmask(SIG_BLOCK, &signals, nullptr);
      static std::atomic<bool> never = false; // Ctrl-C is for what the user runs
      rt::setInterruptFlag(&never);
      try {
        static_cast<void>(rt::threads()); // oneTBB asks the system once, and would wait for ever for an answer that an
                                          // error prevented
        session.prepare();
      } catch (...) { // the first statement tries again, and tells
      }
    });
  });
  Reader reader(prompt, editor);
  session.whenStopped = [&](const Session::Stop &stop) { return reader.readAtStop(stop); };
  bool ended = reader.read("toy> ");
  session.whenStopped = nullptr;
  if (!ended)
    rt::output("\n");
  rt::flushOutput();
  return session.exitStatus.value_or(0);
}

} // namespace toy
