// SPDX-License-Identifier: Apache-2.0
/// \file
/// The device: opening it, its memory, transfers, and errors. An error other than lack of memory ends its use: values
/// that the host has survive.
#include "runtime/cuda/DeviceImpl.h"

#include "runtime/Error.h"
#include "runtime/Memory.h"
#include "runtime/Parallel.h"
#include "runtime/ranks/Ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace toy::rt {

DeviceOptions &deviceOptions() {
  static DeviceOptions options;
  return options;
}

namespace cuda {

static bool wasOpened = false; ///< or found to be none

CudaDevice *CudaDevice::get(std::string &problem) {
  wasOpened = true;
  static CudaDevice *device = new CudaDevice; // never destroyed, as values may outlive it
  static std::string failure;
  static const bool usable = device->open(failure);
  problem = usable ? device->failure : failure;
  return usable ? device : nullptr;
}

bool CudaDevice::open(std::string &problem) {
  cu = openDriver(problem);
  if (!cu)
    return false;
  auto fails = [&](Result result, const char *what) {
    const char *text = nullptr;
    if (result != success)
      problem = fmt::format("{} says {}", what,
                            cu->getErrorName(result, &text) == success && text ? text : std::to_string(result));
    return result != success;
  };
  int count = 0, major = 0, minor = 0, clockKHz = 0, width = 0, version = 0, pageable = 0;
  if (fails(cu->init(0), "cuInit") || fails(cu->deviceGetCount(&count), "cuDeviceGetCount"))
    return false;
  const int chosen = deviceOptions().ordinal, ordinal = chosen < 0 ? ranks::localRank() % std::max(count, 1) : chosen;
  if (count <= ordinal) {
    problem = count == 0 ? "the driver sees none"
                         : fmt::format("the driver sees {}, there is no number {} (they begin with 0)", count, ordinal);
    return false;
  }
  if (cu->driverGetVersion(&version) == success && version < 12000) {
    problem = fmt::format("the driver supports CUDA {}.{}, 12.0 is needed", version / 1000, version % 1000 / 10);
    return false;
  }
  char text[256] = "";
  if (fails(cu->deviceGet(&device, ordinal), "cuDeviceGet") ||
      fails(cu->devicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain") ||
      fails(cu->ctxSetCurrent(context), "cuCtxSetCurrent") ||
      fails(cu->streamCreate(&stream, nonBlocking), "cuStreamCreate") ||
      fails(cu->deviceGetDefaultMemPool(&pool, device), "cuDeviceGetDefaultMemPool"))
    return false;
  uint64_t keepAll = UINT64_MAX; // memory goes back to the system when it is short, not at every wait
  cu->memPoolSetAttribute(pool, poolReleaseThreshold, &keepAll);
  cu->deviceGetName(text, sizeof text, device);
  cu->deviceTotalMem(&memory, device);
  cu->deviceGetAttribute(&major, computeCapabilityMajor, device);
  cu->deviceGetAttribute(&minor, computeCapabilityMinor, device);
  cu->deviceGetAttribute(&multiprocessors, multiprocessorCount, device);
  cu->deviceGetAttribute(&clockKHz, memoryClockKHz, device);
  cu->deviceGetAttribute(&width, busWidthBits, device);
  cu->deviceGetAttribute(&pageable, pageableMemoryAccess, device);
  readsPageable = pageable != 0;
  name = text;
  architecture = major * 10 + minor;
  if (architecture < leastArchitecture) {
    problem = fmt::format("{} has compute capability {}.{}, {}.{} is needed", name, major, minor,
                          leastArchitecture / 10, leastArchitecture % 10);
    return false;
  }
  if (clockKHz > 0 && width > 0)
    bandwidth = 2e3 * clockKHz * width / 8;
  static const DeviceMemory hooks = {[](DeviceBlock *block, void *to, int64_t offset, int64_t bytes) {
                                       std::string unused;
                                       get(unused)->read(block, to, offset, bytes);
                                     },
                                     [](DeviceBlock *block) {
                                       std::string unused;
                                       get(unused)->release(block);
                                     }};
  setDeviceMemory(&hooks);
  return true;
}

std::string CudaDevice::describe() const {
  return fmt::format("cuda: {}, {:.0f} GiB, compute capability {}.{}, {} multiprocessors", name,
                     double(memory) / (1 << 30), architecture / 10, architecture % 10, multiprocessors);
}

void CudaDevice::check(Result result, const char *what) {
  if (result == success)
    return;
  const char *text = nullptr;
  std::string shown = cu->getErrorName(result, &text) == success && text ? text : std::to_string(result);
  if (result == outOfMemory)
    fail(DiagId::DeviceMemory, {what, fmt::format("{} bytes", stats.liveBytes + arenaBytes)});
  failure = fmt::format("{} failed: {}", what, shown);
  fail(DiagId::DeviceFailed, {failure});
}

/// Drops the copy of what the host has too and nobody has used for the longest time; what the operation at hand uses
/// stays.
bool CudaDevice::evict() {
  DeviceBlock *oldest = nullptr;
  for (DeviceBlock *block : uploads)
    if (block->refs == 1 && block->used <= operationStart && (!oldest || block->used < oldest->used))
      oldest = block;
  if (!oldest)
    return false;
  oldest->uploaded->device = nullptr;
  release(oldest);
  return true;
}

DeviceBlock *CudaDevice::place(int64_t bytes) {
  auto block = std::make_unique<DeviceBlock>(DeviceBlock{bytes});
  block->address = allocate(bytes);
  return block.release();
}

/// An event, behind all that the main stream has.
Event CudaDevice::mark() {
  Event event = nullptr;
  if (events.empty())
    check(cu->eventCreate(&event, withoutTiming), "cuEventCreate");
  else {
    event = events.back();
    events.pop_back();
  }
  check(cu->eventRecord(event, stream), "cuEventRecord");
  return event;
}

bool CudaDevice::isDone(Event event) {
  const Result result = cu->eventQuery(event);
  if (result != notReady)
    check(result, "the device");
  return result == success;
}

DeviceId CudaDevice::identify() {
  DeviceId id{};
  check(cu->deviceGetUuid(&id, device), "cuDeviceGetUuid");
  return id;
}

/// Sizes in steps of an eighth, so that blocks serve again when sizes change a little.
int64_t CudaDevice::capacityOf(int64_t bytes) {
  int64_t step = std::max<int64_t>(256, std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(bytes, 1))) / 8);
  return (std::max<int64_t>(bytes, 1) + step - 1) / step * step;
}

