// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built once for each instruction set with TOY_ISA naming it. Nothing of the standard library is used: its inline
/// functions would be shared with code for lesser machines.
#include "runtime/FourierKernels.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace toy::rt {
namespace {

#if defined(__AVX512F__)
constexpr int vectorBytes = 64;
#elif defined(__AVX2__)
constexpr int vectorBytes = 32;
#else
constexpr int vectorBytes = 16;
#endif

template <int... I> struct Indices {};
template <int N, int... I> struct Count : Count<N - 1, N - 1, I...> {};
template <int... I> struct Count<0, I...> {
  using Type = Indices<I...>;
};
template <int N> using UpTo = typename Count<N>::Type;

/// Interleaved complex numbers, and how their parts are moved.
template <typename R, int L> struct Parts {
  using V = R __attribute__((ext_vector_type(L)));
  static V load(const R *from) {
    V v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
  }
  static void store(R *to, V v) { __builtin_memcpy(to, &v, sizeof v); }
  template <int... I> static V swapped(V v, Indices<I...>) { return __builtin_shufflevector(v, v, (I ^ 1)...); }
  template <int... I> static V reals(V v, Indices<I...>) { return __builtin_shufflevector(v, v, (I & ~1)...); }
  template <int... I> static V imaginaries(V v, Indices<I...>) { return __builtin_shufflevector(v, v, (I | 1)...); }
  template <int... I> static V backwards(V v, Indices<I...>) { return __builtin_shufflevector(v, v, ((L - 2) ^ I)...); }
  template <int... I> static V signs(Indices<I...>) { return V{(I % 2 ? R(-1) : R(1))...}; }
  static V conj(V v) { return v * signs(UpTo<L>()); }
  /// Without fused multiply-add, as one element by itself.
  static V product(V x, V y) {
    return x * reals(y, UpTo<L>()) - swapped(x, UpTo<L>()) * conj(imaginaries(y, UpTo<L>()));
  }
  static V reversed(V v) { return backwards(v, UpTo<L>()); }
};

/// L/2 values of k at once.
template <typename R, int L>
[[gnu::always_inline]] inline void foldSome(const R *in, const R *factors, R *out, int64_t k, int64_t h, R a, R scale) {
  using P = Parts<R, L>;
  int64_t other = h - k - (L / 2 - 1);
  auto z = P::load(in + 2 * k), w = P::conj(P::reversed(P::load(in + 2 * other)));
  auto s = a * (z + w), d = P::product(z - w, P::load(factors + 2 * k));
  P::store(out + 2 * k, scale * (s + d));
  P::store(out + 2 * other, P::reversed(P::conj(scale * (s - d))));
}

template <typename R> void fold(const R *in, const R *factors, R *out, int64_t h, R a, R scale) {
  constexpr int laneCount = vectorBytes / sizeof(R);
  int64_t k = 1, end = (h + 1) / 2;
  for (; k + laneCount / 2 <= end; k += laneCount / 2)
    foldSome<R, laneCount>(in, factors, out, k, h, a, scale);
  for (; k < end; ++k)
    foldSome<R, 2>(in, factors, out, k, h, a, scale);
}

/// S rows of n points by decimation in time, an element of all of them in a register.
template <typename R, int n, int S> struct RowsInLanes {
  using P = Parts<R, 2 * S>;
  using V = typename P::V;
  static constexpr R cosines[] = {1, R(0.92387953251128675613), R(0.70710678118654752440), R(0.38268343236508977173)};

  template <int... I> static V pair(R re, R im, Indices<I...>) { return V{(I % 2 ? im : re)...}; }
  /// v exp(-2 pi i k/m), k < m/2.
  template <int m, int k> [[gnu::always_inline]] static V turned(V v) {
    constexpr int sixteenths = 16 / m * k;
    if constexpr (k == 0)
      return v;
    else if constexpr (sixteenths >= 4)
      return turned<16, sixteenths - 4>(P::conj(P::swapped(v, UpTo<2 * S>())));
    else if constexpr (sixteenths == 2)
      return cosines[2] * (v + P::conj(P::swapped(v, UpTo<2 * S>())));
    else
      return P::product(v, pair(cosines[sixteenths], -cosines[4 - sixteenths], UpTo<2 * S>()));
  }
  template <int m, int... k> [[gnu::always_inline]] static void join(V *x, const V *even, V *odd, Indices<k...>) {
    ((odd[k] = turned<m, k>(odd[k]), x[k] = even[k] + odd[k], x[k + m / 2] = even[k] - odd[k]), ...);
  }
  template <int m> [[gnu::always_inline]] static void transform(V *x) {
    if constexpr (m > 1) {
      V even[m / 2], odd[m / 2];
      for (int k = 0; k < m / 2; ++k) {
        even[k] = x[2 * k];
        odd[k] = x[2 * k + 1];
      }
      transform<m / 2>(even);
      transform<m / 2>(odd);
      join<m>(x, even, odd, UpTo<m / 2>());
    }
  }

  /// Two registers' elements, one from each in turn, of their first or second half.
  template <int first, int... I> static V mixed(V a, V b, Indices<I...>) {
    return __builtin_shufflevector(a, b, (2 * (first + I / 4) + I % 2 + I / 2 % 2 * 2 * S)...);
  }
  /// S registers of S elements change rows and columns; each step moves one bit of their numbers.
  [[gnu::always_inline]] static void transpose(V *x) {
    for (int step = 1; step < S; step *= 2) {
      V next[S];
      for (int i = 0; i < S / 2; ++i) {
        next[2 * i] = mixed<0>(x[i], x[i + S / 2], UpTo<2 * S>());
        next[2 * i + 1] = mixed<S / 2>(x[i], x[i + S / 2], UpTo<2 * S>());
      }
      for (int i = 0; i < S; ++i)
        x[i] = next[i];
    }
  }

  [[gnu::always_inline]] static void exchangeParts(V (&x)[n]) {
    for (V &v : x)
      v = P::swapped(v, UpTo<2 * S>());
  }
  [[gnu::always_inline]] static void run(const R *in, R *out, const ShortRows &rows, R scale) {
    V x[n];
    const bool areBeside = rows.rowFrom == 1 && rows.rowTo == 1;
    if (S == 1 || areBeside)
      for (int k = 0; k < n; ++k)
        x[k] = k < rows.own ? P::load(in + 2 * k * rows.elementFrom) : V(0);
    else
      for (int first = 0; first < n; first += S) {
        for (int i = 0; i < S; ++i)
          x[first + i] = P::load(in + 2 * (i * rows.rowFrom + first));
        transpose(x + first);
      }
    if (rows.isBackward) // with the parts exchanged before and after
      exchangeParts(x);
    transform<n>(x);
    if (rows.isBackward)
      exchangeParts(x);
    if (scale != 1)
      for (V &v : x)
        v *= scale;
    if (S == 1 || areBeside)
      for (int k = 0; k < n; ++k)
        P::store(out + 2 * k * rows.elementTo, x[k]);
    else
      for (int first = 0; first < n; first += S) {
        transpose(x + first);
        for (int i = 0; i < S; ++i)
          P::store(out + 2 * (i * rows.rowTo + first), x[first + i]);
      }
  }
};

/// S real rows of 2n points as complex ones of n points, their elements by pairs, with what `fold` does in registers.
template <typename R, int n, int S> struct RealRowsInLanes {
  using Complex = RowsInLanes<R, n, S>;
  using P = Parts<R, 2 * S>;
  using V = typename P::V;
  using Half = R __attribute__((ext_vector_type(S)));
  V x[n], last; ///< the half of the transform, and its last element

  template <int... I> static V interleaved(Half a, Half b, Indices<I...>) {
    if constexpr (S == 1)
      return V{a[0], b[0]};
    else
      return __builtin_shufflevector(a, b, (I / 2 + I % 2 * S)...);
  }
  template <int first, int... I> static Half everySecond(V v, Indices<I...>) {
    if constexpr (S == 1)
      return v[first];
    else
      return __builtin_shufflevector(v, v, (2 * I + first)...);
  }
  template <int... I> static V real(V v, Indices<I...>) {
    return __builtin_shufflevector(v, V(0), (I % 2 ? I + 2 * S : I)...);
  }
  static bool areBeside(const ShortRows &rows) { return rows.rowFrom == 1 && rows.rowTo == 1; }
  static Half load(const R *from) {
    Half v;
    __builtin_memcpy(&v, from, S * sizeof(R));
    return v;
  }
  static void store(R *to, Half v) { __builtin_memcpy(to, &v, S * sizeof(R)); }

  /// Dense rows, from `first` on.
  [[gnu::always_inline]] void loadSquares(const R *in, int64_t rowParts) {
    for (int first = 0; first < n; first += S) {
      for (int i = 0; i < S; ++i)
        x[first + i] = P::load(in + i * rowParts + 2 * first);
      Complex::transpose(x + first);
    }
  }
  [[gnu::always_inline]] void storeSquares(R *out, int64_t rowParts) {
    for (int first = 0; first < n; first += S) {
      Complex::transpose(x + first);
      for (int i = 0; i < S; ++i)
        P::store(out + i * rowParts + 2 * first, x[first + i]);
    }
  }
  [[gnu::always_inline]] void loadReals(const R *in, const ShortRows &rows) {
    if (S > 1 && !areBeside(rows))
      return loadSquares(in, rows.rowFrom);
    auto element = [&](int64_t k) { return k < rows.own ? load(in + k * rows.elementFrom) : Half(0); };
    for (int k = 0; k < n; ++k)
      x[k] = interleaved(element(2 * k), element(2 * k + 1), UpTo<2 * S>());
  }
  [[gnu::always_inline]] void storeReals(R *out, const ShortRows &rows) {
    if (S > 1 && !areBeside(rows))
      return storeSquares(out, rows.rowTo);
    for (int k = 0; k < n; ++k) {
      store(out + 2 * k * rows.elementTo, everySecond<0>(x[k], UpTo<S>()));
      store(out + (2 * k + 1) * rows.elementTo, everySecond<1>(x[k], UpTo<S>()));
    }
  }
  [[gnu::always_inline]] void loadHalf(const R *in, const ShortRows &rows) {
    if (S > 1 && !areBeside(rows)) {
      loadSquares(in, 2 * rows.rowFrom);
      for (int i = 0; i < S; ++i)
        __builtin_memcpy(reinterpret_cast<R *>(&last) + 2 * i, in + 2 * (i * rows.rowFrom + n), 2 * sizeof(R));
      return;
    }
    auto element = [&](int64_t k) { return k < rows.own ? P::load(in + 2 * k * rows.elementFrom) : V(0); };
    for (int k = 0; k < n; ++k)
      x[k] = element(k);
    last = element(n);
  }
  [[gnu::always_inline]] void storeHalf(R *out, const ShortRows &rows) {
    if (S > 1 && !areBeside(rows)) {
      for (int i = 0; i < S; ++i)
        __builtin_memcpy(out + 2 * (i * rows.rowTo + n), reinterpret_cast<R *>(&last) + 2 * i, 2 * sizeof(R));
      return storeSquares(out, 2 * rows.rowTo);
    }
    for (int k = 0; k < n; ++k)
      P::store(out + 2 * k * rows.elementTo, x[k]);
    P::store(out + 2 * n * rows.elementTo, last);
  }
  [[gnu::always_inline]] void fold(const R *factors, R a, R scale) {
    for (int k = 1; 2 * k < n; ++k) {
      V w = P::conj(x[n - k]), f = Complex::pair(factors[2 * k], factors[2 * k + 1], UpTo<2 * S>()), s = a * (x[k] + w),
        d = P::product(x[k] - w, f);
      x[k] = scale * (s + d);
      x[n - k] = P::conj(scale * (s - d));
    }
  }
  [[gnu::always_inline]] void run(const R *in, R *out, const ShortRows &rows, const R *factors, R scale) {
    if (!rows.isBackward) {
      loadReals(in, rows);
      Complex::template transform<n>(x);
      fold(factors, R(0.5), scale);
      V re = P::reals(x[0], UpTo<2 * S>()), im = P::imaginaries(x[0], UpTo<2 * S>());
      x[0] = real(scale * (re + im), UpTo<2 * S>());
      last = real(scale * (re - im), UpTo<2 * S>());
      x[n / 2] = scale * P::conj(x[n / 2]);
      return storeHalf(out, rows);
    }
    loadHalf(in, rows);
    fold(factors, R(1), scale);
    x[0] = scale * (P::reals(x[0], UpTo<2 * S>()) + P::conj(P::reals(last, UpTo<2 * S>())));
    x[n / 2] = R(2) * scale * P::conj(x[n / 2]);
    Complex::exchangeParts(x);
    Complex::template transform<n>(x);
    Complex::exchangeParts(x);
    storeReals(out, rows);
  }
};

template <typename R, int n> void realRowsOf(const R *in, R *out, const ShortRows &rows, const R *factors, R scale) {
  constexpr int native = vectorBytes / (2 * sizeof(R)), square = native < n ? native : n;
  const int64_t fromParts = rows.rowFrom * (rows.isBackward ? 2 : 1), toParts = rows.rowTo * (rows.isBackward ? 1 : 2);
  int64_t row = 0;
  auto all = [&](auto lanes, int some) {
    for (; row + some <= rows.count; row += some)
      lanes.run(in + row * fromParts, out + row * toParts, rows, factors, scale);
  };
  if (rows.rowFrom == 1 && rows.rowTo == 1)
    all(RealRowsInLanes<R, n, native>(), native);
  else if (rows.own >= (rows.isBackward ? n + 1 : 2 * n))
    all(RealRowsInLanes<R, n, square>(), square);
  all(RealRowsInLanes<R, n, 1>(), 1);
}
template <typename R> void shortRealRows(const R *in, R *out, const ShortRows &rows, const R *factors, R scale) {
  switch (rows.points) {
  case 4:
    return realRowsOf<R, 2>(in, out, rows, factors, scale);
  case 8:
    return realRowsOf<R, 4>(in, out, rows, factors, scale);
  case 16:
    return realRowsOf<R, 8>(in, out, rows, factors, scale);
  default:
    return realRowsOf<R, 16>(in, out, rows, factors, scale);
  }
}

template <typename R, int n> void rowsOf(const R *in, R *out, const ShortRows &rows, R scale) {
  constexpr int native = vectorBytes / (2 * sizeof(R)), square = native < n ? native : n;
  int64_t row = 0;
  auto all = [&](auto lanes, int some) {
    for (; row + some <= rows.count; row += some)
      lanes.run(in + 2 * row * rows.rowFrom, out + 2 * row * rows.rowTo, rows, scale);
  };
  if (rows.rowFrom == 1 && rows.rowTo == 1)
    all(RowsInLanes<R, n, native>(), native);
  else if (rows.own >= n)
    all(RowsInLanes<R, n, square>(), square);
  all(RowsInLanes<R, n, 1>(), 1);
}
template <typename R> void shortRows(const R *in, R *out, const ShortRows &rows, R scale) {
  switch (rows.points) {
  case 2:
    return rowsOf<R, 2>(in, out, rows, scale);
  case 4:
    return rowsOf<R, 4>(in, out, rows, scale);
  case 8:
    return rowsOf<R, 8>(in, out, rows, scale);
  default:
    return rowsOf<R, 16>(in, out, rows, scale);
  }
}

template <typename R> void scale(R *values, int64_t n, R factor) {
  for (int64_t i = 0; i < n; ++i)
    values[i] *= factor;
}

template <typename R> constexpr FourierKernels<R> kernels{shortRows<R>, shortRealRows<R>, fold<R>, scale<R>};

struct Sixteen {
  uint64_t parts[2];
};
template <typename E> struct WordOf {
  using Type = E;
};
template <> struct WordOf<Sixteen> {
  using Type = uint64_t;
};

/// N rows of N elements, each of some words, change rows and columns.
template <typename E, int N> struct Block {
  static constexpr int words = sizeof(E) > 8 ? 2 : 1;
  using Word = typename WordOf<E>::Type;
  using V = Word __attribute__((ext_vector_type(N * words)));
  using All = UpTo<N * words>;
  /// Of two rows, an element from each in turn, from some element on.
  template <int first, int... I> [[gnu::always_inline]] static V mixed(V a, V b, Indices<I...>) {
    return __builtin_shufflevector(a, b, ((first + I / words / 2 + I / words % 2 * N) * words + I % words)...);
  }
  /// Each step moves the highest bit of an element's row to the lowest end of its place.
  template <int Step, int... I> [[gnu::always_inline]] static void turn(V (&row)[N], Indices<I...> half) {
    if constexpr (Step < N) {
      V next[N];
      ((next[2 * I] = mixed<0>(row[I], row[I + N / 2], All()),
        next[2 * I + 1] = mixed<N / 2>(row[I], row[I + N / 2], All())),
       ...);
      ((row[2 * I] = next[2 * I], row[2 * I + 1] = next[2 * I + 1]), ...);
      turn<2 * Step>(row, half);
    }
  }
  template <bool past, int... I>
  [[gnu::always_inline]] static void run(const E *from, int64_t fromStride, E *to, int64_t toStride, Indices<I...>) {
    V row[N];
    // Rows lie too far apart for the machine to see what comes next.
    (__builtin_memcpy(&row[I], from + I * fromStride, sizeof(V)), ...);
    turn<1>(row, UpTo<N / 2>());
    if constexpr (past)
      (__builtin_nontemporal_store(row[I], reinterpret_cast<V *>(to + I * toStride)), ...);
    else
      (__builtin_memcpy(to + I * toStride, &row[I], sizeof(V)), ...);
  }
};

/// Where the rows written lie a multiple of 4 KB apart, their lines have few places in the caches and push one another
/// out: whole lines are written past the caches.
template <bool past, typename E>
void transposeBlocks(const E *from, int64_t fromStride, E *to, int64_t toStride, int64_t rows, int64_t columns) {
  constexpr int side = vectorBytes / sizeof(E) > 8 ? 8 : vectorBytes / sizeof(E);
  auto block = [=](int64_t i, int64_t j) {
    if constexpr (side > 1)
      if (i + side <= rows && j + side <= columns)
        return Block<E, side>::template run<past>(from + i * fromStride + j, fromStride, to + j * toStride + i,
                                                  toStride, UpTo<side>());
    for (int64_t k = j; k < j + side && k < columns; ++k)
      for (int64_t l = i; l < i + side && l < rows; ++l)
        to[k * toStride + l] = from[l * fromStride + k];
  };
  if (fromStride > toStride) { // the side whose rows lie farther apart goes from row to row
    for (int64_t i = 0; i < rows; i += side)
      for (int64_t j = 0; j < columns; j += side)
        block(i, j);
  } else
    for (int64_t j = 0; j < columns; j += side)
      for (int64_t i = 0; i < rows; i += side)
        block(i, j);
}

template <typename E>
void transpose(const void *source, int64_t fromStride, void *target, int64_t toStride, int64_t rows, int64_t columns) {
  auto *from = static_cast<const E *>(source);
  auto *to = static_cast<E *>(target);
#ifdef __AVX512F__
  constexpr int64_t page = 4096, manyRows = 256;
  if constexpr (sizeof(E) == 8)
    if (toStride * static_cast<int64_t>(sizeof(E)) % page == 0 && reinterpret_cast<uintptr_t>(to) % 64 == 0 &&
        columns >= manyRows) {
      transposeBlocks<true>(from, fromStride, to, toStride, rows, columns);
      _mm_sfence();
      return;
    }
#endif
  transposeBlocks<false>(from, fromStride, to, toStride, rows, columns);
}

} // namespace

namespace TOY_ISA {
FourierKernels<float> fourierKernelsF32() { return kernels<float>; }
FourierKernels<double> fourierKernelsF64() { return kernels<double>; }
TransposeKernels transposeKernels() { return {transpose<uint32_t>, transpose<uint64_t>, transpose<Sixteen>}; }
} // namespace TOY_ISA

} // namespace toy::rt
