// SPDX-License-Identifier: Apache-2.0
/// \file
/// Allocation. Every object is preceded by a link of the list of live objects; blocks come from Blocks.h.
#include "runtime/Memory.h"

#include "runtime/Blocks.h"
#include "runtime/Error.h"
#include "runtime/Objects.h"
#include "support/SizeLimit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unistd.h>

namespace toy::rt {
namespace {

int64_t defaultLimit() { return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 10 * 8; }

/// Small tensors that died, with their blocks, linked by `next`.
struct WholeTensors {
  Link *first = nullptr;
  int64_t count = 0;
};

struct Heap {
  HeapLock &mutex = liveList().mutex;
  Blocks blocks;
  WholeTensors whole[2][11]; ///< by the sizes of their two blocks (takeWhole)
  /// Tests ask for fresh elements that are seen in results: what nobody wrote, or what lies behind the last element.
  const bool fillsFresh = std::getenv("TOY_FILL_FRESH") != nullptr;
  MemoryStats stats;
  std::atomic<int64_t> copies = 0;
  const DeviceMemory *device = nullptr;
  int64_t limit = defaultLimit();
};

Heap &heap() {
  static Heap *instance = new Heap; // never destroyed: values may outlive static objects
  return *instance;
}

void *takeBlock(size_t bytes) { return heap().blocks.take(bytes); }
void giveBlock(void *block, size_t bytes) noexcept { heap().blocks.give(block, bytes); }

void *takeBlockOrThrow(size_t bytes) {
  void *block = takeBlock(bytes);
  return block ? block : throw std::bad_alloc();
}

size_t objectBytes(int rank) { return sizeof(Link) + sizeof(Tensor) + sizeof(int64_t) * std::max(rank - 1, 0); }

std::string sizeText(double bytes) {
  const char *units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 6)
    bytes /= 1024, ++unit;
  return unit ? fmt::format("{:.3g} {}", bytes, units[unit]) : fmt::format("{:.0f} bytes", bytes);
}

[[noreturn]] void failAllocation(double bytes, std::string what) {
  Heap &h = heap();
  fail(DiagId::OutOfMemory, {sizeText(bytes), std::move(what),
                             fmt::format("{} of {} are in use", sizeText(h.stats.liveBytes), sizeText(h.limit))});
}

[[noreturn]] void failAllocation(DType dtype, std::span<const int64_t> sizes) {
  double bytes = sizeOf(dtype);
  for (int64_t n : sizes)
    bytes *= static_cast<double>(n);
  failAllocation(bytes, fmt::format("{}[{}]", nameOf(dtype), fmt::join(sizes, ", ")));
}

bool hasRoom(const Heap &h, int64_t bytes) { return bytes <= h.limit - h.stats.liveBytes; }

void account(Heap &h, int64_t bytes) {
  MemoryStats &stats = h.stats;
  stats.liveBytes += bytes;
  stats.peakBytes = std::max(stats.peakBytes, stats.liveBytes);
}

/// A tensor behind a link that is in no list yet.
Tensor *beginTensor(Link *l, DType dtype, std::span<const int64_t> sizes) {
  link(l);
  auto *t = static_cast<Tensor *>(objectOf(l));
  t->refs.store(1, std::memory_order_relaxed); // nobody else sees it yet
  t->dtype = dtype;
  t->rank = sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i)
    t->sizes[i] = sizes[i];
  return t;
}

Tensor *newHeader(DType dtype, std::span<const int64_t> sizes) {
  return beginTensor(new (takeBlockOrThrow(objectBytes(sizes.size()))) Link, dtype, sizes);
}

/// Where tensors of so many axes and bytes wait for their next use, or null: not those of many, nor in sanitized
/// builds.
WholeTensors *listOfWhole(Heap &h, size_t rank, int64_t bytes) {
  constexpr size_t mostAxes = 9; // of a block of 128 bytes
  constexpr int64_t mostBytes = 1 << 16;
  if (!Blocks::recycles || rank > mostAxes || bytes > mostBytes)
    return nullptr;
  return &h.whole[Blocks::classOf(objectBytes(rank))][Blocks::classOf(bytes)];
}

