// SPDX-License-Identifier: Apache-2.0
/// \file
/// Element functions in lanes: the same bits on every instruction set, and the promised accuracy of those for f32.
#include "runtime/ElementFunctions.h"
#include "runtime/Isa.h"
#include "runtime/Parallel.h"
#include "runtime/Transpose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
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
  if (machineIsa() == Isa::Avx512)
    all.push_back(avx512::elementKernels);
#endif
  return all;
}

/// The error of a double in units in its last place, of results out of the range of normal numbers in the least.
double errorInUlp(double got, long double want) {
  const int exponent = std::max(std::ilogb(static_cast<double>(want)), -1022);
  return static_cast<double>(std::abs(got - want) / std::ldexp(1.0L, exponent - 52));
}

/// Bases and exponents of many sizes: powers over the whole range, bases beside 1 with large exponents among them.
TEST(ElementFunctions, PowersBesideLongDouble) {
  const int row = findElementFunction("pow", DType::F64);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> even(-1, 1);
  const int64_t n = 1000, rounds = 1000;
  double worst = 0;
  std::vector<double> values(2 * n);
  for (int64_t round = 0; round < rounds; ++round) {
    for (int64_t i = 0; i < n; ++i) {
      const double range = std::exp2(static_cast<double>(random() % 11) - 10), logarithm = 700 * even(random);
      double x = round % 4 == 0   ? std::exp2(1000 * even(random))
                 : round % 4 == 1 ? 1 + 0.4 * range * even(random)
                                  : std::exp2(8 * range * even(random));
      double y = round % 4 == 3 ? 4 * even(random) : logarithm / std::log(x);
      values[i] = x;
      values[n + i] = std::isfinite(y) ? y : 1.5;
    }
    std::vector<double> got = values;
    applyElements(row, n, got.data());
    for (int64_t i = 0; i < n; ++i) {
      const double error = errorInUlp(got[i], std::pow(static_cast<long double>(values[i]), values[n + i]));
      worst = std::max(worst, error);
      ASSERT_LE(error, 0.75) << values[i] << " to the power " << values[n + i];
    }
  }
  RecordProperty("worst", std::to_string(worst));
}

/// Powers of 2 are exact where the exponent is an integer, and beside them as libm's, also where lanes take none.
TEST(ElementFunctions, PowersOfTwo) {
  const int row = findElementFunction("exp2", DType::F64);
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> even(-1, 1);
  std::vector<double> x, got;
  for (int n = -1080; n <= 1030; ++n)
    for (double rest : {0.0, 0.5, -0.5, even(random), 0x1p-30 * even(random)})
      x.push_back(n + rest);
  got = x;
  applyElements(row, static_cast<int64_t>(got.size()), got.data());
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == std::floor(x[i]) || !std::isfinite(got[i]))
      ASSERT_EQ(got[i], std::exp2(x[i])) << x[i];
    else
      ASSERT_LE(errorInUlp(got[i], std::exp2(static_cast<long double>(x[i]))), 0.8) << x[i];
  }
}

/// What underflows, overflows, is 0 or denormal is as exact as all else, at every place of a vector.
TEST(ElementFunctions, EndsOfTheRange) {
  struct Function {
    const char *name;
    double (*exact)(double);
  };
  const Function functions[] = {{"exp", std::exp}, {"expm1", std::expm1}, {"log1p", std::log1p}, {"atan", std::atan}};
  constexpr double inf = std::numeric_limits<double>::infinity();
  std::vector<double> ends = {0.0,
                              -0.0,
                              inf,
                              -inf,
                              0x1p-1074,
                              -0x1p-1074,
                              0x1p-1022,
                              -0x1p-1022,
                              1e-300,
                              1e300,
                              0x1p-60,
                              -0x1p-61,
                              0x1p401,
                              -1e308,
                              0x1.62e42fefa39efp+9, // overflows beyond
                              0x1.62e42fefa39fp+9,
                              -0x1.74910d52d3051p+9,
                              -0x1.74910d52d3053p+9}; // e^x is 2^-1075
  for (double x = 700; x < 760; x += 0.37)
    ends.insert(ends.end(), {x, -x});
  for (const Function &f : functions) {
    const int row = findElementFunction(f.name, DType::F64);
    for (double x : ends)
      for (int at = 0; at < 8; ++at) {
        std::vector<double> v(8, 0.25);
        v[at] = x;
        applyElements(row, 8, v.data());
        const double want = f.exact(x);
        if (std::isnan(want) || want == 0 || std::isinf(want))
          ASSERT_TRUE(std::isnan(want) ? std::isnan(v[at])
                                       : std::bit_cast<uint64_t>(want) == std::bit_cast<uint64_t>(v[at]))
              << f.name << " of " << x << ": " << v[at];
        else
          ASSERT_LE(errorInUlp(v[at], want), 1) << f.name << " of " << x;
      }
  }
}

