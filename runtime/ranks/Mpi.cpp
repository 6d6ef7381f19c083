// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which library is opened, what its handles are, and bytes in pieces that an int counts.
#include "runtime/ranks/Mpi.h"

#include "runtime/Error.h"
#include "runtime/Guard.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string_view>
#include <utility>
#include <vector>

namespace toy::ranks {
namespace {

constexpr int64_t piece = int64_t(1) << 30;
constexpr int dataTag = 0;

std::vector<std::string> libraryNames() {
  if (const char *own = std::getenv("TOY_MPI"); own && *own)
    return {own};
  std::vector<std::string> open = {"libmpi.so.40"}, mpich = {"libmpi_abi.so", "libmpich.so.12", "libmpi.so.12"};
  if (!std::getenv("OMPI_COMM_WORLD_SIZE") && std::getenv("PMI_SIZE"))
    std::swap(open, mpich);
  open.insert(open.end(), mpich.begin(), mpich.end());
  return open;
}

/// Open MPI's manual wants its symbols to be global, for the modules that it opens itself.
void *openLibrary(int ranks, std::string &name) {
  std::string reasons;
  for (const std::string &candidate : libraryNames()) {
    void *handle = nullptr;
    if (auto fault = rt::guarded([&] { handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_GLOBAL); }))
      throw *fault;
    name = candidate;
    if (handle)
      return handle;
    reasons += (reasons.empty() ? "" : "; ") + std::string(dlerror());
  }
  rt::fail(DiagId::NoMpi, {std::to_string(ranks), reasons});
}

/// Open MPI takes locks around each message as soon as it is told of threads, 80 ns, for networks that work in threads
/// of their own. Where shared memory is all there is, our other threads, which never call it, are no concern of it.
void setHandles(Mpi &mpi, void *library, bool isOnlyShared) {
  auto address = [&](const char *symbol) { return reinterpret_cast<intptr_t>(dlsym(library, symbol)); };
  mpi.threads = 1;
  if (intptr_t world = address("ompi_mpi_comm_world")) {
    mpi.threads = isOnlyShared ? 0 : 1;
    mpi.world = world;
    mpi.byte = address("ompi_mpi_byte");
    mpi.errorsReturn = address("ompi_mpi_errors_return");
  } else if (mpi.name.find("libmpi_abi.so") != std::string::npos) { // the interface that the standard fixes
    mpi.world = 0x101;
    mpi.byte = 0x247;
    mpi.errorsReturn = 0x142;
    mpi.threads = 1024;
  } else {
    mpi.world = 0x44000000;
    mpi.byte = 0x4c00010d;
    mpi.errorsReturn = 0x54000001;
  }
}

/// On one machine Open MPI need not look for networks, which takes most of its start. What the user has set stays.
/// Whether shared memory is all that is used.
bool preferSharedMemory() {
  const char *local = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE"), *all = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (!local || !all || std::strcmp(local, all) != 0)
    return false;
  constexpr std::pair<const char *, std::string_view> ways[] = {{"OMPI_MCA_pml", "ob1"},
                                                                {"OMPI_MCA_btl", "self,vader"}};
  constexpr int keep = 0;
  bool areOurs = true;
  for (auto [name, value] : ways) {
    setenv(name, value.data(), keep);
    areOurs &= std::getenv(name) == value;
  }
  setenv("OMPI_MCA_osc", "pt2pt", keep);
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", keep);
  setenv("OMPI_MCA_btl_vader_eager_limit", "8192", keep); // an opening with a sum in it goes at once
  return areOurs;
}

} // namespace

