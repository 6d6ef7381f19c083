// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sorting, scans and indexing by data beside plain loops that compare or count.
#include "runtime/ArrayOps.h"
#include "runtime/ConvolutionKernels.h"
#include "runtime/Isa.h"
#include "runtime/Memory.h"
#include "runtime/RandomKernels.h"
#include "runtime/SortKernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

using namespace toy;
using namespace toy::rt;

namespace {

/// What `argsort` promises, by comparing.
template <typename T> std::vector<int64_t> stableOrder(const std::vector<T> &x, bool descending) {
  std::vector<int64_t> at(x.size());
  std::iota(at.begin(), at.end(), 0);
  std::sort(at.begin(), at.end(), [&](int64_t i, int64_t j) {
    bool nan = x[i] != x[i], otherNan = x[j] != x[j];
    if (nan != otherNan)
      return otherNan;
    if (nan || x[i] == x[j])
      return i < j;
    return descending ? x[j] < x[i] : x[i] < x[j];
  });
  return at;
}

/// Along the middle axis of [outer, n, inner], whose rows are cut from x.
template <typename T> void checkSort(DType dtype, const std::vector<T> &x, int64_t outer, int64_t n, int64_t inner) {
  int64_t sizes[] = {outer, n, inner};
  TensorRef t(newTensor(dtype, sizes));
  std::copy_n(x.begin(), outer * n * inner, t->as<T>());
  for (bool descending : {false, true}) {
    TensorRef values = rt::sort(t, 1, descending), positions = rt::argsort(t, 1, descending), own(copyOf(t.get()));
    const void *place = own->data;
    TensorRef inPlace = rt::sort(std::move(own), 1, descending);
    ASSERT_EQ(inPlace->data, place);
    ASSERT_EQ(std::memcmp(values->data, inPlace->data, t->count() * sizeof(T)), 0) << nameOf(dtype) << " " << n;
    for (SortedPart part : {SortedPart{0, 1}, {n / 2, 1}, {n - 1, 1}, {n / 3, n / 5}, {0, n / 4}, {1, n - 1}, {n, 0}}) {
      const int64_t width = sizeof(T);
      TensorRef some = rt::sort(*t, 1, descending, part), places = rt::argsort(*t, 1, descending, part);
      for (int64_t o = 0; o < outer; ++o) {
        const int64_t from = (o * n + part.begin) * inner, to = o * part.count * inner, count = part.count * inner;
        ASSERT_EQ(std::memcmp(some->as<T>() + to, values->as<T>() + from, count * width), 0) << n << " " << part.begin;
        ASSERT_EQ(std::memcmp(places->as<int64_t>() + to, positions->as<int64_t>() + from, count * 8), 0) << n;
      }
    }
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        std::vector<T> row(n);
        auto at = [&](int64_t k) { return (o * n + k) * inner + i; };
        for (int64_t k = 0; k < n; ++k)
          row[k] = x[at(k)];
        auto order = stableOrder(row, descending);
        for (int64_t k = 0; k < n; ++k) {
          ASSERT_EQ(positions->as<int64_t>()[at(k)], order[k]) << nameOf(dtype) << " " << n << " " << k;
          ASSERT_EQ(std::memcmp(values->as<T>() + at(k), &row[order[k]], sizeof(T)), 0) << nameOf(dtype) << " " << n;
        }
      }
  }
}

