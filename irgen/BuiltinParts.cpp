// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built-ins that join, divide, move and choose elements.
#include "irgen/Builtins.h"
#include "irgen/Decisions.h"
#include "irgen/Lists.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace toy {

namespace {

/// What `cat` and `stack` join: tensors, or the elements of one value. These are those of a list, or the rows of a
/// bracket of numbers, which is one tensor that was never taken apart: a matrix may have any number of rows.
struct Joined {
  std::vector<RValue> values;
  RValue list, rows;
};

} // namespace

static Joined joinedValues(IRGen &g, Bound &args) {
  if (args.rest.size() != 1)
    return {tensorList(g, args), {}, {}};
  const ast::Expr *only = args.rest[0];
  auto *bracket = ast::dynCast<ast::Bracket>(only);
  if (bracket && !bracket->compact)
    return {tensorList(g, args), {}, {}};
  if (bracket && bracket->shape[0] == 0)
    g.fail(DiagId::NothingToConcat, args.call->range, {args.row->name});
  RValue x = genExpr(g, *only);
  if (bracket)
    return {{}, {}, x};
  if (x.isList())
    return {{}, x, {}};
  bool isNew = g.given.try_emplace(only, x).second; // evaluated once
  llvm::scope_exit forget([&] {
    if (isNew)
      g.given.erase(only);
  });
  return {tensorList(g, args), {}, {}};
}

/// The axis along which tensors of a rank are joined; one behind the last is an axis that only `stack` makes.
static int64_t joinedAxis(IRGen &g, Bound &args, int64_t rank) {
  if (!args.has("axis") || staticInteger(g, *args["axis"], args.row->name) != rank)
    return axisArgument(g, args, rank, 0);
  g.fail(DiagId::AxisOutOfRange, args.rangeOf("axis"),
         {std::to_string(rank), "a tensor with " + std::to_string(rank) + (rank == 1 ? " axis" : " axes")},
         "`stack` joins along a new axis");
}

/// The rows of a tensor: their axis goes where they are joined, and for `cat` becomes one with the axis there.
static Value joinedRows(IRGen &g, Bound &args, const RValue &rows, bool stacks, SourceRange r) {
  int64_t rank = rows.rank();
  int64_t axis = stacks ? axisArgument(g, args, rank, 0) : joinedAxis(g, args, rank - 1);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(1, rank));
  order.insert(order.begin() + axis, 0);
  Value x = axis ? permute(g, rows.value, order, r) : rows.value;
  if (stacks)
    return x;
  SmallVector<Value> sizes = sizesOf(g, x, r);
  sizes[axis] = arith<MulOp>(g, sizes[axis], sizes[axis + 1], r);
  sizes.erase(sizes.begin() + axis + 1);
  return reshape(g, x, sizes, r);
}

/// Scalars have no axis along which `cat` could join them.
static void needAxes(IRGen &g, const RValue &joined, int64_t rank, SourceRange r) {
  if (joined.rank() < rank)
    g.fail(DiagId::AxisOutOfRange, r, {"0", std::string(nameOf(joined.tensor().getDtype()))}, "`stack` joins scalars");
}

RValue catBuiltin(IRGen &g, Bound &args, SourceRange r) {
  auto [values, list, rows] = joinedValues(g, args);
  if (list.isList())
    return joinedList(g, list, args, false, r);
  if (values.empty()) {
    needAxes(g, rows, 2, r);
    return joinedRows(g, args, rows, false, r);
  }
  needAxes(g, values[0], 1, r);
  SmallVector<Value> operands;
  for (const RValue &v : values)
    operands.push_back(v.value);
  return g.create<ConcatOp>(r, operands, {g.integerAttr("axis", joinedAxis(g, args, values[0].rank()))});
}

