// SPDX-License-Identifier: Apache-2.0
/// \file
/// The first use of MLIR's passes and LLVM's code generators reads their tables and pages from disk and builds their registries. Two small functions
/// are compiled on another thread while the first line is typed.
#include "ir/ToyDialect.h"
#include "jit/EngineImpl.h"
#include "jit/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace llvm;

namespace toy {

void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
}

Expected<orc::JITTargetMachineBuilder> targetMachineBuilder(CodeGenOptLevel level) {
  initializeTarget();
  auto host = orc::JITTargetMachineBuilder::detectHost();
  if (host)
    host->setCodeGenOptLevel(level);
  return host;
}

/// `x * x + x`.
static mlir::OwningOpRef<mlir::ModuleOp> squareModule(TensorType type, StringRef name) {
  mlir::OpBuilder b(type.getContext());
  mlir::Location place = b.getUnknownLoc();
  mlir::OwningOpRef<mlir::ModuleOp> module(mlir::ModuleOp::create(place));
  b.setInsertionPointToEnd(module->getBody());
  auto function = mlir::func::FuncOp::create(b, place, name, b.getFunctionType(type, type));
  b.setInsertionPointToStart(function.addEntryBlock());
  mlir::Value x = function.getArgument(0), square = MulOp::create(b, place, type, x, x), sum = AddOp::create(b, place, type, square, x);
  mlir::func::ReturnOp::create(b, place, sum);
  return module;
}

void Engine::prepare(mlir::MLIRContext *context) {
  impl->preparing = true;
  for (auto [name, type] : {std::pair("prepare.scalar", TensorType::get(context, DType::I64, ArrayRef<Dim>())), std::pair("prepare.loop", TensorType::get(context, DType::C128, Dim::symbol(context, "N")))}) {
    auto module = squareModule(type, name);
    std::vector<CompiledFunction> compiled;
    bool fromCache;
    std::string error; // the first compilation of the user's tells it
    compile(*module, "", [](StringRef) { return mlir::func::FuncOp(); }, compiled, fromCache, error);
  }
  impl->preparing = false;
}

} // namespace toy
