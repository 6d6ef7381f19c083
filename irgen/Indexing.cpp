// SPDX-License-Identifier: Apache-2.0
/// \file
/// Subscripts: integers, slices, `...`, `newaxis`, masks and integer tensors, read and stored.
#include "irgen/Indexing.h"

#include "irgen/Decisions.h"
#include "irgen/Expressions.h"
#include "irgen/Lists.h"
#include "irgen/Operations.h"

using namespace mlir;

namespace toy {

/// What is known about the sign of a value that stands for a size.
static Truth isAtLeastZero(IRGen &g, Value value) {
  auto size = sizeBehind(value);
  if (!size)
    return Truth::Unknown;
  SizeFact fact = SizeFact::atLeast(*size, g.number(0));
  return isFree(g, *size) ? g.fn().sizes->facts.decide(fact) : g.fn().facts.decide(fact);
}

/// Python's clamping: a missing bound is an end, negative ones count from the end, and nothing is out of range. The
/// sign of a step that only the run knows chooses between the two sets of ends.
void sliceBounds(IRGen &g, const ast::Subscript &s, Value size, Value &start, Value &count, Value &step) {
  SourceRange r = s.range;
  step = s.step ? indexValue(g, *s.step, "slice step") : g.integer(1, r);
  std::optional<int64_t> known = constantOf(step);
  if (known == 0)
    g.fail(DiagId::ZeroStep, s.step->range);
  Value positive;
  if (!known) {
    Value zero = g.integer(0, r);
    needValue(g, g.create<NeOp>(r, {step, zero}), g.string("slice step is 0", r), r);
    positive = g.create<GtOp>(r, {step, zero});
  }
  auto number = [&](int64_t n) { return SizeTerm{g.number(n), {}}; };
  auto apply = [&](StringRef op, const SizeTerm &a, const SizeTerm &b) { return combine(g, op, a, b, r); };
  auto bySign = [&](const SizeTerm &up, const SizeTerm &down) {
    return known ? (*known > 0 ? up : down)
                 : sizeTerm(g, g.create<WhereOp>(r, {positive, valueOf(g, up, r), valueOf(g, down, r)}), r);
  };
  SizeTerm whole = sizeTerm(g, size, r), low = bySign(number(0), number(-1)),
           high = bySign(whole, apply("sub", whole, number(1)));
  auto bound = [&](const ast::ExprPtr &e, const SizeTerm &fallback) {
    if (!e)
      return fallback;
    Value v = indexValue(g, *e, "slice");
    SizeTerm term = sizeTerm(g, v, r);
    SizeRange range = term.expression.range();
    Truth isCounted = range.lo >= 0 ? Truth::Yes : range.hi < 0 ? Truth::No : isAtLeastZero(g, v);
    if (isCounted == Truth::No)
      term = apply("add", term, whole);
    else if (isCounted == Truth::Unknown) { // a sum that leaves no 64 bits, whatever the number
      Value zero = g.integer(0, r);
      term = apply("add", term,
                   sizeTerm(g, g.create<WhereOp>(r, {g.create<LtOp>(r, {v, zero}), valueOf(g, whole, r), zero}), r));
    }
    return apply("minimum", apply("maximum", term, low), high);
  };
  SizeTerm first = bound(s.start, bySign(number(0), high)), last = bound(s.stop, bySign(whole, low)), elements;
  start = valueOf(g, first, r);
  if (!known) { // the first element, and one for each whole step after it: no sum leaves 64 bits
    Value unit = g.create<WhereOp>(r, {positive, g.integer(1, r), g.integer(-1, r)});
    SizeTerm rest = apply("sub", apply("sub", last, first), sizeTerm(g, unit, r));
    count = valueOf(
        g, apply("maximum", apply("add", apply("floordiv", rest, sizeTerm(g, step, r)), number(1)), number(0)), r);
    return;
  }
  elements = *known > 0 ? apply("sub", last, first) : apply("sub", first, last);
  if (*known > largestSize || *known < -largestSize) { // one element at most
    elements = apply("minimum", elements, number(1));
    step = g.integer(*known > 0 ? 1 : -1, r);
  } else if (int64_t width = std::abs(*known); width != 1)
    elements = apply("floordiv", apply("add", elements, number(width - 1)), number(width));
  count = valueOf(g, s.start || s.stop ? apply("maximum", elements, number(0)) : elements, r);
}

namespace {

/// Reads the subscripts of one tensor.
class IndexPlanner {
public:
  IndexPlanner(IRGen &g, const RValue &base, ArrayRef<ast::Subscript> subscripts, SourceRange range)
      : g(g), base(base.value), type(base.tensor()), subscripts(subscripts), range(range) {}