RValue stackBuiltin(IRGen &g, Bound &args, SourceRange r) {
  auto [values, list, rows] = joinedValues(g, args);
  if (list.isList())
    return joinedList(g, list, args, true, r);
  if (values.empty())
    return joinedRows(g, args, rows, true, r);
  int64_t axis = axisArgument(g, args, values[0].rank() + 1, 0);
  SmallVector<Value> operands;
  for (const RValue &v : values) {
    bool fits = v.rank() == values[0].rank();
    if (fits)
      for (auto [at, size, first] : llvm::enumerate(v.tensor().getDims(), values[0].tensor().getDims()))
        if (size != first && size.isNumber() && first.isNumber()) {
          for (const RValue &one : {values[0], v})
            failLater(g, one.value, {DiagId::SizesDiffer, {whatDiffers(at, at), first.str(), size.str()}, r});
          fits = false;
        }
    if (!fits)
      g.fail(DiagId::ConcatMismatch, r, {values[0].type().str(), v.type().str(), std::to_string(axis)});
    SmallVector<Value> sizes = sizesOf(g, v.value, r);
    sizes.insert(sizes.begin() + axis, g.integer(1, r));
    operands.push_back(reshape(g, v.value, sizes, r));
  }
  return g.create<ConcatOp>(r, operands, {g.integerAttr("axis", axis)});
}

/// Parts of sizes that the run knows. What they have together is checked before anything is read.
static RValue partsOfSizes(IRGen &g, Value x, int64_t axis, SmallVector<Value> given, SourceRange r) {
  SmallVector<Value> sizes = checkedSizes(g, std::move(given), r), ends = {g.integer(0, r)};
  for (Value size : sizes)
    ends.push_back(arith<AddOp>(g, ends.back(), size, r));
  g.create<CheckEqualOp>(r, {sizeOf(g, x, axis, r), ends.back()},
                         {g.stringAttr("what", "the split axis and the sum of its parts")});
  std::vector<RValue> all;
  for (auto [begin, size] : llvm::zip(ends, sizes))
    all.push_back(sliceAxis(g, x, axis, begin, size, 1, r));
  return RValue::tuple(std::move(all));
}

/// Each part is a value of its own, with code of its own.
static void checkPartCount(IRGen &g, Bound &args, StringRef name, int64_t count) {
  constexpr int64_t most = 1 << 16;
  if (count > most)
    g.fail(DiagId::ArgumentKind, args.rangeOf(name),
           {args.row->name, "the number of parts", "at most " + std::to_string(most), std::to_string(count)});
}

RValue splitBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = valueArgument(g, args, "x");
  if (x.isStr()) {
    const char *name = args.has("sections") ? "sections" : "sep";
    RValue by = args.has(name) ? valueArgument(g, args, name) : RValue(g.string(" ", r));
    if (!by.isStr() || args.has("axis"))
      g.fail(DiagId::ArgumentKind, args.rangeOf(by.isStr() ? "axis" : name),
             {"split", "what separates the parts of a string", "a string", by.str()});
    return RValue::list(g.createOp<TextOp>(r, {x.value, by.value}, {g.stringAttr("function", "split")})->getResult(0));
  }
  needTensor(g, x, "split", args.rangeOf("x"));
  if (!args.has("sections"))
    g.fail(DiagId::MissingArgument, r, {"split", "sections"});
  int64_t axis = axisArgument(g, args, x.rank(), 0);
  SmallVector<Value> given = indexList(g, *args["sections"], "split");
  Dim whole = x.tensor().getDim(axis);
  bool list = given.size() != 1 || args["sections"]->kind == ast::NodeKind::Bracket ||
              args["sections"]->kind == ast::NodeKind::Tuple;
  if (list && llvm::any_of(given, [](Value v) { return !constantOf(v); }))
    return partsOfSizes(g, x.value, axis, given, r);
  SmallVector<int64_t> sizes = staticList(g, given, args.rangeOf("sections"), "split");
  if (!list) {
    int64_t part = sizes[0];
    if (part > 0 && isFree(g, whole)) { // how many parts there are is decided, how long the last one is not
      Dim count = (whole + g.number(part - 1)).floorDiv(g.number(part));
      int64_t n = hintOf(g, count);
      checkPartCount(g, args, "sections", n);
      decideSize(g, SizeFact::equal(count, g.number(n)), r);
      std::vector<RValue> parts;
      for (int64_t i = 0; i < n; ++i) {
        Value begin = g.integer(i * part, r),
              size = i + 1 < n ? g.integer(part, r) : arith<SubOp>(g, sizeOf(g, x.value, axis, r), begin, r);
        parts.push_back(sliceAxis(g, x.value, axis, begin, size, 1, r));
      }
      return RValue::tuple(std::move(parts));
    }
    if (!whole.isNumber() || part <= 0)
      g.fail(DiagId::StaticNeeded, r, {"split", "the size of the axis"});
    checkPartCount(g, args, "sections", whole.value() / part);
    sizes.assign(whole.value() / part, part);
    if (whole.value() % part)
      sizes.push_back(whole.value() % part);
  }
  int64_t sum = 0;
  for (int64_t size : sizes) {
    if (size < 0 || size > largestSize || (whole.isNumber() && sum + size > whole.value()))
      g.fail(DiagId::NegativeSize, r, {"of a part beyond the end"});
    sum += size;
  }
  if (!whole.is(sum)) // before anything is read
    g.create<CheckEqualOp>(r, {sizeOf(g, x.value, axis, r), g.integer(sum, r)},
                           {g.stringAttr("what", "the split axis and the sum of its parts")});
  std::vector<RValue> all;
  int64_t at = 0;
  for (int64_t size : sizes) {
    all.push_back(sliceAxis(g, x.value, axis, g.integer(at, r), g.integer(size, r), 1, r));
    at += size;
  }
  return RValue::tuple(std::move(all));
}

