// SPDX-License-Identifier: Apache-2.0
/// \file
/// The flow from a text to its result: read, then either show a stage (--emit) or run.
#include "driver/Compile.h"

#include "ast/AST.h"
#include "lexer/Lexer.h"
#include "repl/Commands.h"
#include "repl/Repl.h"
#include "repl/Session.h"
#include "runtime/Device.h"
#include "runtime/Error.h"
#include "runtime/Format.h"
#include "runtime/Guard.h"
#include "runtime/Io.h"
#include "runtime/Extern.h"
#include "runtime/Memory.h"
#include "runtime/Output.h"
#include "runtime/Parallel.h"
#include "support/Terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <unistd.h>

namespace toy {
namespace {

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

/// --emit: the text of one stage, to standard output or -o.
int emit(Session &session, const Options &options, const std::string &name, const std::string &text) {
  std::string out;
  DiagnosticEngine &diagnostics = session.getDiagnostics();
  if (options.emit == "tokens" || options.emit == "ast") {
    TokenBuffer tokens = lex(diagnostics.getSources().add(name, text), diagnostics);
    if (options.emit == "tokens")
      out = print(tokens, diagnostics.getSources());
    else
      out = ast::print(parse(tokens, diagnostics, {options.mode != Options::File}).module);
  } else {
    auto module = session.lower(name, text, {options.mode != Options::File});
    if (module) {
      std::string error;
      out = session.getEngine().emit(*module, options.emit, error);
      if (!error.empty())
        diagnostics.report(DiagId::Internal, {}, {error});
    }
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

/// The guards and checks of all compiled forms.
std::string guardsJson(Session &session) {
  std::string out;
  const SourceManager &sources = session.getDiagnostics().getSources();
  for (auto &[key, set] : session.allSpecializations())
    for (const auto &form : set.entries)
      for (const auto &[kind, list] : {std::pair("guard", &form->guards), std::pair("check", &form->checks)})
        for (const SizeGuard &guard : *list) {
          const SourceBuffer &buffer = sources.get(guard.range.buffer);
          uint32_t line = buffer.lineOf(guard.range.begin);
          out += fmt::format("{}{{\"function\": {}, \"kind\": \"{}\", \"condition\": {}, \"file\": {}, \"line\": {}, \"column\": {}}}", out.empty() ? "" : ", ", jsonText(set.function), kind,
                             jsonText(guard.fact.str(form->shownNames(set.slots))), jsonText(std::string(buffer.getName())), line, guard.range.begin - buffer.lineBegin(line) + 1);
        }
  return out;
}

/// The keys are LANGUAGE's.
void writeStats(Session &session, const Options &options) {
  rt::MemoryStats memory = rt::memoryStats();
  EngineStats &engine = session.getEngine().stats();
  std::string compiles, kernels, phases;
  for (const CompileRecord &c : session.compiles)
    compiles += fmt::format("{}{{\"function\": {}, \"reason\": {}, \"milliseconds\": {:.3f}, \"dynamic\": {}}}", compiles.empty() ? "" : ", ",
                            jsonText(c.function), jsonText(c.reason), c.milliseconds, c.dynamic);
  for (auto &[name, count] : engine.kernels)
    kernels += fmt::format("{}{}: {}", kernels.empty() ? "" : ", ", jsonText(name), count);
  for (auto &[name, ms] : session.phaseMs)
    phases += fmt::format("{}{}: {:.3f}", phases.empty() ? "" : ", ", jsonText(name), ms);
  std::string recognized, missed;
  for (const RecognitionRemark &r : session.recognition()) {
    if (r.kind.empty())
      missed += fmt::format("{}{{\"line\": {}, \"column\": {}, \"reason\": {}}}", missed.empty() ? "" : ", ", r.line, r.column, jsonText(r.text));
    else
      recognized += fmt::format("{}{{\"kind\": {}, \"form\": {}, \"strategy\": {}, \"file\": {}, \"line\": {}, \"column\": {}}}", recognized.empty() ? "" : ", ",
                                jsonText(r.kind), jsonText(r.text), jsonText(r.strategy), jsonText(r.file), r.line, r.column);
  }
  std::string cuda;
  if (rt::deviceWasUsed()) {
    const rt::DeviceStats &d = rt::deviceStats();
    std::string precisions;
    for (auto &[name, count] : d.precisions)
      precisions += fmt::format("{}{}: {}", precisions.empty() ? "" : ", ", jsonText(name), count);
    cuda = fmt::format("\"device\": {}, \"sequences\": {}, \"launches\": {}, \"products\": {}, \"transforms\": {}, \"graph_launches\": {}, \"graphs\": {}, \"patches\": {}, \"allocations\": {}, \"waits\": {}, \"bytes_to_device\": {}, "
                       "\"bytes_to_host\": {}, \"transfers_to_device\": {}, \"transfers_to_host\": {}, \"arena_bytes\": {}, \"ropes\": {}, \"product_precisions\": {{{}}}",
                       jsonText(rt::deviceDescription()), d.flushes, d.launches, d.products, d.transforms, d.graphLaunches, d.graphsBuilt, d.patches, d.allocations, d.waits, d.bytesToDevice, d.bytesToHost, d.transfersToDevice, d.transfersToHost, d.arenaBytes, d.ropes, precisions);
  }
  std::string json = fmt::format(
      "{{\"version\": \"0.1.0\", \"device\": \"{}\", \"threads\": {}, \"compiles\": [{}], \"cache_hits\": {}, \"guards\": [{}], \"recognized\": [{}], "
      "\"missed\": [{}], \"kernels\": {{{}}}, \"loops\": {}, \"repacks\": {}, \"copies\": {}, \"allocations\": {}, \"peak_bytes\": {}, \"phase_ms\": {{{}}}, \"cuda\": {{{}}}}}\n",
      cuda.empty() ? "cpu" : "cuda", rt::threads(), compiles, session.cacheHits, guardsJson(session), recognized, missed, kernels, engine.loops, engine.repacks, memory.copies, memory.allocations, memory.peakBytes, phases, cuda);
  rt::writeFile(options.stats, {json});
}

SessionOptions sessionOptions(const Options &options) {
  SessionOptions out;
  out.jit = options.jit == "always" ? SessionOptions::Always : options.jit == "never" ? SessionOptions::Never : SessionOptions::Auto;
  out.color = writesColors(options.color, STDERR_FILENO);
  out.json = options.diagnostics == "json";
  out.naiveMatmul = options.naiveMatmul;
  out.optimization = options.optimization;
  out.fuse = options.fuse;
  out.recognize = options.recognize;
  out.complexMatmul = options.complexMatmul;
  out.unpack = options.unpack;
  out.fastMath = options.fastMath;
  out.cache = options.cache;
  out.remarks = options.remarks;
  out.device = options.device != "cpu";
  out.dynamic = options.dynamic == "on" ? DynamicMode::On : options.dynamic == "off" ? DynamicMode::Off : DynamicMode::Auto;
  out.prompt = (options.mode == Options::Prompt && isatty(STDIN_FILENO)) || options.interactive;
  out.join = (options.mode == Options::File || options.mode == Options::Text) && !options.interactive;
  return out;
}

bool holdsCommands(const std::string &text) { return text.starts_with(":") || text.starts_with("?") || text.find("\n:") != text.npos || text.find("\n?") != text.npos; }

/// Piped text is input of the prompt, commands too, without the prompt: each input runs as soon as it is whole; the first error ends it. `source` names it.
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
    } else if (session.run(line == 1 ? fmt::format("<{}>", source) : fmt::format("<{} from line {}>", source, line), inputs[i], {!(last && unfinished)}) != Session::Done)
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
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  }
  if (!options.emit.empty())
    return emit(session, options, name, text);
  if (options.mode == Options::Stdin || (options.mode == Options::Text && holdsCommands(text) && !options.interactive))
    return runLines(session, options.mode == Options::Stdin ? "stdin" : "command line", text) ? 0 : session.faulted ? 70 : 1;
  Session::Outcome outcome = session.run(name, text, {prompt});
  if (outcome == Session::Incomplete) // nothing more will come: say what is missing
    outcome = session.run(name, std::move(text), {false});
  bool ok = outcome == Session::Done;
  if (options.interactive)
    return runPrompt(session, rt::printOptions().color, false);
  return ok ? 0 : session.faulted ? 70 : 1;
}

/// What needs no session.
bool isText(const Options &options) {
  switch (options.mode) {
  case Options::Help: rt::output(helpText()); return true;
  case Options::Generate: rt::output(options.input == "man" ? manualPage() : bashCompletion()); return true;
  case Options::Version: rt::output("toy 0.1.0 (LLVM/MLIR 22)\n"); return true;
  default: return false;
  }
}

int run(const Options &options, const std::function<void(Session &)> &inspect) {
  rt::printOptions().precision = options.precision;
  rt::printOptions().header = isatty(STDOUT_FILENO);
  rt::printOptions().color = writesColors(options.color, STDOUT_FILENO);
  rt::DeviceOptions &device = rt::deviceOptions();
  device.choice = options.jit == "never" ? rt::DeviceChoice::Cpu : options.device == "cuda" ? rt::DeviceChoice::Cuda : options.device == "auto" ? rt::DeviceChoice::Auto : rt::DeviceChoice::Cpu;
  device.graphs = options.cudaGraphs == "off" ? rt::CudaGraphs::Off : options.cudaGraphs == "full" ? rt::CudaGraphs::Full : options.cudaGraphs == "piecewise" ? rt::CudaGraphs::Piecewise : rt::CudaGraphs::Auto;
  device.precision = options.matmulPrecision == "medium" ? rt::MatmulPrecision::Medium : options.matmulPrecision == "high" ? rt::MatmulPrecision::High : rt::MatmulPrecision::Ieee;
  Session session(sessionOptions(options));
  session.scriptArguments = options.arguments;
  if (options.mode == Options::Explain)
    return explain(options.input);
  if (std::string problem; options.device == "cuda" && !rt::deviceIsReady(problem))
    rt::fail(DiagId::NoDevice, {problem});
  rt::setCheckBounds(options.checkBounds);
  if (options.memoryLimit)
    rt::setMemoryLimit(options.memoryLimit);
  rt::setThreads(options.threads);
  if (!options.sizeProfile.empty())
    session.readSizeProfile(options.sizeProfile);
  Options copy = options;
  if (options.mode == Options::Prompt && !isatty(STDIN_FILENO))
    copy.mode = Options::Stdin;
  int status = copy.mode == Options::Prompt ? runPrompt(session, rt::printOptions().color, options.init) : runProgram(session, copy);
  rt::flushOutput();
  if (status == 0)
    rt::waitForDevice(); // what went wrong there is said
  if (!options.stats.empty())
    writeStats(session, options);
  if (!options.sizeProfile.empty())
    session.writeSizeProfile(options.sizeProfile);
  if (inspect)
    inspect(session);
  if (options.time)
    for (auto &[phase, ms] : session.phaseMs)
      std::fprintf(stderr, "%-10s %9.3f ms\n", phase.c_str(), ms);
  return status;
}

} // namespace

int runToy(const Options &options, const std::function<void(Session &)> &inspect) {
  rt::installFaultHandlers();
  int status = 1;
  std::optional<rt::Error> error = rt::guarded([&] {
    status = isText(options) ? 0 : run(options, inspect);
    rt::flushOutput();
  });
  if (!error)
    return status;
  SourceManager none;
  DiagnosticEngine diagnostics(none);
  diagnostics.report(error->id, {}, error->args);
  std::string text = options.diagnostics == "json" ? diagnostics.renderJson(diagnostics.diagnostics()[0]) + "\n" : diagnostics.render(diagnostics.diagnostics()[0], writesColors(options.color, STDERR_FILENO));
  std::fwrite(text.data(), 1, text.size(), stderr);
  return error->id == DiagId::Fault || error->id == DiagId::Internal ? 70 : 1;
}

} // namespace toy
