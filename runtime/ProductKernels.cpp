// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tiles of the result in registers: each element is the sum over the inner axis in order, by fused multiply-add from 0
/// on, so that bits are the same with every instruction set that has it. A register holds parts of complex numbers in
/// turn: a row has two sums, of the products by its real parts and by its imaginary ones, which are put together at the
/// end. So each part has the bits of two sums of real products.
#include "runtime/ProductKernels.h"
#include "runtime/LaneSums.h"
#include "runtime/Transpose.h"

#include <algorithm>

namespace toy::rt {
#ifdef TOY_FUSES
namespace {

template <typename N> constexpr int parts = sizeof(N) / sizeof(Part<N>);
template <typename N> constexpr int numbers = lanes<Part<N>> / parts<N>; ///< of a register
/// Rows and registers of a tile: its sums, and what is loaded for them, fill the registers.
template <typename N> constexpr int tall = (registerBytes == 64 ? 8 : 4) / parts<N>;
constexpr int wide = 3;

template <typename N> int64_t wholeRegisters(int64_t n) { return (n + numbers<N> - 1) / numbers<N> * numbers<N>; }

/// A register of the result, of which `count` lanes are there.
template <typename N, typename T = Part<N>>
[[gnu::noinline]] Vector<T> scaled(const PanelProduct<N> &x, Vector<T> sum, const T *c, int64_t count) {
  const Vector<T> result = x.alpha * sum;
  return x.beta == 0 ? result : result + x.beta * loadSome(c, count);
}

template <typename T, int... i> Vector<T> inTurn(T even, T odd, Numbers<int, i...>) {
  return Vector<T>{(i % 2 ? odd : even)...};
}
/// Complex numbers from the sums of products by real and by imaginary parts.
template <typename N, typename T = Part<N>> struct BothParts {
  Vector<T> first, second; ///< signs
  explicit BothParts(const PanelProduct<N> &x)
      : first(inTurn<T>(1, x.bConjugate ? -1 : 1, Lanes<T>())),
        second(inTurn<T>(x.aConjugate == x.bConjugate ? -1 : 1, x.aConjugate ? -1 : 1, Lanes<T>())) {}
  Vector<T> operator()(Vector<T> real, Vector<T> imaginary) const {
    const Vector<T> one = __builtin_elementwise_fma(real, first, Vector<T>{}); // no -0, as the sum of conj(a) has none
    return __builtin_elementwise_fma(exchanged(imaginary, Lanes<T>()), second, one);
  }
};

/// A tile's rows of a begin at `a`, element p of them `step` behind the one before; so do its columns of b.
template <typename N> struct Factors {
  const N *a;
  int64_t row, step;
  const N *b;
  int64_t bStep;
};
/// Packed columns are whole registers.
template <int rows, int registers, bool isPacked, typename N>
void tile(const PanelProduct<N> &x, Factors<N> f, N *c, int64_t n) {
  using T = Part<N>;
  constexpr int lines = rows * parts<N>;
  const int64_t some = parts<N> * n - (registers - 1) * lanes<T>; // lanes of the last register
  Vector<T> sums[lines][registers] = {};
  for (int64_t p = 0; p < x.k; ++p, f.a += f.step, f.b += f.bStep) {
    const T *b = reinterpret_cast<const T *>(f.b);
    Vector<T> y[registers];
#pragma unroll
    for (int j = 0; j < registers; ++j) {
      y[j] = isPacked || j < registers - 1 ? load(b + j * lanes<T>) : loadSome(b + j * lanes<T>, some);
      if (isPacked)
        __builtin_prefetch(b + 8 * parts<N> * f.bStep + j * lanes<T>);
    }
#pragma unroll
    for (int i = 0; i < lines; ++i) {
      const Vector<T> factor = reinterpret_cast<const T *>(f.a + i / parts<N> * f.row)[i % parts<N>];
#pragma unroll
      for (int j = 0; j < registers; ++j)
        sums[i][j] = __builtin_elementwise_fma(factor, y[j], sums[i][j]);
    }
  }
  if constexpr (parts<N> == 2) {
    const BothParts<N> together(x);
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int j = 0; j < registers; ++j)
        sums[i][j] = together(sums[2 * i][j], sums[2 * i + 1][j]);
  }
  const bool isPlain = x.alpha == 1 && x.beta == 0;
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    T *to = reinterpret_cast<T *>(c + i * x.cRow);
#pragma unroll
    for (int j = 0; j < registers; ++j) {
      const int64_t count = j < registers - 1 ? lanes<T> : std::min<int64_t>(lanes<T>, some);
      storeSome(to + j * lanes<T>, isPlain ? sums[i][j] : scaled(x, sums[i][j], to + j * lanes<T>, count), count);
    }
  }
}
template <int rows, int registers, typename N>
void tile(const PanelProduct<N> &x, const Factors<N> &f, N *c, int64_t n, bool isPacked) {
  isPacked ? tile<rows, registers, true>(x, f, c, n) : tile<rows, registers, false>(x, f, c, n);
}
template <int rows, typename N>
void tile(const PanelProduct<N> &x, int64_t count, const Factors<N> &f, N *c, int64_t n, bool isPacked) {
  if constexpr (rows > 1)
    if (count < rows)
      return tile<rows - 1>(x, count, f, c, n, isPacked);
  n <= numbers<N>       ? tile<rows, 1>(x, f, c, n, isPacked)
  : n <= 2 * numbers<N> ? tile<rows, 2>(x, f, c, n, isPacked)
                        : tile<rows, 3>(x, f, c, n, isPacked);
}

