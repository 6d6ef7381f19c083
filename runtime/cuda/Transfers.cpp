// SPDX-License-Identifier: Apache-2.0
/// \file
/// Copies between the host and the device. A device reads and writes only memory whose pages stay where they are
/// (pinned): large copies of anything else go through two pieces of it, one on its way while the other is filled or
/// emptied.
#include "runtime/cuda/Communicator.h"

#include "runtime/Error.h"
#include "runtime/Parallel.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace toy::rt::cuda {

constexpr int64_t pieceBytes = 4 << 20, leastStaged = 64 << 10; // a driver has such memory for small ones

/// By several threads: one alone is slower than the bus.
static void copyBytes(void *to, const void *from, int64_t bytes) {
  struct Copy {
    char *to;
    const char *from;
  } copy{static_cast<char *>(to), static_cast<const char *>(from)};
  parallelFor(
      bytes, 1 << 20,
      [](void *context, int64_t begin, int64_t end) {
        auto &c = *static_cast<Copy *>(context);
        std::memcpy(c.to + begin, c.from + begin, end - begin);
      },
      &copy);
}

/// Without it copies are left to the driver.
bool CudaDevice::openStaging() {
  if (!stagingWasAsked) {
    stagingWasAsked = true;
    void *made = nullptr;
    if (cu->memHostAlloc(&made, 2 * pieceBytes, 0) == success)
      for (Piece &piece : staging) {
        piece.bytes = static_cast<char *>(made) + (&piece - staging) * pieceBytes;
        check(cu->eventCreate(&piece.done, withoutTiming), "cuEventCreate");
      }
  }
  return staging[1].done != nullptr;
}

/// Until the device has come to an event, or Ctrl-C: a kernel that runs cannot be stopped, but nobody has to wait for
/// it.
void CudaDevice::waitFor(Event event) {
  Result result = success;
  std::optional<ranks::Waiting> waiting;
  for (int64_t turns = 0; (result = cu->eventQuery(event)) == notReady; ++turns) {
    if (interruptFlag().load(std::memory_order_relaxed))
      poll();
    if (ranks && turns % 256 == 255)
      ranks->look(waiting);
    if (turns > 1000)
      std::this_thread::sleep_for(std::chrono::microseconds(turns > 10000 ? 200 : 20));
    else
      std::this_thread::yield();
  }
  check(result, "the device");
  if (ranks) // a lost connection ends what waits for it, too: nothing has arrived then
    ranks->look(waiting);
}

/// The host's memory has been read when it returns.
void CudaDevice::copyToDevice(Pointer to, const void *from, int64_t bytes, Stream on) {
  stats.bytesToDevice += bytes;
  ++stats.transfersToDevice;
  if (bytes == 0)
    return;
  if (bytes < leastStaged || !openStaging()) {
    check(cu->memcpyHtoDAsync(to, from, bytes, on), "cuMemcpyHtoDAsync");
    if (readsPageable) // a driver that does not copies what it is given before it returns
      check(cu->streamSynchronize(on), "the device");
    return;
  }
  for (int64_t begin = 0; begin < bytes; begin += pieceBytes) {
    Piece &piece = staging[nextPiece ^= 1];
    int64_t length = std::min(pieceBytes, bytes - begin);
    waitFor(piece.done);
    copyBytes(piece.bytes, static_cast<const char *>(from) + begin, length);
    check(cu->memcpyHtoDAsync(to + begin, piece.bytes, length, on), "cuMemcpyHtoDAsync");
    check(cu->eventRecord(piece.done, on), "cuEventRecord");
  }
}

/// The elements are there when it returns.
void CudaDevice::copyToHost(void *to, Pointer from, int64_t bytes, Stream on) {
  stats.bytesToHost += bytes;
  ++stats.transfersToHost;
  if (bytes == 0)
    return;
  if (bytes < leastStaged || !openStaging()) {
    check(cu->memcpyDtoHAsync(to, from, bytes, on), "cuMemcpyDtoHAsync");
    check(cu->streamSynchronize(on), "the device");
    return;
  }
  int64_t pieces = (bytes + pieceBytes - 1) / pieceBytes;
  auto lengthOf = [&](int64_t i) { return std::min(pieceBytes, bytes - i * pieceBytes); };
  for (int64_t i = 0; i <= pieces; ++i) {
    if (i < pieces) {
      Piece &piece = staging[i % 2];
      waitFor(piece.done);
      check(cu->memcpyDtoHAsync(piece.bytes, from + i * pieceBytes, lengthOf(i), on), "cuMemcpyDtoHAsync");
      check(cu->eventRecord(piece.done, on), "cuEventRecord");
    }
    if (i > 0) {
      Piece &piece = staging[(i - 1) % 2];
      waitFor(piece.done);
      copyBytes(static_cast<char *>(to) + (i - 1) * pieceBytes, piece.bytes, lengthOf(i - 1));
    }
  }
}

} // namespace toy::rt::cuda
