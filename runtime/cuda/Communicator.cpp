// SPDX-License-Identifier: Apache-2.0
/// \file
/// Connecting ranks' devices, calls of NCCL, and what is lost.
#include "runtime/cuda/Communicator.h"

#include "runtime/Error.h"

#include <fmt/format.h>

namespace toy::rt::cuda {
namespace {

/// What ranks tell each other while they connect.
struct Report {
  int64_t version = 0;
  uint64_t device = 0;    ///< no two ranks have the same
  char problem[112] = {}; ///< empty where all is well

  Report() = default;
  Report(const std::string &text, uint64_t device) : device(device) { text.copy(problem, sizeof problem - 1); }
};
static_assert(sizeof(Report) == 128);

std::vector<Report> told(const Report &own) {
  std::vector<Report> all(ranks::count());
  const ranks::Mpi &mpi = ranks::mpi();
  mpi.check(mpi.allgather(&own, sizeof own, mpi.byte, all.data(), sizeof own, mpi.byte, mpi.world));
  return all;
}

std::string nameOf(int64_t version) {
  return fmt::format("NCCL {}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

/// Why the ranks cannot be connected: the same text on all of them, or none.
std::string firstProblem(std::span<const Report> all) {
  for (size_t r = 0; r < all.size(); ++r) {
    if (*all[r].problem)
      return fmt::format("on rank {}: {}", r, all[r].problem);
    if (all[r].version != all[0].version)
      return fmt::format("rank 0 has {}, rank {} {}", nameOf(all[0].version), r, nameOf(all[r].version));
    for (size_t other = 0; other < r; ++other)
      if (all[other].device == all[r].device)
        return fmt::format("ranks {} and {} have the same device", other, r);
  }
  return "";
}

struct NcclKind {
  int type, elements; ///< of NCCL's for each of ours
};
NcclKind kindFor(DType dtype) {
  switch (dtype) {
  case DType::Bool:
  case DType::U8:
    return {ncclU8, 1};
  case DType::I32:
    return {ncclI32, 1};
  case DType::I64:
    return {ncclI64, 1};
  case DType::BF16:
    return {ncclBF16, 1};
  case DType::F16:
    return {ncclF16, 1};
  case DType::F32:
    return {ncclF32, 1};
  case DType::F64:
    return {ncclF64, 1};
  case DType::C64:
    return {ncclF32, 2};
  case DType::C128:
    return {ncclF64, 2};
  }
  __builtin_unreachable();
}

int reductionFor(ranks::Reduction reduction) {
  switch (reduction) {
  case ranks::Reduction::Prod:
    return ncclProd;
  case ranks::Reduction::Min:
  case ranks::Reduction::All:
    return ncclMin;
  case ranks::Reduction::Max:
  case ranks::Reduction::Any:
    return ncclMax;
  default:
    return ncclSum;
  }
}

void *memory(Pointer at) { return reinterpret_cast<void *>(at); }

Communicator *connected = nullptr;
bool refused = false;

} // namespace

Communicator *Communicator::get() { return connected; }
bool Communicator::wasRefused() { return refused; }

/// Each step is done by all ranks or by none: who cannot says so to the others before they would wait for it.
Communicator *Communicator::connect(std::string &problem) {
  static Communicator only;
  int version = 0;
  DeviceId name{};
  if (deviceOptions().choice == DeviceChoice::Cpu)
    problem = "--device=cpu";
  else
    only.device = CudaDevice::get(problem);
  only.nccl = problem.empty() ? openNccl(problem) : nullptr;
  if (only.nccl && (only.nccl->getVersion(&version) != 0 || version < oldestNccl))
    problem = fmt::format("{} is too old, {} is needed", nameOf(version), nameOf(oldestNccl));
  if (only.device)
    name = only.device->identify();
  ranks::Digest digest;
  digest.add(name.bytes, sizeof name.bytes);
  Report own(problem, digest.get());
  own.version = version;
  problem = firstProblem(told(own));
  refused = !problem.empty();
  if (refused)
    return nullptr;
  NcclId id{};
  NcclComm made = nullptr;
  auto failed = [&](const char *what, int status) {
    const std::string text = status ? fmt::format("{} says: {}", what, only.nccl->getErrorString(status)) : "";
    problem = firstProblem(told(Report(text, ranks::rank())));
    refused = !problem.empty();
    return refused;
  };
  if (failed("ncclGetUniqueId", ranks::rank() == 0 ? only.nccl->getUniqueId(&id) : 0))
    return nullptr;
  ranks::mpi().broadcastBytes(&id, sizeof id, 0);
  if (failed("ncclCommInitRank", only.nccl->commInitRank(&made, ranks::count(), id, ranks::rank()))) {
    if (made)
      only.nccl->commAbort(made);
    return nullptr;
  }
  only.comm = made;
  only.device->ranks = &only;
  return connected = &only;
}

void Communicator::lose(const std::string &what, int status) {
  const char *more = comm ? nccl->getLastError(comm) : nullptr;
  std::string text = fmt::format("{} says: {}", what, nccl->getErrorString(status));
  if (more && *more)
    text += fmt::format(" ({})", more);
  disconnect(false);
  fail(DiagId::RankLost, {text});
}

void Communicator::check(int status, const char *what) {
  if (status != 0 && status != ncclInProgress)
    lose(what, status);
}

void Communicator::begin() { begun = device->mark(); }

void Communicator::end(const ranks::Call &call) {
  ++device->stats.collectives;
  ranks::Call known = call;
  known.tensor = nullptr;
  known.said = call.text();
  meetings.push_back({std::move(known), std::exchange(begun, nullptr), device->mark()});
}

void Communicator::exchange(DType dtype, std::span<const Span> leaving, std::span<const Span> arriving) {
  const NcclKind kind = kindFor(dtype);
  check(nccl->groupStart(), "ncclGroupStart");
  for (int r = 0; r < ranks::count(); ++r) {
    if (const Span &out = leaving[r]; out.count)
      check(nccl->send(memory(out.at), out.count * kind.elements, kind.type, r, comm, device->main()), "ncclSend");
    if (const Span &in = arriving[r]; in.count)
      check(nccl->receive(memory(in.at), in.count * kind.elements, kind.type, r, comm, device->main()), "ncclRecv");
  }
  check(nccl->groupEnd(), "ncclGroupEnd");
}

void Communicator::allGather(DType dtype, Span own, Pointer to) {
  const NcclKind kind = kindFor(dtype);
  check(nccl->allGather(memory(own.at), memory(to), own.count * kind.elements, kind.type, comm, device->main()),
        "ncclAllGather");
}

void Communicator::allReduce(DType dtype, Span own, Pointer to, ranks::Reduction reduction) {
  const NcclKind kind = kindFor(dtype);
  check(nccl->allReduce(memory(own.at), memory(to), own.count * kind.elements, kind.type, reductionFor(reduction), comm,
                        device->main()),
        "ncclAllReduce");
}

void Communicator::broadcast(DType dtype, Span value, int from) {
  const NcclKind kind = kindFor(dtype);
  check(nccl->broadcast(memory(value.at), memory(value.at), value.count * kind.elements, kind.type, from, comm,
                        device->main()),
        "ncclBroadcast");
}

void Communicator::look(std::optional<ranks::Waiting> &waiting) {
  if (NcclComm now = comm) {
    int error = 0;
    const int status = nccl->commGetAsyncError(now, &error);
    check(status != 0 ? status : error, "NCCL");
  }
  while (!meetings.empty() && device->isDone(meetings.front().ended)) {
    waiting.reset();
    device->recycle(meetings.front().began);
    device->recycle(meetings.front().ended);
    meetings.pop_front();
  }
  if (!meetings.empty() && !waiting && device->isDone(meetings.front().began))
    waiting.emplace(meetings.front().call);
}

void Communicator::disconnect(bool isWell) {
  if (NcclComm now = comm.exchange(nullptr))
    isWell ? nccl->commDestroy(now) : nccl->commAbort(now);
}

} // namespace toy::rt::cuda