/// Columns of b as a tile reads them: rows of `width` numbers, whole registers, one after the other.
template <typename N> void pack(const PanelProduct<N> &x, const N *b, int64_t n, N *to) {
  const int64_t width = wholeRegisters<N>(n);
  for (int64_t j = 0; j < width; j += numbers<N>) {
    const N *from = b + j * x.bColumn;
    const int64_t count = std::min<int64_t>(numbers<N>, n - j);
    int64_t p = 0;
    if (count == numbers<N> && x.bColumn == 1) {
      for (; p < x.k; ++p)
        __builtin_memcpy(to + p * width + j, from + p * x.bRow, registerBytes);
    } else if (count == numbers<N> && x.bRow == 1) {
      transpose({to + j, from, width, x.bColumn, count, x.k}, sizeof(N));
      p = x.k;
    }
    for (; p < x.k; ++p)
      for (int64_t i = 0; i < numbers<N>; ++i)
        if (N *const at = to + p * width + j + i; i < count)
          __builtin_memcpy(at, from + p * x.bRow + i * x.bColumn, sizeof(N));
        else
          __builtin_memset(at, 0, sizeof(N));
  }
}

/// Rows whose tiles go together where b does not stay in the second cache.
constexpr int64_t block = 32;
/// Columns of a panel whose part of b stays there beside few rows.
template <typename N> constexpr int64_t fewColumns = 768 / sizeof(N);

template <typename N> int64_t roomOf(int64_t n, int64_t k) { return (wholeRegisters<N>(n) + block + tall<N>)*k; }

/// The last two tiles are of about the same height: those of few rows wait for their sums.
template <typename N> int64_t rowsOfTile(int64_t left) {
  return left >= 2 * tall<N> || left <= tall<N> ? std::min<int64_t>(left, tall<N>) : (left + 1) / 2;
}

/// Up to `block` rows of a: tiles that lie below each other read the same of b.
template <typename N> void multiply(const PanelProduct<N> &x, int64_t begin, int64_t end, const N *packed, N *room) {
  constexpr int64_t width = wide * numbers<N>;
  const bool isCopied = x.aColumn != 1; // else each element would be read from another page for every tile
  if (isCopied)
    for (int64_t i = begin, count; i < end; i += count) {
      count = rowsOfTile<N>(end - i);
      N *to = room + (i - begin) * x.k;
      const N *from = x.a + i * x.aRow;
      if (count == tall<N> && x.aRow == 1)
        for (int64_t p = 0; p < x.k; ++p)
          __builtin_memcpy(to + p * tall<N>, from + p * x.aColumn, tall<N> * sizeof(N));
      else
        for (int64_t p = 0; p < x.k; ++p)
          for (int64_t r = 0; r < count; ++r)
            __builtin_memcpy(to + p * count + r, from + r * x.aRow + p * x.aColumn, sizeof(N));
    }
  for (int64_t j = 0; j < x.n; j += width)
    for (int64_t i = begin, count; i < end; i += count) {
      count = rowsOfTile<N>(end - i);
      const int64_t n = std::min(width, x.n - j);
      const Factors<N> f = {isCopied ? room + (i - begin) * x.k : x.a + i * x.aRow, isCopied ? 1 : x.aRow,
                            isCopied ? count : 1, packed + j * x.k, wholeRegisters<N>(n)};
      tile<tall<N>>(x, count, f, x.c + i * x.cRow + j, n, true);
    }
}

template <typename N> void direct(const PanelProduct<N> &x) {
  constexpr int64_t width = wide * numbers<N>;
  for (int64_t j = 0, n; j < x.n; j += n) {
    const int64_t left = x.n - j, registers = (left + numbers<N> - 1) / numbers<N>;
    n = registers > wide && registers < 2 * wide ? (registers + 1) / 2 * numbers<N> : std::min(width, left);
    for (int64_t i = 0, count; i < x.m; i += count) {
      count = rowsOfTile<N>(x.m - i);
      tile<tall<N>>(x, count, {x.a + i * x.aRow, x.aRow, x.aColumn, x.b + j, x.bRow}, x.c + i * x.cRow + j, n, false);
    }
  }
}

template <typename N> void panel(const PanelProduct<N> &x, N *room) {
  constexpr int64_t width = wide * numbers<N>;
  for (int64_t j = 0; j < x.n; j += width)
    pack(x, x.b + j * x.bColumn, std::min(width, x.n - j), room + j * x.k);
  N *const rest = room + wholeRegisters<N>(x.n) * x.k;
  const int64_t together = x.n <= fewColumns<N> ? tall<N> : block;
  for (int64_t i = 0, end; i < x.m; i = end) {
    end = x.m - i < together + tall<N> ? x.m : i + together;
    multiply(x, i, end, room, rest);
  }
}

template <typename N> constexpr ProductKernels<N> kernels = {panel<N>, direct<N>, roomOf<N>};

} // namespace
#else
namespace {
template <typename N> constexpr ProductKernels<N> kernels = {nullptr, nullptr, nullptr};
}
#endif

namespace TOY_ISA {
ProductKernels<float> productKernelsF32() { return kernels<float>; }
ProductKernels<double> productKernelsF64() { return kernels<double>; }
ProductKernels<std::complex<float>> productKernelsC64() { return kernels<std::complex<float>>; }
ProductKernels<std::complex<double>> productKernelsC128() { return kernels<std::complex<double>>; }
} // namespace TOY_ISA
} // namespace toy::rt
