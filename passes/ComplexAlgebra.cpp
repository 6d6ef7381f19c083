// SPDX-License-Identifier: Apache-2.0
/// \file
/// Equations of complex numbers that hold bit for bit, each beside its reason; and, with `relaxed`, some that do not,
/// beside their price.
#include "ir/Constants.h"
#include "passes/Passes.h"
#include "passes/Rewriting.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_COMPLEXALGEBRA
#include "passes/Passes.h.inc"

namespace {

TensorType partType(Value z) {
  TensorType type = tensorTypeOf(z);
  return type.withDType(realOf(type.getDtype()));
}

/// Whether only the parts of a value are asked for, so that it need not exist as a complex value.
bool onlyPartsUsed(Value z) {
  return llvm::all_of(z.getUsers(), [](Operation *user) { return isa<RealOp, ImagOp, ConjOp>(user); });
}

/// The real or imaginary part of a value; a real value is its own real part and has no imaginary one.
struct Parts {
  Value re, im;
};
Parts partsOf(PatternRewriter &b, Location loc, Value z) {
  if (!tensorTypeOf(z).isComplex())
    return {z, {}};
  return {RealOp::create(b, loc, partType(z), z), ImagOp::create(b, loc, partType(z), z)};
}

/// conj(conj z) ==> z: the sign of the imaginary part flips twice.
struct ConjOfConj : OpRewritePattern<ConjOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConjOp op, PatternRewriter &b) const override {
    auto inner = op.getX().getDefiningOp<ConjOp>();
    if (!inner)
      return b.notifyMatchFailure(op, "not a conjugate of a conjugate");
    b.replaceOp(op, inner.getX());
    return success();
  }
};

/// Parts of results that are only asked for by parts become real arithmetic on the operands' parts, in the same order
/// of rounding:
///   re(a + ib) ==> a,   im(a + ib) ==> b
///   re(conj z) ==> re z,   im(conj z) ==> -im z
///   re(-z) ==> -re z,   im(-z) ==> -im z
///   re(x + y) ==> re x + re y,   im(x + y) ==> im x + im y   (a real operand has no imaginary part)
///   re(z * conj z) ==> abs2 z: a*a - b*(-b) is a*a + b*b exactly
///   re(x * y) ==> a*c - b*d,   im(x * y) ==> a*d + b*c: the definition
///   re(r * z) ==> r * re z: two products
///   re(polar(r, t)) ==> r * cos t,   im(polar(r, t)) ==> r * sin t: the definition
template <typename Op> struct PartOf : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  static constexpr bool isReal = std::is_same_v<Op, RealOp>;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    Operation *def = op.getX().getDefiningOp();
    if (!def)
      return b.notifyMatchFailure(op, "the value comes from outside");
    Location loc = op.getLoc();
    Type type = op.getType();
    auto replace = [&](Value value) {
      if (value.getType() != type)
        return failure();
      b.replaceOp(op, value);
      return success();
    };
    if (auto complex = dyn_cast<ComplexOp>(def)) {
      Value part = isReal ? complex.getLhs() : complex.getRhs();
      return part.getType() == type ? replace(part) : b.notifyMatchFailure(op, "the part is broadcast");
    }
    if (auto conj = dyn_cast<ConjOp>(def)) {
      Value part = Op::create(b, loc, type, conj.getX());
      return replace(isReal ? part : NegOp::create(b, loc, type, part).getResult());
    }
    if (!onlyPartsUsed(op.getX()))
      return b.notifyMatchFailure(op, "the whole value is used as well");
    if (auto neg = dyn_cast<NegOp>(def))
      return replace(NegOp::create(b, loc, type, Op::create(b, loc, partType(neg.getX()), neg.getX())));
    if (auto polar = dyn_cast<PolarOp>(def)) {
      Value t = polar.getRhs();
      Value factor = isReal ? CosOp::create(b, loc, t.getType(), t).getResult()
                            : SinOp::create(b, loc, t.getType(), t).getResult();
      return replace(MulOp::create(b, loc, type, polar.getLhs(), factor));
    }
    if (isa<AddOp, SubOp>(def))
      return replace(ofSum(b, loc, def, type));
    if (auto mul = dyn_cast<MulOp>(def))
      return replace(ofProduct(b, loc, mul, type));
    return b.notifyMatchFailure(op, "no equation for this operation");
  }

  static Value ofSum(PatternRewriter &b, Location loc, Operation *sum, Type type) {
    bool isAdd = isa<AddOp>(sum);
    auto part = [&](Value x) { return Op::create(b, loc, partType(x), x).getResult(); };
    auto combine = [&](Value x, Value y) {
      return isAdd ? AddOp::create(b, loc, type, x, y).getResult() : SubOp::create(b, loc, type, x, y).getResult();
    };
    Value x = sum->getOperand(0), y = sum->getOperand(1);
    bool xComplex = tensorTypeOf(x).isComplex(), yComplex = tensorTypeOf(y).isComplex();
    if (isReal)
      return combine(xComplex ? part(x) : x, yComplex ? part(y) : y);
    if (xComplex && yComplex)
      return combine(part(x), part(y));
    Value only = xComplex ? part(x) : part(y);
    return yComplex && !isAdd ? NegOp::create(b, loc, only.getType(), only).getResult() : only;
  }

  static Value ofProduct(PatternRewriter &b, Location loc, MulOp mul, Type type) {
    auto times = [&](Value x, Value y) {
      RuleContext ctx(b.getContext(), "mul", {x, y}, b.getDictionaryAttr({}));
      (void)rules::arithmetic(ctx);
      return MulOp::create(b, loc, ctx.results[0], x, y).getResult();
    };
    Value x = mul.getLhs(), y = mul.getRhs();
    auto isConjugateOf = [](Value x, Value y) {
      auto conj = x.getDefiningOp<ConjOp>();
      return conj && conj.getX() == y;
    };
    if (isReal && (isConjugateOf(x, y) || isConjugateOf(y, x)))
      return Abs2Op::create(b, loc, type, isConjugateOf(x, y) ? y : x);
    Parts p = partsOf(b, loc, x), q = partsOf(b, loc, y);
    if (!p.im || !q.im)
      return p.im ? times(isReal ? p.re : p.im, q.re) : times(p.re, isReal ? q.re : q.im);
    if (isReal)
      return SubOp::create(b, loc, type, times(p.re, q.re), times(p.im, q.im));
    return AddOp::create(b, loc, type, times(p.re, q.im), times(p.im, q.re));
  }
};

