// SPDX-License-Identifier: Apache-2.0
/// \file
/// The state of the fake driver (FakeDriver.cpp): memory, streams, graphs, and what it finds.
#pragma once

#include "Ptx.h"
#include "runtime/cuda/Driver.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>

using namespace toy::rt::cuda;

namespace fakecuda {

constexpr uint64_t deviceBase = 0x700000000000, spaceBytes = uint64_t(1) << 34, granule = 16;
constexpr Result invalidValue = 1, invalidDevice = 101, notFound = 500, illegalAddress = 700, invalidPtx = 218,
                 captureUnsupported = 900;

using Clock = std::map<int, int64_t>; ///< of each stream: how many of its operations come before

/// Who touched some bytes: an operation of a stream, and the node if it was a graph.
struct Touch {
  int stream = -1;
  int64_t index = 0;
  int node = -1;
  const void *graph = nullptr;
};

struct Granule {
  Touch writer;
  std::vector<Touch> readers; ///< since the last write
};
using Chunk = std::array<Granule, 256>;

/// Most of a large block, as a workspace, is never touched: what is known of its bytes is made, and they are filled,
/// by the chunk when somebody comes there.
struct Allocation {
  uint64_t address, bytes;
  bool isLive = true;
  Touch whole = {}; ///< who made or freed all of it
  std::vector<std::unique_ptr<Chunk>> chunks = {};
};

struct FakeGraph;

struct Operation {
  int stream;
  int64_t index;
  Clock before; ///< what is ordered before it
  std::function<void(Operation &)> body;
  std::string what;
  int node = -1; ///< while a graph runs
  FakeGraph *graph = nullptr;
  double cost = 0, serial = 0; ///< virtual microseconds, and those of a graph's nodes one after the other
  std::function<bool(Operation &)> ready = {}; ///< whether other processes, that it waits for, have come as far
};

struct FakeEvent {
  int stream = -1;
  int64_t index = -1; ///< operations of the stream that it waits for
  Clock clock;
  int64_t asked = 0; ///< how often, since it was recorded
};

struct FakeStream {
  int id;
  std::list<std::unique_ptr<Operation>> queue;
  int64_t enqueued = 0, finished = 0;
  Clock clock; ///< of what is enqueued next
  FakeGraph *capturing = nullptr;
  std::vector<double> ends = {}; ///< of its operations, in virtual time
};

struct FakeFunction {
  const ptx::Module *module;
  const ptx::Function *function;
  size_t moduleNumber;
};

struct FakeModule {
  std::unique_ptr<ptx::Module> module;
  size_t number = 0;
  std::map<std::string, std::unique_ptr<FakeFunction>> functions = {};
};

struct Launch {
  FakeFunction *function = nullptr;
  unsigned blocks = 1, threads = 1;
  std::vector<uint64_t> parameters;
};

/// cuFFT's plan, and one call of it.
struct FftPlan {
  long long n = 0, from = 0, to = 0, inStride = 1, inDistance = 1, outStride = 1, outDistance = 1, batch = 1;
  int inType = 0, outType = 0, direction = -1;
  uint64_t in = 0, out = 0;
  int plan = 0;
  uint64_t area = 0, areaBytes = 0;
  bool allocates = true, isLive = true;
};

struct Product {
  FftPlan transform; ///< if n is not 0
  int compute = 0;
  int opA, opB, m, n, k, type, typeC, ldA, ldB, ldC, batch;
  long long strideA, strideB, strideC;
  uint64_t a, b, c, workspace;
  std::complex<double> alpha, beta;
};

struct FakeNode {
  FakeGraph *owner;
  int id;
  std::vector<int> dependencies;
  Launch launch;
  std::vector<Product> products; ///< of a child graph
};

struct FakeGraph {
  std::vector<std::unique_ptr<FakeNode>> nodes;
  bool isExec = false;
  std::vector<std::vector<bool>> reaches; ///< of an exec
};

struct FakeBlas {
  FakeStream *stream = nullptr;
  uint64_t workspace = 0;
};

struct Fake : ptx::Memory {
  std::mutex mutex;
  char *alias = nullptr;
  uint64_t top = deviceBase + (1 << 20);
  std::map<uint64_t, Allocation> allocations;
  std::map<uint64_t, std::vector<uint64_t>> freeRanges; ///< by size
  std::map<int, std::unique_ptr<FakeStream>> streams;
  std::vector<std::unique_ptr<FakeModule>> modules;
  std::set<FakeGraph *> graphs;
  int64_t events = 0;
  std::mt19937_64 random{std::getenv("TOY_FAKE_SEED") ? std::strtoull(std::getenv("TOY_FAKE_SEED"), nullptr, 10) : 1};
  std::map<std::string, int64_t> calls, counts;
  std::string failFunction;
  int64_t failAt = 0;
  Result failWith = 0, sticky = success;
  std::set<std::string> found;
  uint64_t live = 0, liveBytes = 0, limitBytes = spaceBytes;
  std::vector<std::pair<const char *, const char *>> pinned; ///< memory of the host
  Operation *running = nullptr;
  Allocation *last = nullptr;

