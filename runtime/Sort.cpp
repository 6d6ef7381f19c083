// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sorting along an axis. Values become integer keys of the same order; for positions, keys and positions are sorted
/// together as one integer, so that equal keys stay in order. Equal values that differ in their bits (zeros, NaN) are
/// found again in the row: every way to sort gives the same bits.
#include "runtime/ArrayOps.h"

#include "runtime/ArrayLoops.h"
#include "runtime/Memory.h"
#include "runtime/Ownership.h"
#include "runtime/RowSorts.h"
#include "runtime/Scratch.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

namespace toy::rt {
namespace {

/// What is told of an order: values or their positions.
template <typename T, bool positions> using OrderOf = std::conditional_t<positions, int64_t, T>;

/// One row after the other.
template <typename T, bool positions> class RowSorter {
public:
  RowSorter(int64_t n, SortedPart, bool descending, bool isShared)
      : n(n), descending(descending), isShared(isShared), keys(n), packed(positions ? n : 0),
        scratch(positions ? n : 0) {}

  void row(const T *from, OrderOf<T, positions> *to) {
    if constexpr (positions)
      putInOrder(from, to);
    else if constexpr (sizeof(T) == 1)
      sortBytes(from, to, n, descending);
    else
      sortRow(from, to, n, descending, keys.data(), isShared);
  }

private:
  void putInOrder(const T *from, int64_t *to) {
    auto facts = keysOfRow(from, keys.data(), n, descending, isShared);
    std::atomic_signal_fence(std::memory_order_seq_cst); // positions may be written over numbers of another type
    poll();
    if (std::is_sorted(keys.data(), keys.data() + n))
      std::iota(to, to + n, int64_t(0));
    else if (int bits = bitsBetween(facts.least, facts.greatest); bits <= countedBits && n >= manyKeys)
      orderFew(keys.data(), to, n, facts.least, bits);
    else
      order<true>(keys.data(), to, n, facts.least, facts.greatest, packed.data(), scratch.data(), isShared);
  }

  int64_t n;
  bool descending, isShared;
  Scratch<KeyOf<T>> keys;
  Scratch<int64_t> packed, scratch;
};

/// Of one row after the other a part, a quarter at most.
template <typename T, bool positions> class RowSelector {
public:
  RowSelector(int64_t n, SortedPart part, bool descending, bool isShared)
      : n(n), begin(part.begin), end(part.begin + part.count), descending(descending), isShared(isShared) {}

  void row(const T *from, OrderOf<T, positions> *to) {
    choose(from);
    for (int64_t i = 0; i < end - begin; ++i)
      to[i] = positions ? places[i] : from[places[i]];
  }

private:
  using Key = KeyOf<T>;
  static constexpr Key leastOfAll = std::numeric_limits<Key>::min(), greatestOfAll = std::numeric_limits<Key>::max();
  static constexpr int64_t manyInRow = 1 << 13, samples = 1 << 10, some = 256;

  /// Makes `places` the positions of the part.
  void choose(const T *from) {
    if (n >= manyInRow && chooseBySamples(from))
      return;
    keys.emplace(n);
    keysOfRow(from, keys->data(), n, descending, isShared);
    poll();
    putInOrder(n, begin, end);
  }

  /// Of a long row only keys between two of a sample are looked at, which are most probably on both sides of the part;
  /// false where they are not, or there are too many.
  bool chooseBySamples(const T *from) {
    const auto &kernels = sortKernels<Key>();
    std::array<T, samples> sample{};
    std::array<Key, samples> made{}, spare{};
    for (int64_t i = 0; i < samples; ++i) // not at equal distances, which a pattern in the data might have as well
      sample[i] = from[i * (n / samples) + ((i * int64_t(0x9E3779B9)) & 0xFFFF) * (n / samples) / 0x10000];
    keysOf(sample.data(), made.data(), samples, descending);
    kernels.sort(made.data(), samples, spare.data());
    auto sampleAt = [&](int64_t place, int side) { // four standard deviations away
      const double share = static_cast<double>(place) / static_cast<double>(n);
      return static_cast<int64_t>(share * samples + side * (4 * std::sqrt(samples * share * (1 - share)) + 4));
    };
    const int64_t low = sampleAt(begin, -1), high = sampleAt(end, 1);
    const Key least = low < 0 ? leastOfAll : made[low], greatest = high >= samples ? greatestOfAll : made[high];
    const int64_t most = std::min(n, (std::min(high, samples) - std::max<int64_t>(low, 0) + 64) * n / samples) + some,
                  pieces = isShared ? std::clamp<int64_t>(n / sharedKeys, 1, 4 * int64_t(threads())) : 1;
    std::vector<Piece> parts(pieces);
    parallelPieces(pieces, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        parts[i].look(from, n * i / pieces, n * (i + 1) / pieces, least, greatest, most, descending);
    });
    int64_t count = 0, below = 0;
    for (const Piece &part : parts) {
      if (part.isFull)
        return false;
      count += part.count;
      below += part.below;
    }
    if (count > most)
      return false;
    if (below > begin || below + count < end)
      return false;
    join(parts, count);
    putInOrder(count, begin - below, end - below);
    for (int64_t *place = places, *last = places + (end - begin); place < last; ++place)
      *place = found->data()[*place];
    return true;
  }