/// Lanes take what ordinary data have: nothing goes one by one to the careful function.
TEST(ElementFunctions, OrdinaryIsNotCareful) {
  const std::pair<const char *, double> ordinary[] = {
      {"exp", -1e4},     {"exp", -720}, {"exp", 1e4},     {"expm1", -1e4}, {"log1p", 0.0}, {"log1p", -0.0},
      {"log1p", 1e-310}, {"atan", 0.0}, {"atan", -1e300}, {"tanh", 1e300}, {"erf", -1e300}};
  for (const auto &[name, x] : ordinary) {
    const int row = findElementFunction(name, DType::F64);
    for (int at = 0; at < 8; ++at) {
      std::vector<double> v(8, 0.25);
      v[at] = x;
      baseline::elementKernels[row](8, v.data(), [](double *) { FAIL(); });
      ASSERT_FALSE(HasFailure()) << name << " of " << x;
    }
  }
}

/// C99's special cases, which libm has, at every place of a vector among ordinary arguments.
TEST(ElementFunctions, SpecialPowers) {
  const int row = findElementFunction("pow", DType::F64);
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double special[] = {0.0,
                            -0.0,
                            1,
                            -1,
                            0.5,
                            -0.5,
                            2,
                            -2,
                            3,
                            -3,
                            1.5,
                            -2.5,
                            inf,
                            -inf,
                            NAN,
                            0x1p-1074,
                            0x1p1023,
                            -0x1p53,
                            0x1p60 + 512,
                            0x1.fffffffffffffp-1,
                            -0x1.0000000000001p+0,
                            65,
                            -65,
                            1e300,
                            1e-300};
  for (double x : special)
    for (double y : special)
      for (int at = 0; at < 8; ++at) {
        std::vector<double> v(16, 1.25);
        v[at] = x, v[8 + at] = y;
        applyElements(row, 8, v.data());
        const double want = std::pow(x, y);
        for (int i = 0; i < 8; ++i)
          if (i != at) {
            ASSERT_EQ(v[i], std::pow(1.25, 1.25));
          }
        if (std::isnan(want) || std::isnan(v[at]))
          ASSERT_EQ(std::isnan(want), std::isnan(v[at])) << x << " to the power " << y;
        else if (want == 0 || std::isinf(want))
          ASSERT_EQ(std::bit_cast<uint64_t>(want), std::bit_cast<uint64_t>(v[at])) << x << " to the power " << y;
        else
          ASSERT_LE(errorInUlp(v[at], want), 1) << x << " to the power " << y;
      }
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

/// Of every 4099th f32, and of all where TOY_EVERY_F32 is set: within 1 ulp of the function, or 0.51 if it is
/// computed in double.
TEST(ElementFunctions, SinglePrecision) {
  struct Function {
    const char *name;
    double (*exact)(double);
    double limit = 1;
  };
  const Function functions[] = {
      {"exp", std::exp},       {"exp2", std::exp2},   {"expm1", std::expm1}, {"log", std::log},
      {"log1p", std::log1p},   {"log2", std::log2},   {"log10", std::log10}, {"sin", std::sin, 0.51},
      {"cos", std::cos, 0.51}, {"tan", std::tan},     {"sinh", std::sinh},   {"cosh", std::cosh},
      {"tanh", std::tanh},     {"asin", std::asin},   {"acos", std::acos},   {"atan", std::atan},
      {"asinh", std::asinh},   {"acosh", std::acosh}, {"atanh", std::atanh}, {"erf", std::erf}};
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
    EXPECT_LE(worst, f.limit) << f.name << " of " << at;
    RecordProperty(f.name, std::to_string(worst));
  }
}

