// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions in the order that the reference evaluator defines: lanes and blocks when the last axis is reduced, plain
/// order otherwise.
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

/// Of element j of the reduced axes in row-major order.
KernelEmitter::Indices KernelEmitter::reductionIndices(mlir::Operation *op, const Indices &outer, Value *j) {
  if (flat)
    return {j};
  mlir::Value x = op->getOperand(0);
  ReductionAxes axes(op);
  SmallVector<Value *> sizes;
  for (int64_t axis : axes.reduced)
    sizes.push_back(size(x, axis));
  Indices inner = decode(j, sizes), indices(tensorTypeOf(x).getRank());
  for (auto [axis, index] : zip_equal(axes.outer, outer))
    indices[axis] = index;
  for (auto [axis, index] : zip_equal(axes.reduced, inner))
    indices[axis] = index;
  return indices;
}

/// That element, as the result's dtype.
Element KernelEmitter::reductionElement(mlir::Operation *op, const Indices &outer, Value *j) {
  mlir::Value x = op->getOperand(0);
  bool position = op->getName().stripDialect().starts_with("arg");
  Element element = elementAt(x, reductionIndices(op, outer, j));
  return position ? element
                  : scalars.cast(element, tensorTypeOf(x).getDtype(), tensorTypeOf(op->getResult(0)).getDtype());
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

/// The fold of elements [begin, end) of at most one block: element j in lane (j - begin) mod 32, lanes combined by
/// halving.
Element KernelEmitter::emitBlock(mlir::Operation *op, const Indices &outer, Value *begin, Value *end) {
  DType dtype = rootType.getDtype();
  Type *type = scalars.memoryType(dtype);
  IRBuilder<> entry(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
  Value *acc = entry.CreateAlloca(type, entry.getInt32(reductionLanes * (isComplex(dtype) ? 2 : 1)));
  auto at = [&](Value *lane) -> Element {
    Value *re = k.CreateInBoundsGEP(type, acc, lane);
    Value *im = isComplex(dtype) ? k.CreateInBoundsGEP(type, acc, k.CreateAdd(lane, i64(reductionLanes))) : nullptr;
    return {re, im};
  };
  auto read = [&](Value *lane) -> Element {
    Element p = at(lane);
    Value *re = k.CreateLoad(type, p.re);
    return {dtype == DType::Bool ? k.CreateICmpNE(re, k.getInt8(0)) : re, p.im ? k.CreateLoad(type, p.im) : nullptr};
  };
  auto write = [&](Value *lane, Element x) {
    Element p = at(lane);
    k.CreateStore(dtype == DType::Bool ? k.CreateZExt(x.re, type) : x.re, p.re);
    if (p.im)
      k.CreateStore(x.im, p.im);
  };
  Element identity = identityOf(op, dtype);
  loop(i64(0), i64(reductionLanes), [&](Value *lane) { write(lane, identity); });
  Value *count = k.CreateSub(end, begin), *rounds = k.CreateUDiv(count, i64(reductionLanes));
  auto step = [&](Value *base, Value *lane) {
    write(lane, combine(op, read(lane), reductionElement(op, outer, k.CreateAdd(base, lane, "", true, true)), dtype));
  };
  loop(i64(0), rounds, [&](Value *round) {
    Value *base = k.CreateAdd(begin, k.CreateMul(round, i64(reductionLanes), "", true, true), "", true, true);
    loop(i64(0), i64(reductionLanes), [&](Value *lane) { step(base, lane); });
  });
  Value *tail = k.CreateAdd(begin, k.CreateMul(rounds, i64(reductionLanes)));
  loop(i64(0), k.CreateSub(end, tail), [&](Value *lane) { step(tail, lane); });
  for (int64_t half = reductionLanes / 2; half > 0; half /= 2)
    loop(i64(0), i64(half),
         [&](Value *lane) { write(lane, combine(op, read(lane), read(k.CreateAdd(lane, i64(half))), dtype)); });
  return read(i64(0));
}

/// The last axis is reduced.
void KernelEmitter::emitLaneReduction(mlir::Operation *op) {
  mlir::Value x = op->getOperand(0);
  ReductionAxes axes(op);
  DType dtype = rootType.getDtype();
  SmallVector<Value *> outerSizes = callerSizesOf(x, axes.outer), reducedSizes = callerSizesOf(x, axes.reduced);
  Value *count = product(reducedSizes), *rows = product(outerSizes);
  auto known = tensorTypeOf(x).getStaticCount();
  if (axes.outer.empty() && !(known && *known <= reductionBlock)) {
    // A long fold to one element: blocks on all cores, their results combined in order.
    flat = isAllElementwise(x);
    Value *blocks = caller.CreateUDiv(caller.CreateAdd(count, caller.getInt64(reductionBlock - 1)),
                                      caller.getInt64(reductionBlock));
    Function *function = caller.GetInsertBlock()->getParent();
    IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
    Value *size = entry.CreateAlloca(entry.getInt64Ty());
    caller.CreateStore(blocks, size);
    ScalarEmitter calls(module, caller);
    Value *partials = calls.call("toy_rt_alloc", caller.getPtrTy(),
                                 {caller.getInt64(static_cast<int>(dtype)), caller.getInt64(1), size});
    Value *data =
        caller.CreateLoad(caller.getPtrTy(), caller.CreateConstInBoundsGEP1_64(caller.getInt8Ty(), partials, 8));
    begin();
    Value *out = capture(data), *n = capture(count);
    loop(rangeBegin, rangeEnd, [&](Value *block) {
      Value *from = k.CreateMul(block, i64(reductionBlock));
      Value *to = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(from, i64(reductionBlock)), n);
      scalars.store(dtype, out, block, emitBlock(op, {}, from, to));
    });
    finish(blocks, caller.getInt64(4), true);
    emitCombine(op, data, blocks);
    calls.call("toy_rt_release", caller.getVoidTy(), {partials});
    return;
  }
  flat = axes.outer.empty() && isAllElementwise(x);
  begin();
  Value *out = capture(callerOut), *n = capture(count);
  SmallVector<Value *> sizes;
  for (Value *v : outerSizes)
    sizes.push_back(capture(v));
  loop(rangeBegin, rangeEnd, [&](Value *row) {
    Indices outer = decode(row, sizes);
    // total over blocks, in order
    IRBuilder<> entry(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
    Value *total = entry.CreateAlloca(scalars.memoryType(dtype), entry.getInt32(2));
    scalars.store(dtype, total, i64(0), identityOf(op, dtype)); // an empty fold
    Value *blocks = k.CreateUDiv(k.CreateAdd(n, i64(reductionBlock - 1)), i64(reductionBlock));
    loop(i64(0), blocks, [&](Value *block) {
      Value *from = k.CreateMul(block, i64(reductionBlock));
      Value *to = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(from, i64(reductionBlock)), n);
      Element part = emitBlock(op, outer, from, to);
      Element sum = choose(
          k.CreateICmpEQ(block, i64(0)), dtype, [&] { return part; },
          [&] { return combine(op, scalars.load(dtype, total, i64(0)), part, dtype); });
      scalars.store(dtype, total, i64(0), sum);
    });
    scalars.store(dtype, out, row, scalars.load(dtype, total, i64(0)));
  });
  Value *grain = caller.CreateUDiv(caller.getInt64(1 << 15),
                                   caller.CreateBinaryIntrinsic(Intrinsic::smax, count, caller.getInt64(1)));
  finish(rows, caller.CreateBinaryIntrinsic(Intrinsic::smax, grain, caller.getInt64(1)),
         !axes.outer.empty() && !(known && *known <= 1 << 15));
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
  finish(caller.getInt64(1), caller.getInt64(1), false);
}

/// The last axis stays: the result's row is the accumulator, reduced elements are added in order.
void KernelEmitter::emitColumnReduction(mlir::Operation *op) {
  mlir::Value x = op->getOperand(0);
  ReductionAxes axes(op);
  DType dtype = rootType.getDtype();
  SmallVector<Value *> outerSizes = callerSizesOf(x, axes.outer), reducedSizes = callerSizesOf(x, axes.reduced);
  Value *count = product(reducedSizes), *columns = outerSizes.back(), *rows = product(ArrayRef(outerSizes).drop_back());
  begin();
  Value *out = capture(callerOut), *n = capture(count), *width = capture(columns), *height = capture(rows);
  SmallVector<Value *> sizes;
  for (Value *v : ArrayRef(outerSizes).drop_back())
    sizes.push_back(capture(v));
  // The range goes over columns, so that threads own columns and the order does not depend on them. Without columns,
  // rows are not counted.
  height = k.CreateSelect(k.CreateICmpSLT(rangeBegin, rangeEnd), height, i64(0));
  n = k.CreateSelect(k.CreateICmpSLT(rangeBegin, rangeEnd), n, i64(0));
  loop(i64(0), height, [&](Value *row) {
    Indices outer = decode(row, sizes);
    Value *base = k.CreateMul(row, width, "", true, true);
    auto with = [&](Value *column) {
      Indices all = outer;
      all.push_back(column);
      return all;
    };
    loop(rangeBegin, rangeEnd, [&](Value *column) {
      scalars.store(dtype, out, k.CreateAdd(base, column, "", true, true), identityOf(op, dtype));
    });
    loop(i64(0), n, [&](Value *j) {
      loop(rangeBegin, rangeEnd, [&](Value *column) {
        Value *at = k.CreateAdd(base, column, "", true, true);
        scalars.store(dtype, out, at,
                      combine(op, scalars.load(dtype, out, at), reductionElement(op, with(column), j), dtype));
      });
    });
  });
  auto known = tensorTypeOf(x).getStaticCount();
  Value *work = caller.CreateMul(caller.CreateBinaryIntrinsic(Intrinsic::smax, count, caller.getInt64(1)),
                                 caller.CreateBinaryIntrinsic(Intrinsic::smax, rows, caller.getInt64(1)));
  Value *grain = caller.CreateAdd(caller.CreateUDiv(caller.getInt64(1 << 15), work), caller.getInt64(64));
  finish(columns, grain, !(known && *known <= 1 << 15));
}

/// Whether b takes the place of a, which stands before it: the first NaN wins.
Value *KernelEmitter::isBetter(mlir::Operation *op, Value *a, Value *b, DType dtype) {
  bool isMax = isa<ArgMaxOp>(op);
  if (isFloat(dtype)) {
    Value *beats = isMax ? k.CreateFCmpOGT(b, a) : k.CreateFCmpOLT(b, a);
    return k.CreateAnd(k.CreateFCmpORD(a, a), k.CreateOr(k.CreateFCmpUNO(b, b), beats));
  }
  if (dtype == DType::Bool || dtype == DType::U8)
    return isMax ? k.CreateICmpUGT(b, a) : k.CreateICmpULT(b, a);
  return isMax ? k.CreateICmpSGT(b, a) : k.CreateICmpSLT(b, a);
}

/// The position of the first best element, one output after the other.
void KernelEmitter::emitArgReduction(mlir::Operation *op) {
  mlir::Value x = op->getOperand(0);
  ReductionAxes axes(op);
  DType dtype = tensorTypeOf(x).getDtype();
  SmallVector<Value *> outerSizes = callerSizesOf(x, axes.outer), reducedSizes = callerSizesOf(x, axes.reduced);
  Value *count = product(reducedSizes), *rows = product(outerSizes);
  begin();
  Value *out = capture(callerOut), *n = capture(count);
  SmallVector<Value *> sizes;
  for (Value *v : outerSizes)
    sizes.push_back(capture(v));
  IRBuilder<> entry(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
  Value *best = entry.CreateAlloca(scalars.memoryType(dtype));
  loop(rangeBegin, rangeEnd, [&](Value *row) {
    Indices outer = decode(row, sizes);
    scalars.store(dtype, best, i64(0), reductionElement(op, outer, i64(0)));
    scalars.store(DType::I64, out, row, {i64(0)});
    loop(i64(1), n, [&](Value *j) {
      Value *a = scalars.load(dtype, best, i64(0)).re, *b = reductionElement(op, outer, j).re,
            *better = isBetter(op, a, b, dtype);
      scalars.store(dtype, best, i64(0), {k.CreateSelect(better, b, a)});
      Value *old = scalars.load(DType::I64, out, row).re;
      scalars.store(DType::I64, out, row, {k.CreateSelect(better, j, old)});
    });
  });
  finish(rows, caller.getInt64(16), false);
}

void KernelEmitter::emitReduction(mlir::Operation *op) {
  if (isa<ArgMaxOp, ArgMinOp>(op))
    return emitArgReduction(op);
  ReductionAxes(op).alongLast ? emitLaneReduction(op) : emitColumnReduction(op);
}

} // namespace toy
