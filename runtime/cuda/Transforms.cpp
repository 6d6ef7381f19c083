// SPDX-License-Identifier: Apache-2.0
/// \file
/// Fourier transforms by cuFFT; the host does what it refuses.
#include "runtime/cuda/DeviceImpl.h"

#include "runtime/Error.h"
#include "runtime/Library.h"
#include "runtime/Memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace toy::rt {
namespace cuda {

/// A plan for a kind of transform; one that cannot be made is remembered, too.
void CudaDevice::makePlan(const TransformPlan &t, int64_t site) {
  int plan = 0;
  long long half = t.points / 2 + 1, n = t.points, from = t.kind == TransformPlan::RealBackward ? half : n,
            to = t.kind == TransformPlan::RealForward ? half : n;
  int complexType = t.single ? blasC64 : blasC128, realType = t.single ? blasF32 : blasF64;
  size_t workBytes = 0;
  bool isMade = false;
  const char *what = "cufftCreate";
  int status = fft->create(&plan);
  if (status == 0) {
    isMade = true;
    what = "cufftSetAutoAllocation";
    status = fft->setAutoAllocation(plan, 0);
  }
  if (status == 0) {
    what = "cufftXtMakePlanMany";
    status = fft->makePlanMany(
        plan, 1, &n, &from, 1, from, t.kind == TransformPlan::RealForward ? realType : complexType, &to, 1, to,
        t.kind == TransformPlan::RealBackward ? realType : complexType, t.rows, &workBytes, complexType);
  }
  if (status != 0) {
    noteFallback(what, status, site);
    if (isMade)
      fft->destroy(plan);
    plan = -1;
    workBytes = 0;
  }
  transformPlans[t] = {plan, static_cast<int64_t>(workBytes), 0};
}

/// Plans for the recorded transforms, and one work area for all, as calls of libraries follow each other. Graphs have
/// the addresses of both: they go first.
void CudaDevice::prepareTransforms() {
  constexpr size_t mostPlans = 64;
  uint64_t now = ++clock;
  int64_t bytes = 0;
  for (const Record &record : pending) {
    if (!record.transform)
      continue;
    if (std::string unused; !fft)
      fft = openFft(unused); // which recording has done before
    if (!transformPlans.contains(*record.transform))
      makePlan(*record.transform, record.site);
    MadePlan &made = transformPlans.at(*record.transform);
    made.used = now;
    bytes = std::max(bytes, made.workBytes);
  }
  if (bytes > transformAreaBytes) {
    Pointer larger = allocate(bytes);
    destroyGraphsOf(nullptr);
    if (transformAreaBytes > 0)
      giveBack(transformArea, transformAreaBytes);
    transformArea = larger;
    transformAreaBytes = bytes;
  }
  while (transformPlans.size() > mostPlans) {
    auto oldest = std::min_element(transformPlans.begin(), transformPlans.end(),
                                   [](auto &x, auto &y) { return x.second.used < y.second.used; });
    if (oldest->second.used == now)
      break;
    destroyGraphsOf(&oldest->first);
    wait();
    if (oldest->second.plan >= 0)
      fft->destroy(oldest->second.plan);
    transformPlans.erase(oldest);
  }
}

bool CudaDevice::transform(const Record &record, Stream on) {
  const TransformPlan &t = *record.transform;
  bool forward = t.kind == TransformPlan::Forward || t.kind == TransformPlan::RealForward;
  if (int plan = transformPlans.at(t).plan; plan >= 0) {
    const char *what = "cufftSetStream";
    int status = fft->setStream(plan, on);
    if (status == 0) {
      what = "cufftSetWorkArea";
      status = fft->setWorkArea(plan, reinterpret_cast<void *>(transformArea));
    }
    if (status == 0) {
      what = "cufftXtExec";
      status = fft->exec(plan, reinterpret_cast<void *>(record.operands[0]->address),
                         reinterpret_cast<void *>(record.results[0]->address), forward ? -1 : 1);
    }
    if (status == 0) {
      ++stats.transforms;
      return true;
    }
    noteFallback(what, status, record.site);
  }
  if (on == capture)
    return false;
  constexpr std::string_view names[] = {"fft", "ifft", "rfft", "irfft"};
  DType real = t.single ? DType::F32 : DType::F64;
  bool fromReal = t.kind == TransformPlan::RealForward, halved = t.kind == TransformPlan::RealBackward;
  std::vector<char> input = contents(record.operands[0], on);
  TensorRef x(newTensor(fromReal ? real : complexOf(real), std::array{t.rows, halved ? t.points / 2 + 1 : t.points})),
      points(newTensor(DType::I64, std::array<int64_t, 0>()));
  std::memcpy(x->data, input.data(), input.size());
  std::memcpy(points->data, &t.points, sizeof t.points);
  const Tensor *arguments[] = {x.get(), points.get()};
  int64_t parameters[] = {1, forward ? 0 : 2}; // along the last axis, not scaled
  std::vector<TensorRef> made = rt::callLibrary(names[t.kind], arguments, parameters);
  replace(record.results[0], onHost(*made[0]), on);
  return true;
}

} // namespace cuda

