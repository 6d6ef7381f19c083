// SPDX-License-Identifier: Apache-2.0
/// \file
/// Matrix products by cuBLAS, and what is common to calls of libraries; the host does what one of them refuses.
#include "runtime/cuda/DeviceImpl.h"

#include "runtime/Blas.h"
#include "runtime/Error.h"
#include "runtime/Memory.h"
#include "support/Half.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace toy::rt {
namespace cuda {

DeviceBlock *runKernel(CudaDevice &device, const char *name, DeviceBlock *operand, int64_t bytes, int64_t count,
                       int64_t word, int64_t site) {
  Record record;
  record.kernel = &kernelAround(name);
  record.operands = {operand};
  record.words = {count, word};
  record.grid = static_cast<unsigned>((count + blockThreads - 1) / blockThreads);
  record.site = site;
  return device.record(std::move(record), bytes);
}

namespace {

constexpr int64_t workspaceBytes = 32 << 20;

/// One operand: which of its axes is contiguous; false where cuBLAS cannot read it as it is.
bool blasOperand(int64_t rows, int64_t columns, int64_t rowStride, int64_t columnStride, bool conjugated, int &op,
                 int &leading) {
  constexpr int64_t most = INT32_MAX;
  // Row-major data is the transposed matrix in column-major order, and the product is computed transposed: a plain
  // row-major operand is plain.
  if ((columnStride == 1 || columns == 1) && !conjugated && (rowStride >= std::max<int64_t>(columns, 1) || rows == 1)) {
    int64_t ld = rows == 1 ? std::max<int64_t>(columns, 1) : rowStride;
    op = blasPlain;
    leading = static_cast<int>(ld);
    return ld <= most;
  }
  if ((rowStride == 1 || rows == 1) && (columnStride >= std::max<int64_t>(rows, 1) || columns == 1)) {
    int64_t ld = columns == 1 ? std::max<int64_t>(rows, 1) : columnStride;
    op = conjugated ? blasConjugated : blasTransposed;
    leading = static_cast<int>(ld);
    return ld <= most;
  }
  return false;
}

/// One stride for all batch axes together, those of size 1 left out; false if there is none.
bool batchStride(std::span<const int64_t> sizes, std::span<const int64_t> strides, long long &stride) {
  stride = 0;
  int64_t expected = 0;
  bool first = true;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1)
      continue;
    if (first)
      stride = strides[i];
    else if (strides[i] != expected)
      return false;
    expected = strides[i] * sizes[i];
    first = false;
  }
  return true;
}

/// A factor as cuBLAS reads it.
struct Factor {
  DeviceBlock *block;
  int64_t offset; ///< elements
  int op = blasPlain, leading = 0;
  long long stride = 0;
  bool copied = false; ///< `block` belongs to this one
  int64_t elements = 0;
  int64_t count(const Tensor &t) const { return copied ? elements : t.count(); }
};

/// Finds how to read a factor; what cuBLAS cannot address (other steps, conjugates that are not transposed) is copied
/// first.
bool read(CudaDevice &device, Factor &f, DType dtype, std::span<const int64_t> batch,
          std::span<const int64_t> batchStrides, int64_t rows, int64_t columns, int64_t rowStride, int64_t columnStride,
          bool conjugated, int64_t site) {
  if (blasOperand(rows, columns, rowStride, columnStride, conjugated, f.op, f.leading) &&
      batchStride(batch, batchStrides, f.stride))
    return true;
  std::vector<int64_t> sizes(batch.begin(), batch.end()), strides(batchStrides.begin(), batchStrides.end());
  bool transposed = conjugated;
  for (bool isRow : {!transposed, transposed}) {
    sizes.push_back(isRow ? rows : columns);
    strides.push_back(isRow ? rowStride : columnStride);
  }
  DeviceBlock *copy = copyDense(device, dtype, f.block, f.offset, sizes, strides, site);
  if (!copy)
    return false;
  f = {copy,
       0,
       transposed ? blasConjugated : blasPlain,
       static_cast<int>(std::max<int64_t>(transposed ? rows : columns, 1)),
       rows * columns,
       true,
       1};
  for (int64_t size : sizes)
    f.elements *= size;
  return true;
}

