// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built-ins computed element by element, reductions and scans.
#include "irgen/Builtins.h"
#include "irgen/Lists.h"

#include <cmath>

using namespace mlir;

namespace toy {

RValue unaryBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  return g.create(args.row->op, r, {convertFor(g, args.row->conversion, x, r).value}, {}, args.rangeOf("x"));
}

/// real, imag, conj: on real values the identity, or 0.
RValue partBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  if (x.tensor().isComplex())
    return g.create(args.row->op, r, {x.value});
  return StringRef(args.row->op) == "imag" ? zerosLike(g, x, r) : x;
}

/// That of reals is 0 or pi, by their sign; of nan nan.
RValue angleBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = convertFor(g, 'f', tensorArgument(g, args, "x"), r);
  DType dtype = x.tensor().getDtype();
  if (isComplex(dtype))
    return g.create<AngleOp>(r, {x.value});
  Value zero = g.floating(0, dtype, r), sign = g.create<CopysignOp>(r, {g.floating(1, dtype, r), x.value});
  Value angle = g.create<WhereOp>(r, {g.create<LtOp>(r, {sign, zero}), g.floating(M_PI, dtype, r), zero});
  return g.create<WhereOp>(r, {g.create<IsNanOp>(r, {x.value}), x.value, angle});
}

RValue adjointBuiltin(IRGen &g, Bound &args, SourceRange r) { return adjoint(g, tensorArgument(g, args, "x"), r); }

/// Integers are already integral.
RValue roundingBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  if (kindOf(x.tensor().getDtype()) <= DKind::Int)
    return x;
  return g.create(args.row->op, r, {x.value}, {}, args.rangeOf("x"));
}

/// To tens, hundreds, …: down by the remainder, or up where more than half of the unit remains, or half of an odd
/// multiple. What has no such multiple in its dtype stays.
static Value roundedInteger(IRGen &g, const RValue &x, int64_t digits, SourceRange r) {
  DType dtype = x.tensor().getDtype();
  if (digits >= 0)
    return x.value;
  using ast::BinaryOp;
  auto apply = [&](BinaryOp op, const RValue &a, const RValue &b) { return binaryOperation(g, op, a, b, r, r, r, r); };
  RValue wide = castTo(g, x.value, DType::I64, r), zero = g.integer(0, r);
  if (digits < -19) // no integer reaches half of it
    return castTo(g, apply(BinaryOp::Mul, wide, zero).value, dtype, r);
  if (digits == -19) { // the only multiple is 0
    Value isLow = g.create<GeOp>(r, {wide.value, g.integer(-5'000'000'000'000'000'000, r)}),
          isHigh = g.create<LeOp>(r, {wide.value, g.integer(5'000'000'000'000'000'000, r)});
    Value isNearer = g.create<AndOp>(r, {isLow, isHigh});
    return g.create<WhereOp>(r, {isNearer, castTo(g, zero.value, dtype, r), x.value});
  }
  int64_t n = 1;
  for (int64_t i = 0; i > digits; --i)
    n *= 10;
  RValue unit = g.integer(n, r), quotient = apply(BinaryOp::FloorDiv, wide, unit),
         rest = apply(BinaryOp::Mod, wide, unit), other = apply(BinaryOp::Sub, unit, rest);
  RValue isTie = g.create<EqOp>(r, {rest.value, other.value}), isMore = g.create<GtOp>(r, {rest.value, other.value}),
         isOdd = apply(BinaryOp::Eq, apply(BinaryOp::Mod, quotient, g.integer(2, r)), g.integer(1, r));
  Value up = g.create<OrOp>(r, {isMore.value, g.create<AndOp>(r, {isTie.value, isOdd.value})});
  RValue down = apply(BinaryOp::Sub, wide, rest), above = apply(BinaryOp::Add, wide, other);
  RValue near = g.create<WhereOp>(r, {up, above.value, down.value}), narrow = castTo(g, near.value, dtype, r);
  // Sums that wrapped are on the other side.
  Value isAbove = g.create<EqOp>(r, {up, g.create<GtOp>(r, {near.value, wide.value})}),
        isKept = g.create<EqOp>(r, {castTo(g, narrow.value, DType::I64, r), near.value});
  return g.create<WhereOp>(r, {g.create<AndOp>(r, {isAbove, isKept}), narrow.value, x.value});
}

