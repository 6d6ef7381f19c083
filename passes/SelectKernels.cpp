// SPDX-License-Identifier: Apache-2.0
/// \file
/// Matrix products as library calls.
#include "ir/GramProduct.h"
#include "passes/ControlFlow.h"
#include "passes/Passes.h"
#include "passes/RecognitionLog.h"
#include "passes/RowLanes.h"
#include "runtime/Planar.h"
#include "support/Half.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_SELECTKERNELS
#include "passes/Passes.h.inc"

namespace {

/// The real scalar of `t * x` or `x * t`; `x` becomes the other factor.
Value scaleOf(Operation *op, Value &x) {
  auto mul = dyn_cast_if_present<MulOp>(op);
  if (!mul)
    return {};
  for (auto [scale, other] : {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())})
    if (TensorType type = tensorTypeOf(scale); type.isScalar() &&
                                               type.getDtype() == realOf(tensorTypeOf(mul.getResult()).getDtype()) &&
                                               isFloat(type.getDtype()) && tensorTypeOf(other) == mul.getType()) {
      x = other;
      return scale;
    }
  return {};
}

/// A strided view of `base`: what an operand is behind permutations, unit axes, one slice, and conjugations.
struct StridedView {
  Value base;
  SmallVector<int64_t> axes;         ///< of the view: the base's axis, or -1 for a new axis of size 1
  SmallVector<Value> starts, counts; ///< of the base's axes; empty: all elements
  SmallVector<int64_t> steps;
  bool conjugated = false;

  /// `scales` receives the real scalars that multiply the operand, unless it is null. With `halves` the base may be of
  /// halves where the view is f32.
  explicit StridedView(Value value, SmallVectorImpl<Value> *scales = nullptr, bool halves = false)
      : base(value), axes(llvm::to_vector(llvm::seq(tensorTypeOf(value).getRank()))), scales(scales), halves(halves) {
    while (look()) {
    }
  }
  SmallVector<Value> bounds() const { return llvm::to_vector(llvm::concat<const Value>(starts, counts)); }

private:
  SmallVectorImpl<Value> *scales;
  bool halves;

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
    if (Value scale = scales ? scaleOf(op, base) : Value()) {
      scales->push_back(scale);
      return true;
    }
    if (auto cast = dyn_cast_if_present<CastOp>(op);
        cast && halves && tensorTypeOf(base).getDtype() == DType::F32 && isHalf(tensorTypeOf(cast.getX()).getDtype())) {
      base = cast.getX();
      return true;
    }
    auto slice = dyn_cast_if_present<SliceOp>(op);
    if (!slice || !steps.empty())
      return false;
    starts.assign(slice.getStarts().begin(), slice.getStarts().end());
    counts.assign(slice.getCounts().begin(), slice.getCounts().end());
    steps.assign(slice.getSteps().begin(), slice.getSteps().end());
    base = slice.getX();
    return true;
  }

  /// Axis i of what was seen so far is axis `to[i]` of `next` (-1: none). Bounds exist only where no axis is lost or
  /// gained.
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
    if (from.isScalar()) // a register: products read memory
      return false;
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
  Operation *op = value.getDefiningOp();
  if (!isa_and_present<PermuteOp, ConjOp, ReshapeOp, SliceOp, ComplexOp, MulOp, CastOp>(op) || !op->use_empty())
    return;
  SmallVector<Value> operands(op->getOperands());
  op->erase();
  for (auto [i, operand] : llvm::enumerate(operands))
    if (!llvm::is_contained(ArrayRef(operands).take_front(i), operand))
      eraseUnused(operand);
}

/// A complex factor by its parts: [conj] complex(a, b).
struct PlanarFactor {
  Value re, im;
  bool conjugated = false;

  static std::optional<PlanarFactor> of(Value value) {
    PlanarFactor factor;
    while (auto conj = value.getDefiningOp<ConjOp>()) {
      factor.conjugated = !factor.conjugated;
      value = conj.getX();
    }
    auto complex = value.getDefiningOp<ComplexOp>();
    if (!complex || complex.getLhs().getType() != complex.getRhs().getType())
      return std::nullopt;
    factor.re = complex.getLhs();
    factor.im = complex.getRhs();
    return factor;
  }
};

struct SelectKernelsPass : impl::SelectKernelsBase<SelectKernelsPass> {
  using SelectKernelsBase::SelectKernelsBase;
  RecognitionLog *log = nullptr;

