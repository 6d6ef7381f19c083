// SPDX-License-Identifier: Apache-2.0
/// \file
/// From planned operations to the device: one graph, or launches on a few streams.
#include "runtime/cuda/DeviceImpl.h"

#include "runtime/Error.h"

#include <fmt/format.h>

#include <algorithm>

namespace toy::rt::cuda {

constexpr int64_t mostGraphs = 64, mostSizes = 4096;

/// Ends the recorded operations, run or given up.
void CudaDevice::finish() {
  for (Record &record : pending)
    for (DeviceBlock *block : record.results) {
      block->producer = -1;
      if (!failure.empty())
        block->address = 0;
    }
  for (Record &record : pending)
    drop(record);
  pending.clear();
}

void CudaDevice::flush(const char *reason) {
  if (pending.empty())
    return;
  ++stats.flushes;
  splits.push_back({reason, pending.back().site, static_cast<int64_t>(pending.size())});
  if (splits.size() > 1000)
    splits.erase(splits.begin(), splits.begin() + 500);
  for (const Record &record : pending)
    unfinished.insert(record.site);
  bool planned = false;
  try {
    prepareTransforms();
    plan();
    planned = true;
    CudaGraphs mode = deviceOptions().graphs;
    for (size_t begin = 0; begin < pending.size();) {
      size_t end = begin + 1;
      auto splits = [&](size_t i) { return mode == CudaGraphs::Piecewise && !pending[i].kernel; };
      while (end < pending.size() && !splits(begin) && !splits(end))
        ++end;
      run(begin, end);
      begin = end;
    }
  } catch (Error &) {
    for (Record &record : pending) // not written: the values are lost, but for those that only would have changed
      for (DeviceBlock *block : record.results)
        if (block->held && block->address && !block->isArena && failure.empty() && (planned || !record.updates))
          giveBack(std::exchange(block->address, 0), block->bytes);
    finish();
    throw;
  }
  finish();
}

/// The sizes of a library's call.
static void addSizes(const Record &r, Signature &out) {
  if (r.transform)
    out.insert(out.end(), {static_cast<uint64_t>(r.transform->rows), static_cast<uint64_t>(r.transform->points)});
  else if (!r.kernel)
    for (int size : {r.product.m, r.product.n, r.product.k, r.product.batch})
      out.push_back(size);
}

void CudaDevice::run(size_t begin, size_t end) {
  CudaGraphs mode = deviceOptions().graphs;
  bool single = end - begin == 1;
  if (mode == CudaGraphs::Off || (mode == CudaGraphs::Auto && single) ||
      (mode == CudaGraphs::Piecewise && single && !pending[begin].kernel))
    return runOnStreams(begin, end);
  Signature signature = signatureOf(begin, end);
  CachedGraph *graph = &graphOf(signature);
  if (++graph->uses == 1 && mode == CudaGraphs::Auto)
    return runOnStreams(begin, end);
  auto hasOtherCalls = [&](const CachedGraph &graph) {
    return !std::equal(graph.nodes.begin(), graph.nodes.end(), pending.begin() + begin, [](auto &node, auto &record) {
      return node.product == record.product && node.transform == record.transform;
    });
  };
  if (graph->exec &&
      hasOtherCalls(*graph)) { // calls would be captured again: sizes that come back have a graph of their own
    for (size_t i = begin; i < end; ++i)
      addSizes(pending[i], signature);
    if (sizesSeen.size() >= mostSizes)
      sizesSeen.clear();
    if (!sizesSeen.insert(signature).second) {
      graph = &graphOf(signature);
      ++graph->uses;
    }
  }
  // Capturing a call again takes as long as about eight launches.
  if (mode == CudaGraphs::Auto && graph->exec && changedCalls(*graph, begin) * 8 > static_cast<int64_t>(end - begin))
    return runOnStreams(begin, end);
  if (!graph->cannotBe && runGraph(*graph, begin, end))
    return;
  destroyGraph(*graph);
  graph->cannotBe = true;
  runOnStreams(begin, end);
}

int64_t CudaDevice::changedCalls(const CachedGraph &graph, size_t begin) const {
  int64_t count = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Record &record = pending[begin + i];
    const CachedGraph::Node &node = graph.nodes[i];
    count += !record.kernel && (node.product != record.product || node.transform != record.transform ||
                                node.parameters != parametersOf(record));
  }
  return count;
}

