// SPDX-License-Identifier: Apache-2.0
/// \file
/// The runtime: formatting, memory, scalar rules, complex functions at their corners, random numbers.
#include "runtime/ArrayOps.h"
#include "runtime/ComplexMath.h"
#include "runtime/Error.h"
#include "runtime/Format.h"
#include "runtime/Memory.h"
#include "runtime/Parallel.h"
#include "runtime/Random.h"
#include "runtime/Scalar.h"
#include "support/Sanitizers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace toy;
using namespace toy::rt;

static std::string shown(double x, bool single = false) {
  std::string out;
  appendFloat(out, x, single);
  return out;
}

TEST(Format, ShortestDigits) {
  EXPECT_EQ(shown(3), "3.0");
  EXPECT_EQ(shown(-0.0), "-0.0");
  EXPECT_EQ(shown(0.1), "0.1");
  EXPECT_EQ(shown(0.1f, true), "0.1");
  EXPECT_EQ(shown(1e20), "1e+20");
  EXPECT_EQ(shown(-NAN), "nan");
}

// Before the first tensor, which asks for it.
static const int fillsFresh = setenv("TOY_FILL_FRESH", "1", 1);

TEST(Memory, FreshElementsHoldThePatternOfTests) {
  ASSERT_EQ(fillsFresh, 0);
  for (int64_t n : {1, 8, 1000, 100000, 3000000})
    for (int again = 0; again < 2; ++again) { // a block that was used before, too
      int64_t sizes[] = {n};
      TensorRef x(newTensor(DType::F32, sizes));
      auto *bytes = x->as<unsigned char>();
      EXPECT_TRUE(std::all_of(bytes, bytes + 4 * n, [](unsigned char b) { return b == 0xCB; }));
      std::memset(bytes, 0, 4 * n);
    }
}

#if TOY_ADDRESS_SANITIZER
TEST(MemoryDeathTest, TensorsAreAllocationsOfTheirOwn) {
  int64_t sizes[] = {3};
  TensorRef x(newTensor(DType::U8, sizes)), neighbour(newTensor(DType::U8, sizes));
  volatile uint8_t *data = x->as<uint8_t>();
  EXPECT_DEATH(data[3] = 1, "heap-buffer-overflow");
  EXPECT_DEATH((void)data[-1], "heap-buffer-overflow");
  x = TensorRef();
  EXPECT_DEATH((void)data[0], "heap-use-after-free");
}
#endif

TEST(Memory, ReservationsCountAgainstTheLimit) {
  MemoryStats before = memoryStats();
  setMemoryLimit(before.liveBytes + 1000);
  {
    Reservation some(600, "a");
    EXPECT_EQ(memoryStats().liveBytes, before.liveBytes + 600);
    EXPECT_THROW(Reservation(500, "b"), Error);
    EXPECT_THROW(requireMemory(500, "c"), Error);
    int64_t sizes[] = {500};
    EXPECT_THROW(newTensor(DType::U8, sizes), Error);
    Reservation rest(400, "d");
  }
  EXPECT_EQ(memoryStats().liveBytes, before.liveBytes);
  setMemoryLimit(int64_t(1) << 32);
}

TEST(Memory, UpdatesCopyOnlyWhenShared) {
  int64_t sizes[] = {4};
  TensorRef x(newTensor(DType::F64, sizes));
  Tensor *alone = unique(x.take());
  TensorRef first(alone), second(first);
  Tensor *copy = unique(second.take());
  EXPECT_NE(copy, alone);
  release(copy);
}

TEST(Memory, TooLargeIsRefusedAtOnce) {
  int64_t huge[] = {int64_t(1) << 40}, overflow[] = {int64_t(1) << 40, int64_t(1) << 40}, negative[] = {-1};
  EXPECT_THROW(newTensor(DType::F64, huge), rt::Error);
  EXPECT_THROW(newTensor(DType::F64, overflow), rt::Error);
  EXPECT_THROW(newTensor(DType::F64, negative), rt::Error);
}

TEST(Scalar, FloorDivision) {
  EXPECT_EQ(floorDivide(int64_t(-7), int64_t(2)), -4);
  EXPECT_EQ(floorModulo(int64_t(-7), int64_t(3)), 2);
  EXPECT_EQ(floorDivide(INT64_MIN, int64_t(-1)), INT64_MIN);
  EXPECT_THROW(floorDivide(int64_t(1), int64_t(0)), rt::Error);
  EXPECT_EQ(floorDivide(-7.5, 2.0), -4.0);
  EXPECT_EQ(floorModulo(7.5, -2.0), -0.5);
}

TEST(ComplexMath, DivisionNeverOverflowsOnTheWay) {
  EXPECT_EQ(divide({1e308, 1e308}, {1e308, 1e308}), c128(1, 0));
  EXPECT_EQ(divide({1, 0}, {5e-309, 0}).real(), INFINITY);
  c128 tiny = divide(1, {1e308, 1e308});
  EXPECT_NEAR(tiny.real() / 5e-309, 1, 1e-6);
  c128 byZero = divide({1, 1}, 0);
  EXPECT_TRUE(std::isinf(byZero.real()) && std::isinf(byZero.imag()));
}

TEST(ComplexMath, BranchCuts) {
  auto sqrt = complexFunction("sqrt"), log = complexFunction("log"), acos = complexFunction("acos");
  EXPECT_EQ(sqrt({-4, 0.0}), c128(0, 2));
  EXPECT_EQ(sqrt({-4, -0.0}), c128(0, -2));
  EXPECT_DOUBLE_EQ(log({-1, -0.0}).imag(), -M_PI);
  EXPECT_LT(acos({2, 0.0}).imag(), 0);
  EXPECT_GT(acos({2, -0.0}).imag(), 0);
  EXPECT_EQ(power(c128(1, 1), int64_t(2)), c128(0, 2));
  EXPECT_EQ(power(c128(0, 0), int64_t(0)), c128(1, 0));
  EXPECT_EQ(complexFunction("expm1")({1e-20, 1e-20}).real(), 1e-20);
}

TEST(Random, ReproducibleAcrossThreads) {
  int64_t sizes[] = {100000};
  std::vector<TensorRef> runs;
  TensorRef zero(newTensor(DType::F64, {}));
  for (int n : {1, 2}) {
    setThreads(n);
    RandomState state{7, 0};
    runs.push_back(rt::sample(state.next(), Distribution::normal, DType::F64, sizes, *zero, *zero));
  }
  setThreads(0);
  EXPECT_EQ(std::memcmp(runs[0]->data, runs[1]->data, 800000), 0);
  double sum = 0, squares = 0;
  for (int i = 0; i < 100000; ++i) {
    double x = runs[0]->as<double>()[i];
    sum += x, squares += x * x;
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
}