/// Rows that sorters have failed on: random, nearly equal, ascending, a saw, all different in low or in high bits,
/// and what has the same rank and other bits.
template <typename T> void checkSorts(DType dtype) {
  std::mt19937_64 random(static_cast<uint64_t>(dtype));
  auto bits = [&] {
    T v;
    uint64_t word = random();
    std::memcpy(&v, &word, sizeof v);
    return v;
  };
  std::vector<std::function<T(int64_t)>> kinds = {
      [&](int64_t) { return bits(); },
      [&](int64_t) { return T(random() % 3); },
      [&](int64_t i) { return T(i); },
      [&](int64_t i) { return T(-i); },
      [&](int64_t i) { return T(i % 64 == 0 ? 100 : i % 64); },
      [&](int64_t i) { return T(i == 5 ? std::numeric_limits<T>::lowest() : T(random() % 4096)); },
      [&](int64_t i) { return i % 2 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest(); },
  };
  if constexpr (std::is_floating_point_v<T>)
    kinds.push_back([&](int64_t) {
      const T some[] = {T(0), -T(0), INFINITY, -INFINITY, NAN, -NAN, std::numeric_limits<T>::denorm_min(), bits()};
      return some[random() % 8];
    });
  for (auto &kind : kinds) {
    for (int64_t n : {1,   2,   3,   7,   8,   9,   15,  16,   17,   31,   33,   64,    100,
                      127, 129, 255, 256, 257, 511, 513, 1000, 2047, 2048, 5000, 20000, 70000}) {
      std::vector<T> x(2 * n);
      for (int64_t i = 0; i < 2 * n; ++i)
        x[i] = kind(i % n);
      checkSort(dtype, x, 2, n, 1);
      if (n < 600)
        checkSort(dtype, x, 1, n, 2);
    }
    std::vector<T> x(5 * 40 * 37);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = kind(i);
    checkSort(dtype, x, 5, 40, 37);
    for (int64_t n : {2, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65}) { // rows in lanes, some groups of them not whole
      checkSort(dtype, x, 37, n, 1);
      checkSort(dtype, x, 2, n, 37);
    }
  }
}

/// The kernels of instruction sets that this machine has.
template <typename Key> void checkKernels(const SortKernels<Key> &kernels) {
  std::mt19937_64 random(3);
  for (int64_t n : {1, 5, 33, 200, 513, 3000, 40000})
    for (int bits : {1, 9, 30, static_cast<int>(8 * sizeof(Key))}) {
      std::vector<Key> x(n), scratch(n);
      for (Key &v : x)
        v = static_cast<Key>(random() >> (64 - bits)) - 3;
      std::vector<Key> sorted = x, digits = x;
      std::sort(sorted.begin(), sorted.end());
      kernels.sortBits(digits.data(), n, scratch.data(), std::numeric_limits<Key>::min(), 0, 8 * sizeof(Key));
      std::vector<Key> part = x;
      const int64_t begin = n / 3, end = begin + (n + 9) / 10;
      kernels.sortPart(part.data(), n, begin, end, scratch.data());
      EXPECT_TRUE(std::equal(part.begin() + begin, part.begin() + end, sorted.begin() + begin)) << n << " " << bits;
      std::vector<int64_t> found(n + beyond);
      int64_t below = 0;
      const int64_t count = kernels.between(x.data(), n, sorted[begin], sorted[end - 1], found.data(), below);
      EXPECT_EQ(below, std::lower_bound(sorted.begin(), sorted.end(), sorted[begin]) - sorted.begin());
      EXPECT_EQ(below + count, std::upper_bound(sorted.begin(), sorted.end(), sorted[end - 1]) - sorted.begin());
      EXPECT_TRUE(std::is_sorted(found.begin(), found.begin() + count));
      EXPECT_TRUE(std::all_of(found.begin(), found.begin() + count,
                              [&](int64_t i) { return x[i] >= sorted[begin] && x[i] <= sorted[end - 1]; }));
      kernels.sort(x.data(), n, scratch.data());
      EXPECT_EQ(x, sorted) << n << " " << bits;
      EXPECT_EQ(digits, sorted) << n << " " << bits;
    }
}

} // namespace

TEST(Sort, AsStableSortByComparing) {
  checkSorts<uint8_t>(DType::U8);
  checkSorts<int32_t>(DType::I32);
  checkSorts<int64_t>(DType::I64);
  checkSorts<float>(DType::F32);
  checkSorts<double>(DType::F64);
}

