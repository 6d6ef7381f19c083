// SPDX-License-Identifier: Apache-2.0
/// \file
/// Looks for Ctrl-C in loops that have a mark at the end of a turn (`turnMark`).
#pragma once

#include "llvm/IR/PassManager.h"

namespace toy {

/// A loop whose turns can be counted when it begins becomes two, of which the inner one makes at most as many turns as
/// its mark says, with a look between them. It is to run behind what simplifies loops and before what makes vectors of
/// them. Other marks stay.
struct StripTurns : llvm::PassInfoMixin<StripTurns> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

/// Marks become looks where they stand, at each turn.
void lookAtEachTurn(llvm::Module &module);

} // namespace toy
