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

template <typename R> void scale(R *values, int64_t n, R factor) {
  for (int64_t i = 0; i < n; ++i)
    values[i] *= factor;
}

template <typename R> constexpr FourierKernels<R> kernels{fold<R>, scale<R>};

template <typename E, int N> struct Block {
  using V = E __attribute__((ext_vector_type(N)));
  template <int... I> [[gnu::always_inline]] static V low(V a, V b, Indices<I...>) {
    return __builtin_shufflevector(a, b, (I / 2 + I % 2 * N)...);
  }
  template <int... I> [[gnu::always_inline]] static V high(V a, V b, Indices<I...>) {
    return __builtin_shufflevector(a, b, (N / 2 + I / 2 + I % 2 * N)...);
  }
  /// Each step moves the highest bit of an element's row to the lowest end of its place.
  template <int Step, int... I> [[gnu::always_inline]] static void turn(V (&row)[N], Indices<I...> half) {
    if constexpr (Step < N) {
      V next[N];
      ((next[2 * I] = low(row[I], row[I + N / 2], UpTo<N>()),
        next[2 * I + 1] = high(row[I], row[I + N / 2], UpTo<N>())),
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
  constexpr int side = sizeof(E) > 8 ? 4 : vectorBytes / sizeof(E) > 8 ? 8 : vectorBytes / sizeof(E);
  auto block = [=](int64_t i, int64_t j) {
    if constexpr (sizeof(E) <= 8)
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

struct Sixteen {
  uint64_t parts[2];
};

} // namespace

namespace TOY_ISA {
FourierKernels<float> fourierKernelsF32() { return kernels<float>; }
FourierKernels<double> fourierKernelsF64() { return kernels<double>; }
TransposeKernels transposeKernels() { return {transpose<uint32_t>, transpose<uint64_t>, transpose<Sixteen>}; }
} // namespace TOY_ISA

} // namespace toy::rt
