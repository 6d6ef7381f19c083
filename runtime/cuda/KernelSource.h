// SPDX-License-Identifier: Apache-2.0
/// \file
/// For kernels that are written by hand: CUDA C++ without CUDA's headers, for clang and llc (docs/rationale/0006) as
/// for nvcc. Nothing is contracted, so that results have the host's bits. Parameters are addresses (results, then
/// operands), then words of 8 bytes; blocks have 256 threads.
#pragma once

#ifdef __clang__
#define __device__
#define KERNEL(NAME) extern "C" __attribute__((nvptx_kernel)) void NAME
#define BLOCK __nvvm_read_ptx_sreg_ctaid_x()
#define THREAD __nvvm_read_ptx_sreg_tid_x()
#define SHARED static __attribute__((address_space(3)))
#define BARRIER __nvvm_bar_sync(0)
#else
#define SHARED __shared__
#define BARRIER __syncthreads()
#define KERNEL(NAME) extern "C" __global__ void NAME
#define BLOCK blockIdx.x
#define THREAD threadIdx.x
#endif
#define UNROLL _Pragma("unroll")

using Word = long long;

__device__ inline unsigned bitsOf(float x) { return __builtin_bit_cast(unsigned, x); }
__device__ inline float floatOf(unsigned x) { return __builtin_bit_cast(float, x); }
