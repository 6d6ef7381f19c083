// SPDX-License-Identifier: Apache-2.0
/// \file
/// The functions of MPI that are needed, of whatever library is there: bytes are moved, never summed, so that three
/// handles are all that differs between implementations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace toy::ranks {

// Handles are pointers or integers; an implementation with integers reads the lower half.
struct Mpi {
  int (*initThread)(int *, char ***, int, int *);
  int (*finalize)();
  int (*abort)(intptr_t comm, int status);
  int (*commRank)(intptr_t comm, int *);
  int (*commSize)(intptr_t comm, int *);
  int (*commSetErrhandler)(intptr_t comm, intptr_t handler);
  int (*errorString)(int code, char *text, int *length);
  int (*allgather)(const void *, int, intptr_t, void *, int, intptr_t, intptr_t comm);
  int (*broadcast)(void *, int, intptr_t, int root, intptr_t comm);
  int (*send)(const void *, int, intptr_t, int to, int tag, intptr_t comm);
  int (*startSend)(const void *, int, intptr_t, int to, int tag, intptr_t comm, intptr_t *request);
  int (*test)(intptr_t *request, int *done, void *status);
  int (*wait)(intptr_t *request, void *status);
  int (*probe)(int from, int tag, intptr_t comm, int *isThere, void *status);
  int (*receive)(void *, int, intptr_t, int from, int tag, intptr_t comm, void *status);
  int (*sendReceive)(const void *, int, intptr_t, int to, int tag, void *, int, intptr_t, int from, int tag2,
                     intptr_t comm, void *status);
  intptr_t world, byte, errorsReturn;
  int threads;      ///< MPI_THREAD_FUNNELED, or MPI_THREAD_SINGLE where that is enough
  std::string name; ///< of the library

  /// DiagId::RankLost where a call failed.
  void check(int code) const;
  // Bytes of any number.
  void broadcastBytes(void *data, int64_t bytes, int root) const;
  /// Returns at once; the bytes are read until all `requests` that are added are done.
  void startBytes(const void *data, int64_t bytes, int to, int tag, std::vector<intptr_t> &requests) const;
  /// Whether what was started has come to its end; MPI goes on with it meanwhile.
  bool isDone(intptr_t &request) const;
  /// MPI goes on with what is on its way, for a rank that waits for a partner otherwise.
  void goOn(int partner) const;
  void receiveBytes(void *data, int64_t bytes, int from, int tag) const;
  /// With a partner that may send another number of bytes, up to `most`.
  void exchangeUpTo(const void *out, int64_t bytes, void *in, int64_t most, int partner) const;
  void exchangeBytes(const void *out, int64_t outBytes, int to, void *in, int64_t inBytes, int from) const;
};

/// Opens a library for so many ranks, which a launcher's environment names; throws DiagId::NoMpi.
Mpi openMpi(int ranks);

} // namespace toy::ranks
