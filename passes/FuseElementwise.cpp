// SPDX-License-Identifier: Apache-2.0
/// \file
/// Groups of operations that become one loop nest.
#include "ir/Consumption.h"
#include "passes/ControlFlow.h"
#include "passes/Passes.h"
#include "passes/Rewriting.h"
#include "passes/RowLanes.h"
#include "passes/SmallSwaps.h"

#include "support/Half.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "passes/Passes.h.inc"

namespace {

bool isRanked(Operation *op) {
  return op->getNumResults() == 1 && isa<TensorType>(op->getResult(0).getType()) &&
         !tensorTypeOf(op->getResult(0)).isScalar();
}

/// Views cost nothing at run time as they are: they stay outside of groups.
bool isView(Operation *op) { return isa<ViewAsRealOp, ViewAsComplexOp>(op); }

/// Joining many parts is copying, a group of its own: code that computes them would grow with their number.
bool hasManyParts(Operation *op) { return isa<ConcatOp>(op) && op->getNumOperands() > 8; }

/// Operations on packed pairs are the runtime's.
bool isPackedForm(Operation *op) { return op->hasAttr("packed"); }

bool isIndexMap(Operation *op) {
  return !isPackedForm(op) && op->hasTrait<OpTrait::IndexMap>() && !isView(op) && isRanked(op) && !hasManyParts(op);
}
/// Checked integer operations may fail, but element by element like the others.
bool isElementwise(Operation *op) { return !isPackedForm(op) && op->hasTrait<OpTrait::Elementwise>() && isRanked(op); }
bool isReduction(Operation *op) { return !isPackedForm(op) && op->hasTrait<OpTrait::Reduction>(); }
/// Sums along a vector that are code of a loop.
bool isScan(Operation *op) { return isa<CumSumOp>(op) && op->hasAttr("toy.inLoop"); }
bool isFusible(Operation *op) { return isIndexMap(op) || isElementwise(op) || isReduction(op) || isScan(op); }

/// A slice that is only joined again (a roll along several axes).
bool isSliceOfJoins(Operation *op) {
  return isa<SliceOp>(op) && llvm::all_of(op->getUsers(), [](Operation *user) { return isa<ConcatOp>(user); });
}

/// The sizes of a tensor without those that are 1.
SmallVector<Dim> widths(Value x) {
  return to_vector(make_filter_range(tensorTypeOf(x).getDims(), [](Dim dim) { return !dim.is(1); }));
}
bool onlyDropsUnits(ReshapeOp op) {
  return widths(op) == widths(op.getX()) && none_of(widths(op), [](Dim dim) { return dim.isUnknown(); });
}
/// A row `a[i]`: a slice without its axes of one index.
bool isRow(Operation *op) {
  auto reshape = dyn_cast<ReshapeOp>(op);
  return reshape && !isPackedForm(op) && isRanked(op) && onlyDropsUnits(reshape) &&
         isa_and_present<SliceOp>(reshape.getX().getDefiningOp());
}

/// Whether the elements of a row are near each other in memory: between neighbours stand at most those of a line of the
/// cache.
bool isNear(Operation *row) {
  constexpr int64_t line = 64; // bytes
  SmallVector<Dim> kept = tensorTypeOf(row->getOperand(0)).getDims();
  TensorType x = tensorTypeOf(row->getOperand(0).getDefiningOp<SliceOp>().getX());
  int64_t bytes = sizeOf(x.getDtype());
  for (int64_t axis = x.getRank(); axis-- > 0 && kept[axis].is(1);)
    if (!x.getDim(axis).isNumber() || llvm::MulOverflow(bytes, x.getDim(axis).value(), bytes))
      return false;
  return bytes <= line;
}

/// Index maps whose result has each element of the operand at most once.
bool keepsElementsOnce(Operation *op) {
  return isa<PermuteOp, SliceOp, ConcatOp, PadOp, DiagonalOp, PackOp, PartOp>(op);
}

/// A join of joins is a pass of copies, a group of its own, too.
bool isJoinOfJoins(Operation *op) {
  return isa<ConcatOp>(op) &&
         llvm::any_of(op->getOperands(), [](Value part) { return part.getDefiningOp<ConcatOp>() != nullptr; });
}

struct Group {
  Operation *root;
  SetVector<Operation *> members; ///< the root and what joined it
};

constexpr int64_t fewElements = 2048; // are read again and again as fast as they are copied

/// The reduction that a user of a value is, or that folds elements that it computes and that nobody else reads; or
/// null.
Operation *foldBehind(Operation *user, ArrayRef<Dim> sizes) {
  while (isElementwise(user) && tensorTypeOf(user->getResult(0)).getDims() == sizes && !user->use_empty() &&
         llvm::all_equal(user->getUsers()))
    user = *user->user_begin();
  return isReduction(user) ? user : nullptr;
}
/// Whether a reduction over several axes, in the order of sums or beside operands that are not permuted, would go
/// across the rows of what is permuted: rows that are written once in the order of the result are folded sooner.
bool goesAcrossRows(PermuteOp op, Operation *user) {
  const TensorType type = tensorTypeOf(op.getResult());
  Operation *reduction = foldBehind(user, type.getDims());
  if (!reduction)
    return false;
  const int64_t last = type.getRank() - 1;
  auto axes = reduction->getAttrOfType<DenseI64ArrayAttr>("axes");
  const DType dtype = tensorTypeOf(reduction->getResult(0)).getDtype();
  const bool isOrdered = isa<SumOp, ProdOp>(reduction) && (isFloat(dtype) || dtype == DType::C64),
             isBesideOthers = user != reduction;
  if (!(isBesideOthers || (isOrdered && axes.size() >= 2)) || op.getPermutation()[last] == last ||
      type.getStaticCount().value_or(fewElements) < fewElements)
    return false;
  return is_contained(axes.asArrayRef(), last);
}

/// Whether a permutation is shuffles of registers, which are a group of their own: its elements are read one by one
/// beside others, and computed ones before it are vectors only apart from it. Of 8 bytes, only what the second cache
/// holds: more takes as long to be written and read again.
bool isShuffles(Operation *op) {
  constexpr int64_t manyBytes = 1 << 20;
  auto permute = dyn_cast<PermuteOp>(op);
  if (!permute || isPackedForm(op) || !smallSwapOf(permute))
    return false;
  Operation *def = permute.getX().getDefiningOp();
  const TensorType type = tensorTypeOf(permute.getResult());
  const int64_t bytes = sizeOf(type.getDtype());
  return !(def && isIndexMap(def)) && (bytes < 8 || *type.getStaticCount() * bytes <= manyBytes);
}

/// Decides for one block, from its end to its start, which operations join their consumers.
class Grouper {
public:
  Grouper(Block &block, bool inLoop, bool onHost) : block(block), inLoop(inLoop), onHost(onHost) {
    unsigned readings = 0;
    for (Operation &op : block)
      interval[&op] = isa<ClockOp>(op) ? ++readings : readings;
  }

