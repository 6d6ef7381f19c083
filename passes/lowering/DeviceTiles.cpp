// SPDX-License-Identifier: Apache-2.0
/// \file
/// Groups that read operands across the rows of the result, on a CUDA device: a block of threads computes a tile of the
/// result. First it puts the part of each such operand that the tile needs into memory that its threads share, along
/// the operand's rows; then it reads it along the result's.
#include "passes/lowering/KernelEmitter.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace toy {

/// Edge of a tile. All buffers of a block have room in what every device gives to one.
static constexpr int64_t edge = warp, mostShared = 48 << 10;
/// Elements from one row of a buffer to the next: an odd number of words of 4 bytes (or of larger elements), so that
/// neither a row nor a column has two words of one bank.
static int64_t pitchOf(DType dtype) { return edge + std::max<int64_t>(1, 4 / sizeOf(dtype)); }

/// Rows (of the result, or of an operand) that a thread has to do with: its warp's, and every eighth.
static constexpr int64_t rowsOfThread = edge * edge / threadsOfBlock, warpsOfBlock = threadsOfBlock / warp;

void KernelEmitter::shareTiles() {
  int64_t bytes = 0;
  erase_if(transposed, [&](const Transposed &t) { // the others are read as they are
    DType dtype = tensorTypeOf(t.argument).getDtype();
    return (bytes += edge * pitchOf(dtype) * sizeOf(dtype)) > mostShared;
  });
  for (Transposed &t : transposed) {
    DType dtype = tensorTypeOf(t.argument).getDtype();
    t.pitch = pitchOf(dtype);
    t.buffer = sharedMemory(edge * t.pitch * sizeOf(dtype));
  }
}

/// Bytes that the threads of a block share.
Value *KernelEmitter::sharedMemory(int64_t bytes) {
  auto *type = ArrayType::get(k.getInt8Ty(), bytes);
  constexpr unsigned shared = 3;
  auto *buffer = new GlobalVariable(module, type, false, GlobalValue::InternalLinkage, PoisonValue::get(type), "shared",
                                    nullptr, GlobalValue::NotThreadLocal, shared);
  buffer->setAlignment(Align(accessBytes));
  return buffer;
}

/// All threads of a block have come here, and see what the others have stored in shared memory.
void KernelEmitter::meetInBlock() { k.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_aligned_all, {k.getInt32(0)}); }

/// Indices of the tile's element: of beyond the end the last one's, which several threads compute and store.
KernelEmitter::Indices KernelEmitter::insideTile(const Indices &tile, ArrayRef<Value *> sizes, Value *row,
                                                 Value *column) {
  Indices out = tile;
  auto clamp = [&](int64_t axis, Value *first, Value *offset) {
    Value *index = k.CreateAdd(first, offset, "", true, true);
    out[axis] = k.CreateBinaryIntrinsic(Intrinsic::smin, index, k.CreateSub(sizes[axis], i64(1)));
  };
  clamp(transposed[0].axes.back(), tileRow, row);
  clamp(static_cast<int64_t>(tile.size()) - 1, tileColumn, column);
  return out;
}

/// Threads of a warp read along the rows of the operand.
void KernelEmitter::fillSharedTiles(const Indices &tile, ArrayRef<Value *> sizes, Value *lane, Value *first) {
  SmallVector<std::pair<Value *, Element>> elements;
  for (const Transposed &t : transposed)
    for (int64_t i = 0; i < rowsOfThread; ++i) {
      Value *column = k.CreateAdd(first, i64(i * warpsOfBlock), "", true, true);
      Indices at = insideTile(tile, sizes, lane, column), own;
      for (int64_t axis : t.axes)
        own.push_back(axis < 0 ? i64(0) : at[axis]);
      DType dtype = tensorTypeOf(t.argument).getDtype();
      elements.emplace_back(column, scalars.load(dtype, capture(dataOf(t.argument)), offsetOf(t.argument, own)));
    }
  for (auto [i, element] : enumerate(elements)) {
    const Transposed &t = transposed[i / rowsOfThread];
    Value *row = k.CreateMul(lane, i64(t.pitch), "", true, true);
    scalars.store(tensorTypeOf(t.argument).getDtype(), t.buffer, k.CreateAdd(row, element.first, "", true, true),
                  element.second);
  }
}

/// All elements of a thread are read and computed before the first is stored.
void KernelEmitter::computeTile(const Indices &tile, ArrayRef<Value *> sizes, Value *lane, Value *first, Value *out) {
  SmallVector<Indices> all;
  SmallVector<Element> elements;
  for (int64_t i = 0; i < rowsOfThread; ++i) {
    Value *row = k.CreateAdd(first, i64(i * warpsOfBlock), "", true, true);
    all.push_back(tileIndices = insideTile(tile, sizes, row, lane));
    prefetch(root, tileIndices);
  }
  for (const Indices &own : all) {
    tileIndices = own;
    elements.push_back(mapElement(root, own));
  }
  for (auto [own, element] : zip_equal(all, elements)) {
    Value *place = own[0];
    for (auto [size, index] : zip_equal(drop_begin(sizes), drop_begin(own)))
      place = k.CreateAdd(k.CreateMul(place, size, "", true, true), index, "", true, true);
    storeMapElement(root, out, place, element);
  }
}

Value *KernelEmitter::launchTiles(Value *site, ArrayRef<Value *> callerSizes) {
  const int64_t across = transposed[0].axes.back(), last = static_cast<int64_t>(callerSizes.size()) - 1;
  SmallVector<Value *> tiles(callerSizes);
  for (int64_t axis : {across, last})
    tiles[axis] = caller.CreateUDiv(caller.CreateAdd(tiles[axis], caller.getInt64(edge - 1)), caller.getInt64(edge));
  begin();
  shareTiles();
  Value *out = capture(callerOut);
  SmallVector<Value *> sizes = map_to_vector(callerSizes, [&](Value *v) { return capture(v); }),
                       numbers = map_to_vector(tiles, [&](Value *v) { return capture(v); });
  Value *thread = special(Intrinsic::nvvm_read_ptx_sreg_tid_x), *lane = k.CreateAnd(thread, i64(warp - 1)),
        *first = k.CreateLShr(thread, i64(5));
  Indices tile = decode(special(Intrinsic::nvvm_read_ptx_sreg_ctaid_x), numbers);
  tileRow = k.CreateMul(tile[across], i64(edge), "", true, true);
  tileColumn = k.CreateMul(tile[last], i64(edge), "", true, true);
  fillSharedTiles(tile, sizes, lane, first);
  meetInBlock();
  computeTile(tile, sizes, lane, first, out);
  transposed.clear();
  return finishLaunch(caller.CreateMul(product(tiles), caller.getInt64(threadsOfBlock)),
                      {{rootType.getDtype(), resultSizes()}}, site);
}

} // namespace toy
