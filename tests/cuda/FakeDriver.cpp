// SPDX-License-Identifier: Apache-2.0
/// \file
/// A CUDA driver, and cuBLAS, without a device: `TOY_CUDA_DRIVER=libtoyfakecuda.so`. Stricter than a real one:
///  * device memory is where the host cannot read it; new memory is full of NaN, freed memory again; every access is checked against its allocation;
///  * streams are lazy: nothing runs before somebody waits, and then in any order that the events allow, by a seed (TOY_FAKE_SEED);
///  * operations that touch the same bytes without an order between them are races, found by vector clocks (and by reachability inside of graphs);
///  * a virtual clock: 2 us a kernel or call and 1 us for 4 KiB that move or 4096 threads, streams and nodes of graphs next to each other;
///  * what may not happen while a stream is captured fails; the k-th call of a function can be made to fail (TOY_FAKE_FAIL=cuLaunchKernel:3:700), and kernels not to end (TOY_FAKE_HANG);
///  * counts and everything found are written to TOY_FAKE_REPORT, a line each.
/// Kernels are the PTX that was loaded, interpreted.
#include "Ptx.h"
#include "runtime/cuda/Driver.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <sstream>
#include <sys/mman.h>

using namespace toy::rt::cuda;

namespace {

constexpr uint64_t deviceBase = 0x700000000000, spaceBytes = uint64_t(1) << 34, granule = 16;
constexpr Result invalidValue = 1, notFound = 500, illegalAddress = 700, invalidPtx = 218, captureUnsupported = 900;

using Clock = std::map<int, int64_t>; ///< of each stream: how many of its operations come before

/// Who touched some bytes: an operation of a stream, and the node if it was a graph.
struct Touch {
  int stream = -1;
  int64_t index = 0;
  int node = -1;
  const void *graph = nullptr;
};

struct Allocation {
  uint64_t address, bytes;
  bool isLive = true;
  std::vector<Touch> writers;              ///< of each granule
  std::vector<std::vector<Touch>> readers; ///< since the last write
};

struct FakeGraph;

struct Operation {
  int stream;
  int64_t index;
  Clock before;                   ///< what is ordered before it
  std::function<void(Operation &)> body;
  std::string what;
  int node = -1;                  ///< while a graph runs
  FakeGraph *graph = nullptr;
  double cost = 0, serial = 0; ///< virtual microseconds, and those of a graph's nodes one after the other
};

struct FakeEvent {
  int stream = -1;
  int64_t index = -1; ///< operations of the stream that it waits for
  Clock clock;
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
};

struct FakeModule {
  std::unique_ptr<ptx::Module> module;
  std::map<std::string, std::unique_ptr<FakeFunction>> functions;
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
};

struct Product {
  FftPlan transform; ///< if n is not 0
  int compute = 0;
  int opA, opB, m, n, k, type, ldA, ldB, ldC, batch;
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
  uint64_t liveBytes = 0, limitBytes = spaceBytes;
  Operation *running = nullptr;
  Allocation *last = nullptr;

