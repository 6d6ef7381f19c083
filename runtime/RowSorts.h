// SPDX-License-Identifier: Apache-2.0
/// \file
/// One row in order: its values, or their positions. Threads share a row that is long and has no others beside it.
#pragma once

#include "runtime/SharedSorts.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

namespace toy::rt {

template <typename Key> const SortKernels<Key> &sortKernels();
template <> inline const SortKernels<int32_t> &sortKernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(sortKernels32);
  return chosen;
}
template <> inline const SortKernels<int64_t> &sortKernels() {
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

/// The same of a row that threads may share.
template <typename T>
KeyFacts<KeyOf<T>> keysOfRow(const T *values, KeyOf<T> *keys, int64_t n, bool descending, bool isShared) {
  using Key = KeyOf<T>;
  KeyFacts<Key> all{std::numeric_limits<Key>::max(), std::numeric_limits<Key>::min(), 0, false};
  std::mutex mutex;
  piecesOf(n, isShared, [&](int64_t begin, int64_t end) {
    const KeyFacts<Key> facts = keysOf(values + begin, keys + begin, end - begin, descending);
    std::lock_guard lock(mutex);
    all.least = std::min(all.least, facts.least);
    all.greatest = std::max(all.greatest, facts.greatest);
    all.nans += facts.nans;
    all.negativeZero |= facts.negativeZero;
  });
  return all;
}

/// Keys that differ in a few bits only are sorted by their digits, if there are many.
inline constexpr int fewBits = 22, countedBits = 11;
inline constexpr int64_t manyKeys = 1 << 11;
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
template <typename T>
void sortRow(const T *values, T *to, int64_t n, bool descending, KeyOf<T> *scratch, bool isShared) {
  const auto &kernels = sortKernels<KeyOf<T>>();
  auto *keys = reinterpret_cast<KeyOf<T> *>(to);
  KeyOf<T> *made = values == to ? scratch : keys;
  KeyFacts<KeyOf<T>> facts = keysOfRow(values, made, n, descending, isShared);
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
  else {
    const bool differInFew = n >= manyKeys && bits <= fewBits;
    sortKeys(kernels, keys, n, scratch, {facts.least, 0, differInFew ? bits : 0}, isShared);
  }
  piecesOf(n, isShared, [&](int64_t begin, int64_t end) {
    const auto back = std::is_floating_point_v<T> ? kernels.toFloats : kernels.toIntegers;
    back(keys + begin, end - begin, descending);
  });
  if constexpr (std::is_floating_point_v<T>) {
    T *end = std::copy(nans.begin(), nans.end(), to + n - nans.size()) - nans.size();
    std::copy(zeros.begin(), zeros.end(),
              std::partition_point(to, end, [=](T v) { return descending ? v > 0 : v < 0; }));
  }
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
void order(const Key *keys, int64_t *positions, int64_t n, Key least, Key greatest, int64_t *packed, int64_t *scratch,
           bool isShared) {
  using U = std::make_unsigned_t<Key>;
  constexpr uint64_t sign = uint64_t(1) << 63;
  const auto &kernels = sortKernels<int64_t>();
  // A key and a place among the n in one integer; of a key that is too long the highest bits.
  const int bits = bitsBetween(least, greatest), placeBits = std::bit_width(static_cast<uint64_t>(n - 1)),
            shift = std::max(0, bits + placeBits - 64);
  piecesOf(n, isShared, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      uint64_t key = U(U(keys[all ? i : positions[i]]) - U(least));
      packed[i] = static_cast<int64_t>((((key >> shift) << placeBits) | static_cast<uint64_t>(i)) ^ sign);
    }
  });
  const bool differInFew = n >= manyKeys && bits <= fewBits;
  sortKeys(kernels, packed, n, scratch, {INT64_MIN, placeBits, differInFew ? bits : 0}, isShared);
  poll();
  const int64_t places = (int64_t(1) << placeBits) - 1;
  if (!all)
    std::copy_n(positions, n, scratch);
  piecesOf(n, isShared, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      positions[i] = all ? packed[i] & places : scratch[packed[i] & places];
  });
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
      order<false>(keys, positions + begin, end - begin, from, to, packed + begin, scratch, false);
  }
}

} // namespace toy::rt
