// SPDX-License-Identifier: Apache-2.0
/// \file
/// Kernels that are compiled once for each instruction set, in the namespaces `baseline`, `avx2` and `avx512`.
#pragma once

/// Declares `TYPE NAME()` for every instruction set.
#ifdef __x86_64__
#define TOY_KERNELS_FOR_ISA(TYPE, NAME)                                                                                \
  namespace baseline {                                                                                                 \
  TYPE NAME();                                                                                                         \
  }                                                                                                                    \
  namespace avx2 {                                                                                                     \
  TYPE NAME();                                                                                                         \
  }                                                                                                                    \
  namespace avx512 {                                                                                                   \
  TYPE NAME();                                                                                                         \
  }
#define TOY_KERNELS_OF_MACHINE(NAME) ::toy::rt::ofMachine(baseline::NAME, avx2::NAME, avx512::NAME)
#else
#define TOY_KERNELS_FOR_ISA(TYPE, NAME)                                                                                \
  namespace baseline {                                                                                                 \
  TYPE NAME();                                                                                                         \
  }
#define TOY_KERNELS_OF_MACHINE(NAME) ::toy::rt::ofMachine(baseline::NAME, baseline::NAME, baseline::NAME)
#endif

namespace toy::rt {

template <typename T> T ofMachine(T (*baseline)(), [[maybe_unused]] T (*avx2)(), [[maybe_unused]] T (*avx512)()) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
    return avx512();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return avx2();
#endif
  return baseline();
}

} // namespace toy::rt
