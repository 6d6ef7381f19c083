// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built-ins that change sizes and axes, or tell them.
#include "irgen/Builtins.h"
#include "irgen/Decisions.h"
#include "irgen/Lists.h"

#include <numeric>

using namespace mlir;

namespace toy {

RValue reshapeBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  SmallVector<Value> sizes = sizeArguments(g, args);
  int inferred = -1;
  Value known = g.integer(1, r);
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (constantOf(size) == -1) {
      if (inferred >= 0)
        g.fail(DiagId::ReshapeInfer, r, {x.type().str(), "two sizes are -1"});
      inferred = i;
    } else
      known = arith<MulOp>(g, known, size, r);
  }
  if (inferred >= 0) {
    Value count = g.integer(1, r);
    for (Value size : sizesOf(g, x.value, r))
      count = arith<MulOp>(g, count, size, r);
    auto total = constantOf(count), divisor = constantOf(known);
    if (total && divisor && *divisor != 0 && *total % *divisor != 0)
      failLater(g, x.value,
                {DiagId::SizesDiffer,
                 {"element counts of a reshape", std::to_string(*total), std::to_string(*total / *divisor * *divisor)},
                 r});
    if (divisor == 0 || (total && divisor && *total % *divisor != 0))
      g.fail(DiagId::ReshapeInfer, r,
             {x.type().str(),
              divisor == 0 ? "the other sizes hold no element"
                           : std::to_string(*total) + " elements are no multiple of " + std::to_string(*divisor)});
    sizes[inferred] = arith<FloorDivOp>(g, count, known, r);
    if (!total || !divisor) {
      Value product = arith<MulOp>(g, sizes[inferred], known, r);
      if (auto a = sizeBehind(product), b = sizeBehind(count); !a || !b || *a != *b)
        g.create<CheckEqualOp>(r, {count, product}, {g.stringAttr("what", "element counts of a reshape")});
      return g.create<ReshapeOp>(r, join(x.value, sizes));
    }
  }
  return reshape(g, x.value, checkedSizes(g, sizes, r), r);
}

RValue transposeBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  int64_t rank = x.rank();
  SmallVector<int64_t> permutation;
  if (args.rest.empty()) {
    for (int64_t i = rank; i-- > 0;)
      permutation.push_back(i);
  } else {
    SmallVector<int64_t> axes;
    if (args.rest.size() == 1)
      axes = staticList(g, *args.rest[0], args.row->name);
    else
      for (const ast::Expr *e : args.rest)
        axes.push_back(staticInteger(g, *e, args.row->name));
    for (int64_t axis : axes)
      permutation.push_back(normalizeAxis(g, axis, x.value.getType(), r));
  }
  return permute(g, x.value, permutation, r);
}

RValue swapBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  int64_t rank = x.rank(), a = axisArgument(g, args, rank, 0, "a"), b = axisArgument(g, args, rank, 0, "b");
  SmallVector<int64_t> permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[a], permutation[b]);
  return permute(g, x.value, permutation, r);
}

RValue squeezeBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  SmallVector<int64_t> drop;
  Dim one = g.number(1);
  if (args.has("axis")) {
    drop = axesArgument(g, args, x.value.getType());
    for (int64_t axis : drop)
      if (Dim dim = x.tensor().getDim(axis); isFree(g, dim)) {
        if (!decideSize(g, SizeFact::equal(dim, one), r, true)) // with just these sizes the error says why
          g.fail(DiagId::NotProvable, r, {"that the size " + dim.str() + " is 1"});
        x = withSize(g, x.value, axis, one, r);
      } else if (dim.isNumber() && !dim.is(1)) {
        failLater(g, x.value, {DiagId::SizesDiffer, {whatNeedsSize(axis, "squeeze"), dim.str(), "1"}, r});
        g.fail(DiagId::CannotSqueeze, r, {std::to_string(axis), x.type().str(), dim.str()});
      }
  } else
    for (int64_t i = 0; i < x.rank(); ++i) {
      Dim dim = x.tensor().getDim(i);
      Truth isOne = isFree(g, dim) ? decideSize(g, SizeFact::equal(dim, one), r) ? Truth::Yes : Truth::No
                                   : g.fn().facts.equal(dim, one);
      if (isOne == Truth::Unknown)
        g.fail(DiagId::StaticNeeded, r,
               {"squeeze", "whether the size " + dim.str() + " of axis " + std::to_string(i) + " is 1"},
               "name the axis: `squeeze(x, " + std::to_string(i) + ")`");
      if (isOne == Truth::No)
        continue;
      x = withSize(g, x.value, i, one, r);
      drop.push_back(i);
    }
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (!llvm::is_contained(drop, i))
      sizes.push_back(sizeOf(g, x.value, i, r));
  return reshape(g, x.value, sizes, r);
}

