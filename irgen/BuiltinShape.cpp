// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built-ins that rearrange elements.
#include "irgen/IRGenImpl.h"

#include <numeric>

using namespace mlir;

namespace toy {

SmallVector<Value> IRGen::sizeArguments(Bound &args) {
  SmallVector<Value> sizes;
  if (args.rest.size() == 1)
    return indexList(*args.rest[0], args.row->name);
  for (const ast::Expr *e : args.rest)
    sizes.push_back(indexValue(*e, args.row->name));
  return sizes;
}

SmallVector<Value> IRGen::checkedSizes(SmallVector<Value> sizes, SourceRange range) {
  for (Value &size : sizes)
    if (auto n = constantOf(size); !n || *n < 0)
      size = create<CheckSizeOp>(range, {size});
  return sizes;
}

Val IRGen::reshapeBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  SmallVector<Value> sizes = sizeArguments(args);
  int inferred = -1;
  Value known = integer(1, r);
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (constantOf(size) == -1) {
      if (inferred >= 0)
        fail(DiagId::ReshapeInfer, r, {x.type().str(), "two sizes are -1"});
      inferred = i;
    } else
      known = arith<MulOp>(known, size, r);
  }
  if (inferred >= 0) {
    Value count = integer(1, r);
    for (Value size : sizesOf(x.value, r))
      count = arith<MulOp>(count, size, r);
    auto total = constantOf(count), divisor = constantOf(known);
    if (divisor == 0 || (total && divisor && *total % *divisor != 0))
      fail(DiagId::ReshapeInfer, r,
           {x.type().str(), divisor == 0
                                ? "the other sizes hold no element"
                                : std::to_string(*total) + " elements are no multiple of " + std::to_string(*divisor)});
    sizes[inferred] = arith<FloorDivOp>(count, known, r);
    if (!total || !divisor) {
      SmallVector<Value> operands = {x.value};
      llvm::append_range(operands, sizes);
      Value product = arith<MulOp>(sizes[inferred], known, r);
      if (auto a = sizeBehind(product), b = sizeBehind(count); !a || !b || *a != *b)
        create<CheckEqualOp>(r, {count, product}, {stringAttr("what", "element counts of a reshape")});
      return Val::leaf(create<ReshapeOp>(r, operands));
    }
  }
  return Val::leaf(reshape(x.value, checkedSizes(sizes, r), r));
}

Val IRGen::transposeBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  int64_t rank = x.tensor().getRank();
  SmallVector<int64_t> permutation;
  if (args.rest.empty()) {
    for (int64_t i = rank; i-- > 0;)
      permutation.push_back(i);
  } else {
    SmallVector<int64_t> axes;
    if (args.rest.size() == 1)
      axes = staticList(*args.rest[0], args.row->name);
    else
      for (const ast::Expr *e : args.rest)
        axes.push_back(staticInteger(*e, args.row->name));
    for (int64_t axis : axes)
      permutation.push_back(normalizeAxis(axis, x.value.getType(), args.call->range));
  }
  return Val::leaf(permute(x.value, permutation, args.call->range));
}

Val IRGen::swapBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  int64_t rank = x.tensor().getRank(), a = axisArgument(args, rank, 0, "a"), b = axisArgument(args, rank, 0, "b");
  SmallVector<int64_t> permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[a], permutation[b]);
  return Val::leaf(permute(x.value, permutation, args.call->range));
}

Val IRGen::squeezeBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  SmallVector<int64_t> drop;
  Dim one = Dim::number(context, 1);
  if (args.has("axis")) {
    drop = axesArgument(args, x.value.getType());
    for (int64_t axis : drop)
      if (Dim dim = x.tensor().getDim(axis); isFree(dim)) {
        if (!decideSize(SizeFact::equal(dim, one), r, true)) // the form for just these sizes says why
          fail(DiagId::NotProvable, r, {"that the size " + dim.str() + " is 1"});
        x = Val::leaf(withSize(x.value, axis, one, r));
      } else if (dim.isNumber() && !dim.is(1))
        fail(DiagId::CannotSqueeze, r, {std::to_string(axis), x.type().str(), dim.str()});
  } else
    for (int64_t i = 0; i < x.tensor().getRank(); ++i) {
      Dim dim = x.tensor().getDim(i);
      Truth isOne =
          isFree(dim) ? decideSize(SizeFact::equal(dim, one), r) ? Truth::Yes : Truth::No : fn().facts.equal(dim, one);
      if (isOne == Truth::Unknown)
        fail(DiagId::StaticNeeded, r,
             {"squeeze", "whether the size " + dim.str() + " of axis " + std::to_string(i) + " is 1"},
             "name the axis: `squeeze(x, " + std::to_string(i) + ")`");
      if (isOne == Truth::No)
        continue;
      x = Val::leaf(withSize(x.value, i, one, r));
      drop.push_back(i);
    }
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < x.tensor().getRank(); ++i)
    if (!llvm::is_contained(drop, i))
      sizes.push_back(sizeOf(x.value, i, r));
  return Val::leaf(reshape(x.value, sizes, r));
}

