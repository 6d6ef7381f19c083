// SPDX-License-Identifier: Apache-2.0
/// \file
/// The toy dialect: types, operations and the interface that holds their shape and dtype rules.
#pragma once

#include "ir/Dim.h"
#include "support/Half.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace toy {

/// Marks the call of a block whose errors are caught, and the block's function: its first result says how the block was
/// left, or is -1 where it failed.
inline constexpr llvm::StringLiteral triedCall = "toy.try";
/// What ranks send each other.
struct Network : mlir::SideEffects::Resource::Base<Network> {
  llvm::StringRef getName() final { return "Network"; }
};
class RuleContext;
/// The verifier's half of the type rules: asks the rule and compares with the results the operation has.
llvm::LogicalResult verifyTypeRule(mlir::Operation *op);

namespace OpTrait {
template <typename Op> class Computes : public mlir::OpTrait::TraitBase<Op, Computes> {};
template <typename Op> class Elementwise : public mlir::OpTrait::TraitBase<Op, Elementwise> {};
template <typename Op> class IndexMap : public mlir::OpTrait::TraitBase<Op, IndexMap> {};
template <typename Op> class PartWise : public mlir::OpTrait::TraitBase<Op, PartWise> {};
template <typename Op> class Reduction : public mlir::OpTrait::TraitBase<Op, Reduction> {};
} // namespace OpTrait
} // namespace toy

#include "ir/ToyDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/ToyInterfaces.h.inc"
#include "ir/ToyTypes.h.inc"
#include "ir/TypeRules.h"
#define GET_OP_CLASSES
#include "ir/ToyOps.h.inc"

namespace toy {
/// The tensor type of a value that is known to be a tensor.
inline TensorType tensorTypeOf(mlir::Value value) { return llvm::cast<TensorType>(value.getType()); }
/// Whether a size of this name is one value wherever its definition dominates. What is relabelled has the names of a
/// callee, or of a loop's next turn; what a call gives has the callee's.
bool hasLocalSizes(mlir::Value value);
/// Whether an operation takes the reference of its first operand, in whose place the result is where nobody else holds
/// it.
inline bool consumesFirst(mlir::Operation *op) {
  if (auto sort = llvm::dyn_cast<SortOp>(op))
    return sort.getPart().empty();
  return llvm::isa<AppendOp, ShortenOp, SliceStoreOp, TakeStoreOp, MaskStoreOp, PutAlongOp, CumSumOp, CumProdOp,
                   ListAppendOp, ListSetOp, ListSliceOp, ListConcatOp>(op);
}
/// A tensor of bf16 or f16.
inline bool isHalfTensor(mlir::Type type) {
  auto tensor = llvm::dyn_cast<TensorType>(type);
  return tensor && isHalf(tensor.getDtype());
}
/// The builtin tensor type whose dense attributes hold the constants of a dtype: bool is i1, u8 is ui8, c64 is
/// complex<f32>.
mlir::Type elementTypeOf(mlir::MLIRContext *context, DType dtype);
} // namespace toy
