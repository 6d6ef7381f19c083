// SPDX-License-Identifier: Apache-2.0
/// \file
/// The input is copied with its padding, and for a stride s > 1 as s parts of every s-th element: then each tap (a
/// channel and an element of the kernel) reads from a fixed distance, and consecutive outputs read consecutive inputs.
/// Outputs are counted along the copied rows, so that vectors are full whatever the shape; what lies between the rows
/// of the result is computed and dropped.
#include "runtime/DirectConvolution.h"

#include "runtime/ConvolutionKernels.h"
#include "runtime/Parallel.h"
#include "runtime/Scratch.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>
#include <unordered_map>

namespace toy::rt {
namespace {

template <typename R> const ConvolutionKernels<R> &convolutionKernels();
template <> const ConvolutionKernels<float> &convolutionKernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(convolutionKernelsF32);
  return chosen;
}
template <> const ConvolutionKernels<double> &convolutionKernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(convolutionKernelsF64);
  return chosen;
}

template <typename T> struct PartOf {
  using Type = T;
};
template <typename T> struct PartOf<std::complex<T>> {
  using Type = T;
};

/// Every stride-th element from `phase` on, for the phases that some kernel element reads.
struct AxisParts {
  std::vector<int64_t> phases, ofKernel; ///< for each kernel element which of the phases
  int64_t size, pitch = 1;

  explicit AxisParts(const ConvolutionAxis &a) : size(a.out + (a.kernel - 1) * a.dilation / a.stride) {
    std::unordered_map<int64_t, int64_t> numbers;
    for (int64_t k = 0; k < a.kernel; ++k) {
      auto [known, isNew] = numbers.try_emplace(k * a.dilation % a.stride, phases.size());
      if (isNew)
        phases.push_back(known->first);
      ofKernel.push_back(known->second);
    }
  }
};

/// Where things are, the same for every image and group.
struct Layout {
  std::span<const ConvolutionAxis> axes;
  std::vector<AxisParts> split;
  int64_t partSize = 1, parts = 1, inCount = 1, outCount = 1, window = 1, places = 1;
  double copied = 1; ///< parts * partSize, which may not be a number that fits

  explicit Layout(std::span<const ConvolutionAxis> axes) : axes(axes) {
    for (const ConvolutionAxis &a : axes) {
      split.emplace_back(a);
      copied *= static_cast<double>(split.back().size) * static_cast<double>(split.back().phases.size());
      inCount *= a.in;
      outCount *= a.out;
      window *= a.kernel;
    }
  }
  /// Whether the copy is not far larger than what it is made of and what is made of it.
  bool isWorthwhile() const {
    constexpr double few = 1 << 16, times = 16;
    return copied < few + times * (static_cast<double>(inCount) + static_cast<double>(outCount));
  }
  void place() {
    for (size_t i = axes.size(); i-- > 0;) {
      split[i].pitch = partSize;
      partSize *= split[i].size;
      parts *= static_cast<int64_t>(split[i].phases.size());
      places += (axes[i].out - 1) * split[i].pitch;
    }
  }
  /// How far from an output's place each tap of so many channels reads.
  void offsets(int64_t channels, int64_t *to) const {
    int64_t count = 1, step = 1;
    to[0] = 0;
    for (size_t i = axes.size(); i-- > 0;) {
      for (int64_t k = axes[i].kernel; k-- > 0;) { // the first one last: the others are made of it
        const int64_t own =
            k * axes[i].dilation / axes[i].stride * split[i].pitch + split[i].ofKernel[k] * step * partSize;
        for (int64_t tap = 0; tap < count; ++tap)
          to[k * count + tap] = to[tap] + own;
      }
      count *= axes[i].kernel;
      step *= static_cast<int64_t>(split[i].phases.size());
    }
    for (int64_t tap = window; tap < channels * window; ++tap)
      to[tap] = to[tap - window] + parts * partSize;
  }
};

/// The sums of one image and group.
template <typename T> class Convolution {
  using R = typename PartOf<T>::Type;
  static constexpr bool isComplex = !std::is_same_v<T, R>;
  static constexpr int64_t planes = isComplex ? 2 : 1;
  using Work = typename ConvolutionKernels<R>::Work;

public:
  Convolution(const Tensor &x, const Tensor &w, Layout placed, int64_t groups, Tensor &out)
      : layout(std::move(placed)), x(x), out(out), perIn(w.sizes[1]), perOut(w.sizes[0] / groups), groups(groups),
        taps(perIn * layout.window), channels(isComplex ? kernels.complexChannels : kernels.channels), offsets(taps),
        weights(w.as<R>()) {
    layout.offsets(perIn, offsets.data());
    // A number that is not finite makes nan of zeros.
    isLong = layout.axes.size() == 1 && layout.axes[0].stride == 1 && layout.window >= longBlock &&
             std::all_of(weights, weights + w.sizes[0] * taps * planes, [](R x) { return std::isfinite(x); });
  }
  /// Images and groups from `begin` on.
  void run(int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Scratch<R> in(planeSize() * planes);
      copyInput(x.as<T>() + i * perIn * layout.inCount, in.data());
      Context context{*this, in.data(), i, 0, 0};
      if (isLong)
        context.find();
      parallelFor((layout.places + superBlock - 1) / superBlock,
                  std::max<int64_t>(1, grain / (superBlock * taps * perOut)),
                  [](void *opaque, int64_t first, int64_t last) {
                    auto &c = *static_cast<Context *>(opaque);
                    c.self.sums(c, first, last);
                  },
                  &context);
    }
  }

