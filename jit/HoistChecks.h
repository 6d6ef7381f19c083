// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loops whose indices are compared with a size in each turn, though the first and the last turn say it for all.
#pragma once

#include "llvm/IR/PassManager.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

namespace toy {

/// An innermost loop whose turns can be counted when it begins, and that checks indices which go up or down by the same
/// number in each turn, becomes two: one without these checks, for when all turns lie inside, and a plain copy with
/// them. It is to run behind what simplifies loops and before what makes strips and vectors of them.
struct HoistChecks : llvm::PassInfoMixin<HoistChecks> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

/// Leaves loops whole that would be written out before `HoistChecks`, which makes two of them: what is proved once
/// would be asked turn by turn.
struct KeepCheckedLoops : llvm::PassInfoMixin<KeepCheckedLoops> {
  llvm::PreservedAnalyses run(llvm::Loop &loop, llvm::LoopAnalysisManager &analyses,
                              llvm::LoopStandardAnalysisResults &results, llvm::LPMUpdater &updater);
};

} // namespace toy
