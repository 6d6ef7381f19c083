// SPDX-License-Identifier: Apache-2.0
/// \file
/// Slices of one element as reads and stores of elements.
#include "ir/Constants.h"
#include "passes/ControlFlow.h"
#include "passes/FlattenLists.h"
#include "passes/Passes.h"
#include "passes/Rewriting.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_ACCESSELEMENTS
#include "passes/Passes.h.inc"

namespace {

bool isOneElement(TensorType type) { return type.getStaticCount() == 1; }

/// reshape(slice(x, i, 1)) ==> element(x, i), a scalar.
struct ElementOfSlice : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &b) const override {
    auto slice = op.getX().getDefiningOp<SliceOp>();
    if (!slice || !tensorTypeOf(op.getResult()).isScalar() || !isOneElement(tensorTypeOf(slice.getResult())))
      return b.notifyMatchFailure(op, "not one element of a slice");
    b.replaceOpWithNewOp<ElementOp>(op, op.getType(), slice.getX(), slice.getStarts());
    return success();
  }
};

/// slice_store(x, v, i, 1) ==> element_store(x, v, i), in some blocks or in all.
struct StoreOfElement : OpRewritePattern<SliceStoreOp> {
  StoreOfElement(MLIRContext *context, const llvm::DenseSet<Block *> *only)
      : OpRewritePattern<SliceStoreOp>(context), only(only) {}
  LogicalResult matchAndRewrite(SliceStoreOp op, PatternRewriter &b) const override {
    if (only && !only->contains(op->getBlock()))
      return b.notifyMatchFailure(op, "a device stores it");
    auto isOne = [](Value v) { return constantInteger(v) == 1; };
    if (op->hasAttr("packed") || !llvm::all_of(op.getCounts(), isOne) || !isOneElement(tensorTypeOf(op.getValues())))
      return b.notifyMatchFailure(op, "not one element");
    Value value = op.getValues();
    if (TensorType type = tensorTypeOf(value); !type.isScalar())
      value = ReshapeOp::create(b, op.getLoc(), type.withDims({}), value, ValueRange());
    b.replaceOpWithNewOp<ElementStoreOp>(op, op.getType(), op.getX(), value, op.getStarts());
    return success();
  }

private:
  const llvm::DenseSet<Block *> *only;
};

/// The blocks of innermost loops that make no tensors but elements: nothing in them is for a device.
llvm::DenseSet<Block *> blocksOfElementLoops(func::FuncOp function) {
  auto isForHost = [](Operation &op) {
    return isa<SliceStoreOp>(op) || llvm::all_of(op.getResultTypes(), [](Type type) {
             auto tensor = dyn_cast<TensorType>(type);
             return !tensor || isOneElement(tensor);
           });
  };
  llvm::DenseSet<Block *> blocks;
  FunctionLoops loops(function);
  for (CFGLoop *loop : loops.all())
    if (loop->isInnermost() &&
        llvm::all_of(loop->getBlocks(), [&](Block *block) { return llvm::all_of(*block, isForHost); }))
      blocks.insert(loop->block_begin(), loop->block_end());
  return blocks;
}

/// Elements of what only shows other elements are those.
struct ElementOfView : OpRewritePattern<ElementOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ElementOp op, PatternRewriter &b) const override {
    Operation *def = op.getX().getDefiningOp();
    if (auto part = dyn_cast_if_present<PartOp>(def)) {
      SmallVector<Value> indices(op.getIndices());
      indices.push_back(integerConstant(b, op.getLoc(), part.getIndex()));
      b.replaceOpWithNewOp<ElementOp>(op, op.getType(), part.getX(), indices);
      return success();
    }
    if (auto view = dyn_cast_if_present<ViewAsRealOp>(def)) {
      std::optional<int64_t> part = constantInteger(op.getIndices().back());
      if (!part)
        return b.notifyMatchFailure(op, "the part is not known");
      TensorType pairs = tensorTypeOf(view.getX());
      Value z = view.getX();
      if (!pairs.isScalar())
        z = ElementOp::create(b, op.getLoc(), pairs.withDims({}), z, op.getIndices().drop_back());
      if (*part == 0)
        b.replaceOpWithNewOp<RealOp>(op, op.getType(), z);
      else
        b.replaceOpWithNewOp<ImagOp>(op, op.getType(), z);
      return success();
    }
    return b.notifyMatchFailure(op, "not a view");
  }
};

