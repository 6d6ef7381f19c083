// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random tensors: every call has a number, every element a counter.
#include "runtime/ArrayOps.h"

#include "runtime/Parallel.h"
#include "runtime/RandomKernels.h"

namespace toy::rt {

static RandomKernels::Fill kernelFor(DType dtype, bool normal) {
  static const RandomKernels kernels = TOY_KERNELS_OF_MACHINE(randomKernels);
  switch (dtype) {
  case DType::F32:
    return normal ? kernels.normalF32 : kernels.uniformF32;
  case DType::F64:
    return normal ? kernels.normalF64 : kernels.uniformF64;
  case DType::C64:
    return kernels.normalC64;
  default:
    return kernels.normalC128;
  }
}

TensorRef random(RandomState &state, DType dtype, std::span<const int64_t> sizes, bool normal) {
  TensorRef out(newTensor(dtype, sizes));
  struct Fill {
    RandomJob job;
    RandomKernels::Fill kernel;
  } fill{{state.seed, state.counter++, out->data}, kernelFor(dtype, normal)};
  parallelFor(
      out->count(), 1 << 15,
      [](void *context, int64_t begin, int64_t end) {
        auto &fill = *static_cast<Fill *>(context);
        fill.kernel(fill.job, begin, end);
      },
      &fill);
  return out;
}

} // namespace toy::rt
