// SPDX-License-Identifier: Apache-2.0
/// \file
/// Copies of many small matrices whose last two axes change places: registers of elements that lie together are
/// loaded, shuffled and stored, where a loop would move its elements one by one.
#include "passes/SmallSwaps.h"
#include "passes/lowering/KernelEmitter.h"

using namespace llvm;

namespace toy {

/// One step, of elements of a type that lie from `source` on, to `result`.
static void emitStep(IRBuilder<> &k, const ShuffledStep &step, Type *element, Value *source, Value *result) {
  auto *type = FixedVectorType::get(element, step.lanes);
  const Align align(element->getScalarSizeInBits() / 8);
  SmallVector<Value *> loaded;
  for (int64_t place : step.from)
    loaded.push_back(k.CreateAlignedLoad(type, k.CreateConstInBoundsGEP1_64(element, source, place), align));
  for (int64_t place : step.to) {
    Value *made = nullptr;
    for (size_t number = 0; number < loaded.size(); ++number) {
      SmallVector<int> lanes;
      bool isRead = false;
      for (int64_t lane = 0; lane < step.lanes; ++lane) {
        const auto [found, at] = step.find(step.sourceOf(place + lane));
        isRead |= found == number;
        lanes.push_back(static_cast<int>(found == number ? (made ? step.lanes : 0) + at
                                         : made          ? lane
                                                         : PoisonMaskElem));
      }
      if (isRead)
        made = made ? k.CreateShuffleVector(made, loaded[number], lanes) : k.CreateShuffleVector(loaded[number], lanes);
    }
    k.CreateAlignedStore(made, k.CreateConstInBoundsGEP1_64(element, result, place), align);
  }
}

bool KernelEmitter::emitSmallTransposes() {
  auto permute = root.getDefiningOp<PermuteOp>();
  if (!permute || !isa<mlir::BlockArgument>(permute.getX()))
    return false;
  const auto swap = smallSwapOf(permute);
  if (!swap)
    return false;
  const ShuffledStep &step = swap->step;
  const int64_t columns = swap->columns, rows = swap->rows, matrices = swap->matrices, together = swap->together;
  const int64_t each = rows * columns, bytes = sizeOf(rootType.getDtype());
  begin();
  Type *element = k.getIntNTy(8 * bytes);
  Value *out = capture(callerOut), *data = capture(dataOf(permute.getX()));
  auto place = [&](Value *from, Value *at) { return k.CreateInBoundsGEP(element, from, at); };
  auto first = [&](Value *number, int64_t some, int64_t all) { // the last ones begin before the others' end
    return k.CreateBinaryIntrinsic(Intrinsic::smin, k.CreateMul(number, i64(some), "", true, true), i64(all - some));
  };
  loop(rangeBegin, rangeEnd, [&](Value *number) {
    if (together) {
      Value *at = k.CreateMul(first(number, together, matrices), i64(each), "", true, true);
      return emitStep(k, step, element, place(data, at), place(out, at));
    }
    Value *matrix = k.CreateMul(number, i64(each), "", true, true);
    loop(i64(0), i64((columns + step.lanes - 1) / step.lanes), [&](Value *block) {
      Value *column = first(block, step.lanes, columns);
      Value *to = k.CreateAdd(matrix, k.CreateMul(column, i64(rows), "", true, true), "", true, true);
      emitStep(k, step, element, place(data, k.CreateAdd(matrix, column, "", true, true)), place(out, to));
    });
  });
  finish(caller.getInt64(together ? (matrices + together - 1) / together : matrices),
         caller.getInt64(std::max<int64_t>(together, 1) * each));
  return true;
}

} // namespace toy
