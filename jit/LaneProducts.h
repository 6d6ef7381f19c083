// SPDX-License-Identifier: Apache-2.0
/// \file
/// Quotients by constants in vectors: the upper halves of products of 64 bits, which x86 has for one number at a time.
#pragma once

#include "llvm/IR/PassManager.h"

namespace toy {

/// Runs behind the vectorizer: such halves are made of products of 32 bits. Scalar ones stay, which are one
/// instruction.
struct LaneProducts : llvm::PassInfoMixin<LaneProducts> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return false; }
};

} // namespace toy
