// SPDX-License-Identifier: Apache-2.0
/// \file
/// From recorded operations to the device: what nobody needs is dropped, values that end inside of the sequence share one arena, and the rest is one
/// graph or launches on a few streams. The order of operations is that of their data (a producer before its readers) and nothing else; two values
/// share memory only where that order says that one has ended.
#include "runtime/cuda/DeviceImpl.h"

#include "runtime/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace toy::rt::cuda {

constexpr int64_t alignment = 256, mostGraphs = 64, mostSizes = 4096;

DeviceBlock *CudaDevice::record(Record record, int64_t bytes) {
  if (pending.size() == mostRecords)
    flush("the sequence is long");
  auto *result = new DeviceBlock{bytes};
  result->producer = static_cast<int>(pending.size());
  ++result->refs;
  record.results = {result};
  for (DeviceBlock *block : record.operands)
    ++block->refs;
  pending.push_back(std::move(record));
  return result;
}

void CudaDevice::recordUpdate(Record record, DeviceBlock *block) {
  if (pending.size() == mostRecords)
    flush("the sequence is long");
  block->producer = static_cast<int>(pending.size());
  block->uploaded = nullptr; // the host's elements are old ones
  uploads.erase(block);
  record.results = {block};
  record.updates = true;
  ++block->refs;
  for (DeviceBlock *operand : record.operands)
    ++operand->refs;
  pending.push_back(std::move(record));
}

/// What must be done before what, by data alone, and the closure of it.
void CudaDevice::findNeeds() {
  struct Access {
    int writer = -1;
    std::vector<int> readers; ///< since
  };
  std::map<DeviceBlock *, Access> accesses;
  ancestors.assign(pending.size(), {});
  for (int i = 0; i < static_cast<int>(pending.size()); ++i) {
    Record &record = pending[i];
    record.needs.clear();
    auto need = [&](int j) {
      if (j >= 0 && j != i && std::find(record.needs.begin(), record.needs.end(), j) == record.needs.end())
        record.needs.push_back(j);
    };
    for (DeviceBlock *block : record.operands) {
      need(accesses[block].writer);
      accesses[block].readers.push_back(i);
    }
    for (DeviceBlock *block : record.results) {
      Access &access = accesses[block];
      need(access.writer);
      for (int reader : access.readers)
        need(reader);
      access = {i, {}};
    }
    ancestors[i].set(i);
    for (int j : record.needs)
      ancestors[i] |= ancestors[j];
  }
}

/// Launches of a kernel that takes two become one where neither needs what the other computes. The joined one stands where the second stood; what read
/// the first comes behind it.
void CudaDevice::joinPairs() {
  size_t n = pending.size();
  std::vector<size_t> partner(n, n);
  bool found = false;
  for (size_t j = 0; j < n; ++j)
    for (size_t i = 0; i < j && pending[j].kernel && pending[j].kernel->takesTwo; ++i) {
      if (pending[i].kernel != pending[j].kernel || partner[i] < n || ancestors[i].test(j) || ancestors[j].test(i))
        continue;
      partner[i] = j;
      partner[j] = i;
      found = true;
      std::bitset<mostRecords> both = ancestors[i] | ancestors[j];
      for (auto &set : ancestors)
        if (set.test(i) || set.test(j))
          set |= both;
      break;
    }
  if (!found)
    return;
  std::vector<Record> order;
  std::vector<bool> done(n, false);
  auto isReady = [&](const Record &record) { return std::all_of(record.needs.begin(), record.needs.end(), [&](int j) { return done[j]; }); };
  for (size_t left = n, before = n + 1; left > 0;) {
    assert(left < before && "a joined pair waits for itself");
    before = left;
    for (size_t i = 0; i < n; ++i) {
      size_t first = partner[i];
      if (done[i] || (first < n && first > i) || !isReady(pending[i]) || (first < n && !isReady(pending[first])))
        continue;
      done[i] = true;
      --left;
      if (first == n) {
        order.push_back(std::move(pending[i]));
        continue;
      }
      done[first] = true;
      --left;
      Record joined = std::move(pending[first]);
      const Record &second = pending[i];
      joined.results.push_back(second.results[0]);
      joined.operands.insert(joined.operands.end(), second.operands.begin(), second.operands.end());
      joined.words.insert(joined.words.end(), second.words.begin(), second.words.end());
      joined.words.push_back(joined.grid);
      joined.grid += second.grid;
      order.push_back(std::move(joined));
    }
  }
  pending = std::move(order);
  findNeeds();
}