/// NumPy's: scaled, rounded, scaled back; what scaling makes infinite is its own multiple.
RValue roundBuiltin(IRGen &g, Bound &args, SourceRange r) {
  if (!args.has("digits"))
    return roundingBuiltin(g, args, r);
  RValue given = tensorArgument(g, args, "x"), x = given;
  int64_t digits = staticInteger(g, *args["digits"], "round");
  DType dtype = given.tensor().getDtype();
  if (kindOf(dtype) <= DKind::Int)
    return roundedInteger(g, given, digits, r);
  if (isHalf(dtype))
    x = castTo(g, x.value, DType::F32, r);
  using ast::BinaryOp;
  auto apply = [&](BinaryOp op, const RValue &a, const RValue &b) { return binaryOperation(g, op, a, b, r, r, r, r); };
  int64_t most = realOf(x.tensor().getDtype()) == DType::F32 ? 38 : 308; // above it, 10**n is infinite
  if (digits > most)
    return given;
  if (digits < -most) // no number reaches half of it
    x = apply(BinaryOp::Div, x, g.floating(std::pow(10.0, most), realOf(x.tensor().getDtype()), r));
  RValue unit = g.floating(std::pow(10.0, std::min(std::abs(digits), most)), realOf(x.tensor().getDtype()), r);
  RValue scaled = apply(digits < 0 ? BinaryOp::Div : BinaryOp::Mul, x, unit);
  RValue whole = g.create<RoundOp>(r, {scaled.value}, {}, args.rangeOf("x"));
  RValue back = apply(digits < 0 ? BinaryOp::Mul : BinaryOp::Div, whole, unit);
  Value isFinite = g.create<IsFiniteOp>(r, {scaled.value});
  return castTo(g, g.create<WhereOp>(r, {isFinite, back.value, x.value}), dtype, r);
}

RValue testBuiltin(IRGen &g, Bound &args, SourceRange r) {
  return g.create(args.row->op, r, {convertFor(g, 'f', tensorArgument(g, args, "x"), r).value});
}

RValue binaryBuiltin(IRGen &g, Bound &args, SourceRange r) {
  StringRef first = args.arguments[0].first, second = args.arguments[1].first;
  RValue a = convertFor(g, args.row->conversion, tensorArgument(g, args, first), args.rangeOf(first));
  RValue b = convertFor(g, args.row->conversion, tensorArgument(g, args, second), args.rangeOf(second));
  return elementwise(g, args.row->op, a, b, promoteAll({a, b}), r, args.rangeOf(first), args.rangeOf(second));
}

RValue clipBuiltin(IRGen &g, Bound &args, SourceRange r) {
  auto ordered = [&](StringRef name) {
    RValue v = tensorArgument(g, args, name);
    if (v.tensor().isComplex())
      g.fail(DiagId::ComplexNotOrdered, args.rangeOf(name), {"clip", v.type().str()},
             "`abs(…)` or `real(…)` is ordered");
    return v;
  };
  RValue x = ordered("x"), low = ordered("low"), high = ordered("high");
  auto bounded = [&](StringRef op, const RValue &bound, StringRef name) {
    x = elementwise(g, op, x, bound, promoteAll({x, bound}), r, args.rangeOf("x"), args.rangeOf(name));
  };
  bounded("maximum", low, "low");
  bounded("minimum", high, "high");
  return x;
}

RValue composeBuiltin(IRGen &g, Bound &args, SourceRange r) {
  StringRef first = args.arguments[0].first, second = args.arguments[1].first;
  RValue a = tensorArgument(g, args, first), b = tensorArgument(g, args, second);
  DType dtype = promoteAll({a, b});
  if (kindOf(dtype) <= DKind::Int)
    dtype = DType::F64;
  return elementwise(g, args.row->op, a, b, dtype, r, args.rangeOf(first), args.rangeOf(second));
}

