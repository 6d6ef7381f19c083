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
/// What the instruction set of this machine has under a name.
#define TOY_OF_MACHINE(NAME) ::toy::rt::ofMachine(baseline::NAME, avx2::NAME, avx512::NAME)
#else
#define TOY_KERNELS_FOR_ISA(TYPE, NAME)                                                                                \
  namespace baseline {                                                                                                 \
  TYPE NAME();                                                                                                         \
  }
#define TOY_OF_MACHINE(NAME) ::toy::rt::ofMachine(baseline::NAME, baseline::NAME, baseline::NAME)
#endif
#define TOY_KERNELS_OF_MACHINE(NAME) TOY_OF_MACHINE(NAME)()
/// Those of float or of double, in a template of T; chosen once.
#define TOY_KERNELS_OF_TYPE(T, F32, F64)                                                                               \
  []() -> const auto & {                                                                                               \
    if constexpr (__is_same(T, float)) {                                                                               \
      static const auto chosen = TOY_KERNELS_OF_MACHINE(F32);                                                          \
      return chosen;                                                                                                   \
    } else {                                                                                                           \
      static const auto chosen = TOY_KERNELS_OF_MACHINE(F64);                                                          \
      return chosen;                                                                                                   \
    }                                                                                                                  \
  }()

namespace toy::rt {

/// Avx2 is with fused multiply-add, Avx512 with vectors of all lengths and products of 64
/// bits.
enum class Isa { Baseline, Avx2, Avx512 };

inline Isa machineIsa() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    return Isa::Avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return Isa::Avx2;
#endif
  return Isa::Baseline;
}

template <typename T> T ofMachine(T baseline, T avx2, T avx512) {
  const Isa isa = machineIsa();
  return isa == Isa::Avx512 ? avx512 : isa == Isa::Avx2 ? avx2 : baseline;
}

} // namespace toy::rt