  IndexPlan run() {
    readValues();
    // Beside index tensors integers count as such; what they give comes first when something stands between two.
    bool before = false, gap = false;
    for (const ast::Subscript &s : subscripts) {
      bool value = s.form == ast::Subscript::Value;
      plan.front |= tensors && value && gap;
      gap = before && !value;
      before |= value;
    }
    for (auto [s, v] : llvm::zip_equal(subscripts, values))
      if (s.form == ast::Subscript::NewAxis)
        plan.kept.push_back(-1);
      else if (s.form == ast::Subscript::Ellipsis)
        takeWhole(type.getRank() - used);
      else if (s.form == ast::Subscript::Slice)
        takeSlice(s);
      else if (v.tensor().getDtype() == DType::Bool)
        takeMask(v, s.range);
      else if (v.rank() == 0)
        takePosition(v, s.range);
      else
        takeAt(v.value);
    takeWhole(type.getRank() - axis);
    return std::move(plan);
  }

private:
  /// Values come first: masks take several axes.
  void readValues() {
    bool ellipsis = false;
    values.resize(subscripts.size());
    for (auto [s, v] : llvm::zip_equal(subscripts, values)) {
      if (s.form == ast::Subscript::Value) {
        v = needTensor(g, genPositions(g, *s.value), "index", s.range);
        int64_t rank = v.rank();
        if (kindOf(v.tensor().getDtype()) > DKind::Int)
          g.fail(DiagId::IndexDType, s.range, {v.type().str()}, v.tensor().isComplex() ? "" : "convert it: `i64(…)`");
        tensors += rank > 0;
        used += v.tensor().getDtype() == DType::Bool ? std::max<int64_t>(rank, 1) : 1;
      } else if (s.form == ast::Subscript::Slice)
        ++used;
      else if (s.form == ast::Subscript::Ellipsis && std::exchange(ellipsis, true))
        g.fail(DiagId::TooManyIndices, s.range, {"two `...` among the", type.str()});
    }
    if (used > type.getRank())
      g.fail(DiagId::TooManyIndices, range, {std::to_string(used), type.str()});
  }

  void add(Value start, Value count, int64_t step, bool isKept = true) {
    plan.starts.push_back(start);
    plan.counts.push_back(count);
    plan.steps.push_back(step);
    if (isKept)
      plan.kept.push_back(axis);
    ++axis;
  }

  void takeWhole(int64_t axes) {
    for (; axes > 0; --axes) {
      Value start = g.integer(0, range);
      add(start, sizeOf(g, base, axis, range), 1);
    }
  }

  void takeSlice(const ast::Subscript &s) {
    Value start, count, step, size = sizeOf(g, base, axis, s.range);
    sliceBounds(g, s, size, start, count, step);
    if (auto known = constantOf(step)) {
      plan.slices |= !(constantOf(start) == 0 && *known == 1 &&
                       (count == size || (constantOf(count) && constantOf(count) == constantOf(size))));
      return add(start, count, *known);
    }
    Value offsets = arith<MulOp>(g, g.create<IotaOp>(s.range, {count}), step, s.range);
    plan.gathers.emplace_back(axis, arith<AddOp>(g, start, offsets, s.range));
    add(g.integer(0, s.range), count, 1);
  }

