// SPDX-License-Identifier: Apache-2.0
/// \file
/// Cuts products of matrices into panels: columns of b whose part stays in the second cache, and, for threads,
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

template <typename N> const ProductKernels<N> &kernels() {
  static const ProductKernels<N> chosen = [] {
    if constexpr (std::is_same_v<N, float>)
      return TOY_KERNELS_OF_MACHINE(productKernelsF32);
    else if constexpr (std::is_same_v<N, double>)
      return TOY_KERNELS_OF_MACHINE(productKernelsF64);
    else if constexpr (std::is_same_v<N, std::complex<float>>)
      return TOY_KERNELS_OF_MACHINE(productKernelsC64);
    else
      return TOY_KERNELS_OF_MACHINE(productKernelsC128);
  }();
  return chosen;
}
int64_t pieces(int64_t n, int64_t piece) { return (n + piece - 1) / piece; }

/// Numbers of panels go over columns first: neighbours read the same rows of a.
template <typename N> struct Panels {
  PanelProduct<N> whole;
  int64_t width, across, height;

  void run(int64_t number, N *room) const {
    PanelProduct<N> x = whole;
    const int64_t j = number % across * width, i = number / across * height;
    x.n = std::min(width, whole.n - j);
    x.m = std::min(height, whole.m - i);
    x.c += i * x.cRow + j;
    for (int64_t p = 0; p < whole.k; p += PanelProduct<N>::deepest) {
      x.k = std::min(PanelProduct<N>::deepest, whole.k - p);
      x.a = whole.a + i * x.aRow + p * x.aColumn;
      x.b = whole.b + p * x.bRow + j * x.bColumn;
      kernels<N>().panel(x, room);
      x.beta = 1;
    }
  }
};

/// Blocks of the inner axis of a product, in order. A b that does not lie by rows is packed.
template <typename N> void inBlocks(PanelProduct<N> x) {
  const PanelProduct<N> whole = x;
  const int64_t deep = std::min(whole.k, PanelProduct<N>::deepest);
  std::optional<Scratch<N>> room;
  if (x.bColumn != 1)
    room.emplace(kernels<N>().room(x.n, deep));
  for (int64_t p = 0; p < whole.k; p += deep) {
    x.k = std::min(deep, whole.k - p);
    x.a = whole.a + p * x.aColumn;
    x.b = whole.b + p * x.bRow;
    room ? kernels<N>().panel(x, room->data()) : kernels<N>().direct(x);
    x.beta = 1;
  }
}
/// A product of which b, or a part of it for all rows, stays in a cache: threads share its rows, or the columns of few.
/// A small b whose columns lie together is transposed.
template <typename N> void inCache(PanelProduct<N> x) {
  constexpr int64_t few = 1 << 14; // elements
  std::optional<Scratch<N>> rows;
  if (x.bColumn != 1 && x.bRow == 1 && x.n * x.k <= few) {
    rows.emplace(x.n * x.k);
    transpose({rows->data(), x.b, x.n, x.bColumn, x.n, x.k}, sizeof(N));
    x.b = rows->data();
    x.bRow = x.n;
    x.bColumn = 1;
  }
  constexpr int64_t grain = 1 << 18, height = 64;
  if (x.m < height * threads() && x.m < x.n)
    return parallelFor(
        x.n, std::max(height, grain / std::max<int64_t>(x.m * x.k, 1)),
        [](void *context, int64_t begin, int64_t end) {
          PanelProduct<N> x = *static_cast<const PanelProduct<N> *>(context);
          x.n = end - begin;
          x.b += begin * x.bColumn;
          x.c += begin;
          inBlocks(x);
        },
        &x);
  parallelFor(
      x.m, std::max(height, grain / std::max<int64_t>(x.n * x.k, 1)),
      [](void *context, int64_t begin, int64_t end) {
        PanelProduct<N> x = *static_cast<const PanelProduct<N> *>(context);
        x.m = end - begin;
        x.a += begin * x.aRow;
        x.c += begin * x.cRow;
        inBlocks(x);
      },
      &x);
}
/// About how many cycles that takes.
template <typename N> double cyclesInCache(const PanelProduct<N> &x) {
  constexpr int64_t lanes = 64 / sizeof(N);
  const double work = double(x.m) * pieces(x.n, lanes) * x.k * (x.n <= lanes ? 0.75 : 0.5);
  return x.bColumn == 1 ? work : work + 0.05 * sizeof(N) * x.n * x.k;
}
/// The product itself, or its transpose of which a is the second factor, if that takes less time.
template <typename N> void inCacheOrTransposed(const PanelProduct<N> &x) {
  PanelProduct<N> other{x.n,    x.m,     x.k, x.b,     x.bColumn, x.bRow,       x.a,         x.aColumn,
                        x.aRow, nullptr, x.m, x.alpha, 0,         x.bConjugate, x.aConjugate};
  if (x.beta != 0 || cyclesInCache(x) <= cyclesInCache(other) + 0.8 * x.m * x.n)
    return inCache(x);
  const Scratch<N> result(x.m * x.n);
  other.c = result.data();
  inCache(other);
  transpose({x.c, result.data(), x.cRow, x.m, x.n, x.m}, sizeof(N));
}

} // namespace

