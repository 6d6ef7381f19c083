// SPDX-License-Identifier: Apache-2.0
/// \file
/// Convolutions without a matrix of columns.
#pragma once

#include "runtime/Value.h"

namespace toy::rt {

/// One axis of a convolution.
struct ConvolutionAxis {
  int64_t in, out, kernel, stride, padding, dilation;
};

/// Writes [N, O, outs] from x [N, groups * perIn, ins] and w [O, perIn, kernels] to `out`; nothing is empty. Every
/// element is the sum over channels and kernel elements in row-major order by fused multiply-add, from +0 on (complex:
/// of each part, the products by the weight's real part before those by its imaginary part). False, and nothing is
/// written, where the machine has no fused multiply-add.
bool convolveDirectly(const Tensor &x, const Tensor &w, std::span<const ConvolutionAxis> axes, int64_t groups,
                      Tensor &out);
/// The same for the gradient of a convolution (`conv_transpose`), w [groups * perIn, O / groups, kernels]: of the
/// elements of the kernel that meet an output the last comes first.
bool convolveTransposed(const Tensor &x, const Tensor &w, std::span<const ConvolutionAxis> axes, int64_t groups,
                        Tensor &out);

} // namespace toy::rt
