// SPDX-License-Identifier: Apache-2.0
/// \file
/// What code for the host and for devices shares.
#pragma once

#include "llvm/Passes/PassBuilder.h"

namespace toy {

/// The analyses that LLVM's passes ask for.
struct PassAnalyses {
  explicit PassAnalyses(llvm::PassBuilder &builder) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(sccs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, sccs, modules);
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
};

/// In sanitized builds, lets AddressSanitizer watch the loads and stores of a module.
void sanitize(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace toy
