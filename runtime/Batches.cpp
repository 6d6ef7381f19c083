// SPDX-License-Identifier: Apache-2.0
/// \file
/// Errors of threads, of which one is told.
#include "runtime/Batches.h"

namespace toy::rt {

bool FirstError::isWanted(int64_t begin) {
  std::lock_guard lock(mutex);
  return begin < at;
}

void FirstError::note(int64_t begin, std::exception_ptr found) {
  std::lock_guard lock(mutex);
  if (begin < at) {
    at = begin;
    error = std::move(found);
  }
}

void FirstError::rethrow() const {
  if (error)
    std::rethrow_exception(error);
}

} // namespace toy::rt
