// SPDX-License-Identifier: Apache-2.0
/// \file
/// Permuted axes move from what is computed with to what is computed: operations read their operands as these lie in
/// memory, and one value is permuted in the place of several, or none at all.
#include "passes/Passes.h"
#include "passes/Rewriting.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_SINKPERMUTES
#include "passes/Passes.h.inc"

namespace {

PermuteOp permuteOf(Value v) {
  auto permute = v.getDefiningOp<PermuteOp>();
  return permute && !permute->hasAttr("packed") ? permute : PermuteOp();
}

/// Sizes whose permutation is `dims`.
SmallVector<Dim> sizesBefore(ArrayRef<int64_t> permutation, const SmallVector<Dim> &dims) {
  SmallVector<Dim> before(dims);
  for (auto [to, from] : llvm::enumerate(permutation))
    before[from] = dims[to];
  return before;
}

/// f(permute x, permute y) ==> permute(f(x, y)), and with numbers among the operands, where one operation reads the
/// result: elements and their order in f are the same.
struct ElementsOfPermutes : RewritePattern {
  explicit ElementsOfPermutes(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &b) const override {
    if (!op->hasTrait<toy::OpTrait::Elementwise>() || op->hasAttr("packed") || op->getNumResults() != 1)
      return b.notifyMatchFailure(op, "not an operation on elements");
    if (op->use_empty() || !llvm::all_equal(op->getUsers()))
      return b.notifyMatchFailure(op, "each reader would permute its elements again");
    const TensorType type = tensorTypeOf(op->getResult(0));
    PermuteOp first;
    for (Value operand : op->getOperands()) {
      if (tensorTypeOf(operand).isScalar())
        continue;
      PermuteOp permute = permuteOf(operand);
      if (!permute || tensorTypeOf(operand).getRank() != type.getRank())
        return b.notifyMatchFailure(op, "an operand lies in the order of the result");
      first = first ? first : permute;
      if (permute.getPermutation() != first.getPermutation())
        return b.notifyMatchFailure(op, "operands are permuted differently");
    }
    if (!first)
      return b.notifyMatchFailure(op, "of numbers");
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (PermuteOp permute = permuteOf(operand); permute && !tensorTypeOf(operand).isScalar())
        mapping.map(operand, permute.getX());
    Operation *moved = b.clone(*op, mapping);
    moved->getResult(0).setType(type.withDims(sizesBefore(first.getPermutation(), type.getDims())));
    b.replaceOpWithNewOp<PermuteOp>(op, type, moved->getResult(0), first.getPermutation());
    return success();
  }
};

/// reduce(permute x) ==> permute(reduce x), exact where elements are folded in the same order or any (rule 12 of
/// docs/reference).
struct ReductionOfPermute : RewritePattern {
  explicit ReductionOfPermute(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &b) const override {
    if (!op->hasTrait<toy::OpTrait::Reduction>() || op->hasAttr("packed"))
      return b.notifyMatchFailure(op, "not a reduction");
    PermuteOp permute = permuteOf(op->getOperand(0));
    if (!permute)
      return b.notifyMatchFailure(op, "not of permuted axes");
    ArrayRef<int64_t> axes = op->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef();
    SmallVector<int64_t> from = llvm::map_to_vector(axes, [&](int64_t axis) { return permute.getPermutation()[axis]; });
    if (!keepsOrder(op, axes, from))
      return b.notifyMatchFailure(op, "elements would be folded in another order");
    llvm::sort(from);
    const bool keepsAxes = op->getAttrOfType<BoolAttr>("keepdims").getValue();
    SmallVector<int64_t> permutation; // of the axes that the result has
    for (auto [to, axis] : llvm::enumerate(permute.getPermutation()))
      if (keepsAxes)
        permutation.push_back(axis);
      else if (!llvm::is_contained(axes, static_cast<int64_t>(to)))
        permutation.push_back(axis - llvm::count_if(from, [axis = axis](int64_t a) { return a < axis; }));
    const TensorType type = tensorTypeOf(op->getResult(0));
    IRMapping mapping;
    mapping.map(op->getOperand(0), permute.getX());
    Operation *moved = b.clone(*op, mapping);
    moved->setAttr("axes", b.getDenseI64ArrayAttr(from));
    moved->getResult(0).setType(type.withDims(sizesBefore(permutation, type.getDims())));
    if (llvm::is_sorted(permutation))
      b.replaceOp(op, moved);
    else
      b.replaceOpWithNewOp<PermuteOp>(op, type, moved->getResult(0), permutation);
    return success();
  }

private:
  static bool keepsOrder(Operation *op, ArrayRef<int64_t> axes, ArrayRef<int64_t> from) {
    const DType dtype = tensorTypeOf(op->getResult(0)).getDtype();
    if (isa<ArgMaxOp, ArgMinOp>(op))
      return axes.size() == 1; // the first of equal ones
    if (!isa<SumOp, ProdOp>(op) || !(isFloat(dtype) || isComplex(dtype)))
      return true;
    const int64_t rank = tensorTypeOf(op->getOperand(0)).getRank();
    auto areLast = [&](ArrayRef<int64_t> some) {
      return llvm::all_of(llvm::enumerate(some), [&](auto pair) {
        return pair.value() == rank - static_cast<int64_t>(some.size()) + static_cast<int64_t>(pair.index());
      });
    };
    const bool hasLast = llvm::is_contained(axes, rank - 1), hadLast = llvm::is_contained(from, rank - 1);
    return llvm::is_sorted(axes) && llvm::is_sorted(from) && hasLast == hadLast &&
           (!hasLast || (areLast(axes) && areLast(from)));
  }
};

/// sort(permute x) ==> permute(sort x), where that sorts along what lies together.
template <typename Op> struct SortOfPermute : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    PermuteOp permute = permuteOf(op.getX());
    if (!permute || op->hasAttr("packed"))
      return b.notifyMatchFailure(op, "not of permuted axes");
    const TensorType type = tensorTypeOf(op.getResult());
    if (permute.getPermutation()[op.getAxis()] != type.getRank() - 1)
      return b.notifyMatchFailure(op, "not along what lies together");
    IRMapping mapping;
    mapping.map(op.getX(), permute.getX());
    auto moved = cast<Op>(b.clone(*op, mapping));
    moved.setAxis(permute.getPermutation()[op.getAxis()]);
    moved.getResult().setType(type.withDims(sizesBefore(permute.getPermutation(), type.getDims())));
    b.replaceOpWithNewOp<PermuteOp>(op, type, moved.getResult(), permute.getPermutation());
    return success();
  }
};

