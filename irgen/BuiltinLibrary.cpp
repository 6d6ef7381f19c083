// SPDX-License-Identifier: Apache-2.0
/// \file
/// Linear algebra, Fourier transforms and convolutions: calls of library functions.
#include "irgen/IRGenImpl.h"

#include <numeric>

using namespace mlir;

namespace toy {

static Val libraryCall(IRGen &gen, SourceRange r, StringRef function, ArrayRef<Value> operands,
                       ArrayRef<int64_t> parameters = {}, ArrayRef<SourceRange> sources = {}) {
  Operation *op = gen.createOp<LibraryOp>(
      r, operands, {gen.stringAttr("function", function), gen.integersAttr("parameters", parameters)}, sources);
  SmallVector<Value> results = gen.resultsOf(op, operands, r);
  if (results.size() == 1)
    return Val::leaf(results[0]);
  Val tuple;
  tuple.kind = Val::Tuple;
  for (Value result : results)
    tuple.elements.push_back(Val::leaf(result));
  return tuple;
}

/// Brings both to the batches that they have between them, which broadcast. A vector beside a stack of matrices is a
/// column for each.
static Val solved(IRGen &gen, SourceRange r, SmallVector<Value> operands, ArrayRef<SourceRange> sources) {
  auto rankOf = [&](int i) { return tensorTypeOf(operands[i]).getRank(); };
  bool isColumn = rankOf(1) == 1 && rankOf(0) > 2;
  auto column = [&](Value v, bool toColumn) {
    SmallVector<Value> sizes = gen.sizesOf(v, r);
    if (toColumn)
      sizes.push_back(gen.integer(1, r));
    else
      sizes.pop_back();
    return gen.reshape(v, sizes, r);
  };
  if (isColumn)
    operands[1] = column(operands[1], true);
  int64_t batch = std::max(rankOf(0), rankOf(1)) - 2;
  if (rankOf(0) < 2 || rankOf(1) < 2 || batch == 0)
    return libraryCall(gen, r, "solve", operands, {}, sources);
  SmallVector<Value> both;
  for (int64_t axis = -batch; axis < 0; ++axis) { // counted from the matrix
    auto sizeIn = [&](int i) {
      return rankOf(i) - 2 + axis < 0 ? Dim::number(gen.context, 1)
                                      : tensorTypeOf(operands[i]).getDim(rankOf(i) - 2 + axis);
    };
    int from = sizeIn(0).is(1) ? 1 : sizeIn(1).is(1) || sizeIn(0).isNumber() ? 0 : 1;
    both.push_back(sizeIn(from).isNumber() ? gen.integer(sizeIn(from).value(), r)
                                           : gen.sizeOf(operands[from], rankOf(from) - 2 + axis, r));
  }
  for (Value &v : operands) {
    SmallVector<Value> sizes(both), own = gen.sizesOf(v, r);
    sizes.append(own.end() - 2, own.end());
    bool isWhole = own.size() == sizes.size() && llvm::all_of(llvm::zip_equal(own, sizes), [](auto pair) {
                     auto a = sizeBehind(std::get<0>(pair)), b = sizeBehind(std::get<1>(pair));
                     return a && b && *a == *b;
                   });
    if (!isWhole)
      v = gen.broadcastTo(v, sizes, r);
  }
  Val x = libraryCall(gen, r, "solve", operands, {}, sources);
  return isColumn ? Val::leaf(column(x.value, false)) : x;
}

/// All operands in one floating dtype.
Val IRGen::libraryBuiltin(Bound &args) {
  SourceRange r = args.call->range;
  StringRef function = args.row->op;
  std::vector<Val> given = {tensorArgument(args, args.arguments[0].first)};
  bool twoOperands = function == "solve" || function == "lstsq";
  if (twoOperands)
    given.push_back(tensorArgument(args, args.arguments[1].first));
  DType dtype = promoteAll(given);
  if (kindOf(dtype) <= DKind::Int)
    dtype = DType::F64;
  SmallVector<Value> operands;
  SmallVector<SourceRange> sources;
  for (auto [i, v] : llvm::enumerate(given)) {
    sources.push_back(rangeOf(args, args.arguments[i].first));
    operands.push_back(castVal(v, dtype, sources.back()));
  }
  SmallVector<int64_t> parameters;
  if (function == "svd")
    parameters.push_back(flagArgument(args, "full_matrices", true));
  if (function == "solve")
    return solved(*this, r, operands, sources);
  return libraryCall(*this, r, function, operands, parameters, sources);
}

static int64_t normOf(IRGen &gen, Bound &args) {
  if (!args.has("norm"))
    return 0;
  std::string norm = gen.staticString(*args["norm"], "norm");
  const char *const names[] = {"backward", "ortho", "forward"};
  for (auto [i, name] : llvm::enumerate(names))
    if (norm == name)
      return i;
  gen.fail(DiagId::ArgumentKind, gen.rangeOf(args, "norm"),
           {args.row->name, "`norm`", "\"backward\", \"ortho\" or \"forward\"", "\"" + norm + "\""});
}

/// Real values become complex for the complex transforms.
static Val transformable(IRGen &gen, Bound &args, bool complex) {
  SourceRange r = args.call->range;
  Val x = gen.convertFor('f', gen.tensorArgument(args, "x"), r);
  if (x.tensor().getRank() == 0)
    gen.fail(DiagId::NeedsShape, gen.rangeOf(args, "x"), {args.row->name, "at least one axis", x.type().str()});
  return complex ? Val::leaf(gen.castVal(x, complexOf(x.tensor().getDtype()), r)) : x;
}

Val IRGen::fourierBuiltin(Bound &args) {
  SourceRange r = args.call->range;
  StringRef function = args.row->op;
  Val x = transformable(*this, args, function != "rfft");
  int64_t axis = axisArgument(args, x.tensor().getRank(), x.tensor().getRank() - 1);
  Value n = args.has("n") ? indexValue(*args["n"], args.row->name) : sizeOf(x.value, axis, r);
  if (!args.has("n") && function == "irfft")
    n = arith<MulOp>(integer(2, r), arith<SubOp>(n, integer(1, r), r), r);
  return libraryCall(*this, r, function, {x.value, n}, {axis, normOf(*this, args)}, {rangeOf(args, "x")});
}

static SmallVector<int64_t> axesOf(IRGen &gen, Bound &args, Type type, int64_t last) {
  int64_t rank = cast<TensorType>(type).getRank();
  SmallVector<int64_t> axes;
  if (args.has("axes"))
    for (int64_t axis : gen.staticList(*args["axes"], args.row->name))
      axes.push_back(gen.normalizeAxis(axis, type, gen.rangeOf(args, "axes")));
  else
    for (int64_t axis = std::max<int64_t>(0, rank - last); axis < rank; ++axis)
      axes.push_back(axis);
  return axes;
}

/// One transform an axis, the last first.
Val IRGen::fourierAxesBuiltin(Bound &args) {
  SourceRange r = args.call->range;
  StringRef name = args.row->op;
  Val x = transformable(*this, args, true);
  if (name.ends_with("2") && !args.has("axes") && x.tensor().getRank() < 2)
    fail(DiagId::NeedsShape, rangeOf(args, "x"), {args.row->name, "two axes", x.type().str()});
  SmallVector<int64_t> axes = axesOf(*this, args, x.value.getType(), name.ends_with("2") ? 2 : x.tensor().getRank());
  int64_t norm = normOf(*this, args);
  for (int64_t axis : llvm::reverse(axes))
    x = libraryCall(*this, r, name.drop_back(), {x.value, sizeOf(x.value, axis, r)}, {axis, norm});
  return x;
}

/// A roll by half of each axis.
Val IRGen::shiftBuiltin(Bound &args) {
  SourceRange r = args.call->range;
  Val x = tensorArgument(args, "x");
  bool inverse = StringRef(args.row->op) == "ifft";
  Value v = x.value;
  for (int64_t axis : axesOf(*this, args, v.getType(), x.tensor().getRank())) {
    Value size = sizeOf(v, axis, r), half = arith<FloorDivOp>(size, integer(2, r), r),
          rest = arith<SubOp>(size, half, r);
    Value shift = inverse ? rest : half, front = arith<SubOp>(size, shift, r);
    Value parts[] = {sliceAxis(v, axis, front, shift, 1, r), sliceAxis(v, axis, integer(0, r), front, 1, r)};
    v = relabel(create<ConcatOp>(r, parts, {integerAttr("axis", axis)}), v.getType(), r);
  }
  return Val::leaf(v);
}

/// An input without batch gets one; strides, padding and dilation are numbers or one an axis.
Val IRGen::convolutionBuiltin(Bound &args) {
  SourceRange r = args.call->range;
  Val x = tensorArgument(args, "x"), w = tensorArgument(args, "w");
  StringRef kind = args.row->op;
  int64_t axes = kind == "t" ? w.tensor().getRank() - 2 : kind[0] - '0';
  std::vector<Val> both = {x, w};
  DType dtype = promoteAll(both), natural = dtype;
  bool integers = kindOf(dtype) <= DKind::Int;
  if (integers) // exact below 2^53
    dtype = DType::F64;
  int64_t rank = x.tensor().getRank();
  if (axes < 1 || w.tensor().getRank() != axes + 2 || (rank != axes + 2 && rank != axes + 1))
    fail(DiagId::ConvolutionShapes, r, {args.row->name, x.type().str(), w.type().str()});
  Value input = castVal(x, dtype, rangeOf(args, "x"));
  if (rank == axes + 1) {
    SmallVector<Value> sizes = sizesOf(input, r);
    sizes.insert(sizes.begin(), integer(1, r));
    input = reshape(input, sizes, r);
  }
  SmallVector<int64_t> parameters;
  for (auto [name, fallback, least] :
       {std::tuple("stride", 1, 1), std::tuple("padding", 0, 0), std::tuple("dilation", 1, 1)}) {
    SmallVector<int64_t> values = args.has(name) ? staticList(*args[name], name) : SmallVector<int64_t>{fallback};
    if (values.size() == 1)
      values.assign(axes, values[0]);
    if (static_cast<int64_t>(values.size()) != axes ||
        llvm::any_of(values, [least = least](int64_t v) { return v < least; }))
      fail(DiagId::ArgumentKind, rangeOf(args, name),
           {args.row->name, std::string("`") + name + "`",
            "a number of " + std::to_string(least) + " or more, or one an axis", "others"});
    llvm::append_range(parameters, values);
  }
  int64_t groups = args.has("groups") ? staticInteger(*args["groups"], "groups") : 1;
  if (groups < 1)
    fail(DiagId::ArgumentKind, rangeOf(args, "groups"),
         {args.row->name, "`groups`", "a positive number", std::to_string(groups)});
  parameters.append({groups, kind == "t"});
  Value out = libraryCall(*this, r, "convolution", {input, castVal(w, dtype, rangeOf(args, "w"))}, parameters,
                          {rangeOf(args, "x"), rangeOf(args, "w")})
                  .value;
  if (args.has("bias")) {
    Val bias = tensorArgument(args, "bias");
    if (bias.tensor().getRank() != 1)
      fail(DiagId::ArgumentKind, rangeOf(args, "bias"), {args.row->name, "`bias`", "a vector", bias.type().str()});
    SmallVector<Value> sizes = {sizeOf(bias.value, 0, r)};
    sizes.append(axes, integer(1, r));
    out = create<AddOp>(r, {out, reshape(castVal(bias, dtype, r), sizes, r)});
  }
  if (integers)
    out = cast(cast(out, DType::I64, r), natural == DType::Bool ? DType::I64 : natural, r);
  if (rank == axes + 1)
    out = reshape(out, ArrayRef(sizesOf(out, r)).drop_front(), r);
  return Val::leaf(out);
}

Val IRGen::bytesBuiltin(Bound &args) {
  Val text = valueOf(args, "text");
  if (!text.isStr())
    fail(DiagId::ArgumentKind, rangeOf(args, "text"), {"bytes", "the text", "a string", text.type().str()});
  return Val::leaf(create<StrBytesOp>(args.call->range, {text.value}));
}

} // namespace toy
