// SPDX-License-Identifier: Apache-2.0
/// \file
/// The choice of the machine's kernels.
#include "runtime/Transpose.h"

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

static TransposeKernel machineKernel() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
    return avx512::transposeKernel;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return avx2::transposeKernel;
#endif
  return baseline::transposeKernel;
}

void transpose(const Transposition &t, int64_t elementBytes) {
  static const TransposeKernel kernel = machineKernel();
  kernel(t, elementBytes);
}

} // namespace toy::rt
