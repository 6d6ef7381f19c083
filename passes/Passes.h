// SPDX-License-Identifier: Apache-2.0
/// \file
/// Declarations of the passes, from Passes.td.
#pragma once

#include "ir/ToyDialect.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace toy {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

struct RecognitionLog;
/// Recognition that reports to a log; without one it emits remarks.
std::unique_ptr<mlir::Pass> createRecognizeComplex(const RecognizeComplexOptions &options, RecognitionLog *log);
/// Padding that reports to a log where it is refused; without one it emits remarks.
std::unique_ptr<mlir::Pass> createPadToBuckets(RecognitionLog *log);
/// Selection that writes the strategies of recognized products into the log.
std::unique_ptr<mlir::Pass> createSelectKernels(const SelectKernelsOptions &options, RecognitionLog *log);
/// Costs of loops, to a log; without one as remarks.
std::unique_ptr<mlir::Pass> createReportLoops(RecognitionLog *log);
} // namespace toy
