// SPDX-License-Identifier: Apache-2.0
/// \file
/// Blocks of memory: size-classed free lists (small) and a small cache of huge-page blocks (large), because fresh pages
/// cost ten times a streaming pass.
#pragma once

#include "support/Sanitizers.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <new>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace toy::rt {

/// Aligned blocks that are kept when they are given up. For one thread at a time.
class Blocks {
public:
  /// What a block for so many bytes takes.
  static size_t sizeFor(size_t bytes) {
    if (!recycles)
      return bytes;
    if (bytes <= smallLimit)
      return size_t(64) << classOf(bytes);
    size_t unit = bytes < hugePage * 2 ? 64 : hugePage;
    return (bytes + unit - 1) / unit * unit;
  }

  /// Sanitized builds give every object an allocation of its own: a block that is used again would hide that freed
  /// elements, or a neighbour's, are read.
  static constexpr bool recycles = !hasAddressSanitizer;

  /// What each block has, however few bytes it was made for.
  static constexpr int64_t leastBytes() { return recycles ? 64 : 0; }

  /// Blocks of one class take 64 << class bytes.
  static int classOf(size_t bytes) { return std::bit_width((std::max<size_t>(bytes, 64) - 1) >> 6); }

  /// How much room a growing block of so many bytes is to have: where it is large, memory that nobody touches costs
  /// nothing, and moving it in each doubling does.
  static size_t roomToGrow(size_t bytes) {
    constexpr size_t mostReserved = 4 << 20, times = 8;
    return recycles && bytes > smallLimit && bytes <= mostReserved ? times * bytes : bytes;
  }

  /// What a block in use has, of which `bytes` are known.
  static size_t roomOf(void *block, size_t bytes) {
    return recycles && bytes > smallLimit ? malloc_usable_size(block) : bytes;
  }

  /// Asks for large pages where bytes of a block come into use. One costs all of its memory as soon as a byte of it is
  /// touched, so room that may stay empty has none.
  static void useLargePages(void *block, size_t from, size_t to) {
    const auto address = reinterpret_cast<uintptr_t>(block);
    const uintptr_t first = (address + from + hugePage - 1) / hugePage * hugePage,
                    end = (address + to) / hugePage * hugePage;
    if (first < end)
      madvise(reinterpret_cast<void *>(first), end - first, MADV_HUGEPAGE); // NOLINT(performance-no-int-to-ptr)
  }

  /// A block of at least so many bytes, or null.
  void *take(size_t bytes) { return take(bytes, bytes); }
  /// One of which only `used` bytes are used at first.
  void *take(size_t bytes, size_t used) {
    if (!recycles)
      return newBlock(bytes, used);
    if (bytes <= smallLimit) {
      auto &list = freeBlocks[classOf(bytes)];
      if (list.empty())
        return bytes <= slabLimit ? cutBlock(sizeFor(bytes)) : newBlock(bytes, used);
      void *block = list.back();
      list.pop_back();
      return block;
    }
    const size_t needed = sizeFor(bytes);
    auto best = largeBlocks.end();
    for (auto it = largeBlocks.begin(); it != largeBlocks.end(); ++it)
      if (it->first >= needed && it->first <= 2 * needed && (best == largeBlocks.end() || it->first < best->first))
        best = it;
    if (best == largeBlocks.end())
      return newBlock(bytes, used);
    void *block = best->second;
    largeBytes -= best->first;
    largeBlocks.erase(best);
    return block;
  }

  /// Keeps a block for later, or gives it back where not even a place in a list is left. Never fails: values are freed
  /// while errors pass.
  void give(void *block, size_t bytes) noexcept try {
    if (!recycles)
      return std::free(block);
    if (bytes <= smallLimit)
      return freeBlocks[classOf(bytes)].push_back(block);
    bytes = malloc_usable_size(block); // it may have been a larger one's
    largeBlocks.emplace_back(bytes, block);
    largeBytes += bytes;
    while (largeBytes > cacheLimit || largeBlocks.size() > 16) {
      largeBytes -= largeBlocks.front().first;
      std::free(largeBlocks.front().second);
      largeBlocks.erase(largeBlocks.begin());
    }
  } catch (std::bad_alloc &) {
    if (bytes > slabLimit || !recycles)
      std::free(block);
  }

private:
  static constexpr size_t smallLimit = 1 << 16, slabLimit = 1 << 10, slabBytes = 1 << 16, hugePage = 2 << 20,
                          cacheLimit = size_t(512) << 20;

  /// What is left of memory from which small blocks of one size are cut.
  struct Slab {
    char *next = nullptr, *end = nullptr;
  };

  static void *newBlock(size_t bytes, size_t used) {
    size_t size = sizeFor(bytes);
    bool isHuge = bytes >= hugePage * 2;
    void *block = nullptr;
    if (posix_memalign(&block, isHuge && recycles ? hugePage : 64, size) != 0)
      return nullptr;
    if (isHuge)
      useLargePages(block, 0, used < bytes ? used : size);
    return block;
  }

  /// A small block: an allocation of its own would take twice its bytes for its alignment. It is never given back.
  void *cutBlock(size_t size) {
    Slab &slab = slabs[classOf(size)];
    if (slab.next == slab.end) {
      void *memory = nullptr;
      if (posix_memalign(&memory, 64, slabBytes) != 0)
        return nullptr;
      slab = {static_cast<char *>(memory), static_cast<char *>(memory) + slabBytes};
    }
    return std::exchange(slab.next, slab.next + size);
  }

  std::vector<void *> freeBlocks[24]; ///< of 64 << class bytes
  Slab slabs[24];                     ///< for blocks of these sizes
  std::vector<std::pair<size_t, void *>> largeBlocks;
  size_t largeBytes = 0;
};

} // namespace toy::rt
