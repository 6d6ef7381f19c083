// SPDX-License-Identifier: Apache-2.0
/// \file
/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC'11). Element i of a call
/// depends on (seed, call, i) only.
#include "runtime/ArrayOps.h"

#include "runtime/Parallel.h"

#include <array>
#include <cmath>

namespace toy::rt {
namespace {

std::array<uint32_t, 4> philox(uint64_t key, uint64_t low, uint64_t high) {
  std::array<uint32_t, 4> c = {uint32_t(low), uint32_t(low >> 32), uint32_t(high), uint32_t(high >> 32)};
  uint32_t k0 = key, k1 = key >> 32;
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(0xD2511F53) * c[0], p1 = uint64_t(0xCD9E8D57) * c[2];
    c = {uint32_t(p1 >> 32) ^ c[1] ^ k0, uint32_t(p1), uint32_t(p0 >> 32) ^ c[3] ^ k1, uint32_t(p0)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

double unit53(uint32_t a, uint32_t b) { return double((uint64_t(a) << 32 | b) >> 11) * 0x1p-53; }

/// Two independent standard normals from one counter.
std::array<double, 2> normals(const std::array<uint32_t, 4> &r) {
  double radius = std::sqrt(-2 * std::log1p(-unit53(r[0], r[1]))), angle = 2 * M_PI * unit53(r[2], r[3]);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

struct Job {
  uint64_t seed, call;
  DType dtype;
  bool normal;
  void *data;
};

void fill(void *opaque, int64_t begin, int64_t end) {
  Job &job = *static_cast<Job *>(opaque);
  for (int64_t i = begin; i < end; ++i) {
    auto r = philox(job.seed, i, job.call);
    if (!job.normal) {
      if (job.dtype == DType::F32)
        static_cast<float *>(job.data)[i] = (r[0] >> 8) * 0x1p-24f;
      else
        static_cast<double *>(job.data)[i] = unit53(r[0], r[1]);
      continue;
    }
    auto z = normals(r);
    switch (job.dtype) {
    case DType::F32:
      static_cast<float *>(job.data)[i] = z[0];
      break;
    case DType::F64:
      static_cast<double *>(job.data)[i] = z[0];
      break;
    case DType::C64:
      static_cast<float *>(job.data)[2 * i] = z[0] * M_SQRT1_2;
      static_cast<float *>(job.data)[2 * i + 1] = z[1] * M_SQRT1_2;
      break;
    default:
      static_cast<double *>(job.data)[2 * i] = z[0] * M_SQRT1_2;
      static_cast<double *>(job.data)[2 * i + 1] = z[1] * M_SQRT1_2;
    }
  }
}

} // namespace

TensorRef random(RandomState &state, DType dtype, std::span<const int64_t> sizes, bool normal) {
  TensorRef out(newTensor(dtype, sizes));
  Job job{state.seed, state.counter++, dtype, normal, out->data};
  parallelFor(out->count(), 1 << 15, fill, &job);
  return out;
}

} // namespace toy::rt
