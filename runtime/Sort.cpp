// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sorting along an axis. Values become integer keys of the same order; for positions, keys and positions are sorted
/// together as one integer, so that equal keys stay in order. Equal values that differ in their bits (zeros, NaN) are
/// found again in the row: every way to sort gives the same bits.
#include "runtime/ArrayOps.h"

#include "runtime/ArrayLoops.h"
#include "runtime/Memory.h"
#include "runtime/Scratch.h"
#include "runtime/SortKernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

namespace toy::rt {
namespace {

template <typename Key> const SortKernels<Key> &sortKernels();
template <> const SortKernels<int32_t> &sortKernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(sortKernels32);
  return chosen;
}
template <> const SortKernels<int64_t> &sortKernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(sortKernels64);
  return chosen;
}

template <typename T> using KeyOf = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

template <typename T> KeyFacts<KeyOf<T>> keysOf(const T *values, KeyOf<T> *keys, int64_t n, bool descending) {
  const auto &kernels = sortKernels<KeyOf<T>>();
  const auto *bits = reinterpret_cast<const KeyOf<T> *>(values);
  if constexpr (std::is_floating_point_v<T>)
    return kernels.ofFloats(bits, keys, n, descending);
  else if constexpr (sizeof(T) == sizeof(KeyOf<T>))
    return kernels.ofIntegers(bits, keys, n, descending);
  std::copy_n(values, n, keys);
  return kernels.ofIntegers(keys, keys, n, descending);
}

/// Keys that differ in a few bits only are sorted by their digits, if there are many.
constexpr int fewBits = 22, countedBits = 11;
constexpr int64_t manyKeys = 1 << 11;
template <typename Key> int bitsBetween(Key least, Key greatest) {
  using U = std::make_unsigned_t<Key>;
  return std::bit_width(U(U(greatest) - U(least)));
}

template <typename T> void sortBytes(const T *values, T *to, int64_t n, bool descending) {
  std::array<int64_t, 256> counts{};
  for (int64_t i = 0; i < n; ++i)
    ++counts[static_cast<uint8_t>(values[i])];
  for (int i = 0; i < 256; ++i)
    to = std::fill_n(to, counts[descending ? 255 - i : i], T(descending ? 255 - i : i));
}

/// `to`, which may be where the values are, is in use for the keys meanwhile; `scratch` has room for as many.
template <typename T> void sortRow(const T *values, T *to, int64_t n, bool descending, KeyOf<T> *scratch) {
  const auto &kernels = sortKernels<KeyOf<T>>();
  auto *keys = reinterpret_cast<KeyOf<T> *>(to);
  KeyOf<T> *made = values == to ? scratch : keys;
  KeyFacts<KeyOf<T>> facts = keysOf(values, made, n, descending);
  std::vector<T> nans, zeros; // of which keys know no signs and no payloads
  if constexpr (std::is_floating_point_v<T>) {
    if (facts.nans)
      std::copy_if(values, values + n, std::back_inserter(nans), [](T v) { return std::isnan(v); });
    if (facts.negativeZero)
      std::copy_if(values, values + n, std::back_inserter(zeros), [](T v) { return v == 0; });
  }
  if (made != keys)
    std::copy_n(made, n, keys);
  poll();
  if (int bits = bitsBetween(facts.least, facts.greatest); std::is_sorted(keys, keys + n))
    ; // as it often is
  else if (n >= manyKeys && bits <= fewBits)
    kernels.sortBits(keys, n, scratch, facts.least, 0, bits);
  else
    kernels.sort(keys, n, scratch);
  if constexpr (std::is_floating_point_v<T>) {
    kernels.toFloats(keys, n, descending);
    T *end = std::copy(nans.begin(), nans.end(), to + n - nans.size()) - nans.size();
    std::copy(zeros.begin(), zeros.end(),
              std::partition_point(to, end, [=](T v) { return descending ? v > 0 : v < 0; }));
  } else
    kernels.toIntegers(keys, n, descending);
}

/// Positions of few different keys, stable: each key's are counted.
template <typename Key> void orderFew(const Key *keys, int64_t *positions, int64_t n, Key least, int bits) {
  using U = std::make_unsigned_t<Key>;
  std::array<int64_t, 1 << countedBits> places{};
  for (int64_t i = 0; i < n; ++i)
    ++places[U(U(keys[i]) - U(least))];
  std::exclusive_scan(places.begin(), places.begin() + (int64_t(1) << bits), places.begin(), int64_t(0));
  for (int64_t i = 0; i < n; ++i)
    positions[places[U(U(keys[i]) - U(least))]++] = i;
}

