// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements that lie some others apart in memory (slices with a step), as vectors: LLVM's vectors of such elements end
/// before the last ones, for fear of reading behind the tensor. Of as few elements as there are lanes, a good part
/// would go one by one.
#include "passes/RowLanes.h"
#include "passes/lowering/KernelEmitter.h"

using namespace llvm;

namespace toy {

/// Elements from `first` on, one each `step` of them, as vectors of cache lines of elements of `parts` parts: of each
/// the line is as many vectors of memory, the last of which ends with the last element.
SmallVector<Value *> KernelEmitter::loadApart(Type *part, Value *first, int64_t number, int64_t step, int64_t parts) {
  const int64_t bytes = part->getScalarSizeInBits() / 8, apart = std::abs(step),
                together = std::min<int64_t>(number, 64 / (bytes * parts)), width = together * parts,
                window = ((together - 1) * apart + 1) * parts;
  const Align align(bytes);
  auto at = [&](int64_t place) { return k.CreateInBoundsGEP(part, first, i64(place)); };
  SmallVector<Value *> found;
  for (int64_t group = 0; group < number / together; ++group) {
    const int64_t begin = step > 0 ? group * together * step * parts : ((group + 1) * together - 1) * step * parts;
    auto placeOf = [&](int64_t i) {
      const int64_t element = i / parts;
      return (step > 0 ? element : together - 1 - element) * apart * parts + i % parts;
    };
    Value *all = nullptr;
    for (int64_t from = 0, known = 0; known < window; known += width, from += width) {
      from = std::min(from, window - width);
      Value *next = k.CreateAlignedLoad(FixedVectorType::get(part, width), at(begin + from), align);
      SmallVector<int> lanes;
      for (int64_t i = 0; i < width; ++i) {
        const int64_t place = placeOf(i);
        lanes.push_back(static_cast<int>(place < known          ? i
                                         : place < from + width ? (all ? width : 0) + place - from
                                                                : PoisonMaskElem));
      }
      all = all ? k.CreateShuffleVector(all, next, lanes) : k.CreateShuffleVector(next, lanes);
    }
    found.push_back(all);
  }
  return found;
}

/// Slices of inputs that take elements some apart along the last axis, which is reduced, and are read where the element
/// that is folded is computed.
std::vector<KernelEmitter::Gathered> KernelEmitter::startGather(mlir::Operation *reduction, int64_t width) {
  mlir::Value x = reduction->getOperand(0);
  std::vector<Gathered> found;
  if (flat || !ReductionAxes(reduction).alongLast)
    return found;
  auto isReadInPlace = [&](auto &self, mlir::Value v) -> bool {
    return llvm::all_of(v.getUsers(), [&](mlir::Operation *user) {
      return user == reduction || (user->hasTrait<OpTrait::Elementwise>() &&
                                   tensorTypeOf(user->getResult(0)).getSizes() == tensorTypeOf(x).getSizes() &&
                                   self(self, user->getResult(0)));
    });
  };
  IRBuilder<> entry(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
  for (auto slice : op.getBody().front().getOps<SliceOp>()) {
    TensorType type = tensorTypeOf(slice.getResult());
    if (isa<mlir::BlockArgument>(slice.getX()) && !slice.getSteps().empty() && areNear(slice.getSteps().back()) &&
        type.getSizes() == tensorTypeOf(x).getSizes() && isReadInPlace(isReadInPlace, slice.getResult())) {
      AllocaInst *buffer = entry.CreateAlloca(ArrayType::get(entry.getInt8Ty(), width * sizeOf(type.getDtype())));
      buffer->setAlignment(Align(64));
      found.push_back({slice, buffer});
    }
  }
  return found;
}

/// Writes the elements of such a slice for all lanes, from some indices on.
void KernelEmitter::gather(const Gathered &gathered, const Indices &from, int64_t width) {
  auto [slice, to] = gathered;
  const DType dtype = tensorTypeOf(slice.getResult()).getDtype();
  const int64_t parts = isComplex(dtype) ? 2 : 1;
  Type *part = scalars.memoryType(dtype);
  Value *offset = k.CreateMul(offsetOf(slice.getX(), sliceIndices(slice, from)), i64(parts), "", true, true),
        *first = k.CreateInBoundsGEP(part, capture(dataOf(slice.getX())), offset);
  for (Value *vector : loadApart(part, first, width, slice.getSteps().back(), parts)) {
    k.CreateAlignedStore(vector, to, Align(std::min<int64_t>(64, width * sizeOf(dtype))));
    to = k.CreateConstInBoundsGEP1_64(vector->getType(), to, 1);
  }
}

/// step(lane) for all lanes, whose elements have such indices.
void KernelEmitter::loopOverLanes(function_ref<Indices(Value *)> indices, int64_t width, ArrayRef<Gathered> gathered,
                                  function_ref<void(Value *)> step) {
  for (Gathered g : gathered)
    gather(g, indices(i64(0)), width);
  loop(i64(0), i64(width), [&](Value *lane) {
    for (Gathered g : gathered)
      rowValues[g.first.getResult()] = scalars.load(tensorTypeOf(g.first.getResult()).getDtype(), g.second, lane);
    step(lane);
    for (Gathered g : gathered)
      rowValues.erase(g.first.getResult());
  });
}

} // namespace toy
