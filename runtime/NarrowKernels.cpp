// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products and sums are rounded each, without fused operations, and their order depends on sizes alone: the same bits
/// with every instruction set and any number of threads.
#include "runtime/NarrowKernels.h"
#include "runtime/LaneSums.h"

namespace toy::rt {
namespace {

constexpr int ahead = 2048; // bytes
/// Rows whose sums are in registers at once, and registers of sums.
constexpr int tall = registerBytes == 64 ? 4 : registerBytes == 32 ? 2 : 1, most = registerBytes == 64 ? 16 : 8;

/// Sums of at most `sumBlock` products of R rows by C vectors.
template <typename T, int R, int C>
void sumsOfBlock(const T *a, int64_t stride, const T *x, int64_t vectorStride, int64_t n, T (&out)[R][C]) {
  Vector<T> sums[R][C][registers<T>] = {};
  int64_t p = 0;
  for (; p + sumLanes <= n; p += sumLanes)
    for (int q = 0; q < registers<T>; ++q) {
      Vector<T> factors[C];
      for (int c = 0; c < C; ++c)
        factors[c] = load(x + c * vectorStride + p + q * lanes<T>);
      for (int r = 0; r < R; ++r) {
        const Vector<T> element = load(a + r * stride + p + q * lanes<T>);
        if (C > 1 || R == 1) // from memory; what several rows are is read ahead by the processor
          __builtin_prefetch(a + r * stride + p + q * lanes<T> + ahead / static_cast<int64_t>(sizeof(T)));
        for (int c = 0; c < C; ++c)
          sums[r][c][q] += element * factors[c];
      }
    }
  if (p < n) // zeros change no sum: lanes begin at +0 and are never -0
    for (int q = 0; q < registers<T>; ++q)
      for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c)
          sums[r][c][q] += loadSome(a + r * stride + p + q * lanes<T>, n - p - q * lanes<T>) *
                           loadSome(x + c * vectorStride + p + q * lanes<T>, n - p - q * lanes<T>);
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c)
      out[r][c] = halved<T>(sums[r][c]);
}

template <typename T> void put(const NarrowProduct<T> &x, int64_t i, int64_t j, T sum) {
  T &to = x.c[i * x.row + j * x.column];
  const T scaled = x.alpha == 1 ? sum : x.alpha * sum;
  to = x.beta == 0 ? scaled : scaled + x.beta * to;
}

