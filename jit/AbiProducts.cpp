// SPDX-License-Identifier: Apache-2.0
/// \file
/// Matrix products of compiled code.
#include "jit/AbiProducts.h"

#include "jit/Abi.h"
#include "runtime/Blas.h"
#include "runtime/Device.h"
#include "runtime/Memory.h"
#include "runtime/Parallel.h"
#include "runtime/Planar.h"
#include "support/Half.h"

#include <optional>

using namespace toy;

namespace {

rt::StridedView stridedView(const rt::Tensor &t, const int64_t *view, bool conjugated = false) {
  int64_t rank = *view++;
  const int64_t *axes = view, *bounds = view[rank] ? view + rank + 1 : nullptr;
  rt::StridedView base = rt::denseView(t), out{t.dtype, 0, {}, {}, t.data, conjugated};
  for (int64_t i = 0; bounds && i < t.rank; ++i) {
    out.offset += bounds[3 * i] * base.strides[i];
    base.sizes[i] = bounds[3 * i + 1];
    base.strides[i] *= bounds[3 * i + 2];
  }
  for (int64_t axis : llvm::ArrayRef(axes, rank)) {
    out.sizes.push_back(axis < 0 ? 1 : base.sizes[axis]);
    out.strides.push_back(axis < 0 ? 0 : base.strides[axis]);
  }
  return out;
}

/// A vector, a matrix or a batch of matrices along one axis behind a view, without allocations: what most products are.
struct PlainView {
  static constexpr int mostAxes = 3;
  int64_t rank, sizes[mostAxes], strides[mostAxes];
  const char *data;

  static std::optional<PlainView> of(const rt::Tensor &t, const int64_t *view) {
    constexpr int most = 8;
    PlainView out{*view++, {}, {}, static_cast<const char *>(t.data)};
    if (out.rank > mostAxes || out.rank < 1 || t.rank > most)
      return std::nullopt;
    int64_t sizes[most], strides[most], step = 1;
    for (int i = t.rank; i-- > 0; step *= t.sizes[i]) {
      sizes[i] = t.sizes[i];
      strides[i] = step;
    }
    if (view[out.rank])
      for (int i = 0; i < t.rank; ++i) {
        const int64_t *bounds = view + out.rank + 1 + 3 * i;
        out.data += bounds[0] * strides[i] * sizeOf(t.dtype);
        sizes[i] = bounds[1];
        strides[i] *= bounds[2];
      }
    for (int64_t i = 0; i < out.rank; ++i) {
      out.sizes[i] = view[i] < 0 ? 1 : sizes[view[i]];
      out.strides[i] = view[i] < 0 ? 0 : strides[view[i]];
    }
    return out;
  }
};

rt::Tensor *plainProduct(DType dtype, const PlainView &x, const PlainView &y, int64_t flags, double scale) {
  const int64_t xRow = x.rank - 2, yRow = y.rank > 1 ? y.rank - 2 : 0; // axes; of a vector on the left there is none
  const int64_t k = x.sizes[x.rank - 1], m = x.rank > 1 ? x.sizes[xRow] : 1, n = y.rank > 1 ? y.sizes[yRow + 1] : 1;
  if (k != y.sizes[yRow])
    rt::fail(DiagId::SizesDiffer, {"inner sizes", std::to_string(k), std::to_string(y.sizes[yRow])});
  int64_t batch = 1, xBatch = 0, yBatch = 0, sizes[PlainView::mostAxes];
  for (auto [v, stride] : {std::pair(&x, &xBatch), {&y, &yBatch}})
    if (v->rank > 2 && v->sizes[0] != 1) {
      batch = v->sizes[0];
      *stride = v->strides[0];
    }
  const bool isBatch = x.rank > 2 || y.rank > 2;
  size_t rank = 0;
  if (isBatch)
    sizes[rank++] = batch;
  if (x.rank > 1)
    sizes[rank++] = m;
  if (y.rank > 1)
    sizes[rank++] = n;
  rt::TensorRef out(rt::newTensor(dtype == DType::Bool ? DType::I64 : dtype, {sizes, rank}));
  rt::gemm(dtype, m, n, k,
           {x.data, x.rank > 1 ? x.strides[xRow] : 1, x.strides[x.rank - 1], &xBatch, (flags & 1) && isComplex(dtype)},
           {y.data, y.strides[yRow], y.rank > 1 ? y.strides[yRow + 1] : 1, &yBatch, (flags & 2) && isComplex(dtype)},
           out->data, {&batch, size_t(isBatch)}, scale, 0, rt::Gram(flags >> 5));
  return out.take();
}

rt::TensorRef narrowed(const rt::Tensor &t, DType dtype) {
  rt::TensorRef out(rt::newTensor(dtype, t.shape()));
  for (int64_t i = 0, n = t.count(); i < n; ++i)
    out->as<uint16_t>()[i] = toHalf(dtype, t.as<float>()[i]);
  return out;
}

/// Halves as f32.
rt::TensorRef widened(const rt::Tensor &t) {
  rt::TensorRef out(rt::newTensor(DType::F32, t.shape()));
  for (int64_t i = 0, n = t.count(); i < n; ++i)
    out->as<float>()[i] = fromHalf(t.dtype, t.as<uint16_t>()[i]);
  return out;
}

/// Whether a product may be a device's: where that is left to us, only if there is a driver.
bool mayBeOnDevice() {
  if (const auto choice = rt::deviceOptions().choice; choice != rt::DeviceChoice::Auto || rt::deviceWasOpened())
    return choice != rt::DeviceChoice::Cpu;
  static const bool hasDriver = rt::deviceIsWanted(); // looking for one takes longer than a small product
  return hasDriver;
}

} // namespace