/// Keeps a small tensor with its blocks; false if it is not one, or if there are many: a loop may let go of views of
/// tensors of another rank, and would never ask for what is kept.
bool keepWhole(Heap &h, Tensor *t) {
  constexpr int64_t mostBytes = 1 << 20;
  Storage *storage = t->storage;
  WholeTensors *list = listOfWhole(h, t->rank, storage->bytes);
  if (!list || list->count * std::max<int64_t>(storage->bytes, 64) >= mostBytes || !storage->data || storage->device ||
      storage->refs.load(std::memory_order_acquire) != 1)
    return false;
  linkOf(t)->next = std::exchange(list->first, linkOf(t));
  ++list->count;
  h.stats.liveBytes -= storage->bytes;
  return true;
}

/// Gives up one reference: whether it was the last. Who holds the only one need not tell others.
bool isLast(std::atomic<int64_t> &refs) {
  const int64_t now = refs.load(std::memory_order_acquire);
  if (now == 1)
    return true;
  if (!isOnlyThread())
    return refs.fetch_sub(1, std::memory_order_acq_rel) == 1;
  refs.store(now - 1, std::memory_order_relaxed);
  return false;
}

void releaseStorage(Storage *storage) {
  if (!isLast(storage->refs))
    return;
  Heap &h = heap();
  if (storage->data) {
    h.stats.liveBytes -= storage->bytes;
    giveBlock(storage->data, storage->bytes);
  }
  if (storage->device)
    h.device->release(storage->device);
  delete storage->source;
  giveBlock(storage, sizeof(Storage));
}

void destroyList(List &list, bool letsGo) {
  for (int64_t i = 0; letsGo && list.of.isObject() && i < list.count; ++i) {
    if (i + 16 < list.count) // they lie anywhere, in a sorted list
      __builtin_prefetch(linkOf(list.items[i + 16].object), 1);
    if (Link *element = linkOf(list.items[i].object); isLast(referencesTo(element)))
      destroy(element);
  }
  heap().stats.liveBytes -= list.capacity * static_cast<int64_t>(sizeof(Item));
  std::free(list.items);
}

} // namespace

static void destroyTensor(Link *l) {
  unlink(l);
  auto *t = static_cast<Tensor *>(objectOf(l));
  if (keepWhole(heap(), t))
    return;
  releaseStorage(t->storage);
  giveBlock(l, objectBytes(t->rank));
}

void destroy(Link *l, bool letsGo) {
  if (l->kind == Link::IsTensor)
    return destroyTensor(l);
  unlink(l);
  void *object = objectOf(l);
  if (l->kind == Link::IsStr) {
    static_cast<Str *>(object)->~Str();
    return giveBlock(l, sizeof(Link) + sizeof(Str));
  }
  destroyList(*static_cast<List *>(object), letsGo);
  giveBlock(l, sizeof(Link) + sizeof(List));
}

void fail(DiagId id, std::vector<std::string> args) { throw Error{id, std::move(args)}; }

int64_t checkedCount(std::span<const int64_t> sizes, DType dtype) {
  int64_t count = 1;
  bool overflow = false, empty = false;
  for (int64_t n : sizes) {
    if (n < 0)
      fail(DiagId::NegativeSizeRun, {std::to_string(n)});
    empty |= n == 0;
    overflow |= __builtin_mul_overflow(count, n, &count);
  }
  if (empty) {
    for (int64_t n : sizes)
      if (n > largestSize)
        fail(DiagId::SizeOverflow, {std::to_string(n)});
    return 0;
  }
  int64_t bytes;
  if (overflow || __builtin_mul_overflow(count, sizeOf(dtype), &bytes))
    failAllocation(dtype, sizes);
  return count;
}

/// Elements nobody has written, accounted.
static void countElements(Heap &h, void *data, int64_t bytes) {
  if (h.fillsFresh)
    std::memset(data, 0xCB, Blocks::sizeFor(bytes));
  ++h.stats.allocations;
  account(h, bytes);
}

/// A block for elements, accounted; the heap is locked.
static void *takeElements(DType dtype, std::span<const int64_t> sizes, int64_t bytes) {
  Heap &h = heap();
  void *data = hasRoom(h, bytes) ? takeBlock(bytes) : nullptr;
  if (!data)
    failAllocation(dtype, sizes);
  countElements(h, data, bytes);
  return data;
}

/// A small tensor that died, with its blocks, or null: loops make and drop one in each turn. The heap is locked.
static Tensor *takeWhole(Heap &h, DType dtype, std::span<const int64_t> sizes, int64_t bytes) {
  WholeTensors *list = listOfWhole(h, sizes.size(), bytes);
  if (!list || !list->first || !hasRoom(h, bytes))
    return nullptr;
  Link *l = list->first;
  list->first = l->next;
  --list->count;
  auto *t = static_cast<Tensor *>(objectOf(l));
  Storage *storage = t->storage;
  storage->refs.store(1, std::memory_order_relaxed);
  storage->bytes = bytes;
  countElements(h, storage->data, bytes);
  beginTensor(new (l) Link, dtype, sizes);
  t->data = storage->data;
  return t;
}

