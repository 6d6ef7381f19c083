// SPDX-License-Identifier: Apache-2.0
/// \file
/// Stages of a module, with errors at the places of the program.
#pragma once

#include "session/Session.h"

namespace toy {

/// The text of a stage behind the tree, as `Compiler::emit` gives it; empty after errors, which are reported.
std::string emitStage(Session &session, mlir::ModuleOp module, const std::string &stage,
                      const std::string &function = "");

} // namespace toy