TEST(Sort, EveryInstructionSet) {
  checkKernels(baseline::sortKernels32());
  checkKernels(baseline::sortKernels64());
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) {
    checkKernels(avx2::sortKernels32());
    checkKernels(avx2::sortKernels64());
  }
  if (machineIsa() == Isa::Avx512) {
    checkKernels(avx512::sortKernels32());
    checkKernels(avx512::sortKernels64());
  }
#endif
}

namespace {

/// Philox4x32-10, one counter after the other.
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

void checkRandom(const RandomKernels &kernels) {
  constexpr double margin = 4e-15;
  for (auto [seed, call, begin, end] :
       {std::array<int64_t, 4>{7, 0, 0, 1000},
        {INT64_C(0x123456789ABCDEF), 3, (int64_t(1) << 32) - 37, (int64_t(1) << 32) + 5},
        {1, int64_t(1) << 40, 3, 4}}) {
    int64_t n = end - begin;
    std::vector<double> uniform(n), normal(n), both(2 * n);
    std::vector<float> narrow(n);
    auto job = [&](auto &to, int parts) {
      return RandomJob{{uint64_t(seed), uint64_t(call)}, to.data() - begin * parts};
    };
    kernels.uniformF64(job(uniform, 1), begin, end);
    kernels.uniformF32(job(narrow, 1), begin, end);
    kernels.normalF64(job(normal, 1), begin, end);
    kernels.normalC128(job(both, 2), begin, end);
    for (int64_t i = 0; i < n; ++i) {
      auto r = philox(seed, begin + i, call);
      auto unit = [](uint32_t a, uint32_t b) { return double((uint64_t(a) << 32 | b) >> 11) * 0x1p-53; };
      ASSERT_EQ(uniform[i], unit(r[0], r[1]));
      ASSERT_EQ(narrow[i], static_cast<float>(r[0] >> 8) * 0x1p-24F);
      double radius = std::sqrt(-2 * std::log1p(-unit(r[0], r[1]))), angle = 2 * M_PI * unit(r[2], r[3]);
      ASSERT_NEAR(normal[i], radius * std::cos(angle), margin * radius);
      ASSERT_NEAR(both[2 * i], M_SQRT1_2 * radius * std::cos(angle), margin * radius);
      ASSERT_NEAR(both[2 * i + 1], M_SQRT1_2 * radius * std::sin(angle), margin * radius);
    }
  }
}

std::vector<double> normals(const RandomKernels &kernels) {
  std::vector<double> all(5000);
  kernels.normalF64({{11, 2}, all.data()}, 0, 2500);
  kernels.normalF64({{11, 2}, all.data()}, 2500, 5000);
  return all;
}

/// What every distribution gives for one parameter and for one an element, whole and in pieces.
std::vector<int64_t> samples(const SampleKernels &kernels) {
  constexpr int64_t n = 3000;
  std::vector<double> means(n), probabilities(n), trials(n);
  std::vector<int64_t> low(n), high(n), all;
  for (int64_t i = 0; i < n; ++i) {
    means[i] = i < 5 ? std::array<double, 5>{0, -1, NAN, INFINITY, 1e300}[i] : std::exp(i * 0.01 - 8);
    probabilities[i] = i < 5 ? i - 2 : i * (1.0 / n);
    trials[i] = static_cast<double>(i * i * i);
    low[i] = i * i - 7;
    high[i] = low[i] + (INT64_C(1) << (i % 63));
  }
  auto add = [&](RandomKernels::Fill fill, const void *a, const void *b, bool varies) {
    for (int64_t piece : {n, INT64_C(1), INT64_C(701)}) {
      std::vector<int64_t> some(n);
      for (int64_t i = 0; i < n; i += piece)
        fill({{5, 9}, some.data(), a, b, varies, varies}, i, std::min(i + piece, n));
      if (piece == n)
        all.insert(all.end(), some.begin(), some.end());
      else
        EXPECT_TRUE(std::equal(some.begin(), some.end(), all.end() - n)) << piece;
    }
  };
  for (int64_t i : {-1, 0, 500, 900, 1100, 2999}) {
    bool varies = i < 0;
    int64_t at = varies ? 0 : i;
    add(kernels.integers, &low[at], &high[at], varies);
    add(kernels.gamma, &means[at], &means[at], varies);
    add(kernels.poisson, &means[at], &means[at], varies);
    add(kernels.binomial, &trials[at], &probabilities[at], varies);
  }
  return all;
}

} // namespace

