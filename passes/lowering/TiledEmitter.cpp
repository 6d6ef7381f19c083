// SPDX-License-Identifier: Apache-2.0
/// \file
/// Groups that read operands across the rows of the result (transposes and other permutations): the result is computed
/// tile by tile, and a tile of each such operand is transposed into a buffer on the stack first.
#include "passes/lowering/KernelEmitter.h"

#include "runtime/Parallel.h"

#include <set>

using namespace llvm;

namespace toy {

/// An edge of a tile is some cache lines, while several operands fit into the first cache.
int64_t KernelEmitter::tileEdge(DType dtype) { return sizeOf(dtype) <= 4 ? 64 : 32; }
/// Between rows of a buffer, so that its columns do not fall together in the cache.
int64_t KernelEmitter::tilePitch(int64_t edge) { return edge + 16; }

/// On the stack.
Value *KernelEmitter::tileBuffer(DType dtype, int64_t rows, int64_t edge) {
  IRBuilder<> entry(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
  AllocaInst *buffer = entry.CreateAlloca(ArrayType::get(entry.getInt8Ty(), rows * tilePitch(edge) * sizeOf(dtype)));
  buffer->setAlignment(Align(64));
  return buffer;
}

/// Operands whose last axis is not the value's, which they have, too. Sets `othersGoAlong` if another one may be read
/// along the value's last axis.
SmallVector<KernelEmitter::Transposed> KernelEmitter::transposedOperands(mlir::Value root, int64_t rank,
                                                                         bool &othersGoAlong) {
  SmallVector<Transposed> found;
  std::set<std::pair<void *, std::vector<int64_t>>> seen;
  auto visit = [&](auto &self, mlir::Value value, std::vector<int64_t> axes) -> void {
    TensorType type = tensorTypeOf(value);
    for (auto [axis, of] : enumerate(axes))
      if (type.getDim(axis).is(1))
        of = -1;
    if (type.isScalar() || !seen.emplace(value.getAsOpaquePointer(), axes).second)
      return;
    auto suffix = [&](mlir::Value operand) {
      return std::vector<int64_t>(axes.end() - tensorTypeOf(operand).getRank(), axes.end());
    };
    if (auto argument = dyn_cast<mlir::BlockArgument>(value)) {
      if (!axes.empty() && axes.back() >= 0 && axes.back() != rank - 1 && llvm::count(axes, rank - 1) == 1)
        found.push_back({argument, axes});
      else
        othersGoAlong |= is_contained(axes, rank - 1);
      return;
    }
    mlir::Operation *def = value.getDefiningOp();
    if (def->hasTrait<OpTrait::Elementwise>()) {
      for (mlir::Value operand : def->getOperands())
        self(self, operand, suffix(operand));
    } else if (auto o = dyn_cast<PermuteOp>(def)) {
      std::vector<int64_t> own(axes.size());
      for (auto [i, axis] : enumerate(o.getPermutation()))
        own[axis] = axes[i];
      self(self, o.getX(), own);
    } else if (auto o = dyn_cast<BroadcastOp>(def)) {
      std::vector<int64_t> own = suffix(o.getX());
      for (auto [axis, of] : enumerate(own)) // what may be repeated is read as it is
        if (tensorTypeOf(o.getX()).getDim(axis) != type.getDim(type.getRank() - own.size() + axis))
          of = -1;
      self(self, o.getX(), own);
    } else {
      othersGoAlong |= !isa<FullOp, ConstantOp>(def);
    }
  };
  auto all = seq<int64_t>(rank);
  visit(visit, root, std::vector<int64_t>(all.begin(), all.end()));
  return found;
}

bool KernelEmitter::readsAcross(mlir::Value value, int64_t rank) {
  bool othersGoAlong = false;
  return !transposedOperands(value, rank, othersGoAlong).empty();
}

Value *KernelEmitter::transposedElement(mlir::Value value, const Indices &indices, Value *&offset) {
  for (const Transposed &t : transposed)
    if (t.argument == value && all_of(zip_equal(t.axes, indices), [&](auto pair) {
          auto [axis, index] = pair;
          return axis < 0 ? isa<ConstantInt>(index) : index == tileIndices[axis];
        })) {
      Value *row = k.CreateSub(tileIndices[t.axes.back()], tileRow, "", true, true);
      Value *column = k.CreateSub(tileIndices.back(), tileColumn, "", true, true);
      offset = k.CreateAdd(k.CreateMul(row, i64(t.pitch), "", true, true), column, "", true, true);
      return t.buffer;
    }
  return nullptr;
}

/// Where the operand has the element with such indices of the value, and elements from there to the next one along the
/// value's last axis.
std::pair<Value *, Value *> KernelEmitter::placeAcross(const Transposed &t, const Indices &start) {
  Indices indices;
  Value *pitch = i64(1); // of the axis that the result's columns go along
  for (auto [axis, of] : enumerate(t.axes))
    indices.push_back(of < 0 ? i64(0) : start[of]);
  for (int64_t axis = t.axes.size(); t.axes[--axis] != static_cast<int64_t>(start.size()) - 1;)
    pitch = k.CreateMul(pitch, size(t.argument, axis), "", true, true);
  Value *data = capture(dataOf(t.argument)), *bytes = i64(sizeOf(tensorTypeOf(t.argument).getDtype()));
  return {k.CreateInBoundsGEP(k.getInt8Ty(), data, k.CreateMul(offsetOf(t.argument, indices), bytes, "", true, true)),
          pitch};
}

/// Whether the result goes past the caches: it has rows of whole cache lines, and with the group's inputs is larger
/// than they are. Null where it is known to be smaller.
Value *KernelEmitter::streamsTiles() {
  const SmallVector<Value *> sizes = resultSizes();
  Value *bytes = caller.getInt64(sizeOf(rootType.getDtype())), *total = caller.CreateMul(product(sizes), bytes);
  for (mlir::BlockArgument argument : op.getBody().getArguments())
    if (auto type = dyn_cast<TensorType>(argument.getType()); type && !type.isScalar())
      total = caller.CreateAdd(total,
                               caller.CreateMul(product(sizesOf(argument)), caller.getInt64(sizeOf(type.getDtype()))));
  Value *isLarge = caller.CreateICmpSGE(total, caller.getInt64(rt::streamTiles)),
        *rest = caller.CreateAnd(caller.CreateMul(sizes.back(), bytes), caller.getInt64(63)),
        *areLines = caller.CreateICmpEQ(rest, caller.getInt64(0));
  Value *streams = caller.CreateZExt(caller.CreateAnd(isLarge, areLines), caller.getInt64Ty());
  auto *known = dyn_cast<ConstantInt>(streams);
  return known && known->isZero() ? nullptr : k.CreateICmpNE(capture(streams), i64(0));
}

/// Others see what was streamed.
void KernelEmitter::endStream(Value *streams) {
  if (streams)
    guarded(streams, [&] { scalars.call("toy_rt_finish_stream", k.getVoidTy(), {})->setDoesNotThrow(); });
}

/// Transposes the part of the operand that rows from `tileRow` and columns from `tileColumn` of the result need.
void KernelEmitter::fillTile(const Transposed &t, const Indices &start, Value *rows, Value *columns) {
  const auto [from, pitch] = placeAcross(t, start);
  Value *bytes = i64(sizeOf(tensorTypeOf(t.argument).getDtype()));
  scalars.call("toy_rt_transpose", k.getVoidTy(), {t.buffer, i64(t.pitch), from, pitch, columns, rows, bytes, i64(0)})
      ->setDoesNotThrow();
}

/// Operands of a map that are transposed, all of them along one axis of the result; the others are read as they are.
bool KernelEmitter::findTransposed(int64_t rank) {
  auto known = rootType.getStaticCount();
  if (flat || rank < 2 || root.getDefiningOp<PackOp>() || (known && *known < 256))
    return false;
  bool othersGoAlong = false;
  transposed = transposedOperands(root, rank, othersGoAlong);
  // A row of a few elements is no tile.
  auto isShort = [&](int64_t axis) { return rootType.getDim(axis).isNumber() && rootType.getDim(axis).value() < 8; };
  erase_if(transposed, [&](const Transposed &t) { return isShort(t.axes.back()) || isShort(rank - 1); });
  if (transposed.empty())
    return false;
  const int64_t across = transposed[0].axes.back();
  erase_if(transposed, [&](const Transposed &t) { return t.axes.back() != across; });
  transposed.truncate(std::min<size_t>(transposed.size(), 4));
  return true;
}

bool KernelEmitter::emitTiledMap() {
  auto [sizes, bytes] = beginMap();
  const auto rank = static_cast<int64_t>(sizes.size());
  if (!findTransposed(rank))
    return false;
  const int64_t across = transposed[0].axes.back();
  int64_t edge = tileEdge(rootType.getDtype());
  for (const Transposed &t : transposed)
    edge = std::min(edge, tileEdge(tensorTypeOf(t.argument).getDtype()));
  auto blocksOf = [&](IRBuilder<> &b, Value *n) {
    return b.CreateUDiv(b.CreateAdd(n, b.getInt64(edge - 1)), b.getInt64(edge));
  };
  SmallVector<Value *> outerSizes;
  for (int64_t axis = 0; axis < rank - 1; ++axis)
    outerSizes.push_back(axis == across ? blocksOf(caller, sizes[axis]) : sizes[axis]);
  Value *range = caller.CreateSelect(caller.CreateICmpEQ(sizes.back(), caller.getInt64(0)), sizes.back(),
                                     product(outerSizes)); // blocks of rows without elements are not counted
  begin();
  Value *out = capture(callerOut);
  SmallVector<Value *> inner = map_to_vector(sizes, [&](Value *v) { return capture(v); });
  SmallVector<Value *> outer = map_to_vector(outerSizes, [&](Value *v) { return capture(v); });
  for (Transposed &t : transposed) {
    t.buffer = tileBuffer(tensorTypeOf(t.argument).getDtype(), edge, edge);
    t.pitch = tilePitch(edge);
  }
  Value *streams = streamsTiles(), *line = streams ? tileBuffer(rootType.getDtype(), 1, edge) : nullptr;
  loop(rangeBegin, rangeEnd, [&](Value *block) {
    Indices start = decode(block, outer);
    start.push_back(nullptr);
    Value *from = start[across] = tileRow = k.CreateMul(start[across], i64(edge), "", true, true);
    Value *to = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(from, i64(edge), "", true, true), inner[across]);
    loop(i64(0), blocksOf(k, inner.back()), [&](Value *columnBlock) {
      Value *first = start.back() = tileColumn = k.CreateMul(columnBlock, i64(edge), "", true, true);
      Value *last =
          k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(first, i64(edge), "", true, true), inner.back());
      for (const Transposed &t : transposed)
        fillTile(t, start, k.CreateSub(to, from), k.CreateSub(last, first));
      loop(from, to, [&](Value *row) {
        tileIndices = start;
        tileIndices[across] = row;
        Value *base = tileIndices[0];
        for (int64_t axis = 1; axis < rank; ++axis) {
          base = k.CreateMul(base, inner[axis], "", true, true);
          base = axis == rank - 1 ? base : k.CreateAdd(base, tileIndices[axis], "", true, true);
        }
        Value *to = out, *bytes = i64(sizeOf(rootType.getDtype())),
              *begin = k.CreateMul(k.CreateAdd(base, first, "", true, true), bytes, "", true, true);
        if (streams)
          to = k.CreateSelect(streams, k.CreateGEP(k.getInt8Ty(), line, k.CreateNeg(begin)), out);
        loop(first, last, [&](Value *column) {
          tileIndices.back() = column;
          storeMapElement(root, to, k.CreateAdd(base, column, "", true, true), mapElement(root, tileIndices));
        });
        if (streams)
          guarded(streams, [&] {
            Value *count = k.CreateMul(k.CreateSub(last, first), bytes);
            scalars.call("toy_rt_stream", k.getVoidTy(), {k.CreateInBoundsGEP(k.getInt8Ty(), out, begin), line, count})
                ->setDoesNotThrow();
          });
      });
    });
  });
  endStream(streams);
  finish(range, caller.CreateMul(caller.getInt64(edge), sizes.back()));
  transposed.clear();
  return true;
}

