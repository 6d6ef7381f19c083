// SPDX-License-Identifier: Apache-2.0
/// \file
/// Small sums over ranks, as what ranks have and the additions of their tree: those join the kernel that reads the sum.
#include "ir/Constants.h"
#include "passes/Passes.h"

#include "runtime/ranks/Opening.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "passes/Passes.h.inc"

namespace {

constexpr int64_t mostBytes = 64 << 10, mostParts = 8; // as runtime/cuda/Collectives.cpp

bool isSplit(AllReduceOp op) {
  TensorType type = tensorTypeOf(op.getX());
  const DType dtype = type.getDtype();
  const bool isMean = op.getReduction() == "mean";
  if ((op.getReduction() != "sum" && !isMean) || kindOf(dtype) <= DKind::Int || op->hasAttr("packed") ||
      type.getRank() == 0 || !type.hasStaticShape() || (isHalf(dtype) && isMean)) // which is rounded once
    return false;
  const int64_t summedWidth = isHalf(dtype) ? 4 : sizeOf(dtype);
  return *type.getStaticCount() * summedWidth > ranks::Opening::payloadBytes &&
         *type.getStaticCount() * sizeOf(dtype) <= mostBytes;
}

class SplitSum {
public:
  explicit SplitSum(AllReduceOp op)
      : b(op), loc(op.getLoc()), op(op), type(tensorTypeOf(op.getX())),
        wide(isHalf(type.getDtype()) ? type.withDType(DType::F32) : type) {}

  void run() {
    SmallVector<Dim> dims = type.getDims();
    rows = dims[0].value();
    dims[0] = Dim::unknown(op.getContext());
    parts =
        AllGatherPartsOp::create(b, loc, type.withDims(dims), op.getX(), b.getI64IntegerAttr(0), op.getReductionAttr());
    all = DimOp::create(b, loc, integer(), parts, 0);
    last = SubOp::create(b, loc, integer(), all, number(rows));
    Value sum = sumFrom(0, mostParts);
    if (op.getReduction() == "mean") {
      DType real = realOf(wide.getDtype());
      Value count = CastOp::create(b, loc, TensorType::scalar(op.getContext(), real),
                                   RankCountOp::create(b, loc, integer()), b.getStringAttr(nameOf(real)));
      sum = DivOp::create(b, loc, wide, sum, count);
    }
    if (wide != type)
      sum = CastOp::create(b, loc, type, sum, b.getStringAttr(nameOf(type.getDtype())));
    op.replaceAllUsesWith(sum);
    op.erase();
  }

private:
  TensorType integer() { return TensorType::scalar(op.getContext(), DType::I64); }
  Value number(int64_t n) { return integerConstant(b, loc, n); }

  /// The k-th part, or the last one where there are not so many.
  Value part(int64_t k) {
    SmallVector<Value> bounds = {k == 0 ? number(0) : MinimumOp::create(b, loc, integer(), number(k * rows), last)};
    for (int64_t axis = 1; axis < type.getRank(); ++axis)
      bounds.push_back(number(0));
    for (Dim dim : type.getDims())
      bounds.push_back(number(dim.value()));
    Value x = SliceOp::create(b, loc, type, parts, bounds, SmallVector<int64_t>(type.getRank(), 1));
    return wide == type ? x : CastOp::create(b, loc, wide, x, b.getStringAttr("f32"));
  }

  /// The tree over `count` parts from the k-th on: who has no partner passes on.
  Value sumFrom(int64_t k, int64_t count) {
    if (count == 1)
      return part(k);
    const int64_t half = count / 2;
    Value lower = sumFrom(k, half), higher = sumFrom(k + half, half),
          isThere =
              GtOp::create(b, loc, TensorType::scalar(op.getContext(), DType::Bool), all, number((k + half) * rows));
    return WhereOp::create(b, loc, wide, isThere, AddOp::create(b, loc, wide, lower, higher), lower);
  }

  OpBuilder b;
  Location loc;
  AllReduceOp op;
  TensorType type, wide; ///< of a value, and as it is summed
  int64_t rows = 0;
  Value parts, all, last; ///< rows of all parts, and where the last one begins
};

struct SplitReductionsPass : impl::SplitReductionsBase<SplitReductionsPass> {
  void runOnOperation() override {
    SmallVector<AllReduceOp> sums;
    getOperation().walk([&](AllReduceOp op) {
      if (isSplit(op))
        sums.push_back(op);
    });
    for (AllReduceOp op : sums)
      SplitSum(op).run();
  }
};

} // namespace
} // namespace toy
