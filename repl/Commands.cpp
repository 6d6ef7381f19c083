// SPDX-License-Identifier: Apache-2.0
/// \file
/// The commands of the prompt.
#include "repl/Commands.h"

#include "repl/CommandWords.h"
#include "repl/Process.h"
#include "runtime/Device.h"
#include "runtime/Error.h"
#include "runtime/Format.h"
#include "runtime/Io.h"
#include "runtime/Memory.h"
#include "runtime/Output.h"
#include "runtime/Parallel.h"
#include "session/Session.h"
#include "support/Terminal.h"
#include "support/Theme.h"

#include "llvm/TargetParser/Host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace toy {
namespace {

/// A folder for this user's eyes that goes with all that is in it.
class ScratchFolder {
public:
  std::string make() {
    path = (std::filesystem::temp_directory_path() / "toy-XXXXXX").string();
    if (!::mkdtemp(path.data()))
      rt::fail(DiagId::CannotWrite, {std::exchange(path, ""), std::strerror(errno)});
    return path;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path.empty())
      std::filesystem::remove_all(path, ignored);
  }

private:
  std::string path;
};

/// Commands with a letter of their own where a program has stopped.
bool isForStops(std::string_view name) {
  for (const char *known : {"continue", "next", "step", "where", "up", "down", "locals", "quit"})
    if (name == known)
      return true;
  return false;
}

using Handler = void (Prompt::*)(const std::string &);
constexpr std::pair<const char *, Handler> handlers[] = {
#define TOY_COMMAND(NAME, ARGUMENT, HANDLER, HELP) {#NAME, &Prompt::HANDLER},
#include "repl/Commands.def"
};

} // namespace

std::string duration(double seconds) {
  return seconds < 1e-6   ? fmt::format("{:.0f} ns", seconds * 1e9)
         : seconds < 1e-3 ? fmt::format("{:.3g} us", seconds * 1e6)
         : seconds < 1    ? fmt::format("{:.3g} ms", seconds * 1e3)
                          : fmt::format("{:.3g} s", seconds);
}

const std::vector<CommandInfo> &commandTable() {
  static const std::vector<CommandInfo> table = {
#define TOY_COMMAND(NAME, ARGUMENT, HANDLER, HELP) {#NAME, ARGUMENT, HELP},
#include "repl/Commands.def"
  };
  return table;
}

/// What another program wrote may end within a row, which only the terminal knows: as many spaces as a row has reach
/// the next one from anywhere but its beginning.
static void endForeignRow() {
  if (!isatty(STDOUT_FILENO) || !terminalMovesCursor())
    return;
  std::string row = std::string(screenSize().columns, ' ') + "\r";
  static_cast<void>(::write(STDOUT_FILENO, row.data(), row.size()));
}

bool Prompt::run(const std::string &line) {
  bool isCommand = line.starts_with("?") || line.starts_with(":");
  std::string command = isCommand ? line : commandOf(line, session), elsewhere = commandElsewhere(line);
  if (command.empty() && elsewhere.empty())
    return false;
  session.protect(line, [&] { command.empty() ? tellCommand(line, elsewhere) : runCommand(command); });
  return true;
}