  void run(bool fuse) {
    for (Operation &op : llvm::reverse(block)) {
      if (hasManyParts(&op) && !isPackedForm(&op) && isRanked(&op)) {
        groups.push_back({&op, {}});
        groups.back().members.insert(&op);
      }
      const bool joined = fuse && isRow(&op) && (inLoop || isNear(&op) || isOfOneGroup(&op)) && joinAll(&op);
      if (!isFusible(&op) && !(fuse && inLoop && !joined && isRow(&op) && op.getOperand(0).hasOneUse()))
        continue; // a row that is neither stays a view
      if (fuse && isIndexMap(&op) && joinAll(&op))
        continue;
      if (fuse && isElementwise(&op) && isMemoryEffectFree(&op) && joinOne(&op))
        continue;
      groups.push_back({&op, {}});
      groups.back().members.insert(&op);
      groupsOf[&op].push_back(groups.size() - 1);
    }
  }

  std::vector<Group> groups;

private:
  /// Index maps are read in place by every consumer; only uses outside of groups need the stored tensor.
  bool joinAll(Operation *op) {
    if (isa<ConcatOp>(op) && llvm::all_of(op->getUsers(), isSliceOfJoins)) // two copies of whole pieces
      return false;
    if (isJoinOfJoins(op) && !llvm::all_of(op->getUsers(), [](Operation *user) { return isa<ConcatOp>(user); }))
      return false;
    SmallVector<size_t> targets;
    for (Operation *user : op->getUsers()) {
      if (user->getBlock() != &block || (!isFusible(user) && !isRow(user)) || interval[user] != interval[op])
        return false;
      if (groupsOf[user].empty()) // a view
        return false;
      if (onHost && isElementwise(user) && isShuffles(op))
        return false;
      if ((isReduction(user) && isa<ConcatOp, PadOp>(op)) ||
          (isScan(user) && !isa<SliceOp, ReshapeOp, PermuteOp, FullOp, IotaOp>(op)))
        return false;
      if (auto permute = dyn_cast<PermuteOp>(op); onHost && permute && goesAcrossRows(permute, user))
        return false;
      llvm::append_range(targets, groupsOf[user]);
    }
    if (onHost && isSpaced(op) && any_of(targets, [&](size_t g) { return callsInColumns(groups[g]); }))
      return false;
    auto isLate = [&](size_t g) { return isOverwritten(op, groups[g].root); };
    if (inLoop && any_of(targets, isLate))
      return false;
    for (size_t g : targets) {
      groups[g].members.insert(op);
      if (!llvm::is_contained(groupsOf[op], g))
        groupsOf[op].push_back(g);
    }
    return !targets.empty();
  }

