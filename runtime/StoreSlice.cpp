// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values put into every k-th element from a start, on each axis.
#include "runtime/ArrayLoops.h"
#include "runtime/ArrayOps.h"
#include "runtime/Error.h"
#include "runtime/Memory.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace toy::rt {
namespace {

constexpr int64_t grain = 1 << 16; ///< elements of a piece of work

/// Rows along the innermost axis; steps in elements, 0 repeats.
struct Rows {
  char *to;
  const char *from;
  DType dtype;
  int64_t count, toStep, fromStep;
  std::vector<int64_t> sizes, toSteps, fromSteps; ///< of the axes outside

  int64_t number() const {
    int64_t n = 1;
    for (int64_t size : sizes)
      n *= size;
    return n;
  }
};

template <typename T> void copyRow(T *to, int64_t toStep, const T *from, int64_t fromStep, int64_t n) {
  if (toStep == 1 && fromStep == 1)
    std::memcpy(to, from, n * sizeof(T));
  else
    for (int64_t i = 0; i < n; ++i)
      to[i * toStep] = from[i * fromStep];
}

template <typename T> void copyRows(const Rows &rows, int64_t begin, int64_t end) {
  Watch watch;
  for (int64_t row = begin; row < end; ++row) {
    int64_t rest = row, to = 0, from = 0;
    for (size_t axis = rows.sizes.size(); axis-- > 0; rest /= rows.sizes[axis]) {
      int64_t at = rest % rows.sizes[axis];
      to += at * rows.toSteps[axis];
      from += at * rows.fromSteps[axis];
    }
    T *target = reinterpret_cast<T *>(rows.to) + to;
    const T *source = reinterpret_cast<const T *>(rows.from) + from;
    for (int64_t i = 0; i < rows.count; i += grain) {
      const int64_t piece = std::min(grain, rows.count - i);
      copyRow(target + i * rows.toStep, rows.toStep, source + i * rows.fromStep, rows.fromStep, piece);
      watch(piece);
    }
  }
}

void copyPiece(void *context, int64_t begin, int64_t end) {
  const Rows &rows = *static_cast<const Rows *>(context);
  dispatchWidth(rows.dtype, [&]<typename T>(T *) { copyRows<T>(rows, begin, end); });
}

} // namespace

static bool isAlone(const Tensor &x) {
  return x.refs.load(std::memory_order_acquire) == 1 && x.storage->refs.load(std::memory_order_acquire) == 1 &&
         x.data == x.storage->data;
}

static int64_t bytesOfRow(const Tensor &x) {
  int64_t bytes = sizeOf(x.dtype);
  for (int64_t size : x.shape().subspan(1))
    bytes *= size;
  return bytes;
}

/// Like a tensor, of so many rows.
static Tensor *newOfRows(const Tensor &x, int64_t rows, bool grows = false) {
  if (x.rank == 1)
    return grows ? newGrowing(x.dtype, {&rows, 1}) : newVector(x.dtype, rows, rows * toy::sizeOf(x.dtype));
  std::vector<int64_t> sizes(x.shape().begin(), x.shape().end());
  sizes[0] = rows;
  return grows ? newGrowing(x.dtype, sizes) : newTensor(x.dtype, sizes);
}

TensorRef shorten(TensorRef x, int64_t rows) {
  onHostOnly(*x);
  if (!isAlone(*x)) {
    TensorRef shorter(newOfRows(*x, rows));
    std::memcpy(shorter->data, x->data, rows * bytesOfRow(*x));
    return shorter;
  }
  x->sizes[0] = rows;
  return x;
}

TensorRef append(TensorRef x, const void *row, int64_t more) {
  constexpr int64_t mostMore = 4096, mostBytes = 1 << 26; // they may never come
  constexpr int64_t fewBytes = 1 << 11;                   // moving them costs more than room for some more
  onHostOnly(*x);
  const int64_t rows = x->sizes[0], bytes = bytesOfRow(*x);
  TensorRef longer;
  more = std::clamp<int64_t>(more, 1, std::clamp<int64_t>(mostBytes / std::max<int64_t>(bytes, 1), 1, mostMore));
  const int64_t times = rows * bytes < fewBytes ? 4 : 2,
                all = std::max(times * rows, rows + std::max<int64_t>(more, 4));
  if (!isAlone(*x) || ((rows + more) * bytes > x->storage->bytes && !growsInPlace(*x, all * bytes))) {
    longer = TensorRef(newOfRows(*x, all, /*grows=*/true));
    std::memcpy(longer->data, x->data, rows * bytes);
    poll();
  }
  TensorRef &out = longer ? longer : x;
  std::memcpy(out->as<char>() + rows * bytes, row, bytes);
  out->sizes[0] = rows + 1;
  return std::move(out);
}

TensorRef storeSlice(TensorRef x, const Tensor &values, std::span<const int64_t> starts,
                     std::span<const int64_t> counts, std::span<const int64_t> steps) {
  TensorRef out(unique(x.take()));
  int64_t rank = static_cast<int64_t>(counts.size());
  for (int64_t i = 1; i <= values.rank; ++i)
    if (int64_t size = values.sizes[values.rank - i]; size != 1 && size != counts[rank - i])
      fail(DiagId::SizesDiffer,
           {"sizes of the value and the slice", std::to_string(size), std::to_string(counts[rank - i])});
  Rows rows{out->as<char>(), values.as<char>(), out->dtype, 1, 1, 1, {}, {}, {}};
  int64_t toStep = 1, fromStep = 1, first = 0;
  for (int64_t axis = rank;
       axis-- > 0;) { // axes of one element, and those that go on where an inner one ends, are no axes
    int64_t at = axis - (rank - values.rank), size = at < 0 ? 1 : values.sizes[at];
    first += starts[axis] * toStep;
    int64_t to = toStep * steps[axis], from = size == 1 ? 0 : fromStep, count = counts[axis];
    toStep *= out->sizes[axis];
    fromStep *= size;
    if (count == 0)
      return out;
    if (count == 1)
      continue;
    bool isInner = rows.sizes.empty();
    if (isInner && rows.count == 1)
      rows.count = count, rows.toStep = to, rows.fromStep = from;
    else if (isInner && to == rows.count * rows.toStep && from == rows.count * rows.fromStep)
      rows.count *= count;
    else {
      rows.sizes.insert(rows.sizes.begin(), count);
      rows.toSteps.insert(rows.toSteps.begin(), to);
      rows.fromSteps.insert(rows.fromSteps.begin(), from);
    }
  }
  rows.to += first * sizeOf(out->dtype);
  parallelFor(rows.number(), std::max<int64_t>(1, grain / rows.count), copyPiece, &rows);
  return out;
}

} // namespace toy::rt
