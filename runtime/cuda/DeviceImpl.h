// SPDX-License-Identifier: Apache-2.0
/// \file
/// The device, what is recorded for it, and graphs.
#pragma once

#include "runtime/Device.h"
#include "runtime/cuda/Driver.h"

#include <array>
#include <bitset>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace toy::rt {

/// Elements on the device. One reference is the storage's, one each recorded operation's that reads or writes it.
struct DeviceBlock {
  int64_t bytes;
  cuda::Pointer address = 0; ///< 0 until it is planned
  int refs = 1;
  int producer = -1;           ///< recorded operation that writes it (last), or -1
  bool held = true;            ///< by a value
  bool isArena = false;        ///< the address is inside of the arena
  Storage *uploaded = nullptr; ///< the host has the same elements: it can be dropped when memory is short
  uint64_t used = 0;
};

namespace cuda {

constexpr int mostRecords = 256, auxiliaryStreams = 3;
constexpr unsigned blockThreads = 256;
constexpr size_t firstPointer = 2;    ///< behind a launch's grid and block
constexpr int leastArchitecture = 75; ///< ten times the compute capability

/// Transforms of rows of `points` elements.
struct TransformPlan {
  enum Kind : uint8_t { Forward, Backward, RealForward, RealBackward } kind;
  bool single;
  int64_t rows, points;
  auto operator<=>(const TransformPlan &) const = default;
};

/// A matrix product as cuBLAS takes it: column-major, so that operands stand in exchanged order. With `terms` 3 the
/// operands are the upper digits, the lower digits, and the upper digits of what is finite, of the left factor, then of
/// the right one, and three products of them are added.
struct ProductPlan {
  int terms = 1;
  double alpha = 1, beta = 0;                                        ///< with beta 1 it is added to what the result has
  int opA, opB, m, n, k, ldA, ldB, ldC, batch, type, typeC, compute; ///< `type` of the factors
  long long strideA, strideB, strideC;
  int64_t offsetA, offsetB; ///< bytes
  bool operator==(const ProductPlan &) const = default;
};

struct Record {
  DeviceKernel *kernel = nullptr; ///< null: a call of a library
  std::optional<TransformPlan> transform;
  std::vector<DeviceBlock *> operands, results;
  bool updates = false;   ///< the result is written in place: what it had remains
  std::vector<int> needs; ///< earlier records of the sequence that must be done: writers of what this reads, readers of
                          ///< what it overwrites
  std::vector<int64_t> words;
  unsigned grid = 1, block = blockThreads; ///< blocks, and threads of each
  double size() const { return double(grid) * block / blockThreads; }
  ProductPlan product{};
  int64_t site;
};

/// What is the same for two sequences of the same operations, whatever their sizes and addresses.
using Signature = std::vector<uint64_t>;

struct CachedGraph {
  /// A node, and what it was given at the last launch.
  struct Node {
    GraphNode node = nullptr;
    std::vector<uint64_t> parameters; ///< grid, block, addresses (from `firstPointer` on), words
    ProductPlan product{};
    std::optional<TransformPlan> transform;
  };
  Graph graph = nullptr;
  GraphExec exec = nullptr;
  std::vector<Node> nodes;
  int64_t launches = 0, patches = 0, uses = 0;
  bool cannotBe = false; ///< a library refuses a call of it
  uint64_t used = 0;     ///< when
};

class Communicator;

class CudaDevice {
public:
  /// Null and the reason when there is none.
  static CudaDevice *get(std::string &problem);

