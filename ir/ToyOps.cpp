// SPDX-License-Identifier: Apache-2.0
/// \file
/// The operations' generated code, and the verifiers that are more than a type rule.
#include "ir/ToyDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "ir/ToyOps.cpp.inc"

namespace toy {

LogicalResult FusedOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getOperandTypes())
    return emitOpError("has block arguments that differ from its operands");
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getOperandTypes() != getResultTypes())
    return emitOpError("yields other types than its results");
  return success();
}

bool hasLocalSizes(Value value) {
  Operation *def = value.getDefiningOp();
  if (isa_and_present<UniqueOp, ElementStoreOp>(def))
    return hasLocalSizes(def->getOperand(0));
  return !isa_and_present<RelabelOp, CallOpInterface>(def);
}

} // namespace toy
