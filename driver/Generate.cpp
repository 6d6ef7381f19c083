// SPDX-License-Identifier: Apache-2.0
/// \file
/// The manual page and the shell's completion, from the tables that the program itself reads.
#include "driver/Options.h"

#include "repl/Commands.h"

#include <fmt/format.h>

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

std::string bashCompletion() {
  std::string words = "-e -i -o -h -O0 -O1 -O2 -O3 --help --version --explain", cases;
  for (const OptionInfo &o : optionTable()) {
    words += " " + o.name + (o.values.empty() ? "" : "=");
    std::string values = o.values;
    for (char &c : values)
      c = c == '|' ? ' ' : c;
    if (o.values.find('|') != std::string::npos)
      cases +=
          fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"${{current#*=}}\")); return ;;\n", o.name, values);
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
