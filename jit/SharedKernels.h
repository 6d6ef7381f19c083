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

/// The name of a kernel's symbol; `digest` are the 64 hexadecimal digits that tell it apart.
std::string kernelSymbol(llvm::StringRef digest);

/// Takes the functions marked `sharedKernel` out of a module: each becomes the declaration of a symbol whose digest
/// covers its code, that of the functions it needs, and `settings`, which is what else decides its machine code. Those
/// that `isKnown` denies come back, in modules of a few that can be compiled on their own: a kernel is in the same
/// module as the kernels that it calls, or in a later one.
std::vector<std::unique_ptr<llvm::Module>> takeKernels(llvm::Module &module, llvm::StringRef settings,
                                                       llvm::function_ref<bool(llvm::StringRef digest)> isKnown);

/// The digests of kernels that an object has, and of those that it calls.
struct ObjectKernels {
  explicit ObjectKernels(llvm::MemoryBufferRef object);
  std::vector<std::string> defined, called;
};

} // namespace toy
