// SPDX-License-Identifier: Apache-2.0
/// \file
/// Compiled where CUDA's headers are: that runtime/cuda declares the same functions, structures and numbers.
#include "runtime/cuda/Driver.h"

#include <cublas_v2.h>
#include <cuda.h>
#include <cufftXt.h>
#if __has_include(<nccl.h>)
#include <nccl.h>
#endif

#include <cstddef>
#include <type_traits>

namespace ours = toy::rt::cuda;

/// The same binary interface: as many parameters, each of the same size and kind. Handles are pointers, enumerations
/// integers.
template <typename A, typename B>
constexpr bool isSame = sizeof(A) == sizeof(B) && std::is_floating_point_v<A> == std::is_floating_point_v<B> &&
                        (std::is_pointer_v<A> == std::is_pointer_v<B>);
template <typename A, typename B> constexpr bool areSame = false;
template <typename R, typename... A, typename S, typename... B>
constexpr bool areSame<R (*)(A...), S (*)(B...)> = [] {
  if constexpr (sizeof...(A) == sizeof...(B))
    return isSame<R, S> && (isSame<A, B> && ...);
  return false;
}();

#define TOY_CU(SYMBOL, NAME, PARAMETERS)                                                                               \
  static_assert(areSame<decltype(&SYMBOL), decltype(ours::DriverFunctions::NAME)>, #SYMBOL);
#include "runtime/cuda/DriverFunctions.def"
static_assert(areSame<decltype(&cublasCreate_v2), decltype(ours::BlasFunctions::create)> &&
              areSame<decltype(&cublasDestroy_v2), decltype(ours::BlasFunctions::destroy)> &&
              areSame<decltype(&cublasSetStream_v2), decltype(ours::BlasFunctions::setStream)> &&
              areSame<decltype(&cublasSetWorkspace_v2), decltype(ours::BlasFunctions::setWorkspace)>);
// Overloaded for C++; this is the one with C linkage.
using Gemm = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *,
                                const void *, cudaDataType, int, long long, const void *, cudaDataType, int, long long,
                                const void *, void *, cudaDataType, int, long long, int, cublasComputeType_t,
                                cublasGemmAlgo_t);
static_assert(static_cast<Gemm>(&cublasGemmStridedBatchedEx) != nullptr &&
              areSame<Gemm, decltype(ours::BlasFunctions::gemmStridedBatchedEx)>);
#define TOY_CUFFT(SYMBOL, NAME, PARAMETERS)                                                                            \
  static_assert(areSame<decltype(&SYMBOL), decltype(ours::FftFunctions::NAME)>, #SYMBOL);
#include "runtime/cuda/FftFunctions.def"

#ifdef NCCL_VERSION_CODE
#define TOY_NCCL(SYMBOL, RESULT, NAME, PARAMETERS)                                                                     \
  static_assert(areSame<decltype(&SYMBOL), decltype(ours::NcclFunctions::NAME)>, #SYMBOL);
#include "runtime/cuda/NcclFunctions.def"
static_assert(sizeof(ours::NcclId) == sizeof(ncclUniqueId) && ours::ncclInProgress == ncclInProgress);
static_assert(ours::ncclU8 == ncclUint8 && ours::ncclI32 == ncclInt32 && ours::ncclI64 == ncclInt64 &&
              ours::ncclF16 == ncclFloat16 && ours::ncclF32 == ncclFloat32 && ours::ncclF64 == ncclFloat64 &&
              ours::ncclBF16 == ncclBfloat16);
static_assert(ours::ncclSum == ncclSum && ours::ncclProd == ncclProd && ours::ncclMax == ncclMax &&
              ours::ncclMin == ncclMin);
#endif

static_assert(sizeof(ours::DeviceId) == sizeof(CUuuid));
static_assert(sizeof(ours::KernelNodeParams) == sizeof(CUDA_KERNEL_NODE_PARAMS) &&
              offsetof(ours::KernelNodeParams, sharedBytes) == offsetof(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes) &&
              offsetof(ours::KernelNodeParams, parameters) == offsetof(CUDA_KERNEL_NODE_PARAMS, kernelParams) &&
              offsetof(ours::KernelNodeParams, context) == offsetof(CUDA_KERNEL_NODE_PARAMS, ctx));
static_assert(ours::success == CUDA_SUCCESS && ours::outOfMemory == CUDA_ERROR_OUT_OF_MEMORY &&
              ours::notReady == CUDA_ERROR_NOT_READY);
static_assert(ours::computeCapabilityMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR &&
              ours::computeCapabilityMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR &&
              ours::multiprocessorCount == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT &&
              ours::memoryClockKHz == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE &&
              ours::busWidthBits == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH &&
              ours::pageableMemoryAccess == CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS &&
              ours::jitErrorLog == CU_JIT_ERROR_LOG_BUFFER &&
              ours::jitErrorLogBytes == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES &&
              ours::poolReleaseThreshold == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
static_assert(ours::nonBlocking == CU_STREAM_NON_BLOCKING && ours::withoutTiming == CU_EVENT_DISABLE_TIMING &&
              CU_STREAM_CAPTURE_MODE_RELAXED == 2);
static_assert(ours::blasPlain == CUBLAS_OP_N && ours::blasTransposed == CUBLAS_OP_T &&
              ours::blasConjugated == CUBLAS_OP_C);
static_assert(ours::blasF32 == CUDA_R_32F && ours::blasF64 == CUDA_R_64F && ours::blasC64 == CUDA_C_32F &&
              ours::blasC128 == CUDA_C_64F && ours::blasF16 == CUDA_R_16F && ours::blasBF16 == CUDA_R_16BF);
static_assert(ours::computeF32 == CUBLAS_COMPUTE_32F && ours::computeF32Pedantic == CUBLAS_COMPUTE_32F_PEDANTIC &&
              ours::computeF32FastTf32 == CUBLAS_COMPUTE_32F_FAST_TF32 && ours::computeF64 == CUBLAS_COMPUTE_64F);
static_assert(CUFFT_FORWARD == -1 && CUFFT_INVERSE == 1);
