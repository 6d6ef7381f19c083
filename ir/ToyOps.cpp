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

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// Of arithmetic that is an error for some integers on the right: nothing else depends on it, but it stays where it is.
static void addEffects(Value rhs, function_ref<bool(const APInt &)> isError, Effects &effects) {
  if (kindOf(tensorTypeOf(rhs).getDtype()) > DKind::Int)
    return;
  auto constant = rhs.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (elements && none_of(elements.getValues<APInt>(), isError))
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}
/// What a caught error says is read, and where nobody asks for it, it is not made.
void SystemOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  if (getFunction() != "caught")
    effects.emplace_back(MemoryEffects::Write::get());
}
void FloorDivOp::getEffects(Effects &effects) {
  addEffects(getRhs(), [](const APInt &n) { return n.isZero(); }, effects);
}
void ModOp::getEffects(Effects &effects) {
  addEffects(getRhs(), [](const APInt &n) { return n.isZero(); }, effects);
}
void PowOp::getEffects(Effects &effects) {
  if (tensorTypeOf(getLhs()).isComplex()) // also by integers
    return;
  addEffects(getRhs(), [](const APInt &n) { return n.isNegative(); }, effects);
}

bool hasLocalSizes(Value value) {
  Operation *def = value.getDefiningOp();
  if (isa_and_present<UniqueOp, ElementStoreOp, PartOp>(def))
    return hasLocalSizes(def->getOperand(0));
  return !isa_and_present<RelabelOp, CallOpInterface>(def);
}

} // namespace toy
