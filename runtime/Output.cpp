// SPDX-License-Identifier: Apache-2.0
/// \file
/// One block in front of file descriptor 1. It is static, and what of it was written is known after each call of the
/// system, so that a handler of a signal finds it in order at any time.
#include "runtime/Output.h"

#include "runtime/Error.h"
#include "runtime/Parallel.h"
#include "support/Terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <pthread.h>
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

/// Writes what is buffered; the number of an error of the system, or 0. Where nobody reads any more (`toy … | head`),
/// the program ends silently.
int tryWriteOut() {
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

// The line that shows how far a loop is.
using Clock = std::chrono::steady_clock;
std::atomic<bool> isDrawn = false;
Clock::time_point loopBegan, lastDrawn;
int64_t lastDone = -1;

void writeErrors(std::string_view text) {
  while (!text.empty()) {
    ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno != EINTR && errno != EAGAIN)
      return;
    text.remove_prefix(std::max<ssize_t>(n, 0));
  }
}

void clearProgress() {
  if (isDrawn.exchange(false))
    writeErrors("\r\x1b[K");
}

std::string clockTime(double seconds) {
  auto s = static_cast<int64_t>(std::min(seconds, 359999.0));
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                  : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
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

static void append(std::string_view text) {
  static const bool byLines = [] {
    bool isTerminal = isatty(STDOUT_FILENO);
    if (!isTerminal)
      startWriter();
    return isTerminal;
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

void errorOutput(std::string_view text) {
  static bool beginsLine = true;
  flushOutput();
  if (isShown)
    linePrefix.empty() ? writeErrors(text) : writeErrors(withPrefix(text, beginsLine));
}

void showProgress(int64_t done, int64_t total, std::string_view label) {
  static const bool isTerminal = isatty(STDERR_FILENO) && terminalMovesCursor();
  if (!isTerminal || !isShown)
    return;
  Clock::time_point now = Clock::now();
  bool ends = done < 0;
  if (ends) // the last turn that began is done
    done = lastDone + 1;
  else if (done == 0)
    loopBegan = now;
  bool shows = ends || done == 0 || now - lastDrawn > std::chrono::milliseconds(50);
  lastDone = done;
  if (!shows)
    return;
  lastDrawn = now;
  constexpr int64_t cells = 24;
  double seconds = std::chrono::duration<double>(now - loopBegan).count();
  int64_t full = total > 0 ? std::min(done, total) * cells / total : cells;
  std::string bar;
  for (int64_t i = 0; i < cells; ++i)
    bar += i < full ? "█" : "░";
  std::string line = fmt::format("\r{}{}{} {}/{}", label, label.empty() ? "" : " ", bar, done, total);
  if (done > 0 && seconds > 0)
    line += fmt::format(" {:.3g}/s {}", static_cast<double>(done) / seconds,
                        ends ? clockTime(seconds)
                             : clockTime(seconds / static_cast<double>(done) * static_cast<double>(total - done)));
  flushOutput();
  writeErrors(line + (ends ? "\x1b[K\n" : "\x1b[K"));
  isDrawn = !ends;
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