Val IRGen::unsqueezeBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  SmallVector<Value> sizes = sizesOf(x.value, r);
  sizes.insert(sizes.begin() + axisArgument(args, x.tensor().getRank() + 1, 0), integer(1, r));
  return Val::leaf(reshape(x.value, sizes, r));
}

Val IRGen::flattenBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  int64_t rank = x.tensor().getRank();
  if (rank == 0 || (!args.has("start") && !args.has("end")))
    return flattened(x, r);
  int64_t start = axisArgument(args, rank, 0, "start"), end = axisArgument(args, rank, rank - 1, "end");
  SmallVector<Value> sizes = sizesOf(x.value, r);
  for (; end > start; --end) {
    sizes[end - 1] = arith<MulOp>(sizes[end - 1], sizes[end], r);
    sizes.erase(sizes.begin() + end);
  }
  return Val::leaf(reshape(x.value, sizes, r));
}

Val IRGen::expandBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  SmallVector<Value> sizes = sizeArguments(args);
  int64_t offset = static_cast<int64_t>(sizes.size()) - x.tensor().getRank();
  for (auto [i, size] : llvm::enumerate(sizes))
    if (constantOf(size) == -1 && static_cast<int64_t>(i) >= offset)
      size = sizeOf(x.value, i - offset, r);
  return Val::leaf(broadcastTo(x.value, checkedSizes(sizes, r), r));
}

/// [a, b] tiled (m, n): reshape to [1, a, 1, b], broadcast to [m, a, n, b], reshape to [m*a, n*b].
Val IRGen::tileBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  SmallVector<Value> repeats = checkedSizes(sizeArguments(args), r), sizes = sizesOf(x.value, r), one, wide, result;
  while (repeats.size() < sizes.size())
    repeats.insert(repeats.begin(), integer(1, r));
  while (sizes.size() < repeats.size())
    sizes.insert(sizes.begin(), integer(1, r));
  for (auto [n, size] : llvm::zip_equal(repeats, sizes)) {
    one.append({integer(1, r), size});
    wide.append({n, size});
    result.push_back(arith<MulOp>(n, size, r));
  }
  return Val::leaf(reshape(broadcastTo(reshape(x.value, one, r), wide, r), result, r));
}

Val IRGen::repeatBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  Value n = checkedSizes({indexValue(*args["n"], "repeat")}, r)[0];
  if (!args.has("axis"))
    x = flattened(x, r);
  int64_t axis = args.has("axis") ? axisArgument(args, x.tensor().getRank(), 0) : 0;
  SmallVector<Value> sizes = sizesOf(x.value, r), one(sizes), wide(sizes);
  one.insert(one.begin() + axis + 1, integer(1, r));
  wide.insert(wide.begin() + axis + 1, n);
  sizes[axis] = arith<MulOp>(sizes[axis], n, r);
  return Val::leaf(reshape(broadcastTo(reshape(x.value, one, r), wide, r), sizes, r));
}

