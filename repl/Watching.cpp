// SPDX-License-Identifier: Apache-2.0
/// \file
/// Commands that watch a program run: its calls, its time, and where it has stopped.
#include "repl/CommandWords.h"
#include "repl/Commands.h"
#include "runtime/Format.h"
#include "runtime/Output.h"
#include "support/Theme.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace toy {

/// A function alone does nothing that could be watched.
static bool isCall(Session &session, const char *command, const std::string &text) {
  if (!text.empty() && !session.functionOf(text))
    return true;
  return refuse(session, DiagId::CommandArgument,
                {command, text.empty() ? "an input" : "a call: `" + std::string(command) + " " + text + "(…)`"});
}

/// Shows names that a command has set, or changes them; true if the argument was about that.
static bool changesNames(Session &session, std::set<std::string> &names, const char *what, const std::string &text) {
  auto [first, rest] = firstWord(text);
  if (text.empty()) {
    for (const std::string &name : names)
      rt::output(name + "\n");
    if (names.empty())
      rt::output(fmt::format("no function is {}\n", what));
  } else if (first == "off" && !session.functionOf("off"))
    rest.empty() ? names.clear() : static_cast<void>(names.erase(rest));
  else if (rest.empty() && session.functionOf(first)) {
    names.insert(first);
    rt::output(fmt::format("calls of `{}` are {} in all inputs\n", first, what));
  } else
    return false;
  return true;
}

void Prompt::trace(const std::string &text) {
  if (changesNames(session, session.traced, "traced", text))
    return;
  const bool before = std::exchange(session.tracesAll, true);
  {
    Session::Evaluating tracing(session, &CompileOptions::traceCalls);
    runText(fmt::format("<trace {}>", ++counter), text);
  }
  session.tracesAll = before;
}

// --- :profile

namespace {

constexpr double least = 0.005; ///< part of the time that a function must have to be shown

class ProfileText {
public:
  explicit ProfileText(const Session::Profile &profile) : profile(profile) {}

  std::string table() const {
    std::string out = fmt::format("{:>9} {:>4}  {:>10}  {}\n", "own time", "%", "with calls", "function");
    for (const auto &f : profile.functions)
      if (share(f.time.all) >= least)
        out += fmt::format("{:>9} {:>4}  {:>10}  {} ({}:{})\n", time(f.time.own), percent(f.time.own), time(f.time.all),
                           f.name, f.file, f.firstLine);
    return out;
  }

  /// Its lines, each with the time of what it does and calls; what takes none is left out where it is long.
  std::string source(const Session::Profile::Function &f) const {
    std::string out = fmt::format("\n{:>9} {:>4}  {} ({}:{})\n", "time", "%", f.name, f.file, f.firstLine);
    constexpr uint32_t around = 2, fewLines = 40;
    bool left = false;
    for (uint32_t i = 0; i < f.text.size(); ++i) {
      const uint32_t line = f.firstLine + i;
      auto near = f.lines.lower_bound(line > around ? line - around : 0);
      const bool isNear =
          i == 0 || f.text.size() <= fewLines || (near != f.lines.end() && near->first <= line + around);
      if (!isNear) {
        out += std::exchange(left, true) ? "" : fmt::format("{:>17}…\n", "");
        continue;
      }
      left = false;
      auto it = f.lines.find(line);
      std::string numbers = it == f.lines.end()
                                ? std::string(14, ' ')
                                : fmt::format("{:>9} {:>4}", time(it->second.all), percent(it->second.all));
      std::string text = fmt::format("{}  {:>4}  {}", numbers, line, f.text[i]);
      const bool isMuch = it != f.lines.end() && share(it->second.all) >= 0.1;
      out += (isMuch && rt::printOptions().color ? painted(Style::Strong, text) : text) + "\n";
    }
    return out;
  }

  double share(int64_t samples) const { return static_cast<double>(samples) / static_cast<double>(profile.samples); }

private:
  static std::string time(int64_t samples) {
    return samples ? duration(static_cast<double>(samples) * Profiler::interval) : "-";
  }
  std::string percent(int64_t samples) const { return samples ? fmt::format("{:.0f}%", 100 * share(samples)) : ""; }
  const Session::Profile &profile;
};

} // namespace