static constexpr int64_t shortSide = 8;

/// Maps with a side too short for tiles, of the result's rows or of those of an operand that is read across them: the
/// side is written without a loop, so that the others go along both.
bool KernelEmitter::emitShortSides() {
  const auto [sizes, bytes] = beginMap();
  const auto rank = static_cast<int64_t>(sizes.size());
  auto known = rootType.getStaticCount();
  if (flat || rank < 2 || root.getDefiningOp<PackOp>() || (known && *known < 256))
    return false;
  auto isShort = [&](int64_t axis) {
    return rootType.getDim(axis).isNumber() && rootType.getDim(axis).value() < shortSide;
  };
  bool othersGoAlong = false;
  SmallVector<Transposed> found = transposedOperands(root, rank, othersGoAlong);
  const bool isLastShort = isShort(rank - 1);
  for (const Transposed &t : found) {
    const int64_t across = t.axes.back();
    if (!isLastShort && isShort(across)) {
      emitShortRowsOfInput(across);
      return true;
    }
    if (isLastShort && across < rank - 2 && !isShort(across)) {
      emitShortRowsOfResult(across);
      return true;
    }
  }
  return false;
}

/// The place of an element in the result.
Value *KernelEmitter::placeOf(const Indices &indices, ArrayRef<Value *> sizes) {
  Value *at = indices[0];
  for (size_t axis = 1; axis < sizes.size(); ++axis)
    at = k.CreateAdd(k.CreateMul(at, sizes[axis], "", true, true), indices[axis], "", true, true);
  return at;
}

