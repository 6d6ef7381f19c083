// SPDX-License-Identifier: Apache-2.0
/// \file
/// Matrix products as library calls.
#include "passes/Passes.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_SELECTKERNELS
#include "passes/Passes.h.inc"

namespace {

/// A strided view of `base`: what an operand is behind permutations, unit axes, one slice, and conjugations.
struct StridedView {
  Value base;
  SmallVector<int64_t> axes;           ///< of the view: the base's axis, or -1 for a new axis of size 1
  SmallVector<Value> starts, counts;   ///< of the base's axes; empty: all elements
  SmallVector<int64_t> steps;
  bool conjugated = false;

  explicit StridedView(Value value) : base(value), axes(llvm::to_vector(llvm::seq(tensorTypeOf(value).getRank()))) {
    while (look()) {
    }
  }
  SmallVector<Value> bounds() const { return llvm::to_vector(llvm::concat<const Value>(starts, counts)); }

private:
  /// Looks through one more operation.
  bool look() {
    Operation *op = base.getDefiningOp();
    if (auto conj = dyn_cast_if_present<ConjOp>(op)) {
      conjugated = !conjugated;
      base = conj.getX();
      return true;
    }
    if (auto permute = dyn_cast_if_present<PermuteOp>(op)) {
      renumber(permute.getPermutation(), permute.getX());
      return true;
    }
    if (auto reshape = dyn_cast_if_present<ReshapeOp>(op))
      return lookThroughUnitAxes(reshape);
    auto slice = dyn_cast_if_present<SliceOp>(op);
    if (!slice || !steps.empty())
      return false;
    starts.assign(slice.getStarts().begin(), slice.getStarts().end());
    counts.assign(slice.getCounts().begin(), slice.getCounts().end());
    steps.assign(slice.getSteps().begin(), slice.getSteps().end());
    base = slice.getX();
    return true;
  }

  /// Axis i of what was seen so far is axis `to[i]` of `next` (-1: none). Bounds exist only where no axis is lost or gained.
  void renumber(ArrayRef<int64_t> to, Value next) {
    for (int64_t &axis : axes)
      axis = axis < 0 ? -1 : to[axis];
    if (!steps.empty()) {
      StridedView old = *this;
      for (auto [i, axis] : llvm::enumerate(to)) {
        starts[axis] = old.starts[i];
        counts[axis] = old.counts[i];
        steps[axis] = old.steps[i];
      }
    }
    base = next;
  }

  /// A reshape that only adds or drops axes of size 1: the others are the same sizes in the same order.
  bool lookThroughUnitAxes(ReshapeOp reshape) {
    TensorType from = tensorTypeOf(reshape.getX()), to = tensorTypeOf(reshape.getResult());
    SmallVector<int64_t> map;
    int64_t next = 0;
    auto skipUnits = [&] {
      while (next < from.getRank() && from.getDim(next).is(1))
        ++next;
    };
    for (Dim dim : to.getDims()) {
      if (dim.is(1)) {
        map.push_back(-1);
        continue;
      }
      skipUnits();
      if (next == from.getRank() || from.getDim(next) != dim)
        return false;
      map.push_back(next++);
    }
    skipUnits();
    if (next != from.getRank() || !steps.empty())
      return false;
    renumber(map, reshape.getX());
    return true;
  }
};

/// Erases operations that only led to the operands of a product.
void eraseUnused(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<PermuteOp, ConjOp, ReshapeOp, SliceOp>(op) || !op->use_empty())
      return;
    value = op->getOperand(0);
    op->erase();
  }
}

struct SelectKernelsPass : impl::SelectKernelsBase<SelectKernelsPass> {
  void runOnOperation() override {
    getOperation().walk([](MatMulOp op) {
      OpBuilder b(op);
      StridedView lhs(op.getLhs()), rhs(op.getRhs());
      auto gemm = GemmOp::create(b, op.getLoc(), op.getType(), lhs.base, rhs.base, lhs.bounds(), rhs.bounds(), lhs.axes, lhs.steps, lhs.conjugated,
                                 rhs.axes, rhs.steps, rhs.conjugated);
      Value left = op.getLhs(), right = op.getRhs();
      op.replaceAllUsesWith(gemm.getResult());
      op.erase();
      eraseUnused(left);
      if (right != left)
        eraseUnused(right);
    });
  }
};

} // namespace
} // namespace toy
