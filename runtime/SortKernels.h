// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sorting of signed integer keys, and the keys whose order is that of floating-point values. Compiled once for each
/// instruction set; the machine's is chosen.
#pragma once

#include "runtime/Isa.h"

#include <cstdint>

namespace toy::rt {

/// What a pass over values has seen.
template <typename Key> struct KeyFacts {
  Key least, greatest;
  int64_t nans;      ///< their keys are the greatest of all, in both directions
  bool negativeZero; ///< whose key is that of +0
};

constexpr int64_t shortRow = 8, longestRowInLanes = 64;
constexpr int64_t beyond = 8; ///< elements that are stored behind those that are told

template <typename Key> struct SortKernels {
  /// Sorts n keys in place; `scratch` has room for as many.
  void (*sort)(Key *keys, int64_t n, Key *scratch);
  /// Brings the keys at places from `begin` to `end` of that order there; what is at other places is not known.
  void (*sortPart)(Key *keys, int64_t n, int64_t begin, int64_t end, Key *scratch);
  /// The positions of keys from `least` to `greatest`, ascending, and how many of them; `below` keys are less.
  /// `positions` has room for `beyond` more.
  int64_t (*between)(const Key *keys, int64_t n, Key least, Key greatest, int64_t *positions, int64_t &below);
  /// How many keys are at most the pivot. `divide` copies those to `low` and the others to `high`, both in their order;
  /// nothing behind them is written.
  int64_t (*countUpTo)(const Key *keys, int64_t n, Key pivot);
  void (*divide)(const Key *keys, int64_t n, Key pivot, Key *low, Key *high);
  /// Sorts by `bits` bits of key - base from bit `from` on, stable: for few bits and many keys.
  void (*sortBits)(Key *keys, int64_t n, Key *scratch, Key base, int from, int bits);
  /// Keys of n > 0 values: of the bits of floating-point values of the same width, or of integers.
  KeyFacts<Key> (*ofFloats)(const Key *values, Key *keys, int64_t n, bool descending);
  KeyFacts<Key> (*ofIntegers)(const Key *values, Key *keys, int64_t n, bool descending);
  /// The values of such keys, in place; NaN's key gives some NaN, that of zeros +0.
  void (*toFloats)(Key *keys, int64_t n, bool descending);
  void (*toIntegers)(Key *keys, int64_t n, bool descending);
  /// Rows of n <= shortRow values, a row a lane: sorted, or the positions of their values in order; both stable. Rows
  /// are dense where `stride` is 1, else value k of row i is values[k * stride + i].
  void (*sortShortFloats)(const Key *values, Key *to, int64_t n, int64_t stride, int64_t rows, bool descending);
  void (*sortShortIntegers)(const Key *values, Key *to, int64_t n, int64_t stride, int64_t rows, bool descending);
  void (*orderShortFloats)(const Key *values, int64_t *to, int64_t n, int64_t stride, int64_t rows, bool descending);
  void (*orderShortIntegers)(const Key *values, int64_t *to, int64_t n, int64_t stride, int64_t rows, bool descending);
  /// The same for n <= mostInLanes. Sorting of floats ends before a group of rowsAtOnce rows with a -0 or a NaN: the
  /// number of rows that were sorted. Bytes are sorted by keys of 32 bits.
  int64_t mostInLanes, rowsAtOnce;
  int64_t (*sortRowsOfFloats)(const Key *values, Key *to, int64_t n, int64_t stride, int64_t rows, bool descending);
  int64_t (*sortRowsOfIntegers)(const Key *values, Key *to, int64_t n, int64_t stride, int64_t rows, bool descending);
  int64_t (*orderRowsOfFloats)(const Key *values, int64_t *to, int64_t n, int64_t stride, int64_t rows,
                               bool descending);
  int64_t (*orderRowsOfIntegers)(const Key *values, int64_t *to, int64_t n, int64_t stride, int64_t rows,
                                 bool descending);
  int64_t (*sortRowsOfBytes)(const uint8_t *values, uint8_t *to, int64_t n, int64_t stride, int64_t rows,
                             bool descending);
  int64_t (*orderRowsOfBytes)(const uint8_t *values, int64_t *to, int64_t n, int64_t stride, int64_t rows,
                              bool descending);
};

TOY_KERNELS_FOR_ISA(SortKernels<int32_t>, sortKernels32)
TOY_KERNELS_FOR_ISA(SortKernels<int64_t>, sortKernels64)

} // namespace toy::rt
