// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions of rows that have at most as many elements as there are lanes: of the order of sums only halving is left.
#include "passes/RowLanes.h"
#include "passes/lowering/KernelEmitter.h"

using namespace llvm;

namespace toy {

/// How often an element of a complex product is multiplied by 1 + 0i of lanes that nothing was put into: that changes
/// signs of zeros, and makes NaN of infinities, in the first and in the second product, and nothing afterwards.
static constexpr int64_t productsByOne = 2;

/// A row of a few elements, each in a lane of its own: what is left of the order of lanes, without loops. Only complex
/// products notice lanes that nothing was put into.
Element KernelEmitter::foldTinyRow(mlir::Operation *op, const Indices &outer, Value *base, int64_t count) {
  DType dtype = rootType.getDtype();
  const bool keepsIdentity = isComplex(dtype) && isa<ProdOp>(op);
  const Fold identity = startFold(op, dtype);
  SmallVector<Fold, reductionLanes> lanes;
  SmallVector<int64_t, reductionLanes> byOne(count, 1); // since a lane was multiplied by another one
  for (int64_t j = 0; j < count; ++j) {
    Value *at = base ? k.CreateAdd(base, i64(j), "", true, true) : i64(j);
    lanes.push_back(mergeFolds(op, identity, foldOf(op, reductionElement(op, outer, at), dtype), dtype));
  }
  for (int64_t half = reductionLanes / 2; half > 0; half /= 2)
    for (int64_t lane = 0; lane < std::min(half, count); ++lane)
      if (lane + half < count) {
        lanes[lane] = mergeFolds(op, lanes[lane], lanes[lane + half], dtype);
        byOne[lane] = 0;
      } else if (keepsIdentity && byOne[lane]++ < productsByOne)
        lanes[lane] = mergeFolds(op, lanes[lane], identity, dtype);
  return finishFold(op, lanes[0], dtype);
}

/// Starts a kernel over short rows, whose elements have one counter where they only depend on those of other tensors.
KernelEmitter::Rows KernelEmitter::beginRows(mlir::Operation *op) {
  mlir::Value x = op->getOperand(0);
  ReductionAxes axes(op);
  SmallVector<Value *> outerSizes = callerSizesOf(x, axes.outer);
  Value *number = product(outerSizes);
  flat = isAllElementwise(x) && axes.outer == to_vector(seq<int64_t>(axes.outer.size()));
  begin();
  Value *out = capture(callerOut);
  return {number, out, map_to_vector<4>(outerSizes, [&](Value *v) { return capture(v); })};
}

/// Rows of so few elements that LLVM takes a row a lane.
void KernelEmitter::emitTinyRows(mlir::Operation *op, int64_t count) {
  const Rows rows = beginRows(op);
  loop(rangeBegin, rangeEnd, [&](Value *row) {
    Indices outer = flat ? Indices() : decode(row, rows.sizes);
    Value *base = flat ? k.CreateMul(row, i64(count), "", true, true) : nullptr;
    scalars.store(rootType.getDtype(), rows.out, row, foldTinyRow(op, outer, base, count));
  });
  finish(rows.number, caller.getInt64(count));
}

/// Rows of at most as many elements as there are lanes: each element is a lane of its own, and only halving is left.
/// 16 rows go together. They are written to the stack, padded to a power of two; then a step takes vectors by two and
/// combines the first halves of their rows with the second halves.
void KernelEmitter::emitShortRows(mlir::Operation *op, int64_t count) {
  DType dtype = rootType.getDtype();
  const Rows rows = beginRows(op);
  const auto pitch = static_cast<int64_t>(PowerOf2Ceil(count));
  const int64_t together = sizeOf(realOf(dtype)) < 8 || pitch > 16 ? 16 : 8;
  Element identity = identityOf(op, dtype);
  Lanes tile(*this, {identity.re, identity.im}, together * pitch), sums(*this, {identity.re, identity.im}, together);
  loop(i64(0), i64(together * pitch), [&](Value *i) { tile.write(i, {identity.re, identity.im}); });
  const bool isDense = flat && pitch != count; // functions of elements are called for vectors of all rows
  Lanes dense(*this, {identity.re, identity.im}, isDense ? together * count : 1);
  Value *length = k.CreateSub(rangeEnd, rangeBegin);
  loop(i64(0), k.CreateUDiv(k.CreateAdd(length, i64(together - 1)), i64(together)), [&](Value *group) {
    Value *first = k.CreateAdd(rangeBegin, k.CreateMul(group, i64(together), "", true, true), "", true, true);
    Value *here = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateSub(rangeEnd, first), i64(together));
    auto put = [&](Lanes &into, Value *at, const Indices &outer, Value *j) {
      Element element = reductionElement(op, outer, j);
      if (isa<SumOp>(op)) // lanes start at +0: none of them is -0
        element = combine(op, identity, element, dtype);
      into.write(at, {element.re, element.im});
    };
    Value *base = k.CreateMul(first, i64(count), "", true, true);
    if (flat)
      loop(i64(0), k.CreateMul(here, i64(count)),
           [&](Value *i) { put(isDense ? dense : tile, i, {}, k.CreateAdd(base, i, "", true, true)); });
    if (!flat || isDense)
      loop(i64(0), here, [&](Value *r) {
        Indices outer = flat ? Indices() : decode(k.CreateAdd(first, r, "", true, true), rows.sizes);
        Value *from = k.CreateMul(r, i64(count), "", true, true), *to = k.CreateMul(r, i64(pitch), "", true, true);
        loop(i64(0), i64(count), [&](Value *j) {
          Value *at = k.CreateAdd(to, j, "", true, true);
          if (isDense)
            tile.write(at, dense.read(k.CreateAdd(from, j, "", true, true)));
          else
            put(tile, at, outer, j);
        });
      });
    combineTile(op, tile, sums, together, pitch);
    loop(i64(0), here, [&](Value *r) {
      Fold sum = sums.read(r);
      scalars.store(dtype, rows.out, k.CreateAdd(first, r, "", true, true), {sum[0], sum[1]});
    });
  });
  finish(rows.number, caller.getInt64(count));
}

