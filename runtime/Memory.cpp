// SPDX-License-Identifier: Apache-2.0
/// \file
/// Allocation. Every object is preceded by a link of the list of live objects; blocks come from Blocks.h.
#include "runtime/Memory.h"

#include "runtime/Blocks.h"
#include "runtime/Error.h"
#include "runtime/Objects.h"
#include "runtime/SizeText.h"
#include "runtime/WholeTensors.h"
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

struct Heap {
  HeapLock &mutex = liveObjectsList.mutex;
  WholeTensors whole;
  MemoryStats stats;
  int64_t limit = 0;
  std::atomic<int64_t> copies = 0;
  const DeviceMemory *device = nullptr;
  /// Tests ask for fresh elements that are seen in results: what nobody wrote, or what lies behind the last element.
  bool fillsFresh = false;
  Blocks blocks;
};

/// Made by the compiler, so that nobody has to ask whether it is, and never destroyed: values may outlive static
/// objects.
union Lasting {
  Heap heap;
  constexpr Lasting() : heap() {}
  ~Lasting() {} // NOLINT(modernize-use-equals-default)
};
constinit Lasting lasting;
Heap &heap() { return lasting.heap; }

[[maybe_unused]] const bool isReady = [] {
  heap().limit = defaultLimit();
  heap().fillsFresh = std::getenv("TOY_FILL_FRESH") != nullptr;
  if (heap().fillsFresh)
    heap().whole.keepNone();
  return true;
}();

void *takeBlock(size_t bytes) { return heap().blocks.take(bytes); }
void giveBlock(void *block, size_t bytes) noexcept { heap().blocks.give(block, bytes); }

void *takeBlockOrThrow(size_t bytes) {
  void *block = takeBlock(bytes);
  return block ? block : throw std::bad_alloc();
}

size_t objectBytes(int rank) { return sizeof(Link) + sizeof(Tensor) + sizeof(int64_t) * std::max(rank - 1, 0); }

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
  if (stats.liveBytes > stats.peakBytes) [[unlikely]]
    stats.peakBytes = stats.liveBytes;
}

