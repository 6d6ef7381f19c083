// SPDX-License-Identifier: Apache-2.0
/// \file
/// Inline, simplify, recognize; complex algebra, kernels, fusion.
#include "compile/Pipelines.h"

#include "passes/Passes.h"
#include "passes/Rewriting.h"
#include "runtime/Parallel.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace toy {

namespace {
/// Ends a pipeline when Ctrl-C was pressed; whoever runs it sees the flag.
struct StopIfInterrupted : PassWrapper<StopIfInterrupted, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StopIfInterrupted)
  void runOnOperation() override {
    if (rt::interruptFlag())
      signalPassFailure();
  }
};

/// Adds passes with a place to stop before each.
struct Stoppable {
  OpPassManager &passes;
  void addPass(std::unique_ptr<Pass> pass) {
    passes.addPass(std::make_unique<StopIfInterrupted>());
    passes.addPass(std::move(pass));
  }
};
} // namespace

void buildRecognition(OpPassManager &passes, const CompileOptions &options, const PipelineTarget &target) {
  Stoppable bodies{passes.nest<func::FuncOp>()};
  if (options.recognize)
    bodies.addPass(createPreserveProductComponents());
  bodies.addPass(createCanonicalizer());
  passes.addPass(createInlineFunctions());
  Stoppable functions{passes.nest<func::FuncOp>()};
  functions.addPass(createCanonicalizer());
  functions.addPass(createCSEPass());
  if (options.recognize)
    functions.addPass(createRecognizeComplex({options.fastMath}, target.log));
  functions.addPass(createPadToBuckets(target.log));
}

void buildAlgebra(OpPassManager &passes, const CompileOptions &options, const PipelineTarget &target) {
  Stoppable functions{passes.nest<func::FuncOp>()};
  if (target.device && options.fuse)
    functions.addPass(createSplitReductions());
  functions.addPass(createComplexAlgebra({options.fastMath}));
  functions.addPass(createCSEPass());
}

void buildUnpacking(OpPassManager &passes, const CompileOptions &options, const PipelineTarget &target) {
  passes.addPass(createUnpackComplex({options.complexMatmul}));
  Stoppable after{passes.nest<func::FuncOp>()};
  after.addPass(createCanonicalizer());
  after.addPass(createCSEPass());
}

void buildSelection(OpPassManager &passes, const CompileOptions &options, const PipelineTarget &target) {
  if (!target.device) // a device makes its tensors itself
    passes.addPass(createListsAsTensors());
  Stoppable functions{passes.nest<func::FuncOp>()};
  if (!target.device)
    functions.addPass(createScalarize({options.complexMatmul == "auto"}));
  functions.addPass(createSelectKernels({options.complexMatmul, options.fastMath, target.device}, target.log));
  if (!target.device)
    functions.addPass(createStoreRows());
  FuseElementwiseOptions fuse;
  fuse.fuse = options.fuse;
  fuse.rows = !target.device;
  functions.addPass(createAccessElements({target.device}));
  if (!target.device && options.fuse)
    functions.addPass(createSinkPermutes());
  functions.addPass(createFuseElementwise(fuse));
  functions.addPass(createHoistStrings());
  functions.addPass(createBoundIndices());
  if (!target.device)
    passes.addPass(createGiveBack());
  Stoppable last{passes.nest<func::FuncOp>()};
  last.addPass(createPlaceUnique({target.device}));
  last.addPass(createLeaveUnwritten());
  last.addPass(createStripLoops());
  last.addPass(createReportLoops(target.log));
  if (target.device || !options.fuse)
    return; // the groups of a device are made for it alone
  last.addPass(createMergeAxes());
  last.addPass(createFuseRowReductions({.behindSums = true}));
  last.addPass(createHoldShortRows());
}

void buildDeviceGroups(OpPassManager &passes) {
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(createRematerializeProducers());
  functions.addPass(createFuseRowReductions());
}

void registerPasses() {
  registerToyPasses();
  PassPipelineRegistration<>("toy-pipeline", "all passes in their order", [](OpPassManager &passes) {
    buildRecognition(passes, {}, {});
    buildAlgebra(passes, {}, {});
    buildSelection(passes, {}, {});
  });
}

} // namespace toy