/// Whether the elements of a row that is reduced are lanes of registers, without a call.
bool KernelEmitter::areRowsInLanes(mlir::Operation *op) {
  mlir::Value x = op->getOperand(0);
  const ReductionAxes axes(op);
  const int64_t last = tensorTypeOf(x).getRank() - 1;
  const auto count = knownFoldLength(op);
  const DType dtype = tensorTypeOf(op->getResult(0)).getDtype();
  const int64_t least = isComplex(dtype) ? 5 : 8; // else LLVM takes a row a lane
  const int64_t most = isa<MaxOp, MinOp, ArgMaxOp, ArgMinOp>(op) ? 4 * reductionLanes : reductionLanes;
  return count && *count >= least && *count <= most && !axes.outer.empty() && axes.reduced.size() == 1 &&
         axes.reduced[0] == last && !isHalf(dtype) && !isOfBytes(op, dtype) && hasLanes(x, last);
}

/// The lanes of one row, those behind its end such as change nothing; of positions, each with its own.
KernelEmitter::Fold KernelEmitter::rowLanesOf(mlir::Operation *op, const Indices &outer, int64_t count) {
  mlir::Value x = op->getOperand(0);
  const DType from = tensorTypeOf(x).getDtype();
  Indices first = outer;
  first.push_back(i64(0));
  Value *mask = firstLanes(i64(count));
  const LaneIndices at{first, static_cast<int64_t>(outer.size())};
  auto masked = [&](Value *lanes, Value *other) -> Value * {
    return lanes ? k.CreateSelect(mask, lanes, k.CreateVectorSplat(lanesAtOnce, other)) : nullptr;
  };
  if (isa<ArgMaxOp, ArgMinOp>(op)) {
    Value *lanes = masked(laneElements(x, at, mask).re, worst(op, from));
    const unsigned bits = std::max(lanes->getType()->getScalarSizeInBits(), 8u);
    SmallVector<Constant *> numbers;
    for (int64_t lane = 0; lane < lanesAtOnce; ++lane)
      numbers.push_back(ConstantInt::get(k.getIntNTy(bits), lane));
    return {lanes, ConstantVector::get(numbers)};
  }
  const DType dtype = rootType.getDtype();
  Element elements = scalars.cast(laneElements(x, at, mask), from, dtype);
  if (isFloatExtremum(op, dtype)) // what changes nothing is a number with the sign of what starts the fold
    return foldOf(op, {masked(elements.re, identityOf(op, dtype).re)}, dtype);
  Fold lanes = foldOf(op, elements, dtype);
  for (auto [part, other] : zip_equal(lanes, startFold(op, dtype)))
    part = masked(part, other);
  const bool keepsIdentity = isComplex(dtype) && isa<ProdOp>(op);
  if (isa<SumOp>(op) || keepsIdentity) // lanes start at +0: none of them is -0
    lanes = mergeFolds(op, identityLanes(op), lanes, dtype);
  int64_t byOne = 1;
  for (int64_t half = reductionLanes / 2; keepsIdentity && half >= lanesAtOnce && byOne < productsByOne; half /= 2) {
    lanes = mergeFolds(op, lanes, identityLanes(op), dtype);
    ++byOne;
  }
  return lanes;
}

