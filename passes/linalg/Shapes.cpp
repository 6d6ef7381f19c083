// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operations that make tensors or rearrange elements: tensor, and linalg where an axis turns or repeats.
#include "passes/linalg/Lowering.h"

#include "ir/Dim.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace toy {
namespace {

using Results = FailureOr<SmallVector<Value>>;
Results one(Value v) { return SmallVector<Value>{v}; }

SmallVector<OpFoldResult> indices(Lowering &l, int64_t rank, int64_t n) {
  return SmallVector<OpFoldResult>(rank, l.b.getIndexAttr(n));
}
SmallVector<Value> asValues(Lowering &l, ArrayRef<OpFoldResult> sizes) {
  return llvm::map_to_vector(sizes,
                             [&](OpFoldResult size) { return getValueOrCreateConstantIndexOp(l.b, l.loc, size); });
}
OpFoldResult sum(Lowering &l, OpFoldResult x, OpFoldResult y) {
  std::optional<int64_t> known = getConstantIntValue(x), other = getConstantIntValue(y);
  if (known && other)
    return l.b.getIndexAttr(*known + *other);
  SmallVector<Value> values = asValues(l, {x, y});
  return l.make<arith::AddIOp>(values[0], values[1]);
}

Results constant(Lowering &l) {
  auto value = cast<DenseElementsAttr>(cast<ConstantOp>(l.op).getValue());
  Type element = l.element(l.resultType().getDtype());
  if (l.resultType().getDtype() == DType::U8) // without a sign in the attribute only
    value = value.mapValues(element, [](const APInt &n) { return n; });
  if (!l.resultType().isScalar())
    return one(l.make<arith::ConstantOp>(value));
  auto number = isa<FloatType>(element) ? TypedAttr(l.b.getFloatAttr(element, *value.value_begin<APFloat>()))
                                        : TypedAttr(l.b.getIntegerAttr(element, *value.value_begin<APInt>()));
  return one(l.make<arith::ConstantOp>(number));
}

Results full(Lowering &l) {
  if (l.resultType().isScalar())
    return one(l.in[0]);
  auto sizes = l.sizesFrom(l.resultType(), ValueRange(l.in).drop_front());
  return one(l.filled(l.ranked(l.resultType()), sizes, l.in[0]));
}

Results iota(Lowering &l) {
  return one(l.tabulate(l.ranked(l.resultType()), l.sizesFrom(l.resultType(), l.in),
                        [&](ValueRange at) { return l.fromIndex(at[0]); }));
}

Results fromElements(Lowering &l) {
  if (l.resultType().isScalar())
    return one(l.in[0]);
  if (l.in.empty())
    return one(l.empty(l.ranked(l.resultType()), {}));
  return one(l.make<tensor::FromElementsOp>(l.ranked(l.resultType()), l.in));
}

Results dim(Lowering &l) {
  Value size = getValueOrCreateConstantIndexOp(l.b, l.loc, l.sizeOf(l.in[0], cast<DimOp>(l.op).getAxis()));
  return one(l.fromIndex(size));
}

/// Sizes of results stay far below 2^63, where steps wrap.
struct SizeArithmetic : DimComputation<Value> {
  explicit SizeArithmetic(Lowering &l) : l(l) {}
  Value constant(int64_t n) override { return l.make<arith::ConstantOp>(l.b.getI64IntegerAttr(n)); }
  Value symbol(StringRef name) override { return l.in[*SizeValueOp::operandOf(name)]; }
  Value combine(Operation op, Value x, Value y) override {
    switch (op) {
    case Add:
      return l.make<arith::AddIOp>(x, y);
    case Subtract:
      return l.make<arith::SubIOp>(x, y);
    case Multiply:
      return l.make<arith::MulIOp>(x, y);
    case FloorDivide:
      return l.make<arith::FloorDivSIOp>(x, y);
    case Minimum:
      return l.make<arith::MinSIOp>(x, y);
    case Maximum:
      return l.make<arith::MaxSIOp>(x, y);
    }
    llvm_unreachable("all operations are listed");
  }
  Lowering &l;
};
Results sizeValue(Lowering &l) { return one(SizeArithmetic(l).compute(cast<SizeValueOp>(l.op).getExpr())); }

Results relabel(Lowering &l) {
  if (l.resultType().isScalar())
    return one(l.in[0]);
  return one(l.make<tensor::CastOp>(l.ranked(l.resultType()), l.in[0]));
}

Results reshape(Lowering &l) {
  if (l.resultType().isScalar())
    return one(l.elementOf(l.in[0]));
  SmallVector<Value> sizes = asValues(l, l.sizesFrom(l.resultType(), ValueRange(l.in).drop_front()));
  Value shape =
      l.make<tensor::FromElementsOp>(RankedTensorType::get({l.resultType().getRank()}, l.b.getIndexType()), sizes);
  return one(l.make<tensor::ReshapeOp>(l.ranked(l.resultType()), l.asTensor(l.in[0]), shape));
}

Results permute(Lowering &l) {
  ArrayRef<int64_t> order = l.integers("permutation");
  if (order.empty())
    return one(l.in[0]);
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis : order)
    sizes.push_back(l.sizeOf(l.in[0], axis));
  Value out = l.empty(l.ranked(l.resultType()), sizes);
  return one(linalg::TransposeOp::create(l.b, l.loc, l.in[0], out, order)->getResult(0));
}