  void takeAt(Value index) {
    plan.takes.push_back(index);
    plan.takeAxes.push_back(plan.kept.size());
    takeWhole(1);
  }

  void takeMask(const RValue &v, SourceRange place) {
    int64_t rank = v.rank();
    if (rank == 0)
      g.fail(DiagId::IndexDType, place, {"bool"});
    if (tensors == 1 && plan.kept.empty()) { // alone and first
      plan.mask = v.value;
      return takeWhole(rank);
    }
    Value positions = g.createOp<NonZeroOp>(place, {v.value})->getResult(0);
    for (int64_t n = 0; n < rank; ++n) {
      Dim have = v.tensor().getDim(n), want = type.getDim(axis);
      if ((have - want).isNumber() && have != want)
        g.fail(DiagId::MaskShape, place, {v.type().str(), type.str()});
      if (have != want)
        g.create<CheckEqualOp>(place, {sizeOf(g, v.value, n, place), sizeOf(g, base, axis, place)},
                               {g.stringAttr("what", "sizes of a mask and what it selects from")});
      takeAt(selectIndex(g, positions, 1, g.integer(n, place), place));
    }
  }

  void takePosition(const RValue &v, SourceRange place) {
    Value size = sizeOf(g, base, axis, place);
    Value index =
        g.create<CheckIndexOp>(place, {castTo(g, v.value, DType::I64, place), size}, {g.integerAttr("axis", axis)});
    add(index, g.integer(1, place), 1, false);
    plan.slices = true;
  }