/// Behind a link that is in no list yet.
Tensor *newHeader(DType dtype, std::span<const int64_t> sizes) {
  Link *l = beginLink(takeBlockOrThrow(objectBytes(sizes.size())), Link::IsTensor);
  auto *t = static_cast<Tensor *>(objectOf(l));
  t->refs.store(1, std::memory_order_relaxed); // nobody else sees it yet
  t->dtype = dtype;
  t->rank = sizes.size();
  t->waitsIn = WholeTensors::nowhere;
  for (size_t i = 0; i < sizes.size(); ++i)
    t->sizes[i] = sizes[i];
  return t;
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

/// Keeps a small tensor that is not watched for its next use. The heap is locked.
static inline bool keepWhole(Tensor *t) {
  Heap &h = heap();
  if (!h.whole.keep(t))
    return false;
  h.stats.liveBytes -= t->storage->bytes;
  return true;
}

static void destroyTensor(Link *l) {
  if (isWatched(l))
    forgetWatched(l);
  auto *t = static_cast<Tensor *>(objectOf(l));
  if (keepWhole(t))
    return;
  unlink(l);
  releaseStorage(t->storage);
  giveBlock(l, objectBytes(t->rank));
}

void destroy(Link *l, bool letsGo) {
  if (l->kind() == Link::IsTensor)
    return destroyTensor(l);
  if (isWatched(l))
    forgetWatched(l);
  unlink(l);
  void *object = objectOf(l);
  if (l->kind() == Link::IsStr) {
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

/// A block for elements, accounted, with room for more if there is; the heap is locked.
static void *takeElements(DType dtype, std::span<const int64_t> sizes, int64_t bytes, int64_t room) {
  Heap &h = heap();
  void *data = hasRoom(h, bytes) ? h.blocks.take(room, bytes) : nullptr;
  if (!data && (!hasRoom(h, bytes) || !(data = takeBlock(bytes))))
    failAllocation(dtype, sizes);
  countElements(h, data, bytes);
  return data;
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

/// A small tensor that died, with its blocks, or null. The heap is locked.
static inline Tensor *takeWhole(Heap &h, DType dtype, size_t rank, int64_t bytes) {
  if (!hasRoom(h, bytes))
    return nullptr;
  Tensor *t = h.whole.take(WholeTensors::listOf(rank, bytes));
  if (!t)
    return nullptr;
  ++h.stats.allocations;
  account(h, bytes);
  t->storage->bytes = bytes;
  t->refs.store(1, std::memory_order_relaxed); // nobody else sees it yet
  t->dtype = dtype;
  t->rank = rank;
  return t;
}

/// One with blocks of its own. The heap is locked.
static Tensor *newWithBlocks(DType dtype, std::span<const int64_t> sizes, int64_t bytes, int64_t room) {
  void *storage = takeBlockOrThrow(sizeof(Storage)), *data = nullptr;
  try {
    data = takeElements(dtype, sizes, bytes, room);
    Tensor *t = newHeader(dtype, sizes);
    t->waitsIn = WholeTensors::listOf(sizes.size(), bytes);
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

Tensor *newTensor(DType dtype, std::span<const int64_t> sizes) {
  int64_t bytes = fewBytes(dtype, sizes);
  if (bytes < 0)
    bytes = std::max<int64_t>(checkedCount(sizes, dtype) * sizeOf(dtype), 1);
  Heap &h = heap();
  std::lock_guard lock(h.mutex);
  Tensor *t = takeWhole(h, dtype, sizes.size(), bytes);
  if (!t)
    return newWithBlocks(dtype, sizes, bytes, bytes);
  std::copy(sizes.begin(), sizes.end(), t->sizes);
  return t;
}

[[gnu::noinline]] static Tensor *newLongVector(DType dtype, int64_t size) { return newTensor(dtype, {&size, 1}); }

/// In few instructions: functions that call themselves with parts of vectors make three a call.
Tensor *newVector(DType dtype, int64_t size, int64_t bytes) {
  if (size >= 0 && isOnlyThread())
    if (Tensor *t = takeWhole(heap(), dtype, 1, std::max<int64_t>(bytes, 1))) {
      t->sizes[0] = size;
      return t;
    }
  return newLongVector(dtype, size);
}

Tensor *newGrowing(DType dtype, std::span<const int64_t> sizes) {
  const int64_t bytes = fewBytes(dtype, sizes), room = bytes < 0 ? bytes : Blocks::roomToGrow(bytes);
  if (room <= bytes)
    return sizes.size() == 1 ? newVector(dtype, sizes[0], sizes[0] * toy::sizeOf(dtype)) : newTensor(dtype, sizes);
  std::lock_guard lock(heap().mutex);
  return newWithBlocks(dtype, sizes, bytes, room);
}

bool growsInPlace(Tensor &x, int64_t bytes) {
  Heap &h = heap();
  Storage &storage = *x.storage;
  const int64_t more = bytes - storage.bytes;
  std::lock_guard lock(h.mutex);
  if (static_cast<int64_t>(Blocks::roomOf(storage.data, storage.bytes)) < bytes || !hasRoom(h, more))
    return false;
  Blocks::useLargePages(storage.data, storage.bytes, bytes);
  if (h.fillsFresh)
    std::memset(static_cast<char *>(storage.data) + storage.bytes, 0xCB, more);
  account(h, more);
  storage.bytes = bytes;
  return true;
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
      data = takeElements(t.dtype, t.shape(), bytes, bytes);
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
  beginLink(memory, Link::IsStr);
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
  beginLink(memory, Link::IsList);
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
[[gnu::noinline]] static void giveUpTensor(Tensor *t) { giveUp(t); }
void release(Tensor *t) {
  if (t->refs.load(std::memory_order_relaxed) != 1 || !isOnlyThread() || isWatched(linkOf(t)) || !keepWhole(t))
    giveUpTensor(t);
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
