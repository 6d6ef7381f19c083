// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built-ins that put axes into another order, and what the library asks about its arguments while it is compiled:
/// those names begin with `_` and mean nothing in programs.
#include "irgen/Builtins.h"
#include "irgen/Decisions.h"

#include <numeric>

using namespace mlir;

namespace toy {

/// The axes of a permutation that moves some to the given places, the others staying in order.
static SmallVector<int64_t> moved(int64_t rank, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<int64_t> permutation(rank, -1);
  for (auto [source, target] : llvm::zip_equal(from, to))
    permutation[target] = source;
  int64_t next = 0;
  for (int64_t &axis : permutation)
    if (axis < 0) {
      while (llvm::is_contained(from, next))
        ++next;
      axis = next++;
    }
  return permutation;
}

static SmallVector<int64_t> axisList(IRGen &g, Bound &args, StringRef name, Type type) {
  SmallVector<int64_t> axes;
  for (int64_t axis : staticList(g, *args[name], args.row->name)) {
    axes.push_back(normalizeAxis(g, axis, type, args.rangeOf(name)));
    if (llvm::count(axes, axes.back()) > 1)
      g.fail(DiagId::RepeatedAxis, args.rangeOf(name), {std::to_string(axis), args.row->name});
  }
  return axes;
}

RValue moveaxisBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  SmallVector<int64_t> from = axisList(g, args, "source", x.value.getType()),
                       to = axisList(g, args, "destination", x.value.getType());
  if (from.size() != to.size())
    g.fail(DiagId::PermutationRank, r, {x.type().str(), std::to_string(to.size())});
  return permute(g, x.value, moved(x.rank(), from, to), r);
}

/// One axis in the place of some neighbours.
static Value merged(IRGen &g, Value x, int64_t first, int64_t count, SourceRange r) {
  SmallVector<Value> sizes = sizesOf(g, x, r), out(sizes.begin(), sizes.begin() + first);
  Value all = g.integer(1, r);
  for (Value size : ArrayRef(sizes).slice(first, count))
    all = arith<MulOp>(g, all, size, r);
  out.push_back(all);
  llvm::append_range(out, ArrayRef(sizes).drop_front(first + count));
  return reshape(g, x, out, r);
}

/// `_axes_last(x, axis)`: the axes of a reduction as one, the last.
RValue axesLastBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  SmallVector<int64_t> axes = axesArgument(g, args, x.value.getType()), places(axes.size());
  std::iota(places.begin(), places.end(), x.rank() - static_cast<int64_t>(axes.size()));
  Value permuted = permute(g, x.value, moved(x.rank(), axes, places), r);
  return axes.size() == 1 ? permuted : merged(g, permuted, x.rank() - axes.size(), axes.size(), r);
}

/// `_axes_back(y, x, axis, keepdims)`: with keepdims axes of size 1 where a reduction of x has removed them, behind
/// those that y has more.
RValue axesBackBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue y = tensorArgument(g, args, "y"), x = tensorArgument(g, args, "x");
  if (!flagArgument(g, args, "keepdims", true))
    return y;
  SmallVector<int64_t> axes = axesArgument(g, args, x.value.getType());
  SmallVector<Value> sizes = sizesOf(g, y.value, r);
  int64_t before = y.rank() + static_cast<int64_t>(axes.size()) - x.rank();
  for (int64_t axis : axes)
    sizes.insert(sizes.begin() + before + axis, g.integer(1, r));
  return reshape(g, y.value, sizes, r);
}

/// `_kind(x)`: 0 bool, 1 integers, 2 floats, 3 complex values.
RValue kindBuiltin(IRGen &g, Bound &args, SourceRange r) {
  return g.integer(static_cast<int64_t>(kindOf(tensorArgument(g, args, "x").tensor().getDtype())), r);
}

/// `_on_device()`: whether large tensors of the program go to a device.
RValue onDeviceBuiltin(IRGen &g, Bound &, SourceRange r) { return g.boolean(g.host.usesDevice(), r); }

/// `_static(x)`: an integer that has to be known while the program is compiled.
RValue staticBuiltin(IRGen &g, Bound &args, SourceRange r) {
  return g.integer(staticInteger(g, *args["x"], g.fn().decl->name), r);
}

/// `_given(x)`: whether a parameter whose default is a string has something else.
RValue givenBuiltin(IRGen &g, Bound &args, SourceRange r) { return g.boolean(!valueArgument(g, args, "x").isStr(), r); }

/// `_need(x, holds, what)`: an error about the parameter x unless a condition holds, which its type decides where it
/// can. `_need_size` asks for what other sizes would have, so that `try` catches its error.
RValue needBuiltin(IRGen &g, Bound &args, SourceRange r) {
  std::string name = g.sourceText(args.rangeOf("x")), what = staticString(g, *args["what"], args.row->name);
  Value holds = genCondition(g, *args["holds"]);
  std::string function = calledFunction(g, args.row->name), message = function + ": `" + name + "` must be " + what;
  auto known = constantOf(holds);
  if (!known)
    needValue(g, holds, g.string(message, r), r);
  if (known != 0)
    return {};
  RValue x = valueArgument(g, args, "x");
  if (args.row->op[0] && x.isTensor())
    failLater(g, x.value, {DiagId::ValueNotTaken, {message}, r});
  g.fail(DiagId::ArgumentKind, r, {function, "`" + name + "`", what, x.str()});
}

