// SPDX-License-Identifier: Apache-2.0
/// \file
/// The choice of the machine's kernels.
#include "runtime/Transpose.h"

namespace toy::rt {

static const TileKernels &kernels() {
  static const TileKernels chosen = TOY_KERNELS_OF_MACHINE(tileKernels);
  return chosen;
}
void transpose(const Transposition &t, int64_t elementBytes) { kernels().transpose(t, elementBytes); }
void sumRows(const RowSums &x, SummedAs type) { kernels().sumRows(x, type); }

} // namespace toy::rt
