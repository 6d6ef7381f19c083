// SPDX-License-Identifier: Apache-2.0
/// \file
/// Checks are cf.assert, and print calls the printing functions of MLIR's runner.
#include "passes/linalg/Lowering.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace toy {
namespace {

using Results = FailureOr<SmallVector<Value>>;

Results checkEqual(Lowering &l) {
  l.require(l.compare(arith::CmpIPredicate::eq, l.in[0], l.in[1]), cast<CheckEqualOp>(l.op).getWhat() + " differ");
  return SmallVector<Value>();
}

Results checkSize(Lowering &l) {
  auto op = cast<CheckSizeOp>(l.op);
  Value zero = l.number(l.in[0].getType(), 0);
  l.require(l.compare(op.getReduced() ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::sge, l.in[0], zero),
            op.getReduced() ? "`" + *op.getReduced() + "` over an empty axis" : Twine("a negative size"));
  return SmallVector<Value>{l.in[0]};
}

Results assertion(Lowering &l) {
  auto text = l.op->getOperand(1).getDefiningOp<StrConstantOp>();
  l.require(l.in[0], text ? text.getValue() : "assertion failed");
  return SmallVector<Value>();
}

Results nothing(Lowering &l) { return SmallVector<Value>(); }
Results itself(Lowering &l) { return SmallVector<Value>{l.in[0]}; }

/// A value of the dtypes that the runner prints.
Value printable(Lowering &l, Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  Type element = type ? type.getElementType() : v.getType();
  auto widened = [&](Value x) -> Value {
    if (isa<FloatType>(element))
      return l.make<arith::ExtFOp>(l.b.getF32Type(), x);
    return l.make<arith::ExtUIOp>(l.b.getI64Type(), x); // bool and u8
  };
  if (element.getIntOrFloatBitWidth() >= 32)
    return v;
  if (!type)
    return widened(v);
  AffineMap identity = l.b.getMultiDimIdentityMap(type.getRank());
  auto to = type.clone(isa<FloatType>(element) ? Type(l.b.getF32Type()) : l.b.getI64Type());
  return l.generic(v, l.empty(to, l.sizesOf(v)), {identity, identity}, SmallVector<bool>(type.getRank(), false),
                   [&](ValueRange x) { return SmallVector<Value>{widened(x[0])}; })[0];
}

func::FuncOp printerOf(Lowering &l, Type element) {
  std::string name =
      (isa<FloatType>(element) ? "printMemrefF" : "printMemrefI") + std::to_string(element.getIntOrFloatBitWidth());
  auto module = l.op->getParentOfType<ModuleOp>();
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToStart(module.getBody());
  auto type = l.b.getFunctionType({UnrankedTensorType::get(element)}, {});
  auto function = func::FuncOp::create(l.b, l.loc, name, type);
  function.setPrivate();
  function->setAttr("llvm.emit_c_interface", l.b.getUnitAttr());
  return function;
}

Results print(Lowering &l) {
  for (auto [old, value] : llvm::zip_equal(l.op->getOperands(), l.in)) {
    if (auto text = old.getDefiningOp<StrConstantOp>()) {
      vector::PrintOp::create(l.b, l.loc, StringRef(text.getValue().str() + "\n"));
      continue;
    }
    if (!isa<TensorType>(old.getType()))
      return failure();
    Value tensor = l.asTensor(printable(l, value));
    Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
    Value unranked = l.make<tensor::CastOp>(UnrankedTensorType::get(element), tensor);
    func::CallOp::create(l.b, l.loc, printerOf(l, element), unranked);
  }
  return SmallVector<Value>();
}

} // namespace

LoweringRow effectRow(StringRef mnemonic) {
  return llvm::StringSwitch<LoweringRow>(mnemonic)
      .Case("check_equal", checkEqual)
      .Case("check_size", checkSize)
      .Case("assert", assertion)
      .Case("use", nothing)
      .Case("truth", itself)
      .Case("print", print)
      .Default(nullptr);
}

} // namespace toy
