// SPDX-License-Identifier: Apache-2.0
/// \file
/// The state of a compiler, shared by compiling and showing.
#pragma once

#include "compile/Compile.h"
#include "compile/Pipelines.h"
#include "passes/lowering/KernelEmitter.h"
#include "runtime/Device.h"

#include "mlir/Pass/PassManager.h"

namespace toy {

struct Compiler::State {
  std::unique_ptr<mlir::PassManager> pipelines[5][2]; ///< by phase, without and with a device
  std::vector<std::unique_ptr<rt::DeviceKernel>> deviceKernels;
  std::vector<std::unique_ptr<rt::DeviceModule>>
      deviceModules; ///< go before their kernels, which may still have to run
  std::vector<std::unique_ptr<rt::DeviceKernel *[]>> kernelTables; ///< `toy.kernels` of each module
};

/// Whether the functions of a module do little work each time they run: no loops, no recursion, few elements, all sizes
/// known.
bool isCheap(mlir::ModuleOp module);
/// Whether what is not in the kernels of a module runs once, as statements of the top level without loops do, or is so
/// long and straight that each part takes less time than its kernels. `instructions`: of LLVM, without kernels.
bool isQuickAroundKernels(mlir::ModuleOp module, unsigned instructions);
/// Gives functions whose calls lead back to them the attribute `toy.recursive`.
void markRecursion(mlir::ModuleOp module);
/// Whether loops of the program work on elements or scalars, or functions call themselves: they get all that LLVM can
/// do.
bool hasElementLoops(mlir::ModuleOp module);

} // namespace toy
