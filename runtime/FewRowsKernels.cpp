// SPDX-License-Identifier: Apache-2.0
/// \file
/// Element p of the inner axis belongs to lane p mod 8 (f64: 4). A lane's products are added in order, by fused
/// multiply-add from +0 on, and lanes by halving. Where columns lie together, a register has the lanes of one column,
/// or of two; where rows do, it has columns, and one lane is summed after the other. So few lanes are soon added, and a
/// register of them takes few shuffles.
#include "runtime/FewRowsKernels.h"
#include "runtime/LaneSums.h"

#include <algorithm>

namespace toy::rt {
#ifdef TOY_FUSES
namespace {

template <typename T> constexpr int laneCount = 32 / sizeof(T);
constexpr int tall = registerBytes == 64 ? 8 : 4; ///< rows at once

template <typename T> void put(const FewRowsProduct<T> &x, int64_t i, int64_t j, T sum) {
  T &to = x.c[i * x.cRow + j * x.cColumn];
  const T scaled = x.alpha == 1 ? sum : x.alpha * sum;
  to = x.beta == 0 ? scaled : scaled + x.beta * to;
}

// ---- columns together

template <typename T> constexpr int groups = std::max(1, lanes<T> / laneCount<T>); ///< of those lanes in a register
template <typename T> using Groups = T __attribute__((ext_vector_type(laneCount<T> * groups<T>)));
template <typename T> using PlacesOf = Below<laneCount<T> * groups<T>>;

/// Groups of both registers in halves of one.
template <bool isSecond, typename V, int... i> V halvesOf(V x, V y, Numbers<int, i...>) {
  constexpr int half = sizeof...(i) / 2;
  return __builtin_shufflevector(x, y, (i % half + i / half * 2 * half + isSecond * half)...);
}
/// Group q of each of some registers is register q.
template <typename T> void exchangeGroups(Groups<T> (&x)[groups<T>]) {
  static_assert(groups<T> <= 2);
  if constexpr (groups<T> == 2) {
    const auto first = halvesOf<false>(x[0], x[1], PlacesOf<T>());
    x[1] = halvesOf<true>(x[0], x[1], PlacesOf<T>());
    x[0] = first;
  }
}
/// The same group in each place.
template <typename T, int... i> Groups<T> repeated(Groups<T> x, bool isSecond, Numbers<int, i...>) {
  const Groups<T> first = __builtin_shufflevector(x, x, (i % laneCount<T>)...);
  return isSecond ? Groups<T>(__builtin_shufflevector(x, x, (i | laneCount<T> * (groups<T> - 1))...)) : first;
}
template <typename T, int... i> Groups<T> groupRepeated(const T *from, Numbers<int, i...>) {
  T __attribute__((ext_vector_type(laneCount<T>))) group;
  __builtin_memcpy(&group, from, sizeof group);
  return __builtin_shufflevector(group, group, (i % laneCount<T>)...);
}
template <typename T> Groups<T> someGroups(const T *from, int64_t n) {
  if constexpr (sizeof(Groups<T>) == sizeof(Vector<T>))
    return __builtin_bit_cast(Groups<T>, loadSome(from, n));
  Groups<T> x = {};
  __builtin_memcpy(&x, from, std::min<int64_t>(n, laneCount<T>) * sizeof(T));
  return x;
}
/// Lanes `apart` from one another added, of two registers.
template <int apart, typename V, int... i> V lanesAdded(V x, V y, Numbers<int, i...>) {
  return __builtin_shufflevector(x, y, (i / apart * 2 * apart + i % apart)...) +
         __builtin_shufflevector(x, y, (i / apart * 2 * apart + i % apart + apart)...);
}

/// The sums of all groups of n registers.
template <int n, typename V, typename Places> V laneSums(const V *x, Places places) {
  if constexpr (n == 1)
    return *x;
  else {
    V halves[n / 2];
    for (int i = 0; i < n / 2; ++i)
      halves[i] = lanesAdded<n / 2>(x[2 * i], x[2 * i + 1], places);
    return laneSums<n / 2>(halves, places);
  }
}

template <int R, int registers, typename T>
using DotSums = Groups<T>[(R * registers + laneCount<T> - 1) / laneCount<T> * laneCount<T>];

/// What is behind the last whole register, n elements of each row and column.
template <int R, int registers, typename T>
void addRest(const T *a, int64_t aRow, const T *const *b, int64_t p, int64_t n, DotSums<R, registers, T> &sums) {
  using V = Groups<T>;
  constexpr int together = groups<T>;
  V number, y[registers][together], factors[R];
  for (int i = 0; i < together * laneCount<T>; ++i)
    number[i] = T(i % laneCount<T>);
  for (int j = 0; j < registers; ++j) {
    for (int i = 0; i < together; ++i)
      y[j][i] = someGroups(b[j * together + i] + p, n);
    exchangeGroups<T>(y[j]);
  }
  for (int i = 0; i < R; ++i)
    factors[i] = someGroups(a + i * aRow + p, n);
#pragma unroll
  for (int q = 0; q < together; ++q)
    if (q * laneCount<T> < n) {
      const auto isThere = number < V(T(n - q * laneCount<T>));
#pragma unroll
      for (int i = 0; i < R; ++i)
#pragma unroll
        for (int j = 0; j < registers; ++j) {
          V &sum = sums[i * registers + j];
          const V more = __builtin_elementwise_fma(repeated<T>(factors[i], q, PlacesOf<T>()), y[j][q], sum);
          sum = isThere ? more : sum; // 0 * 0 would make +0 of -0
        }
    }
}
/// R rows by some registers of columns, of which those from `some` on are not stored.
template <int R, int registers, typename T>
[[gnu::noinline]] void dots(const FewRowsProduct<T> &x, int64_t row, int64_t column, int64_t some) {
  using V = Groups<T>;
  constexpr int together = groups<T>, width = registers * together, atOnce = laneCount<T>;
  constexpr PlacesOf<T> places;
  const T *a = x.a + row * x.aRow, *b[width];
  for (int j = 0; j < width; ++j)
    b[j] = x.b + (column + std::min<int64_t>(j, some - 1)) * x.bColumn;
  DotSums<R, registers, T> sums = {};
  int64_t p = 0;
  for (; p + together * laneCount<T> <= x.k; p += together * laneCount<T>) {
    V y[registers][together];
#pragma unroll
    for (int j = 0; j < registers; ++j) {
#pragma unroll
      for (int i = 0; i < together; ++i)
        __builtin_memcpy(&y[j][i], b[j * together + i] + p, sizeof(V));
      exchangeGroups<T>(y[j]);
    }
#pragma unroll
    for (int q = 0; q < together; ++q)
#pragma unroll
      for (int i = 0; i < R; ++i) {
        const V factor = groupRepeated(a + i * x.aRow + p + q * laneCount<T>, places);
#pragma unroll
        for (int j = 0; j < registers; ++j)
          sums[i * registers + j] = __builtin_elementwise_fma(factor, y[j][q], sums[i * registers + j]);
      }
  }
  if (p < x.k)
    addRest<R, registers>(a, x.aRow, b, p, x.k - p, sums);
  T tile[sizeof sums / (sizeof(T) * laneCount<T>)];
#pragma unroll
  for (int i = 0; i < R * registers; i += atOnce) {
    const V sum = laneSums<atOnce>(sums + i, places);
    __builtin_memcpy(tile + i * together, &sum, sizeof sum);
  }
  const int64_t count = std::min<int64_t>(width, some);
  for (int i = 0; i < R; ++i)
    if (x.cColumn == 1 && x.alpha == 1 && x.beta == 0 && count == width)
      __builtin_memcpy(x.c + (row + i) * x.cRow + column, tile + i * width, width * sizeof(T));
    else
      for (int64_t j = 0; j < count; ++j)
        put(x, row + i, column + j, tile[i * width + j]);
}

// ---- rows together

/// Registers of columns at once: their sums must not wait for one another, and leave room for what is read.
constexpr int widest(int rows) { return std::min(8, (registerBytes == 64 ? 31 : 15) / (rows + 1)); }

/// R rows by C registers of columns, of which the last one has `some`.
template <int R, int C, bool isWhole, typename T>
[[gnu::noinline]] void lanesInOrder(const FewRowsProduct<T> &x, int64_t row, int64_t column, int64_t some) {
  constexpr int lane = lanes<T>;
  const T *const a = x.a + row * x.aRow, *const b = x.b + column;
  constexpr int turns = laneCount<T>;
  Vector<T> halves[__builtin_ctz(turns) + 1][R][C]; // of lanes, of two of them, of four, …
#pragma nounroll
  for (int turn = 0; turn < turns; ++turn) {
    int64_t p = 0;
    for (int bit = 1; bit < turns; bit *= 2) // 0, 4, 2, 6, …: those that are added come one after the other
      p += turn & bit ? turns / 2 / bit : 0;
    Vector<T> sums[R][C] = {};
    for (; p < x.k; p += turns) {
      Vector<T> y[C];
#pragma unroll
      for (int j = 0; j < C; ++j)
        y[j] = j < C - 1 || isWhole ? load(b + p * x.bRow + j * lane) : loadSome(b + p * x.bRow + j * lane, some);
#pragma unroll
      for (int i = 0; i < R; ++i) {
        const Vector<T> factor = a[i * x.aRow + p];
#pragma unroll
        for (int j = 0; j < C; ++j)
          sums[i][j] = __builtin_elementwise_fma(factor, y[j], sums[i][j]);
      }
    }
    int level = 0;
    for (; turn >> level & 1; ++level)
#pragma unroll
      for (int i = 0; i < R; ++i)
#pragma unroll
        for (int j = 0; j < C; ++j)
          sums[i][j] = halves[level][i][j] + sums[i][j];
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
      for (int j = 0; j < C; ++j)
        halves[level][i][j] = sums[i][j];
  }
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) {
      const Vector<T> sum = halves[__builtin_ctz(turns)][i][j];
      const int64_t count = j < C - 1 || isWhole ? lane : some;
      T *to = x.c + (row + i) * x.cRow + (column + j * lane) * x.cColumn;
      if (x.cColumn == 1 && x.alpha == 1 && x.beta == 0)
        storeSome(to, sum, count);
      else
        for (int64_t l = 0; l < count; ++l)
          put(x, row + i, column + j * lane + l, sum[l]);
    }
}
/// So many registers and a part of one.
template <int R, int C, typename T> void rest(const FewRowsProduct<T> &x, int64_t row, int64_t column, int64_t n) {
  if constexpr (C > 1)
    if (n <= (C - 1) * lanes<T>)
      return rest<R, C - 1>(x, row, column, n);
  lanesInOrder<R, C, false>(x, row, column, n - (C - 1) * lanes<T>);
}

/// Some rows by columns [begin, end).
template <int R, typename T> void someRows(const FewRowsProduct<T> &x, int64_t row, int64_t begin, int64_t end) {
  if (x.bRow == 1 && x.bColumn != 1) {
    constexpr int registers = std::min(4, (registerBytes == 64 ? 26 : 13) / (R + groups<T>)),
                  together = registers * groups<T>;
    for (int64_t j = begin; j < end; j += together)
      dots<R, registers>(x, row, j, std::min<int64_t>(together, end - j));
    return;
  }
  constexpr int most = widest(R), width = most * lanes<T>;
  int64_t j = begin;
  for (; end - j >= 2 * width || end - j == width; j += width)
    lanesInOrder<R, most, true>(x, row, j, 0);
  if (end - j > width) { // two of about the same width
    const int64_t half = ((end - j + lanes<T> - 1) / lanes<T> + 1) / 2 * lanes<T>;
    rest<R, most>(x, row, j, half);
    j += half;
  }
  if (end > j)
    rest<R, most>(x, row, j, end - j);
}
template <int R, typename T>
void rowsOfPiece(const FewRowsProduct<T> &x, int64_t count, int64_t row, int64_t begin, int64_t end) {
  if constexpr (R > 1)
    if (count < R)
      return rowsOfPiece<R - 1>(x, count, row, begin, end);
  someRows<R>(x, row, begin, end);
}
template <typename T> void columns(const FewRowsProduct<T> &x, int64_t begin, int64_t end) {
  for (int64_t i = 0, count; i < x.rows; i += count) {
    const int64_t left = x.rows - i, pieces = (left + tall - 1) / tall;
    count = (left + pieces - 1) / pieces;
    rowsOfPiece<tall>(x, count, i, begin, end);
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