private:
  /// An image, and where the elements of its rows are that are not 0.
  struct Context {
    Convolution &self;
    const R *in;
    int64_t image, low, high;

    void find() {
      const int64_t size = self.layout.partSize;
      low = size;
      for (int64_t row = 0; row < self.perIn * planes; ++row) {
        const R *from = in + row / planes * size + row % planes * self.planeSize();
        low = std::find_if(from, from + low, [](R x) { return x != 0; }) - from;
        for (int64_t last = size; last > high; --last)
          if (from[last - 1] != 0)
            high = last;
      }
    }
    /// The elements [first, second) of the kernel that meet them at places [begin, end).
    std::pair<int64_t, int64_t> meeting(int64_t begin, int64_t end) const {
      const int64_t step = self.layout.axes[0].dilation;
      auto firstFrom = [&](int64_t at) { // whose offset is at least that
        return std::clamp<int64_t>((std::max<int64_t>(at, 0) + step - 1) / step, 0, self.layout.window);
      };
      const int64_t first = firstFrom(low - end + 1);
      return {first, std::max(first, firstFrom(high - begin))};
    }
  };
  static constexpr int64_t superBlock = 512, longBlock = 128, grain = 1 << 20, tapsTogether = 512;

  /// What the last vector reads behind the input is there, too.
  int64_t planeSize() const { return perIn * layout.parts * layout.partSize + superBlock; }

  void copyInput(const T *from, R *to) const {
    const int64_t size = layout.parts * layout.partSize;
    parallelPieces(perIn, std::max<int64_t>(1, grain / 4 / size), [&](int64_t begin, int64_t end) {
      for (int64_t plane = 0; plane < planes; ++plane)
        std::fill_n(to + plane * planeSize() + begin * size, (end - begin) * size, R(0));
      for (int64_t c = begin; c < end; ++c)
        copyAxis(0, from + c * layout.inCount, layout.inCount, c * size, layout.parts, to);
    });
    for (int64_t plane = 1; plane <= planes; ++plane) // behind the last channel
      std::fill_n(to + plane * planeSize() - superBlock, superBlock, R(0));
  }
  /// Elements along one axis and those after it, whose part of the copy begins at `at`.
  void copyAxis(size_t axis, const T *from, int64_t count, int64_t at, int64_t parts, R *to) const {
    const ConvolutionAxis &a = layout.axes[axis];
    const AxisParts &split = layout.split[axis];
    int64_t rest = count / a.in, partsOfRest = parts / static_cast<int64_t>(split.phases.size());
    for (size_t number = 0; number < split.phases.size(); ++number) {
      // Place k of the part is element first + k * stride.
      int64_t first = split.phases[number] - a.padding, low = std::max<int64_t>(0, (-first + a.stride - 1) / a.stride),
              high = std::min(split.size, first < a.in ? (a.in - first + a.stride - 1) / a.stride : 0),
              target = at + static_cast<int64_t>(number) * partsOfRest * layout.partSize;
      if (low >= high)
        continue;
      const T *source = from + (first + low * a.stride) * rest;
      if (axis + 1 == layout.axes.size())
        copyRow(source, a.stride, high - low, to + target + low);
      else
        for (int64_t k = low; k < high; ++k, source += a.stride * rest)
          copyAxis(axis + 1, source, rest, target + k * split.pitch, partsOfRest, to);
    }
  }
  void copyRow(const T *from, int64_t stride, int64_t n, R *to) const {
    if constexpr (isComplex)
      for (int64_t i = 0; i < n; ++i) {
        to[i] = from[i * stride].real();
        to[planeSize() + i] = from[i * stride].imag();
      }
    else if (stride == 1)
      std::copy_n(from, n, to);
    else
      for (int64_t i = 0; i < n; ++i)
        to[i] = from[i * stride];
  }

  void sums(const Context &c, int64_t begin, int64_t end) const {
    Scratch<R> room(perOut * superBlock * planes);
    for (int64_t i = begin; i < end; ++i) {
      poll();
      int64_t place = i * superBlock, some = std::min(superBlock, layout.places - place);
      const int64_t step = isLong ? longBlock : superBlock;
      for (int64_t at = 0; at < some; at += step)
        sumsAt(c, place + at, place + std::min(some, at + step), room.data() + at);
      for (int64_t o = 0; o < perOut; ++o)
        copyOut(room.data() + o * superBlock, out.as<T>() + (c.image * perOut + o) * layout.outCount, place, some);
    }
  }
  /// All channels at places [begin, end). Long kernels leave out what meets zeros in front of the input and behind it.
  void sumsAt(const Context &c, int64_t begin, int64_t end, R *room) const {
    Work work{};
    work.stride = superBlock;
    work.weightStride = taps * planes;
    work.first = true;
    const auto [first, last] = isLong ? c.meeting(begin, end) : std::pair(int64_t(0), taps);
    for (int64_t channel = 0; channel < (isLong ? perIn : 1); ++channel)
      addTaps(work, c.in + begin, c.image % groups, channel * layout.window + first, channel * layout.window + last,
              (end - begin + kernels.lanes - 1) / kernels.lanes, room);
  }
  /// Taps [first, last) in pieces: inputs and weights stay in the caches.
  void addTaps(Work &work, const R *in, int64_t group, int64_t first, int64_t last, int64_t vectors, R *room) const {
    for (int64_t tap = first; tap < last || work.first; tap += tapsTogether, work.first = false) {
      poll();
      work.taps = std::min(tapsTogether, last - tap);
      work.offsets = offsets.data() + tap;
      for (int64_t c = 0, count; c < perOut; c += count) {
        count = std::min(channels, perOut - c);
        work.weights = weights + ((group * perOut + c) * taps + tap) * planes;
        for (int64_t v = 0, done; v < vectors; v += done) {
          work.in = in + v * kernels.lanes;
          work.inImaginary = isComplex ? work.in + planeSize() : nullptr;
          work.sums = room + c * superBlock + v * kernels.lanes;
          work.sumsImaginary = isComplex ? work.sums + perOut * superBlock : nullptr;
          done = (isComplex ? kernels.complex : kernels.real)(work, static_cast<int>(count), vectors - v);
        }
      }
    }
  }
  /// Those places that are outputs.
  void copyOut(const R *from, T *to, int64_t place, int64_t some) const {
    int64_t pitch = layout.split.back().size, width = layout.axes.back().out;
    for (int64_t at = place, end = place + some; at < end;) {
      int64_t column = at % pitch, run = std::min(end - at, pitch - column), valid = std::min(run, width - column);
      if (int64_t row = outputRow(at / pitch); row >= 0 && valid > 0) {
        T *target = to + row * width + column;
        const R *source = from + (at - place);
        if constexpr (isComplex)
          for (int64_t i = 0; i < valid; ++i)
            target[i] = {source[i], source[perOut * superBlock + i]};
        else
          std::copy_n(source, valid, target);
      }
      at += run;
    }
  }
  /// The number of the output row at a row of the copy; -1 where there is none.
  int64_t outputRow(int64_t row) const {
    int64_t number = 0, scale = 1;
    for (size_t i = layout.axes.size() - 1; i-- > 0;) {
      int64_t at = row % layout.split[i].size;
      if (at >= layout.axes[i].out)
        return -1;
      number += at * scale;
      scale *= layout.axes[i].out;
      row /= layout.split[i].size;
    }
    return number;
  }

  const ConvolutionKernels<R> &kernels = convolutionKernels<R>();
  Layout layout;
  const Tensor &x;
  Tensor &out;
  int64_t perIn, perOut, groups, taps, channels;
  bool isLong; ///< so that some of the kernel may meet nothing of the input
  Scratch<int64_t> offsets;
  const R *weights;
};

template <typename T>
bool convolveAs(const Tensor &x, const Tensor &w, std::span<const ConvolutionAxis> axes, int64_t groups, Tensor &out) {
  Layout layout(axes);
  if (!convolutionKernels<typename PartOf<T>::Type>().real || !layout.isWorthwhile())
    return false;
  layout.place();
  Convolution<T> job(x, w, std::move(layout), groups, out);
  parallelFor(
      x.sizes[0] * groups, 1,
      [](void *context, int64_t begin, int64_t end) { static_cast<Convolution<T> *>(context)->run(begin, end); }, &job);
  return true;
}

} // namespace

bool convolveDirectly(const Tensor &x, const Tensor &w, std::span<const ConvolutionAxis> axes, int64_t groups,
                      Tensor &out) {
  switch (x.dtype) {
  case DType::F32:
    return convolveAs<float>(x, w, axes, groups, out);
  case DType::F64:
    return convolveAs<double>(x, w, axes, groups, out);
  case DType::C64:
    return convolveAs<std::complex<float>>(x, w, axes, groups, out);
  default:
    return convolveAs<std::complex<double>>(x, w, axes, groups, out);
  }
}

} // namespace toy::rt
