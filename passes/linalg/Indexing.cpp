// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements at positions that the data says: tensor.extract in the body of a loop.
#include "passes/linalg/Lowering.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace toy {
namespace {

using Results = FailureOr<SmallVector<Value>>;

/// Counted from the front, and inside.
Value position(Lowering &l, Value i, Value size) {
  Value zero = l.number(i.getType(), 0), isBack = l.compare(arith::CmpIPredicate::slt, i, zero);
  Value at = l.select(isBack, l.make<arith::AddIOp>(i, size), i);
  l.require(l.compare(arith::CmpIPredicate::ult, at, size), "index out of range"); // a negative one is a large one
  return at;
}

Value positionOn(Lowering &l, Value i, Value tensor, int64_t axis) {
  Value wide = i.getType().isInteger(64) ? i : l.make<arith::ExtSIOp>(l.b.getI64Type(), i);
  Value size = l.fromIndex(getValueOrCreateConstantIndexOp(l.b, l.loc, l.sizeOf(tensor, axis)));
  return l.toIndex(position(l, wide, size));
}

Results checkIndex(Lowering &l) { return SmallVector<Value>{position(l, l.in[0], l.in[1])}; }

/// The element of an index tensor that broadcasts to the axes from `first` on.
Value indexAt(Lowering &l, unsigned operand, int64_t axes, ValueRange at) {
  if (l.operandType(operand).isScalar())
    return l.in[operand];
  SmallVector<Value> own;
  int64_t rank = l.operandType(operand).getRank();
  for (int64_t axis = 0; axis < rank; ++axis) {
    bool stretched = l.operandType(operand).getDim(axis).is(1);
    own.push_back(stretched ? l.index(0) : at[axes - rank + axis]);
  }
  return l.extract(l.in[operand], own);
}

Results take(Lowering &l) {
  ArrayRef<int64_t> axes = l.integers("axes");
  TensorType type = l.resultType();
  const int64_t first = axes.front(), taken = axes.size(), rank = l.operandType(0).getRank();
  const int64_t added = type.getRank() - (rank - taken); // axes of the index tensors together
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (std::optional<int64_t> known = type.getDim(axis).asNumber()) {
      sizes.push_back(l.b.getIndexAttr(*known));
      continue;
    }
    if (axis < first || axis >= first + added) {
      sizes.push_back(l.sizeOf(l.in[0], axis < first ? axis : axis - added + taken));
      continue;
    }
    for (int64_t i = 1; i <= taken; ++i)
      if (int64_t own = axis - first - added + l.operandType(i).getRank();
          own >= 0 && !l.operandType(i).getDim(own).is(1)) {
        sizes.push_back(l.sizeOf(l.in[i], own));
        break;
      }
  }
  auto element = [&](ValueRange at) {
    SmallVector<Value> from(at.take_front(first));
    for (int64_t i = 0; i < taken; ++i)
      from.push_back(positionOn(l, indexAt(l, i + 1, added, at.slice(first, added)), l.in[0], first + i));
    from.append(at.begin() + first + added, at.end());
    return l.extract(l.in[0], from);
  };
  if (type.isScalar())
    return SmallVector<Value>{element({})};
  return SmallVector<Value>{l.tabulate(l.ranked(type), sizes, element)};
}

Results takeAlong(Lowering &l) {
  const int64_t axis = l.attribute<IntegerAttr>("axis").getInt();
  return SmallVector<Value>{l.tabulate(l.ranked(l.resultType()), l.sizesOf(l.in[1]), [&](ValueRange at) {
    SmallVector<Value> from(at);
    from[axis] = positionOn(l, l.extract(l.in[1], at), l.in[0], axis);
    return l.extract(l.in[0], from);
  })};
}

} // namespace

LoweringRow indexingRow(StringRef mnemonic) {
  return llvm::StringSwitch<LoweringRow>(mnemonic)
      .Case("check_index", checkIndex)
      .Case("take", take)
      .Case("take_along", takeAlong)
      .Default(nullptr);
}

} // namespace toy
