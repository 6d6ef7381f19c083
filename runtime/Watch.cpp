// SPDX-License-Identifier: Apache-2.0
/// \file
/// The list of live objects, and what is new or held more often since a block began.
#include "runtime/Watch.h"

#include "runtime/Apart.h"
#include "runtime/Objects.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace toy::rt {

std::atomic<bool> referencesAreWatched = false;
std::atomic<int> otherThreads = 0;

static Watch *innermost = nullptr;
constinit thread_local bool isUnlisted = false;
constinit LiveList liveObjectsList; // has no destructor: values may outlive static objects

void forgetWatched(Link *l) {
  for (Watch *watch = innermost; watch && l->serial() <= watch->serial; watch = watch->outer)
    watch->forget(objectOf(l));
}

bool setUnlisted(bool on) { return std::exchange(isUnlisted, on); }

void listObject(Tensor &t) {
  std::lock_guard lock(liveList().mutex);
  beginLink(linkOf(&t), Link::IsTensor);
}

int64_t liveObjects() {
  std::lock_guard lock(liveList().mutex);
  int64_t count = 0;
  for (Link *l = liveList().head.next; l; l = l->next)
    ++count;
  return count;
}

/// What a thread of its own holds is nobody else's.
void noteReference(void *object) {
  Link *l = linkOf(object);
  if (isUnlisted || l->serial() > innermost->serial)
    return;
  std::lock_guard lock(liveList().mutex);
  innermost->note(object, referencesTo(l));
}

Watch::Watch(bool countsReferences) : outer(innermost), serial(liveList().serial), countsReferences(countsReferences) {
  innermost = this;
  liveList().watched = serial;
  referencesAreWatched.store(countsReferences, std::memory_order_relaxed); // threads begin work behind locks
}

Watch::~Watch() {
  std::lock_guard lock(liveList().mutex);
  innermost = outer;
  liveList().watched = outer ? outer->serial : 0;
  const bool isWatchedOutside = outer && outer->countsReferences;
  referencesAreWatched.store(isWatchedOutside, std::memory_order_relaxed);
  if (isWatchedOutside)
    forEachNote([&](void *object, int64_t references) {
      if (linkOf(object)->serial() <= outer->serial)
        outer->note(object, references);
    });
}

void Watch::note(void *object, int64_t references) {
  auto *end = few.begin() + count;
  if (std::any_of(few.begin(), end, [&](const Note &n) { return n.object == object; }))
    return;
  if (count < few.size())
    few[count++] = {object, references};
  else {
    if (!others)
      others = std::make_unique<std::unordered_map<void *, int64_t>>();
    others->try_emplace(object, references);
  }
}

void Watch::forget(void *object) {
  if (auto *end = few.begin() + count, *it = std::find_if(few.begin(), end, [&](Note n) { return n.object == object; });
      it != end)
    *it = few[--count];
  else if (others)
    others->erase(object);
}

template <typename Visit> void Watch::forEachNote(Visit visit) {
  for (const Note &note : std::span(few).first(count))
    visit(note.object, note.references);
  if (others)
    for (auto [object, references] : *others)
      visit(object, references);
}

void Watch::giveBack(std::span<const void *const> held) {
  std::unordered_map<const void *, int64_t> kept;
  for (const void *object : held)
    ++kept[object];
  std::lock_guard lock(liveList().mutex);
  Link *l = liveList().head.next;
  while (l && l->serial() > serial) {
    Link *next = l->next;
    if (auto it = kept.find(objectOf(l)); it != kept.end())
      referencesTo(l) = it->second;
    else
      destroy(l, /*letsGo=*/false);
    l = next;
  }
  forEachNote([&](void *object, int64_t references) {
    std::atomic<int64_t> &now = referencesTo(linkOf(object));
    auto it = kept.find(object);
    now = std::min(now.load(), references + (it == kept.end() ? 0 : it->second));
  });
}

} // namespace toy::rt
