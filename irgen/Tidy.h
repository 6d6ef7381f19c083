// SPDX-License-Identifier: Apache-2.0
/// \file
/// What generation leaves behind.
#pragma once

#include "irgen/Context.h"

namespace toy {

/// Takes sizes and constants that nothing reads out of a function, and blocks that only one branch leads to: a size of
/// an argument has a value in case the body asks for it, and `return` leads to the end in case there are several. And
/// of what is used in part, only that is made.
void tidy(mlir::func::FuncOp function);
/// The same for a function that is generated, and for its blocks whose errors are caught.
void tidy(const FunctionState &state);

} // namespace toy
