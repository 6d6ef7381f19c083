// SPDX-License-Identifier: Apache-2.0
/// \file
/// The choice of the machine's kernels.
#include "runtime/Transpose.h"

#include "runtime/Isa.h"

namespace toy::rt {

using TransposeKernel = void (*)(const Transposition &, int64_t elementBytes);
namespace baseline {
extern const TransposeKernel transposeKernel;
}
#ifdef __x86_64__
namespace avx2 {
extern const TransposeKernel transposeKernel;
}
namespace avx512 {
extern const TransposeKernel transposeKernel;
}
#endif

void transpose(const Transposition &t, int64_t elementBytes) {
  static const TransposeKernel kernel = TOY_OF_MACHINE(transposeKernel);
  kernel(t, elementBytes);
}

} // namespace toy::rt