KernelEmitter::Fold KernelEmitter::mergeLanes(mlir::Operation *op, const Fold &a, const Fold &b) {
  return isa<ArgMaxOp, ArgMinOp>(op) ? firstBest(op, a, b, tensorTypeOf(op->getOperand(0)).getDtype())
                                     : mergeFolds(op, a, b, rootType.getDtype());
}

Element KernelEmitter::finishLanes(mlir::Operation *op, const Fold &fold) {
  if (isa<ArgMaxOp, ArgMinOp>(op))
    return {k.CreateZExtOrTrunc(fold[1], asWide(fold[1], k.getInt64Ty()))};
  return finishFold(op, fold, rootType.getDtype());
}

/// Lanes of two vectors, as one after the other, for each part of a fold.
using Parts = SmallVector<Value *, 3>;
static Parts chosenLanes(IRBuilder<> &k, const Parts &a, const Parts &b, ArrayRef<int> lanes) {
  Parts chosen;
  for (auto [x, y] : zip_equal(a, b))
    chosen.push_back(x ? k.CreateShuffleVector(x, y, lanes) : nullptr);
  return chosen;
}

/// The second half of the lanes combined with the first.
KernelEmitter::Fold KernelEmitter::halvedLanes(mlir::Operation *op, const Fold &lanes) {
  const int number = static_cast<int>(cast<FixedVectorType>(lanes[0]->getType())->getNumElements());
  return mergeLanes(op, chosenLanes(k, lanes, lanes, to_vector(seq<int>(0, number / 2))),
                    chosenLanes(k, lanes, lanes, to_vector(seq<int>(number / 2, number))));
}

/// The folds of `together` rows, one a lane. Vectors of segments of rows are taken by two, and the first halves of
/// their segments combined with the second halves: depth first, so that few of them wait in registers. `row` gives the
/// lanes of one, `longest` at the most.
KernelEmitter::Fold KernelEmitter::foldTogether(mlir::Operation *op, int64_t together, int64_t longest, int64_t segment,
                                                int64_t number, function_ref<Fold(int64_t)> row) {
  if (segment == longest) { // rows side by side
    const int64_t rows = together / segment;
    SmallVector<Fold> several;
    for (int64_t r = 0; r < rows; ++r)
      several.push_back(row(number * rows + r));
    for (int64_t width = segment; several.size() > 1; width *= 2) {
      SmallVector<Fold> wider;
      for (size_t i = 0; i < several.size(); i += 2)
        wider.push_back(
            chosenLanes(k, several[i], several[i + 1], to_vector(seq<int>(0, static_cast<int>(2 * width)))));
      several = wider;
    }
    return several[0];
  }
  SmallVector<int> low, high;
  for (int64_t lane = 0; lane < 2 * together; ++lane)
    (lane % (2 * segment) < segment ? low : high).push_back(static_cast<int>(lane));
  const Fold a = foldTogether(op, together, longest, 2 * segment, 2 * number, row),
             b = foldTogether(op, together, longest, 2 * segment, 2 * number + 1, row);
  return mergeLanes(op, chosenLanes(k, a, b, low), chosenLanes(k, a, b, high));
}