  /// Of a part of a row the keys that are looked at, with their positions.
  struct Piece {
    std::optional<Scratch<Key>> keys;
    std::optional<Scratch<int64_t>> found;
    int64_t count = 0, below = 0;
    bool isFull = false;

    void look(const T *from, int64_t begin, int64_t end, Key least, Key greatest, int64_t most, bool descending) {
      const auto &kernels = sortKernels<Key>();
      const int64_t room = std::min(most, end - begin) + some;
      keys.emplace(room);
      found.emplace(room + beyond);
      std::array<Key, some> made{};
      for (int64_t at = begin; at < end; at += some) {
        if ((at - begin) % (1 << 20) == 0)
          poll();
        const int64_t here = std::min(some, end - at);
        int64_t belowHere = 0;
        if ((isFull = count + some > room))
          return;
        keysOf(from + at, made.data(), here, descending);
        int64_t *chosenHere = found->data() + count;
        const int64_t more = kernels.between(made.data(), here, least, greatest, chosenHere, belowHere);
        for (int64_t i = 0; i < more; ++i) {
          keys->data()[count + i] = made[chosenHere[i]];
          chosenHere[i] += at;
        }
        count += more;
        below += belowHere;
      }
    }
  };
  /// One after the other.
  void join(std::vector<Piece> &parts, int64_t count) {
    if (parts.size() == 1) {
      keys = std::move(parts[0].keys);
      found = std::move(parts[0].found);
      return;
    }
    keys.emplace(count);
    found.emplace(count + beyond);
    int64_t at = 0;
    for (const Piece &part : parts) {
      std::copy_n(part.keys->data(), part.count, keys->data() + at);
      std::copy_n(part.found->data(), part.count, found->data() + at);
      at += part.count;
    }
  }

  /// Makes `places` positions of `keys` in order, from the place `from` of it on to `to`.
  void putInOrder(int64_t count, int64_t from, int64_t to) {
    const auto &kernels = sortKernels<Key>();
    packed.emplace(count);
    scratch.emplace(count);
    chosen.emplace(count + beyond);
    auto *copy = reinterpret_cast<Key *>(packed->data());
    std::copy_n(keys->data(), count, copy);
    kernels.sortPart(copy, count, from, to, reinterpret_cast<Key *>(scratch->data()));
    const Key least = copy[from], greatest = copy[to - 1];
    int64_t below = 0;
    const int64_t among = kernels.between(keys->data(), count, least, greatest, chosen->data(), below);
    if (least != greatest)
      order<false>(keys->data(), chosen->data(), among, least, greatest, packed->data(), scratch->data(), isShared);
    places = chosen->data() + from - below;
  }