/// A run of positions, in ascending order, is sorted by their keys, stable; `all` are those from 0 to n - 1. `packed`
/// and `scratch` have room for n.
template <bool all, typename Key>
void order(const Key *keys, int64_t *positions, int64_t n, Key least, Key greatest, int64_t *packed, int64_t *scratch) {
  using U = std::make_unsigned_t<Key>;
  constexpr uint64_t sign = uint64_t(1) << 63;
  const auto &kernels = sortKernels<int64_t>();
  // A key and a place among the n in one integer; of a key that is too long the highest bits.
  const int bits = bitsBetween(least, greatest), placeBits = std::bit_width(static_cast<uint64_t>(n - 1)),
            shift = std::max(0, bits + placeBits - 64);
  for (int64_t i = 0; i < n; ++i) {
    uint64_t key = U(U(keys[all ? i : positions[i]]) - U(least));
    packed[i] = static_cast<int64_t>((((key >> shift) << placeBits) | static_cast<uint64_t>(i)) ^ sign);
  }
  if (n >= manyKeys && bits <= fewBits)
    kernels.sortBits(packed, n, scratch, INT64_MIN, placeBits, bits);
  else
    kernels.sort(packed, n, scratch);
  poll();
  const int64_t places = (int64_t(1) << placeBits) - 1;
  if (!all)
    std::copy_n(positions, n, scratch);
  for (int64_t i = 0; i < n; ++i)
    positions[i] = all ? packed[i] & places : scratch[packed[i] & places];
  if (shift == 0)
    return;
  for (int64_t begin = 0, end; begin < n; begin = end) {
    for (end = begin + 1; end < n && ((packed[begin] ^ packed[end]) & ~places) == 0;)
      ++end;
    if (end == begin + 1)
      continue;
    auto below = [keys](int64_t i, int64_t j) { return keys[i] < keys[j]; };
    auto [low, high] = std::minmax_element(positions + begin, positions + end, below);
    if (Key from = keys[*low], to = keys[*high]; from != to)
      order<false>(keys, positions + begin, end - begin, from, to, packed + begin, scratch);
  }
}

/// What is told of an order: values or their positions.
template <typename T, bool positions> using OrderOf = std::conditional_t<positions, int64_t, T>;

/// One row after the other.
template <typename T, bool positions> class RowSorter {
public:
  RowSorter(int64_t n, SortedPart, bool descending)
      : n(n), descending(descending), keys(n), packed(positions ? n : 0), scratch(positions ? n : 0) {}

  void row(const T *from, OrderOf<T, positions> *to) {
    if constexpr (positions)
      putInOrder(from, to);
    else if constexpr (sizeof(T) == 1)
      sortBytes(from, to, n, descending);
    else
      sortRow(from, to, n, descending, keys.data());
  }

private:
  void putInOrder(const T *from, int64_t *to) {
    auto facts = keysOf(from, keys.data(), n, descending);
    poll();
    if (std::is_sorted(keys.data(), keys.data() + n))
      std::iota(to, to + n, int64_t(0));
    else if (int bits = bitsBetween(facts.least, facts.greatest); bits <= countedBits && n >= manyKeys)
      orderFew(keys.data(), to, n, facts.least, bits);
    else
      order<true>(keys.data(), to, n, facts.least, facts.greatest, packed.data(), scratch.data());
  }

  int64_t n;
  bool descending;
  Scratch<KeyOf<T>> keys;
  Scratch<int64_t> packed, scratch;
};

/// Of one row after the other a part, a quarter at most.
template <typename T, bool positions> class RowSelector {
public:
  RowSelector(int64_t n, SortedPart part, bool descending)
      : n(n), begin(part.begin), end(part.begin + part.count), descending(descending) {}

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
    keysOf(from, keys->data(), n, descending);
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
    const int64_t room = std::min(n, (std::min(high, samples) - std::max<int64_t>(low, 0) + 64) * n / samples) + some;
    keys.emplace(room);
    found.emplace(room + beyond);
    int64_t count = 0, below = 0;
    for (int64_t at = 0; at < n; at += some) {
      if (at % (1 << 20) == 0)
        poll();
      const int64_t here = std::min(some, n - at);
      int64_t belowHere = 0;
      if (count + some > room)
        return false;
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
    if (below > begin || below + count < end)
      return false;
    putInOrder(count, begin - below, end - below);
    for (int64_t *place = places, *last = places + (end - begin); place < last; ++place)
      *place = found->data()[*place];
    return true;
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
      order<false>(keys->data(), chosen->data(), among, least, greatest, packed->data(), scratch->data());
    places = chosen->data() + from - below;
  }

  int64_t n, begin, end;
  bool descending;
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
    Sorter sorter(n, part, descending);
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
    RowSorter<T, positions> sorter(view.size, {0, view.size}, descending);
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

TensorRef argsort(const Tensor &x, int64_t axis, bool descending) {
  TensorRef out(newTensor(DType::I64, x.shape()));
  sortAny<true>(x, *out, axis, descending, {0, x.sizes[axis]});
  return out;
}

} // namespace toy::rt
