// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a program asks of its process. Waiting is done in short pieces, between which Ctrl-C is looked for.
#include "runtime/System.h"

#include "runtime/Error.h"
#include "runtime/Output.h"
#include "runtime/Parallel.h"
#include "runtime/Progress.h"
#include "runtime/ranks/Ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <poll.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace toy::rt {

double secondsNow() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

static std::string shown(double seconds) { return fmt::format("{:g} seconds", seconds); }

std::string dateText(double seconds, const std::string &format) {
  constexpr double farthest = 1e11; // years have four digits, or one more
  std::tm calendar{};
  std::time_t whole = std::abs(seconds) < farthest ? static_cast<std::time_t>(std::floor(seconds)) : 0;
  if (!(std::abs(seconds) < farthest) || !gmtime_r(&whole, &calendar))
    fail(DiagId::OutsideRange, {"date", "a date", "at most 1e11 seconds away from 1970", shown(seconds)});
  if (format.empty())
    return "";
  for (size_t at = 0; (at = format.find('%', at)) < format.size(); at += 2) {
    size_t next = std::min(format.find_first_not_of("_-0^#+", at + 1), format.size());
    if (std::isdigit(static_cast<unsigned char>(format[next]))) // the C library pads to any width, of gigabytes too
      fail(DiagId::OutsideRange,
           {"date", "a field of the format", "without a width", format.substr(at, next + 1 - at)});
  }
  // A blank in front tells an empty result from a buffer that is too small.
  std::string text(64, '\0'), guarded = " " + format;
  size_t length = 0;
  while ((length = std::strftime(text.data(), text.size(), guarded.c_str(), &calendar)) == 0)
    text.resize(2 * text.size());
  return text.substr(1, length - 1);
}

void sleepFor(double seconds) {
  if (!(seconds >= 0) || std::isinf(seconds))
    fail(DiagId::OutsideRange, {"sleep", "a time", "0 or more", shown(seconds)});
  flushOutput();
  const double end =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count() + seconds;
  while (true) {
    poll();
    double left = end - std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    if (left <= 0)
      return;
    const double most = ranks::carryOn() ? 0.001 : 0.05;
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, most)));
  }
}

std::string environmentVariable(const std::string &name, const std::string &fallback) {
  const char *value = std::getenv(name.c_str());
  return value ? value : fallback;
}

/// Whether there is something to read, or the end.
static bool waitForInput() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  constexpr int milliseconds = 50;
  return ::poll(&input, 1, milliseconds) != 0;
}

std::string readLine() {
  static std::string waiting; // read and not given yet
  const Activity quiet(Activity::Quiet);
  flushOutput();
  for (size_t searched = 0;;) {
    if (size_t end = waiting.find('\n', searched); end != std::string::npos) {
      std::string line = waiting.substr(0, end + 1);
      waiting.erase(0, end + 1);
      return line;
    }
    searched = waiting.size();
    poll();
    if (!waitForInput())
      continue;
    char part[4096];
    ssize_t count = ::read(STDIN_FILENO, part, sizeof part);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return std::exchange(waiting, {});
    waiting.append(part, static_cast<size_t>(count));
  }
}

void exitProgram(int64_t code) {
  if (code < 0 || code > 255)
    fail(DiagId::OutsideRange, {"exit", "a status", "from 0 to 255", std::to_string(code)});
  fail(DiagId::Exited, {std::to_string(code)});
}

} // namespace toy::rt
