// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built-ins of programs that run as several processes. All of them work without a launcher, too: then there is one
/// rank.
#include "irgen/Builtins.h"

using namespace mlir;

namespace toy {

RValue rankBuiltin(IRGen &g, Bound &args, SourceRange r) {
  if (!args.has("x"))
    return g.create<RankOp>(r, {});
  return g.integer(tensorArgument(g, args, "x").rank(), r);
}

RValue ranksBuiltin(IRGen &g, Bound &, SourceRange r) { return g.create<RankCountOp>(r, {}); }

RValue barrierBuiltin(IRGen &g, Bound &, SourceRange r) {
  g.createOp<BarrierOp>(r, {});
  return {};
}

/// What `op=` names, `sum` where nothing does.
static std::string reductionOf(IRGen &g, Bound &args) {
  if (!args.has("op"))
    return "sum";
  std::string name = staticString(g, *args["op"], args.row->name);
  if (!llvm::is_contained({"sum", "prod", "min", "max", "mean", "any", "all"}, name))
    g.fail(DiagId::ArgumentKind, args.rangeOf("op"),
           {args.row->name, "`op`", "\"sum\", \"prod\", \"min\", \"max\", \"mean\", \"any\" or \"all\"",
            "\"" + name + "\""});
  return name;
}

/// The operand of a reduction, in a dtype that it has a meaning for.
static RValue reducedArgument(IRGen &g, Bound &args, StringRef reduction) {
  SourceRange range = args.rangeOf("x");
  RValue x = tensorArgument(g, args, "x");
  DType dtype = x.tensor().getDtype();
  if (reduction == "any" || reduction == "all")
    return convertFor(g, 'b', x, range);
  bool orders = reduction == "min" || reduction == "max";
  if (orders && isComplex(dtype))
    g.fail(DiagId::ComplexNotOrdered, range, {args.row->name, x.type().str()});
  if (dtype == DType::Bool)
    g.fail(DiagId::NeedsNumber, range, {args.row->name, x.type().str()},
           "`i64(x)` counts, `op = \"any\"` and `\"all\"` take bool");
  return reduction == "mean" && kindOf(dtype) <= DKind::Int ? RValue(castTo(g, x.value, DType::F64, range)) : x;
}

/// A scalar has no axis that parts could lie along: it is a vector of one element.
static RValue atLeastVector(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  return x.rank() == 0 ? RValue(reshape(g, x.value, {g.integer(1, r)}, r)) : x;
}

RValue allReduceBuiltin(IRGen &g, Bound &args, SourceRange r) {
  std::string reduction = reductionOf(g, args);
  return g.create<AllReduceOp>(r, {reducedArgument(g, args, reduction).value}, {g.stringAttr("reduction", reduction)});
}

/// On the number of elements of a shard: the size of the axis that they are part of.
constexpr StringLiteral wholeAttribute = "toy.whole";

/// The size of the axis that parts with this size were cut from by `shard`, in this function; none where that is not
/// known.
static Dim wholeOf(IRGen &g, Dim part) {
  for (auto [value, name] : g.fn().sizeNames)
    if (Operation *count = value.getDefiningOp(); name == part && count)
      if (Attribute whole = count->getAttr(wholeAttribute))
        return Dim(whole);
  return {};
}

/// The value of a name in a size; null where none is at hand.
static Value valueOfName(IRGen &g, StringRef name) {
  if (auto declared = g.fn().sizeValues.find(name.str()); declared != g.fn().sizeValues.end())
    return declared->second;
  for (auto [value, size] : g.fn().sizeNames)
    if (size.symbolName() == name)
      return value;
  return {};
}

/// Parts of an axis together have its size. Ranks whose axes differ find that when it runs.
RValue allGatherBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = atLeastVector(g, args, r);
  int64_t axis = axisArgument(g, args, x.rank(), 0);
  Value all = g.create<AllGatherOp>(r, {x.value}, {g.integerAttr("axis", axis)});
  Dim whole = wholeOf(g, x.tensor().getDim(axis));
  bool isKnown = static_cast<bool>(whole);
  if (whole)
    whole.collectSymbols([&](StringRef name) { isKnown &= static_cast<bool>(valueOfName(g, name)); });
  if (!isKnown)
    return all;
  Value size = sizeExpression(g, whole, r, [&](StringRef name) { return valueOfName(g, name); });
  g.create<CheckEqualOp>(r, {sizeOf(g, all, axis, r), size},
                         {g.stringAttr("what", "sizes of the parts of all ranks, and of the whole,")});
  return withSize(g, all, axis, whole, r);
}

RValue reduceScatterBuiltin(IRGen &g, Bound &args, SourceRange r) {
  std::string reduction = reductionOf(g, args);
  RValue x = reducedArgument(g, args, reduction);
  int64_t axis = axisArgument(g, args, x.rank(), 0);
  return g.create<ReduceScatterOp>(r, {x.value}, {g.integerAttr("axis", axis), g.stringAttr("reduction", reduction)});
}

RValue allToAllBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  return g.create<AllToAllOp>(r, {x.value}, {g.integerAttr("axis", axisArgument(g, args, x.rank(), 0))});
}

static Value rankArgument(IRGen &g, Bound &args, StringRef name, SourceRange r) {
  return args.has(name) ? indexValue(g, *args[name], args.row->name) : g.integer(0, r);
}

RValue broadcastBuiltin(IRGen &g, Bound &args, SourceRange r) {
  Value x = tensorArgument(g, args, "x").value;
  return g.create<BroadcastRanksOp>(r, {x, rankArgument(g, args, "from", r)});
}

RValue sendBuiltin(IRGen &g, Bound &args, SourceRange r) {
  Value x = tensorArgument(g, args, "x").value, to = rankArgument(g, args, "to", r);
  g.createOp<SendOp>(r, {x, to, rankArgument(g, args, "tag", r)});
  return {};
}

RValue recvBuiltin(IRGen &g, Bound &args, SourceRange r) {
  Value like = tensorArgument(g, args, "like").value, from = rankArgument(g, args, "from", r);
  return g.create<RecvOp>(r, {like, from, rankArgument(g, args, "tag", r)});
}

RValue shiftRanksBuiltin(IRGen &g, Bound &args, SourceRange r) {
  Value x = tensorArgument(g, args, "x").value;
  return g.create<ShiftOp>(r, {x, rankArgument(g, args, "by", r)});
}

/// Of n elements on p ranks the first n % p ranks have one more.
RValue shardBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  int64_t axis = axisArgument(g, args, x.rank(), 0);
  Value n = sizeOf(g, x.value, axis, r), p = g.create<RankCountOp>(r, {}), rank = g.create<RankOp>(r, {});
  Value base = arith<FloorDivOp>(g, n, p, r), rest = arith<ModOp>(g, n, p, r);
  Value start = arith<AddOp>(g, arith<MulOp>(g, rank, base, r), g.create<MinimumOp>(r, {rank, rest}), r);
  Value more = castTo(g, g.create<LtOp>(r, {rank, rest}), DType::I64, r);
  Value count = arith<AddOp>(g, base, more, r);
  if (Dim whole = x.tensor().getDim(axis); !whole.isUnknown() && count.getDefiningOp())
    count.getDefiningOp()->setAttr(wholeAttribute, whole.getAttr());
  return sliceAxis(g, x.value, axis, start, count, 1, r);
}

} // namespace toy