/// A slice, alone in its group or free, with the operands that it has outside of it.
struct OuterSlice {
  SliceOp slice;
  FusedOp group; ///< or none

  static std::optional<OuterSlice> of(Value v) {
    if (auto slice = v.getDefiningOp<SliceOp>())
      return OuterSlice{slice, {}};
    auto group = v.getDefiningOp<FusedOp>();
    if (!group || group.getNumResults() != 1)
      return std::nullopt;
    auto slice = group.getBody().front().getTerminator()->getOperand(0).getDefiningOp<SliceOp>();
    return slice && isa<BlockArgument>(slice.getX()) ? std::optional(OuterSlice{slice, group}) : std::nullopt;
  }
  Value outside(Value v) {
    auto argument = group ? dyn_cast<BlockArgument>(v) : BlockArgument();
    return argument ? group.getInputs()[argument.getArgNumber()] : v;
  }
  /// Whether the bounds of the slice are known outside of its group.
  bool hasOuterStarts() {
    return llvm::all_of(slice.getStarts(), [&](Value start) {
      return !group || isa<BlockArgument>(start) || constantInteger(start).has_value();
    });
  }
};

/// Whether a tensor is never stored into, nor handed on to where it may be: it can be read later without a copy.
bool staysAsItIs(Value x) {
  return llvm::all_of(x.getUsers(), [&](Operation *user) { return isa<ElementOp, DimOp, FusedOp, SliceOp>(user); });
}

/// element(reshape(slice(x, i, 1, …)), j) ==> element(x, i, j): a row of which single elements are read is not made.
struct ElementOfRow : OpRewritePattern<ElementOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ElementOp op, PatternRewriter &b) const override {
    Value row = op.getX();
    while (auto relabel = row.getDefiningOp<RelabelOp>())
      row = relabel.getX();
    auto reshape = row.getDefiningOp<ReshapeOp>();
    auto from = OuterSlice::of(reshape ? reshape.getX() : row);
    if (!from || !from->hasOuterStarts() || !staysAsItIs(from->outside(from->slice.getX())))
      return b.notifyMatchFailure(op, "not an element of a slice of what stays");
    TensorType type = tensorTypeOf(from->slice.getResult());
    SmallVector<Value> indices;
    ValueRange rest = op.getIndices();
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      const bool isGone = reshape && type.getDim(axis).is(1);
      if (!isGone &&
          (rest.empty() || type.getDim(axis) != tensorTypeOf(row).getDim(op.getIndices().size() - rest.size())))
        return b.notifyMatchFailure(op, "axes are joined");
      indices.push_back(isGone ? Value() : rest.front());
      rest = isGone ? rest : rest.drop_front();
    }
    if (!rest.empty())
      return b.notifyMatchFailure(op, "axes are split");
    for (auto [axis, index] : llvm::enumerate(indices))
      index = placeIn(*from, axis, index, op, b);
    b.replaceOpWithNewOp<ElementOp>(op, op.getType(), from->outside(from->slice.getX()), indices);
    return success();
  }

  /// Where an index of the slice (none: its only one) is in what it shows: inside, so nothing wraps.
  static Value placeIn(OuterSlice &from, size_t axis, Value index, ElementOp op, PatternRewriter &b) {
    Value start = from.outside(from.slice.getStarts()[axis]);
    if (auto known = constantInteger(start); known && start.getParentBlock() != op->getBlock())
      start = integerConstant(b, op.getLoc(), *known);
    if (!index)
      return start;
    auto exactly = [](Operation *made) {
      made->setAttr("toy.exact", UnitAttr::get(made->getContext()));
      return made->getResult(0);
    };
    if (int64_t step = from.slice.getSteps()[axis]; step != 1)
      index = exactly(MulOp::create(b, op.getLoc(), index.getType(), index, integerConstant(b, op.getLoc(), step)));
    return constantInteger(start) == 0 ? index : exactly(AddOp::create(b, op.getLoc(), index.getType(), start, index));
  }
};

