// SPDX-License-Identifier: Apache-2.0
/// \file
/// The pass driver: every pass alone on textual IR, as mlir-opt.
#include "compile/Pipelines.h"
#include "ir/ToyDialect.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<toy::ToyDialect, mlir::func::FuncDialect, mlir::cf::ControlFlowDialect>();
  mlir::func::registerInlinerExtension(registry);
  mlir::registerTransformsPasses();
  toy::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "toy pass driver\n", registry));
}
