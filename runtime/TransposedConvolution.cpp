// SPDX-License-Identifier: Apache-2.0
/// \file
/// Transposed convolutions as ordinary ones. Output o meets kernel element k where o + padding - k * dilation is a
/// multiple of the stride: outputs that leave the same rest (a phase) meet the same elements, which are evenly spaced.
/// Each phase is a convolution of stride 1 by those, backwards.
#include "runtime/DirectConvolution.h"

#include "runtime/ArrayLoops.h"

#include <algorithm>
#include <atomic>
#include <numeric>

namespace toy::rt {
namespace {

/// One phase along one axis.
struct Phase {
  int64_t first, step, elements; ///< of the kernel
  int64_t start, stride;         ///< of the outputs
  ConvolutionAxis axis;
};

/// The outputs start, start + stride, …; no elements where none meets them.
Phase phaseOf(const ConvolutionAxis &a, int64_t start) {
  int64_t common = std::gcd(a.dilation, a.stride), step = a.stride / common, first = 0;
  while (first < std::min(step, a.kernel) && (start + a.padding - first * a.dilation) % a.stride != 0)
    ++first;
  int64_t elements = first < std::min(step, a.kernel) ? (a.kernel - first + step - 1) / step : 0,
          dilation = a.dilation / common, out = (a.out - start + a.stride - 1) / a.stride,
          input =
              (start + a.padding - first * a.dilation) / a.stride; // that the first element meets at the first output
  return {first, step,     elements,
          start, a.stride, {a.in, out, elements, 1, (elements - 1) * dilation - input, dilation}};
}

/// The elements of w [groups * perIn, perOut, kernels] that phases meet, as [groups * perOut, perIn, elements].
template <typename E>
void chooseWeights(const Tensor &w, std::span<const Phase> phases, int64_t groups, Tensor &chosen) {
  int64_t perIn = w.sizes[0] / groups, perOut = w.sizes[1];
  std::vector<int64_t> elements, strides(phases.size());
  int64_t window = 1, some = 1, origin = 0;
  for (size_t i = phases.size(); i-- > 0;) {
    const Phase &p = phases[i];
    strides[i] = -p.step * window;
    origin += (p.first + (p.elements - 1) * p.step) * window;
    window *= w.sizes[i + 2];
    some *= p.elements;
  }
  for (const Phase &p : phases)
    elements.push_back(p.elements);
  std::vector<int64_t> places(some);
  for (int64_t k = 0; k < some; ++k)
    places[k] = origin + offsetOf(k, elements, strides);
  E *to = chosen.as<E>();
  Watch watch;
  for (int64_t o = 0; o < groups * perOut; ++o)
    for (int64_t c = 0; c < perIn; ++c) {
      const E *from = w.as<E>() + ((o / perOut * perIn + c) * perOut + o % perOut) * window;
      for (int64_t k = 0; k < some; ++k, watch())
        *to++ = from[places[k]];
    }
}

/// Outputs of a phase where they belong; zeros without a source.
template <typename E>
void scatter(const Tensor *from, std::span<const ConvolutionAxis> axes, std::span<const Phase> phases, Tensor &out) {
  int64_t images = out.sizes[0] * out.sizes[1], lines = 1, origin = 0, outCount = 1;
  std::vector<int64_t> sizes, strides(phases.size());
  for (size_t i = phases.size(); i-- > 0;) {
    strides[i] = phases[i].stride * outCount;
    origin += phases[i].start * outCount;
    outCount *= axes[i].out;
  }
  for (const Phase &p : phases)
    sizes.push_back(p.axis.out);
  int64_t line = sizes.back(), step = strides.back();
  sizes.pop_back();
  for (int64_t size : sizes)
    lines *= size;
  const E *source = from ? from->as<E>() : nullptr;
  constexpr int64_t grain = 1 << 14;
  parallelPieces(images * lines, std::max<int64_t>(1, grain / std::max<int64_t>(line, 1)),
                 [&](int64_t begin, int64_t end) {
                   Watch watch;
                   for (int64_t i = begin; i < end; ++i, watch(line)) {
                     E *to = out.as<E>() + i / lines * outCount + origin + offsetOf(i % lines, sizes, strides);
                     for (int64_t j = 0; j < line; ++j)
                       to[j * step] = source ? source[i * line + j] : E();
                   }
                 });
}

bool convolvePhase(const Tensor &x, const Tensor &w, std::span<const ConvolutionAxis> axes,
                   std::span<const Phase> phases, int64_t groups, Tensor &out) {
  std::vector<ConvolutionAxis> own;
  std::vector<int64_t> sizes = {out.sizes[0], out.sizes[1]}, weightSizes = {out.sizes[1], w.sizes[0] / groups};
  for (const Phase &p : phases) {
    own.push_back(p.axis);
    sizes.push_back(p.axis.out);
    weightSizes.push_back(p.elements);
  }
  return dispatchWidth(x.dtype, [&](auto *type) {
    using E = std::remove_pointer_t<decltype(type)>;
    if (std::any_of(phases.begin(), phases.end(), [](const Phase &p) { return p.elements == 0; })) {
      scatter<E>(nullptr, axes, phases, out);
      return true;
    }
    TensorRef part(newTensor(x.dtype, sizes)), weights(newTensor(x.dtype, weightSizes));
    chooseWeights<E>(w, phases, groups, *weights);
    if (!convolveDirectly(x, *weights, own, groups, *part))
      return false;
    scatter<E>(&*part, axes, phases, out);
    return true;
  });
}

} // namespace

bool convolveTransposed(const Tensor &x, const Tensor &w, std::span<const ConvolutionAxis> axes, int64_t groups,
                        Tensor &out) {
  constexpr double few = 64; // each phase copies the input
  double count = 1;
  for (const ConvolutionAxis &a : axes)
    count *= static_cast<double>(std::min(a.stride, a.out));
  if (count > few)
    return false;
  std::atomic<bool> areAll = true;
  parallelPieces(static_cast<int64_t>(count), 1, [&](int64_t begin, int64_t end) {
    for (int64_t number = begin; number < end; ++number) {
      std::vector<Phase> phases;
      int64_t rest = number;
      for (const ConvolutionAxis &a : axes) {
        const int64_t some = std::min(a.stride, a.out);
        phases.push_back(phaseOf(a, rest % some));
        rest /= some;
      }
      if (!convolvePhase(x, w, axes, phases, groups, out))
        areAll = false;
    }
  });
  return areAll;
}

} // namespace toy::rt
