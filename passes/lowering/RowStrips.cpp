// SPDX-License-Identifier: Apache-2.0
/// \file
/// Maps over short rows with operands that have one element a row, the same elements in all rows, or elements some
/// apart for functions: what these are for some rows is spread out on the stack, so that one loop goes over all
/// elements of those rows. A loop over each row would leave the last register of it open, and its store would overlap
/// the next row's load.
#include "passes/RowLanes.h"
#include "passes/lowering/KernelEmitter.h"

#include "runtime/ElementFunctions.h"
#include "runtime/Parallel.h"
#include "runtime/Value.h"

using namespace llvm;

namespace toy {

static constexpr int64_t longestShortRow = 64, longestSpacedRow = 128, stripElements = 256, leastComplexRow = 4;

struct KernelEmitter::Stretched {
  SmallVector<mlir::Value> values;
  SmallPtrSet<void *, 16> seen;
  bool areCalled = false;  ///< functions of elements
  bool areComplex = false; ///< elements
  int spaced = 0;          ///< values whose elements are read some apart, or backwards: LLVM masks no such loads
  bool haveGaps = false;   ///< some apart

  /// Calls of functions take as long for a register that is not full as for any. In place, the store of one is waited
  /// for by the next row's load. Of complex rows shorter than two registers, LLVM gathers and scatters the parts. Of
  /// several values some apart it loads what lies between once for all. Other rows are as fast by themselves.
  bool isWorthStrips(DType dtype, int64_t count, bool isInPlace, int64_t rank) const {
    constexpr size_t most = 4; // buffers
    const int64_t whole = 64 / std::max<int64_t>(sizeOf(realOf(dtype)), 4);
    const bool isOneSpaced = spaced == 1 && count <= longestShortRow && (haveGaps || sizeOf(dtype) >= 4);
    return !values.empty() && values.size() <= most &&
           (((areCalled || isOneSpaced || (isInPlace && spaced == 0)) && count > (rank > 2 ? 2 : 7) &&
             count % whole != 0) ||
            (areComplex && count >= leastComplexRow + (dtype == DType::C64) && count < 16));
  }
};

/// The operands of a map that do not have its sizes, at the places where its own elements are combined with them; false
/// if others than elements at the same place are read.
bool KernelEmitter::findStretched(mlir::Value value, Stretched &found) {
  TensorType type = tensorTypeOf(value);
  if (type.isScalar() || isOneElement(value) || !found.seen.insert(value.getAsOpaquePointer()).second)
    return true;
  mlir::Operation *def = value.getDefiningOp();
  if (type.getSizes() != rootType.getSizes()) {
    const bool isOfRow = type.getDim(type.getRank() - 1).is(1);
    found.values.push_back(value);
    return isOfRow || isa<mlir::BlockArgument>(value);
  }
  if (!def || isa<FullOp>(def))
    return true;
  if (auto slice = dyn_cast<SliceOp>(def); slice && slice.getSteps().back() != 1) {
    found.values.push_back(value);
    ++found.spaced;
    found.haveGaps |= slice.getSteps().back() != -1;
    return isa<mlir::BlockArgument>(slice.getX());
  }
  if (!def->hasTrait<OpTrait::Elementwise>())
    return false;
  found.areCalled |=
      rt::findElementFunction(def->getName().stripDialect(), tensorTypeOf(def->getOperand(0)).getDtype()) >= 0;
  found.areComplex |= type.isComplex();
  return all_of(def->getOperands(), [&](mlir::Value operand) { return findStretched(operand, found); });
}

/// Puts elements of rows [first, first + here) side by side.
void KernelEmitter::fillStrip(mlir::Value value, Lanes &strip, Lanes &perRow, Value *first, Value *here, int64_t count,
                              const SmallVector<Value *> &sizes) {
  const int64_t rank = rootType.getRank();
  const bool isOfRow = tensorTypeOf(value).getDim(tensorTypeOf(value).getRank() - 1).is(1);
  auto elementOf = [&](Value *row, Value *j) -> Fold {
    Indices indices = decode(k.CreateAdd(first, row, "", true, true), sizes);
    indices.push_back(j);
    Element element = elementAt(value, aligned(value, rank, indices));
    return {element.re, element.im};
  };
  if (!isOfRow)
    return loop(i64(0), here, [&](Value *row) {
      Value *to = k.CreateMul(row, i64(count), "", true, true);
      loop(i64(0), i64(count), [&](Value *j) { strip.write(k.CreateAdd(to, j, "", true, true), elementOf(row, j)); });
    });
  // Functions of rows' elements are vectors of rows first.
  loop(i64(0), here, [&](Value *row) { perRow.write(row, elementOf(row, i64(0))); });
  loop(i64(0), here, [&](Value *row) {
    Value *to = k.CreateMul(row, i64(count), "", true, true);
    Fold one = perRow.read(row);
    for (auto [part, array] : zip_equal(one, strip.arrays)) {
      if (!part)
        continue;
      Value *x = part->getType()->isIntegerTy(1) ? k.CreateZExt(part, k.getInt8Ty()) : part;
      const int64_t width = 64 / std::max(1u, x->getType()->getScalarSizeInBits() / 8);
      Value *all = k.CreateVectorSplat(width, x); // behind the row's end, the next row writes over it
      for (int64_t j = 0; j < count; j += width)
        k.CreateAlignedStore(all, k.CreateInBoundsGEP(x->getType(), array, k.CreateAdd(to, i64(j), "", true, true)),
                             Align(1));
    }
  });
}

/// Ends a kernel whose steps are rows of the result.
void KernelEmitter::finishRows(ArrayRef<Value *> sizes, int64_t bytes) {
  auto known = rootType.getStaticCount();
  isByRows = true;
  const bool mayStream = !known || *known * sizeOf(rootType.getDtype()) >= rt::streamBytes;
  finish(product(sizes.drop_back()), sizes.back(), nullptr,
         mayStream ? caller.CreateMul(sizes.back(), caller.getInt64(bytes)) : nullptr);
}

bool KernelEmitter::emitRowStrips() {
  const int64_t rank = rootType.getRank();
  if (flat || movesWords || rank < 2 || root.getDefiningOp<PackOp>() || !rootType.getDim(rank - 1).isNumber())
    return false;
  const int64_t count = rootType.getDim(rank - 1).value();
  Stretched found;
  if (count > longestSpacedRow || !findStretched(root, found) || (count > longestShortRow && found.spaced == 0) ||
      !found.isWorthStrips(rootType.getDtype(), count, reusable != nullptr, rank))
    return false;
  const auto [sizes, bytes] = beginMap();
  const auto together = static_cast<int64_t>(count > longestShortRow ? divideCeil(longestSpacedRow, count)
                                                                     : alignTo(divideCeil(stripElements, count), 16));
  begin();
  Value *out = capture(callerOut);
  SmallVector<Value *> outer = captureAll(ArrayRef(sizes).drop_back());
  SmallVector<Lanes> strips, perRow;
  for (mlir::Value value : found.values) {
    Type *part = scalars.partType(tensorTypeOf(value).getDtype());
    Value *zero = Constant::getNullValue(part), *im = tensorTypeOf(value).isComplex() ? zero : nullptr;
    strips.push_back(Lanes(*this, {zero, im}, together * count + 64));
    perRow.push_back(Lanes(*this, {zero, im}, together));
  }
  Value *groups =
      k.CreateUDiv(k.CreateAdd(k.CreateSub(rangeEnd, rangeBegin), i64(together - 1), "", true, true), i64(together));
  loop(i64(0), groups, [&](Value *group) {
    Value *first = k.CreateAdd(rangeBegin, k.CreateMul(group, i64(together), "", true, true), "", true, true);
    Value *here = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateSub(rangeEnd, first), i64(together));
    for (auto [i, value] : enumerate(found.values))
      fillStrip(value, strips[i], perRow[i], first, here, count, outer);
    Value *base = k.CreateMul(first, i64(count), "", true, true);
    flat = true;
    loop(i64(0), k.CreateMul(here, i64(count), "", true, true), [&](Value *i) {
      for (auto [s, value] : enumerate(found.values)) {
        const Fold one = strips[s].read(i);
        rowValues[value] = {one[0], one[1]};
      }
      Value *at = k.CreateAdd(base, i, "", true, true);
      storeMapElement(root, out, at, mapElement(root, {at}));
      rowValues.clear();
    });
    flat = false;
  });
  finishRows(sizes, bytes);
  return true;
}

