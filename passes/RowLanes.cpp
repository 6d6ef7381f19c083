// SPDX-License-Identifier: Apache-2.0
#include "passes/RowLanes.h"

using namespace llvm;

namespace toy {

bool areNear(int64_t step) {
  constexpr int64_t mostApart = 8;
  return step != 1 && step != 0 && std::abs(step) <= mostApart;
}

std::optional<int64_t> onlyAxis(mlir::Value v) {
  std::optional<int64_t> found;
  for (auto [axis, dim] : enumerate(tensorTypeOf(v).getDims())) {
    if (dim.is(1))
      continue;
    if (found)
      return std::nullopt;
    found = axis;
  }
  return found;
}

std::optional<int64_t> axisOfOperand(mlir::Value operand, mlir::Value result, std::optional<int64_t> row) {
  TensorType type = tensorTypeOf(operand);
  int64_t at = row ? *row - (tensorTypeOf(result).getRank() - type.getRank()) : -1;
  return at >= 0 && !type.getDim(at).is(1) ? std::optional(at) : std::nullopt;
}

/// A number that a group is given for an operand.
static std::optional<double> knownNumber(mlir::Value v) {
  auto argument = dyn_cast<mlir::BlockArgument>(v);
  auto group = argument ? dyn_cast<FusedOp>(argument.getOwner()->getParentOp()) : FusedOp();
  auto constant = group ? group.getInputs()[argument.getArgNumber()].getDefiningOp<ConstantOp>() : ConstantOp();
  auto value = constant ? dyn_cast<mlir::DenseElementsAttr>(constant.getValue()) : mlir::DenseElementsAttr();
  if (!value || value.getNumElements() != 1 || !isa<mlir::FloatType>(value.getElementType()))
    return std::nullopt;
  return (*value.value_begin<APFloat>()).convertToDouble();
}

bool isForLanes(mlir::Operation *op) {
  auto isOfReals = [&] {
    return all_of(op->getOperands(), [](mlir::Value v) { return isFloat(tensorTypeOf(v).getDtype()); });
  };
  if (isa<DivOp, SqrtOp>(op))
    return isOfReals();
  if (isa<PowOp>(op)) // by products of vectors
    return isOfReals() && is_contained({-1.0, 0.5, 2.0}, knownNumber(op->getOperand(1)).value_or(0));
  if (isa<AbsOp>(op))
    return !tensorTypeOf(op->getOperand(0)).isComplex();
  return isa<AddOp, SubOp, MulOp, NegOp, Abs2Op, MinimumOp, MaximumOp, LtOp, LeOp, GtOp, GeOp, EqOp, NeOp, AndOp, OrOp,
             NotOp, WhereOp, CastOp, RealOp, ImagOp, ConjOp, ComplexOp>(op);
}

static bool hasLanes(mlir::Value v, std::optional<int64_t> row, SmallPtrSetImpl<void *> &seen) {
  TensorType type = tensorTypeOf(v);
  mlir::Operation *def = v.getDefiningOp();
  if (isHalf(type.getDtype()))
    return false;
  if (!def || !row || !seen.insert(v.getAsOpaquePointer()).second)
    return true;
  if (isa<FullOp, IotaOp>(def))
    return true;
  if (auto slice = dyn_cast<SliceOp>(def))
    return hasLanes(slice.getX(), row, seen);
  if (auto permute = dyn_cast<PermuteOp>(def))
    return hasLanes(permute.getX(), permute.getPermutation()[*row], seen);
  if (auto reshape = dyn_cast<ReshapeOp>(def))
    return hasLanes(reshape.getX(), onlyAxis(reshape.getX()), seen);
  return isForLanes(def) && all_of(def->getOperands(), [&](mlir::Value operand) {
           return hasLanes(operand, axisOfOperand(operand, v, row), seen);
         });
}

bool hasLanes(mlir::Value v, std::optional<int64_t> row) {
  SmallPtrSet<void *, 16> seen;
  return hasLanes(v, row, seen);
}

bool isRowFold(mlir::Operation *op) {
  auto row = onlyAxis(op->getOperand(0));
  return isa<SumOp, ProdOp, MaxOp, MinOp, AnyOp, AllOp, ArgMaxOp, ArgMinOp>(op) &&
         tensorTypeOf(op->getResult(0)).isScalar() && row && !isHalf(tensorTypeOf(op->getResult(0)).getDtype()) &&
         hasLanes(op->getOperand(0), row);
}

bool isRowScan(mlir::Operation *op) {
  auto sums = dyn_cast<CumSumOp>(op);
  if (!sums || op->hasAttr("packed"))
    return false;
  TensorType from = tensorTypeOf(sums.getX()), to = tensorTypeOf(sums.getResult());
  return from.getRank() == 1 && from.getDtype() == to.getDtype() && !isHalf(to.getDtype());
}

bool isRowOf(mlir::Value v, const Names &names) {
  auto type = dyn_cast<TensorType>(v.getType());
  return type && type.getRank() == 1 && names.contains(type.getDim(0));
}
bool isScalar(mlir::Value v) {
  auto type = dyn_cast<TensorType>(v.getType());
  return type && type.isScalar();
}

/// Whether an operation of a group computes a row, element by element, or says where one is in memory. Rows of a group
/// are of one size, by whatever name.
static bool isOfRow(mlir::Operation &op) {
  auto isRow = [](mlir::Value v) { return tensorTypeOf(v).getRank() == 1 && !tensorTypeOf(v).getDim(0).is(1); };
  if (isa<SliceOp, ReshapeOp, PermuteOp>(op))
    return !op.getOperand(0).getDefiningOp() || isa<SliceOp, ReshapeOp, PermuteOp>(op.getOperand(0).getDefiningOp());
  if (isa<FullOp, IotaOp>(op))
    return isRow(op.getResult(0));
  return isForLanes(&op) && isRow(op.getResult(0)) &&
         llvm::all_of(op.getOperands(), [&](mlir::Value v) { return isRow(v) || isScalar(v); });
}

bool isRowGroup(FusedOp group, const Names &names) {
  mlir::Block &body = group.getBody().front();
  if (group.getNumResults() != 1 || group->hasAttr("packed") || group->hasAttr(rowLanes))
    return false;
  mlir::Value result = body.getTerminator()->getOperand(0);
  mlir::Operation *fold = result.getDefiningOp();
  const bool isFold = fold && fold->hasTrait<toy::OpTrait::Reduction>(), isScan = isa_and_present<CumSumOp>(fold);
  if (isFold ? !isRowFold(fold) || !isRowOf(fold->getOperand(0), names) ||
                   (isa<ProdOp>(fold) && tensorTypeOf(result).isComplex()) // signs of zeros: of all lanes
             : !isRowOf(result, names) || !hasLanes(isScan ? fold->getOperand(0) : result, 0))
    return false;
  return llvm::all_of(body.without_terminator(),
                      [&](mlir::Operation &op) { return (&op == fold && (isFold || isScan)) || isOfRow(op); });
}

bool readsInPlace(FusedOp group, mlir::Value operand) {
  for (auto [input, argument] : llvm::zip(group.getInputs(), group.getBody().getArguments()))
    if (input == operand && llvm::any_of(argument.getUsers(), [](mlir::Operation *user) {
          return isa<SliceOp, ReshapeOp, PermuteOp, FullOp, IotaOp>(user);
        }))
      return false;
  return true;
}

} // namespace toy
