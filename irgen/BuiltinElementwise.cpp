// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built-ins computed element by element, reductions and scans.
#include "irgen/IRGenImpl.h"

using namespace mlir;

namespace toy {

Val IRGen::unaryBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  return Val::leaf(create(args.row->op, r, {convertFor(args.row->conversion, x, r).value}, {}, rangeOf(args, "x")));
}

/// real, imag, conj: on real values the identity, or 0.
Val IRGen::partBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  if (x.tensor().isComplex())
    return Val::leaf(create(args.row->op, r, {x.value}));
  return StringRef(args.row->op) == "imag" ? zerosLike(x, r) : x;
}

Val IRGen::zerosLike(const Val &x, SourceRange r) {
  SmallVector<Value> operands = {cast(integer(0, r), x.tensor().getDtype(), r)};
  llvm::append_range(operands, sizesOf(x.value, r));
  return Val::leaf(operands.size() == 1 ? operands[0] : create<FullOp>(r, operands));
}

Val IRGen::angleBuiltin(Bound &args) {
  SourceRange r = args.call->range;
  Val x = convertFor('f', tensorArgument(args, "x"), r);
  if (x.tensor().isComplex())
    return Val::leaf(create<AngleOp>(r, {x.value}));
  return Val::leaf(create<Atan2Op>(r, {floating(0, x.tensor().getDtype(), r), x.value}));
}

Val IRGen::adjointBuiltin(Bound &args) { return adjoint(tensorArgument(args, "x"), args.call->range); }

/// Integers are already integral.
Val IRGen::roundingBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  if (kindOf(x.tensor().getDtype()) <= DKind::Int)
    return x;
  return Val::leaf(create(args.row->op, args.call->range, {x.value}, {}, rangeOf(args, "x")));
}

Val IRGen::testBuiltin(Bound &args) {
  SourceRange r = args.call->range;
  return Val::leaf(create(args.row->op, r, {convertFor('f', tensorArgument(args, "x"), r).value}));
}

Val IRGen::binaryBuiltin(Bound &args) {
  StringRef first = args.arguments[0].first, second = args.arguments[1].first;
  Val a = convertFor(args.row->conversion, tensorArgument(args, first), rangeOf(args, first));
  Val b = convertFor(args.row->conversion, tensorArgument(args, second), rangeOf(args, second));
  return elementwise(args.row->op, a, b, promoteAll({a, b}), args.call->range, rangeOf(args, first),
                     rangeOf(args, second));
}

Val IRGen::clipBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  for (auto [name, op] : {std::pair("low", "maximum"), std::pair("high", "minimum")}) {
    Val bound = tensorArgument(args, name);
    x = elementwise(op, x, bound, promoteAll({x, bound}), args.call->range, rangeOf(args, "x"), rangeOf(args, name));
  }
  return x;
}

Val IRGen::composeBuiltin(Bound &args) {
  StringRef first = args.arguments[0].first, second = args.arguments[1].first;
  Val a = tensorArgument(args, first), b = tensorArgument(args, second);
  DType dtype = promoteAll({a, b});
  if (kindOf(dtype) <= DKind::Int)
    dtype = DType::F64;
  return elementwise(args.row->op, a, b, dtype, args.call->range, rangeOf(args, first), rangeOf(args, second));
}

Val IRGen::powBuiltin(Bound &args) {
  return binary(ast::BinaryOp::Pow, valueOf(args, "a"), valueOf(args, "b"), args.call->range, args.call->range,
                rangeOf(args, "a"), rangeOf(args, "b"));
}

Val IRGen::whereBuiltin(Bound &args) {
  Val c = tensorArgument(args, "condition"), a = tensorArgument(args, "a"), b = tensorArgument(args, "b");
  DType dtype = promoteAll({a, b});
  return Val::leaf(create<WhereOp>(
      args.call->range, {c.value, castVal(a, dtype, rangeOf(args, "a")), castVal(b, dtype, rangeOf(args, "b"))}, {},
      {rangeOf(args, "condition"), rangeOf(args, "a"), rangeOf(args, "b")}));
}

