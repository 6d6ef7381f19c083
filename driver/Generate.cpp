// SPDX-License-Identifier: Apache-2.0
/// \file
/// The manual page and the completion of shells, from the tables that the program itself reads.
#include "driver/Options.h"

#include "repl/Commands.h"
#include "support/Diagnostics.h"

#include <fmt/format.h>

#include <algorithm>

namespace toy {
namespace {

/// Text for troff: hyphens that are minus signs, no line that begins with a dot or an apostrophe.
std::string troff(std::string_view text) {
  std::string out;
  for (char c : text)
    out += c == '-' ? "\\-" : c == '\\' ? "\\e" : std::string(1, c);
  if (out.starts_with(".") || out.starts_with("'"))
    out.insert(0, "\\&");
  return out;
}

} // namespace

std::string manualPage() {
  std::string out =
      ".TH TOY 1\n.SH NAME\ntoy \\- an interactive compiler for tensors with complex numbers\n.SH SYNOPSIS\n"
      ".B toy\n[\\fIoptions\\fR] [\\fIFILE.toy\\fR [\\fIARGS\\fR] | \\-e \\fICODE\\fR | \\-]\n.SH DESCRIPTION\n"
      "Without a file the prompt opens; \\- reads standard input, \\-e a text. Options stand before the file.\n.SH "
      "OPTIONS\n";
  for (const OptionInfo &o : optionTable())
    out += fmt::format(".TP\n.B {}\n{}\n", troff(o.name + (o.values.empty() ? "" : "=" + o.values)), troff(o.help));
  out += ".SH COMMANDS OF THE PROMPT\n";
  for (const CommandInfo &c : commandTable())
    out += fmt::format(".TP\n.B :{} {}\n{}\n", troff(c.name), troff(c.argument), troff(c.help));
  out += ".SH EXIT STATUS\n0; 1 the program failed; 2 bad command line; 70 an internal error; 130 interrupted.\n"
         ".SH FILES\n.TP\n.I ~/.config/toy/init.toy\nruns when the prompt opens\n.TP\n.I "
         "~/.local/state/toy/history\nwhat was typed\n.TP\n.I ~/.local/state/toy/toy-reproducer-*.toy\ninputs that "
         "ended with an internal error; the newest stay\n.TP\n.I ~/.cache/toy\nmachine code\n"
         ".SH ENVIRONMENT\nNO_COLOR, TERM, XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME, VISUAL, EDITOR.\n";
  return out;
}

/// What stands beside the table: options of one letter, and those that choose what is done.
static const std::vector<OptionInfo> &otherOptions() {
  static const std::vector<OptionInfo> all = {
      {"-e", "CODE", "run a text"},
      {"-i", "", "stay at the prompt behind a file"},
      {"-o", "FILE", "where --emit writes"},
      {"-h", "", "list the options"},
      {"-O0", "", "LLVM does nothing"},
      {"-O1", "", "LLVM tries a little"},
      {"-O2", "", "LLVM tries as usual"},
      {"-O3", "", "LLVM tries hard"},
      {"--help", "", "list the options"},
      {"--version", "", "print the version"},
      {"--explain", "CODE", "what a diagnostic means"},
  };
  return all;
}

/// The words that an option's value is one of; nothing where it can be anything.
static std::string choicesOf(const OptionInfo &o) {
  std::string words = o.values.find('|') == std::string::npos ? "" : o.values;
  if (o.name == "--explain")
    for (DiagId id : allDiagnostics())
      words += (words.empty() ? "" : "|") + std::string(infoOf(id).code);
  std::replace(words.begin(), words.end(), '|', ' ');
  return words;
}

/// A word of a shell.
static std::string quoted(std::string_view text) {
  std::string out;
  for (char c : text)
    out += c == '\'' ? "'\\''" : std::string(1, c);
  return "'" + out + "'";
}

std::string zshCompletion() {
  std::string out = "#compdef toy\n_arguments -S \\\n";
  auto add = [&](const OptionInfo &o, const char *between) {
    std::string choices = choicesOf(o), help;
    for (char c : o.help)
      help += std::string_view(":[]\\").find(c) == std::string_view::npos ? std::string(1, c) : std::string{'\\', c};
    std::string values = !choices.empty() ? "(" + choices + ")" : o.values == "FILE" ? "_files" : " ";
    out += "  " + quoted(o.name + between + "[" + help + "]" + (o.values.empty() ? "" : ":value:" + values)) + " \\\n";
  };
  for (const OptionInfo &o : otherOptions())
    add(o, "");
  for (const OptionInfo &o : optionTable())
    add(o, o.values.empty() ? "" : "=-");
  return out + "  '1:script:_files -g \"*.toy\"' '*:argument:_files'\n";
}

std::string fishCompletion() {
  std::string out = "# fish completion of toy\ncomplete -c toy -f -a '(__fish_complete_suffix .toy)'\n";
  auto add = [&](const OptionInfo &o) {
    std::string choices = choicesOf(o);
    out += "complete -c toy " + std::string(o.name.starts_with("--") ? "-l " + o.name.substr(2)
                                            : o.name.size() == 2     ? "-s " + o.name.substr(1)
                                                                     : "-o " + o.name.substr(1));
    if (!o.values.empty())
      out += o.values == "FILE" ? " -r -F" : " -x";
    if (!choices.empty())
      out += " -a " + quoted(choices);
    out += " -d " + quoted(o.help) + "\n";
  };
  for (const OptionInfo &o : otherOptions())
    add(o);
  for (const OptionInfo &o : optionTable())
    add(o);
  return out;
}

std::string bashCompletion() {
  std::string words, cases;
  for (const OptionInfo &o : otherOptions())
    words += o.name + " ";
  for (const OptionInfo &o : optionTable()) {
    words += o.name + (o.values.empty() ? " " : "= ");
    if (std::string choices = choicesOf(o); !choices.empty())
      cases +=
          fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"${{current#*=}}\")); return ;;\n", o.name, choices);
  }
  return "# bash completion of toy\n_toy() {\n  local current=\"${COMP_WORDS[COMP_CWORD]}\" "
         "previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
         "  if [[ $previous == \"=\" ]]; then previous=\"${COMP_WORDS[COMP_CWORD-2]}\"; elif [[ $current == \"=\" ]]; "
         "then current=\"\"; else previous=\"\"; fi\n"
         "  case \"$previous\" in\n" +
         cases +
         "  esac\n"
         "  if [[ $current == -* ]]; then\n    COMPREPLY=($(compgen -W '" +
         words +
         "' -- \"$current\"))\n    [[ ${COMPREPLY-} == *= ]] && compopt -o nospace\n"
         "  else\n    COMPREPLY=($(compgen -f -X '!*.toy' -- \"$current\") $(compgen -d -- \"$current\"))\n  "
         "fi\n}\ncomplete -F _toy toy\n";
}

} // namespace toy
