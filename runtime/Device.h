// SPDX-License-Identifier: Apache-2.0
/// \file
/// Work on a CUDA device. Operations are recorded when a program reaches them and sent to the device together, when
/// somebody needs a result on the host or the statement ends: one plan of memory, one graph or one sequence of launches
/// for all of them.
#pragma once

#include "runtime/Planar.h"
#include "runtime/Value.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace toy::rt {

enum class DeviceChoice : uint8_t { Cpu, Cuda, Auto };
enum class CudaGraphs : uint8_t { Off, Auto, Full, Piecewise };
enum class MatmulPrecision : uint8_t { Ieee, High, Medium };

struct DeviceOptions {
  DeviceChoice choice = DeviceChoice::Cpu;
  int ordinal = -1; ///< which of the driver's devices; -1: ranks on one machine take one after the other
  CudaGraphs graphs = CudaGraphs::Auto;
  MatmulPrecision precision = MatmulPrecision::Ieee;
};
DeviceOptions &deviceOptions();

/// Opens the driver and the device on first use. False, with the reason in one line, when there is none or it has
/// failed.
bool deviceIsReady(std::string &problem);
/// Whether code should be made that may use a device: it is not ruled out by the options, and there is one. With
/// DeviceChoice::Auto a driver is enough until the first large tensor opens it, which takes longer than many programs.
bool deviceIsWanted();
/// Name, memory, compute capability; or why there is none.
std::string deviceDescription();
/// A line for each library that is used beside the driver, with its file, or why there is none. Opens them.
std::vector<std::string> deviceLibraries();
/// Compute capability times 10.
int deviceArchitecture();

/// PTX with its kernels; made, for a compute capability (times 10), and loaded when the first of them is launched.
struct DeviceModule {
  explicit DeviceModule(std::function<std::string(int architecture)> make) : make(std::move(make)) {}
  ~DeviceModule();
  DeviceModule(const DeviceModule &) = delete;
  std::function<std::string(int architecture)> make;
  void *handle = nullptr;
};
/// Parameters of a kernel: the results' addresses, those of the operands, then words of 8 bytes. One that takes two
/// computes two results in a launch: results, operands and words of both, then the number of blocks that the first has.
struct DeviceKernel {
  DeviceModule *module;
  std::string name;
  bool takesTwo = false;
  void *function = nullptr;
};
/// What kernels multiply with instead of dividing by a size: n / size is n * multiplier / 2^(64 + shift), rounded down,
/// for n below 2^63, and n itself where the multiplier is 0 (T. Granlund and P. L. Montgomery, Division by invariant
/// integers using multiplication, 1994).
struct Divisor {
  uint64_t multiplier;
  int shift;
};
Divisor divisorFor(int64_t size);
/// A kernel that is written by hand: "rope." and a dtype. Null for other names.
DeviceKernel *handWrittenKernel(std::string_view name);

/// One launch of `threads` threads that makes dense tensors.
struct DeviceLaunch {
  struct Result {
    DType dtype;
    std::span<const int64_t> sizes;
  };
  DeviceKernel *kernel;
  std::span<const Result> results;
  std::span<Tensor *const> operands;
  std::span<const int64_t> words;
  int64_t threads;
  int64_t leastBlock; ///< threads that a block has at least, of which some share memory; a warp where none do
  int64_t site;       ///< of the operation, for messages
  int64_t region;     ///< operations around it that could run on the device, more in loops
};
/// Records the launch and gives its results (refs = 1), or none where the host should do it.
std::vector<Tensor *> deviceLaunch(const DeviceLaunch &launch);
/// `scale * a @ b` by cuBLAS, or null. The views are of the tensors. Products of halves are f32, or rounded to such
/// halves. With `onto`, a result that nobody else holds, the product is added to it.
Tensor *deviceProduct(Tensor *a, const StridedView &aView, Tensor *b, const StridedView &bView, double scale,
                      int64_t site, Tensor *onto = nullptr, bool isRounded = false);
/// The parts of [conj](a + ib) @ [conj](c + id) by three (`Gauss`) or four real products; false where the host should
/// do it. One view is of a and b, one of c and d.
bool devicePlanarProduct(Tensor *const parts[4], const StridedView &x, const StridedView &y, bool conjugateX,
                         bool conjugateY, ComplexProduct strategy, int64_t site, Tensor *results[2]);
/// Where operations that the evaluator runs stand, or -1.
int64_t &deviceSite();
/// A library function (runtime/Library.h) on the device; false where the host should do it.
bool deviceLibrary(std::string_view function, std::span<const Tensor *const> arguments,
                   std::span<const int64_t> parameters, std::vector<TensorRef> &results);
/// The slice of x at `starts`, of `counts` elements in `steps`, replaced by values that broadcast to it; in place if
/// nobody else holds x. Null where the host should do it: x is not on the device (and does not have to go there), or
/// the layouts are unusual.
TensorRef deviceStore(TensorRef &x, const Tensor &values, std::span<const int64_t> starts,
                      std::span<const int64_t> counts, std::span<const int64_t> steps, int64_t site);
/// Sends what was recorded. The reason is for remarks.
void flushDevice(const char *reason);
/// Until all of it is done, or Ctrl-C.
void waitForDevice();
/// Operations that were sent since the device was last known to have done all, or before it failed.
std::vector<int64_t> unfinishedOnDevice();

struct DeviceStats {
  int64_t launches = 0, products = 0, transforms = 0, graphLaunches = 0, graphsBuilt = 0, patches = 0, allocations = 0,
          flushes = 0, collectives = 0;
  int64_t bytesToDevice = 0, bytesToHost = 0, transfersToDevice = 0, transfersToHost = 0;
  int64_t liveBytes = 0, arenaBytes = 0, waits = 0;
  int64_t ropes = 0;                         ///< tensors that the kernel for rotary embeddings turned
  std::map<std::string, int64_t> precisions; ///< of products
};
DeviceStats &deviceStats();
/// Whether there is, or was, a device that values may be on.
bool deviceWasOpened();
/// Whether anything was sent to a device.
bool deviceWasUsed();

/// Why a sequence ended, for --remarks: what the host needed, where, and how many operations it had.
struct DeviceSplit {
  std::string reason;
  int64_t site, operations;
};
std::vector<DeviceSplit> takeDeviceSplits();
/// A kind of call that a library has refused for the first time, so that the host did its work.
struct DeviceFallback {
  std::string reason;
  int64_t site;
};
std::vector<DeviceFallback> takeDeviceFallbacks();
/// A library that could not be opened when --device=cuda needed it for the first time.
struct MissingLibrary {
  std::string work, reason;
  int64_t site;
};
std::vector<MissingLibrary> takeMissingLibraries();
/// A line for each graph, for :graphs.
std::vector<std::string> deviceGraphs();

} // namespace toy::rt
