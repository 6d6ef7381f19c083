// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built once for each instruction set with TOY_ISA naming it; plain loops that the compiler vectorizes. Nothing of the
/// standard library is used: its inline functions would be shared with code for lesser machines.
#include "runtime/PlanarKernels.h"

namespace toy::rt {
namespace {

int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

/// x*y + z: rounded once where the products are long enough that BLAS would compute them, which does the same; twice in
/// the smallest ones.
template <bool fused, typename T> T multiplyAdd(T x, T y, T z) {
#ifdef __FMA__
  if constexpr (fused)
    return sizeof(T) == 4 ? T(__builtin_fmaf(float(x), float(y), float(z))) : T(__builtin_fma(x, y, z));
#endif
  return z + x * y;
}

template <typename T> void combine(const PlanarProduct<T> &p, T ac, T bd, T ad, T bc, T &re, T &im) {
  re = p.addBd ? ac + bd : ac - bd;
  ad = p.subtractAd ? -ad : ad;
  im = p.subtractBc ? ad - bc : ad + bc;
}

/// One product of any size.
template <typename T, bool fused>
void one(const PlanarProduct<T> &p, const T *a, const T *b, const T *c, const T *d, T *re, T *im) {
  const int64_t m = p.m, n = p.n, k = p.k;
  constexpr int64_t lane = 64;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j0 = 0; j0 < n; j0 += lane) {
      const int64_t width = least(lane, n - j0);
      T ac[lane] = {}, bd[lane] = {}, ad[lane] = {}, bc[lane] = {};
      for (int64_t q = 0; q < k; ++q) {
        const T x = a[i * p.xRow + q * p.xColumn], y = b[i * p.xRow + q * p.xColumn];
        const T *cRow = c + q * p.yRow + j0 * p.yColumn, *dRow = d + q * p.yRow + j0 * p.yColumn;
        for (int64_t j = 0; j < width; ++j) {
          const T u = cRow[j * p.yColumn], v = dRow[j * p.yColumn];
          ac[j] = multiplyAdd<fused>(x, u, ac[j]);
          bd[j] = multiplyAdd<fused>(y, v, bd[j]);
          ad[j] = multiplyAdd<fused>(x, v, ad[j]);
          bc[j] = multiplyAdd<fused>(y, u, bc[j]);
        }
      }
      for (int64_t j = 0; j < width; ++j)
        combine(p, ac[j], bd[j], ad[j], bc[j], re[i * n + j0 + j], im[i * n + j0 + j]);
    }
}

/// Dense S x S matrices, a row of the result in one register; rows shorter than a register are filled up with zeros.
template <typename T, int64_t S> void squares(const PlanarProduct<T> &p, int64_t count, int64_t xStep, int64_t yStep) {
  constexpr int64_t lanes = S <= 2 ? 2 : S <= 4 ? 4 : S <= 8 ? 8 : 16;
  using Row __attribute__((vector_size(lanes * sizeof(T)))) = T;
  auto load = [](const T *from) {
    Row row = {};
    __builtin_memcpy(&row, from, S * sizeof(T));
    return row;
  };
  auto multiplyAddRow = [](T x, Row y, Row z) {
    Row wide = x - Row{};
#ifdef __FMA__
    if constexpr (S > 4)
      return __builtin_elementwise_fma(wide, y, z);
#endif
    return z + wide * y;
  };
  for (int64_t index = 0; index < count; ++index) {
    const T *a = p.a + index * xStep, *b = p.b + index * xStep, *c = p.c + index * yStep, *d = p.d + index * yStep;
    T *re = p.re + index * S * S, *im = p.im + index * S * S;
    for (int64_t i = 0; i < S; ++i) {
      Row ac = {}, bd = {}, ad = {}, bc = {};
      for (int64_t q = 0; q < S; ++q) {
        Row u = load(c + q * S), v = load(d + q * S);
        T x = a[i * S + q], y = b[i * S + q];
        ac = multiplyAddRow(x, u, ac);
        bd = multiplyAddRow(y, v, bd);
        ad = multiplyAddRow(x, v, ad);
        bc = multiplyAddRow(y, u, bc);
      }
      Row reRow = p.addBd ? ac + bd : ac - bd, adRow = p.subtractAd ? -ad : ad,
          imRow = p.subtractBc ? adRow - bc : adRow + bc;
      __builtin_memcpy(re + i * S, &reRow, S * sizeof(T));
      __builtin_memcpy(im + i * S, &imRow, S * sizeof(T));
    }
  }
}

template <typename T> void small(const PlanarProduct<T> &p, int64_t count, int64_t xStep, int64_t yStep) {
  bool dense = p.xColumn == 1 && p.yColumn == 1 && p.m == p.n && p.n == p.k && p.xRow == p.k && p.yRow == p.n;
  using Function = void (*)(const PlanarProduct<T> &, int64_t, int64_t, int64_t);
  constexpr Function bySize[] = {squares<T, 2>,  squares<T, 3>,  squares<T, 4>,  squares<T, 5>,  squares<T, 6>,
                                 squares<T, 7>,  squares<T, 8>,  squares<T, 9>,  squares<T, 10>, squares<T, 11>,
                                 squares<T, 12>, squares<T, 13>, squares<T, 14>, squares<T, 15>, squares<T, 16>};
  if (dense && p.m >= 2 && p.m <= 16)
    return bySize[p.m - 2](p, count, xStep, yStep);
  bool fused = p.m * p.n * p.k > 64;
  for (int64_t i = 0; i < count; ++i)
    (fused ? one<T, true> : one<T, false>)(p, p.a + i * xStep, p.b + i * xStep, p.c + i * yStep, p.d + i * yStep,
                                           p.re + i * p.m * p.n, p.im + i * p.m * p.n);
}

/// Adds the products of rows [q, q + R) of c and d to the sums of row i, in order.
template <typename T, int64_t R>
void addRows(const PlanarProduct<T> &p, int64_t i, int64_t q, int64_t j0, int64_t width, T *__restrict ac,
             T *__restrict bd, T *__restrict ad, T *__restrict bc) {
  T x[R], y[R];
  const T *c[R], *d[R];
  for (int64_t r = 0; r < R; ++r) {
    x[r] = p.a[i * p.xRow + (q + r) * p.xColumn];
    y[r] = p.b[i * p.xRow + (q + r) * p.xColumn];
    c[r] = p.c + (q + r) * p.yRow + j0;
    d[r] = p.d + (q + r) * p.yRow + j0;
  }
  for (int64_t j = 0; j < width; ++j) {
    T sumAc = ac[j], sumBd = bd[j], sumAd = ad[j], sumBc = bc[j];
    for (int64_t r = 0; r < R; ++r) {
      sumAc = multiplyAdd<true>(x[r], c[r][j], sumAc);
      sumBd = multiplyAdd<true>(y[r], d[r][j], sumBd);
      sumAd = multiplyAdd<true>(x[r], d[r][j], sumAd);
      sumBc = multiplyAdd<true>(y[r], c[r][j], sumBc);
    }
    ac[j] = sumAc;
    bd[j] = sumBd;
    ad[j] = sumAd;
    bc[j] = sumBc;
  }
}

/// Columns in blocks that stay in the first cache; every element of c and d is read once.
template <typename T, int64_t rows, int64_t block, int64_t depth>
void rowsAtOnce(const PlanarProduct<T> &p, int64_t begin, int64_t end) {
  for (int64_t j0 = begin; j0 < end; j0 += block) {
    const int64_t width = least(block, end - j0);
    T ac[rows][block], bd[rows][block], ad[rows][block], bc[rows][block];
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < width; ++j)
        ac[i][j] = bd[i][j] = ad[i][j] = bc[i][j] = 0;
    int64_t q = 0;
    for (; q + depth <= p.k;
         q += depth) // several rows at a time, so that the sums are loaded and stored once for all of them
      for (int64_t i = 0; i < p.m; ++i)
        addRows<T, depth>(p, i, q, j0, width, ac[i], bd[i], ad[i], bc[i]);
    for (; q < p.k; ++q)
      for (int64_t i = 0; i < p.m; ++i)
        addRows<T, 1>(p, i, q, j0, width, ac[i], bd[i], ad[i], bc[i]);
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < width; ++j)
        combine(p, ac[i][j], bd[i][j], ad[i][j], bc[i][j], p.re[i * p.n + j0 + j], p.im[i * p.n + j0 + j]);
  }
}

template <typename T> void fewRows(const PlanarProduct<T> &p, int64_t begin, int64_t end) {
  (p.m == 1   ? rowsAtOnce<T, 1, 2048, 4>
   : p.m <= 4 ? rowsAtOnce<T, 4, 256, 4>
              : rowsAtOnce<T, 12, 128, 4>)(p, begin, end);
}

} // namespace

namespace TOY_ISA {
PlanarKernels<float> kernelsF32() { return {small<float>, fewRows<float>}; }
PlanarKernels<double> kernelsF64() { return {small<double>, fewRows<double>}; }
} // namespace TOY_ISA

} // namespace toy::rt