/// In all directions, and of sizes far apart.
TEST(ElementFunctions, AnglesInSinglePrecision) {
  const int row = findElementFunction("atan2", DType::F32);
  std::mt19937_64 random(7);
  std::normal_distribution<double> ordinary;
  constexpr int n = 1000;
  for (int round = 0; round < 1000; ++round) {
    double values[2 * n], got[2 * n];
    for (double &v : values)
      v = static_cast<float>(ordinary(random) * std::exp2(static_cast<double>(random() % (round % 2 ? 4 : 60)) - 8));
    std::copy_n(values, 2 * n, got);
    applyElements(row, n, got);
    for (int i = 0; i < n; ++i) {
      const double exact = std::atan2(values[i], values[n + i]);
      ASSERT_LE(std::abs(static_cast<float>(got[i]) - exact), 1.01 * std::exp2(std::ilogb(exact) - 23))
          << values[i] << ", " << values[n + i];
    }
  }
}

/// Of all sizes, and of bases around 1 whose logarithms are small sums of larger ones, to exponents beyond the range.
template <typename T> void expectPowers(DType dtype, double limit, double range) {
  using Limits = std::numeric_limits<T>;
  const int row = findElementFunction("pow", dtype);
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  constexpr int n = 1000;
  for (int round = 0; round < 150; ++round) {
    double values[2 * n], got[2 * n];
    for (int i = 0; i < n; ++i) {
      const double size = round % 4 == 0 ? 40 : round % 4 == 1 ? 1e-2 : 1;
      values[i] = static_cast<T>(std::exp2(size * uniform(random)));
      const double log = std::log2(values[i]);
      values[n + i] = static_cast<T>(log == 0 ? 1.3 : uniform(random) * range / log);
    }
    std::copy_n(values, 2 * n, got);
    applyElements(row, n, got);
    for (int i = 0; i < n; ++i) {
      const long double exact = std::pow(static_cast<long double>(values[i]), static_cast<long double>(values[n + i]));
      const auto rounded = static_cast<T>(got[i]);
      if (std::isinf(static_cast<T>(exact))) {
        ASSERT_TRUE(std::isinf(rounded)) << values[i] << ", " << values[n + i];
        continue;
      }
      const long double digit = std::ldexp(1.0L, std::ilogb(exact) - Limits::digits + 1),
                        ulp = std::max<long double>(digit, Limits::denorm_min());
      ASSERT_LE(std::abs(rounded - exact), limit * ulp) << values[i] << ", " << values[n + i];
    }
  }
}
TEST(ElementFunctions, Powers) {
  expectPowers<float>(DType::F32, 0.6, 155);
  expectPowers<double>(DType::F64, 0.7, 1090);
}

TEST(ElementFunctions, InverseRoots) {
  const int row = findElementFunction("rsqrt", DType::F64);
  const double limits[] = {0.0, -0.0, -1, INFINITY, NAN, 0x1p-1074, 0x1.8p-1030, 0x1.7p1023};
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(1, 4);
  for (int exponent = -1020; exponent < 1020; exponent += 4) {
    double x[20], got[20];
    for (int i = 0; i < 20; ++i)
      x[i] = i < 8    ? limits[i]
             : i == 8 ? std::ldexp(1, exponent)
             : i == 9 ? std::ldexp(0x1.01289471a7415p0, exponent) // a root and a quotient are 1.41 ulp off
                      : std::ldexp(uniform(random), exponent);
    std::copy_n(x, 20, got);
    applyElements(row, 20, got);
    for (int i = 0; i < 20; ++i) {
      const double exact = 1 / std::sqrt(x[i]);
      if (i <= 8) {
        ASSERT_TRUE(std::isnan(exact) ? std::isnan(got[i]) : got[i] == exact) << x[i];
      } else {
        ASSERT_LE(errorInUlp(got[i], 1 / std::sqrt(static_cast<long double>(x[i]))), 1) << x[i];
      }
    }
  }
}