  /// From here on blocks that are asked for stay until the next operation.
  void startOperation() { operationStart = clock; }
  void read(DeviceBlock *block, void *to, int64_t offset, int64_t bytes);
  void release(DeviceBlock *block);
  /// The block of a tensor's elements, copied to the device if they are not there.
  DeviceBlock *blockOf(Tensor &t);
  // Plan.cpp
  /// The results, of so many bytes each.
  std::vector<DeviceBlock *> record(Record record, std::span<const int64_t> bytes);
  DeviceBlock *record(Record record, int64_t bytes) { return this->record(std::move(record), std::span(&bytes, 1))[0]; }
  /// The same for a kernel that changes a block, which nobody else holds.
  void recordUpdate(Record record, DeviceBlock *block);
  void flush(const char *reason);
  void wait();
  std::string describe() const;
  int architecture = 0, multiprocessors = 1;
  bool readsPageable = false; ///< it reads the host's memory where that lies: copies may read late
  double bandwidth = 1e12;    ///< bytes a second of its memory, from clock and width
  DeviceStats stats;
  std::vector<DeviceSplit> splits;
  std::vector<DeviceFallback> fallbacks;
  std::vector<MissingLibrary> missing;
  /// Whether the library that some work needs is there. That it is not is said once where the device was asked for.
  bool has(bool isOpen, const char *work, const std::string &problem, int64_t site);
  std::set<int64_t> unfinished; ///< sites
  // For collectives, which are between sequences: the stream that all of it follows, a block that a call on it fills,
  // and how far it has come.
  Stream main() const { return stream; }
  DeviceBlock *place(int64_t bytes);
  Event mark();
  bool isDone(Event event);
  void recycle(Event event) { events.push_back(event); }
  DeviceId identify();
  Communicator *ranks = nullptr; ///< if other ranks' devices are connected
  std::vector<std::string> graphTable() const;
  void unload(DeviceModule &module);
  /// Seconds to start and wait for something, bytes a second between host and device and of the host's memory.
  struct Costs {
    bool known = false;
    double start = 0, busBytes = 0, hostBytes = 0;
  } costs;
  void calibrate();
  /// What has failed for good; empty while all is well.
  std::string failure;

private:
  bool open(std::string &problem);
  void check(Result result, const char *what);
  Module load(const std::string &ptx);
  Pointer allocate(int64_t bytes, Pointer preferred = 0); ///< an idle block, if there is one, best the preferred one
  void giveBack(Pointer pointer, int64_t bytes);
  bool evict();
  void dropIdle();
  static int64_t capacityOf(int64_t bytes);
  void drop(DeviceBlock *block); ///< one reference
  void drop(Record &record);     ///< its references
  Function functionOf(DeviceKernel &kernel);
  // Transfers.cpp
  bool openStaging();
  void waitFor(Event event);
  void copyToDevice(Pointer to, const void *from, int64_t bytes, Stream on);
  void copyToHost(void *to, Pointer from, int64_t bytes, Stream on);
  // Plan.cpp
  void plan();
  void takePlaces();
  void joinPairs();
  void findNeeds();
  // Sequence.cpp
  void run(size_t begin, size_t end);
  void runOnStreams(size_t begin, size_t end);
  /// False, with nothing launched, where a library refuses a call.
  bool runGraph(CachedGraph &graph, size_t begin, size_t end);
  /// Calls of libraries that a graph has with other sizes or addresses.
  int64_t changedCalls(const CachedGraph &graph, size_t begin) const;
  Signature signatureOf(size_t begin, size_t end) const;
  CachedGraph &graphOf(const Signature &signature);
  bool build(CachedGraph &graph, size_t begin, size_t end);
  void destroyGraph(CachedGraph &graph);
  /// Those with a transform like this one, or with any.
  void destroyGraphsOf(const TransformPlan *transform);
  Graph captureCall(const Record &record); ///< null where a library refuses it
  void launch(Record &record, Stream stream);
  // Libraries.cpp, Transforms.cpp
  void noteFallback(const char *what, int status, int64_t site);
  void prepareTransforms();
  void makePlan(const TransformPlan &t, int64_t site);
  bool prepareProduct(int64_t site);
  /// What the library refuses is computed by the host and copied to where it belongs; false while a stream is captured,
  /// when that cannot be.
  bool callLibrary(const Record &record, Stream stream);
  bool multiply(const Record &record, Stream stream);
  void multiplyOnHost(const Record &record, DeviceBlock *left, DeviceBlock *right, double beta, Stream stream);
  bool transform(const Record &record, Stream stream);
  /// The bytes of a block when the stream has come so far; the other way round.
  std::vector<char> contents(DeviceBlock *block, Stream stream);
  void replace(DeviceBlock *block, const void *with, Stream stream);
  std::vector<uint64_t> parametersOf(const Record &record) const;
  std::vector<int> predecessorsOf(size_t i, size_t begin) const;
  void finish();