Mpi openMpi(int ranks) {
  const bool isOnlyShared = preferSharedMemory();
  Mpi mpi{};
  void *library = openLibrary(ranks, mpi.name);
  auto load = [&](auto &function, const char *symbol) {
    void *address = dlsym(library, symbol);
    if (!address)
      rt::fail(DiagId::NoMpi, {std::to_string(ranks), mpi.name + " has no function " + symbol});
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
  load(mpi.initThread, "MPI_Init_thread");
  load(mpi.finalize, "MPI_Finalize");
  load(mpi.abort, "MPI_Abort");
  load(mpi.commRank, "MPI_Comm_rank");
  load(mpi.commSize, "MPI_Comm_size");
  load(mpi.commSetErrhandler, "MPI_Comm_set_errhandler");
  load(mpi.errorString, "MPI_Error_string");
  load(mpi.allgather, "MPI_Allgather");
  load(mpi.broadcast, "MPI_Bcast");
  load(mpi.send, "MPI_Send");
  load(mpi.startSend, "MPI_Isend");
  load(mpi.test, "MPI_Test");
  load(mpi.wait, "MPI_Wait");
  load(mpi.probe, "MPI_Iprobe");
  load(mpi.receive, "MPI_Recv");
  load(mpi.sendReceive, "MPI_Sendrecv");
  setHandles(mpi, library, isOnlyShared);
  return mpi;
}

void Mpi::check(int code) const {
  if (code == 0)
    return;
  char text[1024] = ""; // MPI_MAX_ERROR_STRING is at most 512
  int length = 0;
  errorString(code, text, &length);
  rt::fail(DiagId::RankLost, {text});
}

void Mpi::broadcastBytes(void *data, int64_t bytes, int root) const {
  for (int64_t at = 0; at < bytes; at += piece)
    check(broadcast(static_cast<char *>(data) + at, static_cast<int>(std::min(piece, bytes - at)), byte, root, world));
}

void Mpi::startBytes(const void *data, int64_t bytes, int to, int tag, std::vector<intptr_t> &requests) const {
  for (int64_t at = 0; at < bytes; at += piece) {
    const int part = static_cast<int>(std::min(piece, bytes - at));
    check(startSend(static_cast<const char *>(data) + at, part, byte, to, tag, world, &requests.emplace_back(0)));
  }
}

bool Mpi::isDone(intptr_t &request) const {
  alignas(16) char status[256];
  int done = 0;
  check(test(&request, &done, status));
  return done;
}

void Mpi::goOn(int partner) const {
  alignas(16) char status[256];
  int isThere = 0;
  check(probe(partner, dataTag, world, &isThere, status));
}

void Mpi::receiveBytes(void *data, int64_t bytes, int from, int tag) const {
  alignas(16) char status[256];
  for (int64_t at = 0; at < bytes; at += piece)
    check(receive(static_cast<char *>(data) + at, static_cast<int>(std::min(piece, bytes - at)), byte, from, tag, world,
                  status));
}

void Mpi::exchangeUpTo(const void *out, int64_t bytes, void *in, int64_t most, int partner) const {
  alignas(16) char status[256];
  intptr_t request = 0;
  check(startSend(out, static_cast<int>(bytes), byte, partner, dataTag, world, &request));
  check(receive(in, static_cast<int>(most), byte, partner, dataTag, world, status));
  check(wait(&request, status));
}

/// Nothing is sent for no bytes: so both ends of a connection count the same pieces.
void Mpi::exchangeBytes(const void *out, int64_t outBytes, int to, void *in, int64_t inBytes, int from) const {
  alignas(16) char status[256];
  for (int64_t at = 0; at < std::max(outBytes, inBytes); at += piece) {
    int outPart = static_cast<int>(std::clamp<int64_t>(outBytes - at, 0, piece)),
        inPart = static_cast<int>(std::clamp<int64_t>(inBytes - at, 0, piece));
    const char *source = static_cast<const char *>(out) + at;
    char *target = static_cast<char *>(in) + at;
    if (outPart && inPart)
      check(sendReceive(source, outPart, byte, to, dataTag, target, inPart, byte, from, dataTag, world, status));
    else if (outPart)
      check(send(source, outPart, byte, to, dataTag, world));
    else
      check(receive(target, inPart, byte, from, dataTag, world, status));
  }
}

} // namespace toy::ranks
