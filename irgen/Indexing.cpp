// SPDX-License-Identifier: Apache-2.0
/// \file
/// Subscripts: integers, slices, `...`, `newaxis`, masks and integer tensors, read and stored.
#include "irgen/IRGenImpl.h"

using namespace mlir;

namespace toy {

Value IRGen::reshape(Value x, ValueRange sizes, SourceRange range) {
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
  Dim before = Dim::number(context, 1), after = before;
  bool anonymous = false;
  for (Dim d : type.getDims())
    before = before * d;
  for (Value size : sizes)
    if (auto d = sizeBehind(size))
      after = after * *d;
    else
      anonymous = true;
  if (anonymous || before.isUnknown() || after.isUnknown() || (before != after && !(before - after).isNumber())) {
    Value have = integer(1, range), want = have;
    for (Value size : sizesOf(x, range))
      have = arith<MulOp>(have, size, range);
    for (Value size : sizes)
      want = arith<MulOp>(want, size, range);
    create<CheckEqualOp>(range, {have, want}, {stringAttr("what", "element counts of a reshape")});
  }
  return create<ReshapeOp>(range, operands);
}

/// `x` as it may be repeated to sizes. Which axes of a form's free sizes stretch is decided; what is not known is
/// tested at run time, and the axis stretches there.
Value IRGen::stretchable(Value x, ValueRange sizes, SourceRange range) {
  int64_t offset = static_cast<int64_t>(sizes.size()) - tensorTypeOf(x).getRank();
  for (int64_t axis = 0; offset >= 0 && axis < tensorTypeOf(x).getRank(); ++axis) {
    Dim have = tensorTypeOf(x).getDim(axis), one = Dim::number(context, 1);
    auto want = sizeBehind(sizes[axis + offset]);
    if (have.is(1) || (want && (have == *want || (have - *want).isNumber()))) // the rule refuses sizes that differ
      continue;
    bool isDecided = fn().sizes && want && (isFree(have) || have.isNumber()) && (isFree(*want) || want->isNumber());
    auto holds = [&](Dim a, Dim b) {
      SizeFact fact = SizeFact::equal(a, b);
      return isDecided ? fact.holds(fn().sizes->hints) && decideSize(fact, range)
                       : fn().facts.decide(fact) == Truth::Yes;
    };
    if (want && holds(have, *want))
      x = withSize(x, axis, *want, range);
    else if (!have.isNumber() && holds(have, one))
      x = withSize(x, axis, one, range);
    else {
      if (isDecided)
        fail(DiagId::NotProvable, range, {"that the sizes " + have.str() + " and " + want->str() + " are equal"});
      Value size = sizeOf(x, axis, range), isOne = create<EqOp>(range, {size, integer(1, range)});
      create<CheckEqualOp>(range, {create<WhereOp>(range, {isOne, sizes[axis + offset], size}), sizes[axis + offset]},
                           {stringAttr("what", "sizes of a broadcast")});
    }
  }
  return x;
}

Value IRGen::broadcastTo(Value x, ValueRange sizes, SourceRange range) {
  SmallVector<Value> operands = {stretchable(x, sizes, range)};
  llvm::append_range(operands, sizes);
  return create<BroadcastOp>(range, operands);
}

Value IRGen::permute(Value x, ArrayRef<int64_t> permutation, SourceRange range) {
  return create<PermuteOp>(range, {x}, {integersAttr("permutation", permutation)});
}

Value IRGen::sliceAxis(Value x, int64_t axis, Value start, Value count, int64_t step, SourceRange range) {
  SmallVector<Value> operands = {x}, counts;
  SmallVector<int64_t> steps;
  for (int64_t i = 0; i < tensorTypeOf(x).getRank(); ++i) {
    operands.push_back(i == axis ? start : integer(0, range));
    counts.push_back(i == axis ? count : sizeOf(x, i, range));
    steps.push_back(i == axis ? step : 1);
  }
  llvm::append_range(operands, counts);
  return create<SliceOp>(range, operands, {integersAttr("steps", steps)});
}

/// One element of an axis; the axis is dropped. The index is in range.
Value IRGen::select(Value x, int64_t axis, Value index, SourceRange range) {
  Value slice = sliceAxis(x, axis, index, integer(1, range), 1, range);
  SmallVector<Value> sizes = sizesOf(slice, range);
  sizes.erase(sizes.begin() + axis);
  return reshape(slice, sizes, range);
}

/// What is known about the sign of a value that stands for a size.
Truth IRGen::isAtLeastZero(Value value) {
  auto size = sizeBehind(value);
  if (!size)
    return Truth::Unknown;
  SizeFact fact = SizeFact::atLeast(*size, Dim::number(context, 0));
  return isFree(*size) ? fn().sizes->facts.decide(fact) : fn().facts.decide(fact);
}

/// Python's clamping: a missing bound is an end, negative ones count from the end, and nothing is out of range. The
/// sign of a step that only the run knows chooses between the two sets of ends.
void IRGen::sliceBounds(const ast::Subscript &s, Value size, Value &start, Value &count, Value &step) {
  SourceRange r = s.range;
  step = s.step ? indexValue(*s.step, "slice step") : integer(1, r);
  std::optional<int64_t> known = constantOf(step);
  if (known == 0)
    fail(DiagId::ZeroStep, s.step->range);
  Value positive;
  if (!known) {
    Value zero = integer(0, r);
    create<AssertOp>(r, {create<NeOp>(r, {step, zero}), string("slice step is 0", r)});
    positive = create<GtOp>(r, {step, zero});
  }
  auto number = [&](int64_t n) { return SizeTerm{Dim::number(context, n), {}}; };
  auto apply = [&](StringRef op, const SizeTerm &a, const SizeTerm &b) { return combine(op, a, b, r); };
  auto bySign = [&](const SizeTerm &up, const SizeTerm &down) {
    return known ? (*known > 0 ? up : down)
                 : sizeTerm(create<WhereOp>(r, {positive, valueOf(up, r), valueOf(down, r)}), r);
  };
  SizeTerm whole = sizeTerm(size, r), low = bySign(number(0), number(-1)),
           high = bySign(whole, apply("sub", whole, number(1)));
  auto bound = [&](const ast::ExprPtr &e, const SizeTerm &fallback) {
    if (!e)
      return fallback;
    Value v = indexValue(*e, "slice");
    SizeTerm term = sizeTerm(v, r);
    SizeRange range = term.expression.range();
    Truth isCounted = range.lo >= 0 ? Truth::Yes : range.hi < 0 ? Truth::No : isAtLeastZero(v);
    if (isCounted == Truth::No)
      term = apply("add", term, whole);
    else if (isCounted == Truth::Unknown) { // a sum that leaves no 64 bits, whatever the number
      Value zero = integer(0, r);
      term = apply("add", term, sizeTerm(create<WhereOp>(r, {create<LtOp>(r, {v, zero}), valueOf(whole, r), zero}), r));
    }
    return apply("minimum", apply("maximum", term, low), high);
  };
  SizeTerm first = bound(s.start, bySign(number(0), high)), last = bound(s.stop, bySign(whole, low)), elements;
  start = valueOf(first, r);
  if (!known) { // the first element, and one for each whole step after it: no sum leaves 64 bits
    Value unit = create<WhereOp>(r, {positive, integer(1, r), integer(-1, r)});
    SizeTerm rest = apply("sub", apply("sub", last, first), sizeTerm(unit, r));
    count =
        valueOf(apply("maximum", apply("add", apply("floordiv", rest, sizeTerm(step, r)), number(1)), number(0)), r);
    return;
  }
  elements = *known > 0 ? apply("sub", last, first) : apply("sub", first, last);
  if (*known > largestSize || *known < -largestSize) { // one element at most
    elements = apply("minimum", elements, number(1));
    step = integer(*known > 0 ? 1 : -1, r);
  } else if (int64_t width = std::abs(*known); width != 1)
    elements = apply("floordiv", apply("add", elements, number(width - 1)), number(width));
  count = valueOf(s.start || s.stop ? apply("maximum", elements, number(0)) : elements, r);
}

IRGen::Plan IRGen::planIndex(const Val &base, ArrayRef<ast::Subscript> subscripts, SourceRange range) {
  TensorType type = base.tensor();
  Plan plan;
  // Evaluate the values first: masks take several axes.
  std::vector<Val> values(subscripts.size());
  int64_t used = 0, tensors = 0;
  bool ellipsis = false;
  for (auto [i, s] : llvm::enumerate(subscripts)) {
    if (s.form == ast::Subscript::Value) {
      auto *list = ast::dynCast<ast::Bracket>(s.value.get());
      bool integers = list && list->compact && list->allIntegers && !list->re.empty();
      values[i] = needTensor(integers ? bracket(*list, DType::I64) : expr(*s.value), "index", s.range);
      if (kindOf(values[i].tensor().getDtype()) > DKind::Int)
        fail(DiagId::IndexDType, s.range, {values[i].type().str()},
             values[i].tensor().getRank() == 0 ? "convert it: `i64(…)`" : "");
      tensors += values[i].tensor().getRank() > 0;
      used += values[i].tensor().getDtype() == DType::Bool ? std::max<int64_t>(values[i].tensor().getRank(), 1) : 1;
    } else if (s.form == ast::Subscript::Slice)
      ++used;
    else if (s.form == ast::Subscript::Ellipsis) {
      if (std::exchange(ellipsis, true))
        fail(DiagId::TooManyIndices, s.range, {"two `...` among the", type.str()});
    }
  }
  if (used > type.getRank())
    fail(DiagId::TooManyIndices, range, {std::to_string(used), type.str()});
  int64_t axis = 0;
  auto whole = [&] {
    plan.starts.push_back(integer(0, range));
    plan.counts.push_back(sizeOf(base.value, axis, range));
    plan.steps.push_back(1);
    plan.kept.push_back(axis++);
  };
  // Beside index tensors integers count as such; what they give comes first when something stands between two of them.
  bool before = false, gap = false;
  for (const ast::Subscript &s : subscripts) {
    bool value = s.form == ast::Subscript::Value;
    plan.front |= tensors && value && gap;
    gap = before && !value;
    before |= value;
  }
  auto takeAt = [&](Value index) {
    plan.takes.push_back(index);
    plan.takeAxes.push_back(plan.kept.size());
    whole();
  };
  for (auto [i, s] : llvm::enumerate(subscripts)) {
    if (s.form == ast::Subscript::NewAxis) {
      plan.kept.push_back(-1);
      continue;
    }
    if (s.form == ast::Subscript::Ellipsis) {
      for (int64_t n = type.getRank() - used; n > 0; --n)
        whole();
      continue;
    }
    if (s.form == ast::Subscript::Slice) {
      Value start, count, step;
      Value size = sizeOf(base.value, axis, s.range);
      sliceBounds(s, size, start, count, step);
      if (!constantOf(step)) {
        Value positions = arith<AddOp>(start, arith<MulOp>(create<IotaOp>(s.range, {count}), step, s.range), s.range);
        plan.gathers.emplace_back(axis, positions);
        plan.starts.push_back(integer(0, s.range));
        plan.counts.push_back(count);
        plan.steps.push_back(1);
        plan.kept.push_back(axis++);
        continue;
      }
      plan.slices |= !(constantOf(start) == 0 && constantOf(step) == 1 &&
                       (count == size || (constantOf(count) && constantOf(count) == constantOf(size))));
      plan.starts.push_back(start);
      plan.counts.push_back(count);
      plan.steps.push_back(*constantOf(step));
      plan.kept.push_back(axis++);
      continue;
    }
    const Val &v = values[i];
    if (v.tensor().getDtype() == DType::Bool) {
      if (v.tensor().getRank() == 0)
        fail(DiagId::IndexDType, s.range, {"bool"});
      if (tensors == 1 && plan.kept.empty()) { // alone and first
        plan.mask = v.value;
        for (int64_t n = v.tensor().getRank(); n > 0; --n)
          whole();
        continue;
      }
      Value positions = createOp<NonZeroOp>(s.range, {v.value})->getResult(0);
      for (int64_t n = 0; n < v.tensor().getRank(); ++n) {
        Dim have = v.tensor().getDim(n), want = type.getDim(axis);
        if ((have - want).isNumber() && have != want)
          fail(DiagId::MaskShape, s.range, {v.type().str(), type.str()});
        if (have != want)
          create<CheckEqualOp>(s.range, {sizeOf(v.value, n, s.range), sizeOf(base.value, axis, s.range)},
                               {stringAttr("what", "sizes of a mask and what it selects from")});
        takeAt(select(positions, 1, integer(n, s.range), s.range));
      }
    } else if (v.tensor().getRank() == 0) {
      Value size = sizeOf(base.value, axis, s.range);
      Value index =
          create<CheckIndexOp>(s.range, {cast(v.value, DType::I64, s.range), size}, {integerAttr("axis", axis)});
      plan.starts.push_back(index);
      plan.counts.push_back(integer(1, s.range));
      plan.steps.push_back(1);
      plan.slices = true;
      ++axis;
    } else {
      takeAt(v.value);
    }
  }
  while (axis < type.getRank())
    whole();
  return plan;
}

Value IRGen::take(Value x, ArrayRef<Value> indices, int64_t axis, SourceRange range) {
  SmallVector<Value> operands = {x};
  llvm::append_range(operands, indices);
  return create<TakeOp>(range, operands,
                        {integersAttr("axes", llvm::to_vector(llvm::seq<int64_t>(axis, axis + indices.size())))});
}

Value IRGen::takeStore(Value x, ArrayRef<Value> indices, int64_t axis, Value value, SourceRange range,
                       SourceRange valueRange) {
  SmallVector<Value> operands = {x, value};
  llvm::append_range(operands, indices);
  return create<TakeStoreOp>(range, operands,
                             {integersAttr("axes", llvm::to_vector(llvm::seq<int64_t>(axis, axis + indices.size())))},
                             {range, valueRange});
}

Value IRGen::gatherAxes(Value x, const Plan &plan, int64_t &first, SmallVectorImpl<int64_t> &undo, SourceRange range) {
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
  return permute(x, order, range);
}

Val IRGen::applyPlan(Value x, const Plan &plan, SourceRange range) {
  for (auto &[axis, positions] : plan.gathers)
    x = take(x, positions, axis, range);
  SmallVector<Value> operands = {x};
  if (plan.slices) {
    llvm::append_range(operands, plan.starts);
    llvm::append_range(operands, plan.counts);
    x = create<SliceOp>(range, operands, {integersAttr("steps", plan.steps)});
  }
  if (static_cast<int64_t>(plan.kept.size()) != tensorTypeOf(x).getRank() || llvm::is_contained(plan.kept, -1)) {
    SmallVector<Value> sizes;
    for (int64_t axis : plan.kept)
      sizes.push_back(axis < 0 ? integer(1, range) : sizeOf(x, axis, range));
    x = reshape(x, sizes, range);
  }
  if (plan.mask)
    x = createOp<MaskSelectOp>(range, {x, plan.mask})->getResult(0);
  if (!plan.takes.empty()) {
    int64_t first;
    SmallVector<int64_t> undo;
    x = gatherAxes(x, plan, first, undo, range);
    x = take(x, plan.takes, first, range);
  }
  return Val::leaf(x);
}

/// `x` with the selected elements replaced.
Value IRGen::storePlan(Value x, const Plan &plan, const Val &value, SourceRange range, SourceRange valueRange) {
  DType target = tensorTypeOf(x).getDtype(), from = value.tensor().getDtype();
  if (kindOf(from) > kindOf(target) && !(value.weak && kindOf(from) <= kindOf(target)))
    fail(DiagId::ComplexStore, valueRange, {value.type().str(), tensorTypeOf(x).str()});
  Value v = castVal(value, target, valueRange);
  if (!plan.gathers.empty()) { // the positions' elements, updated, go back to their places
    auto [axis, positions] = plan.gathers.back();
    Plan rest = plan;
    rest.gathers.pop_back();
    Value part = take(x, positions, axis, range);
    if (rest.gathers.empty() && !rest.slices && !rest.mask && rest.takes.empty() &&
        rest.kept.size() == rest.starts.size() && !llvm::is_contained(rest.kept, -1))
      part = broadcastTo(v, sizesOf(part, range), range);
    else
      part = storePlan(part, rest, Val::leaf(v), range, valueRange);
    return takeStore(x, positions, axis, part, range, valueRange);
  }
  SmallVector<Value> bounds(plan.starts);
  llvm::append_range(bounds, plan.counts);
  auto sliceStore = [&](Value into, Value what) {
    SmallVector<Value> operands = {into, stretchable(what, plan.counts, range)}; // also where nobody reads the result
    llvm::append_range(operands, bounds);
    return create<SliceStoreOp>(range, operands, {integersAttr("steps", plan.steps)}, {range, valueRange});
  };
  if (!plan.mask && plan.takes.empty()) {
    // Bring the value to the slice's own axes: dropped ones have size 1, new ones go away.
    SmallVector<Value> sizes = sizesOf(v, range);
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
          reversed.push_back(at >= 0 ? sizes[at] : integer(1, range));
        } else
          reversed.push_back(integer(1, range));
      }
      at -= k + 1; // new axes in front
      if (at > 0)
        fail(DiagId::CannotStore, valueRange, {value.type().str(), applyPlan(x, plan, range).type().str()});
      full.assign(reversed.rbegin(), reversed.rend());
      v = reshape(v, full, range);
    }
    return sliceStore(x, v);
  }
  // Masks and index tensors act on the selected part, which is stored back.
  Value part = x;
  bool partial = plan.slices || static_cast<int64_t>(plan.kept.size()) != tensorTypeOf(x).getRank();
  Plan slice = plan;
  slice.mask = {};
  slice.takes.clear();
  if (partial)
    part = applyPlan(x, slice, range).value;
  if (plan.mask)
    part = create<MaskStoreOp>(range, {part, plan.mask, v}, {}, {range, range, valueRange});
  else {
    int64_t first;
    SmallVector<int64_t> undo;
    part = takeStore(gatherAxes(part, plan, first, undo, range), plan.takes, first, v, range, valueRange);
    if (!undo.empty())
      part = permute(part, undo, range);
  }
  if (!partial)
    return part;
  return storePlan(x, slice, Val::leaf(part), range, valueRange);
}

