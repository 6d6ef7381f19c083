// SPDX-License-Identifier: Apache-2.0
/// \file
/// Batches shared among threads: pieces are neither too short nor all of one thread, and errors are those of the first
/// matrix that is wrong.
#include "runtime/Batches.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace toy::rt {
namespace {

struct TwoThreads {
  TwoThreads() { setThreads(2); }
  ~TwoThreads() { setThreads(0); }
};

TEST(Batches, PiecesAreWorthATask) {
  EXPECT_EQ(matricesOfPiece(1 << 20), 1);
  EXPECT_EQ(matricesOfPiece(1 << 12), 8);
  EXPECT_EQ(smallMatricesOfPiece(16), 64);
  EXPECT_EQ(smallMatricesOfPiece(4), 128);
}

TEST(Batches, EachMatrixOnce) {
  TwoThreads two;
  std::vector<std::atomic<int>> seen(1000);
  overBatch(1000, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      ++seen[i];
  });
  for (const auto &times : seen)
    EXPECT_EQ(times, 1);
}

/// The first matrix fails when another one has failed, if another thread is there to do that.
TEST(Batches, TheFirstErrorIsTold) {
  TwoThreads two;
  std::atomic<bool> another = false;
  auto piece = [&](int64_t begin, int64_t) {
    using namespace std::chrono_literals;
    for (int turn = 0; begin == 0 && !another && turn < 1000; ++turn)
      std::this_thread::sleep_for(1ms);
    if (begin > 0)
      another = true;
    throw std::runtime_error(std::to_string(begin));
  };
  try {
    overBatch(64, 1, piece);
    FAIL() << "no error";
  } catch (const std::runtime_error &error) {
    EXPECT_STREQ(error.what(), "0");
  }
}

} // namespace
} // namespace toy::rt