/// The operand that an operation takes a size of its result from.
Value sizeOperand(Value v, int64_t axis) {
  Operation *def = v.getDefiningOp();
  if (auto full = dyn_cast_if_present<FullOp>(def))
    return full.getSizes()[axis];
  if (auto reshape = dyn_cast_if_present<ReshapeOp>(def))
    return reshape.getSizes()[axis];
  if (auto slice = dyn_cast_if_present<SliceOp>(def))
    return slice.getCounts()[axis];
  if (auto shorten = dyn_cast_if_present<ShortenOp>(def); shorten && axis == 0)
    return shorten.getCount();
  if (auto iota = dyn_cast_if_present<IotaOp>(def))
    return iota.getSize();
  if (auto broadcast = dyn_cast_if_present<BroadcastOp>(def))
    return broadcast.getSizes()[axis];
  return {};
}

/// dim(x) ==> dim of the first value with that size, or what that size was made from.
void shareSizes(func::FuncOp function, DominanceInfo &dominance) {
  SmallVector<DimOp> questions;
  llvm::DenseSet<Dim> asked;
  function.walk([&](DimOp op) {
    while (auto relabel = op.getX().getDefiningOp<RelabelOp>())
      op.getXMutable().assign(relabel.getX());
    Dim dim = tensorTypeOf(op.getX()).getDim(op.getAxis());
    if (!hasLocalSizes(op.getX()) || dim.isUnknown())
      return;
    questions.push_back(op);
    asked.insert(dim);
  });
  using Source = std::pair<Value, int64_t>;
  llvm::DenseMap<Dim, SmallVector<Source>> sources;
  auto note = [&](Value v) {
    if (auto type = dyn_cast<TensorType>(v.getType()); type && hasLocalSizes(v))
      for (auto [axis, dim] : llvm::enumerate(type.getDims()))
        if (asked.contains(dim))
          sources[dim].push_back({v, axis});
  };
  for (Block &block : function.getBody()) {
    llvm::for_each(block.getArguments(), note);
    for (Operation &op : block)
      llvm::for_each(op.getResults(), note);
  }
  llvm::DenseMap<Source, Value> answers;
  OpBuilder b(function.getContext());
  for (DimOp op : questions)
    for (auto [value, axis] : sources[tensorTypeOf(op.getX()).getDim(op.getAxis())]) {
      if (!dominance.dominates(value, op))
        continue;
      Value &answer = answers[{value, axis}];
      if (!answer)
        answer = sizeOperand(value, axis);
      if (!answer) {
        b.setInsertionPointAfterValue(value);
        answer = DimOp::create(b, op.getLoc(), op.getType(), value, axis);
      }
      op.replaceAllUsesWith(answer);
      op.erase();
      break;
    }
}

/// Behind the check of a size its result stands for it: what is known of one is known of the other.
void shareChecks(func::FuncOp function, DominanceInfo &dominance) {
  function.walk([&](CheckSizeOp check) {
    Value size = check.getSize();
    bool isKnown = !check.getReduced() && (size.getDefiningOp<CheckSizeOp>() || size.getDefiningOp<DimOp>());
    if (isKnown) {
      check.replaceAllUsesWith(size);
      return check.erase();
    }
    size.replaceUsesWithIf(check, [&](OpOperand &use) {
      return use.getOwner() != check && dominance.properlyDominates(check.getOperation(), use.getOwner());
    });
  });
}

struct AccessElementsPass : impl::AccessElementsBase<AccessElementsPass> {
  using AccessElementsBase::AccessElementsBase;
  void runOnOperation() override {
    llvm::DenseSet<Block *> loops;
    if (device)
      loops = blocksOfElementLoops(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<ElementOfSlice, ElementOfView>(&getContext());
    if (!device)
      patterns.add<ElementOfRow>(&getContext());
    patterns.add<StoreOfElement>(&getContext(), device ? &loops : nullptr);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), withoutMerging())))
      return signalPassFailure();
    if (!device)
      flattenLists(getOperation());
    WalkResult any = getOperation().walk([](Operation *op) {
      return isa<ElementOp, ElementStoreOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!any.wasInterrupted())
      return;
    DominanceInfo dominance(getOperation());
    shareSizes(getOperation(), dominance);
    shareChecks(getOperation(), dominance);
    IRRewriter rewriter(&getContext());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }
};

} // namespace
} // namespace toy
