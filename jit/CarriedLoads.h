// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements that each turn of a loop reads of what the turn before stored, or read.
#pragma once

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"

namespace toy {

/// Whether each turn of a loop reads what the turn before may have stored: `if x[i] > x[i + 1] { … }` reads in `x[i]`
/// what that read or stored as `x[i + 1]`. LLVM hands it on in a register where each turn reads it at once; checks of
/// indices stand before that until they are hoisted, so that LLVM is to be asked again. Only where a loop stores into
/// what the next turn reads, which has no vectors: elsewhere two loads are better than a register that one turn waits
/// for.
bool readsWhatWasStored(const llvm::Loop &loop, const llvm::DominatorTree &tree, llvm::ScalarEvolution &evolution);

} // namespace toy
