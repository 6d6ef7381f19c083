// SPDX-License-Identifier: Apache-2.0
/// \file
/// The loop: a line is a command, or text that is run as soon as the parser does not ask for more.
#include "repl/Repl.h"

#include "repl/LineEditor.h"
#include "repl/Session.h"
#include "runtime/Error.h"
#include "runtime/Format.h"
#include "runtime/Io.h"
#include "runtime/Output.h"

#include <fmt/format.h>

namespace toy {
namespace {

/// What the commands act on.
struct Prompt {
  Session &session;
  bool leave = false;

  void help(const std::string &name);
  void vars(const std::string &) {
    for (auto &[name, type] : session.variables())
      rt::output(fmt::format("{}: {}\n", name, type));
  }
  void load(const std::string &path);
  void emit(const std::string &arguments);
  void explain(const std::string &text);
  void set(const std::string &arguments);
  void quit(const std::string &) { leave = true; }
};

struct Command {
  const char *name, *argument;
  void (Prompt::*run)(const std::string &);
  const char *help;
};
const Command commands[] = {
#define TOY_COMMAND(NAME, ARGUMENT, HANDLER, HELP) {#NAME, ARGUMENT, &Prompt::HANDLER, HELP},
#include "repl/Commands.def"
};

void Prompt::help(const std::string &name) {
  if (name.empty()) {
    for (const Command &c : commands)
      rt::output(fmt::format("  :{:<28} {}\n", std::string(c.name) + " " + c.argument, c.help));
    rt::output("  ?NAME                         the documentation of a function\n");
    return;
  }
  for (const BuiltinInfo &info : allBuiltins())
    if (info.name == name) {
      rt::output(fmt::format("{}({})\n  {}\n", info.name, info.parameters, info.doc));
      return;
    }
  if (const ast::Function *f = session.function(name)) {
    rt::output(f->doc.empty() ? name + " has no docstring\n" : f->doc + "\n");
    return;
  }
  rt::output(fmt::format("nothing is known about `{}`\n", name));
}

void Prompt::load(const std::string &path) {
  try {
    rt::InputFile file(path);
    std::string text(file.size(), '\0');
    file.read(text.data(), file.size(), 0);
    session.run(path, std::move(text), {});
  } catch (rt::Error &e) {
    session.getDiagnostics().report(e.id, {}, e.args);
    session.showDiagnostics();
  }
}

void Prompt::emit(const std::string &arguments) {
  size_t space = arguments.find(' ');
  std::string stage = arguments.substr(0, space), text = space == std::string::npos ? "" : arguments.substr(space + 1);
  auto module = session.lower("<emit>", text.ends_with(";") ? text : text + ";");
  session.showDiagnostics();
  if (!module)
    return;
  std::string error, out = session.getEngine().emit(*module, stage, error);
  rt::output(error.empty() ? out : error + "\n");
}

void Prompt::explain(const std::string &text) {
  auto module = session.lower("<explain>", text.ends_with(";") ? text : text + ";");
  session.showDiagnostics();
  if (!module)
    return;
  std::string error, real = session.getEngine().emit(*module, "unpacked", error);
  for (const RecognitionRemark &r : session.recognition())
    if (r.file == "<explain>" || session.isInFunctionOf(text, r.range))
      rt::output(r.kind.empty() ? fmt::format("missed: {}\n", r.text) : fmt::format("{}: {} ({})\n", r.kind, r.text, r.strategy));
  rt::output(error.empty() ? real : error + "\n");
}

void Prompt::set(const std::string &arguments) {
  size_t space = arguments.find(' ');
  std::string name = arguments.substr(0, space), value = space == std::string::npos ? "" : arguments.substr(space + 1);
  bool number = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos && value.size() < 3;
  if (name == "precision" && (value == "full" || number)) {
    rt::printOptions().precision = value == "full" ? 0 : std::stoi(value);
    return;
  }
  session.getDiagnostics().report(DiagId::OptionValue, {}, {name.empty() ? ":set" : name, value});
  session.showDiagnostics();
}

/// `:name argument` or `?name`; false when the line is not a command.
bool runCommand(Prompt &prompt, const std::string &line) {
  if (line.starts_with("?")) {
    prompt.help(line.substr(1));
    return true;
  }
  if (!line.starts_with(":"))
    return false;
  size_t space = line.find(' ');
  std::string name = line.substr(1, space == std::string::npos ? space : space - 1), argument = space == std::string::npos ? "" : line.substr(space + 1);
  for (const Command &c : commands)
    if (name == c.name) {
      (prompt.*c.run)(argument);
      return true;
    }
  prompt.session.getDiagnostics().report(DiagId::UnknownOption, {}, {":" + name});
  prompt.session.showDiagnostics();
  return true;
}

} // namespace

std::vector<std::string> completions(Session &session) {
  std::vector<std::string> out = {"def", "var", "return", "if", "else", "while", "for", "in", "struct", "true", "false", "and", "or", "not"};
  for (const std::string &name : session.names())
    out.push_back(name);
  for (const BuiltinInfo &info : allBuiltins())
    out.push_back(info.name);
  return out;
}

int runPrompt(Session &session) {
  Prompt prompt{session};
  LineEditor editor(session);
  std::string input;
  int number = 0;
  bool interrupted;
  while (auto line = editor.read(input.empty() ? "toy> " : "...> ", interrupted)) {
    if (interrupted) {
      input.clear();
      continue;
    }
    if (input.empty() && runCommand(prompt, *line)) {
      editor.remember(*line);
      rt::flushOutput();
      if (prompt.leave)
        return 0;
      continue;
    }
    input += (input.empty() ? "" : "\n") + *line;
    if (session.run(fmt::format("<input {}>", ++number), input, {true}) == Session::Incomplete)
      continue;
    editor.remember(input);
    input.clear();
    rt::flushOutput();
  }
  rt::output("\n");
  rt::flushOutput();
  return 0;
}

} // namespace toy