/// The bytes of few elements, which is what most tensors have; of others -1.
static int64_t fewBytes(DType dtype, std::span<const int64_t> sizes) {
  constexpr uint64_t few = 1 << 20;
  uint64_t count = 1;
  for (int64_t n : sizes)
    if (static_cast<uint64_t>(n) - 1 >= few || (count *= static_cast<uint64_t>(n)) > few)
      return -1;
  return static_cast<int64_t>(count) * sizeOf(dtype);
}

Tensor *newTensor(DType dtype, std::span<const int64_t> sizes) {
  int64_t bytes = fewBytes(dtype, sizes);
  if (bytes < 0)
    bytes = std::max<int64_t>(checkedCount(sizes, dtype) * sizeOf(dtype), 1);
  Heap &h = heap();
  std::lock_guard lock(h.mutex);
  if (Tensor *t = takeWhole(h, dtype, sizes, bytes))
    return t;
  void *storage = takeBlockOrThrow(sizeof(Storage)), *data = nullptr;
  try {
    data = takeElements(dtype, sizes, bytes);
    Tensor *t = newHeader(dtype, sizes);
    t->storage = new (storage) Storage{1, bytes, data};
    t->data = data;
    return t;
  } catch (...) {
    giveBlock(storage, sizeof(Storage));
    if (data) {
      heap().stats.liveBytes -= bytes;
      giveBlock(data, bytes);
    }
    throw;
  }
}

/// A tensor whose elements are not on the host.
static Tensor *newAway(DType dtype, std::span<const int64_t> sizes, DeviceBlock *block, ElementSource *source) {
  int64_t bytes = std::max<int64_t>(checkedCount(sizes, dtype) * sizeOf(dtype), 1);
  std::lock_guard lock(heap().mutex);
  void *storage = takeBlockOrThrow(sizeof(Storage));
  Tensor *t = newHeader(dtype, sizes);
  t->storage = new (storage) Storage{1, bytes, nullptr, block, source};
  t->data = nullptr;
  return t;
}

Tensor *newDeviceTensor(DType dtype, std::span<const int64_t> sizes, DeviceBlock *block) {
  return newAway(dtype, sizes, block, nullptr);
}

Tensor *newLateTensor(DType dtype, std::span<const int64_t> sizes, std::unique_ptr<ElementSource> source) {
  Tensor *t = newAway(dtype, sizes, nullptr, source.get());
  (void)source.release();
  return t;
}

void setDeviceMemory(const DeviceMemory *memory) { heap().device = memory; }

/// What is not on the host, copied there.
static void readAway(const Storage &storage, void *to, int64_t offset, int64_t bytes) {
  storage.source ? storage.source->read(to, offset, bytes) : heap().device->read(storage.device, to, offset, bytes);
}

void *fetch(const Tensor &t) {
  Storage &storage = *t.storage;
  if (!storage.data) {
    int64_t bytes = storage.bytes;
    void *data;
    {
      std::lock_guard lock(heap().mutex);
      data = takeElements(t.dtype, t.shape(), bytes);
    }
    try {
      readAway(storage, data, 0, t.count() * sizeOf(t.dtype));
    } catch (...) {
      std::lock_guard lock(heap().mutex);
      heap().stats.liveBytes -= bytes;
      giveBlock(data, bytes);
      throw;
    }
    storage.data = data;
    delete std::exchange(storage.source, nullptr);
  }
  return const_cast<Tensor &>(t).data = storage.data;
}

void readBytes(const Tensor &t, int64_t offset, int64_t bytes, void *to) {
  if (t.storage->data)
    std::memcpy(to, static_cast<const char *>(onHost(t)) + offset, bytes);
  else
    readAway(*t.storage, to, offset, bytes);
}

void *onHostOnly(Tensor &t) {
  void *data = onHost(t);
  if (DeviceBlock *block = std::exchange(t.storage->device, nullptr))
    heap().device->release(block);
  return data;
}