TEST(Random, KnownAnswer) { // of the authors
  EXPECT_EQ(philox(0, 0, 0), (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Random, EveryInstructionSet) {
  checkRandom(baseline::randomKernels());
  const std::vector<int64_t> ofBaseline = samples(baseline::sampleKernels());
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    checkRandom(avx2::randomKernels());
    EXPECT_EQ(normals(baseline::randomKernels()), normals(avx2::randomKernels()));
    EXPECT_EQ(ofBaseline, samples(avx2::sampleKernels()));
  }
  if (machineIsa() == Isa::Avx512) {
    checkRandom(avx512::randomKernels());
    EXPECT_EQ(normals(baseline::randomKernels()), normals(avx512::randomKernels()));
    EXPECT_EQ(ofBaseline, samples(avx512::sampleKernels()));
  }
#endif
}

namespace {

/// Every number of channels and vectors that kernels are made for, beside one sum after the other.
template <typename T> void checkConvolution(const ConvolutionKernels<T> &kernels) {
  constexpr int64_t taps = 37, places = 500, room = 4 * places;
  std::mt19937_64 random(17);
  std::normal_distribution<T> value;
  auto some = [&](int64_t n) {
    std::vector<T> v(n);
    std::generate(v.begin(), v.end(), [&] { return value(random); });
    return v;
  };
  auto x = some(room), y = some(room), w = some(2 * taps * 8);
  std::vector<int64_t> offsets(taps);
  for (int64_t &offset : offsets)
    offset = static_cast<int64_t>(random() % (2 * places));
  for (bool complex : {false, true})
    for (int channels = 1; channels <= (complex ? kernels.complexChannels : kernels.channels); ++channels)
      for (int64_t vectors = 1; vectors <= 9; ++vectors) {
        auto re = some(channels * places), im = some(channels * places), toRe = re, toIm = im;
        typename ConvolutionKernels<T>::Work work{
            x.data(), y.data(),    offsets.data(), w.data(), (complex ? 2 : 1) * taps,
            taps,     toRe.data(), toIm.data(),    places,   false};
        int64_t done = (complex ? kernels.complex : kernels.real)(work, channels, vectors);
        ASSERT_GE(done, 1);
        ASSERT_LE(done, vectors);
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t i = 0; i < done * kernels.lanes; ++i) {
            T a = re[c * places + i], b = im[c * places + i];
            for (int64_t tap = 0; tap < taps; ++tap) {
              T u = x[offsets[tap] + i], v = y[offsets[tap] + i];
              if (!complex) {
                a = std::fma(u, w[c * taps + tap], a);
                continue;
              }
              const T *weight = &w[2 * (c * taps + tap)];
              a = std::fma(-v, weight[1], std::fma(u, weight[0], a));
              b = std::fma(u, weight[1], std::fma(v, weight[0], b));
            }
            ASSERT_EQ(toRe[c * places + i], a);
            ASSERT_EQ(toIm[c * places + i], b);
          }
      }
}

} // namespace

TEST(Convolution, EveryInstructionSet) {
#ifdef __x86_64__
  EXPECT_EQ(baseline::convolutionKernelsF32().real, nullptr);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    checkConvolution(avx2::convolutionKernelsF32());
    checkConvolution(avx2::convolutionKernelsF64());
  }
  if (machineIsa() == Isa::Avx512) {
    checkConvolution(avx512::convolutionKernelsF32());
    checkConvolution(avx512::convolutionKernelsF64());
  }
#else
  checkConvolution(baseline::convolutionKernelsF32());
  checkConvolution(baseline::convolutionKernelsF64());
#endif
}
