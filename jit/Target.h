// SPDX-License-Identifier: Apache-2.0
/// \file
/// The machine that code is generated for: the host.
#pragma once

#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"

namespace toy {

/// Registers the host's target once; any thread.
void initializeTarget();
llvm::Expected<llvm::orc::JITTargetMachineBuilder> targetMachineBuilder(llvm::CodeGenOptLevel level);

} // namespace toy
