// SPDX-License-Identifier: Apache-2.0
/// \file
/// The unpacked program in upstream dialects: rows of operations, then signatures, calls and branches, then blocks as
/// scf. What has no row is an error that names it.
#include "passes/Passes.h"
#include "passes/linalg/Lowering.h"

#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CFGToSCF.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_CONVERTTOYTOLINALG
#include "passes/Passes.h.inc"

namespace {

/// Null for operations on pairs, too, which need the runtime's complex functions.
LoweringRow rowOf(Operation *op) {
  if (!isa<ToyDialect>(op->getDialect()) || (op->hasAttr("packed") && !isa<PrintOp>(op)))
    return nullptr;
  StringRef mnemonic = op->getName().stripDialect();
  for (auto rows : {elementwiseRow, shapeRow, indexingRow, reductionRow, effectRow})
    if (LoweringRow row = rows(mnemonic))
      return row;
  return nullptr;
}

struct ToUpstreamTypes : TypeConverter {
  ToUpstreamTypes() {
    addConversion([](Type type) { return type; });
    addConversion([](TensorType type) { return upstreamType(type); });
  }
};

struct ByRow : ConversionPattern {
  ByRow(const TypeConverter &types, MLIRContext *context) : ConversionPattern(types, MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    LoweringRow row = rowOf(op);
    if (!row)
      return rewriter.notifyMatchFailure(op, "no row");
    Lowering lowering(op, operands, rewriter);
    FailureOr<SmallVector<Value>> results = row(lowering);
    if (failed(results))
      return rewriter.notifyMatchFailure(op, "the row does not cover this use");
    rewriter.replaceOp(op, *results);
    return success();
  }
};

/// The types of a signature and of all blocks; upstream's pattern leaves blocks behind the first.
struct FunctionTypes : OpConversionPattern<func::FuncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(func::FuncOp function, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    const TypeConverter &types = *getTypeConverter();
    TypeConverter::SignatureConversion arguments(function.getNumArguments());
    SmallVector<Type> results;
    if (failed(types.convertSignatureArgs(function.getArgumentTypes(), arguments)) ||
        failed(types.convertTypes(function.getResultTypes(), results)) ||
        (!function.isExternal() && failed(rewriter.convertRegionTypes(&function.getBody(), types, &arguments))))
      return failure();
    auto type = rewriter.getFunctionType(arguments.getConvertedTypes(), results);
    rewriter.modifyOpInPlace(function, [&] { function.setFunctionType(type); });
    return success();
  }
};

/// A value that nobody reads is 0 or empty: bufferization wants more than poison.
struct LiftBlocks : ControlFlowToSCFTransformation {
  Value getUndefValue(Location loc, OpBuilder &b, Type type) override {
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      SmallVector<Value> sizes;
      if (!tensor.hasStaticShape())
        sizes.assign(tensor.getNumDynamicDims(), arith::ConstantIndexOp::create(b, loc, 0));
      return tensor::EmptyOp::create(b, loc, tensor, sizes);
    }
    return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  }
};

/// Functions by the names of the program, where each has one; statements of the top level are `main`.
void nameFunctions(ModuleOp module) {
  llvm::StringMap<SmallVector<func::FuncOp, 1>> named;
  for (auto function : module.getOps<func::FuncOp>()) {
    auto name = function->getAttrOfType<StringAttr>("toy.name");
    if (name)
      named[name.getValue()].push_back(function);
    else if (function.isPublic())
      named["main"].push_back(function);
  }
  for (auto &[name, functions] : named)
    if (functions.size() == 1 && !module.lookupSymbol(name)) {
      (void)SymbolTable::replaceAllSymbolUses(functions[0], StringAttr::get(module.getContext(), name), module);
      functions[0].setSymName(name);
    }
  for (auto function : module.getOps<func::FuncOp>()) {
    for (StringRef attribute : {"toy.name", "toy.prelude"})
      function->removeAttr(attribute);
    if (!function.isExternal())
      function.setPublic();
  }
}

struct ConvertToyToLinalgPass : impl::ConvertToyToLinalgBase<ConvertToyToLinalgPass> {
  void runOnOperation() override {
    dropUnreadStores();
    if (failed(convert()) || failed(reportRest()) || failed(lift()))
      return signalPassFailure();
    nameFunctions(getOperation());
  }

private:
  /// Variables of the top level that no function reads are values of `main` alone.
  void dropUnreadStores() {
    llvm::StringSet<> read;
    getOperation().walk([&](GlobalLoadOp load) { read.insert(load.getName()); });
    getOperation().walk([&](GlobalStoreOp store) {
      if (!read.contains(store.getName()))
        store.erase();
    });
  }

  LogicalResult convert() {
    MLIRContext *context = &getContext();
    ToUpstreamTypes types;
    ConversionTarget target(*context);
    target.addLegalDialect<arith::ArithDialect, cf::ControlFlowDialect, linalg::LinalgDialect, math::MathDialect,
                           scf::SCFDialect, tensor::TensorDialect, vector::VectorDialect>();
    target.addLegalOp<ModuleOp>();
    target.addDynamicallyLegalOp<func::FuncOp>(
        [&](func::FuncOp op) { return types.isSignatureLegal(op.getFunctionType()) && types.isLegal(&op.getBody()); });
    target.addDynamicallyLegalOp<func::CallOp, func::ReturnOp, cf::BranchOp, cf::CondBranchOp>(
        [&](Operation *op) { return types.isLegal(op); });
    RewritePatternSet patterns(context);
    patterns.add<ByRow, FunctionTypes>(types, context);
    populateCallOpTypeConversionPattern(patterns, types);
    populateReturnOpTypeConversionPattern(patterns, types);
    populateBranchOpInterfaceTypeConversionPattern(patterns, types);
    ConversionConfig config;
    config.buildMaterializations = false; // what is left without a row is reported by its name
    return applyPartialConversion(getOperation(), target, std::move(patterns), config);
  }

  /// Texts that only named an assertion are gone; anything else of the dialect that is left has no row.
  LogicalResult reportRest() {
    llvm::StringSet<> reported;
    getOperation().walk([](StrConstantOp text) {
      if (text.use_empty())
        text.erase();
    });
    getOperation().walk([&](Operation *op) {
      if (isa_and_present<ToyDialect>(op->getDialect()) && reported.insert(op->getName().getStringRef()).second)
        op->emitError() << op->getName() << (op->hasAttr("packed") ? " of complex values" : "");
    });
    return success(reported.empty());
  }

  LogicalResult lift() {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || function.getBody().hasOneBlock())
        continue;
      LiftBlocks lifting;
      DominanceInfo dominance(function);
      if (failed(transformCFGToSCF(function.getBody(), lifting, dominance)))
        return failure();
    }
    return success();
  }
};

} // namespace
} // namespace toy
