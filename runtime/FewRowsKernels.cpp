// SPDX-License-Identifier: Apache-2.0
/// \file
/// Element p of the inner axis belongs to lane p mod 16 (f64: 8). A lane's products are added in order, by fused
/// multiply-add from +0 on, and lanes by halving. Where columns lie together, lanes are those of registers; where rows
/// do, registers hold columns, and one lane is summed after the other.
#include "runtime/FewRowsKernels.h"
#include "runtime/LaneSums.h"

#include <algorithm>

namespace toy::rt {
#ifdef TOY_FUSES
namespace {

template <typename T> constexpr int fusedLanes = 64 / sizeof(T);
constexpr int parts = 64 / registerBytes; ///< registers of all lanes
constexpr int tall = 4 / parts;           ///< rows at once

template <typename T> void put(const FewRowsProduct<T> &x, int64_t i, int64_t j, T sum) {
  T &to = x.c[i * x.cRow + j * x.cColumn];
  const T scaled = x.alpha == 1 ? sum : x.alpha * sum;
  to = x.beta == 0 ? scaled : scaled + x.beta * to;
}

// ---- columns together

/// R rows by J columns, of which those from `some` on are not stored.
template <int R, int J, typename T> void dots(const FewRowsProduct<T> &x, int64_t row, int64_t column, int64_t some) {
  constexpr int lane = lanes<T>;
  const T *a = x.a + row * x.aRow, *b[J];
  for (int j = 0; j < J; ++j)
    b[j] = x.b + (column + std::min<int64_t>(j, some - 1)) * x.bColumn;
  Vector<T> sums[R * J][parts] = {};
  auto add = [&](int64_t p, int q, auto read, auto select) {
    Vector<T> y[J];
    for (int j = 0; j < J; ++j)
      y[j] = read(b[j] + p);
    for (int i = 0; i < R; ++i) {
      const Vector<T> factor = read(a + i * x.aRow + p);
      for (int j = 0; j < J; ++j)
        sums[i * J + j][q] = select(__builtin_elementwise_fma(factor, y[j], sums[i * J + j][q]), sums[i * J + j][q]);
    }
  };
  int64_t p = 0;
  for (; p + fusedLanes<T> <= x.k; p += fusedLanes<T>)
    for (int q = 0; q < parts; ++q)
      add(p + q * lane, q, [](const T *from) { return load(from); }, [](auto sum, auto) { return sum; });
  for (int q = 0; q < parts; ++q)
    if (const int64_t left = x.k - p - q * lane; left > 0) {
      T places[lane];
      for (int i = 0; i < lane; ++i)
        places[i] = T(i);
      const auto isThere = load(places) < Vector<T>(T(left));
      add(
          p + q * lane, q, [left](const T *from) { return loadSome(from, left); },
          [&](auto sum, auto before) { return isThere ? sum : before; }); // 0 * 0 would make +0 of -0
    }
  T all[std::max(R * J, lane)];
#ifdef __AVX512F__
  Vector<T> rows[(R * J + lane - 1) / lane * lane] = {};
  for (int i = 0; i < R * J; ++i)
    rows[i] = sums[i][0];
  for (int i = 0; i < R * J; i += lane) {
    const Vector<T> some = sumsOf<T, 1>(reinterpret_cast<const Vector<T>(&)[lane]>(rows[i]));
    __builtin_memcpy(all + i, &some, sizeof(T) * std::min(lane, R * J - i));
  }
#else
  for (int i = 0; i < R * J; ++i)
    all[i] = halved<T>(sums[i]);
#endif
  for (int j = 0; j < some && j < J; ++j)
    for (int i = 0; i < R; ++i)
      put(x, row + i, column + j, all[i * J + j]);
}

// ---- rows together

/// R rows by C registers of columns, of which the last one has `some`.
template <int R, int C, bool isWhole, typename T>
void lanesInOrder(const FewRowsProduct<T> &x, int64_t row, int64_t column, int64_t some) {
  constexpr int all = fusedLanes<T>, lane = lanes<T>;
  const T *a = x.a + row * x.aRow, *b = x.b + column;
  Vector<T> halves[__builtin_ctz(all) + 1][R][C]; // of lanes, of two of them, of four, …
  for (int turn = 0; turn < all; ++turn) {
    int64_t p = 0;
    for (int bit = 1; bit < all; bit *= 2) // 0, 8, 4, 12, …: those that are added come one after the other
      p += turn & bit ? all / 2 / bit : 0;
    Vector<T> sums[R][C] = {};
    for (; p < x.k; p += all) {
      Vector<T> y[C];
      for (int j = 0; j < C; ++j)
        y[j] = j < C - 1 || isWhole ? load(b + p * x.bRow + j * lane) : loadSome(b + p * x.bRow + j * lane, some);
      for (int i = 0; i < R; ++i) {
        const Vector<T> factor = a[i * x.aRow + p];
        for (int j = 0; j < C; ++j)
          sums[i][j] = __builtin_elementwise_fma(factor, y[j], sums[i][j]);
      }
    }
    int level = 0;
    for (; turn >> level & 1; ++level)
      for (int i = 0; i < R; ++i)
        for (int j = 0; j < C; ++j)
          sums[i][j] = halves[level][i][j] + sums[i][j];
    for (int i = 0; i < R; ++i)
      for (int j = 0; j < C; ++j)
        halves[level][i][j] = sums[i][j];
  }
  const auto &whole = halves[__builtin_ctz(all)];
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) {
      const int64_t count = j < C - 1 || isWhole ? lane : some;
      T *to = x.c + (row + i) * x.cRow + (column + j * lane) * x.cColumn;
      if (count == lane && x.cColumn == 1 && x.alpha == 1 && x.beta == 0)
        __builtin_memcpy(to, &whole[i][j], sizeof(Vector<T>));
      else
        for (int64_t l = 0; l < count; ++l)
          put(x, row + i, column + j * lane + l, whole[i][j][l]);
    }
}

/// Some rows by columns [begin, end).
template <int R, typename T> void someRows(const FewRowsProduct<T> &x, int64_t row, int64_t begin, int64_t end) {
  constexpr int lane = lanes<T>, wide = registerBytes == 64 ? 4 : 2;
  if (x.bRow == 1 && x.bColumn != 1) {
    constexpr int together = registerBytes < 64 ? 2 : R == 1 ? 8 : 16 / R;
    for (int64_t j = begin; j < end; j += together)
      dots<R, together>(x, row, j, std::min<int64_t>(together, end - j));
    return;
  }
  int64_t j = begin;
  for (; j + wide * lane <= end; j += wide * lane)
    lanesInOrder<R, wide, true>(x, row, j, 0);
  for (; j + 2 * lane <= end; j += 2 * lane)
    lanesInOrder<R, 2, true>(x, row, j, 0);
  if (end - j > lane)
    lanesInOrder<R, 2, false>(x, row, j, end - j - lane);
  else if (end > j)
    lanesInOrder<R, 1, false>(x, row, j, end - j);
}
template <typename T> void columns(const FewRowsProduct<T> &x, int64_t begin, int64_t end) {
  for (int64_t i = 0, count; i < x.rows; i += count) {
    const int64_t left = x.rows - i, pieces = (left + tall - 1) / tall;
    count = (left + pieces - 1) / pieces;
    if constexpr (tall == 4)
      if (count > 2) {
        count == 4 ? someRows<4>(x, i, begin, end) : someRows<3>(x, i, begin, end);
        continue;
      }
    if constexpr (tall >= 2)
      if (count == 2) {
        someRows<2>(x, i, begin, end);
        continue;
      }
    someRows<1>(x, i, begin, end);
  }
}

} // namespace
#endif

namespace TOY_ISA {
#ifdef TOY_FUSES
FewRowsKernels<float> fewRowsKernelsF32() { return {columns<float>}; }
FewRowsKernels<double> fewRowsKernelsF64() { return {columns<double>}; }
#else
FewRowsKernels<float> fewRowsKernelsF32() { return {nullptr}; }
FewRowsKernels<double> fewRowsKernelsF64() { return {nullptr}; }
#endif
} // namespace TOY_ISA
} // namespace toy::rt
