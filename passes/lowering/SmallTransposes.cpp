// SPDX-License-Identifier: Apache-2.0
/// \file
/// Copies of many small matrices whose last two axes change places, and those whose last axis is short and comes from
/// far apart: registers of elements that lie together are loaded, shuffled and stored, where a loop would move its
/// elements one by one.
#include "passes/SmallSwaps.h"
#include "passes/lowering/KernelEmitter.h"

using namespace llvm;

namespace toy {

/// One step, of elements of a type that lie from `source` on, to `result`.
static void emitStep(IRBuilder<> &k, const ShuffledStep &step, Type *element, Value *source, Value *result) {
  auto *type = FixedVectorType::get(element, step.lanes);
  const Align align(element->getScalarSizeInBits() / 8);
  SmallVector<Value *> loaded;
  for (int64_t place : step.from)
    loaded.push_back(k.CreateAlignedLoad(type, k.CreateConstInBoundsGEP1_64(element, source, place), align));
  for (int64_t place : step.to) {
    Value *made = nullptr;
    for (size_t number = 0; number < loaded.size(); ++number) {
      SmallVector<int> lanes;
      bool isRead = false;
      for (int64_t lane = 0; lane < step.lanes; ++lane) {
        const auto [found, at] = step.find(step.sourceOf(place + lane));
        isRead |= found == number;
        lanes.push_back(static_cast<int>(found == number ? (made ? step.lanes : 0) + at
                                         : made          ? lane
                                                         : PoisonMaskElem));
      }
      if (isRead)
        made = made ? k.CreateShuffleVector(made, loaded[number], lanes) : k.CreateShuffleVector(loaded[number], lanes);
    }
    k.CreateAlignedStore(made, k.CreateConstInBoundsGEP1_64(element, result, place), align);
  }
}

bool KernelEmitter::emitSmallTransposes() {
  auto permute = root.getDefiningOp<PermuteOp>();
  if (!permute || !isa<mlir::BlockArgument>(permute.getX()))
    return false;
  const auto swap = smallSwapOf(permute);
  if (!swap)
    return false;
  const ShuffledStep &step = swap->step;
  const int64_t columns = swap->columns, rows = swap->rows, matrices = swap->matrices, together = swap->together;
  const int64_t each = rows * columns, bytes = sizeOf(rootType.getDtype());
  begin();
  Type *element = k.getIntNTy(8 * bytes);
  Value *out = capture(callerOut), *data = capture(dataOf(permute.getX()));
  auto place = [&](Value *from, Value *at) { return k.CreateInBoundsGEP(element, from, at); };
  auto first = [&](Value *number, int64_t some, int64_t all) { // the last ones begin before the others' end
    return k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateMul(number, i64(some), "", true, true), i64(all - some));
  };
  loop(rangeBegin, rangeEnd, [&](Value *number) {
    if (together) {
      Value *at = k.CreateMul(first(number, together, matrices), i64(each), "", true, true);
      return emitStep(k, step, element, place(data, at), place(out, at));
    }
    Value *matrix = k.CreateMul(number, i64(each), "", true, true);
    loop(i64(0), i64((columns + step.lanes - 1) / step.lanes), [&](Value *block) {
      Value *column = first(block, step.lanes, columns);
      Value *to = k.CreateAdd(matrix, k.CreateMul(column, i64(rows), "", true, true), "", true, true);
      emitStep(k, step, element, place(data, k.CreateAdd(matrix, column, "", true, true)), place(out, to));
    });
  });
  finish(caller.getInt64(together ? (matrices + together - 1) / together : matrices),
         caller.getInt64(std::max<int64_t>(together, 1) * each));
  return true;
}

/// Tiles of which rows are put together element by element.
bool KernelEmitter::emitInterleaved() {
  auto permute = root.getDefiningOp<PermuteOp>();
  if (!permute || device || !isa<mlir::BlockArgument>(permute.getX()))
    return false;
  const auto found = interleavedTileOf(permute);
  if (!found)
    return false;
  const InterleavedTile &tile = *found;
  const mlir::Value x = permute.getX();
  const int64_t rank = rootType.getRank(), bytes = sizeOf(rootType.getDtype()), pitch = tilePitch(tile.width),
                matrix = tile.height * pitch;
  ShuffledStep step{tile.height, {}, {}, {}}; // a register is a line
  for (int64_t part = 0; part < tile.parts; ++part) {
    step.from.push_back(part * matrix);
    step.to.push_back(part * step.lanes);
  }
  step.sourceOf = [=, parts = tile.parts](int64_t at) { return at % parts * matrix + at / parts; };
  begin();
  Type *element = k.getIntNTy(8 * bytes);
  Value *out = capture(callerOut), *data = capture(dataOf(x)),
        *buffer = tileBuffer(rootType.getDtype(), tile.parts * tile.height, tile.width);
  SmallVector<Value *> sizes, blocks;
  int64_t count = 1;
  for (int64_t axis = 0; axis < rank; ++axis) {
    const int64_t size = rootType.getDim(axis).value(), edge = tile.edge(axis, rank);
    sizes.push_back(i64(size));
    blocks.push_back(i64((size + edge - 1) / edge));
    count *= (size + edge - 1) / edge;
  }
  loop(rangeBegin, rangeEnd, [&](Value *block) {
    Indices start = decode(block, blocks);
    for (int64_t axis = 0; axis < rank - 1; ++axis) // the last ones begin before the others' end
      start[axis] =
          k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateMul(start[axis], i64(tile.edge(axis, rank)), "", true, true),
                                  i64(rootType.getDim(axis).value() - tile.edge(axis, rank)));
    for (int64_t part = 0; part < tile.parts; ++part) {
      start.back() = i64(part);
      Indices own(start.size());
      for (auto [axis, from] : enumerate(permute.getPermutation()))
        own[from] = start[axis];
      Value *from = k.CreateInBoundsGEP(element, data, offsetOf(x, own));
      Value *to = k.CreateConstInBoundsGEP1_64(element, buffer, part * matrix);
      scalars
          .call("toy_rt_transpose", k.getVoidTy(),
                {to, i64(pitch), from, i64(tile.pitch), i64(tile.width), i64(tile.height), i64(bytes), i64(0)})
          ->setDoesNotThrow();
    }
    loop(i64(0), i64(tile.height), [&](Value *row) {
      Value *line = k.CreateMul(row, i64(pitch), "", true, true);
      loop(i64(0), i64(tile.width / step.lanes), [&](Value *number) {
        Value *at = k.CreateMul(number, i64(step.lanes), "", true, true);
        Indices to = start;
        to[tile.row] = k.CreateAdd(start[tile.row], row, "", true, true);
        to[rank - 2] = k.CreateAdd(start[rank - 2], at, "", true, true);
        to.back() = i64(0);
        emitStep(k, step, element, k.CreateInBoundsGEP(element, buffer, k.CreateAdd(line, at, "", true, true)),
                 k.CreateInBoundsGEP(element, out, placeOf(to, sizes)));
      });
    });
  });
  finish(caller.getInt64(count), caller.getInt64(tile.height * tile.width * tile.parts));
  return true;
}

} // namespace toy
