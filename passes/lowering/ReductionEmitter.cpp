// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions in the order that the reference evaluator defines: lanes and blocks when the last axis is reduced, plain
/// order otherwise.
#include "passes/RowLanes.h"
#include "passes/lowering/KernelEmitter.h"

using namespace llvm;

namespace toy {

ReductionAxes::ReductionAxes(mlir::Operation *op) {
  auto axes = op->getAttrOfType<mlir::DenseI64ArrayAttr>("axes").asArrayRef();
  int64_t rank = tensorTypeOf(op->getOperand(0)).getRank();
  for (int64_t i = 0; i < rank; ++i)
    (is_contained(axes, i) ? reduced : outer).push_back(i);
  alongLast = rank == 0 || is_contained(axes, rank - 1);
}

Element KernelEmitter::combine(mlir::Operation *op, Element a, Element b, DType dtype) {
  StringRef name = op->getName().stripDialect();
  if (name == "sum")
    return scalars.add(a, b, dtype);
  if (name == "prod")
    return scalars.mul(a, b, dtype);
  if (name == "any")
    return {k.CreateOr(a.re, b.re)};
  if (name == "all")
    return {k.CreateAnd(a.re, b.re)};
  return {scalars.extremum(a.re, b.re, dtype, name == "min")};
}

/// The indices of all axes, of those of the axes that stay and of those that are reduced.
static SmallVector<Value *, 4> joined(const ReductionAxes &axes, ArrayRef<Value *> outer, ArrayRef<Value *> inner) {
  SmallVector<Value *, 4> indices(outer.size() + inner.size());
  for (auto [axis, index] : zip_equal(axes.outer, outer))
    indices[axis] = index;
  for (auto [axis, index] : zip_equal(axes.reduced, inner))
    indices[axis] = index;
  return indices;
}

/// Of element j of the reduced axes in row-major order.
KernelEmitter::Indices KernelEmitter::reductionIndices(mlir::Operation *op, const Indices &outer, Value *j) {
  if (flat || tensorTypeOf(op->getOperand(0)).getRank() == 1)
    return {j};
  ReductionAxes axes(op);
  auto sizes = map_to_vector(axes.reduced, [&](int64_t axis) { return size(op->getOperand(0), axis); });
  return joined(axes, outer, decode(j, sizes));
}

/// An element as the result's dtype.
Element KernelEmitter::reductionElementAt(mlir::Operation *op, const Indices &indices) {
  mlir::Value x = op->getOperand(0);
  bool position = isa<ArgMaxOp, ArgMinOp>(op);
  Element element = elementAt(x, indices);
  return position ? element
                  : scalars.cast(element, tensorTypeOf(x).getDtype(), tensorTypeOf(op->getResult(0)).getDtype());
}
Element KernelEmitter::reductionElement(mlir::Operation *op, const Indices &outer, Value *j) {
  if (staged)
    return scalars.load(tensorTypeOf(op->getResult(0)).getDtype(), staged, j);
  return reductionElementAt(op, reductionIndices(op, outer, j));
}

/// What any element replaces.
Element KernelEmitter::identityOf(mlir::Operation *op, DType dtype) {
  StringRef name = op->getName().stripDialect();
  if (isa<MaxOp, MinOp>(op)) {
    bool isMax = isa<MaxOp>(op);
    if (isFloat(dtype))
      return scalars.real(dtype, isMax ? -INFINITY : INFINITY);
    auto *type = cast<IntegerType>(scalars.real(dtype, 0).re->getType());
    unsigned bits = type->getBitWidth();
    bool isUnsigned = dtype == DType::Bool || dtype == DType::U8;
    return {k.getInt(isUnsigned ? isMax ? APInt::getMinValue(bits) : APInt::getMaxValue(bits)
                     : isMax    ? APInt::getSignedMinValue(bits)
                                : APInt::getSignedMaxValue(bits))};
  }
  return scalars.real(dtype, name == "prod" || name == "all" ? 1 : 0);
}

// Greatest and least floats: NaN is kept apart, so that a step is one maximum and one comparison of the processor. Its
// maximum does not order zeros: no element is above a greatest one of 0, so it is -0 if all signs are set.
bool KernelEmitter::isFloatExtremum(mlir::Operation *op, DType dtype) {
  return isa<MaxOp, MinOp>(op) && isFloat(dtype);
}

// Booleans are bytes of 0 and 1 while they are folded: as bits of mask registers they would be one chain.
bool KernelEmitter::isOfBytes(mlir::Operation *op, DType dtype) {
  return dtype == DType::Bool && isa<MaxOp, MinOp, AnyOp, AllOp>(op);
}

KernelEmitter::Fold KernelEmitter::startFold(mlir::Operation *op, DType dtype) {
  Element identity = identityOf(op, dtype);
  if (isOfBytes(op, dtype))
    return {k.CreateZExt(identity.re, k.getInt8Ty()), nullptr};
  if (!isFloatExtremum(op, dtype))
    return {identity.re, identity.im};
  Type *bits = k.getIntNTy(identity.re->getType()->getScalarSizeInBits());
  return {identity.re, scalars.zero(dtype).re,
          isa<MaxOp>(op) ? Constant::getAllOnesValue(bits) : Constant::getNullValue(bits)};
}

KernelEmitter::Fold KernelEmitter::mergeFolds(mlir::Operation *op, const Fold &a, const Fold &b, DType dtype) {
  if (isOfBytes(op, dtype))
    return {isa<MaxOp, AnyOp>(op) ? k.CreateOr(a[0], b[0]) : k.CreateAnd(a[0], b[0]), nullptr};
  if (!isFloatExtremum(op, dtype)) {
    Element merged = combine(op, {a[0], a[1]}, {b[0], b[1]}, dtype);
    return {merged.re, merged.im};
  }
  bool isMax = isa<MaxOp>(op);
  Value *beats = isMax ? k.CreateFCmpOGT(b[0], a[0]) : k.CreateFCmpOLT(b[0], a[0]);
  return {k.CreateSelect(beats, b[0], a[0]), k.CreateSelect(k.CreateFCmpUNO(b[1], b[1]), b[1], a[1]),
          isMax ? k.CreateAnd(a[2], b[2]) : k.CreateOr(a[2], b[2])};
}

KernelEmitter::Fold KernelEmitter::foldOf(mlir::Operation *op, Element x, DType dtype) {
  if (isOfBytes(op, dtype))
    return {k.CreateZExt(x.re, asWide(x.re, k.getInt8Ty())), nullptr};
  if (!isFloatExtremum(op, dtype))
    return {x.re, x.im};
  Type *bits = k.getIntNTy(x.re->getType()->getScalarSizeInBits());
  return {x.re, x.re, k.CreateBitCast(x.re, asWide(x.re, bits))};
}

Element KernelEmitter::finishFold(mlir::Operation *op, const Fold &fold, DType dtype) {
  if (isOfBytes(op, dtype))
    return {k.CreateTrunc(fold[0], asWide(fold[0], k.getInt1Ty()), "", /*IsNUW=*/true)};
  if (!isFloatExtremum(op, dtype))
    return {fold[0], fold[1]};
  Value *m = fold[0], *zero = Constant::getNullValue(m->getType());
  Value *signedZero = k.CreateBinaryIntrinsic(Intrinsic::copysign, zero, k.CreateBitCast(fold[2], m->getType()));
  return {k.CreateSelect(k.CreateFCmpUNO(fold[1], fold[1]), ConstantFP::getNaN(m->getType()),
                         k.CreateSelect(k.CreateFCmpOEQ(m, zero), signedZero, m))};
}

/// Arrays of the parts of folds on the stack; bool is i8 there.
KernelEmitter::Lanes::Lanes(KernelEmitter &emitter, ArrayRef<Value *> parts, int64_t count) : emitter(emitter) {
  IRBuilder<> entry(&emitter.kernel->getEntryBlock(), emitter.kernel->getEntryBlock().begin());
  for (Value *part : parts) {
    Type *type = part ? part->getType() : nullptr;
    types.push_back(type);
    Type *stored = type && type->isIntegerTy(1) ? entry.getInt8Ty() : type;
    arrays.push_back(type ? entry.CreateAlloca(stored, entry.getInt64(count)) : nullptr);
  }
}
KernelEmitter::Fold KernelEmitter::Lanes::read(Value *lane) {
  IRBuilder<> &k = emitter.k;
  return map_to_vector(zip_equal(types, arrays), [&](auto pair) -> Value * {
    auto [type, array] = pair;
    if (!type)
      return nullptr;
    if (!type->isIntegerTy(1))
      return k.CreateLoad(type, k.CreateInBoundsGEP(type, array, lane));
    return k.CreateICmpNE(k.CreateLoad(k.getInt8Ty(), k.CreateInBoundsGEP(k.getInt8Ty(), array, lane)), k.getInt8(0));
  });
}
void KernelEmitter::Lanes::write(Value *lane, const Fold &fold) {
  IRBuilder<> &k = emitter.k;
  for (auto [type, array, part] : zip_equal(types, arrays, fold))
    if (type) {
      Value *x = type->isIntegerTy(1) ? k.CreateZExt(part, k.getInt8Ty()) : part;
      k.CreateStore(x, k.CreateInBoundsGEP(x->getType(), array, lane));
    }
}

/// How many elements are folded side by side. More of bytes, whose order changes nothing: 32 do not fill a register.
static int64_t lanesOf(mlir::Operation *op, DType dtype) {
  const bool isOfBytes = dtype == DType::Bool || dtype == DType::U8;
  return isOfBytes && isa<MaxOp, MinOp, AnyOp, AllOp>(op) ? 4 * reductionLanes : reductionLanes;
}

/// put(lane, indices) for elements [begin, end) of several axes: runs along the last one, so that no element's index is
/// divided. A run begins in any lane; from the first of all lanes on they go together.
void KernelEmitter::loopOverRuns(mlir::Operation *op, const Indices &outer, Value *begin, Value *end,
                                 ArrayRef<Gathered> gathered, function_ref<void(Value *, const Indices &)> put) {
  ReductionAxes axes(op);
  auto sizes = map_to_vector(axes.reduced, [&](int64_t axis) { return size(op->getOperand(0), axis); });
  const int64_t lanesAtOnce = lanesOf(op, rootType.getDtype());
  Value *length = sizes.pop_back_val(), *lanes = i64(lanesAtOnce), *mask = i64(lanesAtOnce - 1);
  auto least = [&](Value *a, Value *b) { return k.CreateBinaryIntrinsic(Intrinsic::smin, a, b); };
  auto plus = [&](Value *a, Value *b) { return k.CreateAdd(a, b, "", true, true); };
  auto minus = [&](Value *a, Value *b) { return k.CreateSub(a, b, "", true, true); };
  Value *runs = k.CreateUDiv(plus(end, minus(length, i64(1))), length);
  loop(k.CreateUDiv(begin, length), runs, [&](Value *run) {
    Indices before = decode(run, sizes);
    Value *start = k.CreateMul(run, length, "", true, true);
    Value *from = k.CreateBinaryIntrinsic(Intrinsic::smax, begin, start), *to = least(end, plus(start, length));
    Value *firstLane = k.CreateAnd(minus(from, begin), mask), *at = minus(from, start);
    auto several = [&](Value *position, Value *lane, Value *count) {
      loop(i64(0), count, [&](Value *i) {
        Indices inner = before;
        inner.push_back(plus(position, i));
        put(plus(lane, i), joined(axes, outer, inner));
      });
    };
    Value *head = least(minus(to, from), k.CreateAnd(k.CreateNeg(firstLane), mask));
    several(at, firstLane, head);
    Value *rest = minus(minus(to, from), head), *rounds = k.CreateUDiv(rest, lanes), *next = plus(at, head);
    auto position = [&](Value *round) { return plus(next, k.CreateMul(round, lanes, "", true, true)); };
    loop(i64(0), rounds, [&](Value *round) {
      Value *first = position(round);
      auto indices = [&](Value *lane) {
        Indices inner = before;
        inner.push_back(plus(first, lane));
        return joined(axes, outer, inner);
      };
      loopOverLanes(indices, lanesAtOnce, gathered, [&](Value *lane) { put(lane, indices(lane)); });
    });
    several(position(rounds), i64(0), k.CreateAnd(rest, mask));
  });
}

/// The fold of elements [begin, end) of at most one block: element j in lane (j - begin) mod the number of lanes, which
/// are combined by halving.
Element KernelEmitter::emitBlock(mlir::Operation *op, const Indices &outer, Value *begin, Value *end) {
  DType dtype = rootType.getDtype();
  const int64_t width = lanesOf(op, dtype);
  Fold identity = startFold(op, dtype);
  Lanes lanes(*this, identity, width);
  loop(i64(0), i64(width), [&](Value *lane) { lanes.write(lane, identity); });
  auto put = [&](Value *lane, const Indices &indices) {
    Fold x = foldOf(op, reductionElementAt(op, indices), dtype);
    lanes.write(lane, mergeFolds(op, lanes.read(lane), x, dtype));
  };
  const std::vector<Gathered> gathered = startGather(op, width);
  if (!flat && ReductionAxes(op).reduced.size() > 1) {
    loopOverRuns(op, outer, begin, end, gathered, put);
  } else {
    Value *count = k.CreateSub(end, begin), *rounds = k.CreateUDiv(count, i64(width));
    auto at = [&](Value *base, Value *lane) {
      return reductionIndices(op, outer, k.CreateAdd(base, lane, "", true, true));
    };
    loop(i64(0), rounds, [&](Value *round) {
      Value *base = k.CreateAdd(begin, k.CreateMul(round, i64(width), "", true, true), "", true, true);
      auto indices = [&](Value *lane) { return at(base, lane); };
      loopOverLanes(indices, width, gathered, [&](Value *lane) { put(lane, indices(lane)); });
    });
    Value *tail = k.CreateAdd(begin, k.CreateMul(rounds, i64(width)));
    loop(i64(0), k.CreateSub(end, tail), [&](Value *lane) { put(lane, at(tail, lane)); });
  }
  for (int64_t half = width / 2; half > 0; half /= 2)
    loop(i64(0), i64(half), [&](Value *lane) {
      lanes.write(lane, mergeFolds(op, lanes.read(lane), lanes.read(k.CreateAdd(lane, i64(half))), dtype));
    });
  return finishFold(op, lanes.read(i64(0)), dtype);
}

/// What no further element changes, of booleans and bytes, which often are all alike; null elsewhere. Groups of
/// reductions cannot fail: no error is missed with the elements that are not looked at.
Value *KernelEmitter::decisive(mlir::Operation *op, DType dtype) {
  if (dtype != DType::Bool && dtype != DType::U8)
    return nullptr;
  const bool isGreatest = isa<MaxOp, AnyOp>(op);
  if (!isGreatest && !isa<MinOp, AllOp>(op))
    return nullptr;
  Type *type = scalars.real(dtype, 0).re->getType();
  return isGreatest ? Constant::getAllOnesValue(type) : Constant::getNullValue(type);
}

/// The fold of a block, or, where what came before decides, any part of the same result.
Element KernelEmitter::foldUnlessDecided(mlir::Operation *op, Value *isFirst, Value *before,
                                         function_ref<Element()> block) {
  DType dtype = rootType.getDtype();
  Value *end = decisive(op, dtype);
  if (!end)
    return block();
  Element last = choose(
      isFirst, dtype, [&] { return identityOf(op, dtype); }, [&] { return scalars.load(dtype, before, i64(0)); });
  return choose(k.CreateICmpEQ(last.re, end), dtype, [&] { return Element{end}; }, block);
}

/// How many elements each fold has, if that is known.
std::optional<int64_t> knownFoldLength(mlir::Operation *op) {
  TensorType type = tensorTypeOf(op->getOperand(0));
  int64_t count = 1;
  for (int64_t axis : ReductionAxes(op).reduced) {
    if (Dim dim = type.getDim(axis); !dim.isNumber() || MulOverflow(count, dim.value(), count))
      return std::nullopt;
  }
  return count;
}

/// A tensor for the folds of blocks, and where its elements are; in the caller.
std::pair<Value *, Value *> KernelEmitter::allocatePartials(Value *blocks) {
  Function *function = caller.GetInsertBlock()->getParent();
  IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
  Value *size = entry.CreateAlloca(entry.getInt64Ty());
  caller.CreateStore(blocks, size);
  Value *partials = ScalarEmitter(module, caller)
                        .call("toy_rt_alloc", caller.getPtrTy(),
                              {caller.getInt64(static_cast<int>(rootType.getDtype())), caller.getInt64(1), size});
  Value *data = caller.CreateConstInBoundsGEP1_64(caller.getInt8Ty(), partials, 8);
  return {partials, caller.CreateLoad(caller.getPtrTy(), data)};
}

/// Whether rows, of any length, are folded as vectors, what is left of them under a mask.
static bool areRowsVectors(mlir::Operation *op, DType dtype) {
  const ReductionAxes axes(op);
  return isa<SumOp, ProdOp, MaxOp, MinOp>(op) && !axes.outer.empty() && axes.reduced.size() == 1 &&
         axes.reduced[0] == tensorTypeOf(op->getOperand(0)).getRank() - 1 && dtype != DType::Bool &&
         dtype != DType::U8 && !isHalf(dtype);
}

/// As `emitBlock`, of so few elements that the stack has room for them, as they are not computed in lanes: functions
/// are called for vectors, also for what is left of a row, and no lane is a place in memory that is waited for.
constexpr int64_t buffered = 256;
Element KernelEmitter::foldByBuffer(mlir::Operation *op, const Indices &outer, Value *begin, Value *end) {
  const DType dtype = rootType.getDtype();
  const Element identity = identityOf(op, dtype);
  Lanes buffer(*this, {identity.re, identity.im}, buffered);
  Value *count = k.CreateSub(end, begin);
  loop(i64(0), count, [&](Value *j) {
    const Element x = reductionElement(op, outer, k.CreateAdd(begin, j, "", true, true));
    buffer.write(j, {x.re, x.im});
  });
  auto lanes = [&](Value *at, Value *mask) -> Element {
    auto part = [&](size_t p) -> Value * {
      if (!buffer.arrays[p])
        return nullptr;
      Type *type = buffer.types[p];
      auto *wide = FixedVectorType::get(type, lanesAtOnce);
      Value *from = k.CreateInBoundsGEP(type, buffer.arrays[p], at);
      const Align align(sizeOf(realOf(dtype)));
      return mask ? k.CreateMaskedLoad(wide, from, align, mask, Constant::getNullValue(wide))
                  : static_cast<Value *>(k.CreateAlignedLoad(wide, from, align));
    };
    return {part(0), part(1)};
  };
  return finishFold(op, foldRowBlock(op, i64(0), count, lanes), dtype);
}

/// The last axis is reduced.
void KernelEmitter::emitLaneReduction(mlir::Operation *op) {
  mlir::Value x = op->getOperand(0);
  ReductionAxes axes(op);
  DType dtype = rootType.getDtype();
  auto count = knownFoldLength(op);
  const bool fitsOneRegister = dtype == DType::C128 && count == 4 && !isa<ProdOp>(op);
  if (areRowsInLanes(op))
    return emitRowsInLanes(op, *count);
  if (areRowsStrided(op) && !(count && *count < reductionLanes))
    return emitStridedRows(op);
  if (count && *count > 0 && *count <= 7 && !fitsOneRegister && !axes.outer.empty())
    return emitTinyRows(op, *count);
  if (count && *count > 0 && *count <= reductionLanes && !axes.outer.empty() &&
      !(*count == reductionLanes && isa<SumOp>(op)) && // one addition an element, in registers
      !(isComplex(dtype) && isa<ProdOp>(op)))          // by 1 changes signs of zeros
    return emitShortRows(op, *count);
  SmallVector<Value *> outerSizes = callerSizesOf(x, axes.outer), reducedSizes = callerSizesOf(x, axes.reduced);
  Value *length = product(reducedSizes), *rows = product(outerSizes);
  auto known = tensorTypeOf(x).getStaticCount();
  if (axes.outer.empty() && !(known && *known <= reductionBlock)) {
    // A long fold to one element: blocks on all cores, their results combined in order.
    flat = isAllElementwise(x);
    Value *blocks = caller.CreateUDiv(caller.CreateAdd(length, caller.getInt64(reductionBlock - 1)),
                                      caller.getInt64(reductionBlock));
    auto [partials, data] = allocatePartials(blocks);
    begin();
    Value *out = capture(data), *n = capture(length);
    loop(rangeBegin, rangeEnd, [&](Value *block) {
      Value *from = k.CreateMul(block, i64(reductionBlock));
      Value *to = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(from, i64(reductionBlock)), n);
      Value *before = k.CreateGEP(scalars.memoryType(dtype), out, k.CreateSub(block, i64(1)));
      Element part =
          foldUnlessDecided(op, k.CreateICmpEQ(block, rangeBegin), before, [&] { return emitBlock(op, {}, from, to); });
      scalars.store(dtype, out, block, part);
    });
    finish(blocks, caller.getInt64(reductionBlock),
           caller.getInt64(decisive(op, dtype) ? 32 : 1)); // each piece begins undecided
    emitCombine(op, data, blocks);
    ScalarEmitter(module, caller).call("toy_rt_release", caller.getVoidTy(), {partials});
    return;
  }
  // Axes that end the tensor are one axis.
  const bool areLast = axes.outer == to_vector(seq<int64_t>(axes.outer.size())) && axes.reduced.size() != 1;
  const bool areVectors = areRowsVectors(op, dtype), inLanes = areVectors && hasLanes(x, axes.reduced[0]);
  flat = !areVectors && (axes.outer.empty() || areLast) && isAllElementwise(x);
  begin();
  Value *out = capture(callerOut), *n = capture(length);
  SmallVector<Value *> sizes = captureAll(outerSizes);
  loop(rangeBegin, rangeEnd, [&](Value *row) {
    Indices outer = flat ? Indices() : decode(row, sizes);
    Value *start = flat ? k.CreateMul(row, n, "", true, true) : i64(0), *stop = k.CreateAdd(start, n, "", true, true);
    // total over blocks, in order
    IRBuilder<> entry(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
    Value *total = entry.CreateAlloca(scalars.memoryType(dtype), entry.getInt32(2));
    scalars.store(dtype, total, i64(0), identityOf(op, dtype)); // an empty fold
    Value *blocks = k.CreateUDiv(k.CreateAdd(n, i64(reductionBlock - 1)), i64(reductionBlock));
    loop(i64(0), blocks, [&](Value *block) {
      Value *from = k.CreateAdd(start, k.CreateMul(block, i64(reductionBlock)));
      Value *to = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(from, i64(reductionBlock)), stop);
      auto lanes = [&](Value *first, Value *mask) {
        return lanesOfFold(op, {joined(axes, outer, {first}), axes.reduced[0]}, mask);
      };
      auto fold = [&] {
        if (inLanes)
          return finishFold(op, foldRowBlock(op, from, to, lanes), dtype);
        auto asBlock = [&] { return emitBlock(op, outer, from, to); };
        if (!areVectors)
          return asBlock();
        // Of longer rows, the way through the stack takes more than what is left of them.
        return choose(
            k.CreateICmpULE(n, i64(buffered)), dtype, [&] { return foldByBuffer(op, outer, from, to); }, asBlock);
      };
      Element part = foldUnlessDecided(op, k.CreateICmpEQ(block, i64(0)), total, fold);
      Element sum = choose(
          k.CreateICmpEQ(block, i64(0)), dtype, [&] { return part; },
          [&] { return combine(op, scalars.load(dtype, total, i64(0)), part, dtype); });
      scalars.store(dtype, total, i64(0), sum);
    });
    scalars.store(dtype, out, row, scalars.load(dtype, total, i64(0)));
  });
  isByRows = true;
  finish(rows, length);
}

/// partials[0], then the others in order.
void KernelEmitter::emitCombine(mlir::Operation *op, Value *partials, Value *count) {
  DType dtype = rootType.getDtype();
  begin();
  Value *out = capture(callerOut), *in = capture(partials), *n = capture(count);
  Element first = choose(
      k.CreateICmpSGT(n, i64(0)), dtype, [&] { return scalars.load(dtype, in, i64(0)); },
      [&] { return identityOf(op, dtype); });
  scalars.store(dtype, out, i64(0), first);
  loop(i64(1), n, [&](Value *i) {
    scalars.store(dtype, out, i64(0), combine(op, scalars.load(dtype, out, i64(0)), scalars.load(dtype, in, i), dtype));
  });
  finish(caller.getInt64(1), count);
}

void KernelEmitter::emitReduction(mlir::Operation *op) {
  if (this->op->hasAttr("toy.inLoop") && isRowFold(op))
    return emitRowFold(op);
  if (isa<ArgMaxOp, ArgMinOp>(op))
    return emitArgReduction(op);
  ReductionAxes(op).alongLast ? emitLaneReduction(op) : emitColumnReduction(op);
}

} // namespace toy