/// A product with a result of its own, or added to `onto`.
DeviceBlock *recordProduct(CudaDevice &device, Record record, int64_t bytes, DeviceBlock *onto) {
  if (!onto)
    return device.record(std::move(record), bytes);
  device.recordUpdate(std::move(record), onto);
  return onto;
}

/// A product of f32 or c64 on the units for TF32, with the digits of f32: each factor as a sum of two with 11 digits,
/// three of the four products added (the fourth is below the rounding). Elements that are not finite take part in the
/// product of the upper digits alone, as the others would make NaN of infinities. A complex product is the real one of
/// A as it lies in memory, with twice the columns, and B expanded to
/// [[re, im], [-im, re]] (F. G. Van Zee's 1m method). Null where the factors are not whole row-major matrices.
DeviceBlock *splitProduct(CudaDevice &device, ProductPlan p, bool complex, DeviceBlock *left, int64_t leftCount,
                          DeviceBlock *right, int64_t rightCount, int64_t bytes, DeviceBlock *onto, int64_t site) {
  auto isWhole = [](int op, int ld, int rows, int columns, int64_t offset, int64_t count) {
    return op == blasPlain && ld == columns && offset == 0 && count == int64_t(rows) * columns;
  };
  if (p.batch != 1 || !isWhole(p.opA, p.ldA, p.m, p.k, p.offsetA, leftCount) ||
      !isWhole(p.opB, p.ldB, p.k, p.n, p.offsetB, rightCount) || p.k > INT32_MAX / 2 || p.n > INT32_MAX / 2)
    return nullptr;
  DeviceBlock *factor = right;
  if (complex) {
    factor = runKernel(device, "expand", right, rightCount * 16, rightCount, p.n, site);
    leftCount *= 2;
    rightCount *= 4;
    p.k *= 2;
    p.n *= 2;
    p.ldA = p.k;
    p.ldB = p.ldC = p.n;
  }
  Record record;
  for (int64_t rest : {0, 1, 2})
    record.operands.push_back(runKernel(device, "split", left, leftCount * 4, leftCount, rest, site));
  for (int64_t rest : {0, 1, 2})
    record.operands.push_back(runKernel(device, "split", factor, rightCount * 4, rightCount, rest, site));
  std::vector<DeviceBlock *> temporaries = record.operands;
  if (complex)
    temporaries.push_back(factor);
  p.type = p.typeC = blasF32;
  p.compute = computeF32FastTf32;
  p.terms = 3;
  record.product = p;
  record.site = site;
  DeviceBlock *result = recordProduct(device, std::move(record), bytes, onto);
  for (DeviceBlock *block : temporaries)
    device.release(block);
  return result;
}

} // namespace

bool CudaDevice::has(bool isOpen, const char *work, const std::string &problem, int64_t site) {
  if (!isOpen && deviceOptions().choice == DeviceChoice::Cuda && missed.insert(work).second)
    missing.push_back({work, problem, site});
  return isOpen;
}

void CudaDevice::noteFallback(const char *what, int status, int64_t site) {
  if (fallbackKinds.insert(what).second)
    fallbacks.push_back({fmt::format("{} gives status {}", what, status), site});
}

/// What must not be made while a stream is captured. False where cuBLAS cannot be used.
bool CudaDevice::prepareProduct(int64_t site) {
  if (std::string unused; !blas)
    blas = openBlas(unused); // which recording has done before
  if (!workspace)
    workspace = allocate(workspaceBytes);
  if (!handle)
    if (int status = blas->create(&handle); status != 0) {
      noteFallback("cublasCreate", status, site);
      handle = nullptr;
    }
  return handle != nullptr;
}

bool CudaDevice::callLibrary(const Record &record, Stream on) {
  if (record.transform)
    return transform(record, on);
  return multiply(record, on);
}

std::vector<char> CudaDevice::contents(DeviceBlock *block, Stream on) {
  std::vector<char> out(block->bytes);
  copyToHost(out.data(), block->address, block->bytes, on);
  return out;
}

void CudaDevice::replace(DeviceBlock *block, const void *with, Stream on) {
  copyToDevice(block->address, with, block->bytes, on);
}

