// SPDX-License-Identifier: Apache-2.0
/// \file
/// The devices of all ranks, connected by NCCL. Its calls are made on the main stream, in the order of the program,
/// which is that of all ranks: each is behind an opening (runtime/ranks/Opening.h).
#pragma once

#include "runtime/cuda/DeviceImpl.h"
#include "runtime/ranks/Opening.h"

#include <atomic>
#include <deque>

namespace toy::rt::cuda {

/// Elements that lie behind each other on the device.
struct Span {
  Pointer at = 0;
  int64_t count = 0;
};

class Communicator {
public:
  /// The only one; null before `connect`, and where that fails.
  static Communicator *get();
  /// All ranks are here. Null, and why, on all of them, where one of them cannot. It is tried once.
  static Communicator *connect(std::string &problem);
  static bool wasRefused();

  /// What is called until `end` is a meeting of ranks, which a wait may be for.
  void begin();
  void end(const ranks::Call &call);

  /// leaving[r] goes to rank r, arriving[r] comes from there: as many elements as it sends.
  void exchange(DType dtype, std::span<const Span> leaving, std::span<const Span> arriving);
  /// As many elements of each rank.
  void allGather(DType dtype, Span own, Pointer to);
  /// Of integers, and of bool, where every order of sums gives the same bits.
  void allReduce(DType dtype, Span own, Pointer to, ranks::Reduction reduction);
  void broadcast(DType dtype, Span value, int from);

  /// While the device is waited for: throws where NCCL reports that the connection is lost; `waiting` says what for.
  void look(std::optional<ranks::Waiting> &waiting);
  void disconnect(bool isWell);

private:
  struct Meeting {
    ranks::Call call;
    Event began, ended;
  };
  void check(int status, const char *what);
  [[noreturn]] void lose(const std::string &what, int status);

  const NcclFunctions *nccl = nullptr;
  CudaDevice *device = nullptr;
  std::atomic<NcclComm> comm = nullptr;
  Event begun = nullptr;
  std::deque<Meeting> meetings; ///< that the device has not come to the end of, as far as is known
};

} // namespace toy::rt::cuda
