// SPDX-License-Identifier: Apache-2.0
/// \file
/// Addresses in loops whose index is a counter and numbers that the loop does not change.
#pragma once

#include "llvm/IR/Module.h"

namespace toy {

/// Whether an innermost loop multiplies in each turn to know where an element is, as `x[i, j]` does where `i` counts:
/// LLVM's reduction of strength makes sums of such products.
bool multipliesForAddresses(llvm::Module &module);

/// `x[i - w - 5]` is `i - w - 5` elements from `x`: two instructions in each turn. From the address `x - w`, which is
/// computed before the loop, the processor adds the rest itself. LLVM's reduction of strength finds this among many
/// other forms, which takes as long as the rest of code generation for some loops.
void moveInvariantAddresses(llvm::Module &module);

} // namespace toy