/// Drops operations whose results nobody reads, gives addresses to all others. Ordered by data alone: a value's memory serves another one if all that
/// touches it comes before the operation that writes the other.
void CudaDevice::plan() {
  std::set<DeviceBlock *> read;
  std::vector<Record> kept;
  for (size_t i = pending.size(); i-- > 0;) {
    Record &record = pending[i];
    DeviceBlock *result = record.results[0];
    if (!result->held && !read.contains(result)) {
      drop(record);
      continue;
    }
    if (!record.updates)
      read.erase(result);
    else
      read.insert(result);
    read.insert(record.operands.begin(), record.operands.end());
    kept.push_back(std::move(record));
  }
  pending.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  findNeeds();
  joinPairs();
  size_t n = pending.size();
  std::map<DeviceBlock *, std::bitset<mostRecords>> touching;
  for (size_t i = 0; i < n; ++i)
    for (auto *blocks : {&pending[i].operands, &pending[i].results})
      for (DeviceBlock *block : *blocks)
        touching[block].set(i);
  struct Place {
    DeviceBlock *block;
    int64_t begin, end;
  };
  std::vector<Place> places;
  int64_t needs = 0;
  for (size_t i = 0; i < n; ++i)
    for (DeviceBlock *block : pending[i].results) {
      if (block->held || pending[i].updates)
        continue;
      std::bitset<mostRecords> before = ancestors[i];
      before.reset(i);
      std::vector<Place> conflicts;
      for (const Place &place : places)
        if ((touching[place.block] & ~before).any())
          conflicts.push_back(place);
      std::sort(conflicts.begin(), conflicts.end(), [](const Place &x, const Place &y) { return x.begin < y.begin; });
      int64_t size = (block->bytes + alignment - 1) / alignment * alignment, at = 0, best = -1, bestGap = INT64_MAX;
      for (const Place &place : conflicts) {
        if (place.begin - at >= size && place.begin - at < bestGap) {
          best = at;
          bestGap = place.begin - at;
        }
        at = std::max(at, place.end);
      }
      if (best < 0)
        best = at;
      places.push_back({block, best, best + size});
      needs = std::max(needs, best + size);
    }
  if (needs > arenaBytes) {
    if (arena)
      giveBack(std::exchange(arena, 0), std::exchange(arenaBytes, 0));
    arena = allocate(needs);
    stats.arenaBytes = arenaBytes = needs;
  }
  for (const Place &place : places) {
    place.block->address = arena + place.begin;
    place.block->isArena = true;
  }
  for (Record &record : pending)
    for (DeviceBlock *block : record.results)
      if (!block->address)
        block->address = allocate(block->bytes);
}

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
    out.insert(out.end(), {static_cast<uint64_t>(r.transform->outer), static_cast<uint64_t>(r.transform->points), static_cast<uint64_t>(r.transform->inner)});
  else if (!r.kernel)
    for (int size : {r.product.m, r.product.n, r.product.k, r.product.batch})
      out.push_back(size);
}

void CudaDevice::run(size_t begin, size_t end) {
  CudaGraphs mode = deviceOptions().graphs;
  bool single = end - begin == 1;
  if (mode == CudaGraphs::Off || (mode == CudaGraphs::Auto && single) || (mode == CudaGraphs::Piecewise && single && !pending[begin].kernel))
    return runOnStreams(begin, end);
  Signature signature = signatureOf(begin, end);
  CachedGraph *graph = &graphOf(signature);
  if (++graph->uses == 1 && mode == CudaGraphs::Auto)
    return runOnStreams(begin, end);
  auto hasOtherCalls = [&](const CachedGraph &graph) {
    return !std::equal(graph.nodes.begin(), graph.nodes.end(), pending.begin() + begin, [](auto &node, auto &record) { return node.product == record.product && node.transform == record.transform; });
  };
  if (graph->exec && hasOtherCalls(*graph)) { // calls would be captured again: sizes that come back have a graph of their own
    for (size_t i = begin; i < end; ++i)
      addSizes(pending[i], signature);
    if (sizesSeen.size() >= mostSizes)
      sizesSeen.clear();
    if (!sizesSeen.insert(signature).second) {
      graph = &graphOf(signature);
      ++graph->uses;
    }
  }
  runGraph(*graph, begin, end);
}

