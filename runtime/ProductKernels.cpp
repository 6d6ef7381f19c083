// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tiles of the result in registers: each element is the sum over the inner axis in order, by fused multiply-add from 0
/// on, so that bits are the same with every instruction set that has it.
#include "runtime/ProductKernels.h"
#include "runtime/KernelVectors.h"
#include "runtime/Transpose.h"

#include <algorithm>

#if defined(__FMA__) || defined(__aarch64__)
#define TOY_FUSES
#endif

namespace toy::rt {
#ifdef TOY_FUSES
namespace {

template <typename T> using Vector = Register<T>;
template <typename T> constexpr int lanes = registerLanes<T>;
/// Rows and registers of a tile: its sums, and what is loaded for them, fill the registers.
constexpr int tall = registerBytes == 64 ? 8 : 4, wide = 3;

template <typename T> Vector<T> load(const T *from) {
  Vector<T> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
/// One register of a row of the result, of which `count` lanes are its.
template <typename T> void store(T *c, Vector<T> sum, int64_t count, T alpha, T beta) {
  T lane[lanes<T>];
  if (count < lanes<T>)
    std::copy_n(c, beta == 0 ? 0 : count, lane);
  Vector<T> result = alpha * sum;
  if (beta != 0)
    result += beta * load(count < lanes<T> ? lane : c);
  __builtin_memcpy(lane, &result, sizeof lane);
  if (count < lanes<T>)
    std::copy_n(lane, count, c);
  else
    __builtin_memcpy(c, &result, sizeof result);
}

/// A tile whose rows of a begin at `a`, element p of them `step` behind the one before; b is packed.
template <int rows, int registers, typename T>
void tile(const PanelProduct<T> &x, const T *a, int64_t row, int64_t step, const T *b, T *c, int64_t n) {
  Vector<T> sums[rows][registers] = {};
  for (int64_t p = 0; p < x.k; ++p, a += step, b += registers * lanes<T>) {
    Vector<T> y[registers];
#pragma unroll
    for (int j = 0; j < registers; ++j) {
      y[j] = load(b + j * lanes<T>);
      __builtin_prefetch(b + (8 * registers + j) * lanes<T>);
    }
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      const Vector<T> factor = a[i * row];
#pragma unroll
      for (int j = 0; j < registers; ++j)
        sums[i][j] = __builtin_elementwise_fma(factor, y[j], sums[i][j]);
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < registers; ++j)
      if (j * lanes<T> < n)
        store(c + i * x.cRow + j * lanes<T>, sums[i][j], std::min<int64_t>(lanes<T>, n - j * lanes<T>), x.alpha,
              x.beta);
}
template <int rows, typename T>
void tile(const PanelProduct<T> &x, const T *a, int64_t row, int64_t step, const T *b, T *c, int64_t n) {
  const int64_t registers = (n + lanes<T> - 1) / lanes<T>;
  registers == 1   ? tile<rows, 1>(x, a, row, step, b, c, n)
  : registers == 2 ? tile<rows, 2>(x, a, row, step, b, c, n)
                   : tile<rows, 3>(x, a, row, step, b, c, n);
}

/// Columns of b as a tile reads them: rows of `width` elements, whole registers, one after the other.
template <typename T> void pack(const PanelProduct<T> &x, const T *b, int64_t n, T *to) {
  const int64_t width = (n + lanes<T> - 1) / lanes<T> * lanes<T>;
  for (int64_t j = 0; j < width; j += lanes<T>) {
    const T *from = b + j * x.bColumn;
    const int64_t count = std::min<int64_t>(lanes<T>, n - j);
    int64_t p = 0;
    if (count == lanes<T> && x.bColumn == 1) {
      for (; p < x.k; ++p)
        __builtin_memcpy(to + p * width + j, from + p * x.bRow, lanes<T> * sizeof(T));
    } else if (count == lanes<T> && x.bRow == 1) {
      transpose({to + j, from, width, x.bColumn, count, x.k}, sizeof(T));
      p = x.k;
    }
    for (; p < x.k; ++p)
      for (int64_t i = 0; i < lanes<T>; ++i)
        to[p * width + j + i] = i < count ? from[p * x.bRow + i * x.bColumn] : 0;
  }
}

/// Rows whose tiles go together where b does not stay in the second cache.
constexpr int64_t block = 32;
/// Columns of a panel whose part of b stays there beside few rows.
template <typename T> constexpr int64_t fewColumns = 768 / sizeof(T);

template <typename T> int64_t roomOf(int64_t n, int64_t k) {
  return ((n + lanes<T> - 1) / lanes<T> * lanes<T> + block) * k;
}

int64_t rowsOfTile(int64_t left) { return left >= tall ? tall : left >= 4 ? 4 : left >= 2 ? 2 : 1; }

/// Up to `block` rows of a: tiles that lie below each other read the same of b.
template <typename T> void multiply(const PanelProduct<T> &x, int64_t begin, int64_t end, const T *packed, T *room) {
  constexpr int64_t width = wide * lanes<T>;
  const bool isCopied = x.aColumn != 1; // else each element would be read from another page for every tile
  if (isCopied)
    for (int64_t i = begin, count; i < end; i += count) {
      count = rowsOfTile(end - i);
      T *to = room + (i - begin) * x.k;
      const T *from = x.a + i * x.aRow;
      if (count == tall && x.aRow == 1)
        for (int64_t p = 0; p < x.k; ++p)
          __builtin_memcpy(to + p * tall, from + p * x.aColumn, tall * sizeof(T));
      else
        for (int64_t p = 0; p < x.k; ++p)
          for (int64_t r = 0; r < count; ++r)
            to[p * count + r] = from[r * x.aRow + p * x.aColumn];
    }
  for (int64_t j = 0; j < x.n; j += width)
    for (int64_t i = begin, count; i < end; i += count) {
      count = rowsOfTile(end - i);
      const T *a = isCopied ? room + (i - begin) * x.k : x.a + i * x.aRow, *b = packed + j * x.k;
      const int64_t row = isCopied ? 1 : x.aRow, step = isCopied ? count : 1, n = std::min(width, x.n - j);
      T *c = x.c + i * x.cRow + j;
      count == tall ? tile<tall>(x, a, row, step, b, c, n)
      : count == 4  ? tile<4>(x, a, row, step, b, c, n)
      : count == 2  ? tile<2>(x, a, row, step, b, c, n)
                    : tile<1>(x, a, row, step, b, c, n);
    }
}

template <typename T> void panel(const PanelProduct<T> &x, T *room) {
  constexpr int64_t width = wide * lanes<T>;
  for (int64_t j = 0; j < x.n; j += width)
    pack(x, x.b + j * x.bColumn, std::min(width, x.n - j), room + j * x.k);
  T *const rest = room + (x.n + lanes<T> - 1) / lanes<T> * lanes<T> * x.k;
  const int64_t together = x.n <= fewColumns<T> ? tall : block;
  for (int64_t i = 0; i < x.m; i += together)
    multiply(x, i, std::min(x.m, i + together), room, rest);
}

} // namespace
#endif

namespace TOY_ISA {
#ifdef TOY_FUSES
ProductKernels<float> productKernelsF32() { return {panel<float>, roomOf<float>}; }
ProductKernels<double> productKernelsF64() { return {panel<double>, roomOf<double>}; }
#else
ProductKernels<float> productKernelsF32() { return {nullptr, nullptr}; }
ProductKernels<double> productKernelsF64() { return {nullptr, nullptr}; }
#endif
} // namespace TOY_ISA
} // namespace toy::rt