template <typename T, int R, int C> void someRows(const NarrowProduct<T> &x, int64_t row, int64_t vector) {
  const T *a = x.a + row * x.stride, *b = x.vectors + vector * x.vectorStride + row * x.shift;
  T sums[R][C] = {}, block[R][C];
  for (int64_t p = 0; p < x.k; p += sumBlock) {
    sumsOfBlock<T, R, C>(a + p, x.stride, b + p, x.vectorStride, x.k - p < sumBlock ? x.k - p : sumBlock, block);
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < C; ++c)
        sums[r][c] = p == 0 ? block[r][c] : sums[r][c] + block[r][c];
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c)
      put(x, row + r, vector + c, sums[r][c]);
}
/// Rows of several blocks by one vector, block by block: its part stays in a cache for all of them.
template <typename T, int R> void longRows(const NarrowProduct<T> &x, int64_t begin, int64_t end) {
  constexpr int64_t together = 64;
  for (int64_t first = begin; first < end; first += together) {
    const int64_t rows = end - first < together ? end - first : together;
    T sums[together];
    for (int64_t p = 0; p < x.k; p += sumBlock) {
      const int64_t n = x.k - p < sumBlock ? x.k - p : sumBlock;
      auto add = [&]<int number>(int64_t row, Numbers<int, number>) {
        T block[number][1];
        sumsOfBlock<T, number, 1>(x.a + (first + row) * x.stride + p, x.stride, x.vectors + p, 0, n, block);
        for (int r = 0; r < number; ++r)
          sums[row + r] = p == 0 ? block[r][0] : sums[row + r] + block[r][0];
      };
      int64_t row = 0;
      for (; row + R <= rows; row += R)
        add(row, Numbers<int, R>());
      for (; row < rows; ++row)
        add(row, Numbers<int, 1>());
    }
    for (int64_t row = 0; row < rows; ++row)
      put(x, first + row, 0, sums[row]);
  }
}
template <typename T, int R, int C> void vectorsOfRows(const NarrowProduct<T> &x, int64_t row) {
  int64_t vector = 0;
  for (; vector + C <= x.count; vector += C)
    someRows<T, R, C>(x, row, vector);
  for (; C > 2 && vector + 2 <= x.count; vector += 2)
    someRows<T, R, 2>(x, row, vector);
  for (; vector < x.count; ++vector)
    someRows<T, R, 1>(x, row, vector);
}
template <typename T, int R, int C> void inSteps(const NarrowProduct<T> &x, int64_t &begin, int64_t end) {
  for (; begin + R <= end; begin += R)
    vectorsOfRows<T, R, C>(x, begin);
}
#ifdef __AVX512F__
/// Of all registers those that are there, in the order of `halved`: others are +0, which changes no sum.
template <typename T, int all, int used> Vector<T> sumOfRegisters(Vector<T> (&sums)[used]) {
  for (int half = all / 2; half > 0; half /= 2)
    for (int q = 0; q < half && q + half < used; ++q)
      sums[q] = sums[q] + sums[q + half];
  return sums[0];
}
/// The sums of as many rows as lanes, from the lanes of each. +0 is added to each sum in the end, and not to each lane
/// in the beginning: it makes +0 of -0.
template <typename T> void putSums(const NarrowProduct<T> &x, int64_t row, const Vector<T> (&lanesOfRows)[lanes<T>]) {
  const Vector<T> sums = sumsOf<T, 1>(lanesOfRows) + Vector<T>(T(0));
  if (x.row == 1 && x.alpha == 1 && x.beta == 0)
    __builtin_memcpy(x.c + row, &sums, sizeof sums);
  else
    for (int r = 0; r < lanes<T>; ++r)
      put(x, row + r, 0, sums[r]);
}
/// As many rows as lanes at once, of at most `used` registers: the same sums as those of rows one by one.
template <typename T, int used> void shortRows(const NarrowProduct<T> &x, int64_t &begin, int64_t end) {
  Vector<T> factors[used];
  for (int q = 0; q < used; ++q)
    factors[q] = loadSome(x.vectors + q * lanes<T>, x.k - q * lanes<T>);
  for (; begin + lanes<T> <= end; begin += lanes<T>) {
    Vector<T> sums[lanes<T>];
    for (int r = 0; r < lanes<T>; ++r) {
      const T *row = x.a + (begin + r) * x.stride;
      Vector<T> parts[used];
      for (int q = 0; q < used; ++q)
        parts[q] = loadSome(row + q * lanes<T>, x.k - q * lanes<T>) * factors[q];
      sums[r] = sumOfRegisters<T, registers<T>>(parts);
    }
    putSums(x, begin, sums);
  }
}
template <typename T, int used = 1> void shortRowsOf(const NarrowProduct<T> &x, int64_t &begin, int64_t end) {
  if (x.k <= used * lanes<T>)
    return shortRows<T, used>(x, begin, end);
  if constexpr (used < registers<T>)
    shortRowsOf<T, used + 1>(x, begin, end);
}
/// The lanes of R rows of one block, whose sums are the rows'.
template <typename T, int R> void lanesOfRows(const T *a, int64_t stride, const T *x, int64_t k, Vector<T> *out) {
  Vector<T> sums[R][registers<T>];
  auto add = [&](int64_t p, auto load, auto into) {
    for (int q = 0; q < registers<T>; ++q) {
      const Vector<T> factor = load(x + p + q * lanes<T>, k - p - q * lanes<T>);
      for (int r = 0; r < R; ++r)
        into(sums[r][q], load(a + r * stride + p + q * lanes<T>, k - p - q * lanes<T>) * factor);
    }
  };
  auto whole = [](const T *from, int64_t) { return toy::rt::load(from); };
  auto plus = [](Vector<T> &sum, Vector<T> product) { sum += product; };
  add(0, whole, [](Vector<T> &sum, Vector<T> product) { sum = product; });
  int64_t p = sumLanes;
  for (; p + sumLanes <= k; p += sumLanes)
    add(p, whole, plus);
  if (p < k) // products of zeros: the sign of zeros does not count here
    add(p, loadSome<T>, plus);
  for (int r = 0; r < R; ++r)
    out[r] = sumOfRegisters<T, registers<T>>(sums[r]);
}
/// As many rows as lanes at once, of a block or less.
template <typename T> void rowsOfBlock(const NarrowProduct<T> &x, int64_t &begin, int64_t end) {
  constexpr int together = 4;
  for (; begin + lanes<T> <= end; begin += lanes<T>) {
    Vector<T> sums[lanes<T>];
    for (int r = 0; r < lanes<T>; r += together)
      lanesOfRows<T, together>(x.a + (begin + r) * x.stride, x.stride, x.vectors, x.k, sums + r);
    putSums(x, begin, sums);
  }
}
#endif