/// One product of two blocks as cuBLAS would have added it to the result.
void CudaDevice::multiplyOnHost(const Record &record, DeviceBlock *left, DeviceBlock *right, double beta, Stream on) {
  const ProductPlan &p = record.product;
  auto dtypeOf = [](int type) {
    return type == blasBF16  ? DType::BF16
           : type == blasF16 ? DType::F16
           : type == blasF32 ? DType::F32
           : type == blasF64 ? DType::F64
           : type == blasC64 ? DType::C64
                             : DType::C128;
  };
  DType from = dtypeOf(p.type), to = dtypeOf(p.typeC), sums = isHalf(to) ? DType::F32 : to;
  auto factor = [&](DeviceBlock *block, int64_t &offset) {
    std::vector<char> bytes = contents(block, on);
    if (!isHalf(from))
      return bytes;
    std::vector<char> wide(bytes.size() * 2);
    for (size_t i = 0; i < bytes.size() / 2; ++i) {
      uint16_t bits = 0;
      std::memcpy(&bits, &bytes[2 * i], 2);
      float value = fromHalf(from, bits);
      std::memcpy(&wide[4 * i], &value, 4);
    }
    offset *= 2;
    return wide;
  };
  int64_t offsetA = p.offsetA, offsetB = p.offsetB;
  int64_t elements = record.results[0]->bytes / sizeOf(to);
  std::vector<char> a = factor(left, offsetA), b = factor(right, offsetB),
                    c = beta != 0 ? contents(record.results[0], on) : std::vector<char>(elements * sizeOf(sums));
  int64_t strideA = p.strideA, strideB = p.strideB, batch = p.batch;
  gemm(sums, p.m, p.n, p.k,
       {a.data() + offsetA, p.opA == blasPlain ? p.ldA : 1, p.opA == blasPlain ? 1 : p.ldA, &strideA,
        p.opA == blasConjugated},
       {b.data() + offsetB, p.opB == blasPlain ? p.ldB : 1, p.opB == blasPlain ? 1 : p.ldB, &strideB,
        p.opB == blasConjugated},
       c.data(), std::span(&batch, 1), p.alpha, beta);
  if (isHalf(to)) // in place, as nothing is added to products of halves
    for (int64_t i = 0; i < elements; ++i) {
      float value = 0;
      std::memcpy(&value, &c[4 * i], 4);
      uint16_t bits = toHalf(to, value);
      std::memcpy(&c[2 * i], &bits, 2);
    }
  replace(record.results[0], c.data(), on);
}

bool CudaDevice::multiply(const Record &record, Stream on) {
  bool ready = prepareProduct(record.site);
  if (ready) {
    const char *what = "cublasSetStream";
    int status = blas->setStream(handle, on);
    if (status == 0) {
      what = "cublasSetWorkspace"; // forgotten with every new stream
      status = blas->setWorkspace(handle, reinterpret_cast<void *>(workspace), workspaceBytes);
    }
    if (status != 0)
      noteFallback(what, status, record.site);
    ready = status == 0;
  }
  const ProductPlan &p = record.product;
  double alpha[2] = {p.alpha, 0}, beta[2] = {p.beta, 0};
  float alphaSingle[2] = {static_cast<float>(p.alpha), 0}, betaSingle[2] = {static_cast<float>(p.beta), 0};
  bool single = p.compute != computeF64, done = true; // the kind of sums, and of what they are scaled by
  auto at = [](Pointer address) { return reinterpret_cast<void *>(address); };
  auto product = [&](DeviceBlock *a, DeviceBlock *b) {
    int status = 1;
    if (ready) {
      status = blas->gemmStridedBatchedEx(
          handle, p.opB, p.opA, p.n, p.m, p.k, single ? static_cast<void *>(alphaSingle) : alpha,
          at(b->address + p.offsetB), p.type, p.ldB, p.strideB, at(a->address + p.offsetA), p.type, p.ldA, p.strideA,
          single ? static_cast<void *>(betaSingle) : beta, at(record.results[0]->address), p.typeC, p.ldC, p.strideC,
          p.batch, p.compute, -1);
      if (status != 0)
        noteFallback("cublasGemmStridedBatchedEx", status, record.site);
    }
    if (status != 0 && on == capture)
      done = false;
    else if (status != 0)
      multiplyOnHost(record, a, b, beta[0], on);
    beta[0] = betaSingle[0] = 1; // the next one adds
  };
  const auto &o = record.operands;
  if (p.terms == 1)
    product(o[0], o[1]);
  else { // the small ones first
    product(o[1], o[5]);
    product(o[2], o[4]);
    product(o[0], o[3]);
  }
  stats.products += ready && done;
  return done;
}

} // namespace cuda

