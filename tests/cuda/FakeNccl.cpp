// SPDX-License-Identifier: Apache-2.0
/// \file
/// NCCL on the fake driver: `TOY_CUDA_NCCL=libtoyfakenccl.so`. Processes of one machine exchange what they send through
/// a file that all of them map. Stricter than the real one:
///  * all ranks make the same calls, group by group, with the same counts, types, roots and reductions, and each send
///  has its receive; what differs is found when the group runs;
///  * a group is one operation of its stream, which runs when its ranks have come to it, and not before somebody waits
///  or another rank has come there; what it reads and writes takes part in the search for races;
///  * calls while a stream is captured, sends outside of groups, buffers that overlap, communicators that are destroyed
///  before their work is done, or never, are reported;
///  * sums of floating-point numbers begin with another rank each time, as their order is nobody's promise;
///  * TOY_FAKE_NCCL=hang:K keeps the K-th group from coming to its end, lost:K has it report an error, lost:K:R on rank
///  R alone, by which others lose it too; TOY_FAKE_NCCL_VERSION is another version, and calls fail by TOY_FAKE_FAIL as
///  the driver's do.
#include "Fake.h"

#include <csignal>
#include <pthread.h>
#include <string_view>
#include <time.h>
#include <utility>

namespace fakecuda {
namespace {

constexpr int invalidArgument = 4, invalidUsage = 5, systemError = 2, remoteError = 6;
constexpr int mostRanks = 16, mostCalls = 64;
constexpr uint64_t regionBytes = uint64_t(1) << 28, dataBegin = 1 << 14;

enum Kind : int64_t { Send, Receive, Gather, Reduce, Broadcast };
constexpr const char *kinds[] = {"send", "recv", "all_gather", "all_reduce", "broadcast"};

/// A call, as other ranks see it.
struct Call {
  Kind kind;
  int64_t peer; ///< or the root
  int64_t count, type, reduction;
  uint64_t from, to; ///< of the device
  int64_t data;      ///< where its bytes are in the rank's region

  std::string text() const {
    return std::string(kinds[kind]) + " of " + std::to_string(count) + " of type " + std::to_string(type) +
           (kind == Gather ? "" : ", " + std::to_string(kind == Reduce ? reduction : peer));
  }
};

struct Shared {
  std::atomic<int> joined;
  std::atomic<bool> isAborted;
  std::atomic<int64_t> wanted; ///< groups that somebody has come to
  struct Rank {
    std::atomic<int64_t> posted, done; ///< groups
  } ranks[mostRanks];
};

struct Region {
  int64_t calls;
  Call call[mostCalls];
};
static_assert(sizeof(Region) <= dataBegin);

int64_t bytesOf(int64_t type) {
  switch (type) {
  case ncclU8:
    return 1;
  case ncclF16:
  case ncclBF16:
    return 2;
  case ncclI32:
  case ncclF32:
    return 4;
  case ncclI64:
  case ncclF64:
    return 8;
  default:
    return 0;
  }
}

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// The numbers behind `what:` in TOY_FAKE_NCCL; -1 for one that is not there.
std::pair<int64_t, int64_t> wish(std::string_view what) {
  const char *text = std::getenv("TOY_FAKE_NCCL");
  if (!text || !std::string_view(text).starts_with(what))
    return {-1, -1};
  char *end = nullptr;
  const int64_t first = std::strtoll(text + what.size(), &end, 10);
  return {first, *end == ':' ? std::atoll(end + 1) : -1};
}

} // namespace

struct Comm {
  Shared *shared;
  char *base;
  int ranks, rank;
  int64_t enqueued = 0, finished = 0, posted = 0;
  int error = 0;
  bool isLive = true, isAborted = false;
  std::atomic<bool> stops = false;
  pthread_t helper = {};
  double since = 0; ///< it has waited for others