template <typename T> void rows(const NarrowProduct<T> &x, int64_t begin, int64_t end) {
#ifdef __AVX512F__
  constexpr int64_t nearest = 4096; // elements in the first cache; f64 from further away come later so
  if (x.count == 1 && x.shift == 0) {
    if (x.k <= sumLanes)
      shortRowsOf<T>(x, begin, end);
    else if (x.k <= sumBlock && (sizeof(T) == 4 || (end - begin) * x.k <= nearest))
      rowsOfBlock<T>(x, begin, end);
  }
#endif
  if (x.count == 1 && x.k > sumBlock && x.shift == 0 && end - begin > 1)
    return longRows<T, tall>(x, begin, end);
  constexpr int fitting = most / registers<T>,
                wide = fitting > 4   ? 4
                       : fitting > 0 ? fitting
                                     : 1,
                both = fitting > 4 ? fitting / 4 : 1;
  if (x.count >= wide && wide > 1)
    inSteps<T, both, wide>(x, begin, end);
  else if (x.count == 1 && x.shift == 0)
    inSteps<T, tall, 1>(x, begin, end);
  inSteps<T, 1, wide>(x, begin, end);
}

template <typename T> constexpr NarrowKernels<T> kernels{rows<T>};

// ---- complex numbers

/// As `halved` of numbers, of pairs.
template <typename T, typename V> void halvedPairs(V sum, T *to) {
  if constexpr (sizeof(V) == 2 * sizeof(T)) {
    to[0] = sum[0];
    to[1] = sum[1];
  } else
    halvedPairs(sum.lo + sum.hi, to);
}
template <typename T, int n> void halvedPairs(const Vector<T> (&sums)[n], T *to) {
  if constexpr (n == 1)
    halvedPairs(sums[0], to);
  else {
    Vector<T> half[n / 2];
    for (int q = 0; q < n / 2; ++q)
      half[q] = sums[q] + sums[q + n / 2];
    halvedPairs<T>(half, to);
  }
}

