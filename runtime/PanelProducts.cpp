// SPDX-License-Identifier: Apache-2.0
/// \file
/// Cuts products of f64 into panels: columns of b whose part stays in the second cache, and, for threads, rows of a.
#include "runtime/PanelProducts.h"
#include "runtime/ArrayLoops.h"
#include "runtime/ProductKernels.h"
#include "runtime/Scratch.h"

#include <algorithm>

namespace toy::rt {
namespace {

const ProductKernels &kernels() {
  static const ProductKernels chosen = TOY_KERNELS_OF_MACHINE(productKernels);
  return chosen;
}
int64_t pieces(int64_t n, int64_t piece) { return (n + piece - 1) / piece; }

/// Numbers of panels go over columns first: neighbours read the same rows of a.
struct Panels {
  PanelProduct whole;
  int64_t width, across, height;

  void run(int64_t number, double *room) const {
    PanelProduct x = whole;
    const int64_t j = number % across * width, i = number / across * height;
    x.n = std::min(width, whole.n - j);
    x.m = std::min(height, whole.m - i);
    x.c += i * x.cRow + j;
    for (int64_t p = 0; p < whole.k; p += PanelProduct::deepest) {
      x.k = std::min(PanelProduct::deepest, whole.k - p);
      x.a = whole.a + i * x.aRow + p * x.aColumn;
      x.b = whole.b + p * x.bRow + j * x.bColumn;
      kernels().panel(x, room);
      x.beta = 1;
    }
  }
};

} // namespace

bool panelProduct(int64_t m, int64_t n, int64_t k, double alpha, const double *a, const MatrixOperand &ao,
                  const double *b, const MatrixOperand &bo, double beta, double *c) {
  constexpr int64_t fewRows = 8, fewColumns = 16, smallForBlas = 1000000;
  if (!kernels().panel || m < fewRows || n < fewColumns || m * n * k <= smallForBlas)
    return false;
  // A panel of b stays in the second cache, or is wide where reading a for each panel costs more.
  const bool isNarrow = ao.columnStride == 1 && m * std::min(k, PanelProduct::deepest) <= 1 << 21;
  const int64_t width = std::min<int64_t>(n, isNarrow ? 96 : 960);
  Panels panels{{m, n, k, a, ao.rowStride, ao.columnStride, b, bo.rowStride, bo.columnStride, c, n, alpha, beta},
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
        const auto &panels = *static_cast<const Panels *>(context);
        const PanelProduct &x = panels.whole;
        const Scratch<double> room(kernels().room(panels.width, std::min(x.k, PanelProduct::deepest)));
        Watch watch;
        for (int64_t i = begin; i < end; ++i) {
          watch(std::min(x.m, panels.height) * panels.width * x.k / 8);
          panels.run(i, room.data());
        }
      },
      &panels);
  return true;
}

} // namespace toy::rt
