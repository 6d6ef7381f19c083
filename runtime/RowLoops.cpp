// SPDX-License-Identifier: Apache-2.0
/// \file
/// See RowLoops.h.
#include "runtime/RowLoops.h"

#include "runtime/Parallel.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace toy::rt {
namespace {

/// What fits into a cache is read again from there anyway; a block of rows stays in that of one core.
constexpr int64_t leastElements = 1 << 19, blockBytes = 96 << 10, line = 64;

std::vector<RowLoop> &waiting() {
  static std::vector<RowLoop> loops;
  return loops;
}

/// One thread's blocks of rows: each result has a place, and loops read and write there instead.
class Block {
public:
  Block(const std::vector<RowLoop> &loops, int64_t height) : loops(loops) {
    int64_t bytes = 0;
    for (const RowLoop &loop : loops) {
      places.push_back(bytes);
      bytes += (height * rowBytes(loop) + line - 1) / line * line;
      words.emplace_back(loop.words, loop.words + loop.wordCount);
    }
    memory = std::make_unique<char[]>(bytes + line);
    first = memory.get() + (-reinterpret_cast<uintptr_t>(memory.get()) & (line - 1));
  }

  void run(int64_t begin, int64_t end) {
    for (size_t i = 0; i < loops.size(); ++i) {
      const RowLoop &loop = loops[i];
      for (int64_t w = 0; w < loop.wordCount; ++w)
        if (loop.pointers >> w & 1)
          words[i][w] = placeOf(loop.words[w], begin);
      const int64_t steps = loop.range / loop.rows;
      loop.body(words[i].data(), begin * steps, end * steps);
    }
    for (size_t i = 0; i < loops.size(); ++i)
      streamCopy(loops[i].result + begin * rowBytes(loops[i]), first + places[i], (end - begin) * rowBytes(loops[i]));
  }

  static int64_t rowBytes(const RowLoop &loop) { return loop.bytes / loop.rows; }

private:
  /// Where the row with this number would be, if the first one were at its place.
  void *placeOf(void *pointer, int64_t row) {
    for (size_t i = 0; i < loops.size(); ++i)
      if (pointer == loops[i].result)
        return first + places[i] - row * rowBytes(loops[i]);
    return pointer;
  }

  const std::vector<RowLoop> &loops;
  std::vector<int64_t> places;
  std::vector<std::vector<void *>> words;
  std::unique_ptr<char[]> memory;
  char *first;
};

} // namespace

void addRowLoop(const RowLoop &loop, int64_t grain) {
  std::vector<RowLoop> &loops = waiting();
  const bool fits = loop.rows > 1 && loop.range % loop.rows == 0 && loop.bytes / loop.rows <= blockBytes / 4;
  if (fits && (loops.empty() ? loop.elements >= leastElements : loops[0].rows == loop.rows))
    return loops.push_back(loop);
  runRowLoops();
  parallelFor(loop.range, grain, loop.body, const_cast<void **>(loop.words));
}

void runRowLoops() {
  const std::vector<RowLoop> loops = std::exchange(waiting(), {});
  if (loops.empty())
    return;
  int64_t bytes = 0;
  for (const RowLoop &loop : loops)
    bytes += Block::rowBytes(loop);
  struct Work {
    const std::vector<RowLoop> &loops;
    int64_t height;
  } work{loops, std::max<int64_t>(1, blockBytes / std::max<int64_t>(bytes, 1))};
  auto rows = [](void *context, int64_t begin, int64_t end) {
    const auto &[loops, height] = *static_cast<Work *>(context);
    Block block(loops, height);
    for (int64_t row = begin; row < end; row += height)
      block.run(row, std::min(row + height, end));
    finishStream();
  };
  parallelFor(loops[0].rows, work.height, rows, &work);
}

void dropRowLoops() { waiting().clear(); }

} // namespace toy::rt
