// SPDX-License-Identifier: Apache-2.0
/// \file
/// What masks choose, by the kernels of every instruction set that this machine has; nothing is written behind it.
#include "runtime/MaskKernels.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace toy::rt {
namespace {

void checkKernels(const MaskKernels &kernels) {
  std::mt19937_64 random(17);
  for (int64_t n : {0, 1, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 1000})
    for (int of : {1, 2, 10}) {
      std::vector<uint8_t> mask(n);
      std::vector<uint32_t> narrow(n);
      std::vector<uint64_t> wide(n);
      std::vector<uint32_t> narrowChosen;
      std::vector<uint64_t> wideChosen;
      std::vector<int64_t> places;
      for (int64_t i = 0; i < n; ++i) {
        mask[i] = random() % of == 0 ? static_cast<uint8_t>(1 + random() % 255) : 0;
        narrow[i] = static_cast<uint32_t>(random());
        wide[i] = random();
        if (mask[i]) {
          narrowChosen.push_back(narrow[i]);
          wideChosen.push_back(wide[i]);
          places.push_back(40 + i);
        }
      }
      const auto room = static_cast<int64_t>(places.size());
      auto check = [&](auto expected, auto call) {
        auto found = expected;
        found.assign(room + 16, 77);
        call(found.data());
        expected.insert(expected.end(), 16, 77);
        EXPECT_EQ(found, expected) << n << " " << of;
      };
      check(narrowChosen, [&](void *to) { kernels.select4(narrow.data(), mask.data(), n, to, room); });
      check(wideChosen, [&](void *to) { kernels.select8(wide.data(), mask.data(), n, to, room); });
      check(places, [&](int64_t *to) { kernels.positions(mask.data(), n, 40, to, room); });
    }
}

TEST(MaskKernels, ChooseWithEveryInstructionSet) {
  checkKernels(baseline::maskKernels());
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    checkKernels(avx2::maskKernels());
  if (machineIsa() == Isa::Avx512)
    checkKernels(avx512::maskKernels());
#endif
}

} // namespace
} // namespace toy::rt