void CudaDevice::dropIdle() {
  for (auto &[size, pointers] : idle)
    for (Pointer pointer : pointers)
      cu->memFreeAsync(pointer, stream);
  idle.clear();
  stats.liveBytes -= idleBytes;
  idleBytes = 0;
}

Pointer CudaDevice::allocate(int64_t bytes, Pointer preferred) {
  int64_t capacity = capacityOf(bytes);
  if (auto it = idle.find(capacity); it != idle.end() && !it->second.empty()) {
    std::vector<Pointer> &known = it->second;
    if (auto found = std::find(known.begin(), known.end(), preferred); found != known.end())
      std::swap(*found, known.back());
    Pointer pointer = known.back();
    known.pop_back();
    idleBytes -= capacity;
    return pointer;
  }
  Pointer pointer = 0;
  Result result = cu->memAllocAsync(&pointer, capacity, stream);
  while (result == outOfMemory && (idleBytes > 0 || evict())) {
    dropIdle();
    wait();
    check(cu->memPoolTrimTo(pool, 0), "cuMemPoolTrimTo");
    result = cu->memAllocAsync(&pointer, capacity, stream);
  }
  check(result, "cuMemAllocAsync");
  ++stats.allocations;
  stats.liveBytes += capacity;
  return pointer;
}

void CudaDevice::giveBack(Pointer pointer, int64_t bytes) {
  int64_t capacity = capacityOf(bytes);
  idle[capacity].push_back(pointer);
  idleBytes += capacity;
}

void CudaDevice::drop(DeviceBlock *block) {
  if (--block->refs > 0)
    return;
  if (block->address && !block->isArena && failure.empty())
    giveBack(block->address, block->bytes);
  delete block;
}

void CudaDevice::drop(Record &record) {
  for (DeviceBlock *block : record.operands)
    drop(block);
  for (DeviceBlock *block : record.results)
    drop(block);
}

void CudaDevice::release(DeviceBlock *block) {
  block->held = false;
  block->uploaded = nullptr;
  uploads.erase(block);
  drop(block);
}