/// slice(permute x) ==> permute(slice x): a flip of a transposed matrix moves rows of memory, then tiles.
struct SliceOfPermute : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &b) const override {
    PermuteOp permute = permuteOf(op.getX());
    if (!permute || op->hasAttr("packed"))
      return b.notifyMatchFailure(op, "not of permuted axes");
    if (!llvm::all_of(permute->getUsers(),
                      [&](Operation *user) { return isa<SliceOp>(user) && user->getBlock() == permute->getBlock(); }))
      return b.notifyMatchFailure(op, "the permuted value is there, or a loop reads its rows");
    const size_t rank = op.getSteps().size();
    SmallVector<Value> bounds(2 * rank);
    SmallVector<int64_t> steps(rank);
    for (auto [to, from] : llvm::enumerate(permute.getPermutation())) {
      bounds[from] = op.getStarts()[to];
      bounds[rank + from] = op.getCounts()[to];
      steps[from] = op.getSteps()[to];
    }
    const TensorType type = tensorTypeOf(op.getResult());
    auto moved = SliceOp::create(b, op.getLoc(), type.withDims(sizesBefore(permute.getPermutation(), type.getDims())),
                                 permute.getX(), bounds, steps);
    b.replaceOpWithNewOp<PermuteOp>(op, type, moved, permute.getPermutation());
    return success();
  }
};

/// permute(permute x) ==> permute x.
struct PermuteOfPermute : OpRewritePattern<PermuteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PermuteOp op, PatternRewriter &b) const override {
    PermuteOp inner = permuteOf(op.getX());
    if (!inner || op->hasAttr("packed"))
      return b.notifyMatchFailure(op, "not of permuted axes");
    SmallVector<int64_t> both =
        llvm::map_to_vector(op.getPermutation(), [&](int64_t axis) { return inner.getPermutation()[axis]; });
    b.replaceOpWithNewOp<PermuteOp>(op, op.getType(), inner.getX(), both);
    return success();
  }
};

struct SinkPermutesPass : impl::SinkPermutesBase<SinkPermutesPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<ElementsOfPermutes, ReductionOfPermute, SortOfPermute<SortOp>, SortOfPermute<ArgSortOp>,
                 SliceOfPermute, PermuteOfPermute>(context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), withoutMerging())))
      signalPassFailure();
  }
};

} // namespace
} // namespace toy