CachedGraph &CudaDevice::graphOf(const Signature &signature) {
  if (graphs.size() >= mostGraphs && !graphs.contains(signature)) {
    auto oldest =
        std::min_element(graphs.begin(), graphs.end(), [](auto &x, auto &y) { return x.second.used < y.second.used; });
    destroyGraph(oldest->second);
    graphs.erase(oldest);
  }
  CachedGraph &graph = graphs[signature];
  graph.used = ++clock;
  return graph;
}

/// Operations of [begin, …) that this one must wait for, without those that another one waits for anyway; calls of
/// libraries also follow each other, because they share a workspace.
std::vector<int> CudaDevice::predecessorsOf(size_t i, size_t begin) const {
  std::vector<int> found, reduced;
  for (int j : pending[i].needs)
    if (j >= static_cast<int>(begin))
      found.push_back(j);
  for (int p : found)
    if (std::none_of(found.begin(), found.end(), [&](int q) { return q != p && ancestors[q].test(p); }))
      reduced.push_back(p);
  if (!pending[i].kernel)
    for (size_t j = i; j-- > begin;)
      if (!pending[j].kernel) {
        if (std::find(reduced.begin(), reduced.end(), static_cast<int>(j)) == reduced.end())
          reduced.push_back(static_cast<int>(j));
        break;
      }
  return reduced;
}

std::vector<uint64_t> CudaDevice::parametersOf(const Record &record) const {
  std::vector<uint64_t> out = {record.grid, record.block};
  bool again = record.kernel && record.kernel->takesTwo && record.results.size() == 1; // the second has no blocks
  auto add = [&](auto &values, auto &&value) {
    for (int times = 0; times < (again ? 2 : 1); ++times)
      for (auto &v : values)
        out.push_back(value(v));
  };
  auto address = [](DeviceBlock *block) { return block->address; };
  add(record.results, address);
  add(record.operands, address);
  add(record.words, [](int64_t word) { return word; });
  if (again)
    out.push_back(record.grid);
  return out;
}

/// As the driver takes parameters: behind the grid and the block, a pointer to each.
static std::vector<void *> pointersTo(std::vector<uint64_t> &parameters) {
  std::vector<void *> out;
  for (size_t i = firstPointer; i < parameters.size(); ++i)
    out.push_back(&parameters[i]);
  return out;
}

void CudaDevice::launch(Record &record, Stream on) {
  std::vector<uint64_t> parameters = parametersOf(record);
  check(cu->launchKernel(functionOf(*record.kernel), record.grid, 1, 1, record.block, 1, 1, 0, on,
                         pointersTo(parameters).data(), nullptr),
        "cuLaunchKernel");
  ++stats.launches;
}