Val IRGen::reduceBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  Value v = convertFor(args.row->conversion, x, r).value;
  if (args.row->conversion == 'b' && x.tensor().getDtype() != DType::Bool)
    v = create<NeOp>(r, {v, castVal(Val::leaf(integer(0, r)), realOf(x.tensor().getDtype()), r)});
  SmallVector<int64_t> axes = axesArgument(args, v.getType());
  SmallVector<NamedAttribute> attributes = {integersAttr("axes", axes),
                                            boolAttr("keepdims", flagArgument(args, "keepdims", false))};
  if (args.has("initial"))
    return reduceFrom(args, v, attributes);
  return Val::leaf(create(args.row->op, r, {v}, attributes, rangeOf(args, "x")));
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
Val IRGen::reduceFrom(Bound &args, Value x, ArrayRef<NamedAttribute> attributes) {
  SourceRange r = args.call->range;
  Val initial = tensorArgument(args, "initial"), elements = Val::leaf(x);
  if (initial.tensor().getRank() != 0)
    fail(DiagId::ArgumentKind, rangeOf(args, "initial"),
         {args.row->name, "`initial`", "a scalar", initial.type().str()});
  DType dtype = promoteAll({elements, initial});
  SmallVector<NamedAttribute> all(attributes);
  all.push_back(attr("orLeast", b.getUnitAttr()));
  bool isMax = StringRef(args.row->op) == "max";
  Val best = Val::leaf(create(args.row->op, r, {castVal(elements, dtype, r)}, all, rangeOf(args, "x")));
  return isInfinite(initial.value, isMax)
             ? best
             : elementwise(isMax ? "maximum" : "minimum", best, initial, dtype, r, r, rangeOf(args, "initial"));
}

/// Over one axis, or over the flattened tensor.
Val IRGen::argBuiltin(Bound &args) {
  Val whole = tensorArgument(args, "x"), x = whole;
  SourceRange r = args.call->range;
  if (!args.has("axis"))
    x = flattened(x, r);
  int64_t axis = args.has("axis") ? axisArgument(args, x.tensor().getRank(), 0) : 0;
  bool keepdims = flagArgument(args, "keepdims", false);
  Value best =
      create(args.row->op, r, {x.value},
             {integersAttr("axes", {axis}), boolAttr("keepdims", keepdims && args.has("axis"))}, rangeOf(args, "x"));
  if (keepdims && !args.has("axis"))
    best = reshape(best, SmallVector<Value>(whole.tensor().getRank(), integer(1, r)), r);
  return Val::leaf(best);
}

Val IRGen::flattened(const Val &x, SourceRange r) {
  if (x.tensor().getRank() == 1)
    return x;
  Value count = integer(1, r);
  for (Value size : sizesOf(x.value, r))
    count = arith<MulOp>(count, size, r);
  return Val::leaf(reshape(x.value, count, r));
}

Val IRGen::alongBuiltin(Bound &args) {
  SourceRange r = args.call->range;
  Val x = convertFor(args.row->conversion, tensorArgument(args, "x"), r);
  if (!args.has("axis"))
    x = flattened(x, r);
  return Val::leaf(
      create(args.row->op, r, {x.value}, {integerAttr("axis", axisArgument(args, x.tensor().getRank(), 0))}));
}

Val IRGen::sortBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  if (x.tensor().getRank() == 0)
    fail(DiagId::AxisOutOfRange, r, {"-1", x.type().str()});
  return Val::leaf(create(args.row->op, r, {x.value},
                          {integerAttr("axis", axisArgument(args, x.tensor().getRank(), -1)),
                           boolAttr("descending", flagArgument(args, "descending", false))},
                          rangeOf(args, "x")));
}

} // namespace toy
