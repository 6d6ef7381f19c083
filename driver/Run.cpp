// SPDX-License-Identifier: Apache-2.0
/// \file
/// The flow from a text to its result: read, then either show a stage (--emit) or run.
#include "driver/Run.h"

#include "ast/AST.h"
#include "driver/Stats.h"
#include "lexer/Lexer.h"
#include "repl/Commands.h"
#include "repl/Repl.h"
#include "runtime/Device.h"
#include "runtime/Error.h"
#include "runtime/Extern.h"
#include "runtime/Format.h"
#include "runtime/Guard.h"
#include "runtime/Io.h"
#include "runtime/Memory.h"
#include "runtime/Output.h"
#include "runtime/Parallel.h"
#include "runtime/ranks/Ranks.h"
#include "serve/Serve.h"
#include "session/Session.h"
#include "session/Stages.h"
#include "support/Terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <unistd.h>

namespace toy {
namespace {

constexpr const char *version = "toy 0.1.0";

int explain(const std::string &code) {
  auto id = findDiagnostic(code);
  if (!id) {
    std::fprintf(stderr, "error[D0102]: `%s` is not the code of a diagnostic\n", code.c_str());
    return 2;
  }
  const DiagInfo &info = infoOf(*id);
  rt::output(fmt::format("{}: {}\n\n{}\n", info.code, textWithoutHoles(info.format), info.explanation));
  return 0;
}

/// A program may come through a pipe (`toy <(…)`): then it is what can be read until the end.
std::string readProgram(const std::string &path) {
  std::error_code unknown;
  if (!std::filesystem::is_fifo(path, unknown))
    return rt::readSource(path);
  std::ifstream pipe(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(pipe), {});
}

/// The tokens or the tree of a program, or of one of its functions.
std::string frontEnd(DiagnosticEngine &diagnostics, const Options &options, const std::string &name,
                     const std::string &text) {
  TokenBuffer tokens = lex(diagnostics.getSources().add(name, text), diagnostics);
  bool isTree = options.emit == "ast";
  if (!isTree && options.function.empty())
    return print(tokens, diagnostics.getSources());
  ast::Module module = parse(tokens, diagnostics, {options.mode != Options::File}).module;
  if (options.function.empty())
    return ast::print(module);
  std::string known;
  std::erase_if(module.items, [&](const ast::StmtPtr &item) {
    auto *function = ast::dynCast<ast::Function>(item.get());
    known += function ? (known.empty() ? "" : ", ") + function->name : "";
    return !function || function->name != options.function;
  });
  if (module.items.empty() && !diagnostics.hasErrors())
    rt::fail(DiagId::CommandArgument, {"--function", known.empty() ? "a function, and this program has none"
                                                                   : "a function of this program: " + known});
  std::erase_if(tokens.tokens, [&](const Token &token) {
    return std::none_of(module.items.begin(), module.items.end(), [&](const ast::StmtPtr &item) {
      return item->range.begin <= token.begin && token.end <= item->range.end;
    });
  });
  return isTree ? ast::print(module) : print(tokens, diagnostics.getSources());
}

/// --emit: the text of one stage, to standard output or -o.
int emit(Session &session, const Options &options, const std::string &name, const std::string &text) {
  std::string out;
  DiagnosticEngine &diagnostics = session.getDiagnostics();
  if (options.emit == "tokens" || options.emit == "ast")
    out = frontEnd(diagnostics, options, name, text);
  else {
    auto module = session.lower(name, text, {options.mode != Options::File});
    if (module)
      out = emitStage(session, *module, options.emit, options.function);
  }
  bool ok = !diagnostics.hasErrors();
  session.showDiagnostics();
  if (!ok)
    return 1;
  if (options.output.empty())
    rt::output(out);
  else
    rt::writeFile(options.output, {out});
  return 0;
}

SessionOptions sessionOptions(const Options &options) {
  SessionOptions out;
  out.compile = options.compile;
  out.compile.device = options.device.choice != rt::DeviceChoice::Cpu && options.mode != Options::Editors;
  out.color = writesColors(options.color, STDERR_FILENO);
  out.json = options.json;
  out.prompt = (options.mode == Options::Prompt && isatty(STDIN_FILENO) && !ranks::isLaunched()) ||
               options.interactive || options.mode == Options::Notebook;
  out.join = (options.mode == Options::File || options.mode == Options::Text) && !options.interactive;
  return out;
}

bool holdsCommands(const std::string &text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(":") || line.starts_with("?") || isCommandWord(line) || !commandElsewhere(line).empty())
      return true;
  return false;
}

/// Piped text is input of the prompt, commands too, without the prompt: each input runs as soon as it is whole; the
/// first error ends it. `source` names it.
bool runLines(Session &session, const std::string &source, const std::string &text) {
  toy::Prompt prompt{session};
  bool unfinished;
  int line = 1;
  std::vector<std::string> inputs = inputsOf(session, text, unfinished);
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool last = i + 1 == inputs.size();
    int errors = session.errorsShown;
    if (prompt.run(inputs[i])) {
      rt::flushOutput();
      if (session.errorsShown != errors || prompt.leave)
        return prompt.leave;
    } else if (session.run(line == 1 ? fmt::format("<{}>", source) : fmt::format("<{} from line {}>", source, line),
                           inputs[i], {!(last && unfinished)}) != Session::Done)
      return false;
    line += 1 + static_cast<int>(std::count(inputs[i].begin(), inputs[i].end(), '\n'));
  }
  return true;
}