  void runOnOperation() override {
    SmallVector<MatMulOp> products;
    getOperation().walk([&](MatMulOp op) { products.push_back(op); });
    const FunctionLoops loops(getOperation());
    for (MatMulOp op : products)
      if (!halves && loops.of(op->getBlock()) && isOfVectors(op))
        selectSum(op);
      else if (!selectPlanar(op))
        selectGemm(op);
  }

private:
  /// Whether a vector can be read, or computed in lanes, by the sum of its products. What another block computes lies
  /// in memory, and so does what no group computes.
  static bool isForSum(Value v, Block *block, SmallPtrSetImpl<void *> &seen) {
    Operation *def = v.getDefiningOp();
    if (isHalf(tensorTypeOf(v).getDtype()))
      return false;
    if (!def || def->getBlock() != block || tensorTypeOf(v).isScalar() || isa<FullOp, IotaOp>(def) ||
        !seen.insert(v.getAsOpaquePointer()).second)
      return true;
    if (isa<SliceOp, ReshapeOp, PermuteOp>(def))
      return isForSum(def->getOperand(0), block, seen);
    if (isForLanes(def))
      return llvm::all_of(def->getOperands(), [&](Value operand) { return isForSum(operand, block, seen); });
    return !def->hasTrait<toy::OpTrait::Elementwise>() && !def->hasTrait<toy::OpTrait::IndexMap>();
  }
  static bool isOfVectors(MatMulOp op) {
    DType dtype = tensorTypeOf(op.getResult()).getDtype();
    SmallPtrSet<void *, 16> seen;
    return (isComplex(dtype) || dtype == DType::F64 || dtype == DType::F32 || dtype == DType::I64) &&
           llvm::all_of(op->getOperands(), [&](Value v) {
             return tensorTypeOf(v).getRank() == 1 && tensorTypeOf(v).getDtype() == dtype &&
                    isForSum(v, op->getBlock(), seen);
           });
  }
  /// A product of vectors in a loop is a sum there: rule 13 has the order of sums for them, but for short ones,
  /// and integers need none.
  void selectSum(MatMulOp op) {
    OpBuilder b(op);
    Value products = MulOp::create(b, op.getLoc(), op.getLhs().getType(), op.getLhs(), op.getRhs());
    auto sum = SumOp::create(b, op.getLoc(), op.getType(), products, b.getDenseI64ArrayAttr({0}), b.getBoolAttr(false));
    sum->setAttr("toy.inOrder", b.getUnitAttr());
    op.replaceAllUsesWith(sum.getResult());
    op.erase();
  }

  void selectGemm(MatMulOp op) {
    SmallVector<Value> scales;
    auto viewOf = [&](Value operand, bool halves) { return StridedView(operand, relaxed ? &scales : nullptr, halves); };
    StridedView lhs = viewOf(op.getLhs(), halves), rhs = viewOf(op.getRhs(), halves);
    if (tensorTypeOf(lhs.base).getDtype() != tensorTypeOf(rhs.base).getDtype()) {
      scales.clear();
      lhs = viewOf(op.getLhs(), false);
      rhs = viewOf(op.getRhs(), false);
    }
    Operation *product = op; // and what scales it
    while (relaxed && product->hasOneUse()) {
      Value other;
      Value scale = scaleOf(*product->user_begin(), other);
      if (!scale || other.getDefiningOp() != product)
        break;
      product = *product->user_begin();
      scales.push_back(scale);
    }
    OpBuilder b(product);
    Value scale;
    for (Value next : scales)
      scale = scale ? MulOp::create(b, op.getLoc(), next.getType(), scale, next).getResult() : next;
    Type rounded = roundedType(product, tensorTypeOf(lhs.base).getDtype());
    auto gemm =
        GemmOp::create(b, op.getLoc(), rounded ? rounded : Type(op.getType()), lhs.base, rhs.base, lhs.bounds(),
                       rhs.bounds(), scale, lhs.axes, lhs.steps, lhs.conjugated, rhs.axes, rhs.steps, rhs.conjugated);
    if (rounded)
      for (Operation *cast : llvm::make_early_inc_range(product->getUsers())) {
        cast->getResult(0).replaceAllUsesWith(gemm.getResult());
        cast->erase();
      }
    if (int64_t kind = gramKind(op); kind && isOwnTranspose(lhs, rhs, kind == 2))
      gemm->setAttr(gramAttribute, b.getI64IntegerAttr(kind));
    if (auto index = op->getAttrOfType<IntegerAttr>("toy.recognized"); log && index)
      log->recognized[index.getInt()].strategy = "native";
    // Parts that are put together for this product, and taken apart after it; the loops that do it are fused with their
    // neighbours.
    if (op.getType().isComplex())
      gemm->setAttr("toy.repacks", b.getI64IntegerAttr(PlanarFactor::of(op.getLhs()).has_value() +
                                                       PlanarFactor::of(op.getRhs()).has_value() + isUsedByParts(op)));
    product->getResult(0).replaceAllUsesWith(gemm.getResult());
    while (product != op) {
      Value other;
      scaleOf(product, other);
      product->erase();
      product = other.getDefiningOp();
    }
    eraseProduct(op);
  }

  /// Whether both views are of one tensor, with the last two axes exchanged.
  static bool isOwnTranspose(const StridedView &lhs, const StridedView &rhs, bool isAdjoint) {
    SmallVector<int64_t> axes(lhs.axes.begin(), lhs.axes.end());
    std::swap(axes[axes.size() - 2], axes[axes.size() - 1]);
    return lhs.base == rhs.base && axes == rhs.axes && lhs.steps == rhs.steps && lhs.starts == rhs.starts &&
           lhs.counts == rhs.counts && (lhs.conjugated != rhs.conjugated) == isAdjoint;
  }

