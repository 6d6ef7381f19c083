// SPDX-License-Identifier: Apache-2.0
/// \file
/// What is recorded, and its plan: what nobody needs is dropped, launches are joined, values that end inside of the
/// sequence share one arena. The order of operations is that of their data (a writer before readers, readers before
/// what overwrites) and nothing else; two values share memory only where that order says that one has ended.
#include "runtime/cuda/DeviceImpl.h"

#include <algorithm>
#include <cassert>

namespace toy::rt::cuda {

constexpr int64_t alignment = 256;

std::vector<DeviceBlock *> CudaDevice::record(Record record, std::span<const int64_t> bytes) {
  if (pending.size() == mostRecords)
    flush("the sequence is long");
  for (int64_t size : bytes) {
    auto *result = new DeviceBlock{size};
    result->producer = static_cast<int>(pending.size());
    ++result->refs;
    record.results.push_back(result);
  }
  for (DeviceBlock *block : record.operands)
    ++block->refs;
  pending.push_back(std::move(record));
  return pending.back().results;
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

/// Launches of a kernel that takes two become one where neither needs what the other computes. The joined one stands
/// where the second stood; what read the first comes behind it.
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
  auto isReady = [&](const Record &record) {
    return std::all_of(record.needs.begin(), record.needs.end(), [&](int j) { return done[j]; });
  };
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

/// Drops operations whose results nobody reads, gives addresses to all others. Ordered by data alone: a value's memory
/// serves another one if all that touches it comes before the operation that writes the other.
void CudaDevice::plan() {
  std::set<DeviceBlock *> read;
  std::vector<Record> kept;
  for (size_t i = pending.size(); i-- > 0;) {
    Record &record = pending[i];
    if (std::none_of(record.results.begin(), record.results.end(),
                     [&](DeviceBlock *block) { return block->held || read.contains(block); })) {
      drop(record);
      continue;
    }
    for (DeviceBlock *block : record.results)
      if (!record.updates)
        read.erase(block);
      else
        read.insert(block);
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
  takePlaces();
}

/// Blocks for what survives: where a graph of this sequence has written such results before, if nobody has them, so
/// that its parameters stay and calls of libraries need not be captured again.
void CudaDevice::takePlaces() {
  auto known = graphs.find(signatureOf(0, pending.size()));
  for (size_t i = 0; i < pending.size(); ++i)
    for (size_t j = 0; j < pending[i].results.size(); ++j)
      if (DeviceBlock *block = pending[i].results[j]; !block->address) {
        bool wasThere = known != graphs.end() && i < known->second.nodes.size() &&
                        j + firstPointer < known->second.nodes[i].parameters.size();
        block->address = allocate(block->bytes, wasThere ? known->second.nodes[i].parameters[j + firstPointer] : 0);
      }
}

} // namespace toy::rt::cuda