/// `cat(a, b)`, `cat([a, b])`, `cat((a, b))`.
std::vector<Val> IRGen::tensorList(Bound &args) {
  std::vector<Val> values;
  std::vector<SourceRange> ranges;
  auto add = [&](Val v, SourceRange range) {
    values.push_back(needTensor(v, args.row->name, range));
    ranges.push_back(range);
  };
  if (args.rest.size() == 1 && args.rest[0]->kind == ast::NodeKind::Bracket &&
      !ast::cast<ast::Bracket>(*args.rest[0]).compact)
    for (const ast::ExprPtr &e : ast::cast<ast::Bracket>(*args.rest[0]).elements)
      add(expr(*e), e->range);
  else
    for (const ast::Expr *e : args.rest) {
      Val v = expr(*e);
      if (v.kind == Val::Tuple)
        for (const Val &element : v.elements)
          add(element, e->range);
      else
        add(v, e->range);
    }
  if (values.empty())
    fail(DiagId::NothingToConcat, args.call->range, {args.row->name});
  DType dtype = promoteAll(values);
  for (auto [v, range] : llvm::zip_equal(values, ranges))
    v = Val::leaf(castVal(v, dtype, range));
  return values;
}

Val IRGen::catBuiltin(Bound &args) {
  std::vector<Val> values = tensorList(args);
  if (values[0].tensor().getRank() == 0)
    fail(DiagId::AxisOutOfRange, args.call->range, {"0", values[0].type().str()}, "`stack` joins scalars");
  SmallVector<Value> operands;
  for (const Val &v : values)
    operands.push_back(v.value);
  return Val::leaf(create<ConcatOp>(args.call->range, operands,
                                    {integerAttr("axis", axisArgument(args, values[0].tensor().getRank(), 0))}));
}

Val IRGen::stackBuiltin(Bound &args) {
  std::vector<Val> values = tensorList(args);
  SourceRange r = args.call->range;
  int64_t axis = axisArgument(args, values[0].tensor().getRank() + 1, 0);
  SmallVector<Value> operands;
  for (const Val &v : values) {
    if (v.tensor().getRank() != values[0].tensor().getRank())
      fail(DiagId::ConcatMismatch, r, {values[0].type().str(), v.type().str(), std::to_string(axis)});
    SmallVector<Value> sizes = sizesOf(v.value, r);
    sizes.insert(sizes.begin() + axis, integer(1, r));
    operands.push_back(reshape(v.value, sizes, r));
  }
  return Val::leaf(create<ConcatOp>(r, operands, {integerAttr("axis", axis)}));
}

Val IRGen::splitBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  int64_t axis = axisArgument(args, x.tensor().getRank(), 0);
  SmallVector<int64_t> sizes = staticList(*args["sections"], "split");
  Dim whole = x.tensor().getDim(axis);
  bool list = args["sections"]->kind == ast::NodeKind::Bracket || args["sections"]->kind == ast::NodeKind::Tuple;
  if (!list) {
    int64_t part = sizes[0];
    if (part > 0 && isFree(whole)) { // how many parts there are is decided, how long the last one is not
      Dim count = (whole + Dim::number(context, part - 1)).floorDiv(Dim::number(context, part));
      int64_t n = hintOf(count);
      decideSize(SizeFact::equal(count, Dim::number(context, n)), r);
      Val tuple;
      tuple.kind = Val::Tuple;
      for (int64_t i = 0; i < n; ++i) {
        Value begin = integer(i * part, r),
              size = i + 1 < n ? integer(part, r) : arith<SubOp>(sizeOf(x.value, axis, r), begin, r);
        tuple.elements.push_back(Val::leaf(sliceAxis(x.value, axis, begin, size, 1, r)));
      }
      return tuple;
    }
    if (!whole.isNumber() || part <= 0)
      fail(DiagId::StaticNeeded, r, {"split", "the size of the axis"});
    sizes.assign(whole.value() / part, part);
    if (whole.value() % part)
      sizes.push_back(whole.value() % part);
  }
  int64_t sum = 0;
  for (int64_t size : sizes) {
    if (size < 0 || size > largestSize || (whole.isNumber() && sum + size > whole.value()))
      fail(DiagId::NegativeSize, r, {"of a part beyond the end"});
    sum += size;
  }
  if (!whole.is(sum)) // before anything is read
    create<CheckEqualOp>(r, {sizeOf(x.value, axis, r), integer(sum, r)},
                         {stringAttr("what", "the split axis and the sum of its parts")});
  Val tuple;
  tuple.kind = Val::Tuple;
  int64_t at = 0;
  for (int64_t size : sizes) {
    tuple.elements.push_back(Val::leaf(sliceAxis(x.value, axis, integer(at, r), integer(size, r), 1, r)));
    at += size;
  }
  return tuple;
}