Results broadcast(Lowering &l) {
  TensorType type = l.resultType();
  auto sizes = l.sizesFrom(type, ValueRange(l.in).drop_front());
  if (type.isScalar())
    return one(l.in[0]);
  if (l.operandType(0).isScalar())
    return one(l.filled(l.ranked(type), sizes, l.in[0]));
  AffineMap maps[] = {l.broadcastMap(l.operandType(0), type), l.b.getMultiDimIdentityMap(type.getRank())};
  return l.generic(l.in[0], l.empty(l.ranked(type), sizes), maps, SmallVector<bool>(type.getRank(), false),
                   [](ValueRange x) { return SmallVector<Value>{x[0]}; });
}

/// Steps backwards are index arithmetic: upstream slices go forward.
Results slice(Lowering &l) {
  auto op = cast<SliceOp>(l.op);
  ArrayRef<int64_t> steps = op.getSteps();
  const size_t rank = steps.size();
  ValueRange bounds = ValueRange(l.in).drop_front();
  auto sizes = l.sizesFrom(l.resultType(), bounds.drop_front(rank));
  SmallVector<Value> starts;
  for (Value start : bounds.take_front(rank))
    starts.push_back(l.toIndex(start));
  RankedTensorType type = l.ranked(l.resultType());
  if (llvm::all_of(steps, [](int64_t step) { return step > 0; })) {
    auto strides = llvm::map_to_vector(steps, [&](int64_t n) { return OpFoldResult(l.b.getIndexAttr(n)); });
    return one(l.make<tensor::ExtractSliceOp>(type, l.in[0], SmallVector<OpFoldResult>(starts.begin(), starts.end()),
                                              sizes, strides));
  }
  return one(l.tabulate(type, sizes, [&](ValueRange at) {
    SmallVector<Value> from;
    for (auto [axis, step] : llvm::enumerate(steps))
      from.push_back(l.make<arith::AddIOp>(starts[axis], l.make<arith::MulIOp>(at[axis], l.index(step))));
    return l.extract(l.in[0], from);
  }));
}

Results sliceStore(Lowering &l) {
  auto op = cast<SliceStoreOp>(l.op);
  ArrayRef<int64_t> steps = op.getSteps();
  if (llvm::any_of(steps, [](int64_t step) { return step < 0; }))
    return failure();
  ValueRange bounds = ValueRange(l.in).drop_front(2), counts = bounds.drop_front(steps.size());
  SmallVector<OpFoldResult> starts, sizes, strides;
  SmallVector<Dim> shape;
  for (auto [axis, step] : llvm::enumerate(steps)) {
    starts.push_back(l.toIndex(bounds[axis]));
    std::optional<int64_t> known = getConstantIntValue(counts[axis]);
    sizes.push_back(known ? OpFoldResult(l.b.getIndexAttr(*known)) : OpFoldResult(l.toIndex(counts[axis])));
    shape.push_back(known ? Dim::number(l.b.getContext(), *known) : Dim::unknown(l.b.getContext()));
    strides.push_back(l.b.getIndexAttr(step));
  }
  TensorType values = l.operandType(1), slice = TensorType::get(l.b.getContext(), values.getDtype(), shape);
  Value out = l.empty(l.ranked(slice), sizes), source;
  if (values.isScalar())
    source = l.filled(l.ranked(slice), sizes, l.in[1]);
  else {
    AffineMap maps[] = {l.broadcastMap(values, slice), l.b.getMultiDimIdentityMap(slice.getRank())};
    source = l.generic(l.in[1], out, maps, SmallVector<bool>(slice.getRank(), false),
                       [](ValueRange x) { return SmallVector<Value>{x[0]}; })[0];
  }
  return one(l.insert(source, l.in[0], starts, sizes, strides));
}

Results concat(Lowering &l) {
  const int64_t axis = cast<ConcatOp>(l.op).getAxis(), rank = l.resultType().getRank();
  SmallVector<OpFoldResult> sizes = l.sizesOf(l.in[0]), offsets = indices(l, rank, 0), ends;
  OpFoldResult end = l.b.getIndexAttr(0);
  for (Value part : l.in)
    ends.push_back(end = sum(l, end, l.sizeOf(part, axis)));
  sizes[axis] = end;
  Value out = l.empty(l.ranked(l.resultType()), sizes);
  for (auto [i, part] : llvm::enumerate(l.in)) {
    offsets[axis] = i ? ends[i - 1] : OpFoldResult(l.b.getIndexAttr(0));
    out = l.insert(part, out, offsets, l.sizesOf(part), indices(l, rank, 1));
  }
  return one(out);
}