DeviceBlock *CudaDevice::blockOf(Tensor &t) {
  if (DeviceBlock *known = t.storage->device) {
    known->used = ++clock;
    if (!known->address && known->producer < 0)
      fail(DiagId::DeviceLost);
    return known;
  }
  int64_t bytes = t.count() * sizeOf(t.dtype);
  auto block = std::make_unique<DeviceBlock>(DeviceBlock{bytes});
  block->address = allocate(bytes);
  try {
    copyToDevice(block->address, onHost(t), bytes, stream);
  } catch (Error &) {
    if (failure.empty())
      giveBack(block->address, bytes);
    throw;
  }
  block->uploaded = t.storage;
  block->used = ++clock;
  uploads.insert(block.get());
  return t.storage->device = block.release();
}

void CudaDevice::read(DeviceBlock *block, void *to, int64_t offset, int64_t bytes) {
  if (block->producer >= 0)
    flush("the host needs a value");
  if (!failure.empty() || !block->address)
    fail(DiagId::DeviceLost);
  if (bytes == 0)
    return;
  wait(); // may be left by Ctrl-C, the copy may not: it writes the host's memory
  copyToHost(to, block->address + offset, bytes, stream);
}

/// Until the device is done, or Ctrl-C.
void CudaDevice::wait() {
  ++stats.waits;
  if (!finished)
    check(cu->eventCreate(&finished, withoutTiming), "cuEventCreate");
  check(cu->eventRecord(finished, stream), "the device");
  waitFor(finished);
  unfinished.clear();
}

/// The first line of what the driver's compiler says is part of a failure's message.
Module CudaDevice::load(const std::string &ptx) {
  Module loaded = nullptr;
  char log[4096] = "";
  int options[] = {jitErrorLog, jitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  Result result = cu->moduleLoadData(&loaded, ptx.c_str(), std::size(options), options, values);
  std::string said(log, strnlen(log, sizeof log));
  said = said.substr(0, said.find('\n'));
  check(result, said.empty() ? "cuModuleLoadDataEx" : ("cuModuleLoadDataEx (" + said + ")").c_str());
  return loaded;
}

Function CudaDevice::functionOf(DeviceKernel &kernel) {
  if (!kernel.function) {
    if (!kernel.module->handle)
      kernel.module->handle = load(kernel.module->make(architecture));
    Function function = nullptr;
    check(cu->moduleGetFunction(&function, static_cast<Module>(kernel.module->handle), kernel.name.c_str()),
          "cuModuleGetFunction");
    kernel.function = function;
  }
  return static_cast<Function>(kernel.function);
}

void CudaDevice::unload(DeviceModule &module) {
  if (!module.handle || !failure.empty())
    return;
  flush("code is dropped");
  for (auto &[signature, graph] : graphs) // they may hold its kernels
    destroyGraph(graph);
  graphs.clear();
  cu->streamSynchronize(stream);
  cu->moduleUnload(static_cast<Module>(module.handle));
}

} // namespace cuda

using cuda::CudaDevice;

DeviceModule::~DeviceModule() {
  if (std::string unused; handle)
    CudaDevice::get(unused)->unload(*this);
}

bool deviceIsReady(std::string &problem) {
  CudaDevice *device = CudaDevice::get(problem);
  return device && device->failure.empty();
}

bool deviceIsWanted() {
  std::string unused;
  if (deviceOptions().choice == DeviceChoice::Auto && !cuda::wasOpened)
    return cuda::openDriver(unused) != nullptr;
  return deviceOptions().choice != DeviceChoice::Cpu && deviceIsReady(unused);
}

std::string deviceDescription() {
  std::string problem;
  CudaDevice *device = CudaDevice::get(problem);
  return problem.empty() ? device->describe() : "no CUDA device: " + problem;
}

std::vector<std::string> deviceLibraries() {
  std::string problem;
  std::vector<std::string> out;
  auto add = [&](const char *name, const void *function) {
    out.push_back(fmt::format("{}: {}", name, function ? cuda::fileOf(function) : problem));
  };
  const cuda::BlasFunctions *blas = cuda::openBlas(problem);
  add("cuBLAS", blas ? reinterpret_cast<const void *>(blas->create) : nullptr);
  const cuda::FftFunctions *fft = cuda::openFft(problem);
  add("cuFFT", fft ? reinterpret_cast<const void *>(fft->create) : nullptr);
  if (ranks::isLaunched()) {
    const cuda::NcclFunctions *nccl = cuda::openNccl(problem);
    add("NCCL", nccl ? reinterpret_cast<const void *>(nccl->getVersion) : nullptr);
  }
  return out;
}

