// SPDX-License-Identifier: Apache-2.0
/// \file
/// Activities are rows of a small table. The thread sleeps where there are none.
#include "runtime/Progress.h"

#include "runtime/Output.h"
#include "runtime/Parallel.h"
#include "support/Terminal.h"
#include "support/Unicode.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <initializer_list>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>

namespace toy::rt {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds patience(1000), betweenDrawings(100);
constexpr int most = 16; ///< activities; what lies deeper is not told

double secondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

struct Row {
  Activity::Kind kind = Activity::Quiet;
  std::string name;
  Clock::time_point began;
  std::atomic<int64_t> done = 0, total = 0;
  // Of the loop that told last, which may have begun long after its statement.
  double fraction = 0, firstFraction = 0;
  Clock::time_point firstTold;
};

std::mutex mutex; ///< of all rows
Row rows[most];
std::atomic<int> depth = 0;
std::atomic<uint32_t> changes = 0; ///< of the table
std::atomic<int> drawnRow = -1;

// What `progress` draws is not drawn over while its loop runs: with what was the innermost activity.
std::atomic<int> ownLine = most;

std::string clockTime(double seconds) {
  auto s = static_cast<int64_t>(std::min(seconds, 359999.0));
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                  : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string bar(double fraction) {
  constexpr int cells = 24;
  std::string text;
  for (int i = 0; i < cells; ++i)
    text += i < static_cast<int>(fraction * cells) ? "█" : "░";
  return text;
}

std::string join(std::initializer_list<std::string_view> parts) {
  std::string line;
  for (std::string_view part : parts)
    if (!part.empty())
      line.append(line.empty() ? "" : " ").append(part);
  return line;
}

/// The first text that fits a row of the terminal without its last column.
std::string fitting(std::initializer_list<std::string> texts) {
  size_t width = screenSize(STDERR_FILENO).columns;
  for (const std::string &text : texts)
    if (columnsOf(text) < width)
      return text;
  return "";
}

std::string line(std::string_view what, std::string_view counts, double fraction, double secondsLeft) {
  std::string percent = fmt::format("{:.0f} %", std::clamp(fraction, 0.0, 1.0) * 100);
  std::string left = secondsLeft >= 0 ? clockTime(secondsLeft) + " left" : "";
  return fitting({join({what, bar(fraction), counts, percent, left}), join({what, counts, percent, left}),
                  join({what, percent, left}), join({percent, left}), percent});
}

std::string megabytes(int64_t done, int64_t total) {
  return fmt::format("{:.1f}/{:.1f} MB", static_cast<double>(done) / 1e6, static_cast<double>(total) / 1e6);
}

/// What is shown of a row; nothing where there is nothing to say.
std::string shown(const Row &row) {
  int64_t done = row.done, total = row.total;
  double seconds = secondsSince(row.began);
  switch (row.kind) {
  case Activity::Turns: {
    if (total <= 0)
      return "";
    constexpr double enough = 0.4; // seconds, to guess from
    double gone = row.fraction - row.firstFraction, watched = secondsSince(row.firstTold);
    double left = gone > 0 && watched > enough ? watched * (1 - row.fraction) / gone : -1;
    return line("loop", fmt::format("{}/{}", done, total), row.fraction, left);
  }
  case Activity::Bytes: {
    double fraction = total > 0 ? static_cast<double>(std::min(done, total)) / static_cast<double>(total) : 0;
    double left = fraction > 0 ? seconds * (1 - fraction) / fraction : -1;
    return line("load " + row.name, megabytes(std::min(done, total), total), fraction, left);
  }
  case Activity::Units: {
    std::string counts = total > 1 ? fmt::format("{}/{} functions", std::min(done, total), total) : row.name;
    return fitting({join({"compiling", counts, clockTime(seconds)}), join({"compiling", clockTime(seconds)}), ""});
  }
  case Activity::Quiet:
    break;
  }
  return "";
}

/// The innermost activity that has lasted and has something to say.
std::string currentLine(int &index) {
  for (index = std::min<int>(depth, most) - 1; index >= 0 && rows[index].kind != Activity::Quiet; --index)
    if (Clock::now() - rows[index].began >= patience)
      if (std::string text = shown(rows[index]); !text.empty())
        return text;
  return "";
}

void askForTurn() {
  int index = std::min<int>(depth, most) - 1;
  while (index >= 0 && rows[index].kind != Activity::Turns && rows[index].kind != Activity::Quiet)
    --index;
  if (index >= 0 && rows[index].kind == Activity::Turns && Clock::now() - rows[index].began >= patience)
    turnRequest() = true;
}

void *drawNowAndThen(void *) {
  while (true) {
    depth.wait(0);
    std::this_thread::sleep_for(betweenDrawings);
    std::string text;
    uint32_t seen;
    int index;
    {
      std::lock_guard lock(mutex);
      askForTurn();
      text = currentLine(index);
      seen = changes;
    }
    bool isForeground = tcgetpgrp(STDERR_FILENO) == getpgrp();
    if (text.empty() || !isForeground || depth > ownLine)
      continue;
    drawnRow = index;
    drawLine(text, [&] { return changes == seen; });
  }
  return nullptr;
}

/// Whether there is a terminal and a thread that draws on it. Signals stay with the threads that handle them.
bool start() {
  if (!isatty(STDERR_FILENO) || !terminalMovesCursor())
    return false;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  bool started = pthread_create(&thread, nullptr, drawNowAndThen, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started)
    pthread_detach(thread);
  return started;
}

bool isDrawing() {
  static const bool is = start();
  return is && showsOutput();
}

/// The activities from one on have ended.
void end(int index) {
  {
    std::lock_guard lock(mutex);
    depth = index;
    ++changes;
    if (ownLine >= index)
      ownLine = most;
    if (index == 0)
      turnRequest() = false;
  }
  if (index <= drawnRow || index == 0) {
    eraseLine();
    drawnRow = -1;
  }
}

} // namespace

Activity::Activity(Kind kind, std::string_view name, int64_t total) : index(isDrawing() ? depth.load() : -1) {
  if (index < 0)
    return;
  {
    std::lock_guard lock(mutex);
    if (index < most) {
      Row &row = rows[index];
      row.kind = kind;
      row.name = name;
      row.began = Clock::now();
      row.done = 0;
      row.total = total;
    }
    depth = index + 1;
    ++changes;
  }
  if (kind == Quiet)
    eraseLine();
  if (index == 0)
    depth.notify_one();
}

Activity::~Activity() {
  if (index >= 0)
    end(index);
}

void noteDone(Activity::Kind kind, int64_t done) {
  if (int index = depth - 1; index >= 0 && index < most && rows[index].kind == kind)
    rows[index].done = done;
}

bool turnIsAsked() { return turnRequest().load(std::memory_order_relaxed); }

void noteTurn(int64_t done, int64_t total, int64_t innerDone, int64_t innerTotal) {
  if (!turnRequest().exchange(false))
    return;
  std::lock_guard lock(mutex);
  int index = std::min<int>(depth, most) - 1;
  while (index >= 0 && rows[index].kind != Activity::Turns)
    --index;
  if (index < 0 || total <= 0)
    return;
  Row &row = rows[index];
  double inner = innerTotal > 0 ? static_cast<double>(innerDone) / static_cast<double>(innerTotal) : 0;
  double fraction = (static_cast<double>(done) + inner) / static_cast<double>(total);
  if (total != row.total || fraction < row.fraction || row.total == 0) { // another loop
    row.firstFraction = fraction;
    row.firstTold = Clock::now();
  }
  row.fraction = fraction;
  row.done = done;
  row.total = total;
}

int activities() { return depth; }

void dropActivities(int left) {
  if (depth > left)
    end(left);
}

void showProgress(int64_t done, int64_t total, std::string_view label) {
  static Clock::time_point loopBegan, lastDrawn;
  static int64_t lastDone = -1;
  static const bool isTerminal = isatty(STDERR_FILENO) && terminalMovesCursor();
  if (!isTerminal || !showsOutput())
    return;
  Clock::time_point now = Clock::now();
  const bool ends = done < 0;
  if (ends) // the last turn that began is done
    done = lastDone + 1;
  else if (done == 0)
    loopBegan = now;
  const bool shows = ends || done == 0 || now - lastDrawn > betweenDrawings / 2;
  lastDone = done;
  ownLine = ends ? most : std::max(depth.load() - 1, 0);
  if (!shows)
    return;
  lastDrawn = now;
  double seconds = std::chrono::duration<double>(now - loopBegan).count();
  double fraction = total > 0 ? std::min(1.0, static_cast<double>(done) / static_cast<double>(total)) : 1;
  std::string counts = fmt::format("{}/{}", done, total), rate, time;
  if (done > 0 && seconds > 0) {
    rate = fmt::format("{:.3g}/s", static_cast<double>(done) / seconds);
    time = clockTime(ends ? seconds : seconds / static_cast<double>(done) * static_cast<double>(total - done));
  }
  flushOutput();
  std::string text = fitting({join({label, bar(fraction), counts, rate, time}), join({label, counts, rate, time}),
                              join({label, counts, time}), join({counts, time}), counts});
  if (ends)
    errorOutput(text + "\n");
  else
    drawLine(text, [] { return true; });
}

} // namespace toy::rt
