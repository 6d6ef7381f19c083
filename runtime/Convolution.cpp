// SPDX-License-Identifier: Apache-2.0
/// \file
/// Convolutions (cross-correlations, as networks have them) of any number of axes: each output position's window becomes a column, and the kernels
/// multiply all columns at once.
#include "runtime/Library.h"

#include "runtime/Blas.h"
#include "runtime/Error.h"
#include "runtime/Parallel.h"

#include <complex>
#include <cstring>

namespace toy::rt {
namespace {

struct Axis {
  int64_t in, out, kernel, stride, padding, dilation;
};

/// Calls f(kernel offset, output offset, input offset) wherever a kernel element at an output position meets an input element.
template <typename F> void forEachMeeting(std::span<const Axis> axes, F f, int64_t k = 0, int64_t o = 0, int64_t i = 0) {
  if (axes.empty())
    return f(k, o, i);
  const Axis &a = axes.front();
  for (int64_t q = 0; q < a.kernel; ++q)
    for (int64_t p = 0; p < a.out; ++p) {
      int64_t at = p * a.stride - a.padding + q * a.dilation;
      if (at >= 0 && at < a.in)
        forEachMeeting(axes.subspan(1), f, k * a.kernel + q, o * a.out + p, i * a.in + at);
    }
}

template <typename T> TensorRef convolve(const Tensor &x, const Tensor &w, std::vector<Axis> axes, int64_t groups, bool transposed, std::span<const int64_t> sizes) {
  // A transposed convolution is the gradient of one: its input stands where an output stood.
  int64_t batch = x.sizes[0], channels = x.sizes[1], outer = sizes[1], window = 1, inCount = 1, outCount = 1;
  for (const Axis &a : axes) {
    window *= a.kernel;
    inCount *= a.in;
    outCount *= a.out;
  }
  int64_t perIn = channels / groups, perOut = outer / groups;
  TensorRef out(newTensor(x.dtype, sizes));
  std::memset(out->data, 0, out->count() * sizeof(T));
  if (out->count() == 0 || x.count() == 0 || w.count() == 0)
    return out;
  int64_t rows = (transposed ? perOut : perIn) * window, positions = transposed ? inCount : outCount;
  TensorRef columns(newTensor(x.dtype, std::vector<int64_t>{rows, positions}));
  T *column = columns->as<T>();
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t g = 0; g < groups; ++g) {
      const T *in = x.as<T>() + (n * channels + g * perIn) * inCount;
      T *to = out->as<T>() + (n * outer + g * perOut) * outCount;
      poll();
      if (!transposed) {
        std::fill_n(column, rows * positions, T(0));
        for (int64_t c = 0; c < perIn; ++c)
          forEachMeeting(axes, [&](int64_t k, int64_t o, int64_t i) { column[(c * window + k) * positions + o] = in[c * inCount + i]; });
        // [perOut, rows] @ [rows, positions]
        gemm(x.dtype, perOut, positions, rows, {w.as<T>() + g * perOut * rows, rows, 1, nullptr}, {column, positions, 1, nullptr}, to, {});
        continue;
      }
      // [perIn, rows]^T @ [perIn, positions], then every column is added where it came from.
      gemm(x.dtype, rows, positions, perIn, {w.as<T>() + g * perIn * rows, 1, rows, nullptr}, {in, positions, 1, nullptr}, column, {});
      std::vector<Axis> reversed = axes;
      for (Axis &a : reversed)
        std::swap(a.in, a.out);
      for (int64_t c = 0; c < perOut; ++c)
        forEachMeeting(reversed, [&](int64_t k, int64_t o, int64_t i) { to[c * outCount + i] += column[(c * window + k) * positions + o]; });
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
    fail(DiagId::ConvolutionShapes, {"conv", text(x), text(w)});
  }
  switch (x.dtype) {
  case DType::F32: return {convolve<float>(x, w, axes, groups, transposed, sizes)};
  case DType::F64: return {convolve<double>(x, w, axes, groups, transposed, sizes)};
  case DType::C64: return {convolve<std::complex<float>>(x, w, axes, groups, transposed, sizes)};
  default: return {convolve<std::complex<double>>(x, w, axes, groups, transposed, sizes)};
  }
}

constexpr LibraryRow rows[] = {{"convolution", convolution}};

} // namespace

std::span<const LibraryRow> convolutionFunctions() { return rows; }

} // namespace toy::rt
