// SPDX-License-Identifier: Apache-2.0
/// \file
/// Matrices of a batch, shared among threads.
#pragma once

#include "runtime/Parallel.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <mutex>

namespace toy::rt {

/// What pieces of a batch threw: of several errors the one that one thread alone would have met first.
class FirstError {
public:
  /// Whether a piece that begins here is still of use.
  bool isWanted(int64_t begin);
  void note(int64_t begin, std::exception_ptr found);
  void rethrow() const;

private:
  std::mutex mutex;
  int64_t at = std::numeric_limits<int64_t>::max();
  std::exception_ptr error;
};

/// How many matrices are a piece, each of which takes about so many multiplications: ten microseconds and more.
inline int64_t matricesOfPiece(double each) {
  constexpr double brief = 1 << 15;
  return std::max<int64_t>(1, static_cast<int64_t>(brief / std::max(each, 1.0)));
}

/// The same of small square matrices, for kernels with a matrix in each lane.
inline int64_t smallMatricesOfPiece(int64_t order) {
  return std::max<int64_t>(64, (1 << 13) / (order * order * order));
}

/// Calls `f(begin, end)` for pieces of `grain` matrices or more. Where f throws, it does so for its first matrix that
/// is wrong; it does not look for Ctrl-C, as that is done between pieces.
template <typename F> void overBatch(int64_t count, int64_t grain, F f) {
  struct Context {
    F &f;
    FirstError first;
  } context{f, {}};
  auto piece = [](void *opaque, int64_t begin, int64_t end) {
    auto &[f, first] = *static_cast<Context *>(opaque);
    if (!first.isWanted(begin))
      return;
    try {
      f(begin, end);
    } catch (...) {
      first.note(begin, std::current_exception());
    }
  };
  parallelFor(count, grain, piece, &context);
  context.first.rethrow();
}

} // namespace toy::rt
