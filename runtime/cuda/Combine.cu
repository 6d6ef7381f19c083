// SPDX-License-Identifier: Apache-2.0
/// \file
/// What ranks have sent, combined over the balanced tree of rank numbers (rule 51): as runtime/ranks/Schedules.cpp does
/// on the host, and with its bits. For elements of type COMBINE_ELEMENT, which are summed as COMBINE_SUM.
#include "KernelSource.h"

// As rt::ranks::Reduction numbers them.
enum Reduction : Word { Sum, Prod, Min, Max, Mean, Any, All };

struct BFloat16 {
  unsigned short bits;
};
struct Float16 {
  unsigned short bits;
};
template <typename T> struct Complex {
  T re, im;
};

// What is read and written, and what is computed with: halves in f32.
template <typename To, typename From> __device__ inline To converted(From x) { return x; }
template <> __device__ inline float converted(BFloat16 x) { return floatOf(static_cast<unsigned>(x.bits) << 16); }
template <> __device__ inline float converted(Float16 x) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
  return wide;
}
template <> __device__ inline BFloat16 converted(float x) {
  unsigned bits = bitsOf(x);
  return {static_cast<unsigned short>(x != x ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}
template <> __device__ inline Float16 converted(float x) {
  Float16 half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(x));
  return half;
}

// The sums of integers wrap, products of complex numbers are the four-product form.
template <typename T> __device__ inline T sum(T a, T b) { return a + b; }
template <> __device__ inline int sum(int a, int b) { return static_cast<int>(unsigned(a) + unsigned(b)); }
template <> __device__ inline Word sum(Word a, Word b) {
  return static_cast<Word>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
}
template <typename T> __device__ inline Complex<T> sum(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <typename T> __device__ inline T product(T a, T b) { return a * b; }
template <> __device__ inline int product(int a, int b) { return static_cast<int>(unsigned(a) * unsigned(b)); }
template <> __device__ inline Word product(Word a, Word b) {
  return static_cast<Word>(static_cast<unsigned long long>(a) * static_cast<unsigned long long>(b));
}
template <typename T> __device__ inline Complex<T> product(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

__device__ inline bool isNegative(float x) { return bitsOf(x) >> 31 != 0; }
__device__ inline bool isNegative(double x) { return __builtin_bit_cast(Word, x) < 0; }
template <typename T> __device__ inline bool isNegative(T) { return true; } // of equal integers either one
/// nan if one is; -0 is less than 0.
template <typename T> __device__ inline T extreme(T a, T b, bool isLeast) {
  if (a != a || b != b)
    return static_cast<T>(__builtin_nanf(""));
  return a == b ? (isNegative(a) == isLeast ? a : b) : (a < b) == isLeast ? a : b;
}
template <typename T> __device__ inline Complex<T> extreme(Complex<T> a, Complex<T>, bool) { return a; }

template <typename T> __device__ inline T combined(T a, T b, Word reduction) {
  return reduction == Prod                      ? product(a, b)
         : reduction == Min || reduction == All ? extreme(a, b, true) // of bool, which are 0 and 1
         : reduction == Max || reduction == Any ? extreme(a, b, false)
                                                : sum(a, b);
}

template <typename T> __device__ inline T divided(T x, Word by) { return x / static_cast<T>(by); }
template <typename T> __device__ inline Complex<T> divided(Complex<T> x, Word by) {
  return {x.re / static_cast<T>(by), x.im / static_cast<T>(by)};
}

/// `parts` parts of `count` elements each, which lie behind each other. A thread combines up to eight parts of one
/// element, from a multiple of 8 on, which is a subtree; of more parts the results are parts of the next launch. Those
/// go to `base` on. The last launch divides, where `by` is not 0.
template <typename In, typename Sum, typename Out>
__device__ inline void combine(Out *out, const In *in, Word count, Word parts, Word base, Word reduction, Word by) {
  constexpr int most = 8;
  Word thread = Word(BLOCK) * 256 + THREAD;
  if (thread >= (parts + most - 1) / most * count)
    return;
  Word group = parts <= most ? 0 : thread / count, at = thread - group * count, left = parts - group * most;
  Sum x[most];
  UNROLL for (int i = 0; i < most; ++i) if (i < left) x[i] = converted<Sum>(in[(group * most + i) * count + at]);
  UNROLL for (int distance = 1; distance < most; distance *= 2) {
    UNROLL for (int i = 0; i + distance < most; i += 2 * distance) if (i + distance < left) x[i] =
        combined(x[i], x[i + distance], reduction);
  }
  out[base + thread] = converted<Out>(by != 0 ? divided(x[0], by) : x[0]);
}

#define COMBINE(NAME, IN, OUT)                                                                                         \
  KERNEL(NAME)(OUT * out, const IN *in, Word count, Word parts, Word base, Word reduction, Word by) {                  \
    combine<IN, COMBINE_SUM, OUT>(out, in, count, parts, base, reduction, by);                                         \
  }
COMBINE(combine, COMBINE_ELEMENT, COMBINE_ELEMENT)
#ifdef COMBINE_WIDENS // the first of several launches, those in between, the last one
COMBINE(combine_first, COMBINE_ELEMENT, COMBINE_SUM)
COMBINE(combine_next, COMBINE_SUM, COMBINE_SUM)
COMBINE(combine_last, COMBINE_SUM, COMBINE_ELEMENT)
#endif
