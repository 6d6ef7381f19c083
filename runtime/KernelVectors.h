// SPDX-License-Identifier: Apache-2.0
/// \file
/// What kernels of an instruction set are compiled for (runtime/Isa.h): how wide registers are, and whether
/// multiply-add is fused.
#pragma once

/// Kernels whose sums are the same with every instruction set that rounds a product and its sum once.
#if defined(__FMA__) || defined(__aarch64__)
#define TOY_FUSES
#endif

namespace toy::rt {
namespace {

#if defined(__AVX512F__)
constexpr int registerBytes = 64;
#elif defined(__AVX2__)
constexpr int registerBytes = 32;
#else
constexpr int registerBytes = 16;
#endif
/// Elements of a register, and the register.
template <typename T> constexpr int registerLanes = registerBytes / static_cast<int>(sizeof(T));
template <typename T> using Register = T __attribute__((ext_vector_type(registerLanes<T>)));

} // namespace
} // namespace toy::rt