/// A loop over columns that writes all rows of the short axis.
void KernelEmitter::emitShortRowsOfInput(int64_t across) {
  const auto sizes = beginMap().sizes;
  const auto rank = static_cast<int64_t>(sizes.size());
  SmallVector<Value *> outerSizes;
  for (int64_t axis = 0; axis < rank - 1; ++axis)
    if (axis != across)
      outerSizes.push_back(sizes[axis]);
  const bool byColumns = outerSizes.empty();
  Value *columns = sizes.back(), *range = byColumns
                                              ? columns
                                              : caller.CreateSelect(caller.CreateICmpEQ(columns, caller.getInt64(0)),
                                                                    columns, product(outerSizes));
  begin();
  Value *out = capture(callerOut);
  SmallVector<Value *> inner = captureAll(sizes), outer = captureAll(outerSizes);
  auto column = [&](const Indices &others, Value *j) {
    for (int64_t row = 0; row < rootType.getDim(across).value(); ++row) {
      Indices indices = others;
      indices.insert(indices.begin() + across, i64(row));
      indices.push_back(j);
      storeMapElement(root, out, placeOf(indices, inner), mapElement(root, indices));
    }
  };
  if (byColumns)
    loop(rangeBegin, rangeEnd, [&](Value *j) { column({}, j); });
  else
    loop(rangeBegin, rangeEnd, [&](Value *step) {
      Indices others = decode(step, outer);
      loop(i64(0), inner.back(), [&](Value *j) { column(others, j); });
    });
  finish(range, byColumns ? sizes[across] : caller.CreateMul(sizes[across], columns));
}