extern "C" {

rt::Tensor *toy_rt_gemm(rt::Tensor *a, const int64_t *aView, rt::Tensor *b, const int64_t *bView, int64_t flags,
                        double scale) {
  abiState().repacks += flags >> 3 & 3;
  ++abiState().products[static_cast<int>(a->dtype)];
  if (mayBeOnDevice()) {
    if (rt::Tensor *product =
            rt::deviceProduct(a, stridedView(*a, aView, flags & 1), b, stridedView(*b, bView, flags & 2), scale,
                              abiSite(), nullptr, flags & 4))
      return product;
    rt::onHost(*a);
    rt::onHost(*b);
  }
  if (isHalf(a->dtype)) { // for a device only
    rt::TensorRef wideA = widened(*a), wideB = widened(*b);
    rt::TensorRef product = rt::matmul(stridedView(*wideA, aView, false), stridedView(*wideB, bView, false), scale);
    return flags & 4 ? narrowed(*product, a->dtype).take() : product.take();
  }
  auto plainX = PlainView::of(*a, aView), plainY = PlainView::of(*b, bView);
  rt::TensorRef out(plainX && plainY ? plainProduct(a->dtype, *plainX, *plainY, flags, scale)
                                     : rt::matmul(stridedView(*a, aView, flags & 1), stridedView(*b, bView, flags & 2),
                                                  scale, rt::Gram(flags >> 5))
                                           .take());
  rt::poll();
  return out.take();
}

void toy_rt_planar_gemm(rt::Tensor *a, rt::Tensor *b, const int64_t *xView, rt::Tensor *c, rt::Tensor *d,
                        const int64_t *yView, int64_t flags, rt::Tensor **results) {
  rt::Tensor *const parts[] = {a, b, c, d};
  auto strategy = static_cast<rt::ComplexProduct>(flags >> 2);
  if (rt::deviceOptions().choice != rt::DeviceChoice::Cpu &&
      rt::devicePlanarProduct(parts, stridedView(*a, xView), stridedView(*c, yView), flags & 1, flags & 2, strategy,
                              abiSite(), results))
    return;
  for (rt::Tensor *t : parts)
    rt::onHost(*t);
  rt::PlanarOperand x{stridedView(*a, xView), stridedView(*b, xView), (flags & 1) != 0},
      y{stridedView(*c, yView), stridedView(*d, yView), (flags & 2) != 0};
  rt::ComplexProduct used;
  auto [re, im] = rt::planarMatmul(x, y, strategy, used);
  if (used == rt::ComplexProduct::Native)
    abiState().repacks += 3; // both factors in, the result out
  ++abiState().kernels["planar_gemm_" + std::string(nameOf(a->dtype)) + "_" + std::string(rt::nameOf(used))];
  rt::poll();
  results[0] = re.take();
  results[1] = im.take();
}
}