void Prompt::profile(const std::string &text) {
  if (!isCall(session, ":profile", text))
    return;
  auto compiling = [&] {
    double ms = 0;
    for (const auto &[phase, spent] : session.phaseTimes().list())
      ms += phase == "run" ? 0 : spent;
    return ms;
  };
  const double before = compiling();
  Session::Profile profile;
  {
    Session::Profiling profiling(session);
    runText(fmt::format("<profile {}>", ++counter), text);
    profile = profiling.result();
  }
  if (profile.samples == 0)
    return rt::output("no time was spent in compiled code that could be measured\n");
  ProfileText shown(profile);
  rt::output(fmt::format("{} in compiled code, {} samples; {} of compiling are not among them\n",
                         duration(static_cast<double>(profile.samples) * Profiler::interval), profile.samples,
                         duration((compiling() - before) / 1e3)));
  if (profile.lost)
    rt::output(fmt::format("{} samples more were not kept\n", profile.lost));
  if (profile.samples < 20)
    rt::output("few samples: numbers get better if the input runs longer\n");
  rt::output(shown.table());
  for (const auto &f : profile.functions)
    if (shown.share(f.time.all) >= least)
      rt::output(shown.source(f));
}

// --- stops

void Prompt::breaks(const std::string &arguments) {
  auto [name, line] = firstWord(arguments);
  std::vector<Session::Break> &all = session.breaks;
  if (name.empty()) {
    for (const Session::Break &b : all)
      rt::output(b.function + (b.line ? fmt::format(" {}", *b.line) : "") + "\n");
    return all.empty() ? rt::output("no breaks\n") : void();
  }
  if (name == "off" && !session.functionOf("off")) {
    std::erase_if(all, [&](const Session::Break &b) { return line.empty() || b.function == line; });
    return;
  }
  const ast::Function *f = session.functionOf(name);
  Session::Break wanted{name, std::nullopt};
  bool isNumber = !line.empty() && line.size() < 8 && line.find_first_not_of("0123456789") == line.npos;
  if (isNumber)
    wanted.line = std::stoul(line);
  if (!f || !(isNumber || line.empty())) {
    refuse(session, DiagId::CommandArgument, {":break", f ? "the number of a line" : "a function of the program"});
    return;
  }
  if (std::ranges::find(all, wanted) == all.end())
    all.push_back(wanted);
  if (std::string place = session.placeOfBreak(wanted); place.empty()) {
    all.pop_back();
    refuse(session, DiagId::CommandArgument, {":break", fmt::format("a line of `{}` where a statement begins", name)});
  } else
    rt::output("stops at " + place + "\n");
}

void Prompt::debug(const std::string &text) {
  const std::string input = text.empty() ? session.lastFailed : text;
  if (input.empty()) {
    refuse(session, DiagId::CommandArgument, {":debug", "an input, or one that failed before"});
    return;
  }
  if (text.empty())
    rt::output(input + "\n");
  session.debug(fmt::format("<debug {}>", ++counter), input, {.prompt = true});
}

void Prompt::results(const std::string &) {
  std::vector<Session::Result> all = session.keptResults();
  for (const Session::Result &result : all) {
    std::string input = result.input.substr(0, result.input.find('\n'));
    rt::output(fmt::format("{:<5} {}{}\n", result.name, input, input.size() < result.input.size() ? " …" : ""));
  }
  if (all.empty())
    rt::output("no results\n");
}

/// Outside of a stop there is nothing to go on with.
void Prompt::leaveStop(const char *command, Session::After how) {
  if (stop)
    after = how;
  else
    refuse(session, DiagId::CommandArgument, {command, "a program that has stopped at a `breakpoint()`"});
}

void Prompt::goOn(const std::string &) { leaveStop(":continue", Session::After::Continue); }
void Prompt::step(const std::string &) { leaveStop(":step", Session::After::Step); }
void Prompt::next(const std::string &) { leaveStop(":next", Session::After::Next); }

void Prompt::quit(const std::string &) {
  if (stop)
    after = Session::After::Quit;
  else
    leave = true;
}

void Prompt::where(const std::string &) {
  if (!stop)
    return leaveStop(":where", Session::After::Continue);
  for (const SourceRange &place : stop->calls)
    rt::output(session.describe(place) + "\n");
}

void Prompt::showFrame(const char *command, int by) {
  if (!stop)
    return leaveStop(command, Session::After::Continue);
  if (auto place = session.showFrame(by))
    rt::output("at " + session.describe(*place) + "\n");
  else
    rt::output(by < 0 ? "this is the input itself\n" : "this is where it stopped\n");
}

void Prompt::up(const std::string &) { showFrame(":up", -1); }
void Prompt::down(const std::string &) { showFrame(":down", 1); }

void Prompt::locals(const std::string &) {
  if (!stop)
    return leaveStop(":locals", Session::After::Continue);
  for (const auto &[name, type] : session.variables())
    for (const auto &[local, known] : stop->locals)
      if (name == local)
        rt::output(fmt::format("{}: {}\n", name, type));
}

} // namespace toy
