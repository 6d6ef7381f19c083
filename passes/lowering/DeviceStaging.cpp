// SPDX-License-Identifier: Apache-2.0
/// \file
/// Folds of a CUDA device by a block of threads: all of them compute the elements, or bring partial results, into
/// memory that they share, and the first warp folds those in the host's order.
#include "passes/lowering/KernelEmitter.h"

using namespace llvm;

namespace toy {

/// The fold of a whole row, whose elements stay in shared memory for what reads them afterwards.
Element KernelEmitter::stagedRowFold(mlir::Operation *op, const Indices &outer, Value *thread, Value *n, Value *buffer,
                                     int64_t bytes, int64_t width) {
  stagedRow = {}; // it goes
  Element total = stagedFold(op, outer, thread, i64(0), n, buffer, reductionBlock,
                             k.CreateConstInBoundsGEP1_64(k.getInt8Ty(), buffer, bytes), width);
  mlir::Value x = op->getOperand(0);
  while (mlir::Value inner = behind(x))
    x = inner;
  if (tensorTypeOf(x).getDtype() == tensorTypeOf(op->getResult(0)).getDtype())
    stagedRow = {x, outer, buffer};
  return total;
}

bool KernelEmitter::isStaged(mlir::Value value, const Indices &indices) const {
  return value == stagedRow.value && ArrayRef(indices).drop_back() == ArrayRef(stagedRow.outer);
}

/// So many elements of a fold go to memory that the threads of a block share, `width` neighbours by a thread, of which
/// the number is a multiple. `source` says where along the axis the j-th is.
void KernelEmitter::stage(mlir::Operation *op, const Indices &outer, Value *thread, Value *number, Value *buffer,
                          int64_t width, function_ref<Value *(Value *)> source) {
  DType dtype = tensorTypeOf(op->getResult(0)).getDtype();
  const int64_t step = width * threadsOfBlock;
  SmallVector<std::pair<Value *, Element>> all;
  auto compute = [&](Value *first) {
    SmallVector<std::pair<Value *, Value *>> places; // in shared memory, and along the axis
    for (int64_t i = 0; i < width; ++i) {
      Value *j = i > 0 ? k.CreateAdd(first, i64(i), "", true, true) : first;
      places.emplace_back(j, source(j));
    }
    if (width > 1)
      for (auto [j, from] : places)
        prefetch(op->getOperand(0), reductionIndices(op, outer, from));
    for (auto [j, from] : places)
      all.emplace_back(j, reductionElement(op, outer, from));
  };
  auto store = [&] {
    for (auto &[j, x] : all)
      scalars.store(dtype, buffer, j, x);
    all.clear();
  };
  meetInBlock(); // those before have been read
  Value *left, *none;
  strided(k.CreateMul(thread, i64(width), "", true, true), number, {}, left, [&](Value *j, Element) {
    BasicBlock *inside = k.GetInsertBlock();
    compute(j);
    const int64_t steps = stepsAtOnce(inside) == 8 ? std::max<int64_t>(4 / width, 2) : 1; // more are other threads'
    for (int64_t i = 1; i < steps; ++i)
      compute(k.CreateAdd(j, i64(i * step), "", true, true));
    store();
    return Round{{}, steps * step, (steps - 1) * step};
  });
  strided(left, number, {}, none, [&](Value *j, Element) {
    compute(j);
    store();
    return Round{{}, step, 0};
  });
  meetInBlock();
}

/// What the first so many threads of a block, each a lane, have folded of as many elements in shared memory, after what
/// they had before.
Element KernelEmitter::foldOfStaged(mlir::Operation *op, const Indices &outer, Value *thread, Value *number,
                                    Value *buffer, int64_t lanes, const Element &before) {
  auto *known = dyn_cast<ConstantInt>(number);
  staged = buffer;
  Element total = choose(
      k.CreateICmpSLT(thread, i64(lanes)), tensorTypeOf(op->getResult(0)).getDtype(),
      [&] { return threadFold(op, outer, thread, number, lanes, known ? known->getSExtValue() : 0, &before); },
      [&] { return before; });
  staged = nullptr;
  return total;
}

/// The fold of elements [begin, end), at most a block of them, in all threads of a block: they compute `most` of them
/// at a time, which the first warp folds in its order, so that its lanes do not wait for memory one after the other.
/// All find it in `result`, which may be where the elements are.
Element KernelEmitter::stagedFold(mlir::Operation *op, const Indices &outer, Value *thread, Value *begin, Value *end,
                                  Value *buffer, int64_t most, Value *result, int64_t width) {
  DType dtype = tensorTypeOf(op->getResult(0)).getDtype();
  Value *all = k.CreateSub(end, begin);
  auto part = [&](Value *first, Value *number, const Element &before) {
    stage(op, outer, thread, number, buffer, width,
          [&](Value *j) { return first == i64(0) ? j : k.CreateAdd(first, j, "", true, true); });
    return foldOfStaged(op, outer, thread, number, buffer, warp, before);
  };
  Element total = identityOf(op, dtype);
  if (most >= reductionBlock)
    total = part(begin, all, total);
  else {
    Value *sum = variable(dtype);
    scalars.store(dtype, sum, i64(0), total);
    loop(i64(0), k.CreateUDiv(k.CreateAdd(all, i64(most - 1)), i64(most)), [&](Value *i) {
      Value *first = k.CreateMul(i, i64(most), "", true, true),
            *number = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateSub(all, first), i64(most));
      scalars.store(dtype, sum, i64(0),
                    part(k.CreateAdd(begin, first, "", true, true), number, scalars.load(dtype, sum, i64(0))));
    });
    total = scalars.load(dtype, sum, i64(0));
  }
  total = foldOfLanes(op, total);
  guarded(k.CreateICmpEQ(thread, i64(0)), [&] { scalars.store(dtype, result, i64(0), total); });
  meetInBlock();
  return scalars.load(dtype, result, i64(0));
}

