// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sums along vectors in loops, as code of the loop: one element after the other.
#include "passes/lowering/KernelEmitter.h"

using namespace llvm;

namespace toy {

/// Ctrl-C is looked for between strips.
void KernelEmitter::emitScan(CumSumOp op) {
  constexpr int64_t strip = 1 << 14;
  const DType dtype = rootType.getDtype();
  Value *count = callerSize(op.getX(), 0);
  BasicBlock *here = BasicBlock::Create(k.getContext(), "scan", caller.GetInsertBlock()->getParent());
  caller.SetInsertPoint(caller.CreateBr(here)); // what the caller is asked for is there
  beginInCaller(here);
  IRBuilder<> entry(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
  Value *sum = entry.CreateAlloca(scalars.memoryType(dtype), i64(isComplex(dtype) ? 2 : 1));
  Value *start = Constant::getNullValue(scalars.partType(dtype)); // or -0, which leaves -0 as it is
  start = start->getType()->isFloatingPointTy() ? ConstantFP::getNegativeZero(start->getType()) : start;
  scalars.store(dtype, sum, i64(0), {start, isComplex(dtype) ? start : nullptr});
  loop(i64(0), k.CreateUDiv(k.CreateAdd(count, i64(strip - 1)), i64(strip)), [&](Value *number) {
    scalars.rarely(k.CreateICmpNE(number, i64(0)), [&] { scalars.call("toy_rt_poll", k.getVoidTy(), {}); });
    Value *from = k.CreateMul(number, i64(strip), "", true, true);
    Value *to = k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateAdd(from, i64(strip), "", true, true), count);
    loop(from, to, [&](Value *j) {
      const Element next = scalars.add(scalars.load(dtype, sum, i64(0)), elementAt(op.getX(), {j}), dtype);
      scalars.store(dtype, sum, i64(0), next);
      scalars.store(dtype, callerOut, j, next);
    });
  });
  caller.SetInsertPoint(k.GetInsertBlock());
}

/// A row in lanes, in registers: at most eight steps at a time, as many times as the row needs.
Element KernelEmitter::scanLanes(CumSumOp op, const LaneIndices &at, Value *mask) {
  const int64_t together = std::min<int64_t>(8, lanesAtOnce);
  const DType dtype = tensorTypeOf(op.getResult()).getDtype();
  Element row = laneElements(op.getX(), at, mask), sum;
  BasicBlock *done = BasicBlock::Create(k.getContext(), "", kernel);
  SmallVector<std::pair<Element, BasicBlock *>, 4> ends;
  auto parts = [](const Element &x, auto f) { return Element{f(x.re, true), x.im ? f(x.im, false) : nullptr}; };
  for (int64_t first = 0; first < lanesAtOnce; first += together) {
    if (first > 0) {
      BasicBlock *next = BasicBlock::Create(k.getContext(), "", kernel);
      k.CreateCondBr(k.CreateICmpUGT(inputs.back().scalar.re, i64(first)), next, done);
      ends.push_back({row, k.GetInsertBlock()});
      k.SetInsertPoint(next);
    }
    Element made = parts(row, [&](Value *part, bool) -> Value * {
      return PoisonValue::get(FixedVectorType::get(part->getType()->getScalarType(), together));
    });
    for (int64_t lane = 0; lane < together; ++lane) {
      const Element here = elementOf(k, row, i64(first + lane));
      sum = first + lane ? scalars.add(sum, here, dtype) : here;
      made = parts(made,
                   [&](Value *part, bool isRe) { return k.CreateInsertElement(part, isRe ? sum.re : sum.im, lane); });
    }
    row = parts(row, [&](Value *part, bool isRe) {
      return k.CreateInsertVector(part->getType(), part, isRe ? made.re : made.im, i64(first));
    });
  }
  k.CreateBr(done);
  ends.push_back({row, k.GetInsertBlock()});
  k.SetInsertPoint(done);
  auto either = [&](Value *Element::*part) -> Value * {
    if (!(row.*part))
      return nullptr;
    PHINode *phi = k.CreatePHI((row.*part)->getType(), ends.size());
    for (auto &[end, from] : ends)
      phi->addIncoming(end.*part, from);
    return phi;
  };
  return {either(&Element::re), either(&Element::im)};
}

} // namespace toy
