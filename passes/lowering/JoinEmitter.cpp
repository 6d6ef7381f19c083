// SPDX-License-Identifier: Apache-2.0
/// \file
/// Joins that are copies of whole pieces.
#include "passes/lowering/KernelEmitter.h"

using namespace llvm;

namespace toy {

/// The input that a joined part is, or is cut from by the axis of the join and the outermost one alone; null if it is
/// anything else.
static mlir::Value joinedInput(mlir::Value part, int64_t axis) {
  auto slice = part.getDefiningOp<SliceOp>();
  mlir::Value x = slice ? slice.getX() : part;
  if (!isa<mlir::BlockArgument>(x))
    return nullptr;
  for (int64_t i = 0; slice && i < tensorTypeOf(x).getRank(); ++i)
    if (slice.getSteps()[i] != 1 || (i != axis && i != 0 && tensorTypeOf(x).getDim(i) != tensorTypeOf(part).getDim(i)))
      return nullptr;
  return x;
}

/// Whether parts are inputs, or their slices, or along the outermost axis such joins.
bool KernelEmitter::isJoinOfCopies(ConcatOp concat) {
  const auto axis = static_cast<int64_t>(concat.getAxis());
  return all_of(concat.getParts(), [&](mlir::Value part) {
    if (auto inner = part.getDefiningOp<ConcatOp>())
      return axis == 0 && inner.getAxis() > 0 && isJoinOfCopies(inner);
    return joinedInput(part, axis) != nullptr;
  });
}

/// Inputs, or their slices, joined as they are are copies of whole pieces, by the runtime; false where the pieces are
/// elements.
bool KernelEmitter::emitJoin() {
  auto concat = root.getDefiningOp<ConcatOp>();
  if (!concat || !isJoinOfCopies(concat))
    return false;
  auto isShort = [&](mlir::Value part) {
    int64_t bytes = sizeOf(rootType.getDtype());
    SmallVector<Dim> dims = tensorTypeOf(part).getDims();
    for (Dim dim : ArrayRef(dims).drop_front(concat.getAxis()))
      if (!dim.isNumber() || MulOverflow(bytes, dim.value(), bytes))
        return false;
    return bytes < 64;
  };
  if (concat.getParts().size() <= 8 && any_of(concat.getParts(), isShort)) // more parts are too much code for loops
    return false;
  emitCopies(callerOut, concat);
  return true;
}

/// Writes a join to `out`.
void KernelEmitter::emitCopies(Value *out, ConcatOp concat) {
  const auto axis = static_cast<int64_t>(concat.getAxis()), rank = rootType.getRank();
  auto bytesFrom = [&](mlir::Value x, int64_t first) {
    return caller.CreateMul(product(callerSizesOf(x, to_vector(seq<int64_t>(first, rank)))),
                            caller.getInt64(sizeOf(rootType.getDtype())));
  };
  if (any_of(concat.getParts(), [](mlir::Value part) { return part.getDefiningOp<ConcatOp>() != nullptr; })) {
    for (mlir::Value part : concat.getParts()) {
      if (auto inner = part.getDefiningOp<ConcatOp>())
        emitCopies(out, inner);
      else
        copyParts(out, {part}, axis);
      out = caller.CreateGEP(caller.getInt8Ty(), out, bytesFrom(part, 0));
    }
    return;
  }
  copyParts(out, concat.getParts(), axis);
}

void KernelEmitter::copyParts(Value *out, mlir::ValueRange joined, int64_t axis) {
  const auto count = static_cast<int64_t>(joined.size()), rank = rootType.getRank();
  Function *function = caller.GetInsertBlock()->getParent();
  IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
  Value *parts = entry.CreateAlloca(entry.getInt64Ty(), entry.getInt64(3 * count)); // rt::JoinedPart
  Value *rows = product(callerSizesOf(joined[0], to_vector(seq<int64_t>(axis))));
  for (auto [i, part] : enumerate(joined)) {
    auto bytesFrom = [&](mlir::Value x, int64_t first) {
      return caller.CreateMul(product(callerSizesOf(x, to_vector(seq<int64_t>(first, rank)))),
                              caller.getInt64(sizeOf(rootType.getDtype())));
    };
    mlir::Value x = joinedInput(part, axis);
    Value *data = dataOf(x);
    auto skip = [&](SliceOp slice, int64_t of) {
      data = caller.CreateGEP(caller.getInt8Ty(), data,
                              caller.CreateMul(callerInteger(slice.getStarts()[of]), bytesFrom(x, of + 1)));
    };
    if (auto slice = part.getDefiningOp<SliceOp>()) {
      skip(slice, axis);
      if (axis > 0)
        skip(slice, 0);
    }
    Value *const words[] = {data, bytesFrom(part, axis), bytesFrom(x, axis)};
    for (auto [j, word] : enumerate(words))
      caller.CreateStore(word, caller.CreateConstInBoundsGEP1_64(caller.getInt64Ty(), parts, 3 * i + j));
  }
  ScalarEmitter(module, caller).call("toy_rt_join", caller.getVoidTy(), {out, parts, caller.getInt64(count), rows});
}

} // namespace toy