  /// Elements some apart along rows.
  static bool isSpaced(Operation *op) {
    auto slice = dyn_cast<SliceOp>(op);
    return slice && !slice.getSteps().empty() && slice.getSteps().back() != 1 &&
           tensorTypeOf(slice.getResult()).getStaticCount().value_or(fewElements) >= fewElements;
  }
  /// Whether a fold goes over rows of a few elements: as vectors, unless functions are called (lowering/NarrowColumns).
  static bool hasNarrowColumns(Operation *root) {
    auto axes = root->getAttrOfType<DenseI64ArrayAttr>("axes");
    if (!isReduction(root) || !axes)
      return false;
    const TensorType type = tensorTypeOf(root->getOperand(0));
    const int64_t last = type.getRank() - 1;
    constexpr int64_t few = 16;
    return last > 0 && !is_contained(axes.asArrayRef(), last) && type.getDim(last).isNumber() &&
           type.getDim(last).value() <= few && type.getStaticCount().value_or(fewElements) >= fewElements;
  }
  /// Whether places in rows are sought of what a function gives, which then is computed before, in vectors: short rows
  /// are in registers, where no function is. Long rows go by loops, which have the code of a size.
  static bool hasPositionsOf(Operation *op, Operation *root) {
    if (!isa<ArgMaxOp, ArgMinOp>(root))
      return false;
    const TensorType type = tensorTypeOf(root->getOperand(0));
    const int64_t last = type.getRank() - 1;
    constexpr int64_t shortRow = 128;
    const bool isShort = last >= 0 && type.getDim(last).isNumber() && type.getDim(last).value() <= shortRow;
    return last >= 0 && is_contained(root->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef(), last) &&
           (isShort || !isa<AbsOp>(op));
  }
  /// Whether functions of elements are called in a loop over columns. What a row is longer than vectors is called one
  /// by one there, where its elements lie apart, as no vector reads less than all of these.
  static bool callsInColumns(const Group &group) {
    auto axes = group.root->getAttrOfType<DenseI64ArrayAttr>("axes");
    return isReduction(group.root) && axes &&
           !is_contained(axes.asArrayRef(), tensorTypeOf(group.root->getOperand(0)).getRank() - 1) &&
           any_of(group.members, [](Operation *member) { return isElementwise(member) && !isForLanes(member); });
  }

  /// A column that several groups read is copied once, instead of read by each over all rows.
  bool isOfOneGroup(Operation *op) {
    SmallVector<size_t, 2> groups;
    for (Operation *user : op->getUsers())
      if (user->getBlock() == &block)
        for (size_t g : groupsOf[user])
          if (!is_contained(groups, g))
            groups.push_back(g);
    return groups.size() == 1;
  }

  /// Whether something is stored into the tensor of a slice before a group that would read it then: it has to be copied
  /// for that.
  static bool isOverwritten(Operation *op, Operation *root) {
    auto slice = dyn_cast<SliceOp>(op);
    return slice && any_of(slice.getX().getUsers(), [&](Operation *user) {
             return (takesFirst(user) || isa<ElementStoreOp>(user)) && user->getOperand(0) == slice.getX() &&
                    user->getBlock() == op->getBlock() && op->isBeforeInBlock(user) && user->isBeforeInBlock(root);
           });
  }

  /// Computed values join when all uses are in one group and no element is asked for twice.
  bool joinOne(Operation *op) {
    std::optional<size_t> target;
    auto shape = tensorTypeOf(op->getResult(0)).getSizes();
    unsigned throughMaps = 0, uses = 0;
    for (OpOperand &use : op->getUses()) {
      Operation *user = use.getOwner();
      if (user->getBlock() != &block || !isFusible(user) || groupsOf[user].size() != 1 ||
          interval[user] != interval[op])
        return false;
      if (target && *target != groupsOf[user][0])
        return false;
      target = groupsOf[user][0];
      if (onHost && groups[*target].root == user && isShuffles(user))
        return false;
      ++uses;
      if (isElementwise(user)) {
        if (tensorTypeOf(user->getResult(0)).getSizes() != shape) // broadcast: its elements would be computed again
          return false;
      } else if (keepsElementsOnce(user))
        ++throughMaps;
      else if (!isReduction(user) && !(isScan(user) && isForLanes(op)))
        return false;
    }
    auto isForVectors = [&](Operation *root) { return hasNarrowColumns(root) || hasPositionsOf(op, root); };
    if (!target || (throughMaps && uses > 1) || (onHost && !isForLanes(op) && isForVectors(groups[*target].root)))
      return false;
    groups[*target].members.insert(op);
    groupsOf[op].push_back(*target);
    return true;
  }

