// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tiles of the result in registers: each element is the sum over the inner axis in order, by fused multiply-add from 0
/// on, so that bits are the same with every instruction set that has it.
#include "runtime/ProductKernels.h"
#include "runtime/LaneTransposes.h"

#include <algorithm>

#if defined(__FMA__) || defined(__aarch64__)
#define TOY_FUSES
#endif

namespace toy::rt {
#ifdef TOY_FUSES
namespace {

using Vector = Register<double>;
constexpr int lanes = registerLanes<double>;
/// Rows and registers of a tile: its sums, and what is loaded for them, fill the registers.
constexpr int tall = registerBytes == 64 ? 8 : 4, wide = 3;

Vector load(const double *from) {
  Vector v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
/// One register of a row of the result, of which `count` lanes are its.
void store(double *c, Vector sum, int64_t count, double alpha, double beta) {
  double lane[lanes];
  if (count < lanes)
    std::copy_n(c, beta == 0 ? 0 : count, lane);
  Vector result = alpha * sum;
  if (beta != 0)
    result += beta * load(count < lanes ? lane : c);
  __builtin_memcpy(lane, &result, sizeof lane);
  if (count < lanes)
    std::copy_n(lane, count, c);
  else
    __builtin_memcpy(c, &result, sizeof result);
}

/// A tile whose rows of a begin at `a`, element p of them `step` behind the one before; b is packed.
template <int rows, int registers>
void tile(const PanelProduct &x, const double *a, int64_t row, int64_t step, const double *b, double *c, int64_t n) {
  Vector sums[rows][registers] = {};
  for (int64_t p = 0; p < x.k; ++p, a += step, b += registers * lanes) {
    Vector y[registers];
#pragma unroll
    for (int j = 0; j < registers; ++j) {
      y[j] = load(b + j * lanes);
      __builtin_prefetch(b + (8 * registers + j) * lanes);
    }
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      const Vector factor = a[i * row];
#pragma unroll
      for (int j = 0; j < registers; ++j)
        sums[i][j] = __builtin_elementwise_fma(factor, y[j], sums[i][j]);
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < registers; ++j)
      if (j * lanes < n)
        store(c + i * x.cRow + j * lanes, sums[i][j], std::min<int64_t>(lanes, n - j * lanes), x.alpha, x.beta);
}
template <int rows>
void tile(const PanelProduct &x, const double *a, int64_t row, int64_t step, const double *b, double *c, int64_t n) {
  const int64_t registers = (n + lanes - 1) / lanes;
  registers == 1   ? tile<rows, 1>(x, a, row, step, b, c, n)
  : registers == 2 ? tile<rows, 2>(x, a, row, step, b, c, n)
                   : tile<rows, 3>(x, a, row, step, b, c, n);
}

/// Columns of b as a tile reads them: rows of `width` elements, whole registers, one after the other.
void pack(const PanelProduct &x, const double *b, int64_t n, double *to) {
  const int64_t width = (n + lanes - 1) / lanes * lanes;
  for (int64_t j = 0; j < width; j += lanes) {
    const double *from = b + j * x.bColumn;
    const int64_t count = std::min<int64_t>(lanes, n - j);
    int64_t p = 0;
    if (count == lanes && x.bColumn == 1) {
      for (; p < x.k; ++p)
        __builtin_memcpy(to + p * width + j, from + p * x.bRow, lanes * sizeof(double));
    } else if (count == lanes && x.bRow == 1) {
      for (; p + lanes <= x.k; p += lanes) {
        double block[lanes * lanes];
        Vector rows[lanes];
        for (int i = 0; i < lanes; ++i)
          __builtin_memcpy(block + i * lanes, from + i * x.bColumn + p, lanes * sizeof(double));
        toLanes<lanes>(rows, block);
        for (int i = 0; i < lanes; ++i)
          __builtin_memcpy(to + (p + i) * width + j, &rows[i], sizeof rows[i]);
      }
    }
    for (; p < x.k; ++p)
      for (int64_t i = 0; i < lanes; ++i)
        to[p * width + j + i] = i < count ? from[p * x.bRow + i * x.bColumn] : 0;
  }
}

/// Rows whose tiles go together where b does not stay in the second cache.
constexpr int64_t block = 32, fewColumns = 96;

int64_t roomOf(int64_t n, int64_t k) { return ((n + lanes - 1) / lanes * lanes + block) * k; }

int64_t rowsOfTile(int64_t left) { return left >= tall ? tall : left >= 4 ? 4 : left >= 2 ? 2 : 1; }

/// Up to `block` rows of a: tiles that lie below each other read the same of b.
void multiply(const PanelProduct &x, int64_t begin, int64_t end, const double *packed, double *room) {
  constexpr int64_t width = wide * lanes;
  const bool isCopied = x.aColumn != 1; // else each element would be read from another page for every tile
  if (isCopied)
    for (int64_t i = begin, count; i < end; i += count) {
      count = rowsOfTile(end - i);
      double *to = room + (i - begin) * x.k;
      const double *from = x.a + i * x.aRow;
      if (count == tall && x.aRow == 1)
        for (int64_t p = 0; p < x.k; ++p)
          __builtin_memcpy(to + p * tall, from + p * x.aColumn, tall * sizeof(double));
      else
        for (int64_t p = 0; p < x.k; ++p)
          for (int64_t r = 0; r < count; ++r)
            to[p * count + r] = from[r * x.aRow + p * x.aColumn];
    }
  for (int64_t j = 0; j < x.n; j += width)
    for (int64_t i = begin, count; i < end; i += count) {
      count = rowsOfTile(end - i);
      const double *a = isCopied ? room + (i - begin) * x.k : x.a + i * x.aRow, *b = packed + j * x.k;
      const int64_t row = isCopied ? 1 : x.aRow, step = isCopied ? count : 1, n = std::min(width, x.n - j);
      double *c = x.c + i * x.cRow + j;
      count == tall ? tile<tall>(x, a, row, step, b, c, n)
      : count == 4  ? tile<4>(x, a, row, step, b, c, n)
      : count == 2  ? tile<2>(x, a, row, step, b, c, n)
                    : tile<1>(x, a, row, step, b, c, n);
    }
}

void panel(const PanelProduct &x, double *room) {
  constexpr int64_t width = wide * lanes;
  for (int64_t j = 0; j < x.n; j += width)
    pack(x, x.b + j * x.bColumn, std::min(width, x.n - j), room + j * x.k);
  double *const rest = room + (x.n + lanes - 1) / lanes * lanes * x.k;
  const int64_t together = x.n <= fewColumns ? tall : block;
  for (int64_t i = 0; i < x.m; i += together)
    multiply(x, i, std::min(x.m, i + together), room, rest);
}

} // namespace
#endif

namespace TOY_ISA {
ProductKernels productKernels() {
#ifdef TOY_FUSES
  return {panel, roomOf};
#else
  return {nullptr, nullptr};
#endif
}
} // namespace TOY_ISA
} // namespace toy::rt
