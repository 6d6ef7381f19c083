// SPDX-License-Identifier: Apache-2.0
/// \file
/// The passes in their order: the only place that knows it.
#pragma once

#include "support/CompileOptions.h"

#include "mlir/Pass/PassManager.h"

namespace toy {

struct RecognitionLog;

/// What a pipeline is built for.
struct PipelineTarget {
  bool device = false;           ///< there is one
  RecognitionLog *log = nullptr; ///< null: remarks on the operations
};

/// From generated IR to complex operations: inlined, simplified, recognized.
void buildRecognition(mlir::OpPassManager &passes, const CompileOptions &options, const PipelineTarget &target);
/// From there to less arithmetic with the same bits.
void buildAlgebra(mlir::OpPassManager &passes, const CompileOptions &options, const PipelineTarget &target);
/// From there to real operations only.
void buildUnpacking(mlir::OpPassManager &passes, const CompileOptions &options, const PipelineTarget &target);
/// From complex or real operations to groups that become loop nests and calls of kernels.
void buildSelection(mlir::OpPassManager &passes, const CompileOptions &options, const PipelineTarget &target);
/// What groups become where they may be kernels of a device.
void buildDeviceGroups(mlir::OpPassManager &passes);
/// Makes every pass and the pipeline available to toy-opt.
void registerPasses();

} // namespace toy