Results append(Lowering &l) {
  const int64_t rank = l.resultType().getRank();
  SmallVector<OpFoldResult> old = l.sizesOf(l.in[0]), sizes = old, offsets = indices(l, rank, 0);
  sizes[0] = sum(l, old[0], l.b.getIndexAttr(1));
  Value out = l.insert(l.in[0], l.empty(l.ranked(l.resultType()), sizes), offsets, old, indices(l, rank, 1));
  offsets[0] = old[0];
  if (rank == 1)
    return one(l.make<tensor::InsertOp>(l.in[1], out, asValues(l, offsets)));
  sizes[0] = l.b.getIndexAttr(1);
  return one(l.insert(l.in[1], out, offsets, sizes, indices(l, rank, 1)));
}

Results pad(Lowering &l) {
  auto op = cast<PadOp>(l.op);
  SmallVector<OpFoldResult> inner = l.sizesOf(l.in[0]), sizes, offsets;
  for (auto [axis, size] : llvm::enumerate(inner)) {
    offsets.push_back(l.b.getIndexAttr(op.getLow()[axis]));
    sizes.push_back(sum(l, size, l.b.getIndexAttr(op.getLow()[axis] + op.getHigh()[axis])));
  }
  Value out = l.filled(l.ranked(l.resultType()), sizes, l.in[1]);
  return one(l.insert(l.in[0], out, offsets, inner, indices(l, inner.size(), 1)));
}

Results diagonal(Lowering &l) {
  const int64_t offset = cast<DiagonalOp>(l.op).getOffset(), rank = l.resultType().getRank();
  SmallVector<OpFoldResult> sizes = l.sizesOf(l.in[0]);
  SmallVector<Value> ends = asValues(l, ArrayRef(sizes).take_back(2));
  Value down = l.index(std::max<int64_t>(-offset, 0)), right = l.index(std::max<int64_t>(offset, 0));
  sizes.truncate(rank);
  Value length = l.make<arith::MinSIOp>(l.make<arith::SubIOp>(ends[0], down), l.make<arith::SubIOp>(ends[1], right));
  std::optional<int64_t> known = l.resultType().getDim(rank - 1).asNumber();
  sizes[rank - 1] =
      known ? OpFoldResult(l.b.getIndexAttr(*known)) : OpFoldResult(l.make<arith::MaxSIOp>(length, l.index(0)));
  return one(l.tabulate(l.ranked(l.resultType()), sizes, [&](ValueRange at) {
    SmallVector<Value> from(at);
    from.push_back(l.make<arith::AddIOp>(at.back(), right));
    from[rank - 1] = l.make<arith::AddIOp>(at.back(), down);
    return l.extract(l.in[0], from);
  }));
}

/// The offsets, sizes and steps of a part among the pairs of a tensor.
struct PartOfPairs {
  SmallVector<OpFoldResult> offsets, sizes, steps;
  PartOfPairs(Lowering &l, SmallVector<OpFoldResult> sizesOfPart, int64_t part)
      : offsets(indices(l, sizesOfPart.size(), 0)), sizes(sizesOfPart), steps(indices(l, sizesOfPart.size() + 1, 1)) {
    offsets.push_back(l.b.getIndexAttr(part));
    sizes.push_back(l.b.getIndexAttr(1));
  }
};
Results part(Lowering &l) {
  const int64_t which = cast<PartOp>(l.op).getIndex();
  if (l.resultType().isScalar())
    return one(l.extract(l.in[0], ValueRange{l.index(which)}));
  SmallVector<OpFoldResult> sizes = l.sizesOf(l.in[0]);
  sizes.pop_back();
  PartOfPairs at(l, sizes, which);
  return one(l.make<tensor::ExtractSliceOp>(l.ranked(l.resultType()), l.in[0], at.offsets, at.sizes, at.steps));
}
Results pack(Lowering &l) {
  if (l.operandType(0).isScalar())
    return one(l.make<tensor::FromElementsOp>(l.ranked(l.resultType()), l.in));
  SmallVector<OpFoldResult> sizes = l.sizesOf(l.in[0]), whole = sizes;
  whole.push_back(l.b.getIndexAttr(2));
  Value out = l.empty(l.ranked(l.resultType()), whole);
  for (auto [which, value] : llvm::enumerate(l.in)) {
    PartOfPairs at(l, sizes, which);
    out = l.insert(value, out, at.offsets, at.sizes, at.steps);
  }
  return one(out);
}

} // namespace

LoweringRow shapeRow(StringRef mnemonic) {
  return llvm::StringSwitch<LoweringRow>(mnemonic)
      .Case("constant", constant)
      .Case("full", full)
      .Case("iota", iota)
      .Case("from_elements", fromElements)
      .Case("dim", dim)
      .Case("size_value", sizeValue)
      .Case("relabel", relabel)
      .Case("reshape", reshape)
      .Case("permute", permute)
      .Case("broadcast", broadcast)
      .Case("slice", slice)
      .Case("slice_store", sliceStore)
      .Case("concat", concat)
      .Case("append", append)
      .Case("pad", pad)
      .Case("diagonal", diagonal)
      .Case("part", part)
      .Case("pack", pack)
      .Default(nullptr);
}

} // namespace toy
