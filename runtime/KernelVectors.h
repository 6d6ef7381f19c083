// SPDX-License-Identifier: Apache-2.0
/// \file
/// How wide the registers are that kernels of an instruction set are compiled for (runtime/Isa.h).
#pragma once

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
