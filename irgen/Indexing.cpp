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
  if (type.getRank() == static_cast<int64_t>(sizes.size()) && type.hasStaticShape() && llvm::all_of(llvm::enumerate(sizes), [&](auto it) {
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
  if (anonymous || (before != after && !(before - after).isNumber())) {
    Value have = integer(1, range), want = have;
    for (Value size : sizesOf(x, range))
      have = arith("mul", have, size, range);
    for (Value size : sizes)
      want = arith("mul", want, size, range);
    create("check_equal", range, {have, want}, {stringAttr("what", "element counts of a reshape")});
  }
  return create("reshape", range, operands);
}

Value IRGen::broadcastTo(Value x, ValueRange sizes, SourceRange range) {
  SmallVector<Value> operands = {x};
  llvm::append_range(operands, sizes);
  return create("broadcast", range, operands);
}

Value IRGen::permute(Value x, ArrayRef<int64_t> permutation, SourceRange range) {
  return create("permute", range, {x}, {integersAttr("permutation", permutation)});
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
  return create("slice", range, operands, {integersAttr("steps", steps)});
}

/// One element of an axis; the axis is dropped. The index is in range.
Value IRGen::select(Value x, int64_t axis, Value index, SourceRange range) {
  Value slice = sliceAxis(x, axis, index, integer(1, range), 1, range);
  SmallVector<Value> sizes = sizesOf(slice, range);
  sizes.erase(sizes.begin() + axis);
  return reshape(slice, sizes, range);
}

/// Python's clamping: a missing bound is an end, negative ones count from the end, and nothing is out of range.
void IRGen::sliceBounds(const ast::Subscript &s, Value size, Value &start, Value &count, int64_t &step) {
  SourceRange r = s.range;
  step = s.step ? staticInteger(*s.step, "slice step") : 1;
  if (step == 0)
    fail(DiagId::ZeroStep, s.step->range);
  Value zero = integer(0, r), low = step > 0 ? zero : integer(-1, r);
  Value high = step > 0 ? size : arith("sub", size, integer(1, r), r);
  auto bound = [&](const ast::ExprPtr &e, Value fallback) {
    if (!e)
      return fallback;
    Value v = indexValue(*e, "slice");
    if (auto n = constantOf(v)) {
      if (*n < 0)
        v = arith("add", v, size, r);
    } else {
      Value negative = create("lt", r, {v, zero});
      v = create("where", r, {negative, arith("add", v, size, r), v});
    }
    return arith("minimum", arith("maximum", v, low, r), high, r);
  };
  start = bound(s.start, step > 0 ? zero : high);
  Value stop = bound(s.stop, step > 0 ? size : low);
  Value distance = step > 0 ? arith("sub", stop, start, r) : arith("sub", start, stop, r);
  if (step != 1 && step != -1)
    distance = arith("floordiv", arith("add", distance, integer(std::abs(step) - 1, r), r), integer(std::abs(step), r), r);
  count = s.start || s.stop ? arith("maximum", distance, zero, r) : distance;
}

IRGen::Plan IRGen::planIndex(const Val &base, ArrayRef<ast::Subscript> subscripts, SourceRange range) {
  TensorType type = base.tensor();
  Plan plan;
  // Evaluate the values first: masks take several axes.
  std::vector<Val> values(subscripts.size());
  int64_t used = 0;
  bool ellipsis = false;
  for (auto [i, s] : llvm::enumerate(subscripts)) {
    if (s.form == ast::Subscript::Value) {
      auto *list = ast::dynCast<ast::Bracket>(s.value.get());
      bool integers = list && list->compact && list->allIntegers && !list->re.empty();
      values[i] = needTensor(integers ? bracket(*list, DType::I64) : expr(*s.value), "index", s.range);
      if (kindOf(values[i].tensor().getDtype()) > DKind::Int)
        fail(DiagId::IndexDType, s.range, {values[i].type().str()}, values[i].tensor().getRank() == 0 ? "convert it: `i64(…)`" : "");
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
      Value start, count;
      int64_t step;
      Value size = sizeOf(base.value, axis, s.range);
      sliceBounds(s, size, start, count, step);
      plan.slices |= !(constantOf(start) == 0 && step == 1 && (count == size || (constantOf(count) && constantOf(count) == constantOf(size))));
      plan.starts.push_back(start);
      plan.counts.push_back(count);
      plan.steps.push_back(step);
      plan.kept.push_back(axis++);
      continue;
    }
    const Val &v = values[i];
    if (v.tensor().getDtype() == DType::Bool) {
      if (v.tensor().getRank() == 0)
        fail(DiagId::IndexDType, s.range, {"bool"});
      plan.mask = v;
      plan.maskAxis = plan.kept.size();
      for (int64_t n = v.tensor().getRank(); n > 0; --n)
        whole();
    } else if (v.tensor().getRank() == 0) {
      Value size = sizeOf(base.value, axis, s.range);
      Value index = create("check_index", s.range, {cast(v.value, DType::I64, s.range), size}, {integerAttr("axis", axis)});
      plan.starts.push_back(index);
      plan.counts.push_back(integer(1, s.range));
      plan.steps.push_back(1);
      plan.slices = true;
      ++axis;
    } else {
      if (plan.takeAxis >= 0 && plan.takeAxis + static_cast<int64_t>(plan.takes.size()) != static_cast<int64_t>(plan.kept.size()))
        fail(DiagId::NotSupported, s.range, {"index tensors on axes that are not neighbours"});
      if (plan.takeAxis < 0)
        plan.takeAxis = plan.kept.size();
      plan.takes.push_back(v.value);
      whole();
    }
  }
  while (axis < type.getRank())
    whole();
  if (plan.maskAxis >= 0 && !plan.takes.empty())
    fail(DiagId::NotSupported, range, {"a mask together with index tensors"});
  return plan;
}

Val IRGen::applyPlan(Value x, const Plan &plan, SourceRange range) {
  SmallVector<Value> operands = {x};
  if (plan.slices) {
    llvm::append_range(operands, plan.starts);
    llvm::append_range(operands, plan.counts);
    x = create("slice", range, operands, {integersAttr("steps", plan.steps)});
  }
  if (static_cast<int64_t>(plan.kept.size()) != tensorTypeOf(x).getRank() || llvm::is_contained(plan.kept, -1)) {
    SmallVector<Value> sizes;
    for (int64_t axis : plan.kept)
      sizes.push_back(axis < 0 ? integer(1, range) : sizeOf(x, axis, range));
    x = reshape(x, sizes, range);
  }
  if (plan.maskAxis >= 0) {
    if (plan.maskAxis > 0)
      fail(DiagId::NotSupported, range, {"a mask behind other subscripts"});
    x = createOp("mask_select", range, {x, plan.mask.value})->getResult(0);
  }
  if (!plan.takes.empty()) {
    SmallVector<Value> takeOperands = {x};
    llvm::append_range(takeOperands, plan.takes);
    SmallVector<int64_t> axes;
    for (size_t i = 0; i < plan.takes.size(); ++i)
      axes.push_back(plan.takeAxis + i);
    x = create("take", range, takeOperands, {integersAttr("axes", axes)});
  }
  return Val::leaf(x);
}

/// `x` with the selected elements replaced.
Value IRGen::storePlan(Value x, const Plan &plan, const Val &value, SourceRange range, SourceRange valueRange) {
  DType target = tensorTypeOf(x).getDtype(), from = value.tensor().getDtype();
  if (kindOf(from) > kindOf(target) && !(value.weak && kindOf(from) <= kindOf(target)))
    fail(DiagId::ComplexStore, valueRange, {value.type().str(), tensorTypeOf(x).str()});
  Value v = castVal(value, target, valueRange);
  SmallVector<Value> bounds(plan.starts);
  llvm::append_range(bounds, plan.counts);
  auto sliceStore = [&](Value into, Value what) {
    SmallVector<Value> operands = {into, what};
    llvm::append_range(operands, bounds);
    return create("slice_store", range, operands, {integersAttr("steps", plan.steps)}, {range, valueRange});
  };
  if (plan.maskAxis < 0 && plan.takes.empty()) {
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
  slice.maskAxis = -1;
  slice.takes.clear();
  if (partial)
    part = applyPlan(x, slice, range).value;
  if (plan.maskAxis >= 0)
    part = create("mask_store", range, {part, plan.mask.value, v}, {}, {range, plan.mask.value ? range : range, valueRange});
  else {
    SmallVector<Value> operands = {part, v};
    llvm::append_range(operands, plan.takes);
    SmallVector<int64_t> axes;
    for (size_t i = 0; i < plan.takes.size(); ++i)
      axes.push_back(plan.takeAxis + i);
    part = create("take_store", range, operands, {integersAttr("axes", axes)}, {range, valueRange});
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
  Value size = create("str_len", range, {base.value}), start, count = integer(1, range);
  int64_t step = 1;
  if (subscripts[0].form == ast::Subscript::Slice)
    sliceBounds(subscripts[0], size, start, count, step);
  else
    start = create("check_index", range, {indexValue(*subscripts[0].value, "index"), size}, {integerAttr("axis", 0)});
  if (step != 1)
    fail(DiagId::NotSupported, range, {"a string slice with a step"});
  return Val::leaf(create("str_slice", range, {base.value, start, count}));
}

Val IRGen::index(const ast::Index &e) {
  if (auto *name = ast::dynCast<ast::Name>(e.base.get()); name && name->name == "args" && !lookup("args") && !host.global("args")) {
    if (e.subscripts.size() != 1 || e.subscripts[0].form != ast::Subscript::Value)
      fail(DiagId::TooManyIndices, e.range, {std::to_string(e.subscripts.size()), "args"});
    Value i = create("check_index", e.range, {indexValue(*e.subscripts[0].value, "index"), create("arg_count", e.range, {})}, {integerAttr("axis", 0)});
    return Val::leaf(create("arg", e.range, {i}));
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
