// SPDX-License-Identifier: Apache-2.0
/// \file
/// Linear algebra, Fourier transforms and convolutions: calls of library functions.
#include "irgen/Builtins.h"

using namespace mlir;

namespace toy {

RValue matmulBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue product =
      matmul(g, tensorArgument(g, args, "a"), tensorArgument(g, args, "b"), r, args.rangeOf("a"), args.rangeOf("b"));
  if (!args.has("strategy"))
    return product;
  std::string strategy = staticString(g, *args["strategy"], "strategy");
  if (!llvm::is_contained({"auto", "native", "four-real", "gauss"}, strategy))
    g.fail(DiagId::ArgumentKind, args.rangeOf("strategy"),
           {"matmul", "`strategy`", "\"auto\", \"native\", \"four-real\" or \"gauss\"", "\"" + strategy + "\""});
  if (auto op = product.value.getDefiningOp<MatMulOp>())
    op.setStrategy(strategy);
  return product;
}

static RValue libraryCall(IRGen &g, SourceRange r, StringRef function, ArrayRef<Value> operands,
                          ArrayRef<int64_t> parameters = {}, ArrayRef<SourceRange> sources = {}) {
  Operation *op = g.createOp<LibraryOp>(
      r, operands, {g.stringAttr("function", function), g.integersAttr("parameters", parameters)}, sources);
  SmallVector<Value> results = g.resultsOf(op, operands, r);
  if (results.size() == 1)
    return results[0];
  return RValue::tuple(results);
}

/// Brings both to the batches that they have between them, which broadcast. A vector beside a stack of matrices is a
/// column for each.
static RValue solved(IRGen &g, SourceRange r, StringRef function, SmallVector<Value> operands,
                     ArrayRef<int64_t> parameters, ArrayRef<SourceRange> sources) {
  auto rankOf = [&](int i) { return tensorTypeOf(operands[i]).getRank(); };
  bool isColumn = rankOf(1) == 1 && rankOf(0) > 2;
  auto column = [&](Value v, bool toColumn) {
    SmallVector<Value> sizes = sizesOf(g, v, r);
    if (toColumn)
      sizes.push_back(g.integer(1, r));
    else
      sizes.pop_back();
    return reshape(g, v, sizes, r);
  };
  if (isColumn)
    operands[1] = column(operands[1], true);
  int64_t batch = std::max(rankOf(0), rankOf(1)) - 2;
  if (rankOf(0) < 2 || rankOf(1) < 2 || batch == 0)
    return libraryCall(g, r, function, operands, parameters, sources);
  SmallVector<Value> both;
  for (int64_t axis = -batch; axis < 0; ++axis) { // counted from the matrix
    auto sizeIn = [&](int i) {
      return rankOf(i) - 2 + axis < 0 ? g.number(1) : tensorTypeOf(operands[i]).getDim(rankOf(i) - 2 + axis);
    };
    int from = sizeIn(0).is(1) ? 1 : sizeIn(1).is(1) || sizeIn(0).isNumber() ? 0 : 1;
    both.push_back(sizeIn(from).isNumber() ? g.integer(sizeIn(from).value(), r)
                                           : sizeOf(g, operands[from], rankOf(from) - 2 + axis, r));
  }
  for (Value &v : operands) {
    SmallVector<Value> sizes(both), own = sizesOf(g, v, r);
    sizes.append(own.end() - 2, own.end());
    bool isWhole = own.size() == sizes.size() && llvm::all_of(llvm::zip_equal(own, sizes), [](auto pair) {
                     auto a = sizeBehind(std::get<0>(pair)), b = sizeBehind(std::get<1>(pair));
                     return a && b && *a == *b;
                   });
    if (!isWhole)
      v = broadcastTo(g, v, sizes, r);
  }
  RValue x = libraryCall(g, r, function, operands, parameters, sources);
  return isColumn ? RValue(column(x.value, false)) : x;
}

