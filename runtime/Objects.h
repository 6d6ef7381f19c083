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
  Link *previous = nullptr, *next = nullptr;
  enum Kind : uint8_t { IsTensor, IsStr, IsList };
  Kind kind : 2 = IsTensor;
  uint64_t serial : 62 = 0; ///< 0: in no list
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
extern constinit thread_local bool isUnlisted;

/// At the head of the list, unless this thread makes objects that are its own. The heap is locked.
inline void link(Link *l) {
  if (isUnlisted)
    return;
  LiveList &live = liveList();
  l->serial = ++live.serial;
  l->previous = &live.head;
  l->next = live.head.next;
  if (l->next)
    l->next->previous = l;
  live.head.next = l;
}
/// Frees the object; a list lets its elements go unless they are freed on their own. The heap is locked.
void destroy(Link *l, bool letsGo = true);

inline Link *linkOf(void *object) { return reinterpret_cast<Link *>(static_cast<char *>(object) - sizeof(Link)); }
inline void *objectOf(Link *l) { return reinterpret_cast<char *>(l) + sizeof(Link); }

inline std::atomic<int64_t> &referencesTo(Link *l) {
  void *object = objectOf(l);
  return l->kind == Link::IsStr    ? static_cast<Str *>(object)->refs
         : l->kind == Link::IsList ? static_cast<List *>(object)->refs
                                   : static_cast<Tensor *>(object)->refs;
}

/// Takes an object out of what is watched.
void forgetWatched(Link *l);
/// Takes an object that dies out of the list and out of what is watched. The heap is locked.
inline void unlink(Link *l) {
  if (l->serial <= liveList().watched)
    forgetWatched(l);
  if (!l->previous)
    return;
  l->previous->next = l->next;
  if (l->next)
    l->next->previous = l->previous;
}

} // namespace toy::rt