  Block &block;
  const bool inLoop; ///< of the host
  const bool onHost;
  DenseMap<Operation *, unsigned> interval; ///< between readings of the clock, over which no work moves
  DenseMap<Operation *, SmallVector<size_t>> groupsOf;
};

/// Replaces the members by one `toy.fused` at the root's place.
void outline(const Group &group, bool inLoop) {
  SmallVector<Operation *> members(group.members.begin(), group.members.end());
  llvm::sort(members, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  SetVector<Value> inputs;
  for (Operation *op : members)
    for (Value operand : op->getOperands())
      if (!operand.getDefiningOp() || !group.members.contains(operand.getDefiningOp()))
        inputs.insert(operand);
  OpBuilder b(group.root);
  auto fused = FusedOp::create(b, group.root->getLoc(), group.root->getResultTypes(), inputs.getArrayRef());
  if (inLoop && (isScan(group.root) || (isReduction(group.root) && tensorTypeOf(group.root->getResult(0)).isScalar())))
    fused->setAttr("toy.inLoop", b.getUnitAttr());
  Block *body = b.createBlock(&fused.getBody());
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
  for (Operation *op : members)
    b.clone(*op, mapping);
  YieldOp::create(b, group.root->getLoc(), mapping.lookup(group.root->getResult(0)));
  group.root->getResult(0).replaceAllUsesWith(fused.getResult(0));
  group.root->erase();
}

// Views stay outside of groups, so that what they stand between would not be fused.

bool isHalfTensor(Value v) { return isHalf(tensorTypeOf(v).getDtype()); }
bool widens(CastOp cast) { return isHalfTensor(cast.getX()) && !isHalfTensor(cast.getResult()); }
bool narrows(CastOp cast) { return !isHalfTensor(cast.getX()) && isHalfTensor(cast.getResult()); }

/// view_as_complex(cast x) ==> complex(cast(x[..., 0]), cast(x[..., 1])) for x of halves: x is read as it is.
struct ComplexOfHalves : OpRewritePattern<ViewAsComplexOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ViewAsComplexOp op, PatternRewriter &b) const override {
    auto cast = op.getX().getDefiningOp<CastOp>();
    if (!cast || !widens(cast))
      return b.notifyMatchFailure(op, "not cast from halves");
    TensorType pairs = tensorTypeOf(op.getResult()), half = pairs.withDType(tensorTypeOf(cast.getX()).getDtype()),
               real = pairs.withDType(realOf(pairs.getDtype()));
    Value parts[2];
    for (int i : {0, 1})
      parts[i] =
          CastOp::create(b, op.getLoc(), real, PartOp::create(b, op.getLoc(), half, cast.getX(), i), cast.getDtype());
    b.replaceOpWithNewOp<ComplexOp>(op, pairs, parts[0], parts[1]);
    return success();
  }
};

/// cast(view_as_real z) ==> pack(cast(real z), cast(imag z)) for casts to halves: z is not stored.
struct HalvesOfComplex : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &b) const override {
    auto view = op.getX().getDefiningOp<ViewAsRealOp>();
    if (!view || !narrows(op) || !view->hasOneUse())
      return b.notifyMatchFailure(op, "not parts that become halves");
    TensorType pairs = tensorTypeOf(view.getX()), half = pairs.withDType(tensorTypeOf(op.getResult()).getDtype()),
               real = pairs.withDType(realOf(pairs.getDtype()));
    Value re = CastOp::create(b, op.getLoc(), half, RealOp::create(b, op.getLoc(), real, view.getX()), op.getDtype());
    Value im = CastOp::create(b, op.getLoc(), half, ImagOp::create(b, op.getLoc(), real, view.getX()), op.getDtype());
    b.replaceOpWithNewOp<PackOp>(op, op.getType(), re, im);
    return success();
  }
};

