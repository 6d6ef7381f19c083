// SPDX-License-Identifier: Apache-2.0
/// \file
/// The check of a text in an editor: what it finds, in the form of the protocol.
#pragma once

#include "serve/Document.h"

#include <atomic>

namespace toy {

class EditorChecks {
public:
  explicit EditorChecks(const SessionOptions &options) : options(options) {}

  /// Checks a document, for `limitInSeconds` at most; the message `textDocument/publishDiagnostics`, or nothing where
  /// it was cancelled: then the document is due again.
  std::optional<llvm::json::Value> run(Document &document);
  /// Ends the check that another thread runs, if one does: its text is no longer the newest.
  void cancel();

  static constexpr int limitInSeconds = 5;

private:
  SessionOptions options;
  std::atomic<bool> isRunning = false, isCancelled = false;
};

} // namespace toy
