// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tiles of the result in registers: each element is the sum over the inner axis in order, by fused multiply-add from 0
/// on, so that bits are the same with every instruction set that has it.
#include "runtime/ProductKernels.h"
#include "runtime/LaneSums.h"
#include "runtime/Transpose.h"

#include <algorithm>

namespace toy::rt {
#ifdef TOY_FUSES
namespace {

/// Rows and registers of a tile: its sums, and what is loaded for them, fill the registers.
constexpr int tall = registerBytes == 64 ? 8 : 4, wide = 3;

/// A register of the result, of which `count` lanes are there.
template <typename T>
[[gnu::noinline]] Vector<T> scaled(const PanelProduct<T> &x, Vector<T> sum, const T *c, int64_t count) {
  const Vector<T> result = x.alpha * sum;
  return x.beta == 0 ? result : result + x.beta * loadSome(c, count);
}

/// A tile's rows of a begin at `a`, element p of them `step` behind the one before; so do its columns of b.
template <typename T> struct Factors {
  const T *a;
  int64_t row, step;
  const T *b;
  int64_t bStep;
};
/// Packed columns are whole registers.
template <int rows, int registers, bool isPacked, typename T>
void tile(const PanelProduct<T> &x, Factors<T> f, T *c, int64_t n) {
  Vector<T> sums[rows][registers] = {};
  for (int64_t p = 0; p < x.k; ++p, f.a += f.step, f.b += f.bStep) {
    Vector<T> y[registers];
#pragma unroll
    for (int j = 0; j < registers; ++j) {
      y[j] = isPacked || j < registers - 1 ? load(f.b + j * lanes<T>) : loadSome(f.b + j * lanes<T>, n - j * lanes<T>);
      if (isPacked)
        __builtin_prefetch(f.b + 8 * f.bStep + j * lanes<T>);
    }
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      const Vector<T> factor = f.a[i * f.row];
#pragma unroll
      for (int j = 0; j < registers; ++j)
        sums[i][j] = __builtin_elementwise_fma(factor, y[j], sums[i][j]);
    }
  }
  const int64_t some = std::min<int64_t>(lanes<T>, n - (registers - 1) * lanes<T>); // of the last register
  const bool isPlain = x.alpha == 1 && x.beta == 0;
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    T *to = c + i * x.cRow;
#pragma unroll
    for (int j = 0; j < registers; ++j) {
      const int64_t count = j < registers - 1 ? lanes<T> : some;
      storeSome(to + j * lanes<T>, isPlain ? sums[i][j] : scaled(x, sums[i][j], to + j * lanes<T>, count), count);
    }
  }
}
template <int rows, int registers, typename T>
void tile(const PanelProduct<T> &x, const Factors<T> &f, T *c, int64_t n, bool isPacked) {
  isPacked ? tile<rows, registers, true>(x, f, c, n) : tile<rows, registers, false>(x, f, c, n);
}
template <int rows, typename T>
void tile(const PanelProduct<T> &x, int64_t count, const Factors<T> &f, T *c, int64_t n, bool isPacked) {
  if constexpr (rows > 1)
    if (count < rows)
      return tile<rows - 1>(x, count, f, c, n, isPacked);
  n <= lanes<T>       ? tile<rows, 1>(x, f, c, n, isPacked)
  : n <= 2 * lanes<T> ? tile<rows, 2>(x, f, c, n, isPacked)
                      : tile<rows, 3>(x, f, c, n, isPacked);
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
  return ((n + lanes<T> - 1) / lanes<T> * lanes<T> + block + tall) * k;
}

/// The last two tiles are of about the same height: those of few rows wait for their sums.
int64_t rowsOfTile(int64_t left) {
  return left >= 2 * tall || left <= tall ? std::min<int64_t>(left, tall) : (left + 1) / 2;
}

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
      const int64_t n = std::min(width, x.n - j), bStep = (n + lanes<T> - 1) / lanes<T> * lanes<T>;
      const Factors<T> f = {isCopied ? room + (i - begin) * x.k : x.a + i * x.aRow, isCopied ? 1 : x.aRow,
                            isCopied ? count : 1, packed + j * x.k, bStep};
      tile<tall>(x, count, f, x.c + i * x.cRow + j, n, true);
    }
}

template <typename T> void direct(const PanelProduct<T> &x) {
  constexpr int64_t width = wide * lanes<T>;
  for (int64_t j = 0, n; j < x.n; j += n) {
    const int64_t left = x.n - j, registers = (left + lanes<T> - 1) / lanes<T>;
    n = registers > wide && registers < 2 * wide ? (registers + 1) / 2 * lanes<T> : std::min(width, left);
    for (int64_t i = 0, count; i < x.m; i += count) {
      count = rowsOfTile(x.m - i);
      tile<tall>(x, count, {x.a + i * x.aRow, x.aRow, x.aColumn, x.b + j, x.bRow}, x.c + i * x.cRow + j, n, false);
    }
  }
}

template <typename T> void panel(const PanelProduct<T> &x, T *room) {
  constexpr int64_t width = wide * lanes<T>;
  for (int64_t j = 0; j < x.n; j += width)
    pack(x, x.b + j * x.bColumn, std::min(width, x.n - j), room + j * x.k);
  T *const rest = room + (x.n + lanes<T> - 1) / lanes<T> * lanes<T> * x.k;
  const int64_t together = x.n <= fewColumns<T> ? tall : block;
  for (int64_t i = 0, end; i < x.m; i = end) {
    end = x.m - i < together + tall ? x.m : i + together;
    multiply(x, i, end, room, rest);
  }
}

} // namespace
#endif

namespace TOY_ISA {
#ifdef TOY_FUSES
ProductKernels<float> productKernelsF32() { return {panel<float>, direct<float>, roomOf<float>}; }
ProductKernels<double> productKernelsF64() { return {panel<double>, direct<double>, roomOf<double>}; }
#else
ProductKernels<float> productKernelsF32() { return {nullptr, nullptr, nullptr}; }
ProductKernels<double> productKernelsF64() { return {nullptr, nullptr, nullptr}; }
#endif
} // namespace TOY_ISA
} // namespace toy::rt