  IRGen &g;
  Value base;
  TensorType type;
  ArrayRef<ast::Subscript> subscripts;
  SourceRange range;
  std::vector<RValue> values;
  int64_t used = 0, tensors = 0, axis = 0;
  IndexPlan plan;
};

} // namespace

IndexPlan planIndex(IRGen &g, const RValue &base, ArrayRef<ast::Subscript> subscripts, SourceRange range) {
  return IndexPlanner(g, base, subscripts, range).run();
}

static Value takeElements(IRGen &g, Value x, ArrayRef<Value> indices, int64_t axis, SourceRange range) {
  return g.create<TakeOp>(range, join(x, indices),
                          {g.integersAttr("axes", llvm::to_vector(llvm::seq<int64_t>(axis, axis + indices.size())))});
}

static Value storeElements(IRGen &g, Value x, ArrayRef<Value> indices, int64_t axis, Value value, SourceRange range,
                           SourceRange valueRange) {
  SmallVector<Value> operands = {x, value};
  llvm::append_range(operands, indices);
  return g.create<TakeStoreOp>(
      range, operands, {g.integersAttr("axes", llvm::to_vector(llvm::seq<int64_t>(axis, axis + indices.size())))},
      {range, valueRange});
}

/// The axes that index tensors act on, moved to where they act; `undo` takes them back.
static Value gatherAxes(IRGen &g, Value x, const IndexPlan &plan, int64_t &first, SmallVectorImpl<int64_t> &undo,
                        SourceRange range) {
  first = plan.takeAxes[0];
  if (!plan.front)
    return x;
  SmallVector<int64_t> order(plan.takeAxes);
  for (int64_t axis = 0; axis < tensorTypeOf(x).getRank(); ++axis)
    if (!llvm::is_contained(plan.takeAxes, axis))
      order.push_back(axis);
  first = 0;
  undo.resize(order.size());
  for (auto [to, from] : llvm::enumerate(order))
    undo[from] = to;
  return permute(g, x, order, range);
}

RValue applyPlan(IRGen &g, Value x, const IndexPlan &plan, SourceRange range) {
  for (auto &[axis, positions] : plan.gathers)
    x = takeElements(g, x, positions, axis, range);
  SmallVector<Value> operands = {x};
  if (plan.slices) {
    llvm::append_range(operands, plan.starts);
    llvm::append_range(operands, plan.counts);
    x = g.create<SliceOp>(range, operands, {g.integersAttr("steps", plan.steps)});
  }
  if (static_cast<int64_t>(plan.kept.size()) != tensorTypeOf(x).getRank() || llvm::is_contained(plan.kept, -1)) {
    SmallVector<Value> sizes;
    for (int64_t axis : plan.kept)
      sizes.push_back(axis < 0 ? g.integer(1, range) : sizeOf(g, x, axis, range));
    x = reshape(g, x, sizes, range);
  }
  if (plan.mask)
    x = g.createOp<MaskSelectOp>(range, {x, plan.mask})->getResult(0);
  if (!plan.takes.empty()) {
    int64_t first;
    SmallVector<int64_t> undo;
    x = gatherAxes(g, x, plan, first, undo, range);
    x = takeElements(g, x, plan.takes, first, range);
  }
  return x;
}

Value storeIndexed(IRGen &g, Value x, const IndexPlan &plan, const RValue &value, SourceRange range,
                   SourceRange valueRange) {
  DType target = tensorTypeOf(x).getDtype(), from = value.tensor().getDtype();
  if (kindOf(from) > kindOf(target) && !(value.weak && kindOf(from) <= kindOf(target)))
    g.fail(DiagId::ComplexStore, valueRange, {value.type().str(), tensorTypeOf(x).str()});
  Value v = castVal(g, value, target, valueRange);
  if (!plan.gathers.empty()) { // the positions' elements, updated, go back to their places
    auto [axis, positions] = plan.gathers.back();
    IndexPlan rest = plan;
    rest.gathers.pop_back();
    Value part = takeElements(g, x, positions, axis, range);
    if (rest.gathers.empty() && !rest.slices && !rest.mask && rest.takes.empty() &&
        rest.kept.size() == rest.starts.size() && !llvm::is_contained(rest.kept, -1))
      part = broadcastTo(g, v, sizesOf(g, part, range), range);
    else
      part = storeIndexed(g, part, rest, RValue(v), range, valueRange);
    return storeElements(g, x, positions, axis, part, range, valueRange);
  }
  SmallVector<Value> bounds(plan.starts);
  llvm::append_range(bounds, plan.counts);
  auto sliceStore = [&](Value into, Value what) {
    SmallVector<Value> operands = {into,
                                   stretchable(g, what, plan.counts, range)}; // also where nobody reads the result
    llvm::append_range(operands, bounds);
    return g.create<SliceStoreOp>(range, operands, {g.integersAttr("steps", plan.steps)}, {range, valueRange});
  };
  if (!plan.mask && plan.takes.empty()) {
    // Bring the value to the slice's own axes: dropped ones have size 1, new ones go away.
    SmallVector<Value> sizes = sizesOf(g, v, range);
    SmallVector<bool> keptAxis(tensorTypeOf(x).getRank(), false);
    for (int64_t axis : plan.kept)
      if (axis >= 0)
        keptAxis[axis] = true;
    bool plainAxes = !llvm::is_contained(plan.kept, -1) && plan.kept.size() == keptAxis.size();
    if (!plainAxes && tensorTypeOf(v).getRank() > 0) {
      SmallVector<Value> full;
      int64_t at = tensorTypeOf(v).getRank(), keptLeft = plan.kept.size();
      SmallVector<Value> reversed;
      int64_t k = keptLeft - 1;
      for (int64_t axis = tensorTypeOf(x).getRank() - 1; axis >= 0; --axis) {
        while (k >= 0 && plan.kept[k] < 0) { // a new axis of the target: the value's axis must be 1
          --k;
          --at;
        }
        if (keptAxis[axis]) {
          --k;
          --at;
          reversed.push_back(at >= 0 ? sizes[at] : g.integer(1, range));
        } else
          reversed.push_back(g.integer(1, range));
      }
      at -= k + 1; // new axes in front
      if (at > 0)
        g.fail(DiagId::CannotStore, valueRange, {value.type().str(), applyPlan(g, x, plan, range).type().str()});
      full.assign(reversed.rbegin(), reversed.rend());
      v = reshape(g, v, full, range);
    }
    return sliceStore(x, v);
  }
  // Masks and index tensors act on the selected part, which is stored back.
  Value part = x;
  bool partial = plan.slices || static_cast<int64_t>(plan.kept.size()) != tensorTypeOf(x).getRank();
  IndexPlan slice = plan;
  slice.mask = {};
  slice.takes.clear();
  if (partial)
    part = applyPlan(g, x, slice, range).value;
  if (plan.mask)
    part = g.create<MaskStoreOp>(range, {part, plan.mask, v}, {}, {range, range, valueRange});
  else {
    int64_t first;
    SmallVector<int64_t> undo;
    part = storeElements(g, gatherAxes(g, part, plan, first, undo, range), plan.takes, first, v, range, valueRange);
    if (!undo.empty())
      part = permute(g, part, undo, range);
  }
  if (!partial)
    return part;
  return storeIndexed(g, x, slice, RValue(part), range, valueRange);
}

static RValue indexTuple(IRGen &g, const RValue &base, ArrayRef<ast::Subscript> subscripts, SourceRange range) {
  if (subscripts.size() != 1 || subscripts[0].form != ast::Subscript::Value)
    g.fail(DiagId::TooManyIndices, range, {std::to_string(subscripts.size()), "a tuple"});
  int64_t i = staticInteger(g, *subscripts[0].value, "index of a tuple"), n = base.elements.size();
  if (i < -n || i >= n)
    g.fail(DiagId::IndexOutOfRange, subscripts[0].range, {std::to_string(i), "0", std::to_string(n)});
  return base.elements[i < 0 ? i + n : i];
}

static RValue indexStr(IRGen &g, const RValue &base, ArrayRef<ast::Subscript> subscripts, SourceRange range) {
  if (subscripts.size() != 1 || subscripts[0].form > ast::Subscript::Slice)
    g.fail(DiagId::TooManyIndices, range, {std::to_string(subscripts.size()), "a string"});
  Value size = g.create<StrLenOp>(range, {base.value}), start, count = g.integer(1, range), step = count;
  if (subscripts[0].form == ast::Subscript::Slice)
    sliceBounds(g, subscripts[0], size, start, count, step);
  else
    start =
        g.create<CheckIndexOp>(range, {indexValue(g, *subscripts[0].value, "index"), size}, {g.integerAttr("axis", 0)});
  if (constantOf(step) != 1)
    g.fail(DiagId::NotSupported, range, {"a string slice with a step"});
  return g.create<StrSliceOp>(range, {base.value, start, count});
}

RValue genIndex(IRGen &g, const ast::Index &e) {
  if (auto *name = ast::dynCast<ast::Name>(e.base.get());
      name && name->name == "args" && !lookup(g, "args") && !g.host.global("args")) {
    if (e.subscripts.size() != 1 || e.subscripts[0].form != ast::Subscript::Value)
      g.fail(DiagId::TooManyIndices, e.range, {std::to_string(e.subscripts.size()), "args"});
    Value i = g.create<CheckIndexOp>(
        e.range, {indexValue(g, *e.subscripts[0].value, "index"), g.create<ArgCountOp>(e.range, {})},
        {g.integerAttr("axis", 0)});
    return g.create<ArgOp>(e.range, {i});
  }
  RValue base = genExpr(g, *e.base);
  if (base.kind == RValue::Tuple)
    return indexTuple(g, base, e.subscripts, e.range);
  if (base.isStr())
    return indexStr(g, base, e.subscripts, e.range);
  if (base.isList())
    return indexedList(g, base, e.subscripts, e.range);
  if (base.kind == RValue::Struct && !base.names.empty())
    g.fail(DiagId::NotANumber, e.base->range, {"index", base.str()},
           "a member stands behind a dot: `" + g.sourceText(e.base->range) + "." + base.names[0] + "`");
  needTensor(g, base, "index", e.base->range);
  return applyPlan(g, base.value, planIndex(g, base, e.subscripts, e.range), e.range);
}

} // namespace toy