/// `_ordered(x)`: x, which has to be real.
RValue orderedBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  if (x.tensor().isComplex())
    g.fail(DiagId::ComplexNotOrdered, r, {args.row->name, x.type().str()}, "`abs(…)` or `real(…)` is ordered");
  return x;
}

RValue meshgridBuiltin(IRGen &g, Bound &args, SourceRange r) {
  std::string indexing = args.has("indexing") ? staticString(g, *args["indexing"], "meshgrid") : "xy";
  if (indexing != "xy" && indexing != "ij")
    g.fail(DiagId::ArgumentKind, args.rangeOf("indexing"),
           {"meshgrid", "`indexing`", "\"xy\" or \"ij\"", "\"" + indexing + "\""});
  std::vector<RValue> vectors;
  for (const ast::Expr *e : args.rest) {
    RValue v = needTensor(g, genExpr(g, *e), "meshgrid", e->range);
    if (v.rank() > 1)
      g.fail(DiagId::NeedsShape, e->range, {"meshgrid", "vectors", v.type().str()});
    vectors.push_back(flattened(g, v, e->range));
  }
  SmallVector<int64_t> place(vectors.size());
  std::iota(place.begin(), place.end(), 0);
  if (indexing == "xy" && vectors.size() > 1)
    std::swap(place[0], place[1]);
  SmallVector<Value> sizes(vectors.size());
  for (auto [v, axis] : llvm::zip_equal(vectors, place))
    sizes[axis] = sizeOf(g, v.value, 0, r);
  std::vector<RValue> out;
  for (auto [v, axis] : llvm::zip_equal(vectors, place)) {
    SmallVector<Value> own(vectors.size(), g.integer(1, r));
    own[axis] = sizes[axis];
    out.push_back(broadcastTo(g, reshape(g, v.value, own, r), sizes, r));
  }
  return RValue::tuple(std::move(out));
}

static SmallVector<int64_t> normalized(IRGen &g, ArrayRef<int64_t> axes, const RValue &x, SourceRange range) {
  return llvm::map_to_vector(axes, [&](int64_t axis) { return normalizeAxis(g, axis, x.value.getType(), range); });
}

/// The axes of `tensordot`: a number of them, the last of a and the first of b, or those of each.
static std::pair<SmallVector<int64_t>, SmallVector<int64_t>> contractedAxes(IRGen &g, Bound &args, const RValue &a,
                                                                            const RValue &b) {
  SmallVector<int64_t> left, right;
  SourceRange range = args.rangeOf("axes");
  auto *pair = args.has("axes") ? ast::dynCast<ast::Tuple>(args["axes"]) : nullptr;
  if (pair && pair->elements.size() == 2) {
    // What is written out may be brackets of integers.
    left = staticList(g, *pair->elements[0], "tensordot");
    right = staticList(g, *pair->elements[1], "tensordot");
    if (left.size() != right.size())
      g.fail(DiagId::ArgumentKind, range,
             {"tensordot", "`axes`", "as many axes on both sides",
              std::to_string(left.size()) + " and " + std::to_string(right.size())});
    return {normalized(g, left, a, range), normalized(g, right, b, range)};
  }
  RValue given = args.has("axes") ? genExpr(g, *args["axes"]) : RValue(g.integer(2, args.call->range));
  if (given.kind == RValue::Tuple && given.elements.size() == 2) {
    left = staticList(g, given.elements[0], range, "tensordot");
    right = staticList(g, given.elements[1], range, "tensordot");
  } else if (given.isTensor() && given.rank() == 0) {
    int64_t n = staticInteger(g, *args["axes"], "tensordot");
    if (n < 0)
      g.fail(DiagId::ArgumentKind, range, {"tensordot", "`axes`", "0 or more axes", std::to_string(n)});
    for (int64_t i = 0; i < n; ++i) {
      left.push_back(i - n);
      right.push_back(i);
    }
  }
  if (left.size() != right.size() || (given.kind != RValue::Tuple && (!given.isTensor() || given.rank() != 0)))
    g.fail(DiagId::ArgumentKind, range, {"tensordot", "`axes`", "a number, or a pair of axes", given.str()});
  return {normalized(g, left, a, range), normalized(g, right, b, range)};
}