Val IRGen::indexTuple(const Val &base, ArrayRef<ast::Subscript> subscripts, SourceRange range) {
  if (subscripts.size() != 1 || subscripts[0].form != ast::Subscript::Value)
    fail(DiagId::TooManyIndices, range, {std::to_string(subscripts.size()), "a tuple"});
  int64_t i = staticInteger(*subscripts[0].value, "index of a tuple"), n = base.elements.size();
  if (i < -n || i >= n)
    fail(DiagId::IndexOutOfRange, subscripts[0].range, {std::to_string(i), "0", std::to_string(n)});
  return base.elements[i < 0 ? i + n : i];
}

Val IRGen::indexStr(const Val &base, ArrayRef<ast::Subscript> subscripts, SourceRange range) {
  if (subscripts.size() != 1 || subscripts[0].form > ast::Subscript::Slice)
    fail(DiagId::TooManyIndices, range, {std::to_string(subscripts.size()), "a string"});
  Value size = create<StrLenOp>(range, {base.value}), start, count = integer(1, range), step = count;
  if (subscripts[0].form == ast::Subscript::Slice)
    sliceBounds(subscripts[0], size, start, count, step);
  else
    start = create<CheckIndexOp>(range, {indexValue(*subscripts[0].value, "index"), size}, {integerAttr("axis", 0)});
  if (constantOf(step) != 1)
    fail(DiagId::NotSupported, range, {"a string slice with a step"});
  return Val::leaf(create<StrSliceOp>(range, {base.value, start, count}));
}

Val IRGen::index(const ast::Index &e) {
  if (auto *name = ast::dynCast<ast::Name>(e.base.get());
      name && name->name == "args" && !lookup("args") && !host.global("args")) {
    if (e.subscripts.size() != 1 || e.subscripts[0].form != ast::Subscript::Value)
      fail(DiagId::TooManyIndices, e.range, {std::to_string(e.subscripts.size()), "args"});
    Value i =
        create<CheckIndexOp>(e.range, {indexValue(*e.subscripts[0].value, "index"), create<ArgCountOp>(e.range, {})},
                             {integerAttr("axis", 0)});
    return Val::leaf(create<ArgOp>(e.range, {i}));
  }
  Val base = expr(*e.base);
  if (base.kind == Val::Tuple)
    return indexTuple(base, e.subscripts, e.range);
  if (base.isStr())
    return indexStr(base, e.subscripts, e.range);
  needTensor(base, "index", e.base->range);
  return applyPlan(base.value, planIndex(base, e.subscripts, e.range), e.range);
}

} // namespace toy
