// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which copies of many small matrices, whose last two axes change places, and with a short last axis from far apart
/// are shuffles of registers.
#include "passes/SmallSwaps.h"

#include <set>

using namespace llvm;

namespace toy {

std::pair<size_t, int64_t> ShuffledStep::find(int64_t element) const {
  for (size_t i = 0; i < from.size(); ++i)
    if (element >= from[i] && element < from[i] + lanes)
      return {i, element - from[i]};
  llvm_unreachable("an element of a register");
}

int64_t ShuffledStep::shuffles() const {
  int64_t count = 0;
  for (int64_t place : to) {
    std::set<size_t> registers;
    for (int64_t lane = 0; lane < lanes; ++lane)
      registers.insert(find(sourceOf(place + lane)).first);
    count += static_cast<int64_t>(registers.size());
  }
  return count;
}

void ShuffledStep::cover(int64_t count) {
  for (int64_t at = 0; at < count; at += lanes)
    from.push_back(std::min(at, count - lanes));
  to = from;
}

/// Of matrices of so many rows and columns: all elements of some, or of a few long rows as many columns as a register
/// has elements. Without registers if that takes too many shuffles.
static ShuffledStep stepOf(int64_t rows, int64_t columns, int64_t lanes, int64_t &together) {
  constexpr int64_t mostRegisters = 8, elementsOfShuffle = 3;
  const int64_t each = rows * columns;
  ShuffledStep step{lanes, {}, {}, {}};
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

std::optional<SmallSwap> smallSwapOf(PermuteOp permute) {
  constexpr int64_t registerBytes = 64, fewElements = 256;
  const TensorType type = tensorTypeOf(permute.getResult());
  const auto count = type.getStaticCount();
  const int64_t rank = type.getRank(), bytes = sizeOf(type.getDtype());
  if (!count || *count < fewElements || rank < 3 || bytes > 8)
    return std::nullopt;
  for (auto [axis, from] : enumerate(permute.getPermutation()))
    if (const auto at = static_cast<int64_t>(axis); from != (at < rank - 2 ? at : 2 * rank - 3 - at))
      return std::nullopt;
  SmallSwap swap{type.getDim(rank - 1).value(), type.getDim(rank - 2).value(), 0, 0, {}};
  if (swap.rows < 2 || swap.columns < 2)
    return std::nullopt;
  swap.step = stepOf(swap.rows, swap.columns, registerBytes / bytes, swap.together);
  swap.matrices = *count / (swap.rows * swap.columns);
  if (swap.step.to.empty() || swap.matrices < swap.together)
    return std::nullopt;
  return swap;
}

std::optional<InterleavedTile> interleavedTileOf(PermuteOp permute) {
  constexpr int64_t mostParts = 8, lineBytes = 64, width = 64;
  const TensorType type = tensorTypeOf(permute.getResult());
  const int64_t rank = type.getRank(), bytes = sizeOf(type.getDtype());
  if (rank < 3 || bytes > 4 || !type.getStaticCount())
    return std::nullopt;
  ArrayRef<int64_t> from = permute.getPermutation();
  const int64_t row = find(from, rank - 1) - from.begin(), height = lineBytes / bytes;
  const int64_t parts = type.getDim(rank - 1).value();
  if (row >= rank - 2 || parts < 2 || parts >= mostParts || type.getDim(row).value() < height ||
      type.getDim(rank - 2).value() < width)
    return std::nullopt;
  int64_t pitch = 1;
  for (int64_t axis = from[rank - 2] + 1; axis < rank; ++axis)
    pitch *= tensorTypeOf(permute.getX()).getDim(axis).value();
  return InterleavedTile{parts, row, height, width, pitch};
}

} // namespace toy
