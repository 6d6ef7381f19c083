// SPDX-License-Identifier: Apache-2.0
#include "passes/RowLanes.h"

#include "llvm/ADT/EquivalenceClasses.h"

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

bool isByElement(FusedOp group) {
  return !isa_and_present<ArgMaxOp, ArgMinOp, CumSumOp>(
      group.getBody().front().getTerminator()->getOperand(0).getDefiningOp());
}

SmallVector<Names> knownLengths(mlir::CFGLoop &loop, int64_t mostBytes, int64_t mostElements) {
  Names found;
  for (mlir::Block *block : loop.getBlocks())
    for (FusedOp group : block->getOps<FusedOp>())
      for (mlir::Operation &op : group.getBody().front())
        for (mlir::Value v : op.getResults())
          if (TensorType type = tensorTypeOf(v);
              type.getRank() == 1 && type.getDim(0).isNumber() && type.getDim(0).value() > 1 &&
              type.getDim(0).value() * sizeOf(type.getDtype()) <= mostBytes && type.getDim(0).value() <= mostElements)
            found.insert(type.getDim(0));
  return map_to_vector(found, [](Dim dim) {
    Names names;
    names.insert(dim);
    return names;
  });
}

SmallVector<Names> unknownLengths(mlir::CFGLoop &loop, function_ref<bool(Dim)> isKnownBefore) {
  EquivalenceClasses<void *> same;
  Names all;
  auto id = [](Dim dim) { return const_cast<void *>(dim.getAttr().getAsOpaquePointer()); };
  auto nameOf = [](mlir::Value v) { // of a row
    auto type = dyn_cast<TensorType>(v.getType());
    Dim dim = type && type.getRank() == 1 ? type.getDim(0) : Dim();
    return dim && !dim.isNumber() && !dim.isUnknown() ? dim : Dim();
  };
  for (mlir::Block *block : loop.getBlocks())
    for (FusedOp group : block->getOps<FusedOp>())
      for (mlir::Operation &op : group.getBody().front())
        if (Dim own = op.getNumResults() == 1 ? nameOf(op.getResult(0)) : Dim(); own && isKnownBefore(own)) {
          all.insert(own);
          same.insert(id(own));
          if (isForLanes(&op))
            for (mlir::Value operand : op.getOperands())
              if (Dim other = nameOf(operand); other && isKnownBefore(other)) {
                all.insert(other);
                same.unionSets(id(own), id(other));
              }
        }
  SmallVector<Names> found;
  while (!all.empty()) {
    Names names;
    for (Dim dim : all)
      if (same.isEquivalent(id(dim), id(all.front())))
        names.insert(dim);
    for (Dim dim : names)
      all.remove(dim);
    found.push_back(std::move(names));
  }
  return found;
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