/// Sums of at most `sumBlock` products of R rows by the vector: (a + bi)(c + di) = (ac - bd) + (ad + bc)i.
template <typename T, int R>
void complexBlock(const ComplexRows<T> &x, const T *a, const T *vector, int64_t n, T (&out)[R][2]) {
  constexpr int count = 2 * sumLanes / lanes<T>;
  const Vector<T> alternate = alternating<T>(Lanes<T>());
  const Vector<T> ofRows = x.conjugateA ? -alternate : Vector<T>(T(1));
  const Vector<T> ofVector = x.conjugateVector ? -alternate : alternate;
  Vector<T> sums[R][count] = {};
  auto add = [&](int64_t p, auto load) {
    for (int q = 0; q < count; ++q) {
      if (p + q * lanes<T> >= 2 * n)
        return;
      const Vector<T> factor = load(vector, p + q * lanes<T>), re = evenTwice(factor, Lanes<T>()),
                      im = oddTwice(factor, Lanes<T>()) * ofVector;
      for (int r = 0; r < R; ++r) {
        const Vector<T> element = load(a + r * x.stride * 2, p + q * lanes<T>) * ofRows;
        sums[r][q] += element * re + exchanged(element, Lanes<T>()) * im;
      }
    }
  };
  int64_t p = 0;
  for (; p + 2 * sumLanes <= 2 * n; p += 2 * sumLanes)
    add(p, [](const T *from, int64_t at) { return toy::rt::load(from + at); });
  if (p < 2 * n) // zeros change no sum, as above
    add(p, [n](const T *from, int64_t at) { return loadSome(from + at, 2 * n - at); });
  for (int r = 0; r < R; ++r)
    halvedPairs<T>(sums[r], out[r]);
}
template <typename T, int R> void complexRowsTogether(const ComplexRows<T> &x, int64_t row) {
  T sums[R][2] = {}, block[R][2];
  const T *a = x.a + row * x.stride * 2, *vector = x.vectors + row * x.shift * 2;
  for (int64_t p = 0; p < x.k; p += sumBlock) {
    complexBlock<T, R>(x, a + 2 * p, vector + 2 * p, x.k - p < sumBlock ? x.k - p : sumBlock, block);
    for (int r = 0; r < R; ++r)
      for (int part = 0; part < 2; ++part)
        sums[r][part] = p == 0 ? block[r][part] : sums[r][part] + block[r][part];
  }
  for (int r = 0; r < R; ++r)
    __builtin_memcpy(x.c + (row + r) * x.step * 2, sums[r], sizeof sums[r]);
}
#ifdef __AVX512F__
/// As `shortRows`, of up to 64 complex numbers: each lane has at most two.
template <typename T, int used> void shortComplexRows(const ComplexRows<T> &x, int64_t &begin, int64_t end) {
  constexpr int together = lanes<T> / 2, ofLanes = 2 * registers<T>, summed = used < ofLanes ? used : ofLanes;
  const Vector<T> alternate = alternating<T>(Lanes<T>());
  const Vector<T> ofRows = x.conjugateA ? -alternate : Vector<T>(T(1));
  const Vector<T> ofVector = x.conjugateVector ? -alternate : alternate;
  Vector<T> re[used], im[used];
  for (int q = 0; q < used; ++q) {
    const Vector<T> factor = loadSome(x.vectors + q * lanes<T>, 2 * x.k - q * lanes<T>);
    re[q] = evenTwice(factor, Lanes<T>());
    im[q] = oddTwice(factor, Lanes<T>()) * ofVector;
  }
  for (; begin + together <= end; begin += together) {
    Vector<T> sums[together];
    for (int r = 0; r < together; ++r) {
      const T *row = x.a + (begin + r) * x.stride * 2;
      Vector<T> parts[summed];
      for (int q = 0; q < used; ++q) {
        const Vector<T> element =
            (q < used - 1 ? load(row + q * lanes<T>) : loadSome(row + q * lanes<T>, 2 * x.k - q * lanes<T>)) * ofRows;
        const Vector<T> before = q < ofLanes ? Vector<T>(T(0)) : parts[q % ofLanes];
        parts[q % ofLanes] = before + (element * re[q] + exchanged(element, Lanes<T>()) * im[q]);
      }
      sums[r] = sumOfRegisters<T, ofLanes>(parts);
    }
    const Vector<T> all = sumsOf<T, 2>(sums);
    if (x.step == 1)
      __builtin_memcpy(x.c + 2 * begin, &all, sizeof all);
    else
      for (int r = 0; r < together; ++r)
        for (int part = 0; part < 2; ++part)
          x.c[2 * (begin + r) * x.step + part] = all[2 * r + part];
  }
}
template <typename T, int used = 1> void shortComplexRowsOf(const ComplexRows<T> &x, int64_t &begin, int64_t end) {
  if (2 * x.k <= used * lanes<T>)
    return shortComplexRows<T, used>(x, begin, end);
  if constexpr (used < 4 * registers<T>)
    shortComplexRowsOf<T, used + 1>(x, begin, end);
}
#endif

template <typename T> void complexRows(const ComplexRows<T> &x, int64_t begin, int64_t end) {
#ifdef __AVX512F__
  if (x.k <= 2 * sumLanes && x.shift == 0)
    shortComplexRowsOf<T>(x, begin, end);
#endif
  constexpr int count = 2 * sumLanes / lanes<T>, together = most >= 2 * count ? 2 : 1;
  if (x.shift == 0)
    for (; begin + together <= end; begin += together)
      complexRowsTogether<T, together>(x, begin);
  for (; begin < end; ++begin)
    complexRowsTogether<T, 1>(x, begin);
}
template <typename T> constexpr ComplexRowKernels<T> complexKernels{complexRows<T>};

} // namespace

namespace TOY_ISA {
NarrowKernels<float> narrowKernelsF32() { return kernels<float>; }
NarrowKernels<double> narrowKernelsF64() { return kernels<double>; }
ComplexRowKernels<float> complexRowKernelsC64() { return complexKernels<float>; }
ComplexRowKernels<double> complexRowKernelsC128() { return complexKernels<double>; }
} // namespace TOY_ISA

} // namespace toy::rt