/// Rows shorter than two registers, of which LLVM would gather and scatter the elements, as vectors: complex ones, and
/// real ones of several axes, whose operands are the same along one of them; not in place, where a row's load would
/// wait for the store of the one before.
bool KernelEmitter::emitRowsAsVectors() {
  const int64_t rank = rootType.getRank();
  auto isComplexValue = [](mlir::Value v) { return tensorTypeOf(v).isComplex(); };
  const bool areComplex = isComplexValue(root) || any_of(op.getBody().getArguments(), isComplexValue);
  const bool areSpread = rank > 2 && sizeOf(rootType.getDtype()) >= 4 && !readsAcross(root, rank);
  if (flat || reusable || movesWords || rank < 2 || !(areComplex || areSpread) || root.getDefiningOp<PackOp>() ||
      !rootType.getDim(rank - 1).isNumber() || isHalf(rootType.getDtype()) || !hasLanes(root, rank - 1))
    return false;
  const int64_t count = rootType.getDim(rank - 1).value();
  if (count < leastComplexRow || count >= 16)
    return false;
  const auto [sizes, bytes] = beginMap();
  begin();
  Value *out = capture(callerOut);
  SmallVector<Value *> outer = captureAll(ArrayRef(sizes).drop_back());
  lanesKnown = count;
  lanesAtOnce = static_cast<int64_t>(PowerOf2Ceil(count));
  const DType dtype = rootType.getDtype();
  loop(rangeBegin, rangeEnd, [&](Value *row) {
    Indices first = decode(row, outer);
    first.push_back(i64(0));
    Value *mask = firstLanes(i64(count));
    Element lanes = laneElements(root, {first, rank - 1}, mask);
    Value *at = k.CreateMul(row, i64(count * (isComplex(dtype) ? 2 : 1)), "", true, true);
    storeLanes(k, scalars, dtype, lanes, k.CreateInBoundsGEP(scalars.memoryType(dtype), out, at), mask);
  });
  finishRows(sizes, bytes);
  return true;
}

