// SPDX-License-Identifier: Apache-2.0
/// \file
/// The state of an engine.
#pragma once

#include "jit/Engine.h"
#include "jit/SharedKernels.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Target/TargetMachine.h"

namespace toy {

struct Engine::Impl {
  struct Entry {
    void (*call)(void **arguments, void **results);
    Signature signature;
  };
  std::shared_ptr<llvm::TargetMachine> machine,
      quickMachine; ///< for loops and large tensors; for code that costs more to optimize than to run
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::map<std::string, Entry> entries;
  std::map<std::string, llvm::orc::ExecutorAddr> addresses; ///< of functions, for the modules that call them
  llvm::StringMap<llvm::orc::ExecutorAddr> kernels;         ///< by digest
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;   ///< code points into them
  std::vector<mlir::Location> sites, chain;
  std::vector<std::unique_ptr<int64_t[]>> data;                       ///< `toy.data` of each module
  std::vector<std::unique_ptr<std::vector<rt::TensorRef>>> constants; ///< `toy.constants` of each module
  llvm::StringMap<KernelTier *> tiers;                                ///< of quick kernels, by digest
  std::mutex linking;   ///< of `kernels`, `tiers`, `objects` and `kernelNames`
  unsigned objects = 0; ///< that were linked
  const CompileOptions *options = nullptr;
  unsigned guards = 0; ///< that were compiled
  EngineStats stats;
  Profiler *profiler = nullptr;
  llvm::StringMap<std::string> kernelNames; ///< for `perf`, by digest
  std::optional<Promoter> promoter;         ///< its thread ends before what it links into

  llvm::Expected<llvm::orc::JITDylib &> addObject(std::unique_ptr<llvm::MemoryBuffer> object,
                                                  const ObjectKernels &named, llvm::orc::SymbolMap symbols);
  llvm::Error linkKernels(std::unique_ptr<llvm::MemoryBuffer> object, bool isKept);
  void mapCode(const Linkable &linkable, llvm::MemoryBufferRef object);
  bool makeMachines(const CompileOptions &options, std::string &error);
  void runApart(const CompileOptions &options, bool brief, std::function<void()> work);
};

} // namespace toy