  const DriverFunctions *cu = nullptr;
  const BlasFunctions *blas = nullptr;
  const FftFunctions *fft = nullptr;
  cuda::Device device = 0;
  Context context = nullptr;
  Stream stream = nullptr, capture = nullptr, auxiliary[auxiliaryStreams] = {};
  MemPool pool = nullptr;
  BlasHandle handle = nullptr;
  /// A plan of cuFFT.
  struct MadePlan {
    int plan; ///< -1: cuFFT does not make it
    int64_t workBytes;
    uint64_t used; ///< when
  };
  std::map<TransformPlan, MadePlan> transformPlans;
  Pointer workspace = 0, transformArea = 0, arena = 0;
  int64_t transformAreaBytes = 0, arenaBytes = 0;
  /// Pinned memory of the host, and when the copy from or to it is done.
  struct Piece {
    char *bytes = nullptr;
    Event done = nullptr;
  } staging[2];
  bool stagingWasAsked = false;
  int nextPiece = 0;
  Event finished = nullptr; ///< of `wait`
  std::string name;
  size_t memory = 0;
  uint64_t clock = 0, operationStart = 0;
  std::vector<Record> pending;
  std::vector<std::bitset<mostRecords>> ancestors; ///< of the planned records, each including itself
  std::set<DeviceBlock *> uploads;
  std::map<int64_t, std::vector<Pointer>>
      idle; ///< blocks by capacity; whoever takes one comes later on the main stream than its last use
  int64_t idleBytes = 0;
  std::map<Signature, CachedGraph> graphs;
  std::set<std::string> fallbackKinds, missed; ///< calls that have failed, work without its library
  std::set<Signature> sizesSeen;               ///< of sequences with calls of libraries whose graph had other sizes
  std::vector<Event> events;                   ///< free ones
};

/// A kernel of Kernels.cu.
DeviceKernel &kernelAround(const char *name);
/// `count` threads of one of them; the result belongs to the caller.
DeviceBlock *runKernel(CudaDevice &device, const char *name, DeviceBlock *operand, int64_t bytes, int64_t count,
                       int64_t word, int64_t site);
/// Elements of a block from an offset on along axes (outermost first) as a dense block, which belongs to the caller;
/// null where the axes are too many.
DeviceBlock *copyDense(CudaDevice &device, DType dtype, DeviceBlock *from, int64_t offset,
                       std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t site);
/// Rows of `length` elements that are behind each other from `first` on, into a block from `base` on, `step` apart.
void copyInto(CudaDevice &device, DType dtype, DeviceBlock *out, int64_t base, int64_t step, DeviceBlock *from,
              int64_t first, int64_t rows, int64_t length, int64_t site);
/// One of Combine.cu: `combine`, or of halves by several launches `combine_first`, `combine_next` and `combine_last`.
DeviceKernel &combiningKernel(DType dtype, const char *name);
/// The device, if it is open, allowed, and has not failed.
CudaDevice *usableDevice();
/// The same for an operation that reads and writes so much: a large one opens the device with --device=auto.
CudaDevice *deviceFor(std::span<Tensor *const> operands, int64_t resultBytes);
/// Whether an operation should run there, by what has to move and what it reads, writes and computes. Always with
/// --device=cuda.
bool isWorthwhile(CudaDevice &device, std::span<Tensor *const> operands, int64_t resultBytes, double operations,
                  double region = 1);

} // namespace cuda
} // namespace toy::rt