/// All operands in one floating dtype.
RValue libraryBuiltin(IRGen &g, Bound &args, SourceRange r) {
  StringRef function = args.row->op;
  std::vector<RValue> given = {tensorArgument(g, args, args.arguments[0].first)};
  bool solves = function == "solve" || function == "solve_triangular", twoOperands = solves || function == "lstsq";
  if (twoOperands)
    given.push_back(tensorArgument(g, args, args.arguments[1].first));
  DType dtype = promoteAll(given);
  if (kindOf(dtype) <= DKind::Int)
    dtype = DType::F64;
  SmallVector<Value> operands;
  SmallVector<SourceRange> sources;
  for (auto [i, v] : llvm::enumerate(given)) {
    sources.push_back(args.rangeOf(args.arguments[i].first));
    operands.push_back(castVal(g, v, dtype, sources.back()));
  }
  SmallVector<int64_t> parameters;
  if (function == "svd")
    parameters.push_back(flagArgument(g, args, "full_matrices", true));
  if (function == "solve_triangular")
    parameters.push_back(flagArgument(g, args, "lower", false));
  if (solves)
    return solved(g, r, function, operands, parameters, sources);
  return libraryCall(g, r, function, operands, parameters, sources);
}

/// `_search(a, v, right)`: both in one dtype, halves of floats as f32. Elements of the vector are compared with those
/// of `v`, scalars both, so that a single value is not cut to the vector's dtype.
RValue searchBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue given[] = {tensorArgument(g, args, "a"), tensorArgument(g, args, "v")};
  auto element = [](const RValue &v) { return PromotionOperand{v.tensor().getDtype(), false, v.weak}; };
  DType dtype = promote(element(given[0]), element(given[1]));
  if (isHalf(dtype))
    dtype = DType::F32;
  Value operands[] = {castVal(g, given[0], dtype, r), castVal(g, given[1], dtype, r)};
  return libraryCall(g, r, "search", operands, {flagArgument(g, args, "right", false)});
}

static int64_t normOf(IRGen &g, Bound &args) {
  if (!args.has("norm"))
    return 0;
  std::string norm = staticString(g, *args["norm"], "norm");
  const char *const names[] = {"backward", "ortho", "forward"};
  for (auto [i, name] : llvm::enumerate(names))
    if (norm == name)
      return i;
  g.fail(DiagId::ArgumentKind, args.rangeOf("norm"),
         {args.row->name, "`norm`", "\"backward\", \"ortho\" or \"forward\"", "\"" + norm + "\""});
}

/// Real values become complex for the complex transforms.
static RValue transformable(IRGen &g, Bound &args, bool complex) {
  SourceRange r = args.call->range;
  RValue x = convertFor(g, 'f', tensorArgument(g, args, "x"), r);
  if (x.rank() == 0)
    g.fail(DiagId::NeedsShape, args.rangeOf("x"), {args.row->name, "at least one axis", x.type().str()});
  return complex ? RValue(castVal(g, x, complexOf(x.tensor().getDtype()), r)) : x;
}

RValue fourierBuiltin(IRGen &g, Bound &args, SourceRange r) {
  StringRef function = args.row->op;
  RValue x = transformable(g, args, function != "rfft");
  if (function == "rfft" && x.tensor().isComplex())
    g.fail(DiagId::NeedsRealFloating, args.rangeOf("x"), {args.row->name, x.type().str()},
           "`real(…)` is one part; the functions without an `r` take complex values");
  int64_t axis = axisArgument(g, args, x.rank(), x.rank() - 1);
  Value n = args.has("n") ? indexValue(g, *args["n"], args.row->name) : sizeOf(g, x.value, axis, r);
  if (!args.has("n") && function == "irfft")
    n = arith<MulOp>(g, g.integer(2, r), arith<SubOp>(g, n, g.integer(1, r), r), r);
  return libraryCall(g, r, function, {x.value, n}, {axis, normOf(g, args)}, {args.rangeOf("x")});
}

static SmallVector<int64_t> axesOf(IRGen &g, Bound &args, Type type, int64_t last) {
  int64_t rank = cast<TensorType>(type).getRank();
  SmallVector<int64_t> axes;
  if (args.has("axes"))
    for (int64_t axis : staticList(g, *args["axes"], args.row->name))
      axes.push_back(normalizeAxis(g, axis, type, args.rangeOf("axes")));
  else
    for (int64_t axis = std::max<int64_t>(0, rank - last); axis < rank; ++axis)
      axes.push_back(axis);
  return axes;
}

