// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built-ins that call functions: over rows of a tensor in a loop, over the elements of a tuple one after the other.
#include "irgen/Builtins.h"
#include "irgen/Decisions.h"
#include "irgen/Lists.h"
#include "irgen/Statements.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace toy {

namespace {

/// A function and the rows that it is called with.
struct RowCalls {
  IRGen &g;
  Bound &args;
  SourceRange range;
  RValue function, start, rows;
  Value count; ///< of rows

  RowCalls(IRGen &g, Bound &args, SourceRange range) : g(g), args(args), range(range) {
    function = valueArgument(g, args, "f");
    if (args.has("start"))
      start = valueArgument(g, args, "start");
    rows = valueArgument(g, args, "x");
  }

  bool areElements() const { return rows.kind == RValue::Tuple; }

  void needRows() {
    if (rows.isList()) {
      count = listLength(g, rows, args.rangeOf("x"));
      return;
    }
    if (!rows.isTensor() || rows.rank() == 0) {
      bool isSwapped = !function.isCallable() || start.isList() || (start.isTensor() && start.rank() > 0);
      g.fail(DiagId::NotIterable, args.rangeOf("x"), {rows.str()},
             isSwapped ? "`" + std::string(args.row->name) + "(" + args.row->parameters + ")` is the order" : "");
    }
    count = sizeOf(g, rows.value, 0, args.rangeOf("x"));
  }

  /// `f(row)`, or `f(result, row)`.
  RValue call(ArrayRef<RValue> arguments) {
    SmallVector<SourceRange> sources(arguments.size(), args.rangeOf("start"));
    sources.back() = args.rangeOf("x");
    if (!function.isCallable())
      g.fail(DiagId::ArgumentKind, args.rangeOf("f"), {args.row->name, "`f`", "a function", function.str()});
    RValue result = callWithValues(g, function, arguments, sources, range);
    if (result.kind == RValue::Nothing)
      g.fail(DiagId::NoValue, args.rangeOf("f"), {g.sourceText(args.rangeOf("f"))});
    return result;
  }

  RValue row(Value i) {
    SourceRange place = args.rangeOf("x");
    return rows.isList() ? listElement(g, rows, i, place) : RValue(selectIndex(g, rows.value, 0, i, place));
  }

  /// What a call of some row would give: it is generated where nothing runs, and forgotten.
  ValueType typeOfCall(llvm::function_ref<RValue(RValue row)> generate) {
    FunctionState &state = g.fn();
    Block *before = g.current, *last = &state.op.getBody().back(), *scratch = newBlock(g);
    ShapeFacts facts = state.facts;
    auto sizeNames = state.sizeNames;
    auto readGlobals = state.readGlobals;
    ++state.conditions;
    moveTo(g, scratch);
    Value i = scratch->addArgument(TensorType::scalar(g.context, DType::I64), g.loc(range));
    ValueType type = generate(row(i)).type();
    --state.conditions;
    state.facts = facts;
    state.sizeNames = sizeNames;
    for (Block *block = last->getNextNode(); block; block = block->getNextNode())
      block->dropAllDefinedValueUses(), block->dropAllReferences();
    while (last->getNextNode())
      last->getNextNode()->erase();
    moveTo(g, before);
    return type;
  }

  /// Runs over rows, from one on, with a value that each turn gives anew.
  RValue loop(Value first, RValue start, llvm::function_ref<RValue(RValue before, Value i)> next) {
    const std::string name = "$" + std::string(args.row->name) + std::to_string(g.fn().scopes.size());
    g.fn().scopes.emplace_back();
    g.fn().scopes.back()[name].value = std::move(start);
    auto test = [&](Value i) { return g.create<LtOp>(range, {i, g.create<SubOp>(range, {count, first})}); };
    auto body = [&](Value i) {
      RValue value = next(lookup(g, name)->value, g.create<AddOp>(range, {i, first}));
      value.settle();
      lookup(g, name)->value = value;
    };
    genLoop(g, {args.call, range, {name}, true, test, body});
    RValue result = lookup(g, name)->value;
    g.fn().scopes.pop_back();
    return result;
  }
};

/// The results of a function for all rows: trees of tensors with one more axis in front.
struct RowMap : RowCalls {
  using RowCalls::RowCalls;

  /// The leaves are made of each other by `make`.
  RValue mapLeaves(const RValue &like, llvm::function_ref<RValue(const RValue &leaf, unsigned number)> make) {
    unsigned number = 0;
    auto walk = [&](auto &self, const RValue &v) -> RValue {
      if (v.kind == RValue::Leaf)
        return make(v, number++);
      RValue out = v;
      for (RValue &element : out.elements)
        element = self(self, element);
      return out;
    };
    return walk(walk, like);
  }

  /// Whether results can be stacked: trees of tensors.
  static bool areTensors(const ValueType &type) {
    bool isOther = type.kind == ValueType::Leaf ? !isa<TensorType>(type.leaf)
                                                : type.kind != ValueType::Tuple && type.kind != ValueType::Struct;
    return !isOther && llvm::all_of(type.elements, areTensors);
  }

  /// The sizes of results where they are numbers or follow from the names of sizes of `x`.
  std::optional<SmallVector<Value>> sizesBefore(TensorType type) {
    llvm::StringMap<int64_t> axes;
    for (auto [axis, dim] : llvm::enumerate(rows.tensor().getDims()))
      if (StringRef name = dim.symbolName(); !name.empty())
        axes.try_emplace(name, axis);
    SmallVector<Value> sizes = {count};
    for (Dim dim : type.getDims()) {
      bool isKnown = !dim.isUnknown();
      dim.collectSymbols([&](StringRef name) { isKnown &= axes.count(name) > 0; });
      if (!isKnown)
        return std::nullopt;
      sizes.push_back(sizeExpression(g, dim, range,
                                     [&](StringRef name) { return sizeOf(g, rows.value, axes.lookup(name), range); }));
    }
    return sizes;
  }

