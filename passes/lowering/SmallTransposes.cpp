// SPDX-License-Identifier: Apache-2.0
/// \file
/// Copies of many small matrices whose last two axes change places: registers of elements that lie together are
/// loaded, shuffled and stored, where a loop would move its elements one by one.
#include "passes/lowering/KernelEmitter.h"

#include <functional>
#include <set>

using namespace llvm;

namespace toy {

namespace {

constexpr int64_t registerBytes = 64;

/// A step of the loop: registers of `lanes` elements at places of the source, and of the result, each of whose elements
/// is one of those. Neighbours may overlap.
struct Shuffled {
  int64_t lanes;
  SmallVector<int64_t> from, to;            ///< places
  std::function<int64_t(int64_t)> sourceOf; ///< the element of the source that stands at a place of the result

  /// The register of the source that has an element, and where.
  std::pair<size_t, int64_t> find(int64_t element) const {
    for (size_t i = 0; i < from.size(); ++i)
      if (element >= from[i] && element < from[i] + lanes)
        return {i, element - from[i]};
    llvm_unreachable("an element of a register");
  }
  /// As many as there are registers of the source that one of the result is made of.
  int64_t shuffles() const {
    int64_t count = 0;
    for (int64_t place : to) {
      std::set<size_t> registers;
      for (int64_t lane = 0; lane < lanes; ++lane)
        registers.insert(find(sourceOf(place + lane)).first);
      count += static_cast<int64_t>(registers.size());
    }
    return count;
  }
  /// Registers of both sides for `count` elements in a row; the last one ends with them.
  void cover(int64_t count) {
    for (int64_t at = 0; at < count; at += lanes)
      from.push_back(std::min(at, count - lanes));
    to = from;
  }
};

} // namespace

/// One step, of elements of a type that lie from `source` on, to `result`.
static void emitStep(IRBuilder<> &k, const Shuffled &step, Type *element, Value *source, Value *result) {
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

/// Of matrices of so many rows and columns: all elements of some, or of a few long rows as many columns as a register
/// has elements. Without registers if that takes too many shuffles.
static Shuffled stepOf(int64_t rows, int64_t columns, int64_t lanes, int64_t &together) {
  constexpr int64_t mostRegisters = 8, elementsOfShuffle = 3;
  const int64_t each = rows * columns;
  Shuffled step{lanes, {}, {}, {}};
  if (each <= mostRegisters * lanes) {
    together = (lanes + each - 1) / each;
    step.cover(together * each);
    step.sourceOf = [=](int64_t at) { return at / each * each + at % rows * columns + at % each / rows; };
  } else if (rows <= mostRegisters && columns >= lanes) {
    together = 0;
    for (int64_t row = 0; row < rows; ++row) {
      step.from.push_back(row * columns);
      step.to.push_back(row * lanes);
    }
    step.sourceOf = [=](int64_t at) { return at % rows * columns + at / rows; };
  }
  if (step.shuffles() * elementsOfShuffle > lanes * static_cast<int64_t>(step.to.size()))
    step.to.clear();
  return step;
}

bool KernelEmitter::emitSmallTransposes() {
  auto permute = root.getDefiningOp<PermuteOp>();
  const auto count = rootType.getStaticCount();
  const int64_t rank = rootType.getRank(), bytes = sizeOf(rootType.getDtype());
  if (!permute || !count || *count < 256 || rank < 3 || bytes > 8 || !isa<mlir::BlockArgument>(permute.getX()) ||
      permute.getPermutation()[rank - 1] != rank - 2 || permute.getPermutation()[rank - 2] != rank - 1)
    return false;
  const int64_t rows = rootType.getDim(rank - 1).value(), columns = rootType.getDim(rank - 2).value(); // of the source
  int64_t together = 0;                                                                                // matrices
  const Shuffled step = stepOf(rows, columns, registerBytes / bytes, together);
  const int64_t each = rows * columns, matrices = *count / each;
  if (rows < 2 || columns < 2 || step.to.empty() || matrices < together)
    return false;
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