void onDeviceOnly(Tensor &t) {
  std::lock_guard lock(heap().mutex);
  if (void *data = std::exchange(t.storage->data, nullptr)) {
    heap().stats.liveBytes -= t.storage->bytes;
    giveBlock(data, t.storage->bytes);
  }
  t.data = nullptr;
}

Tensor *newView(Tensor *source, DType dtype, std::span<const int64_t> sizes) {
  checkedCount(sizes, dtype);
  Heap &h = heap();
  std::lock_guard lock(h.mutex);
  Tensor *t = newHeader(dtype, sizes);
  t->storage = source->storage;
  addReference(t->storage->refs);
  t->data = source->data;
  return t;
}

/// A string made of `text` where it will stay. The heap is locked.
template <typename Text> static Str *linkedStr(Text &&text) {
  constexpr size_t bytes = sizeof(Link) + sizeof(Str);
  char *memory = static_cast<char *>(takeBlockOrThrow(bytes));
  Str *made;
  try {
    made = new (memory + sizeof(Link)) Str{1, std::string(std::forward<Text>(text))};
  } catch (...) {
    giveBlock(memory, bytes);
    throw;
  }
  Link *l = new (memory) Link;
  l->kind = Link::IsStr;
  link(l);
  return made;
}

Str *newStr(std::string text) {
  std::lock_guard lock(heap().mutex);
  return linkedStr(std::move(text));
}

void appendTexts(List &list, std::span<const std::string_view> texts) {
  reserveItems(list, list.count + static_cast<int64_t>(texts.size()));
  std::lock_guard lock(heap().mutex);
  for (std::string_view text : texts) {
    list.items[list.count].text = linkedStr(text);
    ++list.count;
  }
}

List *newList(ItemKind of) {
  std::lock_guard lock(heap().mutex);
  char *memory = static_cast<char *>(takeBlockOrThrow(sizeof(Link) + sizeof(List)));
  Link *l = new (memory) Link;
  l->kind = Link::IsList;
  link(l);
  return new (memory + sizeof(Link)) List{1, 0, nullptr, 0, of};
}

void reserveItems(List &list, int64_t count) {
  if (count <= list.capacity)
    return;
  int64_t capacity = std::max({count, 2 * list.capacity, int64_t(4)});
  int64_t bytes = (capacity - list.capacity) * static_cast<int64_t>(sizeof(Item));
  std::lock_guard lock(heap().mutex);
  auto *items =
      hasRoom(heap(), bytes) ? static_cast<Item *>(std::realloc(list.items, capacity * sizeof(Item))) : nullptr;
  if (!items)
    failAllocation(static_cast<double>(bytes), fmt::format("a list of {} elements", count));
  account(heap(), bytes);
  list.items = items;
  list.capacity = capacity;
}

template <typename Object> static void giveUp(Object *object) {
  if (!isLast(object->refs))
    return;
  std::lock_guard lock(heap().mutex);
  destroy(linkOf(object));
}
void release(Tensor *t) {
  if (!isLast(t->refs))
    return;
  std::lock_guard lock(heap().mutex);
  destroyTensor(linkOf(t));
}
void release(Str *s) { giveUp(s); }
void release(List *list) { giveUp(list); }

/// One thread copies at a time, but for what was left behind by Ctrl-C: a number for people, not worth a locked
/// addition.
void countCopy() {
  std::atomic<int64_t> &copies = heap().copies;
  copies.store(copies.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

MemoryStats memoryStats() {
  std::lock_guard lock(heap().mutex);
  MemoryStats stats = heap().stats;
  stats.copies = heap().copies;
  return stats;
}

void resetMemoryStats() {
  std::lock_guard lock(heap().mutex);
  MemoryStats &s = heap().stats;
  s.allocations = heap().copies = 0;
  s.peakBytes = s.liveBytes;
}

void setMemoryLimit(int64_t bytes) { heap().limit = bytes ? bytes : defaultLimit(); }

void requireMemory(int64_t bytes, const std::string &what) {
  std::lock_guard lock(heap().mutex);
  if (!hasRoom(heap(), bytes))
    failAllocation(static_cast<double>(bytes), what);
}

Reservation::Reservation(int64_t bytes, const std::string &what) : bytes(bytes) {
  std::lock_guard lock(heap().mutex);
  if (!hasRoom(heap(), bytes))
    failAllocation(static_cast<double>(bytes), what);
  account(heap(), bytes);
}

Reservation::~Reservation() {
  std::lock_guard lock(heap().mutex);
  heap().stats.liveBytes -= bytes;
}

} // namespace toy::rt
