// SPDX-License-Identifier: Apache-2.0
/// \file
/// What code for the host and for devices shares.
#pragma once

#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
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

/// What the code of a level of optimization is worth to the code generator.
llvm::CodeGenOptLevel codeLevel(int optimization);
/// The processor that the program runs on. Null where LLVM does not know it: `error` says why.
std::shared_ptr<llvm::TargetMachine> makeMachine(llvm::CodeGenOptLevel level, std::string &error);
llvm::Expected<llvm::orc::JITTargetMachineBuilder> targetMachineBuilder(llvm::CodeGenOptLevel level);

/// LLVM's passes: those of level 3, or, below, only what loop nests need. Before each pass `goesOn` is asked, with the
/// function that it is for, if it is for one; as soon as it is false the rest is left out.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine, int level,
                    llvm::function_ref<bool(const llvm::Function *)> goesOn);
/// The last step before code is generated, which is done without LLVM's reduction of strength where that would take
/// long, and in loops over elements that multiply for no address (jit/InvariantAddresses.h).
void prepareAddresses(llvm::Module &module, bool loops);
/// Versions of functions for vectors that no loop took go.
void eraseUnusedVariants(llvm::Module &module);

/// In sanitized builds, lets AddressSanitizer watch the loads and stores of a module.
void sanitize(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace toy