/// Small independent operations on several streams, as long as both leave room on the device; waits only where no
/// earlier wait serves.
void CudaDevice::runOnStreams(size_t begin, size_t end) {
  size_t n = end - begin;
  constexpr int streams = auxiliaryStreams + 1;
  std::vector<int> on(n, 0);
  std::vector<std::vector<int>> predecessors(n);
  int last[streams] = {-1, -1, -1, -1};
  double load[streams] = {};
  for (size_t i = 0; i < n; ++i) {
    Record &record = pending[begin + i];
    for (int p : predecessorsOf(begin + i, begin))
      predecessors[i].push_back(p - static_cast<int>(begin));
    bool fills = !record.kernel || record.size() > multiprocessors / 2;
    if (!fills && n > 2) {
      int chosen = -1;
      for (int p : predecessors[i]) // behind a producer that nothing else has followed
        if (last[on[p]] == p)
          chosen = on[p];
      if (chosen < 0)
        chosen = static_cast<int>(std::min_element(load, load + streams) - load);
      on[i] = chosen;
    }
    last[on[i]] = static_cast<int>(i);
    load[on[i]] += record.size();
  }
  Stream all[streams] = {stream, auxiliary[0], auxiliary[1], auxiliary[2]};
  auto newEvent = [&] {
    Event event = nullptr;
    if (!events.empty()) {
      event = events.back();
      events.pop_back();
    } else
      check(cu->eventCreate(&event, withoutTiming), "cuEventCreate");
    return event;
  };
  std::vector<Event> used;
  auto mark = [&](int s) {
    used.push_back(newEvent());
    check(cu->eventRecord(used.back(), all[s]), "cuEventRecord");
    return used.back();
  };
  // Which operations of each stream a stream (and each operation's end) is known to follow.
  std::vector<std::array<int, streams>> follows(n);
  std::array<std::array<int, streams>, streams> known;
  for (auto &row : known)
    row.fill(-1);
  std::vector<Event> done(n, nullptr);
  std::vector<bool> crosses(n, false);
  for (size_t i = 0; i < n; ++i)
    for (int p : predecessors[i])
      crosses[p] = crosses[p] || on[p] != on[i];
  bool started[streams] = {true};
  Event start = std::any_of(on.begin(), on.end(), [](int s) { return s > 0; }) ? mark(0) : nullptr;
  for (size_t i = 0; i < n; ++i) {
    int s = on[i];
    if (!started[s]) {
      if (!all[s]) {
        check(cu->streamCreate(&auxiliary[s - 1], nonBlocking), "cuStreamCreate");
        all[s] = auxiliary[s - 1];
      }
      check(cu->streamWaitEvent(all[s], start, 0), "cuStreamWaitEvent");
      started[s] = true;
    }
    for (int p : predecessors[i])
      if (on[p] != s && known[s][on[p]] < p) {
        check(cu->streamWaitEvent(all[s], done[p], 0), "cuStreamWaitEvent");
        for (int t = 0; t < streams; ++t)
          known[s][t] = std::max(known[s][t], follows[p][t]);
      }
    Record &record = pending[begin + i];
    if (record.kernel)
      launch(record, all[s]);
    else
      callLibrary(record, all[s]);
    known[s][s] = static_cast<int>(i);
    follows[i] = known[s];
    if (crosses[i])
      done[i] = mark(s);
  }
  for (int s = 1; s < streams; ++s)
    if (started[s] && known[0][s] < last[s])
      check(cu->streamWaitEvent(stream, mark(s), 0), "cuStreamWaitEvent");
  events.insert(events.end(), used.begin(), used.end());
}

Signature CudaDevice::signatureOf(size_t begin, size_t end) const {
  Signature out;
  for (size_t i = begin; i < end; ++i) {
    const Record &record = pending[i];
    out.push_back(reinterpret_cast<uint64_t>(record.kernel));
    out.push_back(record.operands.size());
    for (int j : record.needs)
      out.push_back(j >= static_cast<int>(begin) ? j - begin : ~uint64_t(0));
    out.push_back(~uint64_t(1));
  }
  return out;
}

Graph CudaDevice::captureCall(const Record &record) {
  if (!record.transform && !prepareProduct(record.site)) // which must not allocate while it is captured
    return nullptr;
  if (!capture)
    check(cu->streamCreate(&capture, nonBlocking), "cuStreamCreate");
  Graph out = nullptr;
  constexpr int relaxed = 2;
  check(cu->streamBeginCapture(capture, relaxed), "cuStreamBeginCapture");
  bool done = callLibrary(record, capture);
  Result ended = cu->streamEndCapture(capture, &out);
  if (done) {
    check(ended, "cuStreamEndCapture");
    return out;
  }
  if (ended == success && out) // a call that fails may have ended it
    cu->graphDestroy(out);
  return nullptr;
}

