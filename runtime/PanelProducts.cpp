// SPDX-License-Identifier: Apache-2.0
/// \file
/// Cuts products of real matrices into panels: columns of b whose part stays in the second cache, and, for threads,
/// rows of a.
#include "runtime/PanelProducts.h"
#include "runtime/ArrayLoops.h"
#include "runtime/ProductKernels.h"
#include "runtime/Scratch.h"
#include "runtime/Transpose.h"

#include <algorithm>
#include <optional>
#include <type_traits>

namespace toy::rt {
namespace {

template <typename T> const ProductKernels<T> &kernels() {
  static const ProductKernels<T> chosen = [] {
    if constexpr (std::is_same_v<T, float>)
      return TOY_KERNELS_OF_MACHINE(productKernelsF32);
    else
      return TOY_KERNELS_OF_MACHINE(productKernelsF64);
  }();
  return chosen;
}
int64_t pieces(int64_t n, int64_t piece) { return (n + piece - 1) / piece; }

/// Numbers of panels go over columns first: neighbours read the same rows of a.
template <typename T> struct Panels {
  PanelProduct<T> whole;
  int64_t width, across, height;

  void run(int64_t number, T *room) const {
    PanelProduct<T> x = whole;
    const int64_t j = number % across * width, i = number / across * height;
    x.n = std::min(width, whole.n - j);
    x.m = std::min(height, whole.m - i);
    x.c += i * x.cRow + j;
    for (int64_t p = 0; p < whole.k; p += PanelProduct<T>::deepest) {
      x.k = std::min(PanelProduct<T>::deepest, whole.k - p);
      x.a = whole.a + i * x.aRow + p * x.aColumn;
      x.b = whole.b + p * x.bRow + j * x.bColumn;
      kernels<T>().panel(x, room);
      x.beta = 1;
    }
  }
};

/// Rows of a product whose b stays in a cache, by threads. A b that does not lie by rows is transposed or packed.
template <typename T> void inCache(PanelProduct<T> x) {
  constexpr int64_t few = 1 << 14; // elements
  std::optional<Scratch<T>> rows;
  if (x.bColumn != 1 && x.bRow == 1 && x.n * x.k <= few) {
    rows.emplace(x.n * x.k);
    transpose({rows->data(), x.b, x.n, x.bColumn, x.n, x.k}, sizeof(T));
    x.b = rows->data();
    x.bRow = x.n;
    x.bColumn = 1;
  }
  constexpr int64_t grain = 1 << 18, height = 64;
  parallelFor(
      x.m, std::max(height, grain / std::max<int64_t>(x.n * x.k, 1)),
      [](void *context, int64_t begin, int64_t end) {
        PanelProduct<T> x = *static_cast<const PanelProduct<T> *>(context);
        const PanelProduct<T> whole = x;
        const int64_t deep = std::min(whole.k, PanelProduct<T>::deepest);
        std::optional<Scratch<T>> room;
        if (x.bColumn != 1)
          room.emplace(kernels<T>().room(x.n, deep));
        x.m = end - begin;
        x.c += begin * x.cRow;
        for (int64_t p = 0; p < whole.k; p += deep) {
          x.k = std::min(deep, whole.k - p);
          x.a = whole.a + begin * x.aRow + p * x.aColumn;
          x.b = whole.b + p * x.bRow;
          room ? kernels<T>().panel(x, room->data()) : kernels<T>().direct(x);
          x.beta = 1;
        }
      },
      &x);
}
/// About how many cycles that takes.
template <typename T> double cyclesInCache(const PanelProduct<T> &x) {
  constexpr int64_t lanes = 64 / sizeof(T);
  const double work = double(x.m) * pieces(x.n, lanes) * x.k * (x.n <= lanes ? 0.75 : 0.5);
  return x.bColumn == 1 ? work : work + 0.05 * sizeof(T) * x.n * x.k;
}
/// The product itself, or its transpose of which a is the second factor, if that takes less time.
template <typename T> void inCacheOrTransposed(const PanelProduct<T> &x) {
  PanelProduct<T> other{x.n, x.m, x.k, x.b, x.bColumn, x.bRow, x.a, x.aColumn, x.aRow, nullptr, x.m, x.alpha, 0};
  if (x.beta != 0 || cyclesInCache(x) <= cyclesInCache(other) + 0.8 * x.m * x.n)
    return inCache(x);
  const Scratch<T> result(x.m * x.n);
  other.c = result.data();
  inCache(other);
  transpose({x.c, result.data(), x.cRow, x.m, x.n, x.m}, sizeof(T));
}

} // namespace

template <typename T>
bool panelProduct(int64_t m, int64_t n, int64_t k, T alpha, const T *a, const MatrixOperand &ao, const T *b,
                  const MatrixOperand &bo, T beta, T *c) {
  constexpr int64_t few = 16, cached = 1000000, brief = 1 << 28; // longer ones look for Ctrl-C, and share columns
  if (!kernels<T>().panel)
    return false;
  if (m * n * k <= ((m < few || n < few) ? brief : cached)) {
    inCacheOrTransposed<T>(
        {m, n, k, a, ao.rowStride, ao.columnStride, b, bo.rowStride, bo.columnStride, c, n, alpha, beta});
    return true;
  }
  // A panel of b stays in the second cache, or is wide where reading a for each panel costs more.
  const bool isNarrow = ao.columnStride == 1 && m * std::min(k, PanelProduct<T>::deepest) <= 1 << 21;
  const int64_t width = std::min<int64_t>(n, (isNarrow ? 768 : 7680) / static_cast<int64_t>(sizeof(T)));
  Panels<T> panels{{m, n, k, a, ao.rowStride, ao.columnStride, b, bo.rowStride, bo.columnStride, c, n, alpha, beta},
                   width,
                   pieces(n, width),
                   m};
  constexpr int64_t lowest = 128, longest = int64_t(1) << 31; // multiplications between two looks for Ctrl-C
  const int64_t highest = std::max(lowest, longest / (width * k) / 8 * 8);
  const int64_t wanted = threads() > 1 ? pieces(2 * threads(), panels.across) : 1; // of rows, so that all have work
  panels.height = std::clamp(pieces(pieces(m, wanted), 8) * 8, lowest, highest);
  parallelFor(
      panels.across * pieces(m, panels.height), 1,
      [](void *context, int64_t begin, int64_t end) {
        const auto &panels = *static_cast<const Panels<T> *>(context);
        const PanelProduct<T> &x = panels.whole;
        const Scratch<T> room(kernels<T>().room(panels.width, std::min(x.k, PanelProduct<T>::deepest)));
        Watch watch;
        for (int64_t i = begin; i < end; ++i) {
          watch(std::min(x.m, panels.height) * panels.width * x.k / 8);
          panels.run(i, room.data());
        }
      },
      &panels);
  return true;
}
template bool panelProduct(int64_t, int64_t, int64_t, float, const float *, const MatrixOperand &, const float *,
                           const MatrixOperand &, float, float *);
template bool panelProduct(int64_t, int64_t, int64_t, double, const double *, const MatrixOperand &, const double *,
                           const MatrixOperand &, double, double *);

} // namespace toy::rt