/// Rows of at most as many elements as there are lanes (of four times as many, where any order will do), in registers.
void KernelEmitter::emitRowsInLanes(mlir::Operation *op, int64_t count) {
  const DType dtype = rootType.getDtype(), from = tensorTypeOf(op->getOperand(0)).getDtype();
  const Rows rows = beginRows(op);
  flat = false;
  lanesKnown = count;
  lanesAtOnce = static_cast<int64_t>(PowerOf2Ceil(count));
  const int64_t together = sizeOf(realOf(isa<ArgMaxOp, ArgMinOp>(op) ? from : dtype)) < 8 ? 16 : 8,
                longest = std::min(lanesAtOnce, together);
  auto entryAlloca = [&](Type *type, int64_t number) {
    IRBuilder<> entry(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
    return entry.CreateAlloca(type, entry.getInt64(number));
  };
  auto lanesOfRow = [&](Value *row) {
    Fold lanes = rowLanesOf(op, decode(row, rows.sizes), count);
    for (int64_t left = lanesAtOnce; left > longest; left /= 2)
      lanes = halvedLanes(op, lanes);
    return lanes;
  };
  const bool isOneValue = isFloatExtremum(op, dtype) && lanesAtOnce <= longest; // all parts are made of it
  Parts tile; // of each part of the rows' folds, or what it is for all rows
  Value *groups = k.CreateUDiv(k.CreateAdd(k.CreateSub(rangeEnd, rangeBegin), i64(together - 1)), i64(together));
  loop(i64(0), groups, [&](Value *group) {
    Value *first = k.CreateAdd(rangeBegin, k.CreateMul(group, i64(together), "", true, true), "", true, true);
    Value *here = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateSub(rangeEnd, first), i64(together));
    loop(i64(0), here, [&](Value *r) {
      Fold parts = lanesOfRow(k.CreateAdd(first, r, "", true, true));
      if (isOneValue)
        parts.truncate(1);
      for (Value *lanes : parts) {
        const bool isStored = lanes && !isa<Constant>(lanes);
        tile.push_back(isStored ? entryAlloca(lanes->getType(), together) : lanes);
        if (isStored)
          k.CreateStore(lanes, k.CreateInBoundsGEP(lanes->getType(), tile.back(), r));
      }
    });
    auto row = [&](int64_t r) -> Fold {
      Parts parts = map_to_vector<3>(tile, [&](Value *stored) -> Value * {
        auto *lanes = dyn_cast_or_null<AllocaInst>(stored);
        if (!lanes)
          return stored;
        Type *type = lanes->getAllocatedType();
        return k.CreateLoad(type, k.CreateConstInBoundsGEP1_64(type, lanes, r));
      });
      return isOneValue ? foldOf(op, {parts[0]}, dtype) : parts;
    };
    const Element found = finishLanes(op, foldTogether(op, together, longest, 1, 0, row));
    lanesAtOnce = together;
    Value *at = isComplex(dtype) ? k.CreateShl(first, 1, "", true, true) : first;
    storeLanes(k, scalars, dtype, found, k.CreateInBoundsGEP(scalars.memoryType(dtype), rows.out, at),
               firstLanes(here));
  });
  finish(rows.number, caller.getInt64(count));
}

void KernelEmitter::combineTile(mlir::Operation *op, Lanes &tile, Lanes &sums, int64_t together, int64_t pitch) {
  DType dtype = rootType.getDtype();
  SmallVector<Element> vectors;
  for (int64_t i = 0; i < pitch; ++i) {
    auto part = [&](size_t p) -> Value * {
      if (!tile.arrays[p])
        return nullptr;
      Type *type = scalars.memoryType(dtype);
      return k.CreateAlignedLoad(FixedVectorType::get(type, together),
                                 k.CreateConstInBoundsGEP1_64(type, tile.arrays[p], i * together), Align(1));
    };
    vectors.push_back({part(0), part(1)});
  }
  for (int64_t segment = pitch; segment > 1; segment /= 2) {
    SmallVector<int> low, high; // lanes of two vectors, of their rows the first halves and the second
    for (int64_t lane = 0; lane < 2 * together; ++lane)
      (lane % segment < segment / 2 ? low : high).push_back(static_cast<int>(lane));
    SmallVector<Element> next;
    for (size_t i = 0; i < vectors.size(); i += 2) {
      auto halves = [&](ArrayRef<int> lanes) -> Element {
        auto of = [&](Value *a, Value *b) { return a ? k.CreateShuffleVector(a, b, lanes) : nullptr; };
        return {of(vectors[i].re, vectors[i + 1].re), of(vectors[i].im, vectors[i + 1].im)};
      };
      next.push_back(combine(op, halves(low), halves(high), dtype));
    }
    vectors = next;
  }
  k.CreateAlignedStore(vectors[0].re, sums.arrays[0], Align(1));
  if (vectors[0].im)
    k.CreateAlignedStore(vectors[0].im, sums.arrays[1], Align(1));
}

} // namespace toy