RValue powBuiltin(IRGen &g, Bound &args, SourceRange r) {
  return binaryOperation(g, ast::BinaryOp::Pow, valueArgument(g, args, "a"), valueArgument(g, args, "b"), r, r,
                         args.rangeOf("a"), args.rangeOf("b"));
}

RValue whereBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue c = tensorArgument(g, args, "condition"), a = tensorArgument(g, args, "a"), b = tensorArgument(g, args, "b");
  DType dtype = promoteAll({a, b});
  return g.create<WhereOp>(r,
                           {c.value, castVal(g, a, dtype, args.rangeOf("a")), castVal(g, b, dtype, args.rangeOf("b"))},
                           {}, {args.rangeOf("condition"), args.rangeOf("a"), args.rangeOf("b")});
}

/// The largest finite number of a dtype.
static double largestOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return 65504;
  case DType::BF16:
    return 0x1.fep127;
  case DType::F32:
    return std::numeric_limits<float>::max();
  default:
    return std::numeric_limits<double>::max();
  }
}

RValue finiteBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  auto finite = [&](Value part) {
    DType dtype = tensorTypeOf(part).getDtype();
    auto put = [&](Value where, const char *name, double usual) {
      Value number = args.has(name) ? castTo(g, tensorArgument(g, args, name).value, dtype, args.rangeOf(name))
                                    : g.floating(usual, dtype, r);
      part = g.create<WhereOp>(r, {where, number, part});
    };
    auto is = [&](double limit) { return g.create<EqOp>(r, {part, g.floating(limit, dtype, r)}); };
    Value isNan = g.create<IsNanOp>(r, {part}), isHigh = is(INFINITY), isLow = is(-INFINITY);
    put(isNan, "nan", 0);
    put(isHigh, "posinf", largestOf(dtype));
    put(isLow, "neginf", -largestOf(dtype));
    return part;
  };
  if (kindOf(x.tensor().getDtype()) <= DKind::Int)
    return x;
  if (!x.tensor().isComplex())
    return finite(x.value);
  Value re = finite(g.create<RealOp>(r, {x.value})), im = finite(g.create<ImagOp>(r, {x.value}));
  return g.create<ComplexOp>(r, {re, im});
}

/// Whether a value is written as an infinity of a sign.
static bool isInfinite(Value value, bool negative) {
  if (auto negation = value.getDefiningOp<NegOp>())
    return isInfinite(negation.getX(), !negative);
  if (auto conversion = value.getDefiningOp<CastOp>())
    return isInfinite(conversion.getX(), negative);
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!dense || dense.getNumElements() != 1 || !isa<FloatType>(dense.getElementType()))
    return false;
  APFloat x = *dense.value_begin<APFloat>();
  return x.isInfinity() && x.isNegative() == negative;
}

/// max and min of the elements and of a scalar, which is what an empty axis gives.
static RValue reduceFrom(IRGen &g, Bound &args, Value x, ArrayRef<NamedAttribute> attributes) {
  SourceRange r = args.call->range;
  RValue initial = tensorArgument(g, args, "initial"), elements = x;
  if (initial.rank() != 0)
    g.fail(DiagId::ArgumentKind, args.rangeOf("initial"),
           {args.row->name, "`initial`", "a scalar", initial.type().str()});
  DType dtype = promoteAll({elements, initial});
  SmallVector<NamedAttribute> all(attributes);
  all.push_back(g.attr("orLeast", g.b.getUnitAttr()));
  bool isMax = StringRef(args.row->op) == "max";
  RValue best = g.create(args.row->op, r, {castVal(g, elements, dtype, r)}, all, args.rangeOf("x"));
  return isInfinite(initial.value, isMax)
             ? best
             : elementwise(g, isMax ? "maximum" : "minimum", best, initial, dtype, r, r, args.rangeOf("initial"));
}

/// Whether a reduction may be an error, which tells of all its axes: the greatest of nothing.
static bool mayLackElements(Bound &args, TensorType type) {
  StringRef op = args.row->op;
  return (op == "max" || op == "min") &&
         llvm::any_of(type.getDims(), [](Dim size) { return !size.isNumber() || size.is(0); });
}