int deviceArchitecture() {
  std::string unused;
  CudaDevice *device = CudaDevice::get(unused);
  return device ? device->architecture : 0;
}

CudaDevice *cuda::deviceFor(std::span<Tensor *const> operands, int64_t resultBytes) {
  constexpr int64_t large = 1 << 20; // opening takes longer than the host's loops over less
  if (deviceOptions().choice == DeviceChoice::Auto && !cuda::wasOpened) {
    int64_t bytes = resultBytes;
    for (Tensor *t : operands)
      bytes += t->storage->bytes;
    std::string unused;
    if (bytes < large || !CudaDevice::get(unused))
      return nullptr;
  }
  return usableDevice();
}

CudaDevice *cuda::usableDevice() {
  if (!cuda::wasOpened || deviceOptions().choice == DeviceChoice::Cpu)
    return nullptr;
  std::string problem;
  CudaDevice *device = CudaDevice::get(problem);
  if (!problem.empty())
    return nullptr;
  device->startOperation();
  return device;
}

std::vector<Tensor *> deviceLaunch(const DeviceLaunch &launch) {
  constexpr int64_t leastBlocks = 4; // for each multiprocessor
  std::vector<int64_t> bytes;
  for (const DeviceLaunch::Result &result : launch.results)
    bytes.push_back(checkedCount(result.sizes, result.dtype) * sizeOf(result.dtype));
  int64_t all = std::accumulate(bytes.begin(), bytes.end(), int64_t(0)), block = cuda::blockThreads;
  CudaDevice *device = cuda::deviceFor(launch.operands, all);
  auto grid = [&] { return (launch.threads + block - 1) / block; };
  while (device && block > launch.leastBlock && grid() < leastBlocks * device->multiprocessors)
    block /= 2; // so that few threads are on all multiprocessors
  if (!device || bytes[0] == 0 || grid() > INT32_MAX ||
      !cuda::isWorthwhile(*device, launch.operands, all, 0, static_cast<double>(launch.region)))
    return {};
  cuda::Record record;
  record.kernel = launch.kernel;
  for (Tensor *t : launch.operands)
    record.operands.push_back(device->blockOf(*t));
  record.words.assign(launch.words.begin(), launch.words.end());
  record.grid = static_cast<unsigned>(grid());
  record.block = static_cast<unsigned>(block);
  record.site = launch.site;
  device->stats.ropes += launch.kernel->takesTwo;
  std::vector<Tensor *> made;
  for (DeviceBlock *block : device->record(std::move(record), bytes)) {
    const DeviceLaunch::Result &result = launch.results[made.size()];
    made.push_back(newDeviceTensor(result.dtype, result.sizes, block));
  }
  return made;
}

/// The device if it is open: looking does not open it.
static CudaDevice *openedDevice() {
  std::string unused;
  return cuda::wasOpened ? CudaDevice::get(unused) : nullptr;
}

void flushDevice(const char *reason) {
  if (CudaDevice *device = cuda::usableDevice())
    device->flush(reason);
}

void waitForDevice() {
  if (CudaDevice *device = cuda::usableDevice()) {
    device->flush("the result is waited for");
    device->wait();
  }
}

std::vector<int64_t> unfinishedOnDevice() {
  CudaDevice *device = openedDevice();
  return device ? std::vector<int64_t>(device->unfinished.begin(), device->unfinished.end()) : std::vector<int64_t>();
}

DeviceStats &deviceStats() {
  static DeviceStats none;
  CudaDevice *device = openedDevice();
  return device ? device->stats : none;
}

bool deviceWasOpened() { return openedDevice() != nullptr; }
bool deviceWasUsed() { return deviceStats().flushes > 0; }

std::vector<DeviceSplit> takeDeviceSplits() {
  CudaDevice *device = openedDevice();
  return device ? std::exchange(device->splits, {}) : std::vector<DeviceSplit>();
}

std::vector<DeviceFallback> takeDeviceFallbacks() {
  CudaDevice *device = openedDevice();
  return device ? std::exchange(device->fallbacks, {}) : std::vector<DeviceFallback>();
}

std::vector<MissingLibrary> takeMissingLibraries() {
  CudaDevice *device = openedDevice();
  return device ? std::exchange(device->missing, {}) : std::vector<MissingLibrary>();
}

std::vector<std::string> deviceGraphs() {
  CudaDevice *device = openedDevice();
  return device ? device->graphTable() : std::vector<std::string>();
}

} // namespace toy::rt