/// Blocks of the axis that the operand's rows go along and of the last but one, whose elements write whole rows.
void KernelEmitter::emitShortRowsOfResult(int64_t across) {
  constexpr int64_t height = 16, width = 32; // reads use what there is of a cache line
  const auto sizes = beginMap().sizes;
  const auto rank = static_cast<int64_t>(sizes.size());
  auto blocks =
      caller.CreateUDiv(caller.CreateAdd(sizes[across], caller.getInt64(height - 1)), caller.getInt64(height));
  SmallVector<Value *> outerSizes;
  for (int64_t axis = 0; axis < rank - 2; ++axis)
    outerSizes.push_back(axis == across ? blocks : sizes[axis]);
  Value *range = product(outerSizes);
  begin();
  Value *out = capture(callerOut);
  SmallVector<Value *> inner = captureAll(sizes), outer = captureAll(outerSizes);
  auto from = [&](Value *block, int64_t edge) { return k.CreateMul(block, i64(edge), "", true, true); };
  auto to = [&](Value *first, int64_t edge, Value *size) {
    return k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(first, i64(edge), "", true, true), size);
  };
  loop(rangeBegin, rangeEnd, [&](Value *step) {
    const Indices start = decode(step, outer);
    Value *firstRow = from(start[across], height), *lastRow = to(firstRow, height, inner[across]),
          *side = inner[rank - 2];
    Value *sideBlocks = k.CreateUDiv(k.CreateAdd(side, i64(width - 1)), i64(width));
    loop(i64(0), sideBlocks, [&](Value *block) {
      Value *first = from(block, width), *last = to(first, width, side);
      loop(firstRow, lastRow, [&](Value *row) {
        loop(first, last, [&](Value *column) {
          Indices indices = start;
          indices[across] = row;
          indices.append({column, nullptr});
          for (int64_t j = 0; j < rootType.getDim(rank - 1).value(); ++j) {
            indices.back() = i64(j);
            storeMapElement(root, out, placeOf(indices, inner), mapElement(root, indices));
          }
        });
      });
    });
  });
  finish(range, caller.CreateMul(caller.getInt64(height), caller.CreateMul(sizes[rank - 2], sizes.back())));
}

} // namespace toy
