// SPDX-License-Identifier: Apache-2.0
/// \file
/// How passes apply patterns.
#pragma once

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

namespace toy {

/// Blocks that differ only in what they name are not made one: tensors would become arguments of blocks, which have
/// references to count at each turn of a loop, and second names, so that stores copy.
inline mlir::GreedyRewriteConfig withoutMerging() {
  return mlir::GreedyRewriteConfig().setRegionSimplificationLevel(mlir::GreedySimplifyRegionLevel::Normal);
}

/// Without the pattern that turns branches into selections of values: tensors are selected by control flow.
inline std::unique_ptr<mlir::Pass> createCanonicalizer() {
  return mlir::createCanonicalizerPass(withoutMerging(),
                                       {"(anonymous namespace)::SimplifyCondBranchIdenticalSuccessors"});
}

} // namespace toy