  /// Of a product of halves that is only read as such halves: their type, else null.
  static Type roundedType(Operation *product, DType factors) {
    Type type;
    if (isHalf(factors) && !tensorTypeOf(product->getResult(0)).isScalar())
      for (Operation *user : product->getUsers()) {
        if (!isa<CastOp>(user) || tensorTypeOf(user->getResult(0)).getDtype() != factors)
          return {};
        type = user->getResult(0).getType();
      }
    return type;
  }

  static bool isUsedByParts(MatMulOp op) {
    return !op->use_empty() && llvm::all_of(op->getUsers(), [](Operation *user) { return isa<RealOp, ImagOp>(user); });
  }

  static void eraseProduct(MatMulOp op) {
    Value left = op.getLhs(), right = op.getRhs();
    op.erase();
    eraseUnused(left);
    if (right != left)
      eraseUnused(right);
  }

  /// Factors that exist by parts and a result that is used by parts, or a strategy that works on parts.
  bool selectPlanar(MatMulOp op) {
    if (!op.getType().isComplex())
      return false;
    StringRef chosen = op.getStrategy() ? *op.getStrategy() : StringRef(strategy);
    auto lhs = PlanarFactor::of(op.getLhs()), rhs = PlanarFactor::of(op.getRhs());
    bool byParts = lhs && rhs && isUsedByParts(op);
    if (chosen == "auto" && gramKind(op)) // as the evaluator
      return false;
    if (chosen == "auto" && byParts)
      chosen = bySize(op);
    if (chosen == "native" || (!byParts && chosen == "auto"))
      return false;
    OpBuilder b(op);
    Location loc = op.getLoc();
    auto split = [&](std::optional<PlanarFactor> factor, Value z) {
      if (factor)
        return *factor;
      TensorType type = tensorTypeOf(z).withDType(realOf(tensorTypeOf(z).getDtype()));
      return PlanarFactor{RealOp::create(b, loc, type, z), ImagOp::create(b, loc, type, z), false};
    };
    PlanarFactor x = split(lhs, op.getLhs()), y = split(rhs, op.getRhs());
    SmallVector<int64_t> xAxes = sharedView(x), yAxes = sharedView(y);
    Type part = op.getType().withDType(realOf(op.getType().getDtype()));
    auto planar = PlanarGemmOp::create(b, loc, TypeRange{part, part}, x.re, x.im, y.re, y.im, xAxes, x.conjugated,
                                       yAxes, y.conjugated, chosen);
    report(op, planar);
    if (byParts) {
      for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
        user->getResult(0).replaceAllUsesWith(planar.getResult(isa<ImagOp>(user)));
        user->erase();
      }
    } else
      op.replaceAllUsesWith(ComplexOp::create(b, loc, op.getType(), planar.getRe(), planar.getIm()).getResult());
    eraseProduct(op);
    return true;
  }

  /// The permutations and unit axes around both parts, if they are the same; they are then taken off.
  static SmallVector<int64_t> sharedView(PlanarFactor &factor) {
    StridedView re(factor.re), im(factor.im);
    if (re.axes == im.axes && re.steps.empty() && im.steps.empty() && re.base.getType() == im.base.getType()) {
      factor.re = re.base;
      factor.im = im.base;
      return re.axes;
    }
    return llvm::to_vector(llvm::seq(tensorTypeOf(factor.re).getRank()));
  }

  /// What the cost model says, where all sizes are known.
  static StringRef bySize(MatMulOp op) {
    auto automatic = op->hasAttr("toy.recognized") ? rt::ComplexProduct::AutoParts : rt::ComplexProduct::Auto;
    TensorType x = tensorTypeOf(op.getLhs()), y = tensorTypeOf(op.getRhs());
    auto size = [](TensorType t, int64_t fromEnd) {
      return t.getRank() >= fromEnd ? t.getDim(t.getRank() - fromEnd).asNumber() : std::optional<int64_t>(1);
    };
    auto m = size(x, 2), k = size(x, 1), n = y.getRank() == 1 ? std::optional<int64_t>(1) : size(y, 1);
    return rt::nameOf(m && k && n ? rt::strategyFor(automatic, *m, *n, *k) : automatic);
  }

  /// The strategy of a recognized product goes into the log, as far as sizes tell it.
  void report(MatMulOp op, PlanarGemmOp planar) {
    auto index = op->getAttrOfType<IntegerAttr>("toy.recognized");
    if (log && index)
      log->recognized[index.getInt()].strategy =
          planar.getStrategy().starts_with("auto") ? "auto: native or four-real, by size" : planar.getStrategy().str();
  }
};

} // namespace

std::unique_ptr<Pass> createSelectKernels(const SelectKernelsOptions &options, RecognitionLog *log) {
  auto pass = std::make_unique<SelectKernelsPass>(options);
  pass->log = log;
  return pass;
}

} // namespace toy
