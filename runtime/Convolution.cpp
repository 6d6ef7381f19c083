// SPDX-License-Identifier: Apache-2.0
/// \file
/// Convolutions (cross-correlations, as networks have them) of any number of axes. What is not computed directly: each
/// output position's window becomes a column, and the kernels multiply a block of columns at once.
#include "runtime/Library.h"

#include "runtime/Blas.h"
#include "runtime/DirectConvolution.h"
#include "runtime/Error.h"
#include "runtime/Parallel.h"
#include "support/Diagnostics.h"

#include <algorithm>
#include <complex>
#include <cstring>

namespace toy::rt {
namespace {

using Axis = ConvolutionAxis;

/// Where one kernel element meets the input: runs along the last axis, for the output positions from `begin` to `end`.
/// Calls f(output position, input offset of it, count), the input advancing by the last axis' stride.
template <typename F> void forEachRun(std::span<const Axis> axes, int64_t kernel, int64_t begin, int64_t end, F f) {
  const Axis &last = axes.back();
  int64_t inRow = kernel % last.kernel * last.dilation - last.padding;
  for (int64_t position = begin, next; position < end; position = next) {
    int64_t first = position % last.out, offset = 0, scale = last.in, outer = position / last.out,
            q = kernel / last.kernel;
    next = std::min(end, position - first + last.out);
    bool inside = true;
    for (size_t i = axes.size() - 1; i-- > 0;) {
      const Axis &a = axes[i];
      int64_t at = outer % a.out * a.stride - a.padding + q % a.kernel * a.dilation;
      inside &= at >= 0 && at < a.in;
      offset += at * scale;
      scale *= a.in;
      outer /= a.out;
      q /= a.kernel;
    }
    if (!inside)
      continue;
    int64_t lowest = std::max<int64_t>(0, -inRow), from = std::max(first, (lowest + last.stride - 1) / last.stride),
            reach = last.in - inRow;
    int64_t to = std::min(first + next - position, reach <= 0 ? 0 : (reach + last.stride - 1) / last.stride);
    if (from < to)
      f(position - first + from, offset + from * last.stride + inRow, to - from);
  }
}

/// Positions whose columns are made and multiplied together: what stays in the caches, and a short time until Ctrl-C is
/// looked for.
int64_t blockSize(int64_t rows, int64_t positions, int64_t outputs) {
  constexpr int64_t elements = 1 << 20, products = 1 << 29;
  int64_t most = std::min(elements / std::max<int64_t>(rows, 1), products / std::max<int64_t>(rows * outputs, 1));
  return std::min(positions, std::max<int64_t>(most, 64));
}

template <typename T>
TensorRef convolve(const Tensor &x, const Tensor &w, std::vector<Axis> axes, int64_t groups, bool transposed,
                   std::span<const int64_t> sizes) {
  // A transposed convolution is the gradient of one: its input stands where an output stood.
  int64_t batch = x.sizes[0], channels = x.sizes[1], outer = sizes[1], window = 1, inCount = 1, outCount = 1;
  for (const Axis &a : axes) {
    window *= a.kernel;
    inCount *= a.in;
    outCount *= a.out;
  }
  int64_t perIn = channels / groups, perOut = outer / groups;
  TensorRef out(newTensor(x.dtype, sizes));
  bool isEmpty = out->count() == 0 || x.count() == 0 || w.count() == 0;
  if (!isEmpty && (transposed ? convolveTransposed : convolveDirectly)(x, w, axes, groups, *out))
    return out;
  std::memset(out->data, 0, out->count() * sizeof(T));
  if (isEmpty)
    return out;
  int64_t rows = (transposed ? perOut : perIn) * window, positions = transposed ? inCount : outCount;
  int64_t block = blockSize(rows, positions, perOut);
  TensorRef columns(newTensor(x.dtype, std::vector<int64_t>{rows, block})),
      product(newTensor(x.dtype, std::vector<int64_t>{transposed || block == positions ? 0 : perOut, block}));
  T *column = columns->as<T>();
  std::vector<Axis> walked = axes;
  for (Axis &a : walked)
    if (transposed)
      std::swap(a.in, a.out);
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t g = 0; g < groups; ++g) {
      const T *in = x.as<T>() + (n * channels + g * perIn) * inCount;
      T *to = out->as<T>() + (n * outer + g * perOut) * outCount;
      for (int64_t begin = 0; begin < positions; begin += block) {
        int64_t width = std::min(block, positions - begin), stride = walked.back().stride;
        poll();
        if (transposed) { // [perIn, rows]^T @ [perIn, width], then every column is added where it came from
          gemm(x.dtype, rows, width, perIn, {w.as<T>() + g * perIn * rows, 1, rows, nullptr},
               {in + begin, positions, 1, nullptr}, column, {});
          for (int64_t row = 0; row < rows; ++row)
            forEachRun(walked, row % window, begin, begin + width, [&](int64_t o, int64_t i, int64_t count) {
              T *target = to + row / window * outCount + i, *source = column + row * width + o - begin;
              for (int64_t t = 0; t < count; ++t)
                target[t * stride] += source[t];
            });
          continue;
        }
        std::fill_n(column, rows * width, T(0));
        for (int64_t row = 0; row < rows; ++row)
          forEachRun(walked, row % window, begin, begin + width, [&](int64_t o, int64_t i, int64_t count) {
            const T *source = in + row / window * inCount + i;
            T *target = column + row * width + o - begin;
            for (int64_t t = 0; t < count; ++t)
              target[t] = source[t * stride];
          });
        // [perOut, rows] @ [rows, width]
        T *whole = width == positions ? to : product->as<T>();
        gemm(x.dtype, perOut, width, rows, {w.as<T>() + g * perOut * rows, rows, 1, nullptr},
             {column, width, 1, nullptr}, whole, {});
        for (int64_t row = 0; whole != to && row < perOut; ++row)
          std::copy_n(whole + row * width, width, to + row * outCount + begin);
      }
    }
  return out;
}

std::vector<TensorRef> convolution(LibraryArguments arguments, LibraryParameters p) {
  const Tensor &x = *arguments[0], &w = *arguments[1];
  int64_t rank = x.rank - 2, groups = p[3 * rank];
  bool transposed = p[3 * rank + 1] != 0;
  std::vector<int64_t> sizes = {x.sizes[0], transposed ? w.sizes[1] * groups : w.sizes[0]};
  std::vector<Axis> axes;
  bool fits = x.sizes[1] == (transposed ? w.sizes[0] : w.sizes[1] * groups) && sizes[1] % groups == 0;
  for (int64_t i = 0; i < rank; ++i) {
    Axis a{x.sizes[i + 2], 0, w.sizes[i + 2], p[i], p[rank + i], p[2 * rank + i]};
    int64_t reach = (a.kernel - 1) * a.dilation + 1;
    a.out = transposed ? (a.in - 1) * a.stride + reach - 2 * a.padding : (a.in + 2 * a.padding - reach) / a.stride + 1;
    fits &= a.out >= 1 && (transposed || a.in + 2 * a.padding >= reach);
    sizes.push_back(a.out);
    axes.push_back(a);
  }
  if (!fits) {
    auto text = [](const Tensor &t) {
      std::string all(nameOf(t.dtype));
      for (int64_t i = 0; i < t.rank; ++i)
        all += (i ? ", " : "[") + std::to_string(t.sizes[i]);
      return all + "]";
    };
    fail(DiagId::ValueNotTaken, {formatDiagnostic(DiagId::ConvolutionShapes, {"conv", text(x), text(w)})});
  }
  switch (x.dtype) {
  case DType::F32:
    return {convolve<float>(x, w, axes, groups, transposed, sizes)};
  case DType::F64:
    return {convolve<double>(x, w, axes, groups, transposed, sizes)};
  case DType::C64:
    return {convolve<std::complex<float>>(x, w, axes, groups, transposed, sizes)};
  default:
    return {convolve<std::complex<double>>(x, w, axes, groups, transposed, sizes)};
  }
}

constexpr LibraryRow rows[] = {{"convolution", convolution}};

} // namespace

std::span<const LibraryRow> convolutionFunctions() { return rows; }

} // namespace toy::rt