Val IRGen::chunkBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  int64_t axis = axisArgument(args, x.tensor().getRank(), 0), n = staticInteger(*args["n"], "chunk");
  if (n <= 0)
    fail(DiagId::NegativeSize, rangeOf(args, "n"), {std::to_string(n)});
  int64_t parts = chunkCount(x.value, axis, n, r);
  Value size = sizeOf(x.value, axis, r);
  Value part = arith<FloorDivOp>(arith<AddOp>(size, integer(n - 1, r), r), integer(n, r), r);
  Val tuple;
  tuple.kind = Val::Tuple;
  for (int64_t i = 0; i < parts; ++i) {
    Value start = arith<MulOp>(part, integer(i, r), r);
    Value count = i + 1 < parts ? part : arith<SubOp>(size, start, r);
    tuple.elements.push_back(Val::leaf(sliceAxis(x.value, axis, start, count, 1, r)));
  }
  return tuple;
}

/// How many parts of ceil(size / n) elements an axis has, as PyTorch counts them: n of an empty axis, and never more. A
/// form decides; where only the run knows, n is checked.
int64_t IRGen::chunkCount(Value x, int64_t axis, int64_t n, SourceRange r) {
  auto number = [&](int64_t value) { return Dim::number(context, value); };
  auto countOf = [&](int64_t size) { return size == 0 ? n : (size - 1) / ((size - 1) / n + 1) + 1; };
  Dim size = tensorTypeOf(x).getDim(axis);
  if (size.isNumber())
    return countOf(size.value());
  Dim part = (size + number(n - 1)).floorDiv(number(n));
  auto reaches = [&](int64_t parts) { return SizeFact::atLeast(size, part * number(parts - 1) + number(1)); };
  if (isFree(size)) {
    int64_t parts = countOf(hintOf(size));
    if (decideSize(SizeFact::equal(size, number(0)), r))
      return parts;
    decideSize(reaches(parts), r);
    if (parts < n)
      decideSize(SizeFact::atLeast(part * number(parts), size), r);
    return parts;
  }
  bool isMultiple = fn().facts.equal(size, part * number(n)) == Truth::Yes;
  if (n == 1 || isMultiple || fn().facts.decide(reaches(n)) == Truth::Yes)
    return n;
  Value have = sizeOf(x, axis, r), zero = integer(0, r);
  Value before =
      arith<MulOp>(arith<FloorDivOp>(arith<AddOp>(have, integer(n - 1, r), r), integer(n, r), r), integer(n - 1, r), r);
  Value fits = create<OrOp>(r, {create<GtOp>(r, {have, before}), create<EqOp>(r, {have, zero})});
  create<AssertOp>(r, {fits, string("chunk gives " + std::to_string(n) + " parts", r)});
  return n;
}

Val IRGen::flipBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  SmallVector<int64_t> axes;
  if (args.has("axis"))
    axes = staticList(*args["axis"], "flip");
  else
    for (int64_t i = 0; i < x.tensor().getRank(); ++i)
      axes.push_back(i);
  Value v = x.value;
  for (int64_t a : axes) {
    int64_t axis = normalizeAxis(a, v.getType(), r);
    Value size = sizeOf(v, axis, r);
    v = sliceAxis(v, axis, arith<SubOp>(size, integer(1, r), r), size, -1, r);
  }
  return Val::leaf(v);
}

/// The last `shift` elements first.
Val IRGen::rollBuiltin(Bound &args) {
  Val whole = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  Val x = args.has("axis") ? whole : flattened(whole, r);
  int64_t axis = args.has("axis") ? axisArgument(args, x.tensor().getRank(), 0) : 0;
  Value size = sizeOf(x.value, axis, r), one = integer(1, r);
  if (constantOf(size) == 0)
    return whole;
  Value shift = create<ModOp>(r, {indexValue(*args["shift"], "roll"), arith<MaximumOp>(size, one, r)});
  Value rest = arith<SubOp>(size, shift, r);
  Value back = sliceAxis(x.value, axis, rest, shift, 1, r), front = sliceAxis(x.value, axis, integer(0, r), rest, 1, r);
  Value joined = create<ConcatOp>(r, {back, front}, {integerAttr("axis", axis)});
  joined = relabel(joined, x.value.getType(), r);
  return Val::leaf(args.has("axis") ? joined : reshape(joined, sizesOf(whole.value, r), r));
}

