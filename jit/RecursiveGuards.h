// SPDX-License-Identifier: Apache-2.0
/// \file
/// Questions with which functions that call themselves begin.
#pragma once

#include "llvm/IR/Function.h"

namespace toy {

/// Takes a function apart that calls itself: into what it asks first (`if k == n { return 1; }`), which remains it, and
/// the rest, which it calls if no answer is given at once. The rest asks in place of its own calls: those that would
/// return at once, of a tree more than half, save no registers and are no calls. Gives whether it did.
bool askBeforeCalls(llvm::Function &function);

} // namespace toy
