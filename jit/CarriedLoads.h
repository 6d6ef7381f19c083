// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements that each turn of a loop reads of what the turn before stored, or read.
#pragma once

#include "llvm/IR/PassManager.h"

namespace toy {

/// Hands elements from turn to turn in registers: `if x[i] > x[i + 1] { … }` reads in `x[i]` what the turn before read
/// or stored as `x[i + 1]`. LLVM does that where each turn reads it at once; checks of indices stand before that until
/// they are hoisted, so that it is asked again. Only where a loop stores into what the next turn reads, which has no
/// vectors: elsewhere two loads are better than a register that one turn waits for.
struct CarriedLoads : llvm::PassInfoMixin<CarriedLoads> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return false; }
};

} // namespace toy