Val IRGen::padBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  int64_t rank = x.tensor().getRank();
  SmallVector<int64_t> widths;
  const ast::Expr &e = *args["widths"];
  auto *b = ast::dynCast<ast::Bracket>(&e);
  if (b && b->compact && b->shape.size() == 2 && b->allIntegers && b->shape[1] == 2)
    for (ast::Bracket::Part part : b->re) {
      SourceRange range{e.range.buffer, part.begin, part.begin + part.length};
      int64_t n;
      if (StringRef(sourceText(range)).getAsInteger(10, n))
        fail(DiagId::LiteralRange, range, {sourceText(range), "i64"});
      widths.push_back(part.negative ? -n : n);
    }
  else {
    widths = staticList(e, "pad");
    if (widths.size() == 1)
      widths.push_back(widths[0]);
    if (widths.size() == 2) {
      SmallVector<int64_t> pair(widths);
      for (int64_t i = 1; i < rank; ++i)
        widths.append(pair.begin(), pair.end());
    }
  }
  if (static_cast<int64_t>(widths.size()) != 2 * rank)
    fail(DiagId::PadRank, e.range, {x.type().str(), std::to_string(widths.size() / 2)});
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < rank; ++i) {
    low.push_back(widths[2 * i]);
    high.push_back(widths[2 * i + 1]);
  }
  Val fill = args.has("value") ? tensorArgument(args, "value") : Val::leaf(integer(0, r));
  if (args.has("value") && kindOf(fill.tensor().getDtype()) > kindOf(x.tensor().getDtype()))
    fail(DiagId::ComplexStore, rangeOf(args, "value"), {fill.type().str(), x.type().str()});
  return Val::leaf(create<PadOp>(r,
                                 {x.value, args.has("value") ? castVal(fill, x.tensor().getDtype(), r)
                                                             : cast(fill.value, x.tensor().getDtype(), r)},
                                 {integersAttr("low", low), integersAttr("high", high)}));
}

/// A matrix's diagonal; of a vector the matrix: rows and columns compared.
Val IRGen::diagBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  int64_t k = args.has("k") ? staticInteger(*args["k"], "diag") : 0;
  if (x.tensor().getRank() != 1)
    return Val::leaf(create<DiagonalOp>(r, {x.value}, {integerAttr("offset", k)}));
  if (k < -largestSize || k > largestSize)
    fail(DiagId::SizeTooLarge, r, {std::to_string(k)});
  Value size = arith<AddOp>(sizeOf(x.value, 0, r), integer(std::abs(k), r), r);
  Value rows = create<IotaOp>(r, {size}), columns = reshape(rows, {integer(1, r), size}, r);
  rows = reshape(rows, {size, integer(1, r)}, r);
  Value on = create<EqOp>(r, {create<AddOp>(r, {rows, integer(k, r)}), columns});
  Value zero = cast(integer(0, r), x.tensor().getDtype(), r);
  Value padded =
      create<PadOp>(r, {x.value, zero},
                    {integersAttr("low", {std::max<int64_t>(k, 0)}), integersAttr("high", {std::max<int64_t>(-k, 0)})});
  return Val::leaf(create<WhereOp>(
      r, {on, k >= 0 ? reshape(padded, {integer(1, r), size}, r) : reshape(padded, {integer(1, r), size}, r), zero}));
}

Val IRGen::triangleBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  int64_t rank = x.tensor().getRank();
  if (rank < 2)
    fail(DiagId::NeedsMatrix, r, {args.row->name, x.type().str()});
  Value k = args.has("k") ? indexValue(*args["k"], args.row->name) : integer(0, r);
  Value n = sizeOf(x.value, rank - 2, r), m = sizeOf(x.value, rank - 1, r);
  Value rows = reshape(create<IotaOp>(r, {n}), {n, integer(1, r)}, r), columns = create<IotaOp>(r, {m});
  Value keep = create(args.row->op, r, {create<AddOp>(r, {rows, k}), columns});
  return Val::leaf(create<WhereOp>(r, {keep, x.value, cast(integer(0, r), x.tensor().getDtype(), r)}));
}

