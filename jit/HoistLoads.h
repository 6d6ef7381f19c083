// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements that are read in each turn of a loop, of what the loop stores into elsewhere: `m[i][k]` in a loop of
/// `m[i][j]` whose `j` begins at `k + 1`.
#pragma once

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"

namespace toy {

/// Moves loads before an innermost loop of which the first turn reaches them, and whose stores begin behind them and go
/// up, or before them and go down. LLVM asks whether a store may ever be to the same address, and not which come first;
/// with strips around the loop its vectorizer does not see that either. Branches out of the loop at the end of blocks
/// in `decided` are never taken. Gives whether there were any.
bool hoistLoads(llvm::Loop &loop, const llvm::SmallSetVector<llvm::BasicBlock *, 16> &decided,
                llvm::ScalarEvolution &evolution, llvm::AAResults &aliases, const llvm::DominatorTree &tree);

} // namespace toy
