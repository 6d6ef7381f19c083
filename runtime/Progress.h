// SPDX-License-Identifier: Apache-2.0
/// \file
/// The line that a terminal shows of work that takes more than a second. A thread draws it, ten times a second at most;
/// the work itself only counts.
#pragma once

#include <cstdint>
#include <string_view>

namespace toy::rt {

/// Work of the thread that runs the program, while it lives; inner ones hide outer ones. Costs nothing to speak of
/// where standard error is no terminal.
class Activity {
public:
  enum Kind : uint8_t {
    Turns, ///< a statement of the top level, whose loops tell how far they are (`noteTurn`)
    Bytes, ///< of the file `name`
    Units, ///< functions that are compiled
    Quiet, ///< others use the terminal: no line is drawn
  };
  explicit Activity(Kind kind, std::string_view name = {}, int64_t total = 0);
  ~Activity();
  Activity(const Activity &) = delete;

private:
  const int index; ///< -1: there is no terminal
};

/// How far the innermost activity of a kind is, if that is the innermost one at all; from any thread.
void noteDone(Activity::Kind kind, int64_t done);

/// Whether the loops of the statement are to tell how far they are.
bool turnIsAsked();
/// So many turns of the outermost loop are done, and of the one in it (0 of 0 where there is none).
void noteTurn(int64_t done, int64_t total, int64_t innerDone, int64_t innerTotal);

/// Draws how far a loop with `progress` is, with its rate and the remaining time, on the terminal that standard error
/// is; elsewhere nothing. A negative number ends the line, which stays.
void showProgress(int64_t done, int64_t total, std::string_view label);

/// How many activities there are, and that those behind them ended by a fault.
int activities();
void dropActivities(int left);

} // namespace toy::rt
