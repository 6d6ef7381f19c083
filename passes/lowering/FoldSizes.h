// SPDX-License-Identifier: Apache-2.0
/// \file
/// How many elements folds take together, on the host and on a device.
#pragma once

#include <cstdint>

namespace toy {

/// The order of sums (rule 12 of docs/reference): blocks one after the other, in each of them lanes, if the last axis
/// is reduced, else runs one after the other.
constexpr int64_t reductionBlock = 8192, reductionLanes = 32, reductionRun = 64;
constexpr int64_t positionLanes = 64; ///< of what looks for the best element
/// Of rows of so few elements; of extrema of floats, in any order.
constexpr int64_t fewLanes = 16, extremumLanes = 8;
constexpr int64_t leastColumns = 64; ///< of a thread that reduces columns: its rows are whole cache lines
/// Of a device: threads that go together, as many as there are lanes, so that results have the host's bits; and the
/// widest access of one.
constexpr int64_t warp = reductionLanes, threadsOfBlock = 256, accessBytes = 16;
constexpr int64_t manyRows = 4096;                          ///< a warp each is work for a device
constexpr int64_t leastStaged = 512, mostStaged = 32 << 10; ///< elements and bytes of rows that go to shared memory
constexpr int64_t leastOfMany = 2048; ///< elements of rows that do where they are many, as caches do not hold all
constexpr int64_t manyBlocks = 4 * 132, manyThreads = 1 << 17; ///< are four blocks a multiprocessor of an H200

} // namespace toy
