// SPDX-License-Identifier: Apache-2.0
/// \file
/// Messages over standard input and output, which nothing else can disturb: programs that run find no input, and what
/// they write past the session goes to standard error.
#pragma once

#include "runtime/Guard.h"

#include "llvm/Support/LSP/Transport.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <thread>

namespace toy {

/// What a client sends, read by a thread of its own, so that it is known while an earlier message is worked on.
class Inbox : public llvm::lsp::JSONTransportInput {
public:
  /// `arrived` is called by the thread that reads, for each message; `idle` by the one that works, before it waits.
  Inbox(std::FILE *in, std::function<void()> arrived, std::function<void()> idle);
  ~Inbox() override;
  bool hasError() const override { return false; }
  bool isEndOfInput() const override;
  llvm::LogicalResult readDelimitedMessage(std::string &) override { return llvm::failure(); }
  llvm::LogicalResult readStandardMessage(std::string &message) override;

private:
  void read(std::FILE *in);
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> messages;
  bool ended = false;
  std::function<void()> arrived;
  std::function<void()> idle;
  std::thread reader;
};

class Channel {
public:
  Channel(std::function<void()> arrived, std::function<void()> idle);
  /// Works until a message ends it, which is true, or the input ends.
  bool run();

  /// Gives an answer to a request, or the error that ended the work on it.
  template <typename Result, typename Work> static void answer(llvm::lsp::Callback<Result> reply, const Work &work) {
    std::optional<Result> result;
    std::optional<rt::Error> error = rt::guarded([&] { result = work(); });
    if (error)
      reply(llvm::make_error<llvm::lsp::LSPError>(formatDiagnostic(error->id, error->args),
                                                  llvm::lsp::ErrorCode::InternalError));
    else
      reply(std::move(*result));
  }

private:
  std::FILE *in;
  llvm::raw_fd_ostream out;

public:
  llvm::lsp::JSONTransport transport;
  llvm::lsp::MessageHandler handler{transport};
};

} // namespace toy
