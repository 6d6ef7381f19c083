// SPDX-License-Identifier: Apache-2.0
/// \file
/// Joins that are copies of whole pieces.
#include "passes/lowering/KernelEmitter.h"

using namespace llvm;

namespace toy {

/// The input that a joined part is, or is cut from by the axis of the join alone; null if it is anything else.
static mlir::Value joinedInput(mlir::Value part, int64_t axis) {
  auto slice = part.getDefiningOp<SliceOp>();
  mlir::Value x = slice ? slice.getX() : part;
  if (!isa<mlir::BlockArgument>(x))
    return nullptr;
  for (int64_t i = 0; slice && i < tensorTypeOf(x).getRank(); ++i)
    if (slice.getSteps()[i] != 1 || (i != axis && tensorTypeOf(x).getDim(i) != tensorTypeOf(part).getDim(i)))
      return nullptr;
  return x;
}

/// Inputs, or their slices, joined as they are are copies of whole pieces, by the runtime; false where the pieces are
/// elements.
bool KernelEmitter::emitJoin() {
  auto concat = root.getDefiningOp<ConcatOp>();
  if (!concat)
    return false;
  const auto axis = static_cast<int64_t>(concat.getAxis()), count = static_cast<int64_t>(concat.getParts().size());
  if (!all_of(concat.getParts(), [&](mlir::Value part) { return joinedInput(part, axis) != nullptr; }))
    return false;
  auto isShort = [&](mlir::Value part) {
    int64_t bytes = sizeOf(rootType.getDtype());
    SmallVector<Dim> dims = tensorTypeOf(part).getDims();
    for (Dim dim : ArrayRef(dims).drop_front(axis))
      if (!dim.isNumber() || MulOverflow(bytes, dim.value(), bytes))
        return false;
    return bytes < 64;
  };
  if (count <= 8 && any_of(concat.getParts(), isShort)) // more parts are too much code for loops
    return false;
  Function *function = caller.GetInsertBlock()->getParent();
  IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
  Value *parts = entry.CreateAlloca(entry.getInt64Ty(), entry.getInt64(3 * count)); // rt::JoinedPart
  Value *rows = product(callerSizesOf(root, to_vector(seq<int64_t>(axis))));
  for (auto [i, part] : enumerate(concat.getParts())) {
    auto bytesFrom = [&](mlir::Value x, int64_t first) {
      return caller.CreateMul(product(callerSizesOf(x, to_vector(seq<int64_t>(first, rootType.getRank())))),
                              caller.getInt64(sizeOf(rootType.getDtype())));
    };
    mlir::Value x = joinedInput(part, axis);
    Value *data = dataOf(x);
    if (auto slice = part.getDefiningOp<SliceOp>())
      data = caller.CreateGEP(caller.getInt8Ty(), data,
                              caller.CreateMul(callerInteger(slice.getStarts()[axis]), bytesFrom(x, axis + 1)));
    Value *const words[] = {data, bytesFrom(part, axis), bytesFrom(x, axis)};
    for (auto [j, word] : enumerate(words))
      caller.CreateStore(word, caller.CreateConstInBoundsGEP1_64(caller.getInt64Ty(), parts, 3 * i + j));
  }
  ScalarEmitter(module, caller)
      .call("toy_rt_join", caller.getVoidTy(), {callerOut, parts, caller.getInt64(count), rows});
  return true;
}

} // namespace toy
