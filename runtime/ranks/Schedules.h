// SPDX-License-Identifier: Apache-2.0
/// \file
/// In which steps ranks sum what they have. All ways give the same bits: those of a balanced tree over rank numbers,
/// (0, 1), (2, 3), … first, then pairs of pairs; who has no partner passes on.
#pragma once

#include "runtime/ranks/Ranks.h"

namespace toy::ranks {

/// target[i] = lower[i] ⊕ higher[i]; any of them may be the same.
using Combine = void (*)(void *target, const void *lower, const void *higher, int64_t count);

/// What is summed: elements of a dtype that computes (f32 for bf16 and f16).
struct Sum {
  Combine combine;
  int64_t width; ///< bytes of an element
};
Sum sumOf(DType dtype, Reduction reduction);

enum class Schedule : uint8_t { Doubling, Halving, Gather, Parts };
/// By the number of ranks and bytes; TOY_RANKS_SCHEDULE=doubling|halving|gather|parts overrules it, for tests.
Schedule scheduleFor(int64_t bytes);

/// The tree over parts that are here, whose result is that of the first; the others are used up.
void sumParts(const Sum &sum, std::span<char *const> parts, int64_t count);
/// All ranks' sum of `count` elements, on all of them. Neither is the other.
void sumOverRanks(const Sum &sum, const void *x, void *out, int64_t count, Schedule schedule);
/// `bytes[r]` bytes of each rank r behind each other, on all ranks.
void gatherBytes(const void *own, void *all, std::span<const int64_t> bytes);
/// Each rank's part for each: part j of `out` goes to rank j. Parts lie behind each other.
void exchangeParts(const void *out, std::span<const int64_t> outBytes, void *in, std::span<const int64_t> inBytes);

/// Where the part of rank r of n elements begins.
inline int64_t shardBegin(int64_t n, int64_t p, int64_t r) { return r * (n / p) + std::min(r, n % p); }

} // namespace toy::ranks