RValue reduceBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  Value v = convertFor(g, args.row->conversion, x, r).value;
  if (args.row->conversion == 'b' && x.tensor().getDtype() != DType::Bool)
    v = g.create<NeOp>(r, {v, castVal(g, RValue(g.integer(0, r)), realOf(x.tensor().getDtype()), r)});
  bool isPair = x.rank() == 0 && (args.row->name == StringRef("max") || args.row->name == StringRef("min"));
  if (isPair && args.has("axis") && args.call->arguments.size() == 2 && args.call->arguments[1].keyword.empty())
    g.fail(DiagId::AxisOutOfRange, args.rangeOf("axis"), {g.sourceText(args.rangeOf("axis")), x.type().str()},
           "`" + std::string(args.row->name) + "imum(a, b)` is the one of two");
  SmallVector<int64_t> axes = axesArgument(g, args, v.getType());
  const NamedAttribute keepdims = g.boolAttr("keepdims", flagArgument(g, args, "keepdims", false));
  if (args.has("initial"))
    return reduceFrom(g, args, v, {g.integersAttr("axes", axes), keepdims});
  auto first = axesToFoldFirst(tensorTypeOf(v).getRank(), axes);
  if (!first.empty() && !mayLackElements(args, tensorTypeOf(v))) {
    v = g.create(args.row->op, r, {v}, {g.integersAttr("axes", first), keepdims}, args.rangeOf("x"));
    llvm::erase_if(axes, [&](int64_t axis) { return llvm::is_contained(first, axis); });
  }
  SmallVector<NamedAttribute> attributes = {g.integersAttr("axes", axes), keepdims};
  return g.create(args.row->op, r, {v}, attributes, args.rangeOf("x"));
}

/// Over one axis, or over the flattened tensor.
RValue argBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue whole = tensorArgument(g, args, "x"), x = whole;
  int64_t axis = axisOrFlat(g, args, x, r);
  bool keepdims = flagArgument(g, args, "keepdims", false);
  bool keeps = keepdims && args.has("axis");
  Value best;
  if (x.rank() > 0 && x.tensor().getDim(axis).is(0))
    g.fail(DiagId::EmptyReduction, r, {args.row->name, x.type().str(), std::to_string(axis)});
  if (x.tensor().isComplex() && x.rank() > 0)
    best =
        callPrivate(g, "_complex_arg",
                    {x, g.integer(axis, r), g.boolean(keeps, r), g.boolean(StringRef(args.row->name) == "argmin", r)},
                    args.rangeOf("x"), r)
            .value;
  else
    best = g.create(args.row->op, r, {x.value}, {g.integersAttr("axes", {axis}), g.boolAttr("keepdims", keeps)},
                    args.rangeOf("x"));
  if (keepdims && !args.has("axis"))
    best = reshape(g, best, SmallVector<Value>(whole.rank(), g.integer(1, r)), r);
  return best;
}

RValue alongBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = convertFor(g, args.row->conversion, tensorArgument(g, args, "x"), r);
  int64_t axis = axisOrFlat(g, args, x, r);
  return g.create(args.row->op, r, {x.value}, {g.integerAttr("axis", axis)});
}

RValue sortBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = valueArgument(g, args, "x");
  if (x.isList() && StringRef(args.row->name) == "sort")
    return sortedList(g, x, args, r);
  needTensor(g, x, args.row->name, args.rangeOf("x"));
  int64_t axis = axisArgument(g, args, x.rank(), -1);
  bool descending = flagArgument(g, args, "descending", false);
  if (x.tensor().isComplex()) // by real and imaginary parts
    return callPrivate(g, StringRef(args.row->name) == "sort" ? "_complex_sort" : "_complex_argsort",
                       {x, g.integer(axis, r), g.boolean(descending, r)}, args.rangeOf("x"), r);
  return g.create(args.row->op, r, {x.value}, {g.integerAttr("axis", axis), g.boolAttr("descending", descending)},
                  args.rangeOf("x"));
}

} // namespace toy
