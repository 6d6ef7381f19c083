// SPDX-License-Identifier: Apache-2.0
/// \file
/// How work is cut for threads.
#pragma once

#include <cstdint>

namespace toy::rt {

/// The length of a piece of n > grain: about `grain` or more, as many for one thread as for another unless there are
/// fewer, and whole vectors where a piece is long, so that no thread has a rest to compute element by element.
int64_t pieceOf(int64_t n, int64_t grain, int64_t threads);

} // namespace toy::rt
