// SPDX-License-Identifier: Apache-2.0
/// \file
/// Kernels around calls of libraries.
#include "KernelSource.h"

__device__ inline Word threadNumber() { return Word(BLOCK) * 256 + THREAD; }

/// x * factor, whose bits are the word; factor 1 copies.
KERNEL(scale_f32)(float *out, const float *in, Word count, Word factor) {
  if (Word i = threadNumber(); i < count)
    out[i] = in[i] * floatOf(static_cast<unsigned>(factor));
}

KERNEL(scale_f64)(double *out, const double *in, Word count, Word factor) {
  if (Word i = threadNumber(); i < count)
    out[i] = in[i] * __builtin_bit_cast(double, factor);
}

/// x + factor * y.
KERNEL(sum_f32)(float *out, const float *x, const float *y, Word count, Word factor) {
  if (Word i = threadNumber(); i < count)
    out[i] = x[i] + y[i] * floatOf(static_cast<unsigned>(factor));
}

KERNEL(sum_f64)(double *out, const double *x, const double *y, Word count, Word factor) {
  if (Word i = threadNumber(); i < count)
    out[i] = x[i] + y[i] * __builtin_bit_cast(double, factor);
}

/// The upper 11 digits of x (to nearest), or x without them when `rest` is 1. Values whose upper part overflows keep
/// everything above.
KERNEL(split)(float *out, const float *in, Word count, Word rest) {
  Word i = threadNumber();
  if (i >= count)
    return;
  float x = in[i];
  unsigned upper = (bitsOf(x) + 0x1000) & 0xffffe000;
  bool overflows = (upper & 0x7f800000) == 0x7f800000;
  float high = overflows ? x : floatOf(upper);
  out[i] = rest == 1 ? (overflows ? 0 : x - high) : rest == 2 && (bitsOf(x) & 0x7f800000) == 0x7f800000 ? 0 : high;
}

/// Complex k x n as the real 2k x 2n matrix of [[re, im], [-im, re]]; one complex element a thread.
KERNEL(expand)(float *out, const float *in, Word count, Word columns) {
  Word i = threadNumber();
  if (i >= count)
    return;
  float re = in[2 * i], im = in[2 * i + 1];
  float *upper = out + i / columns * columns * 4 + i % columns * 2, *lower = upper + columns * 2;
  upper[0] = re;
  upper[1] = im;
  lower[0] = -im;
  lower[1] = re;
}

/// The size of an axis, and what is multiplied with instead of dividing by it (rt::Divisor).
struct Size {
  Word n, multiplier, shift;
  __device__ Word divide(Word i) const {
    auto high = static_cast<unsigned long long>(static_cast<unsigned __int128>(static_cast<unsigned long long>(i)) *
                                                    static_cast<unsigned long long>(multiplier) >>
                                                64);
    return multiplier == 0 ? i : static_cast<Word>(high >> shift);
  }
};
/// Up to four axes: indices along them of one of the elements.
struct Place {
  Word i0, i1, i2, i3;
  __device__ Word at(Word s0, Word s1, Word s2, Word s3) const { return i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3; }
};
__device__ inline Place placeOf(Word i, Size n1, Size n2, Size n3) {
  Word rows = n3.divide(i), planes = n2.divide(rows), blocks = n1.divide(planes);
  return {blocks, planes - blocks * n1.n, rows - planes * n2.n, i - rows * n3.n};
}
#ifdef __clang__
using Double2 = unsigned long long __attribute__((ext_vector_type(2)));
#else
struct alignas(16) Double2 {
  unsigned long long low, high;
};
#endif
template <typename T> __device__ inline T valueOf(Word low, Word) { return static_cast<T>(low); }
template <> __device__ inline Double2 valueOf<Double2>(Word low, Word high) {
  return {static_cast<unsigned long long>(low), static_cast<unsigned long long>(high)};
}

