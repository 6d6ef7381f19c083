// SPDX-License-Identifier: Apache-2.0
/// \file
/// The commands of the prompt that show what the compiler makes of a function or an input.
#include "repl/CommandWords.h"
#include "repl/Commands.h"
#include "repl/Graph.h"
#include "repl/Process.h"
#include "runtime/Error.h"
#include "runtime/Io.h"
#include "runtime/Output.h"
#include "session/Session.h"
#include "session/Stages.h"

#include <fmt/format.h>

#include <algorithm>

namespace toy {

std::string trimmed(const std::string &text) {
  size_t begin = text.find_first_not_of(" \t\n"), end = text.find_last_not_of(" \t\n");
  return begin == text.npos ? "" : text.substr(begin, end - begin + 1);
}

std::pair<std::string, std::string> firstWord(const std::string &text) {
  size_t space = text.find_first_of(" \t");
  return {text.substr(0, space), space == text.npos ? "" : trimmed(text.substr(space))};
}

bool refuse(Session &session, DiagId id, std::vector<std::string> args) {
  session.getDiagnostics().report(id, {}, std::move(args));
  session.showDiagnostics();
  return false;
}

std::string magnitude(double x, const char *unit) {
  for (const char *prefix : {"", "k", "M", "G"})
    if (x < 1000 || *prefix == 'G')
      return fmt::format("{:.3g} {}{}", x, prefix, unit);
    else
      x /= 1000;
  return "";
}

void Prompt::emit(const std::string &arguments) {
  auto [stage, text] = firstWord(arguments);
  if (text.empty()) {
    refuse(session, DiagId::CommandArgument, {":emit", "a stage and a function or an input"});
    return;
  }
  std::vector<std::string> stages = {
#define TOY_PHASE(NAME, HELP) #NAME,
#include "compile/Phases.def"
  };
  if (std::find(stages.begin(), stages.end(), stage) == stages.end()) {
    session.getDiagnostics()
        .report(DiagId::UnknownStage, {}, {stage})
        .withHelp(fmt::format("the stages are {}", fmt::join(stages, ", ")));
    session.showDiagnostics();
    return;
  }
  if (stage == "ast" || stage == "tokens") {
    std::string source = session.definitionOf(text);
    rt::output(session.frontEnd(stage, source.empty() ? text : source));
    session.showDiagnostics();
    return;
  }
  auto module = session.moduleOf(text);
  session.showDiagnostics();
  if (!module)
    return;
  rt::output(emitStage(session, *module, stage));
  session.showDiagnostics();
}

void Prompt::explain(const std::string &text) {
  auto module = session.moduleOf(text);
  session.showDiagnostics();
  if (!module)
    return;
  std::string error,
      real = session.getCompiler().emit(*module, "unpacked", error, session.getDiagnostics().getSources());
  bool any = false;
  for (const RecognitionRemark &r : session.recognition())
    if (session.isInspected(text, r.range)) {
      any = true;
      std::string place = r.file.starts_with("<inspect") ? "" : fmt::format("{}:{}:{}: ", r.file, r.line, r.column);
      rt::output(r.kind.empty() ? fmt::format("{}missed: {}\n", place, r.text)
                                : fmt::format("{}recognized {}: {} ({})\n", place, r.kind, r.text, r.strategy));
    }
  if (!any)
    rt::output("no hidden complex arithmetic\n");
  std::string kernels = session.getCompiler().kernelsOf(*module, error);
  for (const LoopRemark &cost : session.loopCosts())
    if (session.isInspected(text, cost.range))
      rt::output(fmt::format(
          "{}in a loop: {}\n",
          cost.file.starts_with("<inspect") ? "" : fmt::format("{}:{}:{}: ", cost.file, cost.line, cost.column),
          cost.text));
  double flops, bytes;
  session.cost(*module, flops, bytes);
  if (flops > 0)
    rt::output(fmt::format("cost: {}{}\n", magnitude(flops, "FLOP"),
                           bytes > 0 ? ", " + magnitude(bytes, "B") + " of operands and results" : ""));
  if (!kernels.empty())
    rt::output("kernels:\n" + kernels);
  rt::output("as real operations:\n" + (error.empty() ? real : error + "\n"));
}

static std::string titleOf(const std::string &stage) {
  for (auto [name, title] : {
#define TOY_PHASE(NAME, HELP) std::pair(#NAME, HELP),
#include "compile/Phases.def"
       })
    if (stage == name)
      return stage + ", " + title;
  return stage;
}

/// `[STAGE] FUNCTION|INPUT [FILE]`: a last word with the ending of a picture is a file; the input may hold blanks.
static void splitGraph(const std::string &arguments, std::string &stage, std::string &input, std::string &path) {
  constexpr const char *formats[] = {".dot", ".svg", ".png", ".pdf"};
  input = arguments;
  if (size_t space = input.find_last_of(" \t"); space != input.npos) {
    std::string last = input.substr(space + 1);
    if (std::any_of(std::begin(formats), std::end(formats), [&](const char *format) { return last.ends_with(format); }))
      path = std::exchange(input, trimmed(input.substr(0, space))).substr(space + 1);
  }
  if (auto [word, rest] = firstWord(input); !rest.empty() && dialectPhase(word)) {
    stage = word;
    input = rest;
  }
}

void Prompt::graph(const std::string &arguments) {
  std::string stage, input, path;
  splitGraph(arguments, stage, input, path);
  if (input.empty() || (dialectPhase(input) && !session.functionOf(input))) {
    refuse(session, DiagId::CommandArgument, {":graph", "a function or an input"});
    return;
  }
  auto module = session.moduleOf(input);
  session.showDiagnostics();
  if (!module)
    return;
  std::vector<std::string> stages = stage.empty() ? std::vector<std::string>{"toy", "recognized"} : std::vector{stage};
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> owners;
  std::vector<GraphPart> parts;
  std::string error;
  for (const std::string &name : stages)
    if (auto ir = session.getCompiler().after(*module, *dialectPhase(name), error)) {
      owners.push_back(std::move(ir));
      parts.push_back({*owners.back(), titleOf(name)});
    }
  if (!error.empty())
    return rt::output(error + "\n");
  if (path.empty())
    return rt::output(terminalText(parts));
  std::string dot = graphvizText(parts), picture;
  if (path.ends_with(".dot") || !filterText({"dot", "-T" + path.substr(path.rfind('.') + 1)}, dot, picture)) {
    picture = dot; // without Graphviz: its input
    if (!path.ends_with(".dot"))
      path += ".dot";
  }
  rt::writeFile(path, {picture});
  rt::output(path + "\n");
}

void Prompt::guards(const std::string &name) {
  if (!session.functionOf(name)) {
    refuse(session, DiagId::UnknownTopic, {name});
    return;
  }
  std::vector<std::string> specializations = session.specializationsOf(name);
  if (specializations.empty())
    rt::output(name + " was not called yet\n");
  for (const std::string &specialization : specializations)
    rt::output(specialization + "\n");
}

} // namespace toy
