// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions of c64 whose loops LLVM makes vectors of.
#pragma once

#include "passes/lowering/ScalarEmitter.h"

namespace toy {

/// z/|z| by the operations of the runtime's kernel (SingleComplexSign of runtime/ComplexKernels.h), and its rules for
/// what is infinite, by selects.
Element signSingle(llvm::IRBuilder<> &b, Element z);

} // namespace toy
