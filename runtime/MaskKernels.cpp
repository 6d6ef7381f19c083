// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built once for each instruction set. AVX-512 compresses vectors; other machines have loops without branches, which
/// write each element to where the next one chosen belongs.
#include "runtime/MaskKernels.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace toy::rt {
namespace {

/// From element i on, of which `written` were chosen before.
template <typename E, typename At>
void oneByOne(At at, const uint8_t *mask, int64_t i, int64_t n, E *to, int64_t written, int64_t room) {
  for (; i < n && written < room; ++i) {
    to[written] = at(i);
    written += mask[i] != 0;
  }
}

#ifdef __AVX512F__

template <typename E> constexpr int64_t lanes = 64 / static_cast<int64_t>(sizeof(E));

/// A vector's lanes of which the bytes are not 0, together; whole vectors are written as long as they have room.
template <typename E, typename Vector, typename At>
void compress(Vector vector, At at, const uint8_t *mask, int64_t n, E *to, int64_t room) {
  int64_t i = 0, written = 0;
  for (; i + lanes<E> <= n && written + lanes<E> <= room; i += lanes<E>) {
    if constexpr (sizeof(E) == 4) {
      const __m512i bytes = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(mask + i)));
      const __mmask16 m = _mm512_test_epi32_mask(bytes, bytes);
      _mm512_storeu_si512(to + written, _mm512_maskz_compress_epi32(m, vector(i)));
      written += __builtin_popcount(m);
    } else {
      const __m512i bytes = _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(mask + i)));
      const __mmask8 m = _mm512_test_epi64_mask(bytes, bytes);
      _mm512_storeu_si512(to + written, _mm512_maskz_compress_epi64(m, vector(i)));
      written += __builtin_popcount(m);
    }
  }
  oneByOne(at, mask, i, n, to, written, room);
}

template <typename E> void select(const void *from, const uint8_t *mask, int64_t n, void *to, int64_t room) {
  const auto *elements = static_cast<const E *>(from);
  compress([elements](int64_t i) { return _mm512_loadu_si512(elements + i); },
           [elements](int64_t i) { return elements[i]; }, mask, n, static_cast<E *>(to), room);
}
void positions(const uint8_t *mask, int64_t n, int64_t first, int64_t *to, int64_t room) {
  const __m512i numbers = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  compress([=](int64_t i) { return _mm512_add_epi64(_mm512_set1_epi64(first + i), numbers); },
           [first](int64_t i) { return first + i; }, mask, n, to, room);
}

#else

template <typename E> void select(const void *from, const uint8_t *mask, int64_t n, void *to, int64_t room) {
  oneByOne([elements = static_cast<const E *>(from)](int64_t i) { return elements[i]; }, mask, 0, n,
           static_cast<E *>(to), 0, room);
}
void positions(const uint8_t *mask, int64_t n, int64_t first, int64_t *to, int64_t room) {
  oneByOne([first](int64_t i) { return first + i; }, mask, 0, n, to, 0, room);
}

#endif

} // namespace

namespace TOY_ISA {
MaskKernels maskKernels() { return {select<uint32_t>, select<uint64_t>, positions}; }
} // namespace TOY_ISA

} // namespace toy::rt