  Region &region(int r) { return *reinterpret_cast<Region *>(base + r * regionBytes); }
  char *data(int r, int64_t at) { return base + r * regionBytes + at; }
  bool isOver() const { return isAborted || shared->isAborted; }

  void complain(const std::string &text) {
    fake().complain("NCCL: rank " + std::to_string(rank) + ": " + text);
    error = invalidUsage;
  }

  /// What this rank gives to the others.
  void post(const std::vector<Call> &calls) {
    Fake &f = fake();
    Region &own = region(rank);
    own.calls = static_cast<int64_t>(calls.size());
    int64_t at = dataBegin;
    for (size_t i = 0; i < calls.size(); ++i) {
      own.call[i] = calls[i];
      own.call[i].data = at;
      const uint64_t bytes = calls[i].count * bytesOf(calls[i].type);
      const bool gives = calls[i].kind != Receive && (calls[i].kind != Broadcast || calls[i].peer == rank);
      if (!gives || bytes == 0)
        continue;
      std::memcpy(data(rank, at), f.range(calls[i].from, bytes, false), bytes);
      at += static_cast<int64_t>((bytes + 15) / 16 * 16);
    }
    if (at > static_cast<int64_t>(regionBytes))
      std::abort();
    shared->ranks[rank].posted = ++posted;
  }

  /// Whether all ranks have come to a group; the first time this one says that it has.
  bool isReady(int64_t group, const std::vector<Call> &calls) {
    if (shared->isAborted && !isAborted && !error)
      error = remoteError; // the kernel ends, and what it should have written is not there
    if (isOver() || error == invalidUsage)
      return true;
    if (auto [k, who] = wish("lost:"); k >= 0 && group >= k && (who < 0 || who == rank)) {
      error = remoteError;
      return false; // before it is aborted
    }
    if (int64_t k = wish("hang:").first; k >= 0 && group >= k)
      return false;
    int64_t known = shared->wanted;
    while (known <= group && !shared->wanted.compare_exchange_weak(known, group + 1))
      ;
    auto all = [&](auto reached) {
      return std::all_of(shared->ranks, shared->ranks + ranks, [&](Shared::Rank &r) { return reached(r); });
    };
    if (posted == group) {
      if (!all([&](Shared::Rank &r) { return r.done >= group; })) // they read what is there
        return false;
      post(calls);
      since = now();
    }
    if (all([&](Shared::Rank &r) { return r.posted > group; }))
      return true;
    constexpr double patience = 60;
    if (now() - since > patience) {
      complain("other ranks do not come to group " + std::to_string(group));
      return true;
    }
    return false;
  }

  void run(int64_t group, const std::vector<Call> &calls) {
    if (!isOver() && !error) {
      compare(calls);
      for (const Call &call : calls)
        if (!error)
          perform(call, group);
    }
    shared->ranks[rank].done = ++finished;
  }

  void compare(const std::vector<Call> &calls) {
    auto isPair = [](const Call &call) { return call.kind <= Receive; };
    for (int r = 0; r < ranks; ++r) {
      const Region &other = region(r);
      for (size_t i = 0; i < calls.size(); ++i)
        if (!isPair(calls[i]) && (static_cast<int64_t>(i) >= other.calls || other.call[i].text() != calls[i].text()))
          complain(calls[i].text() + ", but rank " + std::to_string(r) +
                   (static_cast<int64_t>(i) < other.calls ? " has " + other.call[i].text() : " has none"));
      for (int64_t i = 0; i < other.calls; ++i) // what it sends here is received, as often
        if (const Call &sent = other.call[i]; sent.kind == Send && sent.peer == rank && !partner(calls, sent, r))
          complain("rank " + std::to_string(r) + " has " + sent.text() + ", which is not received");
    }
  }
  static bool partner(const std::vector<Call> &calls, const Call &sent, int from) {
    return std::any_of(calls.begin(), calls.end(), [&](const Call &call) {
      return call.kind == Receive && call.peer == from && call.count == sent.count && call.type == sent.type;
    });
  }