using cuda::CudaDevice;

/// Element types of cuBLAS, or -1.
static int blasTypeOf(DType dtype) {
  switch (dtype) {
  case DType::BF16:
    return cuda::blasBF16;
  case DType::F16:
    return cuda::blasF16;
  case DType::F32:
    return cuda::blasF32;
  case DType::F64:
    return cuda::blasF64;
  case DType::C64:
    return cuda::blasC64;
  case DType::C128:
    return cuda::blasC128;
  default:
    return -1;
  }
}

Tensor *deviceProduct(Tensor *a, const StridedView &aView, Tensor *b, const StridedView &bView, double scale,
                      int64_t site, Tensor *onto, bool isRounded) {
  int type = blasTypeOf(a->dtype);
  std::string problem;
  bool halves = isHalf(a->dtype), complex = isComplex(a->dtype);
  DType result = halves && !isRounded ? DType::F32 : a->dtype;
  ProductShape s = productShape(aView, bView);
  int64_t count = 1, size = sizeOf(a->dtype), bytes = checkedCount(s.result, result) * sizeOf(result);
  for (int64_t n : s.batch)
    count *= n;
  Tensor *operands[] = {a, b};
  CudaDevice *device = type < 0 ? nullptr : cuda::deviceFor(operands, bytes);
  if (!device || bytes == 0 || s.k == 0 || std::max({s.m, s.n, s.k, count}) > INT32_MAX ||
      (!onto && !cuda::isWorthwhile(*device, operands, bytes, 2.0 * count * s.m * s.n * s.k * (complex ? 4 : 1))) ||
      !device->has(cuda::openBlas(problem), "matrix products", problem, site))
    return nullptr;
  cuda::ProductPlan p{};
  cuda::Factor left{device->blockOf(*a), aView.offset}, right{device->blockOf(*b), bView.offset};
  auto drop = [&] {
    for (cuda::Factor *factor : {&left, &right})
      if (factor->copied)
        device->release(factor->block);
  };
  if (!cuda::read(*device, left, a->dtype, s.batch, s.aBatch, s.m, s.k, s.aRow, s.aColumn, complex && aView.conjugated,
                  site) ||
      !cuda::read(*device, right, b->dtype, s.batch, s.bBatch, s.k, s.n, s.bRow, s.bColumn, complex && bView.conjugated,
                  site)) {
    drop();
    return nullptr;
  }
  p.opA = left.op;
  p.opB = right.op;
  p.ldA = left.leading;
  p.ldB = right.leading;
  p.strideA = left.stride;
  p.strideB = right.stride;
  p.m = static_cast<int>(s.m);
  p.n = static_cast<int>(s.n);
  p.k = static_cast<int>(s.k);
  p.ldC = p.n;
  p.batch = static_cast<int>(count);
  p.strideC = s.m * s.n;
  p.type = type;
  p.typeC = blasTypeOf(result);
  bool single = realOf(a->dtype) == DType::F32;
  MatmulPrecision precision = deviceOptions().precision;
  p.compute = halves                                 ? cuda::computeF32
              : !single                              ? cuda::computeF64
              : precision == MatmulPrecision::Medium ? cuda::computeF32FastTf32
                                                     : cuda::computeF32Pedantic;
  p.offsetA = left.offset * size;
  p.offsetB = right.offset * size;
  p.alpha = scale;
  p.beta = onto ? 1 : 0;
  DeviceBlock *sum = onto ? device->blockOf(*onto) : nullptr, *made = nullptr;
  if (single && precision == MatmulPrecision::High)
    made = cuda::splitProduct(*device, p, complex, left.block, left.count(*a), right.block, right.count(*b), bytes, sum,
                              site);
  ++device->stats.precisions[made                                    ? "3xtf32"
                             : halves                                ? std::string(nameOf(a->dtype))
                             : !single                               ? "f64"
                             : p.compute == cuda::computeF32FastTf32 ? "tf32"
                                                                     : "f32"];
  if (!made) {
    cuda::Record record;
    record.operands = {left.block, right.block};
    record.product = p;
    record.site = site;
    made = cuda::recordProduct(*device, std::move(record), bytes, sum);
  }
  drop();
  if (!onto)
    return newDeviceTensor(result, s.result, made);
  onDeviceOnly(*onto);
  return onto;
}

} // namespace toy::rt
