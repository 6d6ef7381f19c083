// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operations that are not loop nests over the result: sorting, scans, and indexing by data. Operands are borrowed
/// unless said otherwise: one that is consumed is where the result goes if nobody else holds it.
#pragma once

#include "runtime/Value.h"

namespace toy::rt {

/// Of what is in order: `count` places from `begin` on, which are there.
struct SortedPart {
  int64_t begin, count;
};

/// Stable, NaN last in both directions.
TensorRef sort(TensorRef consumed, int64_t axis, bool descending);
TensorRef argsort(TensorRef consumed, int64_t axis, bool descending);
/// The same, of which the result has a part: where it is small, without putting the others in order.
TensorRef sort(const Tensor &x, int64_t axis, bool descending, SortedPart part);
TensorRef argsort(const Tensor &x, int64_t axis, bool descending, SortedPart part);
/// Running sums or products in order; bool gives i64.
TensorRef cumulate(TensorRef consumed, int64_t axis, bool product);
/// i64 [n, rank], row-major order.
TensorRef nonzero(const Tensor &x);
/// The elements where a mask over the leading axes is true.
TensorRef maskSelect(const Tensor &x, const Tensor &mask);
/// Consumes x. `values` has one entry for each true, or one for all (rank of the rest of x).
TensorRef maskStore(TensorRef x, const Tensor &mask, const Tensor &values);
/// NumPy's integer-array indexing of consecutive axes from `firstAxis`; the index tensors broadcast.
TensorRef take(const Tensor &x, std::span<const Tensor *const> indices, int64_t firstAxis);
/// Consumes x; `values` broadcasts to what `take` gives. The last of equal positions wins.
TensorRef takeStore(TensorRef x, const Tensor &values, std::span<const Tensor *const> indices, int64_t firstAxis);
/// One more row, whose elements lie at `row`: in place, with room for twice as many, where nobody else holds x. `more`
/// are known to follow in all.
TensorRef append(TensorRef x, const void *row, int64_t more = 0);
/// The first rows: in place where nobody else holds x, which keeps its room.
TensorRef shorten(TensorRef x, int64_t rows);
/// Consumes x; `values` broadcasts to `counts` elements from `starts` by `steps`, which lie inside.
TensorRef storeSlice(TensorRef x, const Tensor &values, std::span<const int64_t> starts,
                     std::span<const int64_t> counts, std::span<const int64_t> steps);
/// PyTorch's gather and scatter.
TensorRef takeAlong(const Tensor &x, const Tensor &index, int64_t axis);
TensorRef putAlong(TensorRef x, const Tensor &index, const Tensor &values, int64_t axis);

} // namespace toy::rt