/// A staged fold with memory of its own.
Element KernelEmitter::blockFold(mlir::Operation *op, const Indices &outer, Value *thread, Value *from, Value *to) {
  const int64_t width = toy::sizeOf(tensorTypeOf(op->getResult(0)).getDtype()),
                most = std::min(reductionBlock, mostStaged / width);
  auto *known = dyn_cast<ConstantInt>(k.CreateSub(to, from));
  const int64_t together = known ? std::min(most, known->getSExtValue()) : most;
  Value *buffer = sharedMemory(together * width);
  return stagedFold(op, outer, thread, from, to, buffer, most, buffer, 1);
}

/// The folds of `share` lanes from `first` on of the block of elements [begin, end), in as many threads of a block.
Element KernelEmitter::lanesFold(mlir::Operation *op, const Indices &outer, Value *thread, Value *begin, Value *end,
                                 Value *first, int64_t share) {
  DType dtype = tensorTypeOf(op->getResult(0)).getDtype();
  Value *all = k.CreateSub(end, begin), *from = k.CreateAdd(begin, first, "", true, true),
        *rest = k.CreateSub(k.CreateAnd(all, i64(warp - 1)), first), // elements of the last, incomplete turn
            *number =
                k.CreateAdd(k.CreateMul(k.CreateLShr(all, i64(5)), i64(share), "", true, true),
                            k.CreateBinaryIntrinsic(
                                Intrinsic::smax, k.CreateBinaryIntrinsic(Intrinsic::smin, rest, i64(share)), i64(0)));
  Value *buffer = sharedMemory(reductionBlock / warp * share * toy::sizeOf(dtype));
  stage(op, outer, thread, number, buffer, 1, [&](Value *j) {
    Value *turn = k.CreateUDiv(j, i64(share)), *lane = k.CreateURem(j, i64(share));
    return k.CreateAdd(k.CreateAdd(from, k.CreateMul(turn, i64(warp), "", true, true)), lane, "", true, true);
  });
  return foldOfStaged(op, outer, thread, number, buffer, share, identityOf(op, dtype));
}

/// Partial results from one on, one after the other: a block of threads brings as many as there is shared memory for,
/// where its first warp finds them at once. A result may be that of 32 lanes, which are the work of a warp.
Element KernelEmitter::orderedFold(mlir::Operation *op, Value *in, Value *thread, Value *first, Value *number,
                                   bool ofLanes) {
  DType dtype = rootType.getDtype();
  const int64_t width = toy::sizeOf(dtype), most = (8 << 10) / width; // few, so that more are seldom
  Value *buffer = sharedMemory(most * width), *total = variable(dtype), *left;
  Value *own = ofLanes ? k.CreateLShr(thread, i64(5)) : thread, *lane = k.CreateAnd(thread, i64(warp - 1));
  scalars.store(dtype, total, i64(0), identityOf(op, dtype)); // where those have begun, too
  loop(i64(0), k.CreateUDiv(k.CreateAdd(number, i64(most - 1)), i64(most)), [&](Value *round) {
    Value *base = k.CreateMul(round, i64(most), "", true, true), *from = k.CreateAdd(first, base, "", true, true),
          *count = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateSub(number, base), i64(most));
    meetInBlock(); // the last ones have been read
    strided(own, count, {}, left, [&](Value *j, Element) {
      Value *place = k.CreateAdd(from, j, "", true, true);
      if (ofLanes) {
        place = k.CreateAdd(k.CreateMul(place, i64(warp), "", true, true), lane, "", true, true);
        Element sum = foldOfLanes(op, scalars.load(dtype, in, place));
        guarded(k.CreateICmpEQ(lane, i64(0)), [&] { scalars.store(dtype, buffer, j, sum); });
      } else
        scalars.store(dtype, buffer, j, scalars.load(dtype, in, place));
      return Round{{}, ofLanes ? threadsOfBlock / warp : threadsOfBlock, 0};
    });
    meetInBlock();
    guarded(k.CreateICmpSLT(thread, i64(warp)), [&] {
      scalars.store(dtype, total, i64(0),
                    foldInTurn(op, i64(0), count, scalars.load(dtype, total, i64(0)), 16,
                               [&](Value *j) { return scalars.load(dtype, buffer, j); }));
    });
  });
  return scalars.load(dtype, total, i64(0));
}

} // namespace toy
