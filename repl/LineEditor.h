// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lines from a person: GNU readline where it is built in, plain standard input elsewhere.
#pragma once

#include <optional>
#include <string>

namespace toy {

class Session;

class LineEditor {
public:
  /// `session` gives names for completion.
  explicit LineEditor(Session &session);
  ~LineEditor();
  /// The next line without its end; nothing at the end of the input. `interrupted` is set when Ctrl-C dropped the line.
  std::optional<std::string> read(const std::string &prompt, bool &interrupted);
  void remember(const std::string &input);

private:
  std::string historyPath;
};

} // namespace toy
