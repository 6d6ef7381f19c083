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
#include <pthread.h>
#include <string>
#include <unistd.h>

namespace toy::rt {

std::function<void(Stream, std::string_view)> &outputSink() {
  static std::function<void(Stream, std::string_view)> sink;
  return sink;
}

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

bool outputIsTerminal() {
  static const bool is = isatty(STDOUT_FILENO);
  return is;
}

// The line that is drawn over (Progress.h), and whether a text on the terminal stands unfinished in its row.
std::atomic<bool> isDrawn = false, isBeingDrawn = false, isMidLine = false;

void writeErrors(std::string_view text) {
  while (!text.empty()) {
    ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno != EINTR && errno != EAGAIN)
      return;
    text.remove_prefix(std::max<ssize_t>(n, 0));
  }
}

constexpr std::string_view erasing = "\r\x1b[K";

void clearProgress() {
  if (isDrawn.exchange(false))
    writeErrors(erasing);
}

/// Whether the output takes something within a time.
bool becomesReady(int milliseconds) {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, milliseconds) == 1;
}

/// Writes what is buffered; the number of an error of the system, or 0. Where nobody reads any more (`toy … | head`),
/// the program ends silently.
int tryWriteOut() {
  if (outputSink() && written < filled) {
    outputSink()(Stream::Output, {block + written, filled - written});
    written = filled.load();
  }
  while (written < filled) {
    ssize_t n = ::write(STDOUT_FILENO, block + written, filled - written);
    if (n >= 0)
      written += n;
    else if (errno == EAGAIN)
      becomesReady(-1);
    else if (errno == EPIPE)
      _exit(128 + SIGPIPE);
    else if (errno != EINTR)
      return errno;
  }
  if (filled > 0 && outputIsTerminal())
    isMidLine = block[filled - 1] != '\n';
  written = filled = 0;
  return 0;
}

void writeOut() {
  if (int reason = tryWriteOut()) {
    written = filled = 0;
    fail(DiagId::OutputFailed, {std::strerror(reason)});
  }
}

// Elsewhere than on a terminal, what was printed goes out within 0.1 seconds, whatever the program does meanwhile: a
// thread sees to that. It leaves errors to the next one who prints.
std::atomic<bool> isWaiting = false; ///< something was printed since the thread last wrote
std::atomic<bool> isWriting = false, isEnding = false;

void *writeOutNowAndThen(void *) {
  while (!isEnding) {
    isWaiting.wait(false);
    usleep(100000);
    isWaiting = false;
    isWriting = true;
    if (!isEnding) {
      Lock lock;
      tryWriteOut();
    }
    isWriting = false;
  }
  return nullptr;
}

/// Signals stay with the threads that handle them. Without the thread, output goes out in blocks.
void startWriter() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, writeOutNowAndThen, nullptr) == 0)
    pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Where several processes print.
bool isShown = true;
std::string linePrefix;

/// A text with the prefix in front of each line that begins in it.
std::string withPrefix(std::string_view text, bool &beginsLine) {
  std::string out;
  for (char c : text) {
    if (beginsLine)
      out += linePrefix;
    beginsLine = c == '\n';
    out += c;
  }
  return out;
}

} // namespace

void setOutput(bool shows, std::string_view prefix) {
  isShown = shows;
  linePrefix = prefix;
}

void unlockOutput() { locked.store(false, std::memory_order_release); }

void flushOutput() {
  Lock lock;
  writeOut();
  clearProgress();
}

void endRow() {
  flushOutput();
  if (outputIsTerminal() && isMidLine)
    output("\n");
}

static void append(std::string_view text) {
  static const bool byLines = [] {
    if (!outputIsTerminal())
      startWriter();
    return outputIsTerminal();
  }();
  Lock lock;
  if (byLines)
    clearProgress();
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
  else if (!byLines && !isWaiting.exchange(true))
    isWaiting.notify_one();
}

void output(std::string_view text) {
  static bool beginsLine = true;
  if (isShown)
    linePrefix.empty() ? append(text) : append(withPrefix(text, beginsLine));
}

void echo(std::string_view text) {
  if (!outputSink())
    return output(text);
  Lock lock;
  writeOut();
  outputSink()(Stream::Echo, text);
}

void errorOutput(std::string_view text) {
  static bool beginsLine = true;
  flushOutput();
  if (!isShown || text.empty())
    return;
  Lock lock;
  clearProgress();
  if (outputSink())
    return outputSink()(Stream::Errors, text);
  linePrefix.empty() ? writeErrors(text) : writeErrors(withPrefix(text, beginsLine));
  isMidLine = text.back() != '\n';
}

bool showsOutput() { return isShown; }

bool drawLine(std::string_view text, const std::function<bool()> &isWanted) {
  isBeingDrawn = true; // whoever does not want it any more waits
  bool draws;
  {
    Lock lock;
    draws = !isMidLine && !isEnding && isWanted();
    if (draws) {
      writeErrors("\r" + std::string(text) + "\x1b[K");
      isDrawn = true;
    }
  }
  isBeingDrawn = false;
  return draws;
}

void eraseLine() {
  if (!isDrawn && !isBeingDrawn)
    return;
  Lock lock;
  clearProgress();
}

void writeOutNow() {
  constexpr size_t piece = 4096; // that a pipe takes whole or not at all
  isEnding = true;
  for (int waited = 0; isWriting && waited < 1000; ++waited)
    usleep(1000);
  while (written < filled && becomesReady(1000)) {
    ssize_t n = ::write(STDOUT_FILENO, block + written, std::min(piece, filled - written));
    if (n < 0 && errno != EINTR && errno != EAGAIN)
      return;
    written += n > 0 ? n : 0;
  }
  clearProgress();
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