  Fake() {
    // The host must not read the device's addresses; the driver sees the same memory elsewhere.
    mmap(reinterpret_cast<void *>(deviceBase), spaceBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    alias = static_cast<char *>(mmap(nullptr, spaceBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
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

  void report() {
    const char *path = std::getenv("TOY_FAKE_REPORT");
    if (!path)
      return;
    if (FILE *file = std::fopen(path, "w")) {
      for (const std::string &text : found)
        std::fprintf(file, "found: %s\n", text.c_str());
      for (auto &[name, n] : counts)
        std::fprintf(file, "%s: %lld\n", name.c_str(), static_cast<long long>(n));
      int64_t live = 0;
      for (auto &[address, a] : allocations)
        live += a.isLive;
      std::fprintf(file, "live: %lld\nvirtual us: %.0f\nvirtual us in a row: %.0f\n", static_cast<long long>(live), makespan, serial);
      std::fclose(file);
    }
  }

  /// What every call does first: the requested failure, and errors that stay.
  Result enter(const char *name) {
    ++counts[name];
    if (sticky != success)
      return sticky;
    if (failFunction == name && ++calls[name] == failAt) {
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

  void touch(Allocation &a, uint64_t address, uint64_t bytes, bool isWrite, const char *what) {
    Touch mine{running->stream, running->index, running->node, running->graph};
    uint64_t first = (address - a.address) / granule, end = (address - a.address + bytes + granule - 1) / granule;
    for (uint64_t g = first; g < end; ++g) {
      Touch &writer = a.writers[g];
      auto &readers = a.readers[g];
      if (!isOrdered(writer))
        complain(std::string("race: ") + running->what + " and an earlier writer" + what);
      if (isWrite) {
        for (const Touch &reader : readers)
          if (!isOrdered(reader))
            complain(std::string("race: ") + running->what + " writes what an unordered operation reads" + what);
        writer = mine;
        readers.clear();
      } else if (readers.empty() || readers.back().stream != mine.stream || readers.back().index != mine.index || readers.back().node != mine.node) {
        std::erase_if(readers, [&](const Touch &r) { return r.stream == mine.stream && r.index < mine.index; });
        readers.push_back(mine);
      }
    }
  }

  char *access(uint64_t address, unsigned bytes, bool isWrite) override {
    Allocation *a = find(address);
    if (!a || !a->isLive || address + bytes > a->address + a->bytes) {
      char text[160];
      std::snprintf(text, sizeof text, "%s of %s: %u bytes at %#llx, %s", isWrite ? "write" : "read", running->what.c_str(), bytes, static_cast<unsigned long long>(address),
                    a ? a->isLive ? "beyond the end of an allocation" : "which is freed" : "which nobody has allocated");
      complain(text);
      sticky = illegalAddress;
      throw ptx::Error(text);
    }
    touch(*a, address, bytes, isWrite, "");
    return host(address);
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
    return true;
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
        complain("streams wait for each other");
        return;
      }
  }

  static double costOf(const Launch &l) { return 2 + l.blocks * l.threads / 4096.0; }
  void launch(const Launch &l) {
    ptx::run(*l.function->module, *l.function->function, l.blocks, l.threads, l.parameters, *this);
  }
  void multiply(const Product &p);
  void transform(const FftPlan &p);
  std::vector<std::pair<FftPlan, FakeStream *>> fftPlans;
  void runGraph(FakeGraph &graph, Operation &operation);
};

Fake &fake() {
  static Fake *instance = new Fake;
  return *instance;
}

/// As the units for TF32 read it: 11 digits.
float tf32(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  if ((bits & 0x7f800000) != 0x7f800000)
    bits = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
  std::memcpy(&x, &bits, 4);
  return x;
}

template <typename T> void product(Fake &f, const Product &p, T alpha, T beta) {
  auto get = [&](const T *data, int ld, int op, int row, int column) {
    T x = op == blasPlain ? data[int64_t(column) * ld + row] : data[int64_t(row) * ld + column];
    if (p.compute == computeF32FastTf32) {
      if constexpr (std::is_same_v<T, float>)
        x = tf32(x);
      else if constexpr (std::is_same_v<T, std::complex<float>>)
        x = {tf32(x.real()), tf32(x.imag())};
    }
    if constexpr (!std::is_floating_point_v<T>)
      return op == blasConjugated ? std::conj(x) : x;
    return x;
  };
  auto bytesOf = [&](int rows, int columns, int ld, long long stride) { return (uint64_t(columns - 1) * ld + rows + stride * (p.batch - 1)) * sizeof(T); };
  bool plainA = p.opA == blasPlain, plainB = p.opB == blasPlain;
  auto *a = reinterpret_cast<const T *>(f.range(p.a, bytesOf(plainA ? p.m : p.k, plainA ? p.k : p.m, p.ldA, p.strideA), false));
  auto *b = reinterpret_cast<const T *>(f.range(p.b, bytesOf(plainB ? p.k : p.n, plainB ? p.n : p.k, p.ldB, p.strideB), false));
  auto *c = reinterpret_cast<T *>(f.range(p.c, bytesOf(p.m, p.n, p.ldC, p.strideC), true));
  if (p.workspace)
    f.range(p.workspace, 256, true); // two products at once would share it
  for (int batch = 0; batch < p.batch; ++batch)
    for (int j = 0; j < p.n; ++j)
      for (int i = 0; i < p.m; ++i) {
        T sum = 0;
        for (int k = 0; k < p.k; ++k)
          sum += get(a + batch * p.strideA, p.ldA, p.opA, i, k) * get(b + batch * p.strideB, p.ldB, p.opB, k, j);
        T &out = c[batch * p.strideC + int64_t(j) * p.ldC + i];
        out = beta == T(0) ? alpha * sum : alpha * sum + beta * out;
      }
}

/// Every sum of the definition, in double.
void Fake::transform(const FftPlan &p) {
  auto isComplex = [](int type) { return type == blasC64 || type == blasC128; };
  auto isSingle = [](int type) { return type == blasF32 || type == blasC64; };
  int64_t inBytes = (isSingle(p.inType) ? 4 : 8) * (isComplex(p.inType) ? 2 : 1), outBytes = (isSingle(p.outType) ? 4 : 8) * (isComplex(p.outType) ? 2 : 1);
  bool inverseReal = !isComplex(p.outType);
  char *in = range(p.in, ((p.from - 1) * p.inStride + (p.batch - 1) * p.inDistance + 1) * inBytes, inverseReal); // which destroys its input
  char *out = range(p.out, ((p.to - 1) * p.outStride + (p.batch - 1) * p.outDistance + 1) * outBytes, true);
  auto read = [&](int64_t at) -> std::complex<double> {
    auto real = [&](int64_t i) { return isSingle(p.inType) ? reinterpret_cast<float *>(in)[i] : reinterpret_cast<double *>(in)[i]; };
    return isComplex(p.inType) ? std::complex<double>(real(2 * at), real(2 * at + 1)) : std::complex<double>(real(at));
  };
  auto write = [&](int64_t at, std::complex<double> z) {
    auto real = [&](int64_t i, double v) { isSingle(p.outType) ? void(reinterpret_cast<float *>(out)[i] = float(v)) : void(reinterpret_cast<double *>(out)[i] = v); };
    if (isComplex(p.outType)) {
      real(2 * at, z.real());
      real(2 * at + 1, z.imag());
    } else
      real(at, z.real());
  };
  for (int64_t b = 0; b < p.batch; ++b) {
    std::vector<std::complex<double>> x(p.n), twiddles(p.n), y;
    for (int64_t i = 0; i < p.n; ++i) {
      twiddles[i] = std::polar(1.0, p.direction * 2 * 3.14159265358979323846 * double(i) / double(p.n));
      x[i] = i < p.from ? read(b * p.inDistance + i * p.inStride) : std::conj(read(b * p.inDistance + (p.n - i) * p.inStride));
    }
    if (inverseReal) {
      x[0] = x[0].real();
      if (p.n % 2 == 0)
        x[p.n / 2] = x[p.n / 2].real();
    }
    for (int64_t k = 0; k < p.to; ++k) {
      std::complex<double> sum = 0;
      for (int64_t i = 0; i < p.n; ++i)
        sum += x[i] * twiddles[i * k % p.n];
      y.push_back(sum);
    }
    for (int64_t k = 0; k < p.to; ++k)
      write(b * p.outDistance + k * p.outStride, y[k]);
    if (inverseReal)
      for (int64_t i = 0; i < p.from; ++i)
        std::memset(in + (b * p.inDistance + i * p.inStride) * inBytes, 0xff, inBytes);
  }
}

void Fake::multiply(const Product &p) {
  if (p.transform.n)
    return transform(p.transform);
  switch (p.type) {
  case blasF32: return product<float>(*this, p, float(p.alpha.real()), float(p.beta.real()));
  case blasF64: return product<double>(*this, p, p.alpha.real(), p.beta.real());
  case blasC64: return product<std::complex<float>>(*this, p, std::complex<float>(p.alpha), std::complex<float>(p.beta));
  default: return product<std::complex<double>>(*this, p, p.alpha, p.beta);
  }
}

/// Nodes in any order that their edges allow.
void Fake::runGraph(FakeGraph &graph, Operation &operation) {
  size_t n = graph.nodes.size();
  std::vector<bool> done(n, false);
  std::vector<double> ends(n, 0);
  for (size_t finished = 0; finished < n; ++finished) {
    std::vector<size_t> ready;
    for (size_t i = 0; i < n; ++i)
      if (!done[i] && std::all_of(graph.nodes[i]->dependencies.begin(), graph.nodes[i]->dependencies.end(), [&](int d) { return done[d]; }))
        ready.push_back(i);
    size_t chosen = ready[random() % ready.size()];
    operation.node = static_cast<int>(chosen);
    operation.graph = &graph;
    FakeNode &node = *graph.nodes[chosen];
    double start = 0, cost = node.launch.function ? costOf(node.launch) - 1.5 : 2.0 * double(node.products.size()); // a node starts faster than a launch
    for (int d : node.dependencies)
      start = std::max(start, ends[d]);
    ends[chosen] = start + cost;
    operation.serial += cost;
    operation.cost = std::max(operation.cost, ends[chosen]);
    if (node.launch.function)
      launch(node.launch);
    for (const Product &p : node.products)
      multiply(p);
    done[chosen] = true;
  }
}

FakeStream *streamOf(Stream stream) { return reinterpret_cast<FakeStream *>(stream); }

Launch launchOf(Function function, unsigned blocks, unsigned threads, void **parameters) {
  auto *f = reinterpret_cast<FakeFunction *>(function);
  Launch out{f, blocks, threads, {}};
  for (size_t i = 0; i < f->function->paramSlots.size(); ++i)
    out.parameters.push_back(*static_cast<uint64_t *>(parameters[i]));
  return out;
}

/// A copy, ready to run: reachability between its nodes.
std::unique_ptr<FakeGraph> copyOf(const FakeGraph &graph) {
  auto out = std::make_unique<FakeGraph>();
  for (const auto &node : graph.nodes) {
    out->nodes.push_back(std::make_unique<FakeNode>(*node));
    out->nodes.back()->owner = out.get();
  }
  size_t n = out->nodes.size();
  out->reaches.assign(n, std::vector<bool>(n, false));
  for (size_t i = 0; i < n; ++i) // dependencies have smaller numbers
    for (int d : out->nodes[i]->dependencies) {
      out->reaches[d][i] = true;
      for (size_t k = 0; k < n; ++k)
        if (out->reaches[k][d])
          out->reaches[k][i] = true;
    }
  return out;
}

} // namespace

#define ENTER(NAME)                                                                                                    \
  Fake &f = fake();                                                                                                    \
  std::lock_guard lock(f.mutex);                                                                                       \
  if (Result r = f.enter(NAME); r != success)                                                                          \
  return r

extern "C" {

Result cuInit(unsigned) {
  if (const char *error = std::getenv("TOY_FAKE_INIT"))
    return std::atoi(error);
  ENTER("cuInit");
  return success;
}
Result cuDriverGetVersion(int *version) {
  *version = std::getenv("TOY_FAKE_VERSION") ? std::atoi(std::getenv("TOY_FAKE_VERSION")) : 13000;
  return success;
}
Result cuGetErrorName(Result error, const char **text) {
  static const std::map<Result, const char *> names = {{0, "CUDA_SUCCESS"}, {1, "CUDA_ERROR_INVALID_VALUE"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"}, {100, "CUDA_ERROR_NO_DEVICE"}, {218, "CUDA_ERROR_INVALID_PTX"},
                                                       {500, "CUDA_ERROR_NOT_FOUND"}, {600, "CUDA_ERROR_NOT_READY"}, {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {719, "CUDA_ERROR_LAUNCH_FAILED"},
                                                       {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"}, {999, "CUDA_ERROR_UNKNOWN"}};
  auto it = names.find(error);
  *text = it == names.end() ? "CUDA_ERROR" : it->second;
  return success;
}
Result cuGetErrorString(Result error, const char **text) { return cuGetErrorName(error, text); }
Result cuDeviceGetCount(int *count) {
  *count = std::getenv("TOY_FAKE_DEVICES") ? std::atoi(std::getenv("TOY_FAKE_DEVICES")) : 1;
  return success;
}
Result cuDeviceGet(Device *device, int) {
  *device = 0;
  return success;
}
Result cuDeviceGetName(char *name, int bytes, Device) {
  std::snprintf(name, bytes, "Fake device");
  return success;
}
Result cuDeviceGetAttribute(int *value, int attribute, Device) {
  *value = attribute == computeCapabilityMajor ? 9 : attribute == computeCapabilityMinor ? 0 : attribute == multiprocessorCount ? 8 : attribute == memoryClockKHz ? 1000000 : attribute == busWidthBits ? 4096 : 0;
  return success;
}
Result cuDeviceTotalMem_v2(size_t *bytes, Device) {
  *bytes = fake().limitBytes;
  return success;
}
Result cuDeviceGetDefaultMemPool(MemPool *pool, Device) {
  *pool = reinterpret_cast<MemPool>(8);
  return success;
}
Result cuDevicePrimaryCtxRetain(Context *context, Device) {
  *context = reinterpret_cast<Context>(8);
  return success;
}
Result cuCtxSetCurrent(Context) { return success; }
Result cuMemPoolSetAttribute(MemPool, int, void *) { return success; }
Result cuMemPoolTrimTo(MemPool, size_t) {
  ENTER("cuMemPoolTrimTo");
  return success;
}

Result cuStreamCreate(Stream *stream, unsigned) {
  ENTER("cuStreamCreate");
  int id = static_cast<int>(f.streams.size());
  f.streams[id] = std::make_unique<FakeStream>(FakeStream{id, {}, 0, 0, {}, nullptr});
  *stream = reinterpret_cast<Stream>(f.streams[id].get());
  return success;
}

Result cuMemAllocAsync(Pointer *pointer, size_t bytes, Stream stream) {
  ENTER("cuMemAllocAsync");
  FakeStream &s = *streamOf(stream);
  if (s.capturing)
    return captureUnsupported;
  if (f.liveBytes + bytes > f.limitBytes)
    return outOfMemory;
  uint64_t rounded = (bytes + 255) / 256 * 256, address;
  auto &ranges = f.freeRanges[rounded];
  if (!ranges.empty()) {
    address = ranges.back();
    ranges.pop_back();
    f.allocations.erase(address);
    f.last = nullptr;
  } else {
    address = f.top;
    f.top += rounded + 4096; // accesses beyond the end hit nothing
  }
  f.liveBytes += bytes;
  Allocation &a = f.allocations[address] = {address, bytes, true, {}, {}};
  a.writers.resize((bytes + granule - 1) / granule);
  a.readers.resize(a.writers.size());
  std::memset(f.host(address), 0xff, bytes);
  // It exists in the order of its stream.
  f.add(s, "the allocation", [&f, address, bytes](Operation &) { f.range(address, bytes, true); });
  *pointer = address;
  return success;
}

Result cuMemFreeAsync(Pointer pointer, Stream stream) {
  ENTER("cuMemFreeAsync");
  auto it = f.allocations.find(pointer);
  if (it == f.allocations.end() || !it->second.isLive) {
    f.complain("a block is freed that is not allocated");
    return invalidValue;
  }
  f.add(*streamOf(stream), "freeing", [&f, pointer](Operation &) {
    Allocation &a = f.allocations.at(pointer);
    if (!a.isLive) {
      f.complain("a block is freed twice");
      return;
    }
    f.range(pointer, a.bytes, true);
    std::memset(f.host(pointer), 0xff, a.bytes);
    a.isLive = false;
    f.liveBytes -= a.bytes;
    f.freeRanges[(a.bytes + 255) / 256 * 256].push_back(pointer);
  });
  return success;
}

Result cuMemcpyHtoDAsync_v2(Pointer to, const void *from, size_t bytes, Stream stream) {
  ENTER("cuMemcpyHtoDAsync");
  f.counts["bytesToDevice"] += bytes;
  auto staged = std::make_shared<std::vector<char>>(static_cast<const char *>(from), static_cast<const char *>(from) + bytes); // pageable memory is read now
  f.add(*streamOf(stream), "a copy to the device", [&f, to, staged](Operation &operation) {
    operation.cost = 2 + double(staged->size()) / 4096;
    std::memcpy(f.range(to, staged->size(), true), staged->data(), staged->size());
  });
  return success;
}
Result cuMemcpyDtoHAsync_v2(void *to, Pointer from, size_t bytes, Stream stream) {
  ENTER("cuMemcpyDtoHAsync");
  if (streamOf(stream)->capturing)
    return captureUnsupported;
  f.counts["bytesToHost"] += bytes;
  std::memset(to, 0xff, bytes); // not there before somebody waits
  f.add(*streamOf(stream), "a copy to the host", [&f, to, from, bytes](Operation &operation) {
    operation.cost = 2 + double(bytes) / 4096;
    std::memcpy(to, f.range(from, bytes, false), bytes);
  });
  return success;
}

Result cuStreamSynchronize(Stream stream) {
  ENTER("cuStreamSynchronize");
  FakeStream &s = *streamOf(stream);
  if (s.capturing)
    return captureUnsupported;
  f.runUntil(s, s.enqueued);
  f.report();
  return f.sticky;
}
Result cuStreamWaitEvent(Stream stream, Event event, unsigned) {
  ENTER("cuStreamWaitEvent");
  auto *e = reinterpret_cast<FakeEvent *>(event);
  FakeStream &s = *streamOf(stream);
  if (e->stream < 0)
    return success;
  ++f.counts["waits"];
  for (auto &[other, count] : e->clock)
    s.clock[other] = std::max(s.clock[other], count);
  s.clock[e->stream] = std::max(s.clock[e->stream], e->index);
  f.add(s, "a wait", [](Operation &) {});
  return success;
}
Result cuEventCreate(Event *event, unsigned) {
  ENTER("cuEventCreate");
  ++f.events;
  *event = reinterpret_cast<Event>(new FakeEvent);
  return success;
}
Result cuEventRecord(Event event, Stream stream) {
  ENTER("cuEventRecord");
  FakeStream &s = *streamOf(stream);
  *reinterpret_cast<FakeEvent *>(event) = {s.id, s.enqueued, s.clock};
  return success;
}
Result cuEventQuery(Event event) {
  ENTER("cuEventQuery");
  if (std::getenv("TOY_FAKE_HANG")) // a kernel that does not end
    return notReady;
  auto *e = reinterpret_cast<FakeEvent *>(event);
  if (e->stream < 0)
    return success;
  FakeStream &s = *f.streams[e->stream];
  if (s.finished < e->index) {
    f.step();
    if (s.finished < e->index && f.random() % 8) // sometimes more than one at a time
      f.step();
    if (f.sticky != success)
      return f.sticky;
    if (s.finished < e->index)
      return notReady;
  }
  f.report();
  return f.sticky;
}
Result cuEventDestroy_v2(Event event) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  --f.events;
  delete reinterpret_cast<FakeEvent *>(event);
  return success;
}

Result cuModuleLoadData(Module *module, const void *image) {
  ENTER("cuModuleLoadData");
  auto loaded = std::make_unique<FakeModule>();
  try {
    loaded->module = ptx::parse(static_cast<const char *>(image));
  } catch (std::exception &error) {
    f.complain(error.what());
    return invalidPtx;
  }
  *module = reinterpret_cast<Module>(loaded.get());
  f.modules.push_back(std::move(loaded));
  return success;
}
Result cuModuleUnload(Module module) {
  ENTER("cuModuleUnload");
  for (auto &[id, stream] : f.streams)
    if (!stream->queue.empty() && std::any_of(stream->queue.begin(), stream->queue.end(), [](auto &o) { return o->what.starts_with("kernel") || o->what.starts_with("graph"); }))
      f.complain("code is unloaded that still has to run");
  std::erase_if(f.modules, [&](auto &m) { return reinterpret_cast<Module>(m.get()) == module; });
  return success;
}
Result cuModuleGetFunction(Function *function, Module module, const char *name) {
  ENTER("cuModuleGetFunction");
  auto *m = reinterpret_cast<FakeModule *>(module);
  auto it = m->module->functions.find(name);
  if (it == m->module->functions.end() || !it->second->isEntry)
    return notFound;
  auto &slot = m->functions[name];
  if (!slot)
    slot = std::make_unique<FakeFunction>(FakeFunction{m->module.get(), it->second.get()});
  *function = reinterpret_cast<Function>(slot.get());
  return success;
}

Result cuLaunchKernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned, Stream stream, void **parameters, void **) {
  ENTER("cuLaunchKernel");
  if (gx == 0 || gy != 1 || gz != 1 || bx == 0 || bx > 1024 || by != 1 || bz != 1)
    return invalidValue;
  FakeStream &s = *streamOf(stream);
  if (s.capturing)
    return captureUnsupported; // toy adds its kernels to graphs itself
  ++f.counts["launches"];
  auto l = std::make_shared<Launch>(launchOf(function, gx, bx, parameters));
  f.add(s, "kernel " + l->function->function->name, [&f, l](Operation &operation) {
    operation.cost = Fake::costOf(*l);
    f.launch(*l);
  });
  return success;
}

Result cuStreamBeginCapture_v2(Stream stream, int) {
  ENTER("cuStreamBeginCapture");
  FakeStream &s = *streamOf(stream);
  if (s.capturing)
    return captureUnsupported;
  s.capturing = new FakeGraph;
  f.graphs.insert(s.capturing);
  return success;
}
Result cuStreamEndCapture(Stream stream, Graph *graph) {
  ENTER("cuStreamEndCapture");
  FakeStream &s = *streamOf(stream);
  if (!s.capturing)
    return invalidValue;
  *graph = reinterpret_cast<Graph>(s.capturing);
  s.capturing = nullptr;
  return success;
}

Result cuGraphCreate(Graph *graph, unsigned) {
  ENTER("cuGraphCreate");
  auto *g = new FakeGraph;
  f.graphs.insert(g);
  *graph = reinterpret_cast<Graph>(g);
  return success;
}
Result cuGraphDestroy(Graph graph) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  auto *g = reinterpret_cast<FakeGraph *>(graph);
  if (!f.graphs.erase(g))
    f.complain("a graph is destroyed that does not exist");
  else
    delete g;
  return success;
}
static Result addNode(GraphNode *node, Graph graph, const GraphNode *dependencies, size_t count, Launch launch, std::vector<Product> products) {
  auto *g = reinterpret_cast<FakeGraph *>(graph);
  auto made = std::make_unique<FakeNode>(FakeNode{g, static_cast<int>(g->nodes.size()), {}, std::move(launch), std::move(products)});
  for (size_t i = 0; i < count; ++i)
    made->dependencies.push_back(reinterpret_cast<FakeNode *>(dependencies[i])->id);
  *node = reinterpret_cast<GraphNode>(made.get());
  g->nodes.push_back(std::move(made));
  return success;
}
Result cuGraphAddKernelNode_v2(GraphNode *node, Graph graph, const GraphNode *dependencies, size_t count, const KernelNodeParams *p) {
  ENTER("cuGraphAddKernelNode");
  return addNode(node, graph, dependencies, count, launchOf(p->function, p->gridX, p->blockX, p->parameters), {});
}
static std::vector<Product> productsOf(Graph child) {
  std::vector<Product> out;
  for (auto &node : reinterpret_cast<FakeGraph *>(child)->nodes)
    out.insert(out.end(), node->products.begin(), node->products.end());
  return out;
}
Result cuGraphAddChildGraphNode(GraphNode *node, Graph graph, const GraphNode *dependencies, size_t count, Graph child) {
  ENTER("cuGraphAddChildGraphNode");
  return addNode(node, graph, dependencies, count, {}, productsOf(child));
}
Result cuGraphInstantiateWithFlags(GraphExec *exec, Graph graph, unsigned long long) {
  ENTER("cuGraphInstantiate");
  auto copy = copyOf(*reinterpret_cast<FakeGraph *>(graph));
  copy->isExec = true;
  f.graphs.insert(copy.get());
  *exec = reinterpret_cast<GraphExec>(copy.release());
  return success;
}
Result cuGraphExecDestroy(GraphExec exec) { return cuGraphDestroy(reinterpret_cast<Graph>(exec)); }
Result cuGraphExecKernelNodeSetParams_v2(GraphExec exec, GraphNode node, const KernelNodeParams *p) {
  ENTER("cuGraphExecKernelNodeSetParams");
  reinterpret_cast<FakeGraph *>(exec)->nodes[reinterpret_cast<FakeNode *>(node)->id]->launch = launchOf(p->function, p->gridX, p->blockX, p->parameters);
  return success;
}
Result cuGraphExecChildGraphNodeSetParams(GraphExec exec, GraphNode node, Graph child) {
  ENTER("cuGraphExecChildGraphNodeSetParams");
  reinterpret_cast<FakeGraph *>(exec)->nodes[reinterpret_cast<FakeNode *>(node)->id]->products = productsOf(child);
  return success;
}
Result cuGraphLaunch(GraphExec exec, Stream stream) {
  ENTER("cuGraphLaunch");
  ++f.counts["graphLaunches"];
  // Parameters are those of now: later changes are for later launches. It lives as long as the operation.
  std::shared_ptr<FakeGraph> copy = copyOf(*reinterpret_cast<FakeGraph *>(exec));
  f.add(*streamOf(stream), "graph", [&f, copy](Operation &operation) { f.runGraph(*copy, operation); });
  return success;
}

int cublasCreate_v2(BlasHandle *handle) {
  *handle = reinterpret_cast<BlasHandle>(new FakeBlas);
  return 0;
}
int cublasDestroy_v2(BlasHandle handle) {
  delete reinterpret_cast<FakeBlas *>(handle);
  return 0;
}
int cublasSetStream_v2(BlasHandle handle, Stream stream) {
  auto *h = reinterpret_cast<FakeBlas *>(handle);
  h->stream = streamOf(stream);
  h->workspace = 0; // as the real one: the workspace belongs to the stream
  return 0;
}
int cublasSetWorkspace_v2(BlasHandle handle, void *workspace, size_t) {
  reinterpret_cast<FakeBlas *>(handle)->workspace = reinterpret_cast<uint64_t>(workspace);
  return 0;
}
int cublasGemmStridedBatchedEx(BlasHandle handle, int opA, int opB, int m, int n, int k, const void *alpha, const void *a, int type, int ldA, long long strideA, const void *b, int, int ldB, long long strideB,
                               const void *beta, void *c, int, int ldC, long long strideC, int batch, int compute, int) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  if (f.enter("cublasGemmStridedBatchedEx") != success)
    return 13;
  auto *h = reinterpret_cast<FakeBlas *>(handle);
  auto scalar = [&](const void *p) -> std::complex<double> {
    switch (type) {
    case blasF32: return *static_cast<const float *>(p);
    case blasF64: return *static_cast<const double *>(p);
    case blasC64: return *static_cast<const std::complex<float> *>(p);
    default: return *static_cast<const std::complex<double> *>(p);
    }
  };
  int rowsA = opA == blasPlain ? m : k, rowsB = opB == blasPlain ? k : n;
  if (m <= 0 || n <= 0 || k <= 0 || ldA < rowsA || ldB < rowsB || ldC < m || batch < 1 || (opA == blasConjugated && type < blasC64) || opA > 2 || opB > 2) {
    f.complain("cuBLAS: a bad argument");
    return 7;
  }
  if (!h->workspace)
    f.complain("cuBLAS: no workspace of its own");
  Product p{{}, compute, opA, opB, m, n, k, type, ldA, ldB, ldC, batch, strideA, strideB, strideC, reinterpret_cast<uint64_t>(a), reinterpret_cast<uint64_t>(b), reinterpret_cast<uint64_t>(c), h->workspace, scalar(alpha), scalar(beta)};
  ++f.counts["products"];
  if (h->stream->capturing) {
    auto node = std::make_unique<FakeNode>();
    node->products.push_back(p);
    h->stream->capturing->nodes.push_back(std::move(node));
    return 0;
  }
  f.add(*h->stream, "a product", [&f, p](Operation &operation) {
    operation.cost = 2;
    f.multiply(p);
  });
  return 0;
}

int cufftCreate(int *plan) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  f.fftPlans.push_back({});
  *plan = static_cast<int>(f.fftPlans.size()) - 1;
  return 0;
}
int cufftSetStream(int plan, Stream stream) {
  fake().fftPlans.at(plan).second = streamOf(stream);
  return 0;
}
int cufftXtMakePlanMany(int plan, int rank, long long *n, long long *inEmbed, long long inStride, long long inDistance, int inType, long long *outEmbed, long long outStride, long long outDistance, int outType,
                        long long batch, size_t *workBytes, int computeType) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  for (auto &[id, stream] : f.streams)
    if (stream->capturing)
      f.complain("cuFFT: a plan is made while a stream is captured");
  if (rank != 1 || *n < 1 || *inEmbed < 1 || *outEmbed < 1 || batch < 1 || (computeType != blasC64 && computeType != blasC128))
    return 4;
  f.fftPlans.at(plan).first = {*n, *inEmbed, *outEmbed, inStride, inDistance, outStride, outDistance, batch, inType, outType};
  *workBytes = 0;
  return 0;
}
int cufftXtExec(int plan, void *in, void *out, int direction) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  if (f.enter("cufftXtExec") != success)
    return 6;
  auto &[description, stream] = f.fftPlans.at(plan);
  Product p{};
  p.transform = description;
  p.transform.direction = direction;
  p.transform.in = reinterpret_cast<uint64_t>(in);
  p.transform.out = reinterpret_cast<uint64_t>(out);
  ++f.counts["transforms"];
  if (stream->capturing) {
    auto node = std::make_unique<FakeNode>();
    node->products.push_back(p);
    stream->capturing->nodes.push_back(std::move(node));
    return 0;
  }
  f.add(*stream, "a transform", [&f, p](Operation &operation) {
    operation.cost = 2;
    f.multiply(p);
  });
  return 0;
}
}