  void perform(const Call &call, int64_t group) {
    Fake &f = fake();
    const uint64_t bytes = call.count * bytesOf(call.type);
    if (bytes == 0)
      return;
    auto given = [&](int r, size_t i) { return data(r, region(r).call[i].data); };
    auto find = [&](int r, auto &&fits) -> int64_t {
      for (int64_t i = 0; i < region(r).calls; ++i)
        if (fits(region(r).call[i]))
          return i;
      return -1;
    };
    auto same = [&](const Call &other) { return other.text() == call.text(); };
    if (call.kind == Receive) {
      const int from = static_cast<int>(call.peer);
      const int64_t i = find(from, [&](const Call &c) {
        return c.kind == Send && c.peer == rank && c.count == call.count && c.type == call.type;
      });
      if (i < 0)
        return complain(call.text() + ", which is not sent");
      std::memcpy(f.range(call.to, bytes, true), given(from, i), bytes);
    } else if (call.kind == Gather) {
      char *to = f.range(call.to, bytes * ranks, true);
      for (int r = 0; r < ranks; ++r)
        std::memcpy(to + r * bytes, given(r, find(r, same)), bytes);
    } else if (call.kind == Broadcast)
      std::memcpy(f.range(call.to, bytes, true),
                  given(static_cast<int>(call.peer), find(static_cast<int>(call.peer), same)), bytes);
    else if (call.kind == Reduce) {
      std::vector<char> sum(bytes);
      for (int i = 0; i < ranks; ++i) { // from another rank on each time
        const int r = static_cast<int>((group + i) % ranks);
        const char *part = given(r, find(r, same));
        if (i == 0)
          std::memcpy(sum.data(), part, bytes);
        else
          add(call, sum.data(), part);
      }
      std::memcpy(f.range(call.to, bytes, true), sum.data(), bytes);
    }
  }

  template <typename T> static void addAs(const Call &call, char *sum, const char *part) {
    auto *x = reinterpret_cast<T *>(sum);
    auto *y = reinterpret_cast<const T *>(part);
    for (int64_t i = 0; i < call.count; ++i)
      if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<std::conditional_t<sizeof(T) < 4, int, T>>;
        x[i] = call.reduction == ncclSum    ? static_cast<T>(U(x[i]) + U(y[i]))
               : call.reduction == ncclProd ? static_cast<T>(U(x[i]) * U(y[i]))
               : call.reduction == ncclMax  ? std::max(x[i], y[i])
                                            : std::min(x[i], y[i]);
      } else
        x[i] = call.reduction == ncclSum    ? x[i] + y[i]
               : call.reduction == ncclProd ? x[i] * y[i]
               : call.reduction == ncclMax  ? std::fmax(x[i], y[i])
                                            : std::fmin(x[i], y[i]);
  }
  void add(const Call &call, char *sum, const char *part) {
    switch (call.type) {
    case ncclU8:
      return addAs<uint8_t>(call, sum, part);
    case ncclI32:
      return addAs<int32_t>(call, sum, part);
    case ncclI64:
      return addAs<int64_t>(call, sum, part);
    case ncclF32:
      return addAs<float>(call, sum, part);
    case ncclF64:
      return addAs<double>(call, sum, part);
    default:
      complain("halves are summed");
    }
  }
};

