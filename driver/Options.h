// SPDX-License-Identifier: Apache-2.0
/// \file
/// The command line.
#pragma once

#include "runtime/Device.h"
#include "runtime/ranks/Ranks.h"
#include "support/CompileOptions.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace toy {

struct Options {
  enum Mode : uint8_t { Prompt, File, Text, Stdin, Help, Version, Explain, Generate, Editors, Notebook } mode = Prompt;
  std::string input;               ///< file, text or code to explain
  std::optional<std::string> text; ///< of the file, where it is not to be read
  std::vector<std::string> arguments;
  std::string emit, function, output, stats;
  std::string sizeProfile;
  std::string color = "auto";
  CompileOptions compile;
  rt::DeviceOptions device{rt::DeviceChoice::Auto};
  int threads = 0, precision = 6;
  int64_t memoryLimit = 0;
  int64_t ranks = 0;      ///< processes to start; 0: this one runs the program
  ranks::Options ofRanks; ///< of several processes
  bool init = true;       ///< run the start-up file
  bool interactive = false, time = false, json = false, checkBounds = false, check = false;
};

/// Reads the arguments; on a mistake writes it to stderr and returns false (exit status 2).
bool parseOptions(int argc, char **argv, Options &options);
/// One screen.
std::string helpText();

/// A row of --help, the manual and completion.
struct OptionInfo {
  std::string name, values, help;
};
std::vector<OptionInfo> optionTable();
/// toy(1), and the completion of command lines in shells.
std::string manualPage();
std::string bashCompletion();
std::string zshCompletion();
std::string fishCompletion();

} // namespace toy
