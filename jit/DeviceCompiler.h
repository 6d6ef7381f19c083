// SPDX-License-Identifier: Apache-2.0
/// \file
/// From LLVM IR of kernels to PTX.
#pragma once

#include "llvm/IR/Module.h"

#include <memory>
#include <string>

namespace toy {

/// An empty module for kernels of a compute capability (times 10).
std::unique_ptr<llvm::Module> newDeviceModule(llvm::LLVMContext &context);
/// Links the elementary functions, optimizes, and writes PTX. No contraction of products and sums: results have the
/// host's bits. Empty after errors.
std::string compileToPtx(llvm::Module &module, int architecture, std::string &error);

/// The elementary functions as bitcode.
llvm::StringRef deviceMathCode();

} // namespace toy