  int64_t n, begin, end;
  bool descending, isShared;
  int64_t *places = nullptr;
  std::optional<Scratch<Key>> keys;
  std::optional<Scratch<int64_t>> found, packed, scratch, chosen;
};

/// Where rows lie apart, some neighbours are copied into dense rows, sorted, and copied back.
constexpr int64_t neighbours = 16;

template <typename T, bool positions, typename Sorter> struct Job {
  using R = OrderOf<T, positions>;
  const T *in;
  R *out;
  AxisView view;
  SortedPart part;
  bool descending;

  int64_t steps() const { return (view.inner + together() - 1) / together(); } ///< for one block of rows
  int64_t together() const { return std::clamp<int64_t>((1 << 20) / view.size, 1, std::min(view.inner, neighbours)); }

  void run(int64_t begin, int64_t end) const {
    int64_t n = view.size, inner = view.inner, width = together(), stride = n + 64 / sizeof(T); // not a power of 2
    Sorter sorter(n, part, descending, view.outer * inner < threads());
    Scratch<T> dense(inner > 1 ? width * stride : 0);
    Scratch<R> sorted(inner > 1 ? width * stride : 0);
    for (int64_t step = begin; step < end; ++step) {
      poll();
      int64_t block = step / steps() * inner, first = step % steps() * width, some = std::min(width, inner - first);
      const T *from = in + block * n + first;
      R *to = out + block * part.count + first;
      if (inner == 1) {
        sorter.row(from, to);
        continue;
      }
      for (int64_t k = 0; k < n; ++k)
        for (int64_t i = 0; i < some; ++i)
          dense.data()[i * stride + k] = from[k * inner + i];
      for (int64_t i = 0; i < some; ++i)
        sorter.row(dense.data() + i * stride, sorted.data() + i * stride);
      for (int64_t k = 0; k < part.count; ++k)
        for (int64_t i = 0; i < some; ++i)
          to[k * inner + i] = sorted.data()[i * stride + k];
    }
  }
};

/// Rows of a few values, many at once: a row a lane.
template <typename T, bool positions> struct LaneJob {
  using R = OrderOf<T, positions>;
  using Key = KeyOf<T>;
  using Bits = std::conditional_t<sizeof(T) == 1, uint8_t, Key>; ///< of a value
  using Result = std::conditional_t<positions, int64_t, Bits>;
  static constexpr int64_t together = 1 << 12; ///< rows
  const T *in;
  R *out;
  AxisView view;
  bool descending;

  int64_t rowsOfBlock() const { return view.inner == 1 ? view.outer : view.inner; }
  int64_t stepsOfBlock() const { return (rowsOfBlock() + together - 1) / together; }
  int64_t steps() const { return view.inner == 1 ? stepsOfBlock() : view.outer * stepsOfBlock(); }

  static auto kernel(const SortKernels<Key> &kernels) {
    constexpr bool floats = std::is_floating_point_v<T>;
    if constexpr (sizeof(T) == 1 && positions)
      return kernels.orderRowsOfBytes;
    else if constexpr (sizeof(T) == 1)
      return kernels.sortRowsOfBytes;
    else if constexpr (positions)
      return floats ? kernels.orderRowsOfFloats : kernels.orderRowsOfIntegers;
    else
      return floats ? kernels.sortRowsOfFloats : kernels.sortRowsOfIntegers;
  }
  void sortShort(const Bits *from, Result *to, int64_t rows) const {
    constexpr bool floats = std::is_floating_point_v<T>;
    const auto &kernels = sortKernels<Key>();
    if constexpr (sizeof(T) > 1) {
      auto sort = [&] {
        if constexpr (positions)
          return floats ? kernels.orderShortFloats : kernels.orderShortIntegers;
        else
          return floats ? kernels.sortShortFloats : kernels.sortShortIntegers;
      }();
      sort(from, to, view.size, view.inner, rows, descending);
    }
  }
  /// Row by row, what lanes leave over.
  void sortAlone(RowSorter<T, positions> &sorter, const T *from, R *to, int64_t rows) const {
    std::array<T, longestRowInLanes> row{};
    std::array<R, longestRowInLanes> sorted{};
    const int64_t n = view.size, step = view.inner, next = step == 1 ? n : 1;
    for (int64_t i = 0; i < rows; ++i, from += next, to += next) {
      for (int64_t k = 0; k < n; ++k)
        row[k] = from[k * step];
      sorter.row(row.data(), sorted.data());
      for (int64_t k = 0; k < n; ++k)
        to[k * step] = sorted[k];
    }
  }
  void run(int64_t begin, int64_t end) const {
    const auto &kernels = sortKernels<Key>();
    const int64_t next = view.inner == 1 ? view.size : 1;
    RowSorter<T, positions> sorter(view.size, {0, view.size}, descending, false);
    for (int64_t step = begin; step < end; ++step) {
      poll();
      int64_t first = step % stepsOfBlock() * together, rows = std::min(together, rowsOfBlock() - first),
              at = view.inner == 1 ? first * view.size : step / stepsOfBlock() * view.size * view.inner + first;
      auto *from = reinterpret_cast<const Bits *>(in + at);
      auto *to = reinterpret_cast<Result *>(out + at);
      if (sizeof(T) > 1 && view.size <= shortRow) {
        sortShort(from, to, rows);
        continue;
      }
      while (rows > 0) {
        int64_t done = kernel(kernels)(from, to, view.size, view.inner, rows, descending);
        int64_t alone = std::min(rows - done, kernels.rowsAtOnce);
        sortAlone(sorter, reinterpret_cast<const T *>(from + done * next), reinterpret_cast<R *>(to + done * next),
                  alone);
        from += (done + alone) * next;
        to += (done + alone) * next;
        rows -= done + alone;
      }
    }
  }
};

template <typename Job> void inParallel(int64_t steps, int64_t grain, Job &job) {
  parallelFor(
      steps, grain, [](void *context, int64_t begin, int64_t end) { static_cast<Job *>(context)->run(begin, end); },
      &job);
}

template <typename T, bool positions>
void sortAs(const Tensor &x, Tensor &out, int64_t axis, bool descending, SortedPart part) {
  constexpr int64_t grain = 1 << 15;
  const AxisView view(x, axis);
  if (out.count() == 0)
    return;
  auto *from = x.as<T>();
  auto *to = out.as<OrderOf<T, positions>>();
  const bool isShort = sizeof(T) > 1 && view.size <= shortRow;
  const auto &kernels = sortKernels<KeyOf<T>>();
  if (part.count == view.size &&
      (isShort || (view.size <= kernels.mostInLanes && view.outer * view.inner >= kernels.rowsAtOnce))) {
    LaneJob<T, positions> job{from, to, view, descending};
    return inParallel(job.steps(), 1, job);
  }
  auto byRows = [&](auto job) {
    inParallel(view.outer * job.steps(), std::max<int64_t>(1, grain / view.size / job.together()), job);
  };
  if (part.count == view.size)
    byRows(Job<T, positions, RowSorter<T, positions>>{from, to, view, part, descending});
  else
    byRows(Job<T, positions, RowSelector<T, positions>>{from, to, view, part, descending});
}

template <bool positions> void sortAny(const Tensor &x, Tensor &out, int64_t axis, bool descending, SortedPart part) {
  auto as = [&]<typename T>(T *) { sortAs<T, positions>(x, out, axis, descending, part); };
  switch (x.dtype) {
  case DType::F32:
    return as(static_cast<float *>(nullptr));
  case DType::F64:
    return as(static_cast<double *>(nullptr));
  case DType::I32:
    return as(static_cast<int32_t *>(nullptr));
  case DType::I64:
    return as(static_cast<int64_t *>(nullptr));
  default:
    return as(static_cast<uint8_t *>(nullptr));
  }
}

/// Of a larger part it is as much work to find what belongs to it as to sort all, and of short rows lanes sort many at
/// once: all of the order, and the part of each row.
template <bool positions> TensorRef partOf(const Tensor &x, int64_t axis, bool descending, SortedPart part) {
  std::vector<int64_t> sizes(x.shape().begin(), x.shape().end());
  sizes[axis] = part.count;
  const DType dtype = positions ? DType::I64 : x.dtype;
  TensorRef out(newTensor(dtype, sizes));
  if (const int64_t n = x.sizes[axis]; n > longestRowInLanes && part.count <= n / 4) {
    sortAny<positions>(x, *out, axis, descending, part);
    return out;
  }
  TensorRef all(newTensor(dtype, x.shape()));
  sortAny<positions>(x, *all, axis, descending, {0, x.sizes[axis]});
  const AxisView view(x, axis);
  const int64_t inner = view.inner * sizeOf(dtype);
  auto *from = static_cast<const char *>(all->data) + part.begin * inner;
  auto *to = static_cast<char *>(out->data);
  for (int64_t i = 0; i < view.outer; ++i)
    std::memcpy(to + i * part.count * inner, from + i * view.size * inner, part.count * inner);
  return out;
}

} // namespace

