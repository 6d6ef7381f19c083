// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built once for each instruction set with TOY_ISA naming it: sums of some channels and places stay in registers over
/// all taps. Nothing of the standard library is used: its inline functions would be shared with code for lesser
/// machines.
#include "runtime/ConvolutionKernels.h"
#include "runtime/KernelVectors.h"

namespace toy::rt {
namespace {

#if defined(__AVX512F__)
constexpr int vectorBytes = 64, registers = 24, mostVectors = 4, realChannels = 6, complexChannels = 4;
#elif defined(__AVX2__)
constexpr int vectorBytes = 32, registers = 12, mostVectors = 2, realChannels = 6, complexChannels = 4;
#else
constexpr int vectorBytes = 16, registers = 24, mostVectors = 4, realChannels = 6, complexChannels = 4;
#endif
/// Vectors at once: few channels leave room for more, whose sums do not wait for one another.
[[maybe_unused]] constexpr int vectorsFor(int sums) {
  int most = sums == 1 ? 2 * mostVectors : mostVectors;
  while (most * sums > registers)
    most /= 2;
  return most;
}
template <typename T> constexpr int lanes = vectorBytes / sizeof(T);
template <typename T> using Vector = T __attribute__((ext_vector_type(lanes<T>)));

template <typename T> [[gnu::always_inline]] inline Vector<T> load(const T *from) {
  Vector<T> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

/// `planes` sums for each channel: one, or a real and an imaginary one.
template <typename T, int channels, int vectors> struct Sums {
  Vector<T> at[channels][vectors];

  [[gnu::always_inline]] void begin(const T *from, int64_t stride, bool first) {
    for (int c = 0; c < channels; ++c)
      for (int v = 0; v < vectors; ++v)
        at[c][v] = first ? Vector<T>(T(0)) : load(from + c * stride + v * lanes<T>);
  }
  [[gnu::always_inline]] void end(T *to, int64_t stride) const {
    for (int c = 0; c < channels; ++c)
      for (int v = 0; v < vectors; ++v)
        __builtin_memcpy(to + c * stride + v * lanes<T>, &at[c][v], sizeof(Vector<T>));
  }
  [[gnu::always_inline]] void add(int c, int v, Vector<T> x, T weight) {
    at[c][v] = __builtin_elementwise_fma(x, Vector<T>(weight), at[c][v]);
  }
};

template <typename T, int channels, int vectors> void real(const typename ConvolutionKernels<T>::Work &w) {
  Sums<T, channels, vectors> sums;
  sums.begin(w.sums, w.stride, w.first);
  for (int64_t tap = 0; tap < w.taps; ++tap)
    for (int v = 0; v < vectors; ++v) {
      Vector<T> x = load(w.in + w.offsets[tap] + v * lanes<T>);
      for (int c = 0; c < channels; ++c)
        sums.add(c, v, x, w.weights[c * w.weightStride + tap]);
    }
  sums.end(w.sums, w.stride);
}

template <typename T, int channels, int vectors> void complex(const typename ConvolutionKernels<T>::Work &w) {
  Sums<T, channels, vectors> re, im;
  re.begin(w.sums, w.stride, w.first);
  im.begin(w.sumsImaginary, w.stride, w.first);
  for (int64_t tap = 0; tap < w.taps; ++tap)
    for (int v = 0; v < vectors; ++v) {
      const int64_t at = w.offsets[tap] + v * lanes<T>;
      const T *weights = w.weights + 2 * tap;
      Vector<T> x = load(w.in + at), y = load(w.inImaginary + at);
      for (int c = 0; c < channels; ++c) {
        re.add(c, v, x, weights[c * w.weightStride]);
        im.add(c, v, y, weights[c * w.weightStride]);
      }
      for (int c = 0; c < channels; ++c) {
        re.add(c, v, -y, weights[c * w.weightStride + 1]);
        im.add(c, v, x, weights[c * w.weightStride + 1]);
      }
    }
  re.end(w.sums, w.stride);
  im.end(w.sumsImaginary, w.stride);
}

template <typename T, bool isComplex, int channels, int vectors>
int vectorsOf(const typename ConvolutionKernels<T>::Work &work, int64_t some) {
  if constexpr (vectors > 1)
    if (some < vectors)
      return vectorsOf<T, isComplex, channels, vectors - 1>(work, some);
  if constexpr (isComplex)
    complex<T, channels, vectors>(work);
  else
    real<T, channels, vectors>(work);
  return vectors;
}
template <typename T, bool isComplex, int most = isComplex ? complexChannels : realChannels>
int channelsOf(const typename ConvolutionKernels<T>::Work &work, int channels, int64_t vectors) {
  if constexpr (most > 1)
    if (channels < most)
      return channelsOf<T, isComplex, most - 1>(work, channels, vectors);
  return vectorsOf<T, isComplex, most, vectorsFor(isComplex ? 2 * most : most)>(work, vectors);
}

#ifdef TOY_FUSES
template <typename T>
constexpr ConvolutionKernels<T> kernels{lanes<T>, realChannels, complexChannels, channelsOf<T, false>,
                                        channelsOf<T, true>};
#else
template <typename T> constexpr ConvolutionKernels<T> kernels{};
#endif

} // namespace

namespace TOY_ISA {
ConvolutionKernels<float> convolutionKernelsF32() { return kernels<float>; }
ConvolutionKernels<double> convolutionKernelsF64() { return kernels<double>; }
} // namespace TOY_ISA

} // namespace toy::rt
