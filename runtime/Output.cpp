// SPDX-License-Identifier: Apache-2.0
/// \file
/// One block in front of file descriptor 1. It is static, and what of it was written is known after each call of the
/// system, so that a handler of a signal finds it in order at any time.
#include "runtime/Output.h"

#include "runtime/Error.h"
#include "runtime/Parallel.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <string>
#include <unistd.h>

namespace toy::rt {
namespace {

constexpr size_t capacity = 1 << 16;
char block[capacity];
std::atomic<size_t> written = 0, filled = 0;
std::atomic<bool> locked = false;

class Lock {
public:
  Lock() {
    while (locked.exchange(true, std::memory_order_acquire))
      usleep(1000);
  }
  ~Lock() { unlockOutput(); }
};

/// Whether the output takes something within a time.
bool becomesReady(int milliseconds) {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, milliseconds) == 1;
}

void writeOut() {
  while (written < filled) {
    ssize_t n = ::write(STDOUT_FILENO, block + written, filled - written);
    if (n >= 0) {
      written += n;
      continue;
    }
    if (errno == EINTR)
      continue;
    if (errno == EAGAIN) {
      becomesReady(-1);
      continue;
    }
    int reason = errno;
    written = filled = 0;
    if (reason == EPIPE) { // `toy … | head` is no error
      std::signal(SIGPIPE, SIG_DFL);
      std::raise(SIGPIPE);
    }
    fail(DiagId::OutputFailed, {std::strerror(reason)});
  }
  written = filled = 0;
}

} // namespace

void unlockOutput() { locked.store(false, std::memory_order_release); }

void flushOutput() {
  Lock lock;
  writeOut();
}

void output(std::string_view text) {
  static const bool byLines = isatty(STDOUT_FILENO);
  Lock lock;
  bool complete = byLines && text.find('\n') != text.npos;
  while (true) {
    size_t n = std::min(text.size(), capacity - filled);
    std::memcpy(block + filled, text.data(), n);
    filled += n;
    text.remove_prefix(n);
    if (filled == capacity)
      writeOut();
    if (text.empty())
      break;
    poll();
  }
  if (complete)
    writeOut();
}

void writeOutNow() {
  constexpr size_t piece = 4096; // that a pipe takes whole or not at all
  while (written < filled && becomesReady(1000)) {
    ssize_t n = ::write(STDOUT_FILENO, block + written, std::min(piece, filled - written));
    if (n < 0 && errno != EINTR && errno != EAGAIN)
      return;
    written += n > 0 ? n : 0;
  }
}

void writeOutFromOtherThread() {
  for (int waited = 0; locked.exchange(true, std::memory_order_acquire); ++waited) {
    if (waited == 1000) // nobody reads
      return;
    usleep(1000);
  }
  writeOutNow(); // and the lock is kept: nothing is written after this
}

} // namespace toy::rt