/// How many parts of ceil(size / n) elements an axis has, as PyTorch counts them: n of an empty axis, and never more. A
/// specialization decides; where only the run knows, n is checked.
static int64_t chunkCount(IRGen &g, Value x, int64_t axis, int64_t n, SourceRange r) {
  auto countOf = [&](int64_t size) { return size == 0 ? n : (size - 1) / ((size - 1) / n + 1) + 1; };
  Dim size = tensorTypeOf(x).getDim(axis);
  if (size.isNumber())
    return countOf(size.value());
  Dim part = (size + g.number(n - 1)).floorDiv(g.number(n));
  auto reaches = [&](int64_t parts) { return SizeFact::atLeast(size, part * g.number(parts - 1) + g.number(1)); };
  if (isFree(g, size)) {
    int64_t parts = countOf(hintOf(g, size));
    if (decideSize(g, SizeFact::equal(size, g.number(0)), r))
      return parts;
    decideSize(g, reaches(parts), r);
    if (parts < n)
      decideSize(g, SizeFact::atLeast(part * g.number(parts), size), r);
    return parts;
  }
  bool isMultiple = g.fn().facts.equal(size, part * g.number(n)) == Truth::Yes;
  if (n == 1 || isMultiple || g.fn().facts.decide(reaches(n)) == Truth::Yes)
    return n;
  Value have = sizeOf(g, x, axis, r), zero = g.integer(0, r);
  Value before =
      arith<MulOp>(g, arith<FloorDivOp>(g, arith<AddOp>(g, have, g.integer(n - 1, r), r), g.integer(n, r), r),
                   g.integer(n - 1, r), r);
  Value fits = g.create<OrOp>(r, {g.create<GtOp>(r, {have, before}), g.create<EqOp>(r, {have, zero})});
  needValue(g, fits, g.string("chunk gives " + std::to_string(n) + " parts", r), r);
  return n;
}

RValue chunkBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  int64_t axis = axisArgument(g, args, x.rank(), 0), n = staticInteger(g, *args["n"], "chunk");
  if (n <= 0)
    g.fail(DiagId::NegativeSize, args.rangeOf("n"), {std::to_string(n)});
  int64_t parts = chunkCount(g, x.value, axis, n, r);
  checkPartCount(g, args, "n", parts);
  Value size = sizeOf(g, x.value, axis, r);
  Value part = arith<FloorDivOp>(g, arith<AddOp>(g, size, g.integer(n - 1, r), r), g.integer(n, r), r);
  std::vector<RValue> all;
  for (int64_t i = 0; i < parts; ++i) {
    Value start = arith<MulOp>(g, part, g.integer(i, r), r);
    Value count = i + 1 < parts ? part : arith<SubOp>(g, size, start, r);
    all.push_back(sliceAxis(g, x.value, axis, start, count, 1, r));
  }
  return RValue::tuple(std::move(all));
}