/// abs2(a + ib) ==> a*a + b*b: the definition.
struct Abs2OfComplex : OpRewritePattern<Abs2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(Abs2Op op, PatternRewriter &b) const override {
    auto complex = op.getX().getDefiningOp<ComplexOp>();
    if (!complex)
      return b.notifyMatchFailure(op, "not of two parts");
    auto square = [&](Value x) { return MulOp::create(b, op.getLoc(), x.getType(), x, x); };
    b.replaceOpWithNewOp<AddOp>(op, op.getType(), square(complex.getLhs()), square(complex.getRhs()));
    return success();
  }
};

/// stack([re z, im z], last axis) ==> view_as_real z: the parts stand side by side already.
struct StackOfParts : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &b) const override {
    if (op.getParts().size() != 2)
      return b.notifyMatchFailure(op, "not two parts");
    auto first = op.getParts()[0].getDefiningOp<ReshapeOp>(), second = op.getParts()[1].getDefiningOp<ReshapeOp>();
    auto re = first ? first.getX().getDefiningOp<RealOp>() : RealOp();
    auto im = second ? second.getX().getDefiningOp<ImagOp>() : ImagOp();
    if (!re || !im || re.getX() != im.getX() || packedType(tensorTypeOf(re.getX())) != op.getType())
      return b.notifyMatchFailure(op, "not the parts of one value on a new last axis");
    b.replaceOpWithNewOp<ViewAsRealOp>(op, op.getType(), re.getX());
    return success();
  }
};

/// re z + i im z ==> z. Matrix products by parts stay that way: they are computed by parts.
struct ComplexOfParts : OpRewritePattern<ComplexOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ComplexOp op, PatternRewriter &b) const override {
    auto re = op.getLhs().getDefiningOp<RealOp>();
    auto im = op.getRhs().getDefiningOp<ImagOp>();
    if (!re || !im || re.getX() != im.getX() || re.getX().getDefiningOp<MatMulOp>())
      return b.notifyMatchFailure(op, "not the parts of one value");
    b.replaceOp(op, re.getX());
    return success();
  }
};

