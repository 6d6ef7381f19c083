// SPDX-License-Identifier: Apache-2.0
/// \file
/// The passes in their order: the only place that knows it.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace toy {

struct PipelineOptions {
  bool fuse = true;
};

/// From generated IR to groups that become loop nests.
void buildPipeline(mlir::OpPassManager &passes, const PipelineOptions &options);
/// Makes every pass and the pipeline available to toy-opt.
void registerPasses();

} // namespace toy
