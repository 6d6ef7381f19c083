// SPDX-License-Identifier: Apache-2.0
/// \file
/// A CUDA driver, and cuBLAS, without a device: `TOY_CUDA_DRIVER=libtoyfakecuda.so`. Stricter than a real one:
///  * device memory is where the host cannot read it; new memory is full of NaN, freed memory again; every access is
///  checked against its allocation;
///  * streams are lazy: nothing runs before somebody waits, and then in any order that the events allow, by a seed
///  (TOY_FAKE_SEED);
///  * operations that touch the same bytes without an order between them are races, found by vector clocks (and by
///  reachability inside of graphs);
///  * a virtual clock: 2 us a kernel or call and 1 us for 4 KiB that move or 4096 threads, streams and nodes of graphs
///  next to each other;
///  * what may not happen while a stream is captured fails; the k-th call of a function can be made to fail
///  (TOY_FAKE_FAIL=cuLaunchKernel:3:700), and kernels not to end (TOY_FAKE_HANG);
///  * counts and everything found are written to TOY_FAKE_REPORT, a line each; of rank 3 to TOY_FAKE_REPORT.3.
/// Kernels are the PTX that was loaded, interpreted.
#include "Fake.h"

#include <fstream>

namespace fakecuda {

Fake &fake() {
  static Fake *instance = new Fake;
  return *instance;
}

/// Nodes in any order that their edges allow.
void Fake::runGraph(FakeGraph &graph, Operation &operation) {
  size_t n = graph.nodes.size();
  std::vector<bool> done(n, false);
  std::vector<double> ends(n, 0);
  for (size_t finished = 0; finished < n; ++finished) {
    std::vector<size_t> ready;
    for (size_t i = 0; i < n; ++i)
      if (!done[i] && std::all_of(graph.nodes[i]->dependencies.begin(), graph.nodes[i]->dependencies.end(),
                                  [&](int d) { return done[d]; }))
        ready.push_back(i);
    size_t chosen = ready[random() % ready.size()];
    operation.node = static_cast<int>(chosen);
    operation.graph = &graph;
    FakeNode &node = *graph.nodes[chosen];
    double start = 0, cost = node.launch.function
                                 ? costOf(node.launch) - 1.5
                                 : 2.0 * double(node.products.size()); // a node starts faster than a launch
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

static Launch launchOf(Function function, unsigned blocks, unsigned threads, void **parameters) {
  auto *f = reinterpret_cast<FakeFunction *>(function);
  Launch out{f, blocks, threads, {}};
  for (size_t i = 0; i < f->function->paramSlots.size(); ++i)
    out.parameters.push_back(*static_cast<uint64_t *>(parameters[i]));
  return out;
}

/// A copy, ready to run: reachability between its nodes.
static std::unique_ptr<FakeGraph> copyOf(const FakeGraph &graph) {
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

} // namespace fakecuda

using namespace fakecuda;

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
  static const std::map<Result, const char *> names = {{0, "CUDA_SUCCESS"},
                                                       {1, "CUDA_ERROR_INVALID_VALUE"},
                                                       {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                       {100, "CUDA_ERROR_NO_DEVICE"},
                                                       {218, "CUDA_ERROR_INVALID_PTX"},
                                                       {500, "CUDA_ERROR_NOT_FOUND"},
                                                       {600, "CUDA_ERROR_NOT_READY"},
                                                       {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                       {719, "CUDA_ERROR_LAUNCH_FAILED"},
                                                       {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
                                                       {999, "CUDA_ERROR_UNKNOWN"}};
  auto it = names.find(error);
  *text = it == names.end() ? "CUDA_ERROR" : it->second;
  return success;
}
Result cuGetErrorString(Result error, const char **text) { return cuGetErrorName(error, text); }
Result cuDeviceGetCount(int *count) {
  *count = std::getenv("TOY_FAKE_DEVICES") ? std::atoi(std::getenv("TOY_FAKE_DEVICES")) : 1;
  return success;
}
Result cuDeviceGet(Device *device, int ordinal) {
  int count = 0;
  cuDeviceGetCount(&count);
  if (ordinal < 0 || ordinal >= count)
    return invalidDevice;
  *device = ordinal;
  return success;
}
Result cuDeviceGetName(char *name, int bytes, Device device) {
  std::snprintf(name, bytes, device ? "Fake device, number %d" : "Fake device", device);
  return success;
}
Result cuDeviceGetUuid_v2(DeviceId *id, Device device) {
  *id = {};
  id->bytes[0] = static_cast<char>(device + 1);
  return success;
}
static int computeCapability() {
  const char *capability = std::getenv("TOY_FAKE_CAPABILITY");
  return capability ? std::atoi(capability) : 90;
}
Result cuDeviceGetAttribute(int *value, int attribute, Device) {
  int architecture = computeCapability();
  *value = attribute == computeCapabilityMajor   ? architecture / 10
           : attribute == computeCapabilityMinor ? architecture % 10
           : attribute == multiprocessorCount    ? (fake().idle ? 132 : 8)
           : attribute == memoryClockKHz         ? 1000000
           : attribute == busWidthBits           ? 4096
           : attribute == pageableMemoryAccess   ? std::getenv("TOY_FAKE_PAGEABLE") != nullptr
                                                 : 0;
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
  ++f.live;
  f.liveBytes += bytes;
  Allocation &a = f.allocations[address] = {address, bytes};
  a.chunks.resize(bytes / (granule * std::tuple_size_v<Chunk>)+1);
  // It exists in the order of its stream.
  f.add(s, "the allocation", [&f, address](Operation &) { f.renew(f.allocations.at(address)); });
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
    f.renew(a);
    a.isLive = false;
    --f.live;
    f.liveBytes -= a.bytes;
    f.freeRanges[(a.bytes + 255) / 256 * 256].push_back(pointer);
  });
  return success;
}

/// What the host writes there before a copy has come to it is what is copied.
Result cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  ENTER("cuMemHostAlloc");
  *pointer = std::calloc(bytes, 1);
  f.pinned.emplace_back(static_cast<char *>(*pointer), static_cast<char *>(*pointer) + bytes);
  return success;
}

Result cuMemcpyHtoDAsync_v2(Pointer to, const void *from, size_t bytes, Stream stream) {
  ENTER("cuMemcpyHtoDAsync");
  f.counts["bytesToDevice"] += bytes;
  bool isPinned = std::any_of(f.pinned.begin(), f.pinned.end(),
                              [&](auto range) { return from >= range.first && from < range.second; });
  if (isPinned || std::getenv("TOY_FAKE_PAGEABLE")) { // which is read when the copy comes to it
    f.add(*streamOf(stream), "a copy to the device", [&f, to, from, bytes](Operation &operation) {
      operation.cost = 2 + double(bytes) / 4096;
      std::memcpy(f.range(to, bytes, true), from, bytes);
    });
    return success;
  }
  auto staged = std::make_shared<std::vector<char>>(
      static_cast<const char *>(from), static_cast<const char *>(from) + bytes); // pageable memory is read now
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
    // Who asks a thousand times sleeps in between: more happens meanwhile.
    for (int64_t more = e->asked++ / 100; more-- > 0 && s.finished < e->index;)
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

Result cuModuleLoadDataEx(Module *module, const void *image, unsigned count, int *options, void **values) {
  char *log = nullptr;
  size_t room = 0;
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == jitErrorLog)
      log = static_cast<char *>(values[i]);
    else if (options[i] == jitErrorLogBytes)
      room = reinterpret_cast<size_t>(values[i]);
  if (log && room && fake().failFunction == "cuModuleLoadDataEx")
    std::snprintf(log, room, "ptxas application ptx input, line 7; error: as the test wanted it\nmore");
  ENTER("cuModuleLoadDataEx");
  auto loaded = std::make_unique<FakeModule>();
  try {
    std::string text = static_cast<const char *>(image), target = ".target sm_";
    if (std::stoi(text.substr(text.find(target) + target.size())) > computeCapability())
      throw ptx::Error("PTX: for a newer device");
    loaded->module = ptx::parse(text);
  } catch (std::exception &error) {
    f.complain(error.what());
    return invalidPtx;
  }
  loaded->number = f.counts["modules"]++;
  if (f.idle)
    std::ofstream(f.idle + ("/" + std::to_string(loaded->number) + ".ptx")) << static_cast<const char *>(image);
  *module = reinterpret_cast<Module>(loaded.get());
  f.modules.push_back(std::move(loaded));
  return success;
}
Result cuModuleUnload(Module module) {
  ENTER("cuModuleUnload");
  for (auto &[id, stream] : f.streams)
    if (!stream->queue.empty() && std::any_of(stream->queue.begin(), stream->queue.end(), [](auto &o) {
          return o->what.starts_with("kernel") || o->what.starts_with("graph");
        }))
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
    slot = std::make_unique<FakeFunction>(FakeFunction{m->module.get(), it->second.get(), m->number});
  *function = reinterpret_cast<Function>(slot.get());
  return success;
}

Result cuLaunchKernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned, Stream stream, void **parameters, void **) {
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
static Result addNode(GraphNode *node, Graph graph, const GraphNode *dependencies, size_t count, Launch launch,
                      std::vector<Product> products) {
  auto *g = reinterpret_cast<FakeGraph *>(graph);
  auto made = std::make_unique<FakeNode>(
      FakeNode{g, static_cast<int>(g->nodes.size()), {}, std::move(launch), std::move(products)});
  for (size_t i = 0; i < count; ++i)
    made->dependencies.push_back(reinterpret_cast<FakeNode *>(dependencies[i])->id);
  *node = reinterpret_cast<GraphNode>(made.get());
  g->nodes.push_back(std::move(made));
  return success;
}
Result cuGraphAddKernelNode_v2(GraphNode *node, Graph graph, const GraphNode *dependencies, size_t count,
                               const KernelNodeParams *p) {
  ENTER("cuGraphAddKernelNode");
  return addNode(node, graph, dependencies, count, launchOf(p->function, p->gridX, p->blockX, p->parameters), {});
}
static std::vector<Product> productsOf(Graph child) {
  std::vector<Product> out;
  for (auto &node : reinterpret_cast<FakeGraph *>(child)->nodes)
    out.insert(out.end(), node->products.begin(), node->products.end());
  return out;
}
Result cuGraphAddChildGraphNode(GraphNode *node, Graph graph, const GraphNode *dependencies, size_t count,
                                Graph child) {
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
  reinterpret_cast<FakeGraph *>(exec)->nodes[reinterpret_cast<FakeNode *>(node)->id]->launch =
      launchOf(p->function, p->gridX, p->blockX, p->parameters);
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
}
