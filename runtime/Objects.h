// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the runtime knows its live objects (internal to runtime/): each is preceded by a link of one list.
#pragma once

#include "runtime/List.h"

#include <atomic>
#include <thread>

namespace toy::rt {

/// Precedes every Tensor, Str and List in memory.
struct Link {
  enum Kind : uint64_t { IsTensor, IsStr, IsList };
  Link *previous = nullptr, *next = nullptr;
  uint64_t tag = 0; ///< not two fields of bits: a byte that is stored holds up the load of the word

  Link(Link *previous, Link *next, Kind kind, uint64_t serial)
      : previous(previous), next(next), tag(serial << 2 | kind) {}
  constexpr Link() = default;
  Kind kind() const { return static_cast<Kind>(tag & 3); }
  uint64_t serial() const { return tag >> 2; } ///< 0: in no list
};
static_assert(sizeof(Link) + sizeof(Str) <= 64, "a string is one of the smallest blocks");

/// Held for some nanoseconds: an exchange and a store, where a mutex is two calls. The only thread takes nothing: no
/// other one begins while it holds the heap, and those that it saw may end.
class HeapLock {
public:
  void lock() {
    while (!isOnlyThread() && taken.exchange(true, std::memory_order_acquire))
      while (taken.load(std::memory_order_relaxed))
        std::this_thread::yield();
  }
  void unlock() { taken.store(false, std::memory_order_release); }

private:
  std::atomic<bool> taken = false;
};

struct LiveList {
  HeapLock mutex; ///< of the whole heap
  Link head;      ///< newest first
  uint64_t serial = 0;
  uint64_t watched = 0; ///< up to here objects are older than the innermost `Watch`
};
extern constinit LiveList liveObjectsList;
inline LiveList &liveList() { return liveObjectsList; }
/// Whether this thread makes objects that are its own (runtime/Apart.h).
[[gnu::tls_model("initial-exec")]] extern constinit thread_local bool isUnlisted; // a load, where others are calls

/// Begins a link: at the head of the list, unless this thread makes objects that are its own. The heap is locked.
inline Link *beginLink(void *memory, Link::Kind kind) {
  if (isUnlisted)
    return new (memory) Link(nullptr, nullptr, kind, 0);
  LiveList &live = liveList();
  Link *l = new (memory) Link(&live.head, live.head.next, kind, ++live.serial);
  if (l->next)
    l->next->previous = l;
  live.head.next = l;
  return l;
}
/// Frees the object; a list lets its elements go unless they are freed on their own. The heap is locked.
void destroy(Link *l, bool letsGo = true);

inline Link *linkOf(void *object) { return reinterpret_cast<Link *>(static_cast<char *>(object) - sizeof(Link)); }
inline void *objectOf(Link *l) { return reinterpret_cast<char *>(l) + sizeof(Link); }

inline std::atomic<int64_t> &referencesTo(Link *l) {
  void *object = objectOf(l);
  return l->kind() == Link::IsStr    ? static_cast<Str *>(object)->refs
         : l->kind() == Link::IsList ? static_cast<List *>(object)->refs
                                     : static_cast<Tensor *>(object)->refs;
}

/// Takes an object out of what is watched.
void forgetWatched(Link *l);
inline bool isWatched(const Link *l) { return l->serial() <= liveList().watched; }
/// Takes an object that dies, and is not watched, out of the list. The heap is locked.
inline void unlink(Link *l) {
  if (!l->previous)
    return;
  l->previous->next = l->next;
  if (l->next)
    l->next->previous = l->previous;
}

} // namespace toy::rt
