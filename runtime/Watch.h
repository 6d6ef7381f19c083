// SPDX-License-Identifier: Apache-2.0
/// \file
/// Cleaning up after an error that has passed through compiled code, whose frames give nothing up.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

namespace toy::rt {

struct Link;

/// A block whose errors are caught, or a statement, while it runs. It costs in proportion to what the block does: new
/// objects are those with higher numbers, and of the others, those that get another reference meanwhile are noted with
/// the number of references that they had. Watches end in the reverse order of their beginnings.
class Watch {
public:
  /// Whether references to older objects are taken back, too.
  explicit Watch(bool countsReferences);
  ~Watch();
  Watch(const Watch &) = delete;

  /// Frees the objects made since the beginning, except those that are held, an entry of `held` for each reference, and
  /// takes back the references to older ones that were added since.
  void giveBack(std::span<const void *const> held);

private:
  friend void noteReference(void *object);
  friend void forgetWatched(Link *l);
  struct Note {
    void *object;
    int64_t references;
  };
  /// The first note of an older object counts. The heap is locked.
  void note(void *object, int64_t references);
  void forget(void *object);
  template <typename Visit> void forEachNote(Visit visit);

  Watch *const outer;
  const uint64_t serial;
  const bool countsReferences;
  std::array<Note, 8> few;                                     ///< of most blocks all
  unsigned count = 0;                                          ///< of them, which alone are set
  std::unique_ptr<std::unordered_map<void *, int64_t>> others; ///< where there are more
};

/// Tensors, strings and lists that were not freed yet.
int64_t liveObjects();

} // namespace toy::rt
