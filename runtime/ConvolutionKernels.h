// SPDX-License-Identifier: Apache-2.0
/// \file
/// The inner loops of convolutions. Compiled once for each instruction set; the machine's is chosen.
#pragma once

#include "runtime/Isa.h"

#include <cstdint>

namespace toy::rt {

/// Sums for consecutive places and some output channels: of weights[channel * weightStride + tap] * in[offsets[tap] +
/// place] over the taps in order, by fused multiply-add, to what is in `sums` or from 0 on.
template <typename T> struct ConvolutionKernels {
  struct Work {
    const T *in, *inImaginary; ///< the second where values are complex
    const int64_t *offsets;
    const T *weights; ///< complex: the real part, then the imaginary part; so is the stride
    int64_t weightStride, taps;
    T *sums, *sumsImaginary;
    int64_t stride; ///< from one channel's sums to the next's
    bool first;
  };
  int lanes, channels, complexChannels; ///< places in a vector; the most channels at once
  /// For the first of `vectors` vectors of places, as many as are done at once; how many that are. Null where the
  /// machine has no fused multiply-add.
  int (*real)(const Work &work, int channels, int64_t vectors);
  int (*complex)(const Work &work, int channels, int64_t vectors);
};
TOY_KERNELS_FOR_ISA(ConvolutionKernels<float>, convolutionKernelsF32)
TOY_KERNELS_FOR_ISA(ConvolutionKernels<double>, convolutionKernelsF64)

} // namespace toy::rt