template <typename N>
bool panelProduct(int64_t m, int64_t n, int64_t k, Part<N> alpha, const N *a, const MatrixOperand &ao, const N *b,
                  const MatrixOperand &bo, Part<N> beta, N *c) {
  constexpr int64_t parts = sizeof(N) / sizeof(Part<N>), cached = 1000000;
  constexpr int64_t brief = 1 << 28;                             // longer ones look for Ctrl-C, and share columns
  const int64_t few = (bo.columnStride == 1 ? 256 : 40) / parts; // for which packing b takes too long
  const PanelProduct<N> whole{m, n, k,     a,    ao.rowStride, ao.columnStride, b, bo.rowStride, bo.columnStride,
                              c, n, alpha, beta, ao.conjugate, bo.conjugate};
  if (m * n * k <= ((m < few || n < few) ? brief : cached)) {
    inCacheOrTransposed<N>(whole);
    return true;
  }
  // A panel of b stays in the second cache, or is wide where reading a for each panel costs more.
  constexpr int64_t most = sizeof(N) > sizeof(Part<N>) ? (1 << 23) / static_cast<int64_t>(sizeof(N)) : 1 << 21;
  const bool isNarrow = ao.columnStride == 1 && m * std::min(k, PanelProduct<N>::deepest) <= most;
  const int64_t width = std::min<int64_t>(n, (isNarrow ? 768 : 7680) / static_cast<int64_t>(sizeof(N)));
  Panels<N> panels{whole, width, pieces(n, width), m};
  constexpr int64_t lowest = 128, longest = int64_t(1) << 31; // multiplications between two looks for Ctrl-C
  const int64_t highest = std::max(lowest, longest / (width * k) / 8 * 8);
  const int64_t wanted = threads() > 1 ? pieces(2 * threads(), panels.across) : 1; // of rows, so that all have work
  panels.height = std::clamp(pieces(pieces(m, wanted), 8) * 8, lowest, highest);
  parallelFor(
      panels.across * pieces(m, panels.height), 1,
      [](void *context, int64_t begin, int64_t end) {
        const auto &panels = *static_cast<const Panels<N> *>(context);
        const PanelProduct<N> &x = panels.whole;
        const Scratch<N> room(kernels<N>().room(panels.width, std::min(x.k, PanelProduct<N>::deepest)));
        Watch watch;
        for (int64_t i = begin; i < end; ++i) {
          watch(std::min(x.m, panels.height) * panels.width * x.k / 8);
          panels.run(i, room.data());
        }
      },
      &panels);
  return true;
}
#define TOY_PANEL_PRODUCT(NUMBER)                                                                                      \
  template bool panelProduct(int64_t, int64_t, int64_t, Part<NUMBER>, const NUMBER *, const MatrixOperand &,           \
                             const NUMBER *, const MatrixOperand &, Part<NUMBER>, NUMBER *);
TOY_PANEL_PRODUCT(float)
TOY_PANEL_PRODUCT(double)
TOY_PANEL_PRODUCT(std::complex<float>)
TOY_PANEL_PRODUCT(std::complex<double>)
#undef TOY_PANEL_PRODUCT

} // namespace toy::rt