void Prompt::runCommand(const std::string &line) {
  if (line.starts_with("?")) {
    std::string topic = trimmed(line.substr(1));
    return topic.empty() ? rt::output(functionsByGroup()) : help(topic);
  }
  if (line.starts_with(":!")) {
    rt::flushOutput();
    int status = std::system(line.c_str() + 2);
    endForeignRow();
    if (status != 0)
      rt::output(fmt::format("[status {}]\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)));
    return;
  }
  auto [name, argument] = firstWord(line.substr(1));
  for (auto &[known, handler] : handlers)
    if (stop && name.size() == 1 && name[0] == known[0] && isForStops(known))
      name = known;
  std::vector<std::string> names;
  for (auto &[known, handler] : handlers) {
    names.push_back(known);
    if (name == known) {
      try {
        (this->*handler)(argument);
      } catch (rt::Error &e) {
        refuse(session, e.id, e.args);
      }
      return;
    }
  }
  Diagnostic &d = session.getDiagnostics().report(DiagId::UnknownCommand, {}, {":" + name});
  auto begun = std::find_if(names.begin(), names.end(), [&](auto &known) { return known.starts_with(name); });
  if (auto near = suggest(name, names); near || begun != names.end())
    d.withHelp("did you mean `:" + (begun != names.end() ? *begun : *near) + "`?");
  else
    d.withHelp("`:help` lists the commands");
  session.showDiagnostics();
}

void Prompt::runText(const std::string &name, const std::string &text) {
  PhaseTimes before = session.phaseTimes();
  session.run(name, text, {true});
  if (!showTime)
    return;
  rt::flushOutput();
  double total = 0;
  std::string parts;
  for (const auto &[phase, ms] : session.phaseTimes().list())
    if (double spent = ms - before.of(phase); spent > 0.0005) {
      parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", phase, duration(spent / 1e3));
      total += spent;
    }
  std::fprintf(stderr, "%s (%s)\n", duration(total / 1e3).c_str(), parts.c_str());
}

void Prompt::type(const std::string &text) {
  if (const ValueType *type = session.typeOf(text))
    rt::output(type->str() + "\n");
  session.showDiagnostics();
}

void Prompt::vars(const std::string &) {
  for (auto &[name, type] : session.variables())
    rt::output(fmt::format("{}: {}\n", name, type));
}

void Prompt::time(const std::string &text) {
  bool before = std::exchange(showTime, true);
  runText(fmt::format("<time {}>", ++counter), text);
  showTime = before;
}

void Prompt::bench(const std::string &text) {
  Session::Benchmark b;
  bool ok = session.benchmark(text, 0.5, b);
  session.showDiagnostics();
  if (!ok)
    return;
  std::vector<double> sorted = b.seconds;
  std::sort(sorted.begin(), sorted.end());
  double median = sorted[sorted.size() / 2];
  std::vector<double> deviation;
  for (double s : sorted)
    deviation.push_back(std::fabs(s - median));
  std::nth_element(deviation.begin(), deviation.begin() + deviation.size() / 2, deviation.end());
  rt::output(fmt::format("compile {}\nrun     {} median, {} smallest, {} spread (median absolute deviation), {} runs\n",
                         duration(b.compileMs / 1e3), duration(median), duration(sorted[0]),
                         duration(deviation[deviation.size() / 2]), sorted.size()));
  if (b.flops > 0)
    rt::output(fmt::format("        {:.3g} GFLOP/s ({})\n", b.flops / median / 1e9, magnitude(b.flops, "FLOP")));
  if (b.bytes > 0)
    rt::output(fmt::format("        {:.3g} GB/s ({})\n", b.bytes / median / 1e9, magnitude(b.bytes, "B")));
  rt::output(fmt::format("memory  {} at most so far\n", magnitude(static_cast<double>(b.peakBytes), "B")));
}

void Prompt::recompiles(const std::string &) {
  for (const CompileRecord &c : session.compiles)
    rt::output(fmt::format("{}: {}, {}\n", c.function, c.reason, duration(c.milliseconds / 1e3)));
}

void Prompt::device(const std::string &) {
  rt::output(fmt::format("cpu: {}, {} thread{}\n", llvm::sys::getHostCPUName().str(), rt::threads(),
                         rt::threads() == 1 ? "" : "s"));
  if (rt::deviceOptions().choice == rt::DeviceChoice::Cpu)
    return;
  rt::output(rt::deviceDescription() + "\n");
  if (std::string unused; rt::deviceIsReady(unused))
    for (const std::string &line : rt::deviceLibraries())
      rt::output(line + "\n");
}

void Prompt::graphs(const std::string &) {
  std::vector<std::string> graphs = rt::deviceGraphs();
  for (const std::string &graph : graphs)
    rt::output(graph + "\n");
  if (graphs.empty())
    rt::output("no graphs\n");
}

void Prompt::load(const std::string &path) {
  if (path.empty()) {
    refuse(session, DiagId::CommandArgument, {":load", "a file"});
    return;
  }
  std::string text = rt::readSource(path);
  lastFile = path;
  session.run(path, std::move(text), {});
}

void Prompt::reload(const std::string &) {
  if (lastFile.empty())
    refuse(session, DiagId::CommandArgument, {":reload", "a file that was loaded before"});
  else
    session.runAgain(lastFile, rt::readSource(lastFile), {});
}

void Prompt::edit(const std::string &name) {
  std::string definition = session.definitionOf(name), path = name;
  bool scratch = name.empty() || !definition.empty() || !name.ends_with(".toy");
  ScratchFolder folder;
  if (scratch) {
    path = folder.make() + "/input.toy";
    rt::writeFile(path, {definition.empty() && !name.empty() ? "def " + name + "(x) {\n  return x;\n}\n" : definition});
  }
  const char *visual = std::getenv("VISUAL"), *editor = std::getenv("EDITOR");
  std::string command = visual && *visual ? visual : editor && *editor ? editor : "vi";
  std::vector<std::string> words = commandWords(command);
  words.push_back(path.starts_with("-") ? "./" + path : path); // never an option
  rt::flushOutput();
  if (runProgram(words) != 0)
    refuse(session, DiagId::CommandArgument, {":edit", "an editor that ends well; $EDITOR is `" + command + "`"});
  else {
    std::string before = lastFile;
    load(path);
    if (scratch)
      lastFile = before;
  }
}

void Prompt::save(const std::string &path) {
  if (path.empty())
    refuse(session, DiagId::CommandArgument, {":save", "a file"});
  else
    session.saveScript(path);
}

void Prompt::undo(const std::string &) {
  std::optional<std::string> text = session.undo();
  if (!text)
    return rt::output("nothing to undo\n");
  std::string first = text->substr(0, text->find('\n'));
  rt::output(fmt::format("took back `{}`{}\n", first, first.size() < text->size() ? " …" : ""));
}

void Prompt::reset(const std::string &) { session.reset(); }

void Prompt::set(const std::string &arguments) {
  auto [name, value] = firstWord(arguments);
  if (name.empty()) {
    for (const SettingInfo &s : settingTable())
      rt::output(fmt::format("{:<18} {:<6} {}\n", s.name, settingValue(s.name), s.values));
    return;
  }
  if (applySetting(name, value))
    return;
  std::vector<std::string> names;
  for (const SettingInfo &s : settingTable())
    names.push_back(s.name);
  bool known = std::find(names.begin(), names.end(), name) != names.end();
  Diagnostic &d =
      session.getDiagnostics().report(known ? DiagId::OptionValue : DiagId::UnknownOption, {},
                                      known ? std::vector<std::string>{name, value} : std::vector<std::string>{name});
  if (auto near = suggest(name, names); near && !known)
    d.withHelp("did you mean `:set " + *near + "`?");
  session.showDiagnostics();
}

} // namespace toy
