// SPDX-License-Identifier: Apache-2.0
/// \file
/// How work is cut for threads: nobody has much more than another, and no piece is much shorter than what is worth one.
#include "runtime/Pieces.h"

#include <gtest/gtest.h>

namespace toy::rt {
namespace {

int64_t numberOf(int64_t n, int64_t piece) { return (n + piece - 1) / piece; }

TEST(Pieces, ThreadsHaveTheSame) {
  EXPECT_EQ(pieceOf(448, 128, 2), 224); // and not three of 128 and a rest
  EXPECT_EQ(pieceOf(100, 64, 2), 64);   // whole vectors
  EXPECT_EQ(pieceOf(8, 1, 2), 1);
  EXPECT_EQ(pieceOf(40000, 32768, 2), 20032);
  for (int64_t threads : {2, 4, 7})
    for (int64_t n : {1000, 50000, 1000003, 123456789})
      for (int64_t grain : {1, 64, 4096}) {
        const int64_t piece = pieceOf(n, grain, threads), number = numberOf(n, piece);
        if (n < 2 * threads * grain)
          continue;
        const int64_t most = numberOf(number, threads) * piece; // of one thread
        EXPECT_LE(static_cast<double>(most), 1.1 * static_cast<double>(n) / static_cast<double>(threads) + 64)
            << n << " " << grain << " " << threads;
      }
}

TEST(Pieces, AreWorthATask) {
  for (int64_t n : {1000, 1000000, 100000000}) {
    EXPECT_GE(pieceOf(n, 300, 2), 200);
    EXPECT_LE(numberOf(n, pieceOf(n, 1, 2)), 32); // taking a piece takes a microsecond
  }
  EXPECT_LE(numberOf(100, pieceOf(100, 1, 2)), 8); // of short work there are few
  EXPECT_GE(numberOf(100000, pieceOf(100000, 1, 2)), 16);
}

} // namespace
} // namespace toy::rt
