// SPDX-License-Identifier: Apache-2.0
/// \file
/// The commands of the prompt, and the help of everything that has a name.
#pragma once

#include "session/Session.h"

#include <string>
#include <vector>

namespace toy {

/// What commands act on besides the session.
struct Prompt {
  explicit Prompt(Session &session) : session(session) {}
  Session &session;
  bool leave = false;
  bool showTime = false;               ///< after every input
  bool fitsScreen = true;              ///< what is echoed has the terminal's width and height
  std::string lastFile;                ///< of :load
  const Session::Stop *stop = nullptr; ///< where a program has stopped, or failed
  std::optional<Session::After> after; ///< what it shall do

  /// Runs `:name argument`, `?topic` or `:!command`; false when the line is not a command.
  bool run(const std::string &line);

  // Handlers of Commands.def.
  void help(const std::string &topic);
  void type(const std::string &text);
  void vars(const std::string &);
  void time(const std::string &text);
  void trace(const std::string &text);
  void profile(const std::string &text);
  void bench(const std::string &text);
  void emit(const std::string &arguments);
  void explain(const std::string &text);
  void graph(const std::string &arguments);
  void guards(const std::string &name);
  void recompiles(const std::string &);
  void device(const std::string &);
  void graphs(const std::string &);
  void load(const std::string &path);
  void reload(const std::string &);
  void edit(const std::string &name);
  void save(const std::string &path);
  void undo(const std::string &);
  void reset(const std::string &);
  void set(const std::string &arguments);
  void goOn(const std::string &);
  void step(const std::string &);
  void next(const std::string &);
  void where(const std::string &);
  void locals(const std::string &);
  void up(const std::string &);
  void down(const std::string &);
  void breaks(const std::string &arguments);
  void debug(const std::string &text);
  void results(const std::string &);
  void quit(const std::string &);
  /// Runs a text of the prompt under a name for messages.
  void runText(const std::string &name, const std::string &text);

private:
  std::string settingValue(const std::string &name);
  bool applySetting(const std::string &name, const std::string &value);
  void runCommand(const std::string &line);
  void tellCommand(const std::string &line, const std::string &here);
  void leaveStop(const char *command, Session::After how);
  void showFrame(const char *command, int by);
  int counter = 0;
};

std::string duration(double seconds);

/// What :set knows: a name, and its values between bars; a word in capitals stands for any number.
struct SettingInfo {
  std::string name, values;
};
const std::vector<SettingInfo> &settingTable();

struct CommandInfo {
  std::string name, argument, help;
};
const std::vector<CommandInfo> &commandTable();
/// Whether a text is a word that stands for a command where nothing has its name: `exit`, `quit`, `help`, `help sin`,
/// `sin?`.
bool isCommandWord(const std::string &text);
/// The command that such a word is; nothing where the session has something of its name.
std::string commandOf(const std::string &line, Session &session);
/// What a command of another prompt is here, with its argument; nothing: the line is none.
std::string commandElsewhere(const std::string &line);
/// The documentation of a function, operator, keyword, command or error code; empty when there is none. `session` may
/// have functions of its own.
std::string helpOn(const std::string &topic, Session *session);
/// The text of a message with … in place of its arguments.
std::string textWithoutHoles(std::string_view format);
/// Names of functions, operators, keywords and, behind a colon, commands.
std::vector<std::string> helpTopics();
/// All functions, with a heading for each group.
std::string functionsByGroup();
/// Topics whose name or documentation holds a text, in any case of letters, a line each.
std::string apropos(const std::string &text);
/// An example of a function or operator and what it prints.
struct Example {
  std::string name, input, output;
};
const std::vector<Example> &examples();

} // namespace toy
