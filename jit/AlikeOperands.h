// SPDX-License-Identifier: Apache-2.0
/// \file
/// What is computed alike for both operands of an operation, in one block.
#pragma once

#include "llvm/IR/PassManager.h"

namespace toy {

/// `far(a, c) + far(b, d)`: between the roots of the two lie the checks of b and d, and LLVM puts only what stands in
/// one block side by side in a vector. What waits for the second one is computed with it, where both have roots or
/// quotients.
struct AlikeOperands : llvm::PassInfoMixin<AlikeOperands> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return false; }
};

} // namespace toy