/// A shift as it is meant: from 0 on, below the size.
static Roll rollOf(IRGen &g, Value x, Value shift, int64_t axis, SourceRange r) {
  Value size = sizeOf(g, x, axis, r);
  return {axis, g.create<ModOp>(r, {shift, arith<MaximumOp>(g, size, g.integer(1, r), r)})};
}

/// One shift, or one for each axis; a single one is that of all axes.
RValue rollBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue whole = tensorArgument(g, args, "x");
  SmallVector<Value> shifts = indexList(g, *args["shift"], "roll");
  if (!args.has("axis")) {
    if (shifts.size() != 1)
      g.fail(DiagId::ArgumentKind, args.rangeOf("shift"),
             {"roll", "the shift", "one integer where no axis is given", std::to_string(shifts.size()) + " integers"});
    Value x = flattened(g, whole, r).value;
    return reshape(g, rolled(g, x, {rollOf(g, x, shifts[0], 0, r)}, r), sizesOf(g, whole.value, r), r);
  }
  SmallVector<int64_t> axes = staticList(g, *args["axis"], "roll");
  if (shifts.size() != axes.size() && shifts.size() != 1)
    g.fail(DiagId::ArgumentKind, args.rangeOf("shift"),
           {"roll", "the shift", "one integer, or one for each axis", std::to_string(shifts.size()) + " integers"});
  SmallVector<Roll> rolls;
  for (auto [i, axis] : llvm::enumerate(axes))
    rolls.push_back(rollOf(g, whole.value, shifts[shifts.size() == 1 ? 0 : i],
                           normalizeAxis(g, axis, whole.value.getType(), args.rangeOf("axis")), r));
  return rolled(g, whole.value, rolls, r);
}

/// `[[before, after], …]`, a pair for each axis, in a row; else nothing.
static SmallVector<int64_t> pairsOfWidths(IRGen &g, const ast::Expr &e) {
  SmallVector<int64_t> widths;
  auto *b = ast::dynCast<ast::Bracket>(&e);
  if (b && b->compact && b->shape.size() == 2 && b->allIntegers && b->shape[1] == 2)
    for (ast::Bracket::Part part : b->re)
      widths.push_back(integerAt(g, *b, part));
  auto isPair = [](const ast::ExprPtr &element) {
    auto *pair = ast::dynCast<ast::Bracket>(element.get());
    return pair && (pair->compact ? pair->re.size() : pair->elements.size()) == 2;
  };
  if (b && !b->compact && llvm::all_of(b->elements, isPair))
    for (const ast::ExprPtr &pair : b->elements)
      llvm::append_range(widths, staticList(g, *pair, "pad"));
  return widths;
}

RValue padBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  int64_t rank = x.rank();
  const ast::Expr &e = *args["widths"];
  SmallVector<int64_t> widths = pairsOfWidths(g, e);
  if (widths.empty()) {
    widths = staticList(g, e, "pad");
    if (widths.size() == 1)
      widths.push_back(widths[0]);
    if (widths.size() == 2) {
      SmallVector<int64_t> pair(widths);
      for (int64_t i = 1; i < rank; ++i)
        widths.append(pair.begin(), pair.end());
    }
  }
  if (static_cast<int64_t>(widths.size()) != 2 * rank)
    g.fail(DiagId::PadRank, e.range, {x.type().str(), std::to_string(widths.size() / 2)});
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < rank; ++i) {
    low.push_back(widths[2 * i]);
    high.push_back(widths[2 * i + 1]);
  }
  RValue fill = args.has("value") ? tensorArgument(g, args, "value") : RValue(g.integer(0, r));
  if (fill.rank() != 0)
    g.fail(DiagId::ArgumentKind, args.rangeOf("value"), {"pad", "the value", "a scalar", fill.type().str()});
  if (args.has("value") && kindOf(fill.tensor().getDtype()) > kindOf(x.tensor().getDtype()))
    g.fail(DiagId::ComplexStore, args.rangeOf("value"), {fill.type().str(), x.type().str()});
  return g.create<PadOp>(r,
                         {x.value, args.has("value") ? castVal(g, fill, x.tensor().getDtype(), r)
                                                     : castTo(g, fill.value, x.tensor().getDtype(), r)},
                         {g.integersAttr("low", low), g.integersAttr("high", high)});
}