Val IRGen::takeBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  if (!args.has("axis"))
    x = flattened(x, r);
  int64_t axis = args.has("axis") ? axisArgument(args, x.tensor().getRank(), 0) : 0;
  Value index;
  if (auto *b = ast::dynCast<ast::Bracket>(args["index"]); b && b->compact && b->allIntegers)
    index = bracket(*b, DType::I64).value;
  else
    index = tensorArgument(args, "index").value;
  return Val::leaf(create<TakeOp>(r, {x.value, index}, {integersAttr("axes", {axis})}));
}

Val IRGen::gatherBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  auto *b = ast::dynCast<ast::Bracket>(args["index"]);
  Value index = b && b->compact && b->allIntegers ? bracket(*b, DType::I64).value : tensorArgument(args, "index").value;
  return Val::leaf(create<TakeAlongOp>(args.call->range, {x.value, index},
                                       {integerAttr("axis", axisArgument(args, x.tensor().getRank(), 0))}));
}

Val IRGen::scatterBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x"), values = tensorArgument(args, "values");
  SourceRange r = args.call->range;
  auto *b = ast::dynCast<ast::Bracket>(args["index"]);
  Value index = b && b->compact && b->allIntegers ? bracket(*b, DType::I64).value : tensorArgument(args, "index").value;
  Value v = castVal(values, x.tensor().getDtype(), r);
  if (tensorTypeOf(v).getRank() == 0)
    v = broadcastTo(v, sizesOf(index, r), r);
  return Val::leaf(
      create<PutAlongOp>(r, {x.value, index, v}, {integerAttr("axis", axisArgument(args, x.tensor().getRank(), 0))}));
}

Val IRGen::nonzeroBuiltin(Bound &args) {
  return Val::leaf(createOp<NonZeroOp>(args.call->range, {tensorArgument(args, "x").value})->getResult(0));
}

Val IRGen::selectBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  int64_t axis = axisArgument(args, x.tensor().getRank(), 0);
  Value index = create<CheckIndexOp>(r, {indexValue(*args["index"], "select"), sizeOf(x.value, axis, r)},
                                     {integerAttr("axis", axis)});
  return Val::leaf(select(x.value, axis, index, r));
}

Val IRGen::shapeBuiltin(Bound &args) {
  Val tuple;
  tuple.kind = Val::Tuple;
  for (Value size : sizesOf(tensorArgument(args, "x").value, args.call->range))
    tuple.elements.push_back(Val::leaf(size));
  return tuple;
}

Val IRGen::sizeBuiltin(Bound &args) {
  Val x = tensorArgument(args, "x");
  SourceRange r = args.call->range;
  Value count = integer(1, r);
  for (int64_t axis : axesArgument(args, x.value.getType()))
    count = arith<MulOp>(count, sizeOf(x.value, axis, r), r);
  return Val::leaf(count);
}

Val IRGen::rankBuiltin(Bound &args) {
  return Val::leaf(integer(tensorArgument(args, "x").tensor().getRank(), args.call->range));
}

Val IRGen::lenBuiltin(Bound &args) {
  SourceRange r = args.call->range;
  if (auto *n = ast::dynCast<ast::Name>(args["x"]); n && n->name == "args" && !lookup("args") && !host.global("args"))
    return Val::leaf(create<ArgCountOp>(r, {}));
  Val x = valueOf(args, "x");
  if (x.isStr())
    return Val::leaf(create<StrLenOp>(r, {x.value}));
  if (x.kind == Val::Tuple)
    return Val::leaf(integer(x.elements.size(), r));
  needTensor(x, "len", r);
  if (x.tensor().getRank() == 0)
    fail(DiagId::AxisOutOfRange, r, {"0", x.type().str()});
  return Val::leaf(sizeOf(x.value, 0, r));
}

Val IRGen::matmulBuiltin(Bound &args) {
  Val product = matmul(tensorArgument(args, "a"), tensorArgument(args, "b"), args.call->range, rangeOf(args, "a"),
                       rangeOf(args, "b"));
  if (!args.has("strategy"))
    return product;
  std::string strategy = staticString(*args["strategy"], "strategy");
  if (!llvm::is_contained({"auto", "native", "four-real", "gauss"}, strategy))
    fail(DiagId::ArgumentKind, rangeOf(args, "strategy"),
         {"matmul", "`strategy`", "\"auto\", \"native\", \"four-real\" or \"gauss\"", "\"" + strategy + "\""});
  if (auto op = product.value.getDefiningOp<MatMulOp>())
    op.setStrategy(strategy);
  return product;
}

} // namespace toy
