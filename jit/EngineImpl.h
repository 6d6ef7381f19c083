// SPDX-License-Identifier: Apache-2.0
/// \file
/// The state of an engine, shared by compiling and showing.
#pragma once

#include "jit/CodeCache.h"
#include "jit/Engine.h"
#include "passes/lowering/KernelEmitter.h"
#include "runtime/Device.h"

#include "mlir/Pass/PassManager.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Target/TargetMachine.h"

namespace toy {

using llvm::Error, llvm::LLVMContext, llvm::MemoryBuffer, llvm::Module, llvm::StringRef, llvm::TargetMachine;
namespace orc = llvm::orc;

/// How far the passes go.
enum class Stage : uint8_t { Recognized, Unpacked, Selected };

struct Engine::Impl {
  EngineOptions options;
  std::shared_ptr<TargetMachine> machine, quickMachine; ///< for loops and large tensors; for code that costs more to optimize than to run
  std::unique_ptr<orc::LLJIT> jit;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules; ///< compiled code points into them
  std::map<std::string, void (*)(void **, void **)> entries;
  std::vector<mlir::Location> sites, chain;
  std::vector<std::unique_ptr<int64_t[]>> data; ///< `toy.data` of each module
  std::vector<std::unique_ptr<rt::DeviceKernel>> deviceKernels;
  std::vector<std::unique_ptr<rt::DeviceModule>> deviceModules; ///< go before their kernels, which may still have to run
  std::vector<std::unique_ptr<rt::DeviceKernel *[]>> kernelTables; ///< `toy.kernels` of each module
  std::map<std::string, orc::ExecutorAddr> addresses; ///< of functions, for the modules that call them
  std::unique_ptr<CodeCache> cache;
  unsigned guards = 0; ///< that were compiled
  bool mayUseDevice() const { return options.device && !preparing && rt::deviceIsWanted(); }
  bool preparing = false; ///< nothing is taken from the cache or kept there
  std::unique_ptr<mlir::PassManager> pipelines[3][2]; ///< by stage
  EngineStats stats;
  RecognitionLog log;
  bool start(std::string &error);
  mlir::OwningOpRef<mlir::ModuleOp> lowered(mlir::ModuleOp module, StringRef except, Engine::BodyLookup bodyOf, std::string &error, Stage stage = Stage::Selected);
  void importBodies(mlir::ModuleOp module, Engine::BodyLookup bodyOf);
  std::unique_ptr<Module> emitModule(mlir::ModuleOp module, LLVMContext &context, std::vector<mlir::Location> &places, std::vector<mlir::Operation *> &operations, DeviceCode *device = nullptr);
  Error load(std::unique_ptr<MemoryBuffer> object, mlir::ModuleOp module, const std::map<std::string, std::string> &names, std::vector<mlir::Location> &places, std::vector<mlir::Operation *> &operations,
             rt::DeviceKernel **kernels);
  /// Compiles kernels and gives their table; null where there are none, or after errors.
  rt::DeviceKernel **loadKernels(DeviceCode &code, std::string &error);
  static void optimize(Module &module, TargetMachine &machine, int level);
  void optimize(Module &module) { optimize(module, *machine, options.optimization); }
  bool makeMachines(std::string &error);
  /// An object of a module, which is given up; null after errors. Ctrl-C leaves LLVM behind.
  std::unique_ptr<MemoryBuffer> generate(std::unique_ptr<LLVMContext> context, std::unique_ptr<Module> code, bool quick, std::string &error);
  /// Vectors' versions of functions that no loop took.
  static void eraseUnusedVariants(Module &module);
};

} // namespace toy
