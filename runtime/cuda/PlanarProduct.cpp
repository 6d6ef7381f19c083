// SPDX-License-Identifier: Apache-2.0
/// \file
/// Complex products of parts on a device.
#include "runtime/Device.h"
#include "runtime/Planar.h"
#include "runtime/cuda/DeviceImpl.h"

#include <bit>

namespace toy::rt {
namespace {

struct Planar {
  Tensor *a, *b, *c, *d;
  const StridedView &x, &y;
  double xSign, ySign; ///< of the imaginary parts
  int64_t site;

  /// x + factor * y, by a kernel of Kernels.cu.
  TensorRef sum(Tensor *x, Tensor *y, double factor) const {
    bool single = x->dtype == DType::F32;
    int64_t count = x->count(),
            bits = single ? std::bit_cast<uint32_t>(static_cast<float>(factor)) : std::bit_cast<int64_t>(factor),
            words[] = {count, bits};
    Tensor *operands[] = {x, y};
    DeviceLaunch::Result result[] = {{x->dtype, x->shape()}};
    std::vector<Tensor *> made = deviceLaunch({&cuda::kernelAround(single ? "sum_f32" : "sum_f64"), result, operands,
                                               words, count, cuda::blockThreads, site, 1});
    return TensorRef(made.empty() ? nullptr : made[0]);
  }

  TensorRef copied(Tensor &x) const {
    cuda::CudaDevice *device = cuda::usableDevice();
    int64_t sizes[] = {x.count()}, steps[] = {1};
    DeviceBlock *block =
        device ? cuda::copyDense(*device, x.dtype, device->blockOf(x), 0, sizes, steps, site) : nullptr;
    return TensorRef(block ? newDeviceTensor(x.dtype, x.shape(), block) : nullptr);
  }

  bool fourReal(TensorRef &re, TensorRef &im) const {
    re = TensorRef(deviceProduct(a, x, c, y, 1, site));
    im = TensorRef(re ? deviceProduct(a, x, d, y, ySign, site) : nullptr);
    return re && im && deviceProduct(b, x, d, y, -xSign * ySign, site, re.get()) &&
           deviceProduct(b, x, c, y, xSign, site, im.get());
  }

  /// p = (a + b) c, re = p - b (c + d), im = p + a (d - c).
  bool gauss(TensorRef &re, TensorRef &im) const {
    TensorRef left = sum(a, b, xSign), right = sum(c, d, ySign), difference = sum(c, d, -ySign);
    if (!left || !right || !difference)
      return false;
    re = TensorRef(deviceProduct(left.get(), x, c, y, 1, site));
    im = re ? copied(*re) : TensorRef();
    return re && im && deviceProduct(b, x, right.get(), y, -xSign, site, re.get()) &&
           deviceProduct(a, x, difference.get(), y, -1, site, im.get());
  }
};

} // namespace

bool devicePlanarProduct(Tensor *const parts[4], const StridedView &x, const StridedView &y, bool conjugateX,
                         bool conjugateY, ComplexProduct strategy, int64_t site, Tensor *results[2]) {
  Planar product{parts[0], parts[1], parts[2], parts[3], x, y, conjugateX ? -1.0 : 1.0, conjugateY ? -1.0 : 1.0, site};
  TensorRef re, im;
  bool done = strategy == ComplexProduct::Gauss ? product.gauss(re, im) : product.fourReal(re, im);
  if (done) {
    results[0] = re.take();
    results[1] = im.take();
  }
  return done;
}

} // namespace toy::rt
