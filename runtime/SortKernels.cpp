// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built once for each instruction set with TOY_ISA naming it. Few keys are sorted in registers: columns by Batcher's
/// network, then bitonic merges of neighbouring columns (K. E. Batcher: Sorting networks and their applications, 1968).
/// Many keys are divided around a pivot by compressing vectors where the machine can do that (as B. Bramas: A novel
/// hybrid quicksort algorithm vectorized using AVX-512, 2017), else sorted digit by digit. Nothing of the standard
/// library is used: its inline functions would be shared with code for lesser machines.
#include "runtime/SortKernels.h"

#include "runtime/LaneSorts.h"
#include "runtime/Parallel.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace toy::rt {
namespace {

constexpr int mostRows = registerBytes == 64 ? 32 : 8; // there are as many registers
template <typename Key> constexpr int64_t mostInRegisters = mostRows * lanes<Key>;
/// Registers: key i of R * lanes is in row i % R of column i / R while they are sorted.
template <typename Key, int R> struct Rows {
  static constexpr int laneCount = lanes<Key>;
  using V = Lanes<Key>;
  V row[R];

  template <int A, int B> [[gnu::always_inline]] void exchange() {
    V low = __builtin_elementwise_min(row[A], row[B]);
    row[B] = __builtin_elementwise_max(row[A], row[B]);
    row[A] = low;
  }
  /// The lanes in another order: lane i from lane i ^ Flip.
  template <int Flip, int... I> [[gnu::always_inline]] static V flipped(V v, Indices<I...>) {
    return __builtin_shufflevector(v, v, (I ^ Flip)...);
  }
  /// Lanes whose number has none of the Bit from `low`, the others from `high`.
  template <int Bit, int... I> [[gnu::always_inline]] static V chosen(V low, V high, Indices<I...>) {
    return __builtin_shufflevector(low, high, (I & Bit ? I + laneCount : I)...);
  }
  template <int Flip, int Bit> [[gnu::always_inline]] static V halfCleaned(V v) {
    V other = flipped<Flip>(v, UpTo<laneCount>());
    return chosen<Bit>(__builtin_elementwise_min(v, other), __builtin_elementwise_max(v, other), UpTo<laneCount>());
  }

  /// Batcher's odd-even merge sort of every column.
  template <int P, int K> [[gnu::always_inline]] void columnStep() {
    forEach<R>([&](auto i) {
      constexpr int a = i.value, from = K % P, b = a + K;
      if constexpr (a >= from && (a - from) % (2 * K) < K && b < R && a / (2 * P) == b / (2 * P))
        exchange<a, b>();
    });
    if constexpr (K > 1)
      columnStep<P, K / 2>();
    else if constexpr (2 * P < R)
      columnStep<2 * P, 2 * P>();
  }

  /// Rows D apart of every column, from there on to neighbours.
  template <int D> [[gnu::always_inline]] void cleanRows() {
    if constexpr (D > 0) {
      forEach<R>([&](auto i) {
        if constexpr ((i.value & D) == 0)
          exchange<i.value, i.value + D>();
      });
      cleanRows<D / 2>();
    }
  }
  template <int D> [[gnu::always_inline]] void cleanLanes() {
    if constexpr (D > 0) {
      forEach<R>([&](auto i) { row[i.value] = halfCleaned<D, D>(row[i.value]); });
      cleanLanes<D / 2>();
    }
  }
  /// Runs of M sorted columns become runs of 2M: a run and its neighbour backwards are bitonic.
  template <int M> [[gnu::always_inline]] void mergeColumns() {
    if constexpr (M < laneCount) {
      if constexpr (R == 1)
        row[0] = halfCleaned<2 * M - 1, M>(row[0]);
      else
        forEach<R / 2>([&](auto i) {
          constexpr int a = i.value, b = R - 1 - a;
          V other = flipped<2 * M - 1>(row[b], UpTo<laneCount>()), low = __builtin_elementwise_min(row[a], other),
            high = __builtin_elementwise_max(row[a], other);
          row[a] = chosen<M>(low, high, UpTo<laneCount>());
          row[b] = flipped<2 * M - 1>(chosen<M>(high, low, UpTo<laneCount>()), UpTo<laneCount>());
        });
      cleanLanes<M / 2>();
      cleanRows<R / 2>();
      mergeColumns<2 * M>();
    }
  }
  template <int... I> [[gnu::always_inline]] static V interleaved(V a, V b, int, Indices<I...>) {
    return __builtin_shufflevector(a, b, (I / 2 + I % 2 * laneCount)...);
  }
  template <int... I> [[gnu::always_inline]] static V interleavedHigh(V a, V b, Indices<I...>) {
    return __builtin_shufflevector(a, b, (laneCount / 2 + I / 2 + I % 2 * laneCount)...);
  }
  /// Columns become consecutive: each step moves the highest bit of a key's row to the lowest end of its place.
  template <int Step> [[gnu::always_inline]] void consecutive() {
    if constexpr (Step < R) {
      V from[R];
      forEach<R>([&](auto i) { from[i.value] = row[i.value]; });
      forEach<R / 2>([&](auto i) {
        row[2 * i.value] = interleaved(from[i.value], from[i.value + R / 2], 0, UpTo<laneCount>());
        row[2 * i.value + 1] = interleavedHigh(from[i.value], from[i.value + R / 2], UpTo<laneCount>());
      });
      consecutive<2 * Step>();
    }
  }

  [[gnu::always_inline]] void sort() {
    if constexpr (R > 1)
      columnStep<1, 1>();
    mergeColumns<1>();
    consecutive<1>();
  }
};

#ifdef __AVX512F__
__m512i someOf(const int32_t *from, int64_t n) {
  return _mm512_mask_loadu_epi32(_mm512_set1_epi32(greatestKey<int32_t>), (1U << n) - 1, from);
}
__m512i someOf(const int64_t *from, int64_t n) {
  return _mm512_mask_loadu_epi64(_mm512_set1_epi64(greatestKey<int64_t>), (1U << n) - 1, from);
}
void storeSome(int32_t *to, int64_t n, __m512i v) { _mm512_mask_storeu_epi32(to, (1U << n) - 1, v); }
void storeSome(int64_t *to, int64_t n, __m512i v) { _mm512_mask_storeu_epi64(to, (1U << n) - 1, v); }
#else
/// n keys, those behind them the greatest; n from 0 to all of a vector.
template <typename Key> Lanes<Key> someOf(const Key *from, int64_t n) {
  Lanes<Key> v = greatestKey<Key>;
  for (int64_t i = 0; i < n; ++i)
    v[i] = from[i];
  return v;
}
template <typename Key> void storeSome(Key *to, int64_t n, Lanes<Key> v) {
  for (int64_t i = 0; i < n; ++i)
    to[i] = v[i];
}
#endif

/// n <= R * lanes keys.
template <typename Key, int R> [[gnu::noinline]] void sortRows(const Key *keys, int64_t n, Key *to) {
  constexpr int laneCount = lanes<Key>;
  Rows<Key, R> rows;
  if (n == R * laneCount) {
    __builtin_memcpy(&rows, keys, sizeof rows);
    rows.sort();
    __builtin_memcpy(to, &rows, sizeof rows);
    return;
  }
  auto within = [n](int i) {
    return n < i * laneCount ? 0 : n - i * laneCount < laneCount ? n - i * laneCount : laneCount;
  };
  forEach<R>([&](auto i) {
    rows.row[i.value] = __builtin_bit_cast(Lanes<Key>, someOf(keys + i.value * laneCount, within(i.value)));
  });
  rows.sort();
  forEach<R>([&](auto i) {
    storeSome(to + i.value * laneCount, within(i.value),
              __builtin_bit_cast(decltype(someOf(keys, 0)), rows.row[i.value]));
  });
}

template <typename Key, int R = 1> void sortFew(const Key *keys, int64_t n, Key *to) {
  if constexpr (R < mostRows)
    if (n > R * lanes<Key>)
      return sortFew<Key, 2 * R>(keys, n, to);
  sortRows<Key, R>(keys, n, to);
}

/// Keys between two looks for Ctrl-C.
constexpr int64_t often = 1 << 20;

/// Radix sort from the lowest digit to the highest, each stable; digits that all keys share are left out.
template <typename Key> void sortBits(Key *keys, int64_t n, Key *scratch, Key base, int from, int bits) {
  using U = typename UnsignedOf<Key>::Type;
  constexpr int most = 11;
  const int digit = n < (1 << 14) ? 8 : most, passes = (bits + digit - 1) / digit;
  Key *source = keys, *target = scratch;
  for (int pass = 0; pass < passes; ++pass) {
    const int low = bits * pass / passes, high = bits * (pass + 1) / passes, shift = from + low;
    const U mask = (U(1) << (high - low)) - 1;
    auto digitOf = [=](Key key) { return ((U(key) - U(base)) >> shift) & mask; };
    int64_t places[1 << most] = {};
    for (int64_t begin = 0; begin < n; begin += often) {
      poll();
      for (int64_t i = begin, end = n - begin < often ? n : begin + often; i < end; ++i)
        ++places[digitOf(source[i])];
    }
    if (n == 0 || places[digitOf(source[0])] == n)
      continue;
    int64_t place = 0;
    for (U d = 0; d <= mask; ++d) {
      int64_t count = places[d];
      places[d] = place;
      place += count;
    }
    for (int64_t begin = 0; begin < n; begin += often) {
      poll();
      for (int64_t i = begin, end = n - begin < often ? n : begin + often; i < end; ++i)
        target[places[digitOf(source[i])]++] = source[i];
    }
    Key *other = source;
    source = target;
    target = other;
  }
  if (source != keys)
    __builtin_memcpy(keys, source, n * sizeof(Key));
}

#ifdef __AVX512F__
__m512i load(const void *from) { return _mm512_loadu_si512(from); }
__mmask16 notAbove(__m512i v, int32_t pivot) { return _mm512_cmple_epi32_mask(v, _mm512_set1_epi32(pivot)); }
__mmask8 notAbove(__m512i v, int64_t pivot) { return _mm512_cmple_epi64_mask(v, _mm512_set1_epi64(pivot)); }
__m512i compressed(__mmask16 m, __m512i v) { return _mm512_maskz_compress_epi32(m, v); }
__m512i compressed(__mmask8 m, __m512i v) { return _mm512_maskz_compress_epi64(m, v); }

/// Divides the keys into those up to the pivot and those above. One part goes to the front of `spare`, the other stays
/// and moves to the front; how many stay. What is stored behind the chosen keys was read before, or is spare.
template <bool lowStays, typename Key> int64_t divide(Key *keys, int64_t n, Key pivot, Key *spare) {
  constexpr int laneCount = lanes<Key>;
  using Mask = decltype(notAbove(__m512i(), Key()));
  int64_t staying = 0, i = 0;
  auto chosen = [&](__m512i v) { return lowStays ? notAbove(v, pivot) : Mask(~notAbove(v, pivot)); };
  while (i + laneCount <= n) {
    if (n > often)
      poll();
    for (int64_t end = n - i < often ? n : i + often; i + laneCount <= end; i += laneCount) {
      __m512i v = load(keys + i);
      Mask m = chosen(v);
      _mm512_storeu_si512(keys + staying, compressed(m, v));
      _mm512_storeu_si512(spare + i - staying, compressed(Mask(~m), v));
      staying += __builtin_popcount(m);
    }
  }
  if (int64_t rest = n - i) {
    __m512i v = someOf(keys + i, rest);
    Mask all = (1U << rest) - 1, m = chosen(v) & all;
    int64_t count = __builtin_popcount(m);
    storeSome(keys + staying, count, compressed(m, v));
    storeSome(spare + i - staying, rest - count, compressed(Mask(~m & all), v));
    staying += count;
  }
  return staying;
}

/// Of `count` sorted keys from all over n, the one to divide by: the middle one, or where only places from `begin` to
/// `end` are wanted, one with which most of the others are left out, by some keys beyond, as these are but a sample.
int pivotPlace(int64_t n, int64_t begin, int64_t end, int count) {
  constexpr int beyond = 3;
  const double share = static_cast<double>(count) / static_cast<double>(n);
  const int low = begin <= 0 ? 0 : static_cast<int>(static_cast<double>(begin) * share) - beyond,
            high = end >= n ? count : static_cast<int>(static_cast<double>(end) * share) + beyond;
  if (low <= 0 && high >= count)
    return count / 2;
  return low > count - high ? low : high;
}

/// One of keys from all over.
template <typename Key> Key pivotOf(const Key *keys, int64_t n, int64_t begin, int64_t end) {
  constexpr int laneCount = lanes<Key>, many = 8, few = 2;
  Key sample[many * laneCount];
  int vectors = n < 4096 ? few : many;
  int64_t step = (n - laneCount) / vectors;
  for (int i = 0; i < vectors; ++i) { // not at equal distances, which a pattern in the data might have as well
    int64_t at = step * i + ((i * int64_t(0x9E3779B9)) & 0xFFFF) * step / 0x10000;
    __builtin_memcpy(sample + i * laneCount, keys + at, laneCount * sizeof(Key));
  }
  sortFew(sample, vectors * laneCount, sample);
  return sample[pivotPlace(n, begin, end, vectors * laneCount)];
}

/// Sorts what is in `keys`, to there or to `spare`, which has room for as many; of the order what is at places from
/// `begin` to `end`.
template <typename Key>
void quickSort(Key *keys, Key *spare, int64_t n, bool stays, int depth, int64_t begin, int64_t end) {
  constexpr Key least = -greatestKey<Key> - 1;
  while (n > mostInRegisters<Key> && begin < n) {
    if (depth-- == 0) {
      sortBits(keys, n, spare, least, 0, width<Key>);
      if (!stays)
        __builtin_memcpy(spare, keys, n * sizeof(Key));
      return;
    }
    Key pivot = pivotOf(keys, n, begin, end);
    int64_t staying = stays ? divide<true>(keys, n, pivot, spare) : divide<false>(keys, n, pivot, spare),
            low = stays ? staying : n - staying;
    if (!stays) { // the lower part is where it shall be in any case
      Key *other = keys;
      keys = spare;
      spare = other;
    }
    if (low == n) { // the pivot is the greatest: those that equal it are done
      low = pivot == least ? 0 : divide<true>(keys, n, Key(pivot - 1), spare);
      for (int64_t i = low; i < n; ++i)
        keys[i] = pivot;
    } else if (end > low)
      quickSort(spare, keys + low, n - low, false, depth, begin - low, end - low);
    spare += n - low;
    n = low;
    stays = true;
  }
  if (begin < n)
    sortFew(keys, n, stays ? keys : spare);
}
#endif

template <typename Key>
void sortPart(Key *keys, int64_t n, [[maybe_unused]] int64_t begin, [[maybe_unused]] int64_t end, Key *scratch) {
  if (n <= mostInRegisters<Key>)
    return sortFew(keys, n, keys);
#ifdef __AVX512F__
  quickSort(keys, scratch, n, true, 2 * (64 - __builtin_clzll(n)), begin, end);
#else
  sortBits(keys, n, scratch, Key(-greatestKey<Key> - 1), 0, width<Key>);
#endif
}

template <typename Key> void sort(Key *keys, int64_t n, Key *scratch) { sortPart(keys, n, 0, n, scratch); }

#ifdef __AVX512F__
__mmask16 notBelow(__m512i v, int32_t least) { return _mm512_cmpge_epi32_mask(v, _mm512_set1_epi32(least)); }
__mmask8 notBelow(__m512i v, int64_t least) { return _mm512_cmpge_epi64_mask(v, _mm512_set1_epi64(least)); }
/// Stores the positions of lanes, of which the first is `at`: eight for each byte of the mask.
template <typename Mask> int64_t storePositions(Mask chosen, int64_t at, int64_t *positions) {
  const __m512i ascending = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  int64_t found = 0;
  for (int byte = 0; byte < static_cast<int>(sizeof chosen); ++byte) {
    const auto some = static_cast<__mmask8>(chosen >> 8 * byte);
    const __m512i here = _mm512_add_epi64(ascending, _mm512_set1_epi64(at + 8 * byte));
    _mm512_storeu_si512(positions + found, _mm512_maskz_compress_epi64(some, here));
    found += __builtin_popcount(some);
  }
  return found;
}
#endif

template <typename Key>
int64_t between(const Key *keys, int64_t n, Key least, Key greatest, int64_t *positions, int64_t &below) {
  int64_t found = 0, notLess = 0, i = 0;
#ifdef __AVX512F__
  for (; i + lanes<Key> <= n; i += lanes<Key>) {
    const __m512i v = load(keys + i);
    const auto above = notBelow(v, least);
    notLess += __builtin_popcount(above);
    if (const auto chosen = static_cast<decltype(above)>(above & notAbove(v, greatest)))
      found += storePositions(chosen, i, positions + found);
  }
#endif
  for (; i < n; ++i) {
    positions[found] = i;
    notLess += keys[i] >= least;
    found += keys[i] >= least && keys[i] <= greatest;
  }
  below = n - notLess;
  return found;
}

template <typename Key> int64_t countUpTo(const Key *keys, int64_t n, Key pivot) {
  int64_t count = 0;
  for (int64_t begin = 0; begin < n; begin += 4096) {
    Key some = 0;
    for (int64_t i = begin, end = n - begin < 4096 ? n : begin + 4096; i < end; ++i)
      some += keys[i] <= pivot;
    count += some;
  }
  return count;
}

template <typename Key> void divideTo(const Key *keys, int64_t n, Key pivot, Key *low, Key *high) {
  int64_t i = 0;
#ifdef __AVX512F__
  for (; i + lanes<Key> <= n; i += lanes<Key>) {
    const __m512i v = load(keys + i);
    const auto m = notAbove(v, pivot);
    const int count = __builtin_popcount(m);
    storeSome(low, count, compressed(m, v));
    storeSome(high, lanes<Key> - count, compressed(static_cast<decltype(notAbove(v, pivot))>(~m), v));
    low += count;
    high += lanes<Key> - count;
  }
#endif
  for (; i < n; ++i)
    (keys[i] <= pivot ? *low++ : *high++) = keys[i];
}

template <typename Key> constexpr Key infinityOf = sizeof(Key) == 4 ? Key(0x7F800000) : Key(0x7FF0000000000000);

/// -x - 1 for positive bits of negative values: the integers are in the order of the values.
template <typename Key> Key orderedBits(Key bits) { return bits ^ ((bits >> (width<Key> - 1)) & greatestKey<Key>); }

template <typename Key> KeyFacts<Key> ofFloats(const Key *values, Key *keys, int64_t n, bool descending) {
  const Key flip = descending ? -1 : 0;
  Key least = greatestKey<Key>, greatest = -greatestKey<Key> - 1, zeros = 0;
  int64_t nans = 0;
  for (int64_t begin = 0; begin < n; begin += 4096) {
    Key some = 0;
    for (int64_t i = begin, end = n - begin < 4096 ? n : begin + 4096; i < end; ++i) {
      Key bits = values[i], isNan = (bits & greatestKey<Key>) > infinityOf<Key>, isZero = bits == -greatestKey<Key> - 1;
      Key key = isNan ? greatestKey<Key> : (orderedBits(bits) + isZero) ^ flip;
      some += isNan;
      zeros |= isZero;
      least = key < least ? key : least;
      greatest = key > greatest ? key : greatest;
      keys[i] = key;
    }
    nans += some;
  }
  return {least, greatest, nans, zeros != 0};
}

template <typename Key> KeyFacts<Key> ofIntegers(const Key *values, Key *keys, int64_t n, bool descending) {
  const Key flip = descending ? -1 : 0;
  Key least = greatestKey<Key>, greatest = -greatestKey<Key> - 1;
  for (int64_t i = 0; i < n; ++i) {
    Key key = values[i] ^ flip;
    least = key < least ? key : least;
    greatest = key > greatest ? key : greatest;
    keys[i] = key;
  }
  return {least, greatest, 0, false};
}

template <typename Key> void toFloats(Key *keys, int64_t n, bool descending) {
  const Key flip = descending ? -1 : 0;
  for (int64_t i = 0; i < n; ++i)
    keys[i] = orderedBits(Key(keys[i] ^ flip));
}

template <typename Key> void toIntegers(Key *keys, int64_t n, bool descending) {
  if (descending)
    for (int64_t i = 0; i < n; ++i)
      keys[i] = ~keys[i];
}

template <typename Key>
constexpr SortKernels<Key> kernels{sort<Key>,
                                   sortPart<Key>,
                                   between<Key>,
                                   countUpTo<Key>,
                                   divideTo<Key>,
                                   sortBits<Key>,
                                   ofFloats<Key>,
                                   ofIntegers<Key>,
                                   toFloats<Key>,
                                   toIntegers<Key>,
                                   shortRows<Key, true, false, Key>,
                                   shortRows<Key, false, false, Key>,
                                   shortRows<Key, true, true, int64_t>,
                                   shortRows<Key, false, true, int64_t>,
                                   lanes<Key> >= 8   ? longestRowInLanes
                                   : lanes<Key> >= 4 ? longestRowInLanes / 2
                                                     : longestRowInLanes / 4,
                                   lanes<Key>,
                                   laneRows<Key, Key, true, false, Key>,
                                   laneRows<Key, Key, false, false, Key>,
                                   laneRows<Key, Key, true, true, int64_t>,
                                   laneRows<Key, Key, false, true, int64_t>,
                                   laneRows<Key, uint8_t, false, false, uint8_t>,
                                   laneRows<Key, uint8_t, false, true, int64_t>};

} // namespace

namespace TOY_ISA {
SortKernels<int32_t> sortKernels32() { return kernels<int32_t>; }
SortKernels<int64_t> sortKernels64() { return kernels<int64_t>; }
} // namespace TOY_ISA

} // namespace toy::rt
