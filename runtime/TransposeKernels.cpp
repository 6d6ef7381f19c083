// SPDX-License-Identifier: Apache-2.0
/// \file
/// N x N blocks in N registers: in step s rows whose numbers differ in bit s exchange the columns that differ in it.
#include "runtime/KernelVectors.h"
#include "runtime/Transpose.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace toy::rt::TOY_ISA {
namespace {

using Sixteen = uint64_t __attribute__((ext_vector_type(2), aligned(8)));
/// N elements side by side, and how many numbers of the vector each is.
template <typename T, int N> struct RowOf {
  using Type = T __attribute__((ext_vector_type(N)));
};
template <int N> struct RowOf<Sixteen, N> {
  using Type = uint64_t __attribute__((ext_vector_type(2 * N)));
};
template <typename T, int N> using Row = typename RowOf<T, N>::Type;
template <typename T> constexpr int parts = sizeof(T) > 8 ? sizeof(T) / 8 : 1;

template <int S, typename V, int... lane> void exchange(V &a, V &b, std::integer_sequence<int, lane...>) {
  constexpr int lanes = sizeof...(lane);
  V first = __builtin_shufflevector(a, b, (lane & S ? lanes + lane - S : lane)...);
  b = __builtin_shufflevector(a, b, (lane & S ? lanes + lane : lane + S)...);
  a = first;
}
/// Blocks side by side, as many as a row is longer than N.
template <int S, typename T, int width, int N> void transposeRows(Row<T, width> (&rows)[N]) {
  if constexpr (S < N) {
#pragma clang loop unroll(full)
    for (int i = 0; i < N; ++i)
      if (!(i & S))
        exchange<S * parts<T>>(rows[i], rows[i + S], std::make_integer_sequence<int, width * parts<T>>());
    transposeRows<2 * S, T, width>(rows);
  }
}

/// The tile that is asked for next mostly begins below this one.
template <typename T> void prefetchBelow(const T *from, const Transposition &t) {
  __builtin_prefetch(
      reinterpret_cast<const char *>(reinterpret_cast<uintptr_t>(from) + t.rows * t.fromPitch * sizeof(T)));
}

template <typename T> void byElements(T *to, const T *from, const Transposition &t, int64_t rows, int64_t columns) {
  constexpr int64_t height = 16,
                    width = sizeof(T) < 16 ? 16 / sizeof(T) : 4; // that go together use what they read of a cache line
  const int64_t toPitch = t.toPitch, fromPitch = t.fromPitch;
  for (int64_t r = 0; r < rows; r += height)
    for (int64_t c = 0; c < columns; c += width) {
      const int64_t lastColumn = std::min(columns, c + width), lastRow = std::min(rows, r + height);
      for (int64_t i = r; i < lastRow; ++i)
        prefetchBelow(from + i * fromPitch + c, t);
      for (int64_t j = c; j < lastColumn; ++j)
#pragma clang loop vectorize(disable)
        for (int64_t i = r; i < lastRow; ++i)
          to[j * toPitch + i] = from[i * fromPitch + j];
    }
}

template <typename T, int N, int width, bool streams> void block(T *to, const T *from, const Transposition &t) {
  Row<T, width> rows[N];
#pragma clang loop unroll(full)
  for (int i = 0; i < N; ++i) {
    std::memcpy(&rows[i], from + i * t.fromPitch, sizeof rows[i]);
    prefetchBelow(from + i * t.fromPitch, t);
  }
  transposeRows<1, T, width>(rows);
#pragma clang loop unroll(full)
  for (int column = 0; column < width; ++column)
    if constexpr (streams)
      __builtin_nontemporal_store(rows[column], reinterpret_cast<Row<T, width> *>(to + column * t.toPitch));
    else
      std::memcpy(to + column * t.toPitch, reinterpret_cast<const T *>(&rows[column % N]) + column / N * N,
                  N * sizeof(T));
}
template <typename T, int N, int width, bool streams = false> void byBlocks(const Transposition &t) {
  for (int64_t c = 0; c < t.columns; c += width) // what is written next lies behind it
    for (int64_t r = 0; r < t.rows; r += N) {
      const int64_t row = std::min(r, t.rows - N), column = std::min(c, t.columns - width);
      block<T, N, width, streams>(static_cast<T *>(t.to) + column * t.toPitch + row,
                                  static_cast<const T *>(t.from) + row * t.fromPitch + column, t);
    }
}

/// By the largest blocks that fit; the last ones of a row or column begin before the others' end.
template <typename T, int N> void transpose(const Transposition &t) {
  auto *to = static_cast<T *>(t.to);
  const auto *from = static_cast<const T *>(t.from);
  if (std::min(t.rows, t.columns) < N) {
    if constexpr (N > 4)
      return transpose<T, N / 2>(t);
    else
      return byElements(to, from, t, t.rows, t.columns);
  }
  constexpr int two = 2 * N; // where blocks are half a register
  if constexpr (two * sizeof(T) == 32 && registerBytes >= 32)
    if (t.columns >= two)
      return byBlocks<T, N, two>(t);
  if constexpr (N > 1 && N * sizeof(T) == registerBytes) // neighbours on a cache line are written one after the other
    if (t.streams)
      return byBlocks<T, N, N, true>(t);
  byBlocks<T, N, N>(t);
}
template <typename T> void transpose(const Transposition &t) {
  transpose<T, sizeof(T) <= 2 ? 16 / sizeof(T) : registerLanes<T>>(t);
}

void ofSize(const Transposition &t, int64_t elementBytes) {
  switch (elementBytes) {
  case 1:
    return transpose<uint8_t>(t);
  case 2:
    return transpose<uint16_t>(t);
  case 4:
    return transpose<uint32_t>(t);
  case 8:
    return transpose<uint64_t>(t);
  default:
    return transpose<Sixteen>(t);
  }
}

/// Sums of N rows of units, which are one number or the two parts of one.
template <typename Part, typename Unit, int N>
void sumOfRows(const Unit *from, int64_t pitch, int64_t count, void *to) {
  constexpr int partsOfUnit = sizeof(Unit) / sizeof(Part);
  constexpr uintptr_t ahead = 64 * sizeof(Unit); // the next run, which is summed when others have been
  using Sums = Part __attribute__((ext_vector_type(partsOfUnit * N)));
  Sums sums = Part(0);
  int64_t c = 0;
  for (; c + N <= count; c += N) {
    Row<Unit, N> rows[N];
#pragma clang loop unroll(full)
    for (int i = 0; i < N; ++i) {
      std::memcpy(&rows[i], from + i * pitch + c, sizeof rows[i]);
      __builtin_prefetch(reinterpret_cast<const char *>(reinterpret_cast<uintptr_t>(from + i * pitch + c) + ahead));
    }
    transposeRows<1, Unit, N>(rows);
#pragma clang loop unroll(full)
    for (int i = 0; i < N; ++i)
      sums += std::bit_cast<Sums>(rows[i]);
  }
  for (; c < count; ++c) {
    Row<Unit, N> column;
    for (int i = 0; i < N; ++i)
      column[i] = from[i * pitch + c];
    sums += std::bit_cast<Sums>(column);
  }
  std::memcpy(to, &sums, sizeof sums);
}
template <typename Part, typename Unit, int N> void sumRowsOf(const RowSums &x) {
  const auto *from = static_cast<const Unit *>(x.from);
  auto *to = static_cast<Unit *>(x.to);
  if constexpr (N > 1)
    if (x.rows < N)
      return sumRowsOf<Part, Unit, N / 2>(x);
  for (int64_t r = 0; r < x.rows; r += N) {
    const int64_t row = std::min(r, x.rows - N);
    sumOfRows<Part, Unit, N>(from + row * x.pitch, x.pitch, x.count, to + row);
  }
}
void sumRowsAs(const RowSums &x, SummedAs type) {
  switch (type) {
  case SummedAs::F32:
    return sumRowsOf<float, uint32_t, registerLanes<uint32_t>>(x);
  case SummedAs::F64:
    return sumRowsOf<double, uint64_t, registerLanes<uint64_t>>(x);
  case SummedAs::C64:
    return sumRowsOf<float, uint64_t, registerLanes<uint64_t>>(x);
  }
}

} // namespace

TileKernels tileKernels() { return {ofSize, sumRowsAs}; }

} // namespace toy::rt::TOY_ISA
