// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loops that programs share: each is named by what it is, so equal ones are compiled once and kept for all.
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace toy {

/// What a kernel is called in a module that is its digest's, or its bitcode's.
constexpr char sharedKernelName[] = "kernel";
constexpr size_t digestLength = 64; ///< hexadecimal digits

/// The name of a kernel's symbol, and of its KernelTier's (jit/Promotion.h).
std::string kernelSymbol(llvm::StringRef digest);
std::string tierSymbol(llvm::StringRef digest);

/// Kernels that can be compiled on their own; quick ones count what they do (jit/Promotion.h).
struct KernelBatch {
  std::unique_ptr<llvm::Module> module;
  bool quick;
};

/// Takes the functions marked `sharedKernel` out of a module: each becomes the declaration of a symbol whose digest
/// covers its code, that of the functions it needs, and `settings`, which is what else decides its machine code. Those
/// that `isKnown` denies come back, a few in a module: a kernel is in the same one as the kernels that it calls, or in
/// a later one. It is told the name that the kernel had, too. `tiered`: those that tell how much they compute are
/// quick.
std::vector<KernelBatch> takeKernels(llvm::Module &module, llvm::StringRef settings, bool tiered,
                                     llvm::function_ref<bool(llvm::StringRef digest, llvm::StringRef name)> isKnown);

/// The digests of kernels that an object has, of those of them that are quick, and of those that it calls.
struct ObjectKernels {
  explicit ObjectKernels(llvm::MemoryBufferRef object);
  std::vector<std::string> defined, quick, called;
};

} // namespace toy
