// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rotary position embeddings, for elements of type ROPE_ELEMENT and angles of type ROPE_PART.
#include "KernelSource.h"

// Halves, rounded to nearest even as the host does.
struct BFloat16 {
  unsigned short bits;
};
struct Float16 {
  unsigned short bits;
};
__device__ inline float widen(float x) { return x; }
__device__ inline double widen(double x) { return x; }
__device__ inline float widen(BFloat16 x) { return floatOf(static_cast<unsigned>(x.bits) << 16); }
__device__ inline float widen(Float16 x) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
  return wide;
}
__device__ inline void narrow(float &to, float x) { to = x; }
__device__ inline void narrow(double &to, double x) { to = x; }
__device__ inline void narrow(BFloat16 &to, float x) {
#ifdef __clang__ // an instruction, where the device has it
  to.bits = __builtin_bit_cast(unsigned short, static_cast<__bf16>(x));
#else
  unsigned bits = bitsOf(x);
  to.bits = static_cast<unsigned short>(x != x ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
}
__device__ inline void narrow(Float16 &to, float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(x)); }

using Element = ROPE_ELEMENT;
using Part = ROPE_PART;

/// 16 bytes, read and written at once.
struct alignas(16) Chunk {
  static constexpr unsigned size = 16 / sizeof(Element);
  Element at[size];
};

/// x [outer, period, inner, 2 * pairs], of less than 2^31 elements, turned: pair p of a row is multiplied by cosine + i
/// sine of the row's period (rows of `pairs` in steps of `step`, the sines `sineAt` behind). Pairs are neighbours or
/// the halves of the row.
struct Rope {
  Element *out;
  const Element *in;
  const Part *cosines, *sines;
  unsigned outer, period, inner, pairs, step, sineAt;
  bool halves;
};

/// 16 bytes of first and, in halves, of second parts. A thread turns the same pairs in a few rows that share their
/// angles: angles are read once, and four accesses are under way.
template <bool halves> __device__ inline void ropeChunks(const Rope &r, unsigned thread) {
  constexpr unsigned width = Chunk::size / (halves ? 1 : 2), rows = halves ? 2 : 4;
  unsigned chunks = r.pairs / width, same = r.outer * r.inner;
  unsigned chunk = thread % chunks, rest = thread / chunks, row = rest % r.period, begin = rest / r.period * rows;
  if (begin >= same)
    return;
  Part cosine[width], sine[width];
  UNROLL for (unsigned p = 0; p < width; ++p) {
    unsigned at = (row * r.pairs + chunk * width + p) * r.step;
    cosine[p] = r.cosines[at];
    sine[p] = r.sines[at + r.sineAt];
  }
  Chunk first[rows], second[rows];
  unsigned at[rows];
  UNROLL for (unsigned i = 0; i < rows; ++i) {
    unsigned which = begin + i < same ? begin + i : same - 1, o = which / r.inner; // the last one again
    at[i] = ((o * r.period + row) * r.inner + (which - o * r.inner)) * r.pairs * 2 + chunk * width * (halves ? 1 : 2);
    first[i] = *reinterpret_cast<const Chunk *>(r.in + at[i]);
    if (halves)
      second[i] = *reinterpret_cast<const Chunk *>(r.in + at[i] + r.pairs);
  }
  UNROLL for (unsigned i = 0; i < rows; ++i) {
    if (begin + i >= same)
      return;
    UNROLL for (unsigned p = 0; p < width; ++p) {
      Element &x = first[i].at[halves ? p : 2 * p], &y = halves ? second[i].at[p] : first[i].at[2 * p + 1];
      Part re = widen(x), im = widen(y);
      narrow(x, re * cosine[p] - im * sine[p]);
      narrow(y, re * sine[p] + im * cosine[p]);
    }
    *reinterpret_cast<Chunk *>(r.out + at[i]) = first[i];
    if (halves)
      *reinterpret_cast<Chunk *>(r.out + at[i] + r.pairs) = second[i];
  }
}

/// Any number of pairs: one a thread.
__device__ inline void ropePairs(const Rope &r, unsigned thread) {
  unsigned pair = thread % r.pairs, row = thread / r.pairs,
           angle = (row / r.inner % r.period * r.pairs + pair) * r.step;
  if (row >= r.outer * r.period * r.inner)
    return;
  unsigned at = row * r.pairs * 2 + (r.halves ? pair : 2 * pair), next = at + (r.halves ? r.pairs : 1);
  Part re = widen(r.in[at]), im = widen(r.in[next]), cosine = r.cosines[angle], sine = r.sines[angle + r.sineAt];
  narrow(r.out[at], re * cosine - im * sine);
  narrow(r.out[next], re * sine + im * cosine);
}

/// Two tensors (queries and keys) in one launch: the first has `blocks` blocks, the second the rest.
KERNEL(rope)(Element *out1, Element *out2, const Element *in1, const Part *cosines1, const Part *sines1,
             const Element *in2, const Part *cosines2, const Part *sines2, Word outer1, Word period1, Word inner1,
             Word pairs1, Word step1, Word sineAt1, Word halves1, Word outer2, Word period2, Word inner2, Word pairs2,
             Word step2, Word sineAt2, Word halves2, Word blocks) {
  bool isFirst = BLOCK < blocks;
  auto number = [&](Word first, Word second) { return static_cast<unsigned>(isFirst ? first : second); };
  Rope r{isFirst ? out1 : out2,  isFirst ? in1 : in2,      isFirst ? cosines1 : cosines2, isFirst ? sines1 : sines2,
         number(outer1, outer2), number(period1, period2), number(inner1, inner2),        number(pairs1, pairs2),
         number(step1, step2),   number(sineAt1, sineAt2), number(halves1, halves2) != 0};
  unsigned thread = (BLOCK - number(0, blocks)) * 256 + THREAD;
  if (r.pairs % Chunk::size != 0)
    ropePairs(r, thread);
  else if (r.halves)
    ropeChunks<true>(r, thread);
  else
    ropeChunks<false>(r, thread);
}
