// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loops over the same rows, of which later ones read what earlier ones make, as one pass over memory: all of them for
/// some rows, then for the next ones. Their results are made in a cache and written past it.
#pragma once

#include <cstdint>

namespace toy::rt {

struct RowLoop {
  void (*body)(void *words, int64_t begin, int64_t end);
  void *const *words; ///< what the loop captured; stays until the loops have run
  int64_t wordCount;
  uint64_t pointers; ///< which of the words are, a bit each
  int64_t range;     ///< of the loop, the same number of steps for each row
  int64_t rows;
  int64_t elements; ///< that it reads or writes
  char *result;     ///< of `bytes`, rows behind each other
  int64_t bytes;
};

/// Puts a loop behind those that wait, or, where that gains nothing, runs it.
void addRowLoop(const RowLoop &loop, int64_t grain);
/// Runs those that wait.
void runRowLoops();
/// Forgets them: an error has ended what they belong to.
void dropRowLoops();

} // namespace toy::rt