/// One transform an axis, the last first.
RValue fourierAxesBuiltin(IRGen &g, Bound &args, SourceRange r) {
  StringRef name = args.row->op;
  RValue x = transformable(g, args, true);
  if (name.ends_with("2") && !args.has("axes") && x.rank() < 2)
    g.fail(DiagId::NeedsShape, args.rangeOf("x"), {args.row->name, "two axes", x.type().str()});
  SmallVector<int64_t> axes = axesOf(g, args, x.value.getType(), name.ends_with("2") ? 2 : x.rank());
  int64_t norm = normOf(g, args);
  for (int64_t axis : llvm::reverse(axes))
    x = libraryCall(g, r, name.drop_back(), {x.value, sizeOf(g, x.value, axis, r)}, {axis, norm});
  return x;
}

/// A roll by half of each axis.
RValue shiftBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  bool inverse = StringRef(args.row->op) == "ifft";
  SmallVector<Roll> rolls;
  for (int64_t axis : axesOf(g, args, x.value.getType(), x.rank())) {
    Value size = sizeOf(g, x.value, axis, r), half = arith<FloorDivOp>(g, size, g.integer(2, r), r);
    rolls.push_back({axis, inverse ? arith<SubOp>(g, size, half, r) : half});
  }
  return rolled(g, x.value, rolls, r);
}

/// An input without batch gets one; strides, padding and dilation are numbers or one an axis.
RValue convolutionBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x"), w = tensorArgument(g, args, "w");
  StringRef kind = args.row->op;
  int64_t axes = kind == "t" ? w.rank() - 2 : kind[0] - '0';
  std::vector<RValue> both = {x, w};
  DType dtype = promoteAll(both), natural = dtype;
  bool integers = kindOf(dtype) <= DKind::Int;
  if (integers) // exact below 2^53
    dtype = DType::F64;
  int64_t rank = x.rank();
  if (axes < 1 || w.rank() != axes + 2 || (rank != axes + 2 && rank != axes + 1))
    g.fail(DiagId::ConvolutionShapes, r, {args.row->name, x.type().str(), w.type().str()});
  Value input = castVal(g, x, dtype, args.rangeOf("x"));
  if (rank == axes + 1) {
    SmallVector<Value> sizes = sizesOf(g, input, r);
    sizes.insert(sizes.begin(), g.integer(1, r));
    input = reshape(g, input, sizes, r);
  }
  SmallVector<int64_t> parameters;
  for (auto [name, fallback, least] :
       {std::tuple("stride", 1, 1), std::tuple("padding", 0, 0), std::tuple("dilation", 1, 1)}) {
    SmallVector<int64_t> values = args.has(name) ? staticList(g, *args[name], name) : SmallVector<int64_t>{fallback};
    if (values.size() == 1)
      values.assign(axes, values[0]);
    if (static_cast<int64_t>(values.size()) != axes ||
        llvm::any_of(values, [least = least](int64_t v) { return v < least; }))
      g.fail(DiagId::ArgumentKind, args.rangeOf(name),
             {args.row->name, std::string("`") + name + "`",
              "a number of " + std::to_string(least) + " or more, or one an axis", "others"});
    llvm::append_range(parameters, values);
  }
  int64_t groups = args.has("groups") ? staticInteger(g, *args["groups"], "groups") : 1;
  if (groups < 1)
    g.fail(DiagId::ArgumentKind, args.rangeOf("groups"),
           {args.row->name, "`groups`", "a positive number", std::to_string(groups)});
  parameters.append({groups, kind == "t"});
  Value out = libraryCall(g, r, "convolution", {input, castVal(g, w, dtype, args.rangeOf("w"))}, parameters,
                          {args.rangeOf("x"), args.rangeOf("w")})
                  .value;
  if (args.has("bias")) {
    RValue bias = tensorArgument(g, args, "bias");
    if (bias.rank() != 1)
      g.fail(DiagId::ArgumentKind, args.rangeOf("bias"), {args.row->name, "`bias`", "a vector", bias.type().str()});
    SmallVector<Value> sizes = {sizeOf(g, bias.value, 0, r)};
    sizes.append(axes, g.integer(1, r));
    out = g.create<AddOp>(r, {out, reshape(g, castVal(g, bias, dtype, r), sizes, r)});
  }
  if (integers)
    out = castTo(g, castTo(g, out, DType::I64, r), natural == DType::Bool ? DType::I64 : natural, r);
  if (rank == axes + 1)
    out = reshape(g, out, ArrayRef(sizesOf(g, out, r)).drop_front(), r);
  return out;
}

} // namespace toy