std::vector<TileKernels> tileTables() {
  std::vector<TileKernels> all = {baseline::tileKernels()};
#ifdef __x86_64__
  if (machineIsa() != Isa::Baseline)
    all.push_back(avx2::tileKernels());
  if (machineIsa() == Isa::Avx512)
    all.push_back(avx512::tileKernels());
#endif
  return all;
}

TEST(Transpose, EverySize) {
  for (const TileKernels &kernels : tileTables())
    for (int64_t bytes : {1, 2, 4, 8, 16})
      for (int64_t rows : {0, 1, 3, 16, 17, 40, 64})
        for (int64_t columns : {1, 5, 16, 31, 32, 45, 64}) {
          const int64_t fromPitch = columns + 3, toPitch = rows + 2;
          std::vector<char> from((rows + 1) * fromPitch * bytes), to(columns * toPitch * bytes, 'x');
          for (size_t i = 0; i < from.size(); ++i)
            from[i] = static_cast<char>(i * 7 + i / 256);
          kernels.transpose({to.data(), from.data(), toPitch, fromPitch, rows, columns}, bytes);
          for (int64_t c = 0; c < columns; ++c)
            for (int64_t r = 0; r < toPitch; ++r)
              for (int64_t b = 0; b < bytes; ++b)
                ASSERT_EQ(to[(c * toPitch + r) * bytes + b], r < rows ? from[(r * fromPitch + c) * bytes + b] : 'x');
        }
}

/// Past the caches, into rows of whole lines.
TEST(Transpose, Streamed) {
  for (const TileKernels &kernels : tileTables())
    for (int64_t bytes : {1, 2, 4, 8, 16})
      for (int64_t lines : {1, 2, 3})
        for (int64_t columns : {1, 3, 8, 16, 17, 33}) {
          const int64_t rows = lines * 64 / bytes, fromPitch = columns + 1, toPitch = rows + 64 / bytes;
          std::vector<char> from(rows * fromPitch * bytes), room(columns * toPitch * bytes + 64, 'x');
          char *to = room.data() + (-reinterpret_cast<uintptr_t>(room.data()) & 63);
          for (size_t i = 0; i < from.size(); ++i)
            from[i] = static_cast<char>(i * 7 + i / 256);
          kernels.transpose({to, from.data(), toPitch, fromPitch, rows, columns, true}, bytes);
          finishStream();
          for (int64_t c = 0; c < columns; ++c)
            for (int64_t r = 0; r < toPitch; ++r)
              for (int64_t b = 0; b < bytes; ++b)
                ASSERT_EQ(to[(c * toPitch + r) * bytes + b], r < rows ? from[(r * fromPitch + c) * bytes + b] : 'x');
        }
}

/// Rows of numbers, of one part or two, that are summed in order.
template <typename T> void expectSums(SummedAs type, int64_t parts) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const TileKernels &kernels : tileTables())
    for (int64_t rows : {1, 2, 3, 7, 8, 15, 16, 17, 32})
      for (int64_t count : {0, 1, 7, 8, 16, 31, 64}) {
        const int64_t pitch = count + 2;
        std::vector<T> from(rows * pitch * parts), sums(rows * parts, T(7));
        for (T &x : from)
          x = static_cast<T>(normal(random));
        kernels.sumRows({sums.data(), from.data(), pitch, rows, count}, type);
        for (int64_t i = 0; i < rows * parts; ++i) {
          T sum = 0;
          for (int64_t j = 0; j < count; ++j)
            sum += from[(i / parts * pitch + j) * parts + i % parts];
          ASSERT_EQ(sums[i], sum) << rows << " rows of " << count;
        }
      }
}
TEST(Transpose, SumsOfRows) {
  expectSums<float>(SummedAs::F32, 1);
  expectSums<double>(SummedAs::F64, 1);
  expectSums<float>(SummedAs::C64, 2);
}

} // namespace
} // namespace toy::rt