namespace {

/// Calls between ncclGroupStart and ncclGroupEnd.
struct Group {
  int depth = 0;
  Comm *comm = nullptr;
  FakeStream *stream = nullptr;
  std::vector<Call> calls;
} group;

Comm *commOf(NcclComm comm) { return reinterpret_cast<Comm *>(comm); }

/// Where another rank has come to a group that is enqueued here, the device goes on though nobody here waits.
void *help(void *argument) {
  auto &comm = *static_cast<Comm *>(argument);
  while (!comm.stops) {
    usleep(100);
    if (comm.shared->wanted <= comm.shared->ranks[comm.rank].done)
      continue;
    Fake &f = fake();
    std::lock_guard lock(f.mutex);
    for (int i = 0; i < 8 && comm.enqueued > comm.finished && comm.shared->wanted > comm.finished && f.step(); ++i)
      ;
  }
  return nullptr;
}

int enqueue() {
  Group now = std::exchange(group, {});
  if (now.calls.empty())
    return 0;
  Fake &f = fake();
  Comm &comm = *now.comm;
  const int64_t number = comm.enqueued++;
  ++f.counts["nccl groups"];
  auto calls = std::make_shared<std::vector<Call>>(std::move(now.calls));
  f.add(*now.stream, "a group of NCCL", [&comm, number, calls](Operation &operation) {
    operation.cost = 5;
    comm.run(number, *calls);
  });
  now.stream->queue.back()->ready = [&comm, number, calls](Operation &) { return comm.isReady(number, *calls); };
  return comm.error;
}

int addCall(const char *name, Call call, NcclComm handle, Stream stream) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  if (int status = f.enter(name); status != success)
    return status;
  Comm *comm = commOf(handle);
  FakeStream *s = streamOf(stream);
  if (!comm || !s || !bytesOf(call.type) || call.count < 0 || !comm->isLive || call.peer < 0 ||
      call.peer >= comm->ranks || group.calls.size() == mostCalls) {
    f.complain(std::string("NCCL: a bad argument of ") + name);
    return invalidArgument;
  }
  if (s->capturing)
    comm->complain(std::string(name) + " while a stream is captured");
  if (call.kind <= Receive && group.depth == 0)
    comm->complain(std::string(name) + " outside of a group waits for the other rank");
  if ((group.comm && group.comm != comm) || (group.stream && group.stream != s))
    comm->complain("a group of several communicators or streams");
  const uint64_t bytes = call.count * bytesOf(call.type), all = bytes * comm->ranks;
  if (call.kind == Gather && call.from < call.to + all && call.to < call.from + bytes &&
      call.from != call.to + comm->rank * bytes)
    comm->complain("the operand of all_gather overlaps its result");
  group.comm = comm;
  group.stream = s;
  group.calls.push_back(call);
  return group.depth == 0 ? enqueue() : 0;
}

uint64_t addressOf(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }

} // namespace
} // namespace fakecuda

using namespace fakecuda;

