// SPDX-License-Identifier: Apache-2.0
/// \file
/// What `for` goes over, which `progress` may show: numbers, rows of tensors, elements of tuples and lists, and several
/// of them side by side.
#include "irgen/Expressions.h"
#include "irgen/Functions.h"
#include "irgen/Lists.h"
#include "irgen/Operations.h"
#include "irgen/Statements.h"

using namespace mlir;

namespace toy {

/// The variables of a loop, in the innermost scope.
static void bindElement(IRGen &g, const ast::For &s, RValue element) {
  if (s.isTuple)
    element = takenApart(g, element, s.names.size(), s.iterable->range, s.nameRanges[0].to(s.nameRanges.back()));
  for (auto [i, name] : llvm::enumerate(s.names))
    g.fn().scopes.back()[name].value = s.isTuple ? element.elements[i] : element;
}

/// What `progress` shows of a loop; without a label nothing.
static void showProgress(IRGen &g, Value label, Value done, Value total, SourceRange range) {
  if (label)
    g.create<ProgressOp>(range, {done, total, label});
}

/// From 0 up to an end, or from a value on in steps of 1 or -1.
static void countTo(IRGen &g, const ast::For &s, Value label, Value end, llvm::function_ref<RValue(Value)> element,
                    Value from = {}, int64_t step = 1) {
  SourceRange r = s.iterable->range;
  auto turns = [&](Value to) {
    return from ? g.create<SubOp>(r, step > 0 ? ValueRange{to, from} : ValueRange{from, to}) : to;
  };
  auto body = [&](Value i) {
    if (label)
      showProgress(g, label, turns(i), turns(end), r);
    bindElement(g, s, element(i));
    genBlock(g, *s.body);
  };
  auto test = [&](Value i) { return step > 0 ? g.create<LtOp>(r, {i, end}) : g.create<GtOp>(r, {i, end}); };
  genLoop(g, {s.body.get(), s.range, assignedIn(g, *s.body), true, test, body, from, step});
  if (reachable(g))
    showProgress(g, label, g.integer(-1, r), end, r);
}

/// ceil((stop - start) / step) of a known step that is not 1 or -1, from quotients, whose difference does not wrap, and
/// remainders.
static Value stepsBetween(IRGen &g, Value start, Value stop, int64_t step, SourceRange r) {
  Value by = g.integer(step, r);
  auto quotient = [&](Value v) { return g.create<FloorDivOp>(r, {v, by}); };
  auto rest = [&](Value v) { return g.create<ModOp>(r, {v, by}); };
  Value isPart = step > 0 ? g.create<LtOp>(r, {rest(start), rest(stop)}) : g.create<GtOp>(r, {rest(start), rest(stop)});
  Value more = g.create<WhereOp>(r, {isPart, g.integer(1, r), g.integer(0, r)});
  return g.create<AddOp>(r, {g.create<SubOp>(r, {quotient(stop), quotient(start)}), more});
}

/// The same as -((start - stop) // step) of a step that the data give; a step of 0 is a division by zero. Where the
/// stop lies behind the start there are none, however far.
static Value stepsBetween(IRGen &g, Value start, Value stop, Value step, SourceRange r) {
  Value zero = g.integer(0, r), quotient = g.create<FloorDivOp>(r, {g.create<SubOp>(r, {start, stop}), step});
  auto isLess = [&](Value a, Value b) { return g.create<LtOp>(r, {a, b}); };
  Value isAhead = g.create<WhereOp>(r, {isLess(zero, step), isLess(start, stop), isLess(stop, start)});
  return g.create<WhereOp>(r, {isAhead, g.create<SubOp>(r, {zero, quotient}), zero});
}

/// `range(stop)`, `range(start, stop)`, `range(start, stop, step)`
static void countRange(IRGen &g, const ast::For &s, Value label, const ast::Call &call) {
  SourceRange r = call.range;
  size_t n = call.arguments.size();
  if (n < 1 || n > 3)
    g.fail(DiagId::TooManyArguments, r, {"range", "1 to 3", std::to_string(n)});
  auto argument = [&](size_t i) { return indexValue(g, *call.arguments[i].value, "range"); };
  Value start = n > 1 ? argument(0) : g.integer(0, r), stop = argument(n > 1 ? 1 : 0),
        step = n > 2 ? argument(2) : g.integer(1, r);
  auto known = constantOf(step);
  if (known == 0)
    g.fail(DiagId::ZeroStep, call.arguments[2].value->range);
  if (known == 1 || known == -1) { // no sum wraps: the next number is at most the end
    auto first = constantOf(start), last = constantOf(stop);
    if (first && last && (*known > 0 ? *first >= *last : *first <= *last)) // no iteration: the body means nothing
      return;
    return countTo(g, s, label, stop, [](Value i) { return RValue(i); }, start, *known);
  }
  Value count = known ? stepsBetween(g, start, stop, *known, r) : stepsBetween(g, start, stop, step, r);
  if (auto n = constantOf(count); n && *n <= 0) // no iteration: the body means nothing
    return;
  countTo(g, s, label, count,
          [&](Value i) -> RValue { return g.create<AddOp>(r, {g.create<MulOp>(r, {i, step}), start}); });
}

/// The body for one element after the other, whose types may differ.
static void unroll(IRGen &g, const ast::For &s, Value label, ArrayRef<RValue> elements) {
  std::vector<std::string> names = assignedIn(g, *s.body);
  std::vector<Edge> breaks;
  unsigned conditions = g.fn().conditions;
  SourceRange r = s.iterable->range;
  Value total = g.integer(static_cast<int64_t>(elements.size()), r);
  for (auto [i, element] : llvm::enumerate(elements)) {
    if (!reachable(g))
      break;
    showProgress(g, label, g.integer(static_cast<int64_t>(i), r), total, r);
    g.fn().conditions = conditions + !breaks.empty();
    g.fn().loops.push_back({names, std::move(breaks), {}});
    g.fn().scopes.emplace_back();
    bindElement(g, s, element);
    genBlock(g, *s.body);
    g.fn().scopes.pop_back();
    LoopState state = std::move(g.fn().loops.back());
    g.fn().loops.pop_back();
    breaks = std::move(state.breaks);
    if (state.continues.empty())
      continue;
    if (reachable(g))
      state.continues.push_back({g.current, snapshot(g, names)});
    restore(g, names, mergeEdges(g, state.continues, names, s.range));
  }
  g.fn().conditions = conditions;
  if (!breaks.empty()) {
    if (reachable(g))
      breaks.push_back({g.current, snapshot(g, names)});
    restore(g, names, mergeEdges(g, breaks, names, s.range));
  }
  if (reachable(g) && !elements.empty())
    showProgress(g, label, g.integer(-1, r), total, r);
}

/// What a loop goes over side by side: `zip(x, y)`, `enumerate(x)`, or one thing alone.
static void iterate(IRGen &g, const ast::For &s, Value label, SourceRange r, ArrayRef<RValue> all, bool isNumbered,
                    bool isAlone) {
  auto together = [&](Value i, llvm::function_ref<RValue(const RValue &)> element) {
    if (isAlone)
      return element(all[0]);
    std::vector<RValue> parts;
    if (isNumbered)
      parts.push_back(i);
    for (const RValue &x : all)
      parts.push_back(element(x));
    return RValue::tuple(std::move(parts));
  };
  if (llvm::all_of(all, [](const RValue &x) { return x.kind == RValue::Tuple; })) {
    size_t count = llvm::min_element(all, [](const RValue &x, const RValue &y) {
                     return x.elements.size() < y.elements.size();
                   })->elements.size();
    std::vector<RValue> elements;
    for (size_t i = 0; i < count; ++i)
      elements.push_back(together(g.integer(i, r), [&](const RValue &x) { return x.elements[i]; }));
    return unroll(g, s, label, elements);
  }
  Value size;
  for (const RValue &x : all) {
    if (x.isList() && x.elements.empty()) // no iteration
      return;
    if (!x.isList() && !x.isStr() && (!x.isTensor() || x.rank() == 0))
      g.fail(DiagId::NotIterable, r, {x.str()},
             isAlone && x.isTensor() && isInteger(x.tensor().getDtype()) ? "`range(" + g.sourceText(r) + ")` counts"
                                                                         : "");
    Value rows = x.isList()  ? listLength(g, x, r)
                 : x.isStr() ? g.create<StrLenOp>(r, {x.value})
                             : sizeOf(g, x.value, 0, r);
    size = size ? arith<MinimumOp>(g, size, rows, r) : rows;
  }
  if (constantOf(size) == 0)
    return;
  countTo(g, s, label, size, [&](Value i) {
    return together(i, [&](const RValue &x) {
      return x.isList()  ? listElement(g, x, i, r)
             : x.isStr() ? RValue(g.create<StrSliceOp>(r, {x.value, i, g.integer(1, r)}))
                         : RValue(selectIndex(g, x.value, 0, i, r));
    });
  });
}

static void genForOver(IRGen &g, const ast::For &s, const ast::Expr &iterable, Value label) {
  auto *call = ast::dynCast<ast::Call>(&iterable);
  if (isCallOf(g, call, "progress")) {
    BoundArguments bound = bindArguments(g, *call, {"x", "label"}, {false, true}, "progress");
    RValue text = bound[1].second ? genExpr(g, *bound[1].second) : RValue(g.string("", call->range));
    if (!text.isStr())
      g.fail(DiagId::ArgumentKind, bound[1].second->range, {"progress", "the label", "a string", text.str()});
    return genForOver(g, s, *bound[0].second, text.value);
  }
  if (isCallOf(g, call, "range"))
    return countRange(g, s, label, *call);
  bool isZip = isCallOf(g, call, "zip"), isNumbered = isCallOf(g, call, "enumerate");
  if (!isZip && !isNumbered)
    return iterate(g, s, label, iterable.range, {genExpr(g, iterable)}, false, true);
  if (call->arguments.empty() || (isNumbered && call->arguments.size() != 1))
    g.fail(call->arguments.empty() ? DiagId::MissingArgument : DiagId::TooManyArguments, call->range,
           {call->callee, call->arguments.empty() ? "x" : "1", std::to_string(call->arguments.size())});
  std::vector<RValue> all;
  for (const ast::Argument &argument : call->arguments)
    all.push_back(genExpr(g, *argument.value));
  iterate(g, s, label, iterable.range, all, isNumbered, false);
}

void genFor(IRGen &g, const ast::For &s) { genForOver(g, s, *s.iterable, {}); }

} // namespace toy