/// complex(x[..., 0::2], x[..., 1::2]) ==> view_as_complex(reshape(x, [..., n, 2])) and complex(p[..., 0], p[..., 1])
/// ==> view_as_complex p: the parts are neighbours in memory.
struct ComplexOfNeighbours : OpRewritePattern<ComplexOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ComplexOp op, PatternRewriter &b) const override {
    auto sliceOf = [](Value v) {
      auto reshape = v.getDefiningOp<ReshapeOp>();
      return (reshape ? reshape.getX() : v).getDefiningOp<SliceOp>();
    };
    SliceOp s = sliceOf(op.getLhs()), t = sliceOf(op.getRhs());
    bool dropped = op.getLhs().getDefiningOp<ReshapeOp>() != nullptr;
    if (!s || !t || s.getX() != t.getX() || s.getSteps() != t.getSteps() ||
        op.getLhs().getType() != op.getRhs().getType())
      return b.notifyMatchFailure(op, "not two slices of one value");
    TensorType type = tensorTypeOf(s.getX());
    int64_t last = type.getRank() - 1;
    auto isNumber = [](Value v, int64_t n) {
      auto dim = sizeBehind(v);
      return dim && dim->is(n);
    };
    for (int64_t axis = 0; axis < last; ++axis) // whole, and the same
      for (SliceOp slice : {s, t}) {
        auto count = sizeBehind(slice.getCounts()[axis]);
        if (slice.getSteps()[axis] != 1 || !isNumber(slice.getStarts()[axis], 0) || !count ||
            *count != type.getDim(axis))
          return b.notifyMatchFailure(op, "other axes are cut");
      }
    if (!isNumber(s.getStarts()[last], 0) || !isNumber(t.getStarts()[last], 1))
      return b.notifyMatchFailure(op, "not elements 0 and 1");
    Location loc = op.getLoc();
    if (dropped) { // elements 0 and 1 of pairs
      if (!type.getDim(last).is(2) || op.getType() != unpackedType(type))
        return b.notifyMatchFailure(op, "not pairs on the last axis");
      b.replaceOpWithNewOp<ViewAsComplexOp>(op, op.getType(), s.getX());
      return success();
    }
    auto count = sizeBehind(s.getCounts()[last]);
    if (s.getSteps()[last] != 2 || !count || *count * Dim::number(b.getContext(), 2) != type.getDim(last))
      return b.notifyMatchFailure(op, "not the even and odd elements");
    SmallVector<Value> sizes;
    for (int64_t axis = 0; axis < last; ++axis)
      sizes.push_back(DimOp::create(b, loc, TensorType::scalar(b.getContext(), DType::I64), s.getX(), axis));
    sizes.append({s.getCounts()[last], integerConstant(b, loc, 2)});
    SmallVector<Dim> dims = type.getDims();
    dims.back() = *count;
    dims.push_back(Dim::number(b.getContext(), 2));
    Value pairs = ReshapeOp::create(b, loc, type.withDims(dims), s.getX(), sizes);
    b.replaceOpWithNewOp<ViewAsComplexOp>(op, op.getType(), pairs);
    return success();
  }
};

/// The number behind a constant exponent.
std::optional<double> constantNumber(Value v) {
  while (auto cast = v.getDefiningOp<CastOp>())
    v = cast.getX();
  auto constant = v.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!elements || !elements.isSplat())
    return std::nullopt;
  if (isa<IntegerType>(elements.getElementType())) {
    DType dtype = tensorTypeOf(v).getDtype();
    APInt n = elements.getSplatValue<APInt>();
    return dtype == DType::Bool || dtype == DType::U8 ? static_cast<double>(n.getZExtValue())
                                                      : static_cast<double>(n.getSExtValue());
  }
  return isa<FloatType>(elements.getElementType()) ? std::optional(elements.getSplatValue<APFloat>().convertToDouble())
                                                   : std::nullopt;
}

