// SPDX-License-Identifier: Apache-2.0
/// \file
/// The first use of MLIR's passes and LLVM's code generators reads their tables and pages from disk and builds their
/// registries. Two small functions are compiled on another thread while the first line is typed.
#include "compile/Compile.h"

#include "ir/ToyDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace llvm;

namespace toy {

/// `x * x + x`.
static mlir::OwningOpRef<mlir::ModuleOp> squareModule(TensorType type, StringRef name) {
  mlir::OpBuilder b(type.getContext());
  mlir::Location place = b.getUnknownLoc();
  mlir::OwningOpRef<mlir::ModuleOp> module(mlir::ModuleOp::create(place));
  b.setInsertionPointToEnd(module->getBody());
  auto function = mlir::func::FuncOp::create(b, place, name, b.getFunctionType(type, type));
  b.setInsertionPointToStart(function.addEntryBlock());
  mlir::Value x = function.getArgument(0), square = MulOp::create(b, place, type, x, x),
              sum = AddOp::create(b, place, type, square, x);
  mlir::func::ReturnOp::create(b, place, sum);
  return module;
}

void Compiler::warmUp(mlir::MLIRContext *context) {
  warming = true;
  for (auto [name, type] :
       {std::pair("warmup.scalar", TensorType::get(context, DType::I64, ArrayRef<Dim>())),
        std::pair("warmup.loop", TensorType::get(context, DType::C128, Dim::symbol(context, "N")))}) {
    auto module = squareModule(type, name);
    CompiledUnit unit; // the first unit of the user's tells what is wrong
    compile({*module}, unit);
  }
  warming = false;
}

} // namespace toy
