// SPDX-License-Identifier: Apache-2.0
/// \file
/// The threads of a warp, their registers and memory.
#pragma once

#include "PtxValues.h"

#include <bit>

namespace ptx {

constexpr int warpThreads = 32;
/// A bit for each thread of a warp.
using Mask = uint32_t;
/// A register's words of all threads.
using Row = std::array<Word, warpThreads>;

constexpr uint64_t localWindow = uint64_t(1) << 60, localBytes = 1 << 14;

/// What a function needs while it runs: functions do not call themselves, so each has one.
struct Frame {
  explicit Frame(const Function &f, uint64_t localBase);
  std::vector<Row> registers; ///< constants among them
  std::vector<Slot> slots;    ///< of one thread after the other
  uint64_t localBase;
  std::array<int, warpThreads> at; ///< each thread's next instruction
  Mask threads = 0, left = 0, waiting = 0;
};

/// Memory that the warps of a block share.
struct Shared {
  std::vector<char> bytes;
  bool has(uint64_t address) const { return address >= sharedWindow && address < sharedWindow + (uint64_t(1) << 32); }
};

/// Runs one warp after the other. Threads go together as long as they are at the same instruction; of those that are
/// not, the ones that are behind go first, so that branches meet again. A shuffle waits for all, a barrier for the
/// other warps of the block.
class Warp {
public:
  Warp(const Module &module, Memory &memory, Shared &shared) : module(module), memory(memory), shared(shared) {}
  void start(const Function &kernel, unsigned block, unsigned blockThreads, unsigned first, unsigned count,
             const std::vector<uint64_t> &parameters);
  /// To the next barrier; false at the end.
  bool goOn(const Function &kernel);

private:
  Frame &frameOf(const Function &f);
  void begin(const Function &f, Frame &frame, Mask threads);
  bool run(const Function &f, Frame &frame);
  bool meet(const Function &f, Frame &frame);
  void compute(const Function &f, Frame &frame, const Instruction &i, Mask on);
  void call(const Function &f, Frame &frame, const Instruction &i, Mask on);
  void shuffle(Frame &frame, const Instruction &i, Mask waiting);
  void move(Frame &frame, const Instruction &i, Mask on);
  void compare(Frame &frame, const Instruction &i, Mask on);
  void addWords(Frame &frame, const Instruction &i, Mask on);
  // PtxMemory.cpp
  void transfer(const Function &f, Frame &frame, const Instruction &i, Mask on);
  void transferAll(Frame &frame, const Instruction &i, const std::array<char *, warpThreads> &places, Mask on);
  bool findTogether(const Row &addresses, const Instruction &i, Mask on, std::array<char *, warpThreads> &places);
  char *placeOf(Word address, const Instruction &i, int thread);
  void countConflicts(const Row &addresses, unsigned bytes, Mask on);

  const Module &module;
  Memory &memory;
  Shared &shared;
  std::map<const Function *, Frame> frames;
  std::array<bool, warpThreads> carry{};
  uint64_t localTop = 0;
};

/// For each thread of a mask; all of them is what compilers make lanes of.
template <typename Do> void eachOf(Mask on, Do body) {
  if (on == ~Mask(0))
    for (int t = 0; t < warpThreads; ++t)
      body(t);
  else
    for (; on; on &= on - 1)
      body(std::countr_zero(on));
}

} // namespace ptx