RValue unsqueezeBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  SmallVector<Value> sizes = sizesOf(g, x.value, r);
  sizes.insert(sizes.begin() + axisArgument(g, args, x.rank() + 1, 0), g.integer(1, r));
  return reshape(g, x.value, sizes, r);
}

RValue flattenBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  int64_t rank = x.rank();
  if (rank == 0 || (!args.has("start") && !args.has("end")))
    return flattened(g, x, r);
  int64_t start = axisArgument(g, args, rank, 0, "start"), end = axisArgument(g, args, rank, rank - 1, "end");
  SmallVector<Value> sizes = sizesOf(g, x.value, r);
  for (; end > start; --end) {
    sizes[end - 1] = arith<MulOp>(g, sizes[end - 1], sizes[end], r);
    sizes.erase(sizes.begin() + end);
  }
  return reshape(g, x.value, sizes, r);
}

RValue expandBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  SmallVector<Value> sizes = sizeArguments(g, args);
  int64_t offset = static_cast<int64_t>(sizes.size()) - x.rank();
  for (auto [i, size] : llvm::enumerate(sizes))
    if (constantOf(size) == -1 && static_cast<int64_t>(i) >= offset)
      size = sizeOf(g, x.value, i - offset, r);
  return broadcastTo(g, x.value, checkedSizes(g, sizes, r), r);
}

/// [a, b] tiled (m, n): reshape to [1, a, 1, b], broadcast to [m, a, n, b], reshape to [m*a, n*b].
RValue tileBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  SmallVector<Value> repeats = checkedSizes(g, sizeArguments(g, args), r), sizes = sizesOf(g, x.value, r), one, wide,
                     result;
  while (repeats.size() < sizes.size())
    repeats.insert(repeats.begin(), g.integer(1, r));
  while (sizes.size() < repeats.size())
    sizes.insert(sizes.begin(), g.integer(1, r));
  for (auto [n, size] : llvm::zip_equal(repeats, sizes)) {
    one.append({g.integer(1, r), size});
    wide.append({n, size});
    result.push_back(arith<MulOp>(g, n, size, r));
  }
  return reshape(g, broadcastTo(g, reshape(g, x.value, one, r), wide, r), result, r);
}

RValue repeatBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  Value n = checkedSizes(g, {indexValue(g, *args["n"], "repeat")}, r)[0];
  int64_t axis = axisOrFlat(g, args, x, r);
  // Axes before and behind are one each: what is repeated lies together.
  SmallVector<Value> sizes = sizesOf(g, x.value, r), one;
  auto joined = [&](ArrayRef<Value> some) {
    Value product = some[0];
    for (Value size : some.drop_front())
      product = arith<MulOp>(g, product, size, r);
    return product;
  };
  one.push_back(joined(ArrayRef(sizes).take_front(axis + 1)));
  one.push_back(g.integer(1, r));
  if (axis + 1 < static_cast<int64_t>(sizes.size()))
    one.push_back(joined(ArrayRef(sizes).drop_front(axis + 1)));
  SmallVector<Value> wide(one);
  wide[1] = n;
  sizes[axis] = arith<MulOp>(g, sizes[axis], n, r);
  return reshape(g, broadcastTo(g, reshape(g, x.value, one, r), wide, r), sizes, r);
}

RValue flipBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  SmallVector<int64_t> axes;
  if (args.has("axis"))
    axes = staticList(g, *args["axis"], "flip");
  else
    for (int64_t i = 0; i < x.rank(); ++i)
      axes.push_back(i);
  Value v = x.value;
  for (int64_t a : axes) {
    int64_t axis = normalizeAxis(g, a, v.getType(), r);
    Value size = sizeOf(g, v, axis, r);
    v = sliceAxis(g, v, axis, arith<SubOp>(g, size, g.integer(1, r), r), size, -1, r);
  }
  return v;
}

RValue shapeBuiltin(IRGen &g, Bound &args, SourceRange r) {
  return RValue::tuple(sizesOf(g, tensorArgument(g, args, "x").value, r));
}

RValue sizeBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  Value count = g.integer(1, r);
  for (int64_t axis : axesArgument(g, args, x.value.getType()))
    count = arith<MulOp>(g, count, sizeOf(g, x.value, axis, r), r);
  return count;
}

RValue lenBuiltin(IRGen &g, Bound &args, SourceRange r) {
  if (auto *n = ast::dynCast<ast::Name>(args["x"]);
      n && n->name == "args" && !lookup(g, "args") && !g.host.global("args"))
    return g.create<ArgCountOp>(r, {});
  RValue x = valueArgument(g, args, "x");
  if (x.isStr())
    return g.create<StrLenOp>(r, {x.value});
  if (x.kind == RValue::Tuple)
    return g.integer(x.elements.size(), r);
  if (x.isList())
    return listLength(g, x, r);
  needTensor(g, x, "len", r);
  if (x.rank() == 0)
    g.fail(DiagId::AxisOutOfRange, r, {"0", x.type().str()});
  return sizeOf(g, x.value, 0, r);
}

} // namespace toy