extern "C" {

int ncclGetVersion(int *version) {
  *version = std::getenv("TOY_FAKE_NCCL_VERSION") ? std::atoi(std::getenv("TOY_FAKE_NCCL_VERSION")) : 22809;
  return 0;
}
const char *ncclGetErrorString(int error) {
  return error == remoteError       ? "remote process exited or there was a network error"
         : error == systemError     ? "unhandled system error"
         : error == invalidUsage    ? "invalid usage"
         : error == invalidArgument ? "invalid argument"
                                    : "unknown result code";
}
const char *ncclGetLastError(NcclComm comm) {
  return comm && commOf(comm)->error == remoteError ? "as the test wanted it" : "";
}
int ncclGetUniqueId(NcclId *id) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  if (int status = f.enter("ncclGetUniqueId"); status != success)
    return status;
  const char *folder = std::getenv("TMPDIR");
  std::snprintf(id->bytes, sizeof id->bytes, "%s/toyfakenccl.XXXXXX",
                folder && std::strlen(folder) < 80 ? folder : "/tmp");
  int file = mkstemp(id->bytes);
  if (file < 0 || ftruncate(file, static_cast<off_t>(sizeof(Shared) + mostRanks * regionBytes)) != 0)
    return systemError;
  close(file);
  return 0;
}
int ncclCommInitRank(NcclComm *comm, int ranks, NcclId id, int rank) {
  Fake &f = fake();
  {
    std::lock_guard lock(f.mutex);
    if (int status = f.enter("ncclCommInitRank"); status != success)
      return status;
  }
  int file = ranks <= mostRanks && rank >= 0 && rank < ranks ? open(id.bytes, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0)
    return invalidArgument;
  constexpr uint64_t page = 4096, head = (sizeof(Shared) + page - 1) / page * page;
  void *mapped = mmap(nullptr, head + ranks * regionBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (mapped == MAP_FAILED || ftruncate(file, static_cast<off_t>(head + mostRanks * regionBytes)) != 0)
    return systemError;
  close(file);
  auto *made = new Comm{static_cast<Shared *>(mapped), static_cast<char *>(mapped) + head, ranks, rank};
  ++made->shared->joined;
  for (double since = now(); made->shared->joined < ranks; usleep(100))
    if (now() - since > 10)
      return systemError;
  if (rank == 0)
    unlink(id.bytes);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_create(&made->helper, nullptr, help, made);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::lock_guard lock(f.mutex);
  ++f.counts["communicators left"];
  *comm = reinterpret_cast<NcclComm>(made);
  f.report();
  return 0;
}

static int end(NcclComm handle, bool isWell) {
  Fake &f = fake();
  Comm *comm = commOf(handle);
  if (!isWell) { // whoever waits for it goes on
    comm->isAborted = true;
    comm->shared->isAborted = true;
  }
  comm->stops = true;
  pthread_join(comm->helper, nullptr);
  std::lock_guard lock(f.mutex);
  ++f.counts[isWell ? "communicators destroyed" : "communicators aborted"];
  if (!comm->isLive)
    comm->complain("a communicator ends twice");
  else if (isWell && comm->finished < comm->enqueued)
    comm->complain("a communicator is destroyed before its work is done");
  comm->isLive = false;
  --f.counts["communicators left"];
  f.report();
  return 0;
}
int ncclCommDestroy(NcclComm comm) { return end(comm, true); }
int ncclCommAbort(NcclComm comm) { return end(comm, false); }
int ncclCommGetAsyncError(NcclComm comm, int *error) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  *error = commOf(comm)->error;
  return 0;
}
int ncclGroupStart() {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  if (int status = f.enter("ncclGroupStart"); status != success)
    return status;
  ++group.depth;
  return 0;
}
int ncclGroupEnd() {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  if (int status = f.enter("ncclGroupEnd"); status != success)
    return status;
  if (group.depth == 0) {
    f.complain("NCCL: a group ends that has not begun");
    return invalidUsage;
  }
  return --group.depth == 0 ? enqueue() : 0;
}
int ncclSend(const void *from, size_t count, int type, int peer, NcclComm comm, Stream stream) {
  return addCall("ncclSend", {Send, peer, int64_t(count), type, 0, addressOf(from), 0, 0}, comm, stream);
}
int ncclRecv(void *to, size_t count, int type, int peer, NcclComm comm, Stream stream) {
  return addCall("ncclRecv", {Receive, peer, int64_t(count), type, 0, 0, addressOf(to), 0}, comm, stream);
}
int ncclAllGather(const void *from, void *to, size_t count, int type, NcclComm comm, Stream stream) {
  return addCall("ncclAllGather", {Gather, 0, int64_t(count), type, 0, addressOf(from), addressOf(to), 0}, comm,
                 stream);
}
int ncclAllReduce(const void *from, void *to, size_t count, int type, int reduction, NcclComm comm, Stream stream) {
  return addCall("ncclAllReduce", {Reduce, 0, int64_t(count), type, reduction, addressOf(from), addressOf(to), 0}, comm,
                 stream);
}
int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, NcclComm comm, Stream stream) {
  return addCall("ncclBroadcast", {Broadcast, root, int64_t(count), type, 0, addressOf(from), addressOf(to), 0}, comm,
                 stream);
}
}