/// x**1 ==> x, x**-1 ==> reciprocal x, x**2 ==> x * x: the same bits, but for c64, whose powers are computed in double
/// and rounded once: z**2 only when relaxed (up to 2 ulp a part). Integers have no reciprocals.
struct SmallPower : OpRewritePattern<PowOp> {
  bool relaxed;
  SmallPower(MLIRContext *context, bool relaxed) : OpRewritePattern(context), relaxed(relaxed) {}
  LogicalResult matchAndRewrite(PowOp op, PatternRewriter &b) const override {
    Value x = op.getLhs();
    DType dtype = tensorTypeOf(x).getDtype();
    auto n = constantNumber(op.getRhs());
    if (dtype == DType::Bool || !n || x.getType() != op.getType())
      return b.notifyMatchFailure(op, "not a constant power");
    if (*n == 1)
      b.replaceOp(op, x);
    else if (*n == -1 && kindOf(dtype) > DKind::Int)
      b.replaceOpWithNewOp<ReciprocalOp>(op, op.getType(), x);
    else if (*n == 2 && (relaxed || dtype != DType::C64))
      b.replaceOpWithNewOp<MulOp>(op, op.getType(), x, x);
    else
      return b.notifyMatchFailure(op, "no small power");
    return success();
  }
};

/// i * z ==> complex(-im z, re z), -i * z ==> complex(im z, -re z). Relaxed: the products by the constant's zero real
/// part are left out, so that infinite parts give no NaN, and zeros may change their signs.
struct TimesImaginaryUnit : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &b) const override {
    for (auto [unit, z] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      while (auto cast = unit.getDefiningOp<CastOp>())
        unit = cast.getX();
      auto constant = unit.getDefiningOp<ConstantOp>();
      auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
      if (!elements || !elements.isSplat() || !isa<ComplexType>(elements.getElementType()) ||
          z.getType() != op.getType())
        continue;
      auto value = elements.getSplatValue<std::complex<APFloat>>();
      double im = value.imag().convertToDouble();
      if (!value.real().isZero() || std::abs(im) != 1)
        continue;
      Parts p = partsOf(b, op.getLoc(), z);
      Value negated = NegOp::create(b, op.getLoc(), p.re.getType(), im > 0 ? p.im : p.re);
      b.replaceOpWithNewOp<ComplexOp>(op, op.getType(), im > 0 ? negated : p.im, im > 0 ? p.re : negated);
      return success();
    }
    return b.notifyMatchFailure(op, "not a product by i");
  }
};

/// z * conj z ==> complex(abs2 z, 0). Relaxed: infinite parts would give a NaN imaginary part.
struct SquaredMagnitude : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &b) const override {
    for (auto [x, y] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())})
      if (auto conj = y.getDefiningOp<ConjOp>(); conj && conj.getX() == x && tensorTypeOf(x).isComplex()) {
        Value square = Abs2Op::create(b, op.getLoc(), partType(x), x);
        Value zero = SubOp::create(b, op.getLoc(), partType(x), square, square);
        b.replaceOpWithNewOp<ComplexOp>(op, op.getType(), square, zero);
        return success();
      }
    return b.notifyMatchFailure(op, "not a value times its conjugate");
  }
};

struct ComplexAlgebraPass : impl::ComplexAlgebraBase<ComplexAlgebraPass> {
  using ComplexAlgebraBase::ComplexAlgebraBase;

  void runOnOperation() override {
    // Values that stand in memory as complex numbers first: taken apart they would be read and written in strides.
    RewritePatternSet views(&getContext());
    views.add<StackOfParts, ComplexOfParts, ComplexOfNeighbours>(&getContext());
    RewritePatternSet patterns(&getContext());
    patterns.add<ConjOfConj, PartOf<RealOp>, PartOf<ImagOp>, Abs2OfComplex>(&getContext());
    patterns.add<SmallPower>(&getContext(), relaxed);
    if (relaxed)
      patterns.add<TimesImaginaryUnit, SquaredMagnitude>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(views), withoutMerging())) ||
        failed(applyPatternsGreedily(getOperation(), std::move(patterns), withoutMerging())))
      signalPassFailure();
  }
};

} // namespace
} // namespace toy
