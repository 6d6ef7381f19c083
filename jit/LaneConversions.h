// SPDX-License-Identifier: Apache-2.0
/// \file
/// Conversions of floats to integers, which saturate, in vectors: x86 converts them one by one otherwise.
#pragma once

#include "llvm/IR/PassManager.h"

namespace toy {

/// Runs behind the vectorizer. Scalar ones stay: the processor's own conversion and two moves are shorter.
struct LaneConversions : llvm::PassInfoMixin<LaneConversions> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return false; }
};

} // namespace toy
