// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loops over all cores.
#pragma once

#include <atomic>
#include <cstdint>

namespace toy::rt {

/// Limits the threads of loops and of BLAS; 0 is all cores.
void setThreads(int threads);
int threads();

/// Calls `body(context, begin, end)` on pieces of [0, n) of at least `grain`; inline when one piece is enough.
/// Exceptions propagate.
void parallelFor(int64_t n, int64_t grain, void (*body)(void *context, int64_t begin, int64_t end), void *context);

/// The same of what can be called with `begin` and `end`.
template <typename F> void parallelPieces(int64_t n, int64_t grain, F f) {
  parallelFor(n, grain, [](void *f, int64_t begin, int64_t end) { (*static_cast<F *>(f))(begin, end); }, &f);
}

/// Set by Ctrl-C; `poll` throws DiagId::Interrupted once and clears it.
void interrupt();
void poll();
/// What `interrupt` sets, for compiled loops to look at.
std::atomic<bool> &interruptFlag();
/// The byte behind it: loops of the top level are to tell how far they are (Progress.h).
std::atomic<bool> &turnRequest();

/// Results of at least this many bytes are written past the caches, in pieces of at most `streamPiece` bytes (longer
/// ones interrupt reading ahead).
constexpr int64_t streamBytes = 16 << 20, streamPiece = 4 << 10;
/// And results of tiles, whose lines memory would have to be asked for one by one, where they and what they are made of
/// take so many bytes: the last cache of a core and its neighbours.
constexpr int64_t streamTiles = 20 << 20;
/// Steps of the range in a piece; 0 where the result is small or a step too long.
int64_t streamSteps(int64_t bytes, int64_t stepBytes);
/// Copies by non-temporal stores where the machine has them; others see them after `finishStream`.
void streamCopy(void *to, const void *from, int64_t bytes);
void finishStream();

} // namespace toy::rt
