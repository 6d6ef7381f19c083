// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which values differ between the ranks that run a program, and which collectives only some of the ranks would reach.
#pragma once

#include "ir/ToyDialect.h"
#include "passes/VaryingGlobals.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace toy {

/// A collective behind a condition that is not the same on all ranks.
struct VaryingCollective {
  mlir::Operation *op, *branch;
};

/// Whether something here concerns several ranks.
bool concernsRanks(mlir::ModuleOp module);

/// What is known to differ is followed through operations, joins of control flow, loops and calls; what is not known is
/// taken to be the same, because openings find at run time what this does not. `bodyOf` gives functions of other
/// modules. `varyingGlobals` is kept up to date.
std::vector<VaryingCollective> findVaryingCollectives(mlir::ModuleOp module,
                                                      llvm::function_ref<mlir::func::FuncOp(llvm::StringRef)> bodyOf,
                                                      VaryingGlobals &varyingGlobals);

/// Lets ranks compare what the analysis takes to be the same on all of them: conditions that collectives depend on, and
/// what `broadcast` and `save` are given.
void insertReplicatedChecks(mlir::ModuleOp module, llvm::function_ref<mlir::func::FuncOp(llvm::StringRef)> bodyOf,
                            const VaryingGlobals &varyingGlobals);

} // namespace toy
