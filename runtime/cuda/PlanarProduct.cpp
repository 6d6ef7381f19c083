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

  /// x + factor * y, or the pairs of both, by a kernel of Kernels.cu.
  TensorRef combined(const char *kernel, Tensor *x, Tensor *y, double factor = 1) const {
    bool single = x->dtype == DType::F32, pairs = std::string_view(kernel) == "pair";
    int64_t count = x->count(), bits = single ? std::bit_cast<uint32_t>(static_cast<float>(factor)) : std::bit_cast<int64_t>(factor), words[] = {count, bits};
    Tensor *operands[] = {x, y};
    DeviceLaunch::Result result[] = {{pairs ? complexOf(x->dtype) : x->dtype, x->shape()}};
    std::vector<Tensor *> made = deviceLaunch({&cuda::kernelAround((std::string(kernel) + (single ? "_f32" : "_f64")).c_str()), result, operands, words, count, site, 1});
    return TensorRef(made.empty() ? nullptr : made[0]);
  }

  /// Every `step`-th real number of z from the first one on, as a tensor of z's sizes.
  TensorRef copied(Tensor &z, int64_t first, int64_t step) const {
    cuda::CudaDevice *device = cuda::usableDevice();
    DType real = realOf(z.dtype);
    int64_t sizes[] = {z.count()}, steps[] = {step};
    DeviceBlock *block = device ? cuda::copyDense(*device, real, device->blockOf(z), first, sizes, steps, site) : nullptr;
    return TensorRef(block ? newDeviceTensor(real, z.shape(), block) : nullptr);
  }

  bool fourReal(TensorRef &re, TensorRef &im) const {
    re = TensorRef(deviceProduct(a, x, c, y, 1, site));
    im = TensorRef(re ? deviceProduct(a, x, d, y, ySign, site) : nullptr);
    return re && im && deviceProduct(b, x, d, y, -xSign * ySign, site, re.get()) && deviceProduct(b, x, c, y, xSign, site, im.get());
  }

  /// p = (a + b) c, re = p - b (c + d), im = p + a (d - c).
  bool gauss(TensorRef &re, TensorRef &im) const {
    TensorRef left = combined("sum", a, b, xSign), sum = combined("sum", c, d, ySign), difference = combined("sum", c, d, -ySign);
    if (!left || !sum || !difference)
      return false;
    re = TensorRef(deviceProduct(left.get(), x, c, y, 1, site));
    im = re ? copied(*re, 0, 1) : TensorRef();
    return re && im && deviceProduct(b, x, sum.get(), y, -xSign, site, re.get()) && deviceProduct(a, x, difference.get(), y, -1, site, im.get());
  }

  bool native(TensorRef &re, TensorRef &im) const {
    TensorRef left = combined("pair", a, b), right = combined("pair", c, d);
    if (!left || !right)
      return false;
    StridedView leftView = x, rightView = y;
    leftView.dtype = rightView.dtype = left->dtype;
    leftView.conjugated = xSign < 0;
    rightView.conjugated = ySign < 0;
    TensorRef product(deviceProduct(left.get(), leftView, right.get(), rightView, 1, site));
    if (!product)
      return false;
    re = copied(*product, 0, 2);
    im = copied(*product, 1, 2);
    return re && im;
  }
};

} // namespace

bool devicePlanarProduct(Tensor *const parts[4], const StridedView &x, const StridedView &y, bool conjugateX, bool conjugateY, ComplexProduct strategy, int64_t site, Tensor *results[2]) {
  Planar product{parts[0], parts[1], parts[2], parts[3], x, y, conjugateX ? -1.0 : 1.0, conjugateY ? -1.0 : 1.0, site};
  TensorRef re, im;
  bool done = strategy == ComplexProduct::Gauss ? product.gauss(re, im) : strategy == ComplexProduct::Native ? product.native(re, im) : product.fourReal(re, im);
  if (done) {
    results[0] = re.take();
    results[1] = im.take();
  }
  return done;
}

} // namespace toy::rt
