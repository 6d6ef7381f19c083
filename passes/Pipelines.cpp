// SPDX-License-Identifier: Apache-2.0
/// \file
/// Inline, simplify, select kernels, fuse.
#include "passes/Pipelines.h"

#include "passes/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace toy {

void buildPipeline(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createInlineFunctions());
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(createSelectKernels());
  FuseElementwiseOptions fuse;
  fuse.fuse = options.fuse;
  functions.addPass(createFuseElementwise(fuse));
}

void registerPasses() {
  registerToyPasses();
  PassPipelineRegistration<>("toy-pipeline", "all passes in their order", [](OpPassManager &passes) { buildPipeline(passes, {}); });
}

} // namespace toy
