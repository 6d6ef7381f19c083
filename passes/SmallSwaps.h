// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which copies of many small matrices, whose last two axes change places, are shuffles of registers.
#pragma once

#include "ir/ToyDialect.h"

#include <functional>
#include <optional>

namespace toy {

/// A step of a loop: registers of `lanes` elements at places of the source, and of the result, each of whose elements
/// is one of those. Neighbours may overlap.
struct ShuffledStep {
  int64_t lanes;
  llvm::SmallVector<int64_t> from, to;      ///< places
  std::function<int64_t(int64_t)> sourceOf; ///< the element of the source that stands at a place of the result

  /// The register of the source that has an element, and where.
  std::pair<size_t, int64_t> find(int64_t element) const;
  /// As many as there are registers of the source that one of the result is made of.
  int64_t shuffles() const;
  /// Registers of both sides for `count` elements in a row; the last one ends with them.
  void cover(int64_t count);
};

/// Matrices of the source, and the step of the loop over them.
struct SmallSwap {
  int64_t rows, columns, matrices;
  int64_t together; ///< matrices of a step, or 0, where a step is as many columns as a register has elements
  ShuffledStep step;
};

/// What a permutation is, if it is such a copy.
std::optional<SmallSwap> smallSwapOf(PermuteOp permute);

/// A copy whose last axis is short, and neither it nor the axis before is the operand's last one: for each element of
/// the short axis a tile is transposed, then rows of these are put together.
struct InterleavedTile {
  int64_t parts, row;    ///< of the short axis; the axis of the result along which the operand's elements lie together
  int64_t height, width; ///< of a tile: along `row`, and along the axis before the last
  int64_t pitch;         ///< between the operand's rows of a tile

  /// Of the result; of the last axis all parts.
  int64_t edge(int64_t axis, int64_t rank) const {
    return axis == row ? height : axis == rank - 1 ? parts : axis == rank - 2 ? width : 1;
  }
};
/// What a permutation is, if it is such a copy.
std::optional<InterleavedTile> interleavedTileOf(PermuteOp permute);

} // namespace toy
