// SPDX-License-Identifier: Apache-2.0
/// \file
/// Accounting of tensor memory, and updates in place.
#pragma once

#include "runtime/Value.h"

namespace toy::rt {

struct MemoryStats {
  int64_t allocations = 0; ///< element blocks made
  int64_t copies = 0;      ///< element blocks copied because somebody else held them
  int64_t liveBytes = 0;
  int64_t peakBytes = 0;
};
MemoryStats memoryStats();
/// Sets counters to 0 and the peak to what is live.
void resetMemoryStats();
/// Bytes that live tensors may occupy together; 0 stands for the default, 80 % of the machine's memory.
void setMemoryLimit(int64_t bytes);
/// Throws as a tensor of so many bytes would; `what` they are for.
void requireMemory(int64_t bytes, const std::string &what);
/// Bytes beside tensors that count against the limit while this lives: buffers whose size a file tells. Throws before
/// anything is allocated.
class Reservation {
public:
  Reservation(int64_t bytes, const std::string &what);
  ~Reservation();
  Reservation(const Reservation &) = delete;

private:
  int64_t bytes;
};

/// What knows about elements that are not on the host.
struct DeviceMemory {
  void (*read)(DeviceBlock *block, void *to, int64_t offset, int64_t bytes); ///< copies to the host
  void (*release)(DeviceBlock *block);
};
void setDeviceMemory(const DeviceMemory *memory);
/// Elements that nobody has yet, row by row: in a file, or each made by its number.
struct ElementSource {
  virtual ~ElementSource() = default;
  virtual void read(void *to, int64_t offset, int64_t bytes) = 0; ///< whole elements
  /// So many bytes between two runs of elements are read with them rather than apart.
  virtual int64_t readTogether() const = 0;
};
/// The elements on the host, copied there first if they are elsewhere only.
void *fetch(const Tensor &t);
inline void *onHost(const Tensor &t) { return t.data ? t.data : fetch(t); }
/// `bytes` at an offset, without the rest if the elements are elsewhere only.
void readBytes(const Tensor &t, int64_t offset, int64_t bytes, void *to);
/// The elements will be written on the host: those on the device are given up. Nobody else holds them.
void *onHostOnly(Tensor &t);
/// The elements will be written on the device: those on the host are given up. Nobody else holds them.
void onDeviceOnly(Tensor &t);

/// The same tensor if nobody else holds it or its elements, else a copy; consumes the reference.
Tensor *unique(Tensor *consumed);
Tensor *copyOf(const Tensor *source);
/// Where a result of the same dtype and sizes goes: the tensor itself, whose elements are read meanwhile, if nobody but
/// the caller holds it, else a new one.
TensorRef placeFor(const TensorRef &consumed);
/// As `newTensor`, where more rows are to come: a large one has memory for them behind it that is not counted yet.
Tensor *newGrowing(DType dtype, std::span<const int64_t> sizes);
/// Whether the block of a tensor that nobody else holds has so many bytes, which are counted as its own from now on.
bool growsInPlace(Tensor &x, int64_t bytes);
/// A copy was made because somebody else holds the value.
void countCopy();

/// The element count of a shape; throws when it does not fit.
int64_t checkedCount(std::span<const int64_t> sizes, DType dtype);

} // namespace toy::rt