/// A matrix's diagonal; of a vector the matrix: rows and columns compared.
RValue diagBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  int64_t k = args.has("k") ? staticInteger(g, *args["k"], "diag") : 0;
  if (x.rank() != 1)
    return g.create<DiagonalOp>(r, {x.value}, {g.integerAttr("offset", k)});
  if (k < -largestSize || k > largestSize)
    g.fail(DiagId::SizeTooLarge, r, {std::to_string(k)});
  Value size = arith<AddOp>(g, sizeOf(g, x.value, 0, r), g.integer(std::abs(k), r), r);
  Value columns = g.create<IotaOp>(r, {size}), rows = reshape(g, columns, {size, g.integer(1, r)}, r);
  Value zero = castTo(g, g.integer(0, r), x.tensor().getDtype(), r), padded = x.value;
  if (k != 0) {
    rows = g.create<AddOp>(r, {rows, g.integer(k, r)});
    padded = g.create<PadOp>(
        r, {x.value, zero},
        {g.integersAttr("low", {std::max<int64_t>(k, 0)}), g.integersAttr("high", {std::max<int64_t>(-k, 0)})});
    padded = reshape(g, padded, {size}, r);
  }
  return g.create<WhereOp>(r, {g.create<EqOp>(r, {rows, columns}), padded, zero});
}

RValue triangleBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  int64_t rank = x.rank();
  if (rank < 2)
    g.fail(DiagId::NeedsMatrix, r, {args.row->name, x.type().str()});
  Value k = args.has("k") ? indexValue(g, *args["k"], args.row->name) : g.integer(0, r);
  Value n = sizeOf(g, x.value, rank - 2, r), m = sizeOf(g, x.value, rank - 1, r);
  Value rows = reshape(g, g.create<IotaOp>(r, {n}), {n, g.integer(1, r)}, r), columns = g.create<IotaOp>(r, {m});
  Value keep = g.create(args.row->op, r, {g.create<AddOp>(r, {rows, k}), columns});
  return g.create<WhereOp>(r, {keep, x.value, castTo(g, g.integer(0, r), x.tensor().getDtype(), r)});
}

RValue takeBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  int64_t axis = axisOrFlat(g, args, x, r);
  Value index = positionsArgument(g, args, "index");
  return g.create<TakeOp>(r, {x.value, index}, {g.integersAttr("axes", {axis})});
}

RValue gatherBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  Value index = positionsArgument(g, args, "index");
  return g.create<TakeAlongOp>(r, {x.value, index}, {g.integerAttr("axis", axisArgument(g, args, x.rank(), 0))});
}

RValue scatterBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x"), values = tensorArgument(g, args, "values");
  Value index = positionsArgument(g, args, "index");
  Value v = castVal(g, values, x.tensor().getDtype(), r);
  if (tensorTypeOf(v).getRank() == 0)
    v = broadcastTo(g, v, sizesOf(g, index, r), r);
  return g.create<PutAlongOp>(r, {x.value, index, v}, {g.integerAttr("axis", axisArgument(g, args, x.rank(), 0))});
}

RValue nonzeroBuiltin(IRGen &g, Bound &args, SourceRange r) {
  return g.createOp<NonZeroOp>(r, {tensorArgument(g, args, "x").value})->getResult(0);
}

RValue selectBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  int64_t axis = axisArgument(g, args, x.rank(), 0);
  Value index = g.create<CheckIndexOp>(r, {indexValue(g, *args["index"], "select"), sizeOf(g, x.value, axis, r)},
                                       {g.integerAttr("axis", axis)});
  return selectIndex(g, x.value, axis, index, r);
}

} // namespace toy