/// A matrix product after permutations.
RValue tensordotBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue a = tensorArgument(g, args, "a"), b = tensorArgument(g, args, "b");
  auto [left, right] = args.has("axes")
                           ? contractedAxes(g, args, a, b)
                           : std::pair{SmallVector<int64_t>{a.rank() - 2, a.rank() - 1}, SmallVector<int64_t>{0, 1}};
  int64_t n = left.size();
  if (a.rank() < n || b.rank() < n)
    g.fail(DiagId::AxisOutOfRange, r, {std::to_string(n - 1), (a.rank() < n ? a : b).type().str()});
  SmallVector<int64_t> last(n), first(n);
  std::iota(last.begin(), last.end(), a.rank() - n);
  std::iota(first.begin(), first.end(), 0);
  Value x = permute(g, a.value, moved(a.rank(), left, last), r),
        y = permute(g, b.value, moved(b.rank(), right, first), r);
  SmallVector<Value> sizes = sizesOf(g, x, r);
  sizes.truncate(a.rank() - n);
  llvm::append_range(sizes, ArrayRef<Value>(sizesOf(g, y, r)).drop_front(n));
  RValue rows = merged(g, merged(g, x, a.rank() - n, n, r), 0, a.rank() - n, r),
         columns = merged(g, merged(g, y, 0, n, r), 1, b.rank() - n, r);
  SourceRange leftRange = args.rangeOf("a"), rightRange = args.rangeOf("b");
  return reshape(g, matmul(g, rows, columns, r, leftRange, rightRange).value, sizes, r);
}

/// `_axes_but_last(x)`: a tuple of them.
RValue axesButLastBuiltin(IRGen &g, Bound &args, SourceRange r) {
  SmallVector<Value> axes;
  for (int64_t axis = 0; axis + 1 < tensorArgument(g, args, "x").rank(); ++axis)
    axes.push_back(g.integer(axis, r));
  return RValue::tuple(axes);
}

RValue indicesBuiltin(IRGen &g, Bound &args, SourceRange r) {
  SmallVector<Value> sizes = checkedSizes(g, sizeArguments(g, args), r), parts;
  if (sizes.empty())
    g.fail(DiagId::NothingToConcat, r, {"indices"});
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    SmallVector<Value> own(sizes.size() + 1, g.integer(1, r)), all = {g.integer(1, r)};
    own[axis + 1] = size;
    llvm::append_range(all, sizes);
    parts.push_back(broadcastTo(g, reshape(g, g.create<IotaOp>(r, {size}), own, r), all, r));
  }
  return g.create<ConcatOp>(r, parts, {g.integerAttr("axis", 0)});
}

/// Blocks are stored into zeros.
RValue blockDiagBuiltin(IRGen &g, Bound &args, SourceRange r) {
  std::vector<RValue> blocks = tensorList(g, args, false);
  Value row = g.integer(0, r), column = row, one = g.integer(1, r);
  SmallVector<std::pair<Value, Value>> places;
  for (RValue &block : blocks) {
    if (block.rank() > 2)
      g.fail(DiagId::NeedsShape, r, {"block_diag", "matrices", block.type().str()});
    SmallVector<Value> sizes = sizesOf(g, block.value, r);
    sizes.insert(sizes.begin(), 2 - sizes.size(), one);
    block = reshape(g, block.value, sizes, r);
    places.emplace_back(row, column);
    row = arith<AddOp>(g, row, sizes[0], r);
    column = arith<AddOp>(g, column, sizes[1], r);
  }
  Value out = g.create<FullOp>(r, {castTo(g, g.integer(0, r), blocks[0].tensor().getDtype(), r), row, column});
  for (auto [block, place] : llvm::zip_equal(blocks, places)) {
    SmallVector<Value> sizes = sizesOf(g, block.value, r);
    out = g.create<SliceStoreOp>(r, {out, block.value, place.first, place.second, sizes[0], sizes[1]},
                                 {g.integersAttr("steps", {1, 1})}, {r, r});
  }
  return out;
}

/// Each axis of a is followed by that of b, all products are formed, and each pair of axes becomes one.
RValue kronBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue a = tensorArgument(g, args, "a"), b = tensorArgument(g, args, "b");
  size_t rank = std::max(a.rank(), b.rank());
  auto padded = [&](const RValue &x) {
    SmallVector<Value> sizes = sizesOf(g, x.value, r);
    sizes.insert(sizes.begin(), rank - sizes.size(), g.integer(1, r));
    return sizes;
  };
  SmallVector<Value> outer = padded(a), inner = padded(b), left, right, sizes;
  for (auto [m, n] : llvm::zip_equal(outer, inner)) {
    left.append({m, g.integer(1, r)});
    right.append({g.integer(1, r), n});
    sizes.push_back(arith<MulOp>(g, m, n, r));
  }
  if (rank > 0) {
    a.value = reshape(g, a.value, left, r);
    b.value = reshape(g, b.value, right, r);
  }
  RValue products = binaryOperation(g, ast::BinaryOp::Mul, a, b, r, r, args.rangeOf("a"), args.rangeOf("b"));
  return rank > 0 ? RValue(reshape(g, products.value, sizes, r)) : products;
}

} // namespace toy