using cuda::CudaDevice;

/// fft, ifft, rfft, irfft of the axis' own length: parameters are the axis and the norm (0: the inverse is divided by
/// the points, 1: both by the root, 2: the forward one).
static Tensor *deviceTransform(std::string_view name, const Tensor &x, int64_t axis, int64_t norm, int64_t points,
                               int64_t site) {
  using cuda::TransformPlan;
  constexpr std::string_view names[] = {"fft", "ifft", "rfft", "irfft"};
  auto found = std::find(std::begin(names), std::end(names), name);
  auto kind = static_cast<TransformPlan::Kind>(found - std::begin(names));
  std::string problem;
  int64_t half = points / 2 + 1, wanted = kind == TransformPlan::RealBackward ? half : points;
  if (found == std::end(names) || points < 1 || points > INT32_MAX || x.sizes[axis] != wanted || x.count() == 0)
    return nullptr;
  std::vector<int64_t> sizes(x.sizes, x.sizes + x.rank);
  sizes[axis] = kind == TransformPlan::RealForward ? half : points;
  int64_t outer = 1, inner = 1;
  for (int64_t i = 0; i < axis; ++i)
    outer *= sizes[i];
  for (int64_t i = axis + 1; i < x.rank; ++i)
    inner *= sizes[i];
  TransformPlan plan{kind, realOf(x.dtype) == DType::F32, outer * inner, points};
  DType part = plan.single ? DType::F32 : DType::F64,
        dtype = kind == TransformPlan::RealBackward ? part : complexOf(part);
  int64_t count = checkedCount(sizes, dtype) * (isComplex(dtype) ? 2 : 1), bytes = count * sizeOf(part);
  Tensor *operand = const_cast<Tensor *>(&x), *operands[] = {operand};
  CudaDevice *device = cuda::deviceFor(operands, bytes);
  if (!device || count > INT32_MAX * int64_t(cuda::blockThreads) ||
      !cuda::isWorthwhile(*device, operands, bytes, 2.5 * double(count) * std::log2(double(points) + 1)) ||
      !device->has(cuda::openFft(problem), "Fourier transforms", problem, site))
    return nullptr;
  const char *scaling = plan.single ? "scale_f32" : "scale_f64";
  auto bits = [&](double factor) {
    return plan.single ? static_cast<int64_t>(std::bit_cast<uint32_t>(static_cast<float>(factor)))
                       : std::bit_cast<int64_t>(factor);
  };
  DeviceBlock *input = device->blockOf(*operand), *copy = nullptr;
  // Another axis becomes the last one and comes back: neither a call for each outer index, nor parts of a tensor, which
  // need not be aligned as cuFFT wants them, nor elements that are apart, of which cuFFT makes other last bits.
  bool exchanged = inner > 1;
  if (exchanged)
    input = copy = cuda::copyDense(*device, x.dtype, input, 0, std::array{outer, inner, wanted},
                                   std::array{wanted * inner, int64_t(1), inner}, site);
  else if (kind == TransformPlan::RealBackward) // which overwrites what it reads
    input = copy = cuda::runKernel(*device, scaling, input, x.count() * sizeOf(x.dtype), x.count() * 2, bits(1), site);
  cuda::Record record;
  record.transform = plan;
  record.operands = {input};
  record.site = site;
  DeviceBlock *result = device->record(std::move(record), bytes);
  if (copy)
    device->release(copy);
  if (exchanged) {
    int64_t length = sizes[axis];
    DeviceBlock *back = cuda::copyDense(*device, dtype, result, 0, std::array{outer, length, inner},
                                        std::array{inner * length, int64_t(1), length}, site);
    device->release(std::exchange(result, back));
  }
  bool forward = kind == TransformPlan::Forward || kind == TransformPlan::RealForward;
  double scale = norm == 1                ? 1 / std::sqrt(static_cast<double>(points))
                 : (norm == 2) == forward ? 1.0 / static_cast<double>(points)
                                          : 1;
  if (scale != 1) {
    DeviceBlock *scaled = cuda::runKernel(*device, scaling, result, bytes, count, bits(scale), site);
    device->release(std::exchange(result, scaled));
  }
  return newDeviceTensor(dtype, sizes, result);
}

int64_t &deviceSite() {
  static int64_t site = -1;
  return site;
}

bool deviceLibrary(std::string_view function, std::span<const Tensor *const> arguments,
                   std::span<const int64_t> parameters, std::vector<TensorRef> &results) {
  if (deviceOptions().choice == DeviceChoice::Cpu || arguments.size() != 2 || parameters.size() < 2)
    return false;
  Tensor *made = deviceTransform(function, *arguments[0], parameters[0], parameters[1],
                                 *static_cast<int64_t *>(onHost(*arguments[1])), deviceSite());
  if (made)
    results.push_back(TensorRef(made));
  return made != nullptr;
}

} // namespace toy::rt
