// SPDX-License-Identifier: Apache-2.0
/// \file
/// The same elements under other sizes, parts of axes, and axes in another order.
#include "irgen/Operations.h"

#include "irgen/Decisions.h"
#include "irgen/Expressions.h"

using namespace mlir;

namespace toy {

Value relabel(IRGen &g, Value v, Type type, SourceRange range) {
  return v.getType() == type ? v : g.createOp<RelabelOp>(range, {v}, {}, {}, type)->getResult(0);
}

Value withSize(IRGen &g, Value x, int64_t axis, Dim size, SourceRange range) {
  SmallVector<Dim> dims = tensorTypeOf(x).getDims();
  dims[axis] = size;
  return relabel(g, x, tensorTypeOf(x).withDims(dims), range);
}

Value reshape(IRGen &g, Value x, ValueRange sizes, SourceRange range) {
  SmallVector<Value> operands = {x};
  llvm::append_range(operands, sizes);
  TensorType type = tensorTypeOf(x);
  if (type.getRank() == static_cast<int64_t>(sizes.size()) && type.hasStaticShape() &&
      llvm::all_of(llvm::enumerate(sizes), [&](auto it) {
        auto n = constantOf(it.value());
        return n && type.getDim(it.index()).is(*n);
      }))
    return x;
  // Sizes that only the data decides are checked.
  Dim before = g.number(1), after = before;
  bool anonymous = false;
  for (Dim d : type.getDims())
    before = before * d;
  for (Value size : sizes)
    if (auto d = sizeBehind(size))
      after = after * *d;
    else
      anonymous = true;
  if (anonymous || before.isUnknown() || after.isUnknown() || (before != after && !(before - after).isNumber())) {
    Value have = g.integer(1, range), want = have;
    for (Value size : sizesOf(g, x, range))
      have = arith<MulOp>(g, have, size, range);
    for (Value size : sizes)
      want = arith<MulOp>(g, want, size, range);
    g.create<CheckEqualOp>(range, {have, want}, {g.stringAttr("what", "element counts of a reshape")});
  }
  return g.create<ReshapeOp>(range, operands);
}

RValue flattened(IRGen &g, const RValue &x, SourceRange r) {
  if (x.rank() == 1)
    return x;
  Value count = g.integer(1, r);
  for (Value size : sizesOf(g, x.value, r))
    count = arith<MulOp>(g, count, size, r);
  return reshape(g, x.value, count, r);
}

Value stretchable(IRGen &g, Value x, ValueRange sizes, SourceRange range) {
  int64_t offset = static_cast<int64_t>(sizes.size()) - tensorTypeOf(x).getRank();
  for (int64_t axis = 0; offset >= 0 && axis < tensorTypeOf(x).getRank(); ++axis) {
    Dim have = tensorTypeOf(x).getDim(axis), one = g.number(1);
    auto want = sizeBehind(sizes[axis + offset]);
    if (have.is(1) || (want && (have == *want || (have - *want).isNumber()))) // the rule refuses sizes that differ
      continue;
    bool isDecided =
        g.fn().sizes && want && (isFree(g, have) || have.isNumber()) && (isFree(g, *want) || want->isNumber());
    auto holds = [&](Dim a, Dim b) {
      SizeFact fact = SizeFact::equal(a, b);
      return isDecided ? fact.holds(g.fn().sizes->hints) && decideSize(g, fact, range)
                       : g.fn().facts.decide(fact) == Truth::Yes;
    };
    if (want && holds(have, *want))
      x = withSize(g, x, axis, *want, range);
    else if (!have.isNumber() && holds(have, one))
      x = withSize(g, x, axis, one, range);
    else {
      if (isDecided)
        g.fail(DiagId::NotProvable, range, {"that the sizes " + have.str() + " and " + want->str() + " are equal"});
      Value size = sizeOf(g, x, axis, range), isOne = g.create<EqOp>(range, {size, g.integer(1, range)});
      g.create<CheckEqualOp>(range,
                             {g.create<WhereOp>(range, {isOne, sizes[axis + offset], size}), sizes[axis + offset]},
                             {g.stringAttr("what", "sizes of a broadcast")});
    }
  }
  return x;
}

Value broadcastTo(IRGen &g, Value x, ValueRange sizes, SourceRange range) {
  return g.create<BroadcastOp>(range, join(stretchable(g, x, sizes, range), sizes));
}

SmallVector<int64_t> axesToFoldFirst(int64_t rank, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> last;
  for (int64_t axis = rank - 1; llvm::is_contained(axes, axis); --axis)
    last.insert(last.begin(), axis);
  return last.size() < axes.size() ? last : SmallVector<int64_t>();
}

Value permute(IRGen &g, Value x, ArrayRef<int64_t> permutation, SourceRange range) {
  return g.create<PermuteOp>(range, {x}, {g.integersAttr("permutation", permutation)});
}

Value sliceAxis(IRGen &g, Value x, int64_t axis, Value start, Value count, int64_t step, SourceRange range) {
  SmallVector<Value> operands = {x}, counts;
  SmallVector<int64_t> steps;
  for (int64_t i = 0; i < tensorTypeOf(x).getRank(); ++i) {
    operands.push_back(i == axis ? start : g.integer(0, range));
    counts.push_back(i == axis ? count : sizeOf(g, x, i, range));
    steps.push_back(i == axis ? step : 1);
  }
  llvm::append_range(operands, counts);
  return g.create<SliceOp>(range, operands, {g.integersAttr("steps", steps)});
}

static Value rolled(IRGen &g, Value x, const Roll &roll, SourceRange range) {
  Value size = sizeOf(g, x, roll.axis, range);
  if (constantOf(size) == 0)
    return x;
  Value rest = arith<SubOp>(g, size, roll.shift, range);
  Value parts[] = {sliceAxis(g, x, roll.axis, rest, roll.shift, 1, range),
                   sliceAxis(g, x, roll.axis, g.integer(0, range), rest, 1, range)};
  return relabel(g, g.create<ConcatOp>(range, parts, {g.integerAttr("axis", roll.axis)}), x.getType(), range);
}

/// Along the outermost axis and another one at once, for copies of whole pieces; where the cuts are known and rows are
/// longer than a cache line or two.
static bool areOneJoin(Value x, const Roll &first, const Roll &second) {
  constexpr int64_t longRow = 128;
  TensorType type = tensorTypeOf(x);
  if (first.axis != 0 || second.axis == 0 || !type.hasStaticShape() || !constantOf(first.shift) ||
      !constantOf(second.shift))
    return false;
  int64_t bytes = sizeOf(type.getDtype());
  for (int64_t axis = second.axis; axis < type.getRank(); ++axis)
    bytes *= type.getDim(axis).value();
  return bytes >= longRow && *type.getStaticCount() > 0;
}

Value rolled(IRGen &g, Value x, ArrayRef<Roll> rolls, SourceRange range) {
  while (!rolls.empty()) {
    if (rolls.size() == 1 || !areOneJoin(x, rolls[0], rolls[1])) {
      x = rolled(g, x, rolls[0], range);
      rolls = rolls.drop_front();
      continue;
    }
    const Roll &outer = rolls[0], &inner = rolls[1];
    auto restOf = [&](const Roll &roll) { return arith<SubOp>(g, sizeOf(g, x, roll.axis, range), roll.shift, range); };
    // Parts are slices of x itself, along both axes.
    auto part = [&](Value start, Value count) {
      auto slice = [&](Value innerStart, Value innerCount) -> Value {
        SmallVector<Value> operands = {x}, counts = sizesOf(g, x, range);
        operands.append(tensorTypeOf(x).getRank(), g.integer(0, range));
        operands[1] = start;
        operands[1 + inner.axis] = innerStart;
        counts[0] = count;
        counts[inner.axis] = innerCount;
        llvm::append_range(operands, counts);
        const SmallVector<int64_t> steps(tensorTypeOf(x).getRank(), 1);
        return g.create<SliceOp>(range, operands, {g.integersAttr("steps", steps)});
      };
      Value rest = restOf(inner), both[] = {slice(rest, inner.shift), slice(g.integer(0, range), rest)};
      return Value(g.create<ConcatOp>(range, both, {g.integerAttr("axis", inner.axis)}));
    };
    Value rest = restOf(outer), parts[] = {part(rest, outer.shift), part(g.integer(0, range), rest)};
    x = relabel(g, g.create<ConcatOp>(range, parts, {g.integerAttr("axis", 0)}), x.getType(), range);
    rolls = rolls.drop_front(2);
  }
  return x;
}

Value selectIndex(IRGen &g, Value x, int64_t axis, Value index, SourceRange range) {
  Value slice = sliceAxis(g, x, axis, index, g.integer(1, range), 1, range);
  SmallVector<Value> sizes = sizesOf(g, slice, range);
  sizes.erase(sizes.begin() + axis);
  return reshape(g, slice, sizes, range);
}

RValue zerosLike(IRGen &g, const RValue &x, SourceRange r) {
  SmallVector<Value> operands = {castTo(g, g.integer(0, r), x.tensor().getDtype(), r)};
  llvm::append_range(operands, sizesOf(g, x.value, r));
  return operands.size() == 1 ? operands[0] : g.create<FullOp>(r, operands);
}

} // namespace toy
