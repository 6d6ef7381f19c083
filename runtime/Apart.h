// SPDX-License-Identifier: Apache-2.0
/// \file
/// What cannot be interrupted: foreign functions, and LLVM.
#pragma once

#include "runtime/Value.h"

#include <atomic>
#include <functional>

namespace toy::rt {

/// Runs `work` on a thread of its own and waits for it; its errors are thrown here. Ctrl-C ends the wait at once
/// (DiagId::Interrupted) and leaves the thread behind, which comes to its end alone: all that `work` touches, it must
/// own. There, `poll` asks whether it was left, and tensors that it makes are its own until `listObject`.
void runApart(std::function<void()> work);

// For threads that run something apart.

/// The flag that `poll` looks at on this thread, in place of Ctrl-C's.
void setInterruptFlag(std::atomic<bool> *ofThisThread);
/// Whether `poll` would throw.
bool isInterrupted();
/// Objects that this thread makes meanwhile are not among those that a `Watch` gives back: another thread holds them.
/// What held before is returned.
bool setUnlisted(bool unlisted);
class Unlisted {
public:
  Unlisted() : before(setUnlisted(true)) {}
  ~Unlisted() { setUnlisted(before); }
  Unlisted(const Unlisted &) = delete;

private:
  bool before;
};
/// Such an object, from now on one like the others.
void listObject(Tensor &t);

} // namespace toy::rt
