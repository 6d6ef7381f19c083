// SPDX-License-Identifier: Apache-2.0
/// \file
/// Groups that end in a permutation of axes: tiles are computed as the operands lie, and transposed into the result.
#include "passes/lowering/KernelEmitter.h"

using namespace llvm;

namespace toy {

/// What a permutation does to the two axes whose elements lie together: that of the operand, which is axis `row` of the
/// result, and that of the result, which is axis `across` of the operand.
struct KernelEmitter::Permuted {
  PermuteOp op;
  int64_t rank, row, across;
  bool isCopy; ///< of an input

  KernelEmitter::Indices before(const Indices &indices) {
    Indices own(indices.size());
    for (auto [i, axis] : enumerate(op.getPermutation()))
      own[axis] = indices[i];
    return own;
  }
};

/// Of the tile whose indices in the result begin at `start`: the operand's elements, and how far apart its rows are.
std::pair<Value *, Value *> KernelEmitter::tileBefore(Permuted &p, const Indices &start, Value *rows, Value *columns,
                                                      Value *buffer) {
  mlir::Value x = p.op.getX();
  const int64_t bytes = sizeOf(rootType.getDtype());
  if (p.isCopy) {
    Value *pitch = i64(1);
    for (int64_t axis = p.across + 1; axis < p.rank; ++axis)
      pitch = k.CreateMul(pitch, size(x, axis), "", true, true);
    Value *offset = k.CreateMul(offsetOf(x, p.before(start)), i64(bytes), "", true, true);
    return {k.CreateInBoundsGEP(k.getInt8Ty(), capture(dataOf(x)), offset), pitch};
  }
  Value *pitch = i64(tilePitch(tileEdge(rootType.getDtype())));
  loop(i64(0), columns, [&](Value *column) {
    Indices indices = start;
    indices.back() = k.CreateAdd(start.back(), column, "", true, true);
    Value *base = k.CreateMul(column, pitch, "", true, true);
    loop(i64(0), rows, [&](Value *row) {
      Indices own = indices;
      own[p.row] = k.CreateAdd(start[p.row], row, "", true, true);
      storeMapElement(x, buffer, k.CreateAdd(base, row, "", true, true), mapElement(x, p.before(own)));
    });
  });
  return {buffer, pitch};
}

bool KernelEmitter::findPermuted(Permuted &p) {
  p.op = root.getDefiningOp<PermuteOp>();
  auto known = rootType.getStaticCount();
  if (!p.op || device || (known && *known < 256))
    return false;
  p.rank = rootType.getRank();
  p.across = p.op.getPermutation()[p.rank - 1];
  p.row = llvm::find(p.op.getPermutation(), p.rank - 1) - p.op.getPermutation().begin();
  p.isCopy = isa<mlir::BlockArgument>(p.op.getX());
  auto isBelow = [&](int64_t axis, int64_t size) {
    return rootType.getDim(axis).isNumber() && rootType.getDim(axis).value() < size;
  };
  const int64_t shortest = p.isCopy ? 8 : 32; // loops of few turns are no vectors
  return p.row != p.rank - 1 && !isBelow(p.row, shortest) && !isBelow(p.rank - 1, 8) &&
         !readsAcross(p.op.getX(), p.rank);
}

bool KernelEmitter::emitPermutedMap() {
  Permuted p;
  if (!findPermuted(p))
    return false;
  const auto sizes = beginMap().sizes;
  const int64_t edge = tileEdge(rootType.getDtype());
  auto blocksOf = [&](IRBuilder<> &b, Value *n) {
    return b.CreateUDiv(b.CreateAdd(n, b.getInt64(edge - 1)), b.getInt64(edge));
  };
  SmallVector<Value *> outerSizes;
  for (int64_t axis = 0; axis < p.rank - 1; ++axis)
    outerSizes.push_back(axis == p.row ? blocksOf(caller, sizes[axis]) : sizes[axis]);
  Value *range = caller.CreateSelect(caller.CreateICmpEQ(sizes.back(), caller.getInt64(0)), sizes.back(),
                                     product(outerSizes)); // blocks of rows without elements are not counted
  begin();
  Value *out = capture(callerOut), *bytes = i64(sizeOf(rootType.getDtype()));
  SmallVector<Value *> inner = captureAll(sizes), outer = captureAll(outerSizes);
  Value *buffer = nullptr, *pitch = i64(1); // of the result's rows in a tile
  for (int64_t axis = p.row + 1; axis < p.rank; ++axis)
    pitch = k.CreateMul(pitch, inner[axis], "", true, true);
  Value *streams = streamsTiles();
  if (!p.isCopy)
    buffer = tileBuffer(rootType.getDtype(), edge, edge);
  auto least = [&](Value *from, Value *size) {
    return k.CreateBinaryIntrinsic(Intrinsic::smin, i64(edge), k.CreateSub(size, from, "", true, true));
  };
  loop(rangeBegin, rangeEnd, [&](Value *block) {
    Indices start = decode(block, outer);
    start[p.row] = k.CreateMul(start[p.row], i64(edge), "", true, true);
    Value *rows = least(start[p.row], inner[p.row]);
    start.push_back(nullptr);
    loop(i64(0), blocksOf(k, inner.back()), [&](Value *columnBlock) {
      start.back() = k.CreateMul(columnBlock, i64(edge), "", true, true);
      Value *columns = least(start.back(), inner.back());
      auto [from, fromPitch] = tileBefore(p, start, rows, columns, buffer);
      Value *to = k.CreateInBoundsGEP(k.getInt8Ty(), out, k.CreateMul(placeOf(start, inner), bytes, "", true, true));
      Value *past = streams ? k.CreateZExt(streams, k.getInt64Ty()) : i64(0);
      scalars.call("toy_rt_transpose", k.getVoidTy(), {to, pitch, from, fromPitch, columns, rows, bytes, past})
          ->setDoesNotThrow();
    });
  });
  endStream(streams);
  finish(range, caller.CreateMul(caller.getInt64(edge), sizes.back()));
  return true;
}

} // namespace toy
