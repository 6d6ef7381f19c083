// SPDX-License-Identifier: Apache-2.0
/// \file
/// Small tensors that died, each with its header, storage and elements, for the next ones of their sizes: loops make
/// and drop one in each turn (internal to runtime/).
#pragma once

#include "runtime/Blocks.h"
#include "runtime/Objects.h"

#include <array>
#include <bit>
#include <utility>

namespace toy::rt {

/// For one thread at a time, as Blocks is.
class WholeTensors {
  static constexpr int64_t mostBytes = 1 << 16; ///< of one
  static constexpr int classes = 11;            ///< of elements: 64 << class bytes
  static constexpr size_t mostAxes = 9;         ///< of a header of 128 bytes; up to one axis needs 64

public:
  /// The list of a tensor that is not kept.
  static constexpr uint8_t nowhere = 2 * classes;

  /// Where a tensor of so many axes and bytes of elements, at least one, waits for its next use.
  static uint8_t listOf(size_t rank, int64_t bytes) {
    if (bytes > mostBytes || rank > mostAxes)
      return nowhere;
    return static_cast<uint8_t>((rank > 1 ? classes : 0) + std::bit_width((static_cast<uint64_t>(bytes) - 1) >> 6));
  }

  /// Its header as it died, listed again; `data` and `waitsIn` are right, the rest is the caller's. Or null.
  Tensor *take(uint8_t of) {
    List &list = lists[of];
    Link *l = list.first;
    if (!l)
      return nullptr;
    list.first = l->next;
    ++list.room;
    return static_cast<Tensor *>(objectOf(beginLink(l, Link::IsTensor)));
  }

  /// Keeps a tensor that is not watched. False if it is not small, has not all that it had when it was made, or
  /// if there are many: a loop may let go of views of tensors of another rank, and would never ask for what is kept.
  bool keep(Tensor *t) {
    List &list = lists[t->waitsIn];
    const Storage &storage = *t->storage;
    if (!list.room || storage.refs.load(std::memory_order_acquire) != 1 || storage.device || storage.source)
      return false;
    unlink(linkOf(t));
    t->data = storage.data;
    linkOf(t)->next = std::exchange(list.first, linkOf(t));
    --list.room;
    return true;
  }

  void keepNone() {
    for (List &list : lists)
      list.room = 0;
  }

  constexpr WholeTensors() {
    constexpr int mostOfOne = 1 << 14; // of 64 bytes: 1 MiB, as of all others
    for (int i = 0; Blocks::recycles && i < nowhere; ++i)
      lists[i].room = mostOfOne >> i % classes;
  }

private:
  struct List {
    Link *first = nullptr; ///< linked by `next`
    int room = 0;          ///< for so many more
  };
  std::array<List, nowhere + 1> lists;
};

} // namespace toy::rt