  RValue empty(RValue like, ArrayRef<SmallVector<Value>> sizes) {
    return mapLeaves(like, [&](const RValue &leaf, unsigned number) {
      DType dtype = cast<TensorType>(leaf.value.getType()).getDtype();
      return g.create<FullOp>(range, join(castTo(g, g.integer(0, range), dtype, range), sizes[number]));
    });
  }

  /// `all` with row `i` replaced; all rows have the same sizes.
  RValue stored(const RValue &all, Value i, const RValue &row) {
    SmallVector<Value> rows;
    row.flatten(rows);
    return mapLeaves(all, [&](const RValue &leaf, unsigned number) -> RValue {
      Value x = leaf.value, v = rows[number];
      SmallVector<Value> operands = {i}, counts = {g.integer(1, range)};
      for (int64_t axis = 1; axis < leaf.rank(); ++axis) {
        Value have = sizeOf(g, v, axis - 1, range), want = sizeOf(g, x, axis, range);
        if (tensorTypeOf(v).getDim(axis - 1) != leaf.tensor().getDim(axis))
          g.create<CheckEqualOp>(range, {want, have}, {g.stringAttr("what", "sizes of results of `map`")});
        operands.push_back(g.integer(0, range));
        counts.push_back(want);
      }
      SmallVector<Value> sizes(counts);
      v = reshape(g, v, sizes, range);
      SmallVector<int64_t> steps(leaf.rank(), 1);
      llvm::append_range(operands, counts);
      return g.create<SliceStoreOp>(range, join(x, join(v, operands)), {g.integersAttr("steps", steps)},
                                    {range, range});
    });
  }

  /// A list of the results.
  RValue mapList() {
    RValue results = makeList(g, {}, {}, range);
    if (rows.isList() && rows.elements.empty())
      return results;
    auto append = [&](const RValue &before, Value i) {
      return appended(g, before, call({row(i)}), range, args.rangeOf("f"));
    };
    return loop(g.integer(0, range), results, append);
  }

  RValue run() {
    if (areElements()) {
      std::vector<RValue> results;
      for (const RValue &element : rows.elements)
        results.push_back(call({element}));
      return RValue::tuple(std::move(results));
    }
    needRows();
    if (rows.isList())
      return mapList();
    RValue like;
    ValueType type = typeOfCall([&](RValue row) { return call({row}); });
    if (!areTensors(type))
      return mapList();
    SmallVector<Type> leaves;
    type.flatten(leaves);
    SmallVector<SmallVector<Value>> sizes;
    for (Type leaf : leaves)
      if (auto known = sizesBefore(cast<TensorType>(leaf)))
        sizes.push_back(*known);
    auto store = [&](RValue all, Value i) { return stored(all, i, call({row(i)})); };
    if (sizes.size() == leaves.size()) {
      SmallVector<Value> zeros;
      for (Type leaf : leaves)
        zeros.push_back(castTo(g, g.integer(0, range), cast<TensorType>(leaf).getDtype(), range));
      ValueRange rest(zeros);
      return loop(g.integer(0, range), empty(unflatten(type, rest), sizes), store);
    }
    if (constantOf(count) == 0)
      g.fail(DiagId::NoRows, args.rangeOf("x"), {rows.type().str(), type.str()});
    // The first row says what the sizes are.
    RValue first = call({row(g.integer(0, range))});
    sizes.clear();
    SmallVector<Value> values;
    first.flatten(values);
    for (Value v : values)
      sizes.push_back(join(count, sizesOf(g, v, range)));
    return loop(g.integer(1, range), stored(empty(first, sizes), g.integer(0, range), first), store);
  }
};

} // namespace

RValue mapBuiltin(IRGen &g, Bound &args, SourceRange r) { return RowMap(g, args, r).run(); }

/// The start under the dtypes that the function gives: numbers count as literals do.
static RValue widenedStart(IRGen &g, const RValue &start, const ValueType &result, SourceRange range) {
  if (start.kind == RValue::Leaf && result.kind == ValueType::Leaf && start.isTensor() &&
      isa<TensorType>(result.leaf)) {
    DType have = start.tensor().getDtype(), want = cast<TensorType>(result.leaf).getDtype();
    bool widens = promote({have}, {want}) == want && kindOf(have) <= kindOf(want);
    return have != want && widens ? RValue(castVal(g, start, want, range)) : start;
  }
  RValue out = start;
  if (start.elements.size() == result.elements.size())
    for (auto [element, type] : llvm::zip_equal(out.elements, result.elements))
      element = widenedStart(g, element, type, range);
  return out;
}

RValue foldBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RowCalls rows(g, args, r);
  RValue start = rows.start;
  if (rows.areElements()) {
    for (const RValue &element : rows.rows.elements)
      start = rows.call({start, element});
    return start;
  }
  rows.needRows();
  if (rows.rows.isList() && rows.rows.elements.empty())
    return start;
  ValueType type = rows.typeOfCall([&](RValue row) { return rows.call({start, row}); });
  start = widenedStart(g, start, type, args.rangeOf("start"));
  return rows.loop(g.integer(0, r), start, [&](RValue before, Value i) { return rows.call({before, rows.row(i)}); });
}

} // namespace toy