/// The elements of a slice (`out` at `base`, in steps o) replaced by those of `in` (from `first` on, in steps i, 0
/// where they repeat), or by one value.
#define SIZES Word n1, Word m1, Word s1, Word n2, Word m2, Word s2, Word n3, Word m3, Word s3
#define PLACE placeOf(i, {n1, m1, s1}, {n2, m2, s2}, {n3, m3, s3})
#define STORE(BYTES, T)                                                                                                \
  KERNEL(store_##BYTES)(T * out, const T *in, Word count, Word base, SIZES, Word o0, Word o1, Word o2, Word o3,        \
                        Word first, Word i0, Word i1, Word i2, Word i3) {                                              \
    Word i = threadNumber();                                                                                           \
    if (i >= count)                                                                                                    \
      return;                                                                                                          \
    Place place = PLACE;                                                                                               \
    out[base + place.at(o0, o1, o2, o3)] = in[first + place.at(i0, i1, i2, i3)];                                       \
  }                                                                                                                    \
  KERNEL(fill_##BYTES)(T * out, Word count, Word base, SIZES, Word o0, Word o1, Word o2, Word o3, Word low,            \
                       Word high) {                                                                                    \
    Word i = threadNumber();                                                                                           \
    if (i < count)                                                                                                     \
      out[base + PLACE.at(o0, o1, o2, o3)] = valueOf<T>(low, high);                                                    \
  }
STORE(1, unsigned char)
STORE(2, unsigned short)
STORE(4, unsigned)
STORE(8, unsigned long long)
STORE(16, Double2)

__device__ inline Word least(Word a, Word b) { return a < b ? a : b; }
/// The same for operands whose elements are neighbours along axis 2, not along axis 3 as the result's: a block copies
/// a tile of 32 x 32 elements, each side along its own rows; what is beyond an edge is read as the last row or column
/// once more, so that all reads are under way together. `n1` is the size of axis 1, `t2` and `t3` the tiles along
/// axes 2 and 3. PITCH, from one row of a tile to the next, is an odd number of words, so that neither its rows nor its
/// columns have two words of one bank.
#define TILES Word n1, Word m1, Word s1, Word t2, Word m2, Word s2, Word t3, Word m3, Word s3
#define TURN(BYTES, T, PITCH)                                                                                          \
  KERNEL(turn_##BYTES)(T * out, const T *in, TILES, Word n2, Word n3, Word o0, Word o1, Word o2, Word o3, Word first,  \
                       Word i0, Word i1, Word i2, Word i3) {                                                           \
    SHARED T tile[32 * PITCH];                                                                                         \
    Place place = placeOf(BLOCK, {n1, m1, s1}, {t2, m2, s2}, {t3, m3, s3});                                            \
    Word lane = THREAD % 32, row = THREAD / 32, begin2 = place.i2 * 32, begin3 = place.i3 * 32;                        \
    const T *from = in + first + place.i0 * i0 + place.i1 * i1;                                                        \
    T *to = out + place.i0 * o0 + place.i1 * o1, read[4];                                                              \
    UNROLL for (int r = 0; r < 4; ++r) read[r] =                                                                       \
        from[least(begin2 + lane, n2 - 1) * i2 + least(begin3 + row + 8 * r, n3 - 1) * i3];                            \
    UNROLL for (int r = 0; r < 4; ++r) tile[(row + 8 * r) * PITCH + lane] = read[r];                                   \
    BARRIER;                                                                                                           \
    UNROLL for (int r = 0; r < 4; ++r) if (begin2 + row + 8 * r < n2 && begin3 + lane < n3)                            \
        to[(begin2 + row + 8 * r) * o2 + (begin3 + lane) * o3] = tile[lane * PITCH + row + 8 * r];                     \
  }
TURN(2, unsigned short, 34)
TURN(4, unsigned, 33)
TURN(8, unsigned long long, 33)
TURN(16, Double2, 33)
