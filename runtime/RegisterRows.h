// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products whose rows are in registers, for the kernels of an instruction set: sums in the order of the inner axis, no
/// multiply-add fused.
#pragma once
#include "runtime/LaneTransposes.h"
#include "runtime/SmallMatrixKernels.h"

namespace toy::rt {
namespace {

constexpr int powerOfTwo(int n) { return n <= 1 ? 1 : 2 * powerOfTwo((n + 1) / 2); }

/// The first numbers of a vector to and from memory; what lies behind them is not touched.
template <int count> struct First {
  static constexpr int lanes = powerOfTwo(count);
  static constexpr bool isCopied = count == lanes || count == 3;
  using Mask = bool __attribute__((ext_vector_type(lanes)));
  template <int... lane> static constexpr Mask maskOf(Numbers<int, lane...>) { return Mask{(lane < count)...}; }

  template <typename V, typename T> static V load(const T *from) {
    V x = {};
    if constexpr (isCopied)
      __builtin_memcpy(&x, from, count * sizeof(T));
    else
      x = __builtin_masked_load(maskOf(Below<lanes>()), from, V(T(0)));
    return x;
  }
  template <typename V, typename T> static void store(T *to, V x) {
    if constexpr (isCopied)
      __builtin_memcpy(to, &x, count * sizeof(T));
    else
      __builtin_masked_store(maskOf(Below<lanes>()), x, to);
  }
};

/// N elements of a row of real numbers; what they are multiplied by is one number.
template <typename T, int N> struct RealRow {
  using Vector = T __attribute__((ext_vector_type(powerOfTwo(N))));
  static constexpr int parts = 1;
  Vector row;
  void load(const T *from, int64_t column, bool) {
    if (column == 1) {
      row = First<N>::template load<Vector>(from);
      return;
    }
    row = Vector(T(0));
    for (int j = 0; j < N; ++j)
      row[j] = from[j * column];
  }
  Vector times(const T *x, T) const { return row * x[0]; }
};
/// N complex elements, and the same times i.
template <typename T, int N> struct ComplexRow {
  using Vector = T __attribute__((ext_vector_type(powerOfTwo(2 * N))));
  static constexpr int parts = 2;
  Vector row, turned;
  void load(const T *from, int64_t column, bool conjugate) {
    if (column == 1)
      row = First<2 * N>::template load<Vector>(from);
    else {
      row = Vector(T(0));
      for (int j = 0; j < N; ++j) {
        row[2 * j] = from[2 * j * column];
        row[2 * j + 1] = from[2 * j * column + 1];
      }
    }
    turn(conjugate, Below<powerOfTwo(2 * N)>());
  }
  template <int... lane> void turn(bool conjugate, Numbers<int, lane...>) {
    constexpr Vector evenNegative = {T(lane % 2 ? 1 : -1)...}, oddNegative = {T(lane % 2 ? -1 : 1)...};
    if (conjugate)
      row = row * oddNegative;
    turned = __builtin_shufflevector(row, row, (lane ^ 1)...) * evenNegative;
  }
  Vector times(const T *x, T sign) const { return row * x[0] + turned * (sign * x[1]); }
};

/// `depth` is k where it is known, or 0. Some rows of the result at a time: the steps of one sum wait for each other.
template <typename T, typename Row, int N, int depth>
void productsOf(const SmallProducts &x, const SmallProducts::Factor &left, const SmallProducts::Factor &right) {
  constexpr int64_t parts = Row::parts, together = 4;
  const auto *a = static_cast<const T *>(left.data), *b = static_cast<const T *>(right.data);
  auto *c = static_cast<T *>(x.c);
  const int64_t k = depth ? depth : x.k, m = x.m * x.n / N, pitch = (x.pitch ? x.pitch : N) * parts;
  const T sign = left.conjugate ? -1 : 1;
  for (int64_t index = 0; index < x.count; ++index, a += left.step * parts, b += right.step * parts) {
    Row rows[depth ? depth : SmallProducts::deepest];
    for (int64_t p = 0; p < k; ++p)
      rows[p].load(b + p * right.row * parts, right.column, right.conjugate);
    int64_t i = 0;
    for (; !depth && i + together <= m; i += together, c += together * pitch) {
      typename Row::Vector sums[together] = {};
      for (int64_t p = 0; p < k; ++p)
        for (int64_t r = 0; r < together; ++r)
          sums[r] = sums[r] + rows[p].times(a + ((i + r) * left.row + p * left.column) * parts, sign);
      for (int64_t r = 0; r < together; ++r)
        First<N * parts>::store(c + r * pitch, sums[r]);
    }
    for (; i < m; ++i, c += pitch) {
      typename Row::Vector sum = {};
      for (int64_t p = 0; p < k; ++p)
        sum = sum + rows[p].times(a + (i * left.row + p * left.column) * parts, sign);
      First<N * parts>::store(c, sum);
    }
  }
}
template <typename T, template <typename, int> typename Row, int N>
bool productsOfWidth(const SmallProducts &x, int64_t n, const SmallProducts::Factor &a,
                     const SmallProducts::Factor &b) {
  if (N < n)
    if constexpr (N < SmallProducts::widest)
      return productsOfWidth<T, Row, N + 1>(x, n, a, b);
  if (N <= 4 && x.k == N)
    productsOf<T, Row<T, N>, N, N <= 4 ? N : 0>(x, a, b);
  else
    productsOf<T, Row<T, N>, N, 0>(x, a, b);
  return true;
}
/// A product with a column is the transposed one with a row: factors of a product may change places.
template <typename T, template <typename, int> typename Row> bool products(const SmallProducts &x) {
  SmallProducts::Factor a = x.a, b = x.b;
  int64_t n = x.n;
  if (n == 1) {
    n = x.m;
    a = {x.b.data, x.b.column, x.b.row, x.b.step, x.b.conjugate};
    b = {x.a.data, x.a.column, x.a.row, x.a.step, x.a.conjugate};
  }
  if (n > SmallProducts::widest || x.k > SmallProducts::deepest)
    return false;
  return productsOfWidth<T, Row, 1>(x, n, a, b);
}

} // namespace
} // namespace toy::rt
