// SPDX-License-Identifier: Apache-2.0
/// \file
/// Element functions in lanes: the same bits on every instruction set, and the promised accuracy of those for f32.
#include "runtime/ElementFunctions.h"
#include "runtime/Transpose.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace toy::rt {

namespace baseline {
extern const ElementKernel elementKernels[];
}
#ifdef __x86_64__
namespace avx2 {
extern const ElementKernel elementKernels[];
}
namespace avx512 {
extern const ElementKernel elementKernels[];
}
#endif

namespace {

std::vector<const ElementKernel *> otherKernels() {
  std::vector<const ElementKernel *> all;
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.push_back(avx2::elementKernels);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
    all.push_back(avx512::elementKernels);
#endif
  return all;
}

TEST(ElementFunctions, InstructionSetsAgree) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double special[] = {0.0,  -0.0, 1,         -1,        0.5,   2,      3,  -3, inf,
                            -inf, NAN,  0x1p-1074, 0x1p-1022, 1e300, -1e300, 64, 65};
  std::mt19937_64 random(1);
  std::normal_distribution<double> ordinary;
  const int64_t n = 203; // no multiple of a width
  for (size_t row = 0; row < elementFunctions().size(); ++row) {
    const ElementFunction &function = elementFunctions()[row];
    std::vector<double> values(n * function.most());
    for (double &v : values) {
      uint64_t choice = random() % 8;
      v = choice == 0   ? special[random() % std::size(special)]
          : choice == 1 ? std::round(8 * ordinary(random))
                        : ordinary(random) * std::exp2(static_cast<double>(random() % 16) - 8);
      if (function.dtype == DType::F32 || function.dtype == DType::C64)
        v = static_cast<float>(v);
    }
    std::vector<double> want = values;
    baseline::elementKernels[row](n, want.data(), function.careful);
    for (const ElementKernel *kernels : otherKernels()) {
      std::vector<double> got = values;
      kernels[row](n, got.data(), function.careful);
      for (int64_t i = 0; i < n * function.outputs; ++i)
        if (!(std::isnan(want[i]) && std::isnan(got[i]))) {
          ASSERT_EQ(std::bit_cast<uint64_t>(want[i]), std::bit_cast<uint64_t>(got[i]))
              << function.name << " of element " << i % n << ", " << values[i % n];
        }
    }
  }
}

/// Of every 4099th f32, and of all where TOY_EVERY_F32 is set: within 0.51 ulp of the function.
TEST(ElementFunctions, SinglePrecision) {
  struct Function {
    const char *name;
    double (*exact)(double);
  };
  const Function functions[] = {
      {"exp", std::exp},     {"expm1", std::expm1}, {"log", std::log},     {"log1p", std::log1p}, {"log2", std::log2},
      {"log10", std::log10}, {"sin", std::sin},     {"cos", std::cos},     {"tan", std::tan},     {"sinh", std::sinh},
      {"cosh", std::cosh},   {"tanh", std::tanh},   {"asin", std::asin},   {"acos", std::acos},   {"atan", std::atan},
      {"asinh", std::asinh}, {"acosh", std::acosh}, {"atanh", std::atanh}, {"erf", std::erf}};
  const uint64_t step = std::getenv("TOY_EVERY_F32") ? 1 : 4099;
  constexpr size_t block = 512;
  for (const Function &f : functions) {
    const int row = findElementFunction(f.name, DType::F32);
    double worst = 0;
    float at = 0;
    for (uint64_t begin = 0; begin < uint64_t(1) << 32; begin += step * block) {
      double x[block], y[block];
      for (size_t i = 0; i < block; ++i)
        y[i] = x[i] = std::bit_cast<float>(static_cast<uint32_t>(begin + i * step));
      applyElements(row, block, y);
      for (size_t i = 0; i < block; ++i) {
        const double exact = f.exact(x[i]);
        const auto rounded = static_cast<float>(y[i]);
        if (std::isnan(exact) || std::isinf(static_cast<float>(exact)) || exact == 0) {
          ASSERT_TRUE(std::isnan(exact)
                          ? std::isnan(rounded)
                          : std::bit_cast<uint32_t>(rounded) == std::bit_cast<uint32_t>(static_cast<float>(exact)))
              << f.name << " of " << x[i] << ": " << rounded << ", expected " << exact;
          continue;
        }
        const double ulp = std::max(std::exp2(std::ilogb(exact) - 23), 0x1p-149);
        if (double error = std::abs(rounded - exact) / ulp; error > worst) {
          worst = error;
          at = static_cast<float>(x[i]);
        }
      }
    }
    EXPECT_LE(worst, 0.51) << f.name << " of " << at;
  }
}

TEST(Transpose, EverySize) {
  for (int64_t bytes : {1, 2, 4, 8, 16})
    for (int64_t rows : {0, 1, 3, 16, 17, 40, 64})
      for (int64_t columns : {1, 5, 16, 31, 64}) {
        const int64_t fromPitch = columns + 3, toPitch = rows + 2;
        std::vector<char> from((rows + 1) * fromPitch * bytes), to(columns * toPitch * bytes, 'x');
        for (size_t i = 0; i < from.size(); ++i)
          from[i] = static_cast<char>(i * 7 + i / 256);
        transpose({to.data(), from.data(), toPitch, fromPitch, rows, columns}, bytes);
        for (int64_t c = 0; c < columns; ++c)
          for (int64_t r = 0; r < toPitch; ++r)
            for (int64_t b = 0; b < bytes; ++b)
              ASSERT_EQ(to[(c * toPitch + r) * bytes + b], r < rows ? from[(r * fromPitch + c) * bytes + b] : 'x');
      }
}

} // namespace
} // namespace toy::rt
