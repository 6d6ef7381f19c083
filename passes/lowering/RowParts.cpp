// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of a map in parts that have a loop each: those of joins, of paddings, and of comparisons that an element's
/// number in the row decides (`tril`, `diag` of a vector).
#include "passes/lowering/KernelEmitter.h"

using namespace llvm;

namespace toy {

/// Joins that are read at the index of the result itself, all along one of its axes: that of the first.
SmallVector<ConcatOp> KernelEmitter::joinsAtOwnIndex(int64_t &axis) {
  SmallVector<ConcatOp> concats;
  SmallPtrSet<void *, 16> seen; // `y = y + y` n times has 2^n paths
  auto visit = [&](auto &self, mlir::Value value) -> void {
    mlir::Operation *def = value.getDefiningOp();
    if (!def || !seen.insert(value.getAsOpaquePointer()).second)
      return;
    if (auto concat = dyn_cast<ConcatOp>(def)) {
      const int64_t missing = rootType.getRank() - tensorTypeOf(value).getRank();
      const int64_t own = static_cast<int64_t>(concat.getAxis()) + missing;
      if (concats.empty())
        axis = own;
      if (axis == own && tensorTypeOf(value).getDim(concat.getAxis()) == rootType.getDim(axis))
        concats.push_back(concat);
    } else if (def->hasTrait<OpTrait::Elementwise>())
      for (mlir::Value operand : def->getOperands())
        self(self, operand);
  };
  visit(visit, root);
  return concats;
}

/// A loop over [begin, end) of the last axis at the given indices of the others. Where parts are joined along it, one
/// loop for each; where they are joined along another axis, the loop of the part that has the row.
void KernelEmitter::loopOverRow(Value *begin, Value *end, const Indices &outer, function_ref<void(Value *)> body) {
  int64_t axis = 0;
  SmallVector<ConcatOp> concats = joinsAtOwnIndex(axis);
  auto partSizes = [](ConcatOp op) {
    return map_to_vector(op.getParts(), [&](mlir::Value part) { return tensorTypeOf(part).getDims()[op.getAxis()]; });
  };
  if (concats.empty())
    return loopOverDecided(begin, end, outer, body);
  if (any_of(concats, [&](ConcatOp op) { return partSizes(op) != partSizes(concats[0]); }))
    return loop(begin, end, body);
  splitConcats.insert(concats.begin(), concats.end());
  splitBegin = i64(0);
  for (auto [part, value] : enumerate(concats[0].getParts())) {
    Value *partEnd = k.CreateAdd(splitBegin, this->size(value, concats[0].getAxis()), "", true, true);
    splitPart = part;
    if (axis < static_cast<int64_t>(outer.size())) {
      splitIndex = outer[axis];
      Value *isHere = k.CreateAnd(k.CreateICmpSGE(splitIndex, splitBegin), k.CreateICmpSLT(splitIndex, partEnd));
      // A branch: of an end that is chosen, LLVM would not know how many turns come to it, and vectorize nothing.
      BasicBlock *here = BasicBlock::Create(k.getContext(), "part", kernel),
                 *behind = BasicBlock::Create(k.getContext(), "", kernel);
      k.CreateCondBr(isHere, here, behind);
      k.SetInsertPoint(here);
      loop(begin, end, body);
      k.CreateBr(behind);
      k.SetInsertPoint(behind);
    } else
      loop(k.CreateBinaryIntrinsic(Intrinsic::smax, begin, splitBegin),
           k.CreateBinaryIntrinsic(Intrinsic::smin, end, partEnd), [&](Value *j) {
             splitIndex = j;
             body(j);
           });
    splitBegin = partEnd;
  }
  splitConcats.clear();
}

/// Where an operation that is decided by an element's number in the row is so, and how: from `first` to `last`, and the
/// other way elsewhere.
struct KernelEmitter::Decision {
  mlir::Operation *op = nullptr;
  bool value = true;
  Value *first = nullptr, *last = nullptr;
};

/// The first of the group's operations that are read at the index of the result itself and a row's counter decides.
mlir::Operation *KernelEmitter::decidedByRow() {
  const int64_t rank = rootType.getRank();
  if (rank == 0)
    return nullptr;
  const Dim last = rootType.getDim(rank - 1);
  constexpr int64_t shortRow = 64; // its parts are not worth loops
  constexpr size_t muchCode = 12;
  if ((last.isNumber() && last.value() < shortRow) || op.getBody().front().getOperations().size() > muchCode)
    return nullptr;
  auto counts = [&](mlir::Value v) { return v.getDefiningOp<IotaOp>() && tensorTypeOf(v).getDim(0) == last; };
  auto isFixed = [&](mlir::Value v) { // in a row
    TensorType type = tensorTypeOf(v);
    return type.getDtype() == DType::I64 && (type.isScalar() || type.getDim(type.getRank() - 1).is(1));
  };
  SmallPtrSet<void *, 16> seen;
  auto visit = [&](auto &self, mlir::Value value) -> mlir::Operation * {
    mlir::Operation *def = value.getDefiningOp();
    TensorType type = tensorTypeOf(value);
    if (!def || type.isScalar() || type.getDim(type.getRank() - 1) != last ||
        !seen.insert(value.getAsOpaquePointer()).second)
      return nullptr;
    if (isa<PadOp>(def))
      return def;
    if (isa<EqOp, NeOp, LtOp, LeOp, GtOp, GeOp>(def))
      for (int side : {0, 1})
        if (counts(def->getOperand(side)) && isFixed(def->getOperand(1 - side)))
          return def;
    if (def->hasTrait<OpTrait::Elementwise>())
      for (mlir::Value operand : def->getOperands())
        if (mlir::Operation *found = self(self, operand))
          return found;
    return nullptr;
  };
  return visit(visit, root);
}

KernelEmitter::Decision KernelEmitter::padDecision(PadOp pad, const Indices &outer) {
  const int64_t rank = tensorTypeOf(pad.getResult()).getRank();
  Value *inside = k.getTrue();
  for (int64_t axis = 0; axis < rank - 1; ++axis) {
    Value *own = k.CreateSub(outer[outer.size() + 1 - rank + axis], i64(pad.getLow()[axis]));
    inside = k.CreateAnd(inside, k.CreateICmpULT(own, size(pad.getX(), axis)));
  }
  const int64_t low = pad.getLow().back();
  Value *first = i64(std::max<int64_t>(low, 0)), *last = k.CreateAdd(size(pad.getX(), rank - 1), i64(low));
  return {pad, true, k.CreateSelect(inside, first, i64(0)), k.CreateSelect(inside, last, i64(0))};
}

KernelEmitter::Decision KernelEmitter::comparisonDecision(mlir::Operation *comparison, const Indices &outer) {
  const bool isLeft = comparison->getOperand(0).getDefiningOp<IotaOp>() != nullptr;
  mlir::Value fixed = comparison->getOperand(isLeft ? 1 : 0);
  Indices indices = outer;
  indices.push_back(i64(0));
  Value *n = size(root, rootType.getRank() - 1), *at = elementAt(fixed, aligned(fixed, rootType.getRank(), indices)).re;
  at = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateBinaryIntrinsic(Intrinsic::smax, at, i64(-1)), n);
  Value *from = k.CreateBinaryIntrinsic(Intrinsic::smax, at, i64(0)),
        *behind = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(at, i64(1)), n);
  if (isa<EqOp, NeOp>(comparison))
    return {comparison, isa<EqOp>(comparison), from, behind};
  // Elements before the place, with it or without, and the others.
  const bool isBelow = isa<LtOp, LeOp>(comparison) == isLeft, isWith = isa<LeOp, GeOp>(comparison) == isBelow;
  return {comparison, isBelow, i64(0), isWith ? behind : from};
}

void KernelEmitter::loopOverDecided(Value *begin, Value *end, const Indices &outer, function_ref<void(Value *)> body) {
  mlir::Operation *found = decidedByRow();
  if (!found)
    return loop(begin, end, body);
  auto pad = dyn_cast<PadOp>(found);
  const Decision d = pad ? padDecision(pad, outer) : comparisonDecision(found, outer);
  auto part = [&](Value *from, Value *to, bool value) {
    decided = d.op;
    decidedValue = value;
    loop(from, to, [&](Value *j) {
      splitIndex = j;
      body(j);
    });
  };
  auto clipped = [&](Value *at) {
    return k.CreateBinaryIntrinsic(Intrinsic::smax, k.CreateBinaryIntrinsic(Intrinsic::smin, at, end), begin);
  };
  Value *first = clipped(d.first), *last = clipped(d.last);
  if (isa<EqOp, NeOp>(found) && !reusable) { // one loop for the row, and a second value for one element of it
    part(begin, end, !d.value);
    part(first, last, d.value);
    decided = nullptr;
    return;
  }
  if (d.first != i64(0))
    part(begin, first, !d.value);
  part(first, last, d.value);
  part(last, end, !d.value);
  decided = nullptr;
}

} // namespace toy
