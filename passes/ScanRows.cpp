// SPDX-License-Identifier: Apache-2.0
#include "passes/ScanRows.h"
#include "ir/Constants.h"
#include "passes/ControlFlow.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;

namespace toy {

/// Of what a turn makes itself. Any other vector needs no copy before the call, and may be long.
static bool isOfRow(CumSumOp op) {
  Operation *def = op.getX().getDefiningOp();
  if (!def || def->getBlock() != op->getBlock())
    return false;
  TensorType from = tensorTypeOf(op.getX()), to = tensorTypeOf(op.getResult());
  return from.getRank() == 1 && from.getDtype() == to.getDtype() && !isHalf(to.getDtype()) && !op->hasAttr("packed");
}

/// A loop that hands on the sums, the last of them and the place.
static void addUp(CumSumOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  MLIRContext *context = b.getContext();
  Value x = op.getX();
  const DType dtype = tensorTypeOf(x).getDtype();
  Type scalar = TensorType::scalar(context, dtype), integer = TensorType::scalar(context, DType::I64),
       truth = TensorType::scalar(context, DType::Bool);
  Value zero = integerConstant(b, loc, 0), one = integerConstant(b, loc, 1);
  Value n = DimOp::create(b, loc, integer, x, 0);
  Value nothing = zeroConstant(b, loc, dtype);
  Value made = FullOp::create(b, loc, op.getType(), nothing, ValueRange(n));
  Value start = NegOp::create(b, loc, scalar, ValueRange(nothing)); // -0, which leaves -0 as it is
  Block *before = op->getBlock(), *after = before->splitBlock(op);
  Block *header = b.createBlock(after, {op.getType(), scalar, integer}, {loc, loc, loc}), *body = b.createBlock(after);
  Value sums = header->getArgument(0), last = header->getArgument(1), k = header->getArgument(2);
  b.setInsertionPointToEnd(before);
  cf::BranchOp::create(b, loc, header, ValueRange{made, start, zero});
  b.setInsertionPointToEnd(header);
  Value goesOn = TruthOp::create(b, loc, b.getI1Type(), LtOp::create(b, loc, truth, ValueRange{k, n}));
  cf::CondBranchOp::create(b, loc, goesOn, body, ValueRange(), after, ValueRange());
  b.setInsertionPointToEnd(body);
  Value element = ElementOp::create(b, loc, scalar, x, ValueRange(k));
  Value sum = AddOp::create(b, loc, scalar, ValueRange{last, element});
  Value stored = ElementStoreOp::create(b, loc, op.getType(), sums, sum, ValueRange(k));
  auto next = AddOp::create(b, loc, integer, ValueRange{k, one});
  next->setAttr("toy.exact", b.getUnitAttr()); // places lie inside
  cf::BranchOp::create(b, loc, header, ValueRange{stored, sum, next});
  op.replaceAllUsesWith(sums);
  op.erase();
}

void scanRows(func::FuncOp function) {
  SmallVector<CumSumOp> found;
  const FunctionLoops loops(function);
  function.walk([&](CumSumOp op) {
    if (isOfRow(op) && loops.of(op->getBlock()))
      found.push_back(op);
  });
  for (CumSumOp op : found)
    addUp(op);
}

} // namespace toy
