// SPDX-License-Identifier: Apache-2.0
/// \file
/// The machine that code is generated for: the host.
#pragma once

#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Passes/PassBuilder.h"

namespace toy {

/// Registers the host's target once; any thread.
void initializeTarget();
llvm::Expected<llvm::orc::JITTargetMachineBuilder> targetMachineBuilder(llvm::CodeGenOptLevel level);

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
