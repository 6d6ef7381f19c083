// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions along the last axis of operands that lie along another one in memory: rows side by side, as many as are
/// read together, each with its lanes.
#include "passes/lowering/KernelEmitter.h"

using namespace llvm;

namespace toy {

/// Rows that are folded side by side: with their lanes they fit into the first cache.
static int64_t rowsTogether(DType dtype) { return 512 / sizeOf(dtype); }

/// Whether all operands that are read along the axis that is reduced lie along one other.
bool KernelEmitter::areRowsStrided(mlir::Operation *op) {
  const ReductionAxes axes(op);
  const int64_t rank = tensorTypeOf(op->getOperand(0)).getRank();
  if (axes.reduced.size() != 1 || axes.outer.empty())
    return false;
  bool othersGoAlong = false;
  auto found = transposedOperands(op->getOperand(0), rank, othersGoAlong);
  if (found.empty() || othersGoAlong)
    return false;
  const int64_t across = found[0].axes.back();
  const Dim rows = tensorTypeOf(op->getOperand(0)).getDim(across);
  return all_of(found, [&](const Transposed &t) { return t.axes.back() == across; }) &&
         !(rows.isNumber() && rows.value() < 8);
}

/// Of rows [0, number) from that of `outer` on: their lanes are combined a block at a time, and added to the totals.
void KernelEmitter::foldStridedRows(mlir::Operation *op, const Indices &outer, int64_t across, Value *number, Value *n,
                                    Lanes &lanes, Lanes &totals) {
  const DType dtype = rootType.getDtype();
  const int64_t together = rowsTogether(dtype);
  const Fold identity = startFold(op, dtype);
  auto at = [&](Value *lane, Value *row) {
    return k.CreateAdd(k.CreateMul(lane, i64(together), "", true, true), row, "", true, true);
  };
  bool othersGoAlong = false;
  const auto operands = transposedOperands(op->getOperand(0), tensorTypeOf(op->getOperand(0)).getRank(), othersGoAlong);
  // What is read a few steps later: its lines lie apart from those of this step, and no processor looks for them.
  auto prefetch = [&](Value *j) {
    constexpr int64_t ahead = 8;
    Value *later = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(j, i64(ahead), "", true, true),
                                           k.CreateSub(n, i64(1), "", true, true));
    for (const Transposed &t : operands)
      prefetchRow(placeAcross(t, reductionIndices(op, outer, later)).first, 0,
                  together * sizeOf(tensorTypeOf(t.argument).getDtype()));
  };
  auto overRows = [&](function_ref<void(Value *)> body) { loop(i64(0), number, body); };
  auto merge = [&](Value *to, const Fold &part) { lanes.write(to, mergeFolds(op, lanes.read(to), part, dtype)); };
  overRows([&](Value *row) { totals.write(row, identity); }); // an empty fold
  loop(i64(0), k.CreateUDiv(k.CreateAdd(n, i64(reductionBlock - 1)), i64(reductionBlock)), [&](Value *block) {
    Value *from = k.CreateMul(block, i64(reductionBlock), "", true, true),
          *to = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(from, i64(reductionBlock), "", true, true), n);
    loop(i64(0), i64(reductionLanes),
         [&](Value *lane) { overRows([&](Value *row) { lanes.write(at(lane, row), identity); }); });
    loop(from, to, [&](Value *j) {
      Value *lane = k.CreateAnd(j, i64(reductionLanes - 1));
      prefetch(j);
      overRows([&](Value *row) {
        Indices own = outer;
        own[across] = k.CreateAdd(own[across], row, "", true, true);
        merge(at(lane, row), foldOf(op, reductionElement(op, own, j), dtype));
      });
    });
    for (int64_t half = reductionLanes / 2; half > 0; half /= 2)
      loop(i64(0), i64(half), [&](Value *lane) {
        overRows([&](Value *row) { merge(at(lane, row), lanes.read(at(k.CreateAdd(lane, i64(half)), row))); });
      });
    Value *isFirst = k.CreateICmpEQ(block, i64(0));
    overRows([&](Value *row) {
      const Fold part = lanes.read(row), before = totals.read(row), sum = mergeFolds(op, before, part, dtype);
      Fold total;
      for (auto [first, later] : zip_equal(part, sum))
        total.push_back(first ? k.CreateSelect(isFirst, first, later) : nullptr);
      totals.write(row, total);
    });
  });
}

void KernelEmitter::emitStridedRows(mlir::Operation *op) {
  mlir::Value x = op->getOperand(0);
  const DType dtype = rootType.getDtype();
  const ReductionAxes axes(op);
  bool othersGoAlong = false;
  const int64_t across = transposedOperands(x, tensorTypeOf(x).getRank(), othersGoAlong)[0].axes.back(),
                together = rowsTogether(dtype), place = llvm::find(axes.outer, across) - axes.outer.begin();
  SmallVector<Value *> outerSizes = callerSizesOf(x, axes.outer), steps = outerSizes;
  Value *length = callerSize(x, axes.reduced[0]);
  steps[place] =
      caller.CreateUDiv(caller.CreateAdd(outerSizes[place], caller.getInt64(together - 1)), caller.getInt64(together));
  Value *range = product(steps);
  begin();
  Value *out = capture(callerOut), *n = capture(length);
  SmallVector<Value *> sizes = captureAll(outerSizes), inner = captureAll(steps);
  const Fold identity = startFold(op, dtype);
  Lanes lanes(*this, identity, reductionLanes * together), totals(*this, identity, together);
  loop(rangeBegin, rangeEnd, [&](Value *step) {
    Indices outer = decode(step, inner);
    outer[place] = k.CreateMul(outer[place], i64(together), "", true, true);
    Value *number = k.CreateBinaryIntrinsic(Intrinsic::smin, i64(together),
                                            k.CreateSub(sizes[place], outer[place], "", true, true));
    foldStridedRows(op, outer, place, number, n, lanes, totals);
    loop(i64(0), number, [&](Value *row) {
      Indices own = outer;
      own[place] = k.CreateAdd(own[place], row, "", true, true);
      scalars.store(dtype, out, placeOf(own, sizes), finishFold(op, totals.read(row), dtype));
    });
  });
  finish(range, caller.CreateMul(length, caller.getInt64(together)));
}

} // namespace toy