TensorRef sort(TensorRef consumed, int64_t axis, bool descending) {
  TensorRef out = placeFor(consumed);
  sortAny<false>(*consumed, *out, axis, descending, {0, consumed->sizes[axis]});
  return out;
}

TensorRef sort(const Tensor &x, int64_t axis, bool descending, SortedPart part) {
  return partOf<false>(x, axis, descending, part);
}

TensorRef argsort(const Tensor &x, int64_t axis, bool descending, SortedPart part) {
  return partOf<true>(x, axis, descending, part);
}

/// Rows that are no longer read when their positions are written: not those in lanes, of which some are sorted while
/// others are read. Small tensors are at hand.
static bool mayHoldPositions(const Tensor &x, int64_t axis) {
  constexpr int64_t small = 1 << 13;
  return sizeOf(x.dtype) == sizeOf(DType::I64) && x.sizes[axis] > longestRowInLanes && x.count() > small &&
         isHeldOnce(x);
}

TensorRef argsort(TensorRef consumed, int64_t axis, bool descending) {
  const bool isInPlace = mayHoldPositions(*consumed, axis);
  if (isInPlace)
    onHostOnly(*consumed);
  TensorRef out(isInPlace ? newView(consumed.get(), DType::I64, consumed->shape())
                          : newTensor(DType::I64, consumed->shape()));
  sortAny<true>(*consumed, *out, axis, descending, {0, consumed->sizes[axis]});
  return out;
}

} // namespace toy::rt