/// reshape(f(x)) ==> f(reshape x) where f is a cast from halves or a part, and f(reshape x) ==> reshape(f(x)) where it
/// is a cast to halves: casts come to the pairs that they can be fused with.
struct ReshapeBeforePart : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &b) const override {
    Operation *f = op.getX().getDefiningOp();
    if (!f || !(isa<RealOp, ImagOp>(f) || (isa<CastOp>(f) && widens(cast<CastOp>(f)))))
      return b.notifyMatchFailure(op, "no part, no cast from halves");
    TensorType type = tensorTypeOf(op.getResult()).withDType(tensorTypeOf(f->getOperand(0)).getDtype());
    IRMapping mapping;
    mapping.map(f->getOperand(0), ReshapeOp::create(b, op.getLoc(), type, f->getOperand(0), op.getSizes()).getResult());
    Operation *moved = b.clone(*f, mapping);
    moved->getResult(0).setType(op.getType());
    b.replaceOp(op, moved);
    return success();
  }
};

struct ReshapeBehindCast : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &b) const override {
    auto reshape = op.getX().getDefiningOp<ReshapeOp>();
    if (!reshape || !narrows(op) || !reshape->hasOneUse())
      return b.notifyMatchFailure(op, "no reshape of what becomes halves");
    TensorType type = tensorTypeOf(reshape.getX()).withDType(tensorTypeOf(op.getResult()).getDtype());
    Value cast = CastOp::create(b, op.getLoc(), type, reshape.getX(), op.getDtype());
    b.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), cast, reshape.getSizes());
    return success();
  }
};

/// dim(f(x)) ==> dim(x), asked where x is made, where both are of one size: a question keeps nothing stored.
struct SizeOfOperand : OpRewritePattern<DimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DimOp op, PatternRewriter &b) const override {
    Operation *def = op.getX().getDefiningOp();
    if (!def || !isFusible(def))
      return b.notifyMatchFailure(op, "not the size of what is fused");
    Dim dim = tensorTypeOf(op.getX()).getDim(op.getAxis());
    for (Value operand : def->getOperands())
      for (auto [axis, size] : llvm::enumerate(tensorTypeOf(operand).getDims()))
        if (size == dim) {
          b.setInsertionPointAfterValue(operand);
          b.replaceOpWithNewOp<DimOp>(op, op.getType(), operand, axis);
          return success();
        }
    return b.notifyMatchFailure(op, "no operand is of this size");
  }
};

/// dim(slice(x, …, n)) ==> n, also where axes of 1 are left out (`x[i, :n]`): a slice of which only the size is asked
/// is not made. Other reshapes are: they may fail.
struct StatedSize : OpRewritePattern<DimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DimOp op, PatternRewriter &b) const override {
    if (auto slice = op.getX().getDefiningOp<SliceOp>())
      return b.replaceOp(op, slice.getCounts()[op.getAxis()]), success();
    auto reshape = op.getX().getDefiningOp<ReshapeOp>();
    if (reshape && reshape.getX().getDefiningOp<SliceOp>() && onlyDropsUnits(reshape))
      return b.replaceOp(op, reshape.getSizes()[op.getAxis()]), success();
    return b.notifyMatchFailure(op, "nothing states the size");
  }
};

struct FuseElementwisePass : impl::FuseElementwiseBase<FuseElementwisePass> {
  using FuseElementwiseBase::FuseElementwiseBase;
  void runOnOperation() override {
    RewritePatternSet views(&getContext());
    views.add<ComplexOfHalves, HalvesOfComplex, ReshapeBeforePart, ReshapeBehindCast, SizeOfOperand, StatedSize>(
        &getContext());
    bool changed = false;
    if (fuse && failed(applyPatternsGreedily(getOperation(), std::move(views), withoutMerging(), &changed)))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    if (changed) // reshapes may have met
      eliminateCommonSubExpressions(rewriter, getAnalysis<DominanceInfo>(), getOperation());
    SmallVector<Block *> blocks;
    for (Block &block : getOperation().getBody())
      blocks.push_back(&block);
    const FunctionLoops loops(getOperation());
    for (Block *block : blocks) {
      const bool inLoop = rows && loops.of(block);
      for (CumSumOp op : block->getOps<CumSumOp>())
        if (inLoop && isRowScan(op))
          op->setAttr("toy.inLoop", UnitAttr::get(&getContext()));
      Grouper grouper(*block, inLoop, rows);
      grouper.run(fuse);
      for (const Group &group : llvm::reverse(grouper.groups))
        outline(group, inLoop);
      // Members that joined are dead now; those of several groups were cloned into each.
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
        if ((isFusible(&op) || isRow(&op)) && op.use_empty())
          op.erase();
    }
  }
};

} // namespace
} // namespace toy