int runProgram(Session &session, const Options &options) {
  std::string name = options.input, text;
  bool prompt = options.mode != Options::File;
  if (options.mode == Options::File)
    text = options.text ? *options.text : readProgram(options.input);
  else if (options.mode == Options::Text) {
    name = "<command line>";
    text = options.input;
  } else {
    name = "<stdin>";
    text = ranks::shareText({}, [] { return std::string(std::istreambuf_iterator<char>(std::cin), {}); });
  }
  if (options.check)
    return session.check(name, text, {prompt}) ? 0 : session.faulted ? 70 : 1;
  if (!options.emit.empty())
    return emit(session, options, name, text);
  if (options.mode == Options::Stdin ||
      (options.mode == Options::Text && holdsCommands(text) && !options.interactive)) {
    bool ok = runLines(session, options.mode == Options::Stdin ? "stdin" : "command line", text);
    return session.exitStatus.value_or(ok ? 0 : session.faulted ? 70 : 1);
  }
  Session::Outcome outcome = session.run(name, text, {prompt});
  if (outcome == Session::Incomplete) // nothing more will come: say what is missing
    outcome = session.run(name, std::move(text), {false});
  bool ok = outcome == Session::Done;
  if (session.exitStatus)
    return *session.exitStatus;
  if (options.interactive)
    return runPrompt(session, rt::printOptions().color, false);
  return ok ? 0 : session.faulted ? 70 : 1;
}

/// What needs no session.
bool isText(const Options &options) {
  switch (options.mode) {
  case Options::Help:
    rt::output(helpText());
    return true;
  case Options::Generate:
    rt::output(options.input == "man"    ? manualPage()
               : options.input == "bash" ? bashCompletion()
               : options.input == "zsh"  ? zshCompletion()
                                         : fishCompletion());
    return true;
  case Options::Version:
    rt::output(fmt::format("{} (LLVM/MLIR 22)\n", version));
    return true;
  default:
    return false;
  }
}

/// Several ranks run the program together; what is only looked at needs no others, and one shows it.
void startRanks(const Options &options) {
  if (options.check || !options.emit.empty() || options.mode == Options::Explain)
    return rt::setOutput(ranks::isFirst(), "");
  ranks::Options own = options.ofRanks;
  own.measuresTime = !options.stats.empty();
  ranks::start(own);
}

int run(const Options &options, const std::function<void(Session &)> &inspect) {
  rt::printOptions().precision = options.precision;
  bool isNotebook = options.mode == Options::Notebook;
  rt::printOptions().header = isNotebook || (isatty(STDOUT_FILENO) && !ranks::isLaunched());
  rt::printOptions().color = !isNotebook && writesColors(options.color, STDOUT_FILENO);
  rt::deviceOptions() = options.device;
  if (options.compile.jit == JitMode::Never)
    rt::deviceOptions().choice = rt::DeviceChoice::Cpu;
  if (options.mode == Options::Editors)
    return serveEditors(sessionOptions(options));
  startRanks(options);
  Session session(sessionOptions(options));
  session.scriptArguments = options.arguments;
  if (options.mode == Options::Explain)
    return explain(options.input);
  if (std::string problem; options.device.choice == rt::DeviceChoice::Cuda && !rt::deviceIsReady(problem))
    rt::fail(DiagId::NoDevice, {problem});
  rt::setCheckBounds(options.checkBounds);
  rt::setMemoryLimit(options.memoryLimit);
  rt::setThreads(options.threads ? options.threads : ranks::threadsPerRank());
  if (!options.sizeProfile.empty())
    session.readSizeProfile(options.sizeProfile);
  Options copy = options;
  if (options.mode == Options::Prompt && (!isatty(STDIN_FILENO) || ranks::isLaunched()))
    copy.mode = Options::Stdin;
  if (options.check && copy.mode == Options::Prompt)
    rt::fail(DiagId::NothingToCheck, {});
  if (copy.mode == Options::Prompt && isatty(STDOUT_FILENO))
    rt::output(fmt::format("{}: `:help` shows what can be typed, Ctrl-D leaves\n", version));
  int status = isNotebook                     ? serveNotebook(session)
               : copy.mode == Options::Prompt ? runPrompt(session, rt::printOptions().color, options.init)
                                              : runProgram(session, copy);
  rt::flushOutput();
  if (status == 0)
    rt::waitForDevice(); // what went wrong there is said
  if (!options.stats.empty() && ranks::isFirst())
    writeStats(session, options.stats);
  if (!options.sizeProfile.empty() && ranks::isFirst())
    session.writeSizeProfile(options.sizeProfile);
  if (inspect)
    inspect(session);
  if (options.time && ranks::isFirst())
    for (const auto &[phase, ms] : session.phaseTimes().list())
      std::fprintf(stderr, "%-10s %9.3f ms\n", phase.c_str(), ms);
  return status;
}

} // namespace

int runToy(const Options &given, const std::function<void(Session &)> &inspect) {
  rt::installFaultHandlers();
  Options options = given;
  if (options.color == "auto" && ranks::isLaunched()) // standard output is a terminal that the launcher made
    options.color = "never";
  int status = 1;
  std::optional<rt::Error> error = rt::guarded([&] {
    status = isText(options) ? 0 : run(options, inspect);
    rt::flushOutput();
  });
  if (!error)
    return status;
  ranks::beforeError();
  SourceManager none;
  DiagnosticEngine diagnostics(none);
  diagnostics.report(error->id, {}, error->args);
  std::string text = options.json
                         ? diagnostics.renderJson(diagnostics.diagnostics()[0]) + "\n"
                         : diagnostics.render(diagnostics.diagnostics()[0], writesColors(options.color, STDERR_FILENO));
  std::fwrite(text.data(), 1, text.size(), stderr);
  return error->id == DiagId::Fault || error->id == DiagId::Internal ? 70 : 1;
}

} // namespace toy