static KernelNodeParams nodeParameters(const Record &record, Function function, std::vector<void *> &pointers) {
  return {function, record.grid, 1, 1, record.block, 1, 1, 0, pointers.data(), nullptr, nullptr, nullptr};
}

bool CudaDevice::build(CachedGraph &cached, size_t begin, size_t end) {
  check(cu->graphCreate(&cached.graph, 0), "cuGraphCreate");
  for (size_t i = begin; i < end; ++i) {
    Record &record = pending[i];
    std::vector<GraphNode> dependencies;
    for (int p : predecessorsOf(i, begin))
      dependencies.push_back(cached.nodes[p - begin].node);
    CachedGraph::Node made{nullptr, parametersOf(record), record.product, record.transform};
    if (record.kernel) {
      std::vector<void *> pointers = pointersTo(made.parameters);
      KernelNodeParams parameters = nodeParameters(record, functionOf(*record.kernel), pointers);
      check(cu->graphAddKernelNode(&made.node, cached.graph, dependencies.data(), dependencies.size(), &parameters),
            "cuGraphAddKernelNode");
    } else {
      Graph child = captureCall(record);
      if (!child)
        return false;
      check(cu->graphAddChildGraphNode(&made.node, cached.graph, dependencies.data(), dependencies.size(), child),
            "cuGraphAddChildGraphNode");
      cu->graphDestroy(child); // the node has a copy
    }
    cached.nodes.push_back(std::move(made));
  }
  check(cu->graphInstantiate(&cached.exec, cached.graph, 0), "cuGraphInstantiate");
  ++stats.graphsBuilt;
  return true;
}

bool CudaDevice::runGraph(CachedGraph &cached, size_t begin, size_t end) {
  if (!cached.exec)
    try {
      if (!build(cached, begin, end))
        return false;
    } catch (Error &) {
      destroyGraph(cached);
      throw;
    }
  for (size_t i = begin; i < end; ++i) {
    Record &record = pending[i];
    std::vector<uint64_t> values = parametersOf(record);
    CachedGraph::Node &known = cached.nodes[i - begin];
    if (values == known.parameters && record.product == known.product && record.transform == known.transform)
      continue;
    if (record.kernel) {
      std::vector<void *> pointers = pointersTo(values);
      KernelNodeParams parameters = nodeParameters(record, functionOf(*record.kernel), pointers);
      check(cu->graphExecKernelNodeSetParams(cached.exec, known.node, &parameters), "cuGraphExecKernelNodeSetParams");
    } else {
      Graph child = captureCall(record);
      if (!child)
        return false;
      Result result = cu->graphExecChildGraphNodeSetParams(cached.exec, known.node, child);
      cu->graphDestroy(child);
      if (result != success) { // another kernel of the library: the graph has another shape
        destroyGraph(cached);
        return runGraph(cached, begin, end);
      }
    }
    known.parameters = std::move(values);
    known.product = record.product;
    known.transform = record.transform;
    ++cached.patches;
    ++stats.patches;
  }
  check(cu->graphLaunch(cached.exec, stream), "cuGraphLaunch");
  ++cached.launches;
  ++stats.graphLaunches;
  return true;
}

void CudaDevice::destroyGraphsOf(const TransformPlan *transform) {
  for (auto &[signature, graph] : graphs)
    if (std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const CachedGraph::Node &node) {
          return node.transform && (!transform || *node.transform == *transform);
        }))
      destroyGraph(graph);
}

void CudaDevice::destroyGraph(CachedGraph &cached) {
  if (cached.exec)
    cu->graphExecDestroy(cached.exec);
  if (cached.graph)
    cu->graphDestroy(cached.graph);
  cached.exec = nullptr;
  cached.graph = nullptr;
  cached.nodes.clear();
}

std::vector<std::string> CudaDevice::graphTable() const {
  std::vector<std::string> out;
  for (auto &[signature, graph] : graphs)
    if (graph.exec)
      out.push_back(fmt::format("{} operations, {} launches, {} parameters changed in between", graph.nodes.size(),
                                graph.launches, graph.patches));
  return out;
}

} // namespace toy::rt::cuda
