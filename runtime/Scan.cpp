// SPDX-License-Identifier: Apache-2.0
/// \file
/// Running sums and products: in order, whatever the shape and the threads.
#include "runtime/ArrayOps.h"

#include "runtime/ArrayLoops.h"
#include "runtime/Memory.h"

#include <algorithm>
#include <utility>

#pragma clang diagnostic ignored "-Wpass-failed" // short rows of some dtypes and lengths go one by one

namespace toy::rt {
namespace {

template <bool product, typename T> T combined(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b); // modulo 2^64
    return static_cast<T>(product ? x * y : x + y);
  } else
    return product ? a * b : a + b;
}
template <bool product, typename T> std::complex<T> combined(std::complex<T> a, std::complex<T> b) {
  if (product)
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  return {a.real() + b.real(), a.imag() + b.imag()};
}

template <typename From, typename T, bool product> struct Scan {
  static constexpr int columnsInRegisters = 8;
  static constexpr int64_t rowsTogether = 4, shortRow = 8, shortTogether = 1 << 12, columnsTogether = 256,
                           often = 1 << 18;
  const From *in;
  T *out;
  AxisView view;

  /// Dense rows, whose sums do not wait for one another.
  template <int R> void rows(int64_t first) const {
    const int64_t n = view.size;
    const From *from = in + first * n;
    T *to = out + first * n, last[R];
    for (int r = 0; r < R; ++r)
      to[r * n] = last[r] = T(from[r * n]);
    for (int64_t begin = 1; begin < n; begin += often) {
      poll();
      for (int64_t k = begin, end = std::min(n, begin + often); k < end; ++k)
        for (int r = 0; r < R; ++r)
          to[r * n + k] = last[r] = combined<product>(last[r], T(from[r * n + k]));
    }
  }
  /// Dense rows of N elements, which are known, and few; no row is another's, also where `in` is `out`.
  template <int N> void shortRows(int64_t first, int64_t count) const {
    const From *from = in + first * N;
    T *to = out + first * N;
#pragma clang loop vectorize(assume_safety)
    for (int64_t row = 0; row < count; ++row, from += N, to += N) {
      T last = to[0] = T(from[0]);
#pragma clang loop unroll(full)
      for (int k = 1; k < N; ++k)
        to[k] = last = combined<product>(last, T(from[k]));
    }
  }
  void someShortRows(int64_t first, int64_t count) const {
    poll();
    [&]<int... N>(std::integer_sequence<int, N...>) {
      ((view.size == N + 1 ? shortRows<N + 1>(first, count) : void()), ...);
    }(std::make_integer_sequence<int, shortRow>());
  }
  /// Columns side by side.
  void columns(int64_t block, int64_t first) const {
    const int64_t inner = view.inner, width = std::min(columnsTogether, inner - first);
    const From *from = in + block * view.size * inner + first;
    T *to = out + block * view.size * inner + first, last[columnsTogether];
    for (int64_t i = 0; i < width; ++i)
      to[i] = last[i] = T(from[i]);
    Watch watch;
    for (int64_t k = 1; k < view.size; ++k, watch(width)) {
      from += inner;
      to += inner;
      for (int64_t i = 0; i < width; ++i)
        to[i] = last[i] = combined<product>(last[i], T(from[i]));
    }
  }

  /// N columns, which are known, and few: their sums stay in registers.
  template <int N> void fewColumns(int64_t block) const {
    const From *from = in + block * view.size * N;
    T *to = out + block * view.size * N, last[N];
#pragma clang loop unroll(full)
    for (int i = 0; i < N; ++i)
      to[i] = last[i] = T(from[i]);
    for (int64_t begin = 1; begin < view.size; begin += often) {
      poll();
      for (int64_t k = begin, end = std::min(view.size, begin + often); k < end; ++k) {
        from += N;
        to += N;
#pragma clang loop unroll(full)
        for (int i = 0; i < N; ++i)
          to[i] = last[i] = combined<product>(last[i], T(from[i]));
      }
    }
  }
  bool areColumnsFew() const { return view.inner > 1 && view.inner <= columnsInRegisters; }
  void someColumns(int64_t block) const {
    [&]<int... N>(std::integer_sequence<int, N...>) {
      ((view.inner == N + 2 ? fewColumns<N + 2>(block) : void()), ...);
    }(std::make_integer_sequence<int, columnsInRegisters - 1>());
  }

  int64_t blocks() const { return (view.inner + columnsTogether - 1) / columnsTogether; }
  bool areShort() const { return view.inner == 1 && view.size <= shortRow; }
  /// Rows, or columns, of a step.
  int64_t together() const { return view.inner > 1 ? columnsTogether : areShort() ? shortTogether : rowsTogether; }
  int64_t steps() const { return view.inner == 1 ? (view.outer + together() - 1) / together() : view.outer * blocks(); }
  void run(int64_t begin, int64_t end) const {
    for (int64_t step = begin; step < end; ++step) {
      if (areColumnsFew()) {
        someColumns(step);
        continue;
      }
      if (view.inner > 1) {
        columns(step / blocks(), step % blocks() * columnsTogether);
        continue;
      }
      int64_t first = step * together(), some = std::min(together(), view.outer - first);
      if (areShort())
        someShortRows(first, some);
      else if (some == rowsTogether)
        rows<rowsTogether>(first);
      else
        for (int64_t r = 0; r < some; ++r)
          rows<1>(first + r);
    }
  }
};

template <typename From, typename T, bool product> void scan(const Tensor &x, Tensor &out, const AxisView &view) {
  using Job = Scan<From, T, product>;
  Job job{x.as<From>(), out.as<T>(), view};
  constexpr int64_t grain = 1 << 15;
  parallelFor(
      job.steps(), std::max<int64_t>(1, grain / view.size / job.together()),
      [](void *context, int64_t begin, int64_t end) { static_cast<Job *>(context)->run(begin, end); }, &job);
}

} // namespace

TensorRef cumulate(TensorRef consumed, int64_t axis, bool product) {
  const Tensor &x = *consumed;
  bool isBool = x.dtype == DType::Bool;
  TensorRef out = isBool ? TensorRef(newTensor(DType::I64, x.shape())) : placeFor(consumed);
  AxisView view(x, axis);
  if (view.outer == 0)
    return out;
  auto as = [&]<typename From, typename T>(const From *, const T *) {
    (product ? scan<From, T, true> : scan<From, T, false>)(x, *out, view);
  };
  if (isBool)
    as(static_cast<uint8_t *>(nullptr), static_cast<int64_t *>(nullptr));
  else
    dispatch(x.dtype, [&](auto *type) { as(type, type); });
  return out;
}

} // namespace toy::rt
