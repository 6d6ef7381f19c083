// SPDX-License-Identifier: Apache-2.0
/// \file
/// The CUDA driver and cuBLAS behind tables of functions, opened when first needed; nothing of CUDA is needed to build
/// or to link. Types and numbers are those of the driver's binary interface (CUDA 12.0 and later).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace toy::rt::cuda {

using Result = int;
using Device = int;
using Pointer = unsigned long long; ///< an address on the device
using Context = struct ContextHandle *;
using Stream = struct StreamHandle *;
using Event = struct EventHandle *;
using Module = struct ModuleHandle *;
using Function = struct FunctionHandle *;
using MemPool = struct MemPoolHandle *;
using Graph = struct GraphHandle *;
using GraphNode = struct GraphNodeHandle *;
using GraphExec = struct GraphExecHandle *;
using BlasHandle = struct BlasHandleObject *;
using NcclComm = struct NcclCommObject *;

struct KernelNodeParams {
  Function function;
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void **parameters;
  void **extra;
  void *kernel;
  Context context;
};

constexpr Result success = 0, outOfMemory = 2, notReady = 600;
/// Attributes of devices and pools.
constexpr int computeCapabilityMajor = 75, computeCapabilityMinor = 76, multiprocessorCount = 16, memoryClockKHz = 36,
              busWidthBits = 37, pageableMemoryAccess = 88, poolReleaseThreshold = 4;
/// Options of loading a module.
constexpr int jitErrorLog = 5, jitErrorLogBytes = 6;
constexpr unsigned nonBlocking = 1, withoutTiming = 2;
/// cuBLAS: operations, element types, kinds of computation.
constexpr int blasPlain = 0, blasTransposed = 1, blasConjugated = 2;
constexpr int blasF32 = 0, blasF64 = 1, blasF16 = 2, blasC64 = 4, blasC128 = 5, blasBF16 = 14;
constexpr int computeF32 = 68, computeF32Pedantic = 69, computeF32FastTf32 = 77, computeF64 = 70;

/// NCCL: what ranks of one communicator are told, results, element types, reductions; the oldest version that has all
/// that is used.
struct NcclId {
  char bytes[128];
};
constexpr int ncclInProgress = 7, oldestNccl = 21400;
constexpr int ncclU8 = 1, ncclI32 = 2, ncclI64 = 4, ncclF16 = 6, ncclF32 = 7, ncclF64 = 8, ncclBF16 = 9;
constexpr int ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3;

struct DeviceId {
  char bytes[16];
};

struct DriverFunctions {
#define TOY_CU(SYMBOL, NAME, PARAMETERS) Result(*NAME) PARAMETERS;
#include "runtime/cuda/DriverFunctions.def"
};
struct BlasFunctions {
#define TOY_CUBLAS(SYMBOL, NAME, PARAMETERS) int(*NAME) PARAMETERS;
#include "runtime/cuda/BlasFunctions.def"
};

struct FftFunctions {
#define TOY_CUFFT(SYMBOL, NAME, PARAMETERS) int(*NAME) PARAMETERS;
#include "runtime/cuda/FftFunctions.def"
};

struct NcclFunctions {
#define TOY_NCCL(SYMBOL, RESULT, NAME, PARAMETERS) RESULT(*NAME) PARAMETERS;
#include "runtime/cuda/NcclFunctions.def"
};

/// The driver: `$TOY_CUDA_DRIVER` or libcuda.so.1. Null, with the reason in one line, when it cannot be used. It looks
/// for no device.
const DriverFunctions *openDriver(std::string &problem);
/// cuBLAS: `$TOY_CUDA_BLAS`, the driver's own file when it has the functions, or libcublas.so of CUDA 13 or 12, where
/// the loader finds it or a Python package has it.
const BlasFunctions *openBlas(std::string &problem);
/// cuFFT, in the same way: `$TOY_CUDA_FFT`, the driver's own file, or libcufft.so.
const FftFunctions *openFft(std::string &problem);
/// NCCL: `$TOY_CUDA_NCCL` or libnccl.so.2; beside a driver that was chosen only its own file, as NCCL itself opens no
/// other driver than the system's.
const NcclFunctions *openNccl(std::string &problem);
/// The file that a function of a library is in.
std::string fileOf(const void *function);

} // namespace toy::rt::cuda