  Fake() {
    // The host must not read the device's addresses; the driver sees the same memory elsewhere.
    mmap(reinterpret_cast<void *>(deviceBase), spaceBytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    alias = static_cast<char *>(
        mmap(nullptr, spaceBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    const char *rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (const char *path = std::getenv("TOY_FAKE_REPORT"))
      reportFile =
          open((path + (rank ? std::string(".") + rank : "")).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (const char *fail = std::getenv("TOY_FAKE_FAIL")) {
      std::stringstream text(fail);
      std::string k, code;
      std::getline(text, failFunction, ':');
      std::getline(text, k, ':');
      std::getline(text, code, ':');
      failAt = std::atoll(k.c_str());
      failWith = std::atoi(code.c_str());
    }
    if (const char *limit = std::getenv("TOY_FAKE_MEMORY"))
      limitBytes = std::strtoull(limit, nullptr, 10);
  }

  char *host(uint64_t address) { return alias + (address - deviceBase); }

  void complain(const std::string &text) {
    if (found.insert(text).second)
      report();
  }

  /// Written again and again, as a program may end in any way, into a file that stays open.
  void report() {
    if (reportFile < 0)
      return;
    std::string text;
    for (const std::string &each : found)
      text += "found: " + each + "\n";
    for (auto &[name, n] : counts)
      text += name + ": " + std::to_string(n) + "\n";
    for (const std::string &launch : launched)
      text += "launched: " + launch + "\n";
    text += "live: " + std::to_string(live) + "\nvirtual us: " + std::to_string(std::llround(makespan)) +
            "\nvirtual us in a row: " + std::to_string(std::llround(serial)) + "\n";
    if (pwrite(reportFile, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
        (text.size() < reported && ftruncate(reportFile, static_cast<off_t>(text.size())) != 0))
      std::abort();
    reported = text.size();
  }
  int reportFile = -1;
  size_t reported = 0;

  /// What every call does first: the requested failure, and errors that stay.
  Result enter(const char *name) {
    ++counts[name];
    if (sticky != success)
      return sticky;
    if (failFunction == name && (++calls[name] == failAt || failAt == 0)) {
      if (failWith >= 700 || failWith == 999)
        sticky = failWith;
      return failWith;
    }
    return success;
  }

  Allocation *find(uint64_t address) {
    if (last && address >= last->address && address < last->address + last->bytes)
      return last;
    auto it = allocations.upper_bound(address);
    if (it == allocations.begin())
      return nullptr;
    --it;
    if (address >= it->second.address + it->second.bytes)
      return nullptr;
    return last = &it->second;
  }

  /// Whether an earlier touch is ordered before the running operation.
  bool isOrdered(const Touch &touch) {
    if (touch.stream < 0)
      return true;
    const Operation &now = *running;
    if (touch.stream == now.stream && touch.index == now.index) // inside of one graph
      return touch.node == now.node || touch.node < 0 || now.node < 0 || now.graph->reaches[touch.node][now.node];
    if (touch.stream == now.stream)
      return touch.index < now.index;
    auto it = now.before.find(touch.stream);
    return it != now.before.end() && it->second > touch.index;
  }

  Granule &granuleAt(Allocation &a, uint64_t index) {
    constexpr uint64_t count = std::tuple_size_v<Chunk>, chunkBytes = count * granule;
    std::unique_ptr<Chunk> &chunk = a.chunks[index / count];
    if (!chunk) {
      chunk = std::make_unique<Chunk>();
      for (Granule &g : *chunk)
        g.writer = a.whole;
      uint64_t begin = index / count * chunkBytes;
      std::memset(host(a.address + begin), 0xff, std::min(chunkBytes, a.bytes - begin));
    }
    return (*chunk)[index % count];
  }

  void checkWrite(const Granule &g, const char *what) {
    if (!isOrdered(g.writer))
      complain(std::string("race: ") + running->what + " and an earlier writer" + what);
    for (const Touch &reader : g.readers)
      if (!isOrdered(reader))
        complain(std::string("race: ") + running->what + " writes what an unordered operation reads" + what);
  }

  /// What makes or frees all of a block: nobody sees what was there before.
  void renew(Allocation &a) {
    checkWrite({a.whole, {}}, "");
    for (std::unique_ptr<Chunk> &chunk : a.chunks) {
      if (chunk)
        for (const Granule &g : *chunk)
          checkWrite(g, "");
      chunk.reset();
    }
    a.whole = {running->stream, running->index, running->node, running->graph};
  }

  void touch(Allocation &a, uint64_t address, uint64_t bytes, bool isWrite, const char *what) {
    Touch mine{running->stream, running->index, running->node, running->graph};
    uint64_t first = (address - a.address) / granule, end = (address - a.address + bytes + granule - 1) / granule;
    for (uint64_t i = first; i < end; ++i) {
      Granule &g = granuleAt(a, i);
      if (isWrite) {
        checkWrite(g, what);
        g.writer = mine;
        g.readers.clear();
        continue;
      }
      if (!isOrdered(g.writer))
        complain(std::string("race: ") + running->what + " and an earlier writer" + what);
      if (g.readers.empty() || g.readers.back().stream != mine.stream || g.readers.back().index != mine.index ||
          g.readers.back().node != mine.node) {
        std::erase_if(g.readers, [&](const Touch &r) { return r.stream == mine.stream && r.index < mine.index; });
        g.readers.push_back(mine);
      }
    }
  }

  char *access(uint64_t address, unsigned bytes, bool isWrite) override {
    Allocation *a = find(address);
    if (!a || !a->isLive || address + bytes > a->address + a->bytes) {
      char text[160];
      std::snprintf(text, sizeof text, "%s of %s: %u bytes at %#llx, %s", isWrite ? "write" : "read",
                    running->what.c_str(), bytes, static_cast<unsigned long long>(address),
                    a ? a->isLive ? "beyond the end of an allocation" : "which is freed"
                      : "which nobody has allocated");
      complain(text);
      sticky = illegalAddress;
      throw ptx::Error(text);
    }
    touch(*a, address, bytes, isWrite, "");
    return host(address);
  }
  bool has(uint64_t address, uint64_t bytes) override {
    Allocation *a = find(address);
    return a && a->isLive && address + bytes <= a->address + a->bytes;
  }
  void conflict(uint64_t turns) override {
    counts["shared accesses"] += 1;
    counts["bank conflicts"] += static_cast<int64_t>(turns);
  }
  /// A range of an operation of the driver's own.
  char *range(uint64_t address, uint64_t bytes, bool isWrite) {
    if (bytes == 0)
      return host(address);
    Allocation *a = find(address);
    if (!a || !a->isLive || address + bytes > a->address + a->bytes) {
      complain(running->what + " outside of an allocation");
      sticky = illegalAddress;
      throw ptx::Error("range");
    }
    touch(*a, address, bytes, isWrite, "");
    return host(address);
  }

  FakeStream &add(FakeStream &stream, std::string what, std::function<void(Operation &)> body) {
    auto operation = std::make_unique<Operation>();
    operation->stream = stream.id;
    operation->index = stream.enqueued++;
    operation->before = stream.clock;
    operation->body = std::move(body);
    operation->what = std::move(what);
    stream.queue.push_back(std::move(operation));
    return stream;
  }

  bool canRun(const FakeStream &stream) {
    if (stream.queue.empty())
      return false;
    for (auto &[other, count] : stream.queue.front()->before)
      if (other != stream.id && streams[other]->finished < count)
        return false;
    Operation &next = *stream.queue.front();
    if (!next.ready || sticky != success)
      return true;
    running = &next;
    bool isReady = true;
    try {
      isReady = next.ready(next);
    } catch (ptx::Error &) { // which is sticky
    }
    running = nullptr;
    return isReady;
  }
  /// Whether operations wait for other processes.
  bool isApart() {
    return std::any_of(streams.begin(), streams.end(),
                       [](auto &s) { return !s.second->queue.empty() && s.second->queue.front()->ready; });
  }

  void runOne(FakeStream &stream) {
    std::unique_ptr<Operation> operation = std::move(stream.queue.front());
    stream.queue.pop_front();
    running = operation.get();
    if (sticky == success)
      try {
        operation->body(*operation);
      } catch (ptx::Error &error) {
        complain(std::string("error: ") + error.what());
        sticky = sticky == success ? illegalAddress : sticky;
      }
    running = nullptr;
    ++stream.finished;
    double start = stream.ends.empty() ? 0 : stream.ends.back();
    for (auto &[other, count] : operation->before)
      if (other != stream.id && count > 0)
        start = std::max(start, streams[other]->ends[count - 1]);
    stream.ends.push_back(start + operation->cost);
    serial += operation->serial > 0 ? operation->serial : operation->cost;
    makespan = std::max(makespan, stream.ends.back());
  }

  double serial = 0, makespan = 0; ///< virtual time of all operations one after the other, and as they were ordered

  /// A random operation that may run; false when there is none.
  bool step() {
    std::vector<FakeStream *> ready;
    for (auto &[id, stream] : streams)
      if (canRun(*stream))
        ready.push_back(stream.get());
    if (ready.empty())
      return false;
    runOne(*ready[random() % ready.size()]);
    return true;
  }

  /// Runs until a stream has finished `count` operations: others only by chance or where they must.
  void runUntil(FakeStream &stream, int64_t count) {
    while (stream.finished < count)
      if (!step()) {
        if (isApart()) {
          usleep(50);
          continue;
        }
        complain("streams wait for each other");
        return;
      }
  }

  static double costOf(const Launch &l) { return 2 + l.blocks * l.threads / 4096.0; }
  /// A folder for the modules that are loaded, if work is counted and not done (TOY_FAKE_IDLE): bench/cuda_counts.py.
  /// It is that of a device with as many multiprocessors as an H200 has.
  const char *idle = std::getenv("TOY_FAKE_IDLE");
  std::vector<std::string> launched; ///< the module's number, the kernel, blocks
  void launch(const Launch &l) {
    if (idle)
      return launched.push_back(std::to_string(l.function->moduleNumber) + " " + l.function->function->name + " " +
                                std::to_string(l.blocks));
    ptx::run(*l.function->module, *l.function->function, l.blocks, l.threads, l.parameters, *this);
  }
  void multiply(const Product &p);
  void transform(const FftPlan &p);
  std::vector<std::pair<FftPlan, FakeStream *>> fftPlans;
  void runGraph(FakeGraph &graph, Operation &operation);
};

/// The only one.
Fake &fake();
inline FakeStream *streamOf(Stream stream) { return reinterpret_cast<FakeStream *>(stream); }

} // namespace fakecuda

/// The start of a function of the driver.
#define ENTER(NAME)                                                                                                    \
  fakecuda::Fake &f = fakecuda::fake();                                                                                \
  std::lock_guard lock(f.mutex);                                                                                       \
  if (Result r = f.enter(NAME); r != success)                                                                          \
  return r
