// SPDX-License-Identifier: Apache-2.0
/// \file
/// Questions at the prompt, in the words of this one and of others.
#include "irgen/IRGen.h"
#include "repl/CommandWords.h"
#include "repl/Commands.h"
#include "runtime/Format.h"
#include "runtime/Output.h"
#include "support/Terminal.h"
#include "support/Theme.h"
#include "support/Unicode.h"

#include <fmt/format.h>

#include <algorithm>
#include <unistd.h>

namespace toy {

/// `sin` of `sin(…)`, `sin "…"`; quotes and brackets around a topic are not of it.
static std::string bareTopic(std::string text) {
  text = trimmed(text);
  for (auto [open, close] : {std::pair('(', ')'), std::pair('"', '"'), std::pair('\'', '\'')})
    if (text.size() > 2 && text.front() == open && text.back() == close)
      text = trimmed(text.substr(1, text.size() - 2));
  return text;
}

/// Whether a text may be the topic of a question: a name or an operator, no expression.
static bool isTopic(const std::string &text) {
  return !text.empty() && text.find_first_of(" \t\n()[]{},;?\"") == text.npos;
}

/// A word of other prompts, as it may be written, and the command that it stands for; otherwise nothing.
static std::pair<std::string, std::string> commandOfWord(std::string word) {
  word = trimmed(word);
  if (word.ends_with(";"))
    word = trimmed(word.substr(0, word.size() - 1));
  if (word.ends_with("?")) // IPython
    if (std::string topic = word.substr(0, word.find('?')); isTopic(topic))
      return {"", "?" + topic};
  if (word.starts_with("help(") || word.starts_with("help "))
    if (std::string topic = bareTopic(word.substr(4)); isTopic(topic))
      return {"help", "?" + topic};
  if (word.ends_with("()"))
    word.resize(word.size() - 2);
  for (auto [name, command] : {std::pair("exit", ":quit"), std::pair("quit", ":quit"), std::pair("help", ":help")})
    if (word == name)
      return {name, command};
  return {};
}

bool isCommandWord(const std::string &text) { return !commandOfWord(text).second.empty(); }

std::string commandOf(const std::string &line, Session &session) {
  auto [word, command] = commandOfWord(line);
  std::vector<std::string> names = word.empty() ? std::vector<std::string>() : session.names();
  return std::find(names.begin(), names.end(), word) == names.end() ? command : "";
}

std::string commandElsewhere(const std::string &line) {
  static constexpr std::pair<std::string_view, const char *> rows[] = {
#define TOY_OTHER_COMMAND(WORD, HERE) {WORD, HERE},
#include "repl/OtherCommands.def"
  };
  std::string text = trimmed(line);
  for (auto [word, here] : rows) {
    if (!text.starts_with(word))
      continue;
    std::string argument = trimmed(text.substr(word.size()));
    bool isWhole = text.size() == word.size() || text[word.size()] == ' ';
    if (word == "!" ? !argument.empty() && !argument.ends_with(";") : isWhole) // `!x;` is an expression elsewhere
      return here + std::string(argument.empty() || here[1] == '!' || *here == '?' ? "" : " ") + argument;
  }
  return "";
}

void Prompt::tellCommand(const std::string &line, const std::string &here) {
  session.getDiagnostics()
      .report(DiagId::UnknownCommand, {}, {firstWord(trimmed(line)).first})
      .withHelp("write `" + here + "`");
  session.showDiagnostics();
}

/// What goes to a terminal, with its long lines broken between words. Columns stay what they are, and so do examples.
static std::string fitted(const std::string &text) {
  if (!isatty(STDOUT_FILENO))
    return text;
  size_t width = std::max<size_t>(screenSize().columns, 20);
  std::string out;
  bool isExample = false;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    isExample = !line.empty() && (isExample || line.starts_with("  toy> ") || line.starts_with("  %"));
    size_t indent = std::min(line.find_first_not_of(' '), line.size()), gap = line.find("  ", indent);
    size_t hang = gap < width / 2 ? line.find_first_not_of(' ', gap) : indent ? indent : 4;
    while (!isExample && columnsOf(line) > width) {
      size_t cut = line.size();
      while (cut > hang + 1 && (columnsOf(line.substr(0, cut)) > width || line[cut] != ' '))
        --cut;
      if (cut <= hang + 1) // one long word
        break;
      out += line.substr(0, cut) + "\n";
      line = std::string(hang, ' ') + line.substr(cut + 1);
    }
    out += line + "\n";
  }
  return out;
}

/// A text of help whose first bytes are set off where there are colours.
static std::string withHeading(const std::string &text, size_t size) {
  return rt::printOptions().color ? painted(Style::Strong, text.substr(0, size)) + text.substr(size) : text;
}

static std::string described(const std::string &text) {
  std::string shown = fitted(text);
  return withHeading(shown, std::min(shown.find('\n'), shown.size()));
}

/// What may be meant by a topic that nothing is known about: names that begin like it, texts that mention it, names
/// that are written like it.
static std::string adviceOn(const std::string &topic, const std::vector<std::string> &known) {
  std::string begun;
  int count = 0;
  for (const BuiltinInfo &info : allBuiltins())
    if (topic.size() > 1 && info.name.starts_with(topic) && ++count <= 3)
      begun += (count == 1 ? "`?" : ", `?") + info.name + "`";
  if (count > 0)
    return "did you mean " + begun + (count > 3 ? ", …?" : "?");
  if (topic.size() > 2 && !apropos(topic).empty())
    return "`?\"" + topic + "\"` shows where it is mentioned";
  auto near = suggest(topic, known);
  return near ? "did you mean `?" + *near + "`?"
              : "`?` lists the functions, and `?\"text\"` finds a text in their help";
}

void Prompt::help(const std::string &topic) {
  if (topic.empty()) {
    for (const CommandInfo &c : commandTable())
      rt::output("  " + withHeading(fitted(fmt::format("  :{:<27} {}\n", c.name + " " + c.argument, c.help)).substr(2),
                                    c.name.size() + 1));
    rt::output(fitted(
        "  :!COMMAND                    runs a command of the system\n"
        "  ?                            all functions, by group\n"
        "  ?TOPIC                       the documentation of a function, operator, keyword, command or error code\n"
        "  ?\"TEXT\"                      everything whose documentation has a text\n"
        "Keys: Tab completes (also \\alpha), and goes through what it has listed; Right takes what is shown in grey,\n"
        "      Up recalls what begins like the line, Ctrl-R searches, Ctrl-C drops the line or stops what runs.\n"
        "      `_` is the last value that was shown.\n"));
    return;
  }
  if (topic.size() > 2 && topic.front() == '"' && topic.back() == '"') {
    std::string found = apropos(topic.substr(1, topic.size() - 2));
    rt::output(found.empty() ? "nothing is known about " + topic + "\n" : fitted(found));
    return;
  }
  std::string text = helpOn(topic, &session);
  if (!text.empty())
    return rt::output(described(text));
  std::vector<std::string> known = helpTopics(), own = session.names();
  known.insert(known.end(), own.begin(), own.end());
  for (const std::string &name : known)
    if (std::equal(name.begin(), name.end(), topic.begin(), topic.end(),
                   [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); }))
      return rt::output(described(helpOn(name, &session)));
  session.getDiagnostics().report(DiagId::UnknownTopic, {}, {topic}).withHelp(adviceOn(topic, known));
  session.showDiagnostics();
}

} // namespace toy
