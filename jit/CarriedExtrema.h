// SPDX-License-Identifier: Apache-2.0
/// \file
/// Minima and maxima of floats that each turn of a loop takes of the turn before.
#pragma once

#include "llvm/IR/PassManager.h"

namespace toy {

/// Runs behind all others. Such an operation waits for the turn before, so its length is the loop's: where the other
/// operand is neither NaN nor the zero that decides, which is known before, one instruction of x86 is the operation.
struct CarriedExtrema : llvm::PassInfoMixin<CarriedExtrema> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return false; }
};

} // namespace toy
