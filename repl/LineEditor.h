// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reads inputs of the prompt. On a terminal that can move its cursor an input of several lines is one text, drawn in
/// colours with brackets that match and hints; elsewhere a line at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace toy {
class Session;

/// What `:set` changes.
struct EditorOptions {
  bool suggestions = true; ///< from the history, in grey behind the text
  bool values = true;      ///< values of expressions, in grey below the text
};
EditorOptions &editorOptions();

class LineEditor {
public:
  /// `isUnfinished` decides whether Enter ends a text or starts another line of it.
  LineEditor(Session &session, bool color, std::function<bool(const std::string &)> isUnfinished);
  ~LineEditor();
  /// Runs once, when the first prompt is on the screen.
  void whenShown(std::function<void()> action);
  /// Whether `read` gives whole inputs.
  bool readsBlocks() const { return blocks; }
  /// The next text without its final newline; nothing at the end of input. `interrupted` tells that Ctrl-C dropped it.
  std::optional<std::string> read(const std::string &prompt, bool &interrupted);
  /// Adds an input to the history, also of later sessions; one that begins with a space is not kept.
  void remember(const std::string &input);

private:
  bool blocks = false;
};

} // namespace toy
