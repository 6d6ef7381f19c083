// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where an operation should run, with --device=auto.
#include "runtime/cuda/DeviceImpl.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace toy::rt::cuda {

/// How fast this machine and its device are, measured once, in a few milliseconds.
void CudaDevice::calibrate() {
  constexpr int64_t bytes = 8 << 20, rounds = 3;
  auto seconds = [](auto &&work) {
    double best = 1;
    for (int i = 0; i < rounds; ++i) {
      auto start = std::chrono::steady_clock::now();
      work();
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return std::max(best, 1e-9);
  };
  std::vector<char> from(bytes, 1), to(bytes, 2);
  costs.hostBytes = 2 * bytes / seconds([&] {
                      std::memcpy(to.data(), from.data(), bytes);
                      asm volatile("" : : "r"(to.data()) : "memory"); // it is needed
                    });
  costs.start = seconds([&] { wait(); });
  Pointer pointer = allocate(bytes);
  costs.busBytes = bytes / seconds([&] {
                     check(cu->memcpyHtoDAsync(pointer, from.data(), bytes, stream), "cuMemcpyHtoDAsync");
                     wait();
                   });
  giveBack(pointer, bytes);
  costs.known = true;
}

/// The time there and here: starting, moving what is elsewhere, and the larger of reading and writing and of computing.
/// Waiting and moving to the device are shared by the operations of a region, which find the values there.
bool isWorthwhile(CudaDevice &device, std::span<Tensor *const> operands, int64_t resultBytes, double operations,
                  double region) {
  if (deviceOptions().choice == DeviceChoice::Cuda)
    return true;
  constexpr double hostOperations = 2e10, deviceOperations = 2e13;
  double toDevice = 0, toHost = 0, all = static_cast<double>(resultBytes);
  for (Tensor *t : operands) {
    double bytes = static_cast<double>(t->storage->bytes);
    all += bytes;
    if (!t->storage->device)
      toDevice += bytes;
    else if (!t->storage->data)
      toHost += bytes;
  }
  if (all < 64 << 10 && toHost == 0) // less than starting costs, whatever the machine
    return false;
  if (!device.costs.known)
    device.calibrate();
  const auto &c = device.costs;
  constexpr double launch = 2e-6;
  double there = launch + (c.start + toDevice / c.busBytes) / std::max(region, 1.0) +
                 std::max(all / device.bandwidth, operations / deviceOperations);
  double here =
      toHost / c.busBytes + (toHost > 0 ? c.start : 0) + std::max(all / c.hostBytes, operations / hostOperations);
  return there < here;
}

} // namespace toy::rt::cuda
