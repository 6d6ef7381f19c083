// SPDX-License-Identifier: Apache-2.0
/// \file
/// The values of a running program: dense, reference-counted tensors, strings and lists, and the tuples and structs
/// that a session holds of them.
#pragma once

#include "support/DType.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace toy::rt {

struct DeviceBlock;   // elements on a device
struct ElementSource; // elements in a file, or that nobody has made (Memory.h)

/// A block of element memory, shared by tensors that view the same elements (reshape, view_as_real). 64-byte aligned
/// data. Elements are on the host, on the device, or the same on both; those of a source are made when they are read.
struct Storage {
  std::atomic<int64_t> refs;
  int64_t bytes; ///< accounted size
  void *data;    ///< null while they are elsewhere only
  DeviceBlock *device = nullptr;
  ElementSource *source = nullptr;
};

/// A dense row-major tensor. Compiled code relies on the offsets of `data` (8) and `sizes` (32). `data` is null until
/// somebody asks for the elements of a tensor that is on the device only, or has a source (`onHost`). An object is
/// created by `newTensor`/`newView` and freed by the last `release`.
struct Tensor {
  std::atomic<int64_t> refs;
  void *data;
  Storage *storage;
  DType dtype;
  uint8_t rank;
  uint8_t waitsIn; ///< the list of small tensors that it goes to when it dies (WholeTensors.h)
  uint8_t pad[5];
  int64_t sizes[1]; ///< `rank` entries

  int64_t count() const {
    uint64_t n = 1; // sizes beside a 0 may have any product
    for (int i = 0; i < rank; ++i)
      n *= static_cast<uint64_t>(sizes[i]);
    return static_cast<int64_t>(n);
  }
  std::span<const int64_t> shape() const { return {sizes, rank}; }
  template <typename T> T *as() const { return static_cast<T *>(data); }
};
static_assert(offsetof(Tensor, data) == 8 && offsetof(Tensor, sizes) == 32);

/// An immutable string object.
struct Str {
  std::atomic<int64_t> refs;
  std::string text;
};

struct List;

/// Allocates a tensor (refs = 1), elements uninitialised. Sizes are multiplied with overflow checks and accounted
/// against the memory limit; throws rt::Error (out of memory) before anything is allocated. Small blocks are recycled.
Tensor *newTensor(DType dtype, std::span<const int64_t> sizes);
/// The same of one axis; `bytes` are its elements' if the size is at least 0.
Tensor *newVector(DType dtype, int64_t size, int64_t bytes);
/// A tensor (refs = 1) whose elements are on the device only; takes the block over.
Tensor *newDeviceTensor(DType dtype, std::span<const int64_t> sizes, DeviceBlock *block);
/// A tensor (refs = 1) whose elements are read, or made, when somebody asks for them.
Tensor *newLateTensor(DType dtype, std::span<const int64_t> sizes, std::unique_ptr<ElementSource> source);
/// A tensor over the elements of `source` (same storage, same total bytes), refs = 1.
Tensor *newView(Tensor *source, DType dtype, std::span<const int64_t> sizes);
/// Rank-0 tensor holding the bytes at `element`.
Tensor *newScalar(DType dtype, const void *element);
Str *newStr(std::string text);

/// How many threads may count references, or take memory, beside the one that asks. Whoever begins such threads holds
/// an `OtherThread` from before they begin until they have ended. While there are none, counts are plain numbers and
/// the heap needs no lock: a locked addition takes as long as twenty others.
extern std::atomic<int> otherThreads;
inline bool isOnlyThread() { return otherThreads.load(std::memory_order_acquire) == 0; }
class OtherThread {
public:
  OtherThread() { otherThreads.fetch_add(1); }
  ~OtherThread() { otherThreads.fetch_sub(1); }
  OtherThread(const OtherThread &) = delete;
};
inline void addReference(std::atomic<int64_t> &references) {
  if (isOnlyThread())
    references.store(references.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  else
    references.fetch_add(1, std::memory_order_relaxed);
}

/// Whether references may have to be taken back (runtime/Watch.h): then a new one is noted before it is counted.
extern std::atomic<bool> referencesAreWatched;
void noteReference(void *object);
template <typename Object> inline void retain(Object *object) {
  if (referencesAreWatched.load(std::memory_order_relaxed)) [[unlikely]]
    noteReference(object);
  addReference(object->refs);
}
void retain(List *list);
void release(Tensor *t);
void release(Str *s);
void release(List *list);

/// Owning pointer to a Tensor, Str or List.
template <typename T> class Ref {
public:
  Ref() = default;
  /// Takes over one reference.
  explicit Ref(T *owned) : object(owned) {}
  Ref(const Ref &other) : object(other.object) {
    if (object)
      retain(object);
  }
  Ref(Ref &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Ref &operator=(Ref other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Ref() {
    if (object)
      release(object);
  }
  T *get() const { return object; }
  T *operator->() const { return object; }
  T &operator*() const { return *object; }
  /// Gives the reference away.
  T *take() { return std::exchange(object, nullptr); }
  explicit operator bool() const { return object; }

private:
  T *object = nullptr;
};
using TensorRef = Ref<Tensor>;
using StrRef = Ref<Str>;
using ListRef = Ref<List>;

struct Value;
/// A tuple, a struct, or a list of such: `typeName` is empty for tuples; `names` are the members of a struct. What is a
/// type alone, as a function is, is the text of the type.
struct Aggregate {
  std::string typeName;
  bool isText = false, isList = false;
  std::vector<std::string> names;
  std::vector<Value> elements;
};

/// What a variable of a session holds. The empty value is "nothing" (a call without result).
struct Value : std::variant<std::monostate, TensorRef, StrRef, ListRef, std::shared_ptr<Aggregate>> {
  using variant::variant;
};

/// The object of a leaf, whose reference is given away.
inline void *takeObject(Value &leaf) {
  if (auto *t = std::get_if<TensorRef>(&leaf))
    return t->take();
  if (auto *s = std::get_if<StrRef>(&leaf))
    return s->take();
  return std::get<ListRef>(leaf).take();
}

inline bool isText(const Value &value) {
  auto *aggregate = std::get_if<std::shared_ptr<Aggregate>>(&value);
  return aggregate && (*aggregate)->isText;
}

} // namespace toy::rt
