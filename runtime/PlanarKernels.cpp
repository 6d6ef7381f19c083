// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built once for each instruction set with TOY_ISA naming it; plain loops that the compiler vectorizes. Nothing of the standard library is used:
/// its inline functions would be shared with code for lesser machines.
#include "runtime/PlanarKernels.h"

namespace toy::rt {
namespace {

int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

template <typename T> void combine(const PlanarProduct<T> &p, T ac, T bd, T ad, T bc, T &re, T &im) {
  re = p.addBd ? ac + bd : ac - bd;
  ad = p.subtractAd ? -ad : ad;
  im = p.subtractBc ? ad - bc : ad + bc;
}

/// One product of M x K by K x N matrices; the sizes are known where they are small squares, so that everything stays in registers.
template <typename T, int64_t M, int64_t N, int64_t K>
void one(const PlanarProduct<T> &p, const T *a, const T *b, const T *c, const T *d, T *re, T *im) {
  const int64_t m = M ? M : p.m, n = N ? N : p.n, k = K ? K : p.k;
  constexpr int64_t lane = N ? N : 64;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j0 = 0; j0 < n; j0 += lane) {
      const int64_t width = N ? N : least(lane, n - j0);
      T ac[lane] = {}, bd[lane] = {}, ad[lane] = {}, bc[lane] = {};
      for (int64_t q = 0; q < k; ++q) {
        const T x = a[i * p.xRow + q * p.xColumn], y = b[i * p.xRow + q * p.xColumn];
        const T *cRow = c + q * p.yRow + j0 * p.yColumn, *dRow = d + q * p.yRow + j0 * p.yColumn;
        for (int64_t j = 0; j < width; ++j) {
          const T u = cRow[j * p.yColumn], v = dRow[j * p.yColumn];
          ac[j] += x * u;
          bd[j] += y * v;
          ad[j] += x * v;
          bc[j] += y * u;
        }
      }
      for (int64_t j = 0; j < width; ++j)
        combine(p, ac[j], bd[j], ad[j], bc[j], re[i * n + j0 + j], im[i * n + j0 + j]);
    }
}

template <typename T, int64_t S> void squares(const PlanarProduct<T> &original, int64_t count, int64_t xStep, int64_t yStep) {
  PlanarProduct<T> p = original;
  p.xColumn = p.yColumn = 1; // known to the optimizer
  p.xRow = p.yRow = S;
  for (int64_t i = 0; i < count; ++i)
    one<T, S, S, S>(p, p.a + i * xStep, p.b + i * xStep, p.c + i * yStep, p.d + i * yStep, p.re + i * S * S, p.im + i * S * S);
}

template <typename T> void small(const PlanarProduct<T> &p, int64_t count, int64_t xStep, int64_t yStep) {
  bool dense = p.xColumn == 1 && p.yColumn == 1 && p.m == p.n && p.n == p.k && p.xRow == p.k && p.yRow == p.n;
  if (dense && p.m == 2)
    return squares<T, 2>(p, count, xStep, yStep);
  if (dense && p.m == 3)
    return squares<T, 3>(p, count, xStep, yStep);
  if (dense && p.m == 4)
    return squares<T, 4>(p, count, xStep, yStep);
  if (dense && p.m == 8)
    return squares<T, 8>(p, count, xStep, yStep);
  for (int64_t i = 0; i < count; ++i)
    one<T, 0, 0, 0>(p, p.a + i * xStep, p.b + i * xStep, p.c + i * yStep, p.d + i * yStep, p.re + i * p.m * p.n, p.im + i * p.m * p.n);
}

/// Columns in blocks that stay in the first cache; every element of c and d is read once.
template <typename T> void fewRows(const PlanarProduct<T> &p, int64_t begin, int64_t end) {
  constexpr int64_t block = 256;
  for (int64_t j0 = begin; j0 < end; j0 += block) {
    const int64_t width = least(block, end - j0);
    T ac[4][block], bd[4][block], ad[4][block], bc[4][block];
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < width; ++j)
        ac[i][j] = bd[i][j] = ad[i][j] = bc[i][j] = 0;
    for (int64_t q = 0; q < p.k; ++q) {
      const T *c = p.c + q * p.yRow + j0, *d = p.d + q * p.yRow + j0;
      for (int64_t i = 0; i < p.m; ++i) {
        const T x = p.a[i * p.xRow + q * p.xColumn], y = p.b[i * p.xRow + q * p.xColumn];
        T *__restrict pac = ac[i], *__restrict pbd = bd[i], *__restrict pad = ad[i], *__restrict pbc = bc[i];
        for (int64_t j = 0; j < width; ++j) {
          pac[j] += x * c[j];
          pbd[j] += y * d[j];
          pad[j] += x * d[j];
          pbc[j] += y * c[j];
        }
      }
    }
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < width; ++j)
        combine(p, ac[i][j], bd[i][j], ad[i][j], bc[i][j], p.re[i * p.n + j0 + j], p.im[i * p.n + j0 + j]);
  }
}

} // namespace

namespace TOY_ISA {
PlanarKernels<float> kernelsF32() { return {small<float>, fewRows<float>}; }
PlanarKernels<double> kernelsF64() { return {small<double>, fewRows<double>}; }
} // namespace TOY_ISA

} // namespace toy::rt
