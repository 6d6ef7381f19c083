// SPDX-License-Identifier: Apache-2.0
#include "serve/Channel.h"

#include <csignal>
#include <fcntl.h>
#include <stdio_ext.h>
#include <unistd.h>

namespace toy {

/// The parser of JSON calls itself for each bracket.
static bool isTooDeep(const std::string &message) {
  constexpr int most = 1000;
  int depth = 0;
  for (char c : message) // brackets in strings count, too: nobody writes so many
    if (depth += (c == '[' || c == '{') - (c == ']' || c == '}'); depth > most)
      return true;
  return false;
}

/// Whether a text is a message of the protocol; LLVM's loop ends at others.
static bool isMessage(const std::string &text) {
  if (isTooDeep(text))
    return false;
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value) {
    llvm::consumeError(value.takeError());
    return false;
  }
  const llvm::json::Object *object = value->getAsObject();
  return object && object->getString("jsonrpc") == std::optional<llvm::StringRef>("2.0") &&
         (object->getString("method") || object->get("id"));
}

Inbox::Inbox(std::FILE *in, std::function<void()> whenArrived, std::function<void()> whenIdle)
    : arrived(std::move(whenArrived)), idle(std::move(whenIdle)), reader([this, in] {
        sigset_t all; // signals stay with the threads that handle them
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
        read(in);
      }) {}

Inbox::~Inbox() { reader.detach(); } // it waits for what will not come; the process ends

void Inbox::read(std::FILE *in) {
  llvm::lsp::JSONTransportInputOverFile input(in);
  while (!input.isEndOfInput() && !input.hasError()) {
    std::string message;
    if (failed(input.readMessage(message)) || !isMessage(message))
      continue;
    arrived();
    std::lock_guard lock(mutex);
    messages.push_back(std::move(message));
    changed.notify_one();
  }
  std::lock_guard lock(mutex);
  ended = true;
  changed.notify_one();
}

bool Inbox::isEndOfInput() const {
  std::lock_guard lock(mutex);
  return ended && messages.empty();
}

llvm::LogicalResult Inbox::readStandardMessage(std::string &message) {
  std::unique_lock lock(mutex);
  if (messages.empty()) {
    lock.unlock();
    idle();
    lock.lock();
  }
  changed.wait(lock, [&] { return ended || !messages.empty(); });
  if (messages.empty())
    return llvm::failure();
  message = std::move(messages.front());
  messages.pop_front();
  return llvm::success();
}

/// The file descriptor under another number, with something else in its old place.
static int moved(int descriptor, int instead) {
  int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  dup2(instead, descriptor);
  return own;
}

static std::FILE *takeInput() {
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  std::FILE *in = fdopen(moved(STDIN_FILENO, nothing), "r");
  close(nothing);
  __fsetlocking(in, FSETLOCKING_BYCALLER); // one thread reads, and the end of the process must not wait for it
  return in;
}

Channel::Channel(std::function<void()> arrived, std::function<void()> idle)
    : in(takeInput()), out(moved(STDOUT_FILENO, STDERR_FILENO), /*shouldClose=*/false),
      transport(std::make_unique<Inbox>(in, std::move(arrived), std::move(idle)), out) {}

bool Channel::run() {
  llvm::Error ended = transport.run(handler);
  bool byInput = static_cast<bool>(ended);
  llvm::consumeError(std::move(ended));
  return !byInput;
}

} // namespace toy