/// Rows of complex elements that are no whole registers: LLVM masks no loads of pairs, and would leave up to a register
/// to single elements. What is left of a row goes by halves of a register, so that in place nothing is stored that the
/// next row loads.
bool KernelEmitter::emitRowsByHalves() {
  constexpr int64_t whole = 8;
  const int64_t rank = rootType.getRank();
  auto isComplexValue = [](mlir::Value v) { return tensorTypeOf(v).isComplex(); };
  const bool areComplex = isComplexValue(root) || any_of(op.getBody().getArguments(), isComplexValue);
  if (flat || movesWords || rank < 2 || !areComplex || root.getDefiningOp<PackOp>() ||
      !rootType.getDim(rank - 1).isNumber() || isHalf(rootType.getDtype()) || !hasLanes(root, rank - 1))
    return false;
  const int64_t count = rootType.getDim(rank - 1).value();
  if (count <= whole || count > longestShortRow || count % whole == 0)
    return false;
  const auto [sizes, bytes] = beginMap();
  begin();
  Value *out = capture(callerOut);
  SmallVector<Value *> outer = captureAll(ArrayRef(sizes).drop_back());
  const DType dtype = rootType.getDtype();
  loop(rangeBegin, rangeEnd, [&](Value *row) {
    const Indices ofRow = decode(row, outer);
    Value *base = k.CreateMul(row, i64(count), "", true, true);
    auto some = [&](Value *first, int64_t lanes) {
      Indices indices = ofRow;
      indices.push_back(first);
      Value *at = k.CreateAdd(base, first, "", true, true);
      if (lanes == 1)
        return scalars.store(dtype, out, at, elementAt(root, indices));
      lanesKnown = lanesAtOnce = lanes;
      const Element elements = laneElements(root, {indices, rank - 1}, nullptr);
      at = isComplex(dtype) ? k.CreateShl(at, 1, "", true, true) : at;
      storeLanes(k, scalars, dtype, elements, k.CreateInBoundsGEP(scalars.memoryType(dtype), out, at), nullptr);
    };
    loop(i64(0), i64(count / whole), [&](Value *i) { some(k.CreateMul(i, i64(whole), "", true, true), whole); });
    for (int64_t lanes = whole / 2, at = count / whole * whole; lanes > 0; lanes /= 2)
      if (count & lanes) {
        some(i64(at), lanes);
        at += lanes;
      }
  });
  finishRows(sizes, bytes);
  return true;
}

} // namespace toy