CachedGraph &CudaDevice::graphOf(const Signature &signature) {
  if (graphs.size() >= mostGraphs && !graphs.contains(signature)) {
    auto least = std::min_element(graphs.begin(), graphs.end(), [](auto &x, auto &y) { return x.second.uses < y.second.uses; });
    destroyGraph(least->second);
    graphs.erase(least);
  }
  return graphs[signature];
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
  std::vector<uint64_t> out = {record.grid};
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

/// As the driver takes parameters: behind the grid, a pointer to each.
static std::vector<void *> pointersTo(std::vector<uint64_t> &parameters) {
  std::vector<void *> out;
  for (size_t i = 1; i < parameters.size(); ++i)
    out.push_back(&parameters[i]);
  return out;
}

void CudaDevice::launch(Record &record, Stream on) {
  std::vector<uint64_t> parameters = parametersOf(record);
  check(cu->launchKernel(functionOf(*record.kernel), record.grid, 1, 1, blockThreads, 1, 1, 0, on, pointersTo(parameters).data(), nullptr), "cuLaunchKernel");
  ++stats.launches;
}

/// Small independent operations on several streams, as long as both leave room on the device; waits only where no earlier wait serves.
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
    bool fills = !record.kernel || record.grid > static_cast<unsigned>(multiprocessors) / 2;
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
    load[on[i]] += record.grid;
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
    record.kernel ? launch(record, all[s]) : callLibrary(record, all[s]);
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
  prepareCall(record);
  if (!capture)
    check(cu->streamCreate(&capture, nonBlocking), "cuStreamCreate");
  Graph out = nullptr;
  constexpr int relaxed = 2;
  check(cu->streamBeginCapture(capture, relaxed), "cuStreamBeginCapture");
  callLibrary(record, capture);
  check(cu->streamEndCapture(capture, &out), "cuStreamEndCapture");
  return out;
}

static KernelNodeParams nodeParameters(const Record &record, Function function, std::vector<void *> &pointers) {
  return {function, record.grid, 1, 1, blockThreads, 1, 1, 0, pointers.data(), nullptr, nullptr, nullptr};
}

void CudaDevice::build(CachedGraph &cached, size_t begin, size_t end) {
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
      check(cu->graphAddKernelNode(&made.node, cached.graph, dependencies.data(), dependencies.size(), &parameters), "cuGraphAddKernelNode");
    } else {
      Graph child = captureCall(record);
      check(cu->graphAddChildGraphNode(&made.node, cached.graph, dependencies.data(), dependencies.size(), child), "cuGraphAddChildGraphNode");
      cu->graphDestroy(child); // the node has a copy
    }
    cached.nodes.push_back(std::move(made));
  }
  check(cu->graphInstantiate(&cached.exec, cached.graph, 0), "cuGraphInstantiate");
  ++stats.graphsBuilt;
}

void CudaDevice::runGraph(CachedGraph &cached, size_t begin, size_t end) {
  if (!cached.exec)
    build(cached, begin, end);
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
      Result result = cu->graphExecChildGraphNodeSetParams(cached.exec, known.node, child);
      cu->graphDestroy(child);
      if (result != success) { // another kernel of the library: the graph has another shape
        int64_t uses = cached.uses;
        destroyGraph(cached);
        cached.uses = uses;
        build(cached, begin, end);
        break;
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
}

void CudaDevice::destroyGraph(CachedGraph &cached) {
  if (cached.exec)
    cu->graphExecDestroy(cached.exec);
  if (cached.graph)
    cu->graphDestroy(cached.graph);
  cached = {};
}

std::vector<std::string> CudaDevice::graphTable() const {
  std::vector<std::string> out;
  for (auto &[signature, graph] : graphs)
    if (graph.exec)
      out.push_back(fmt::format("{} operations, {} launches, {} parameters changed in between", graph.nodes.size(), graph.launches, graph.patches));
  return out;
}

} // namespace toy::rt::cuda
