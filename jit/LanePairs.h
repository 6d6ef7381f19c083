// SPDX-License-Identifier: Apache-2.0
/// \file
/// Two calls of an element function for a register each, as one call for both: it computes one while the other waits,
/// and reads its constants once.
#pragma once

#include "llvm/IR/PassManager.h"

namespace toy {

/// Runs behind the vectorizer, which has put such calls side by side (KernelEmitter::describeLoops).
struct LanePairs : llvm::PassInfoMixin<LanePairs> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return false; }
};

} // namespace toy
