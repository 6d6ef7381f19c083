// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bitcode of runtime/cuda/DeviceMath.cpp.
#include "jit/DeviceCompiler.h"

namespace {
const unsigned char bytes[] = {
#embed "device-math.bc"
};
} // namespace

llvm::StringRef toy::deviceMathCode() { return {reinterpret_cast<const char *>(bytes), sizeof bytes}; }
