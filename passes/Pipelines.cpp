// SPDX-License-Identifier: Apache-2.0
/// \file
/// Inline, simplify, recognize; complex algebra, kernels, fusion.
#include "passes/Pipelines.h"

#include "passes/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace toy {

/// Without the pattern that turns branches into selections of values: tensors are selected by control flow.
static std::unique_ptr<Pass> createCanonicalizer() {
  return createCanonicalizerPass({}, {"(anonymous namespace)::SimplifyCondBranchIdenticalSuccessors"});
}

void buildRecognition(OpPassManager &passes, const PipelineOptions &options) {
  if (options.recognize)
    passes.nest<func::FuncOp>().addPass(createKeepParts());
  passes.nest<func::FuncOp>().addPass(createCanonicalizer());
  passes.addPass(createInlineFunctions());
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(createCanonicalizer());
  functions.addPass(createCSEPass());
  if (options.recognize)
    functions.addPass(createRecognizeComplex({options.fastMath}, options.log));
  functions.addPass(createPadToBuckets(options.log));
}

void buildUnpacking(OpPassManager &passes, const PipelineOptions &options) {
  passes.nest<func::FuncOp>().addPass(createComplexAlgebra({options.fastMath}));
  passes.nest<func::FuncOp>().addPass(createCSEPass());
  passes.addPass(createUnpackComplex({options.complexMatmul}));
  passes.nest<func::FuncOp>().addPass(createCanonicalizer());
  passes.nest<func::FuncOp>().addPass(createCSEPass());
}

void buildSelection(OpPassManager &passes, const PipelineOptions &options) {
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(createComplexAlgebra({options.fastMath}));
  functions.addPass(createCSEPass());
  functions.addPass(createSelectKernels({options.complexMatmul, options.fastMath, options.device}, options.log));
  FuseElementwiseOptions fuse;
  fuse.fuse = options.fuse;
  functions.addPass(createFuseElementwise(fuse));
}

void buildDeviceGroups(OpPassManager &passes) {
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(createRepeatParts());
  functions.addPass(createGroupRows());
}

void registerPasses() {
  registerToyPasses();
  PassPipelineRegistration<>("toy-pipeline", "all passes in their order", [](OpPassManager &passes) {
    buildRecognition(passes, {});
    buildSelection(passes, {});
  });
}

} // namespace toy
