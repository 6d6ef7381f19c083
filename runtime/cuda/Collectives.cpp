// SPDX-License-Identifier: Apache-2.0
/// \file
/// Collectives of tensors on devices: what moves through NCCL, and what kernels do before and after. Sums are parts
/// that are exchanged and then combined over the tree of rank numbers, so that they have the host's bits.
#include "runtime/DeviceRanks.h"

#include "runtime/Error.h"
#include "runtime/Memory.h"
#include "runtime/cuda/Communicator.h"
#include "runtime/ranks/Schedules.h"
#include "support/Half.h"

#include <algorithm>
#include <functional>

namespace toy::rt {
namespace cuda {
namespace {

/// A tensor seen from an axis: `outer` times n rows of `row` elements.
struct Rows {
  int64_t outer = 1, n, row = 1;
  Rows(const Tensor &x, int64_t axis) : n(x.sizes[axis]) {
    for (int64_t i = 0; i < axis; ++i)
      outer *= x.sizes[i];
    for (int64_t i = axis + 1; i < x.rank; ++i)
      row *= x.sizes[i];
  }
};

/// One collective on the device. What is recorded goes there first; blocks that it takes for itself are given back at
/// its end, to be used again behind it on the main stream.
class Work {
public:
  explicit Work(const ranks::Call &call, bool reads = true)
      : call(call), x(*call.tensor), dtype(x.dtype), width(sizeOf(dtype)), p(ranks::count()) {
    device.startOperation();
    own = reads ? device.blockOf(const_cast<Tensor &>(x)) : nullptr;
  }
  ~Work() {
    for (DeviceBlock *block : taken)
      device.release(block);
  }
  Work(const Work &) = delete;

  /// Makes calls of NCCL; addresses are known from here on.
  template <typename F> void meet(F calls) {
    device.flush("ranks meet");
    comm.begin();
    calls();
    comm.end(call);
  }
  DeviceBlock *keep(DeviceBlock *block) { return taken.emplace_back(block); }
  DeviceBlock *place(int64_t elements) { return device.place(elements * width); }
  Span span(const DeviceBlock *block, int64_t begin, int64_t count) const {
    return {block->address + static_cast<Pointer>(begin * width), count};
  }
  TensorRef result(DeviceBlock *block, std::span<const int64_t> sizes) const {
    return TensorRef(newDeviceTensor(dtype, sizes, block));
  }

  /// Parts of x along an axis from begin[r] up to begin[r + 1], for each rank: as they lie, or copied.
  struct Part {
    const DeviceBlock *block;
    int64_t begin, count;
  };
  std::vector<Part> parts(const Rows &rows, const std::vector<int64_t> &begin) {
    std::vector<Part> out;
    for (int64_t r = 0; r < p; ++r) {
      const int64_t n = begin[r + 1] - begin[r], sizes[] = {rows.outer, n * rows.row}, steps[] = {rows.n * rows.row, 1};
      const bool isWhole = rows.outer == 1 || n * rows.row == 0;
      out.push_back({own, begin[r] * rows.row, rows.outer * n * rows.row});
      if (!isWhole)
        out.back() = {keep(copyDense(device, dtype, own, out.back().begin, sizes, steps, site)), 0, out.back().count};
    }
    return out;
  }
  std::vector<Span> spans(const std::vector<Part> &parts) const {
    std::vector<Span> out;
    for (const Part &part : parts)
      out.push_back(span(part.block, part.begin, part.count));
    return out;
  }
  /// Blocks behind each other in one, of so many elements each.
  std::vector<Span> spans(const DeviceBlock *block, const std::vector<int64_t> &counts) const {
    std::vector<Span> out;
    for (int64_t at = 0; int64_t count : counts) {
      out.push_back(span(block, at, count));
      at += count;
    }
    return out;
  }
  /// What has arrived from each rank, put side by side along an axis of `total` rows.
  DeviceBlock *joined(DeviceBlock *arrived, const Rows &rows, const std::vector<int64_t> &sizes, int64_t total) {
    if (rows.outer == 1)
      return arrived;
    keep(arrived);
    DeviceBlock *out = place(rows.outer * total * rows.row);
    for (int64_t r = 0, at = 0, begin = 0; r < p; ++r) {
      const int64_t length = sizes[r] * rows.row;
      if (length)
        copyInto(device, dtype, out, begin * rows.row, total * rows.row, arrived, at, rows.outer, length, site);
      at += rows.outer * length;
      begin += sizes[r];
    }
    return out;
  }

  /// `number` parts of `count` elements, which are behind each other, combined; into a block of its own, or into `out`
  /// from `base` on.
  DeviceBlock *combined(DeviceBlock *parts, int64_t count, int64_t number, DeviceBlock *out = nullptr,
                        int64_t base = 0) {
    const bool isWidened = isHalf(dtype);
    bool isFirst = true;
    while (true) {
      const int64_t groups = (number + atOnce - 1) / atOnce;
      const bool isLast = groups == 1;
      const char *kernel = !isWidened || (isFirst && isLast) ? "combine"
                           : isFirst                         ? "combine_first"
                           : isLast                          ? "combine_last"
                                                             : "combine_next";
      Record record;
      record.kernel = &combiningKernel(dtype, kernel);
      record.operands = {parts};
      record.words = {count, number, isLast ? base : 0, static_cast<int64_t>(call.reduction),
                      isLast && call.reduction == ranks::Reduction::Mean ? p : 0};
      record.grid = static_cast<unsigned>((groups * count + blockThreads - 1) / blockThreads);
      record.site = site;
      if (isLast && out) {
        device.recordUpdate(std::move(record), out);
        return out;
      }
      const int64_t elementBytes = isWidened && !isLast ? static_cast<int64_t>(sizeof(float)) : width;
      parts = device.record(std::move(record), groups * count * elementBytes);
      if (isLast)
        return parts;
      keep(parts);
      number = groups;
      isFirst = false;
    }
  }

  /// Neighbours of them combined, until they are few; how many is told.
  DeviceBlock *fewer(DeviceBlock *parts, int64_t count, int64_t &number) {
    while (number > atOnce) {
      keep(parts);
      const int64_t groups = (number + atOnce - 1) / atOnce;
      Record record;
      record.kernel = &combiningKernel(dtype, "combine");
      record.operands = {parts};
      record.words = {count, number, 0, static_cast<int64_t>(call.reduction), 0};
      record.grid = static_cast<unsigned>((groups * count + blockThreads - 1) / blockThreads);
      record.site = site;
      parts = device.record(std::move(record), groups * count * width);
      number = groups;
    }
    return parts;
  }

  static constexpr int64_t atOnce = 8; // Combine.cu
  CudaDevice &device = *usableDevice();
  Communicator &comm = *Communicator::get();
  const ranks::Call &call;
  const Tensor &x;
  DType dtype;
  int64_t width, p, site = deviceSite();
  DeviceBlock *own;

private:
  std::vector<DeviceBlock *> taken;
};

/// Few elements: all ranks get all of them.
DeviceBlock *gathered(Work &work) {
  const int64_t n = work.x.count();
  DeviceBlock *all = work.place(n * work.p);
  work.meet([&] { work.comm.allGather(work.dtype, work.span(work.own, 0, n), all->address); });
  return all;
}

/// Each combines them.
DeviceBlock *sumByGather(Work &work) { return work.combined(work.keep(gathered(work)), work.x.count(), work.p); }

/// Each rank combines a part, and all get all parts. Parts are multiples of 16 bytes, so the last ones have less.
DeviceBlock *sumByParts(Work &work) {
  const int64_t n = work.x.count(), unit = 16 / work.width, each = (n + work.p - 1) / work.p,
                part = (each + unit - 1) / unit * unit;
  auto countOf = [&](int64_t r) { return std::clamp<int64_t>(n - r * part, 0, part); };
  const int64_t rank = ranks::rank(), mine = countOf(rank);
  DeviceBlock *arrived = work.keep(work.place(mine * work.p)), *out = work.place(part * work.p);
  work.meet([&] {
    std::vector<Span> leaving;
    for (int64_t r = 0; r < work.p; ++r)
      leaving.push_back(work.span(work.own, r * part, countOf(r)));
    work.comm.exchange(work.dtype, leaving, work.spans(arrived, std::vector<int64_t>(work.p, mine)));
  });
  if (mine)
    work.combined(arrived, mine, work.p, out, rank * part);
  work.meet([&] { work.comm.allGather(work.dtype, work.span(out, rank * part, part), out->address); });
  return out;
}

/// Ranks that go on after an error that one of them has caught would wait for it for ever.
template <typename F> TensorRef together(F work) {
  try {
    return work();
  } catch (const Error &error) {
    if (error.id != DiagId::DeviceMemory && error.id != DiagId::DeviceFailed && error.id != DiagId::DeviceLost)
      throw;
    fail(DiagId::RankLost, {formatDiagnostic(error.id, error.args)});
  }
}

} // namespace
} // namespace cuda

using cuda::Communicator;
using cuda::Rows;
using cuda::Work;

bool offersDevice(const Tensor &x) {
  std::string unused;
  const DeviceChoice choice = deviceOptions().choice;
  return choice != DeviceChoice::Cpu && !Communicator::wasRefused() && x.count() > 0 &&
         (choice == DeviceChoice::Cuda || x.storage->device) && deviceIsReady(unused);
}

bool connectDevices() {
  if (Communicator::get() || Communicator::wasRefused())
    return Communicator::get() != nullptr;
  std::string problem;
  const bool isConnected = Communicator::connect(problem) != nullptr;
  if (cuda::CudaDevice *device = cuda::usableDevice())
    device->has(isConnected, "collectives", problem, deviceSite());
  return isConnected;
}

constexpr int64_t few = 64 << 10; // bytes

TensorRef deviceAllReduceParts(const ranks::Call &call) {
  return cuda::together([&] {
    Work work(call);
    const int64_t n = work.x.count();
    int64_t number = work.p;
    DeviceBlock *parts = cuda::gathered(work);
    if (isHalf(work.dtype) && number > Work::atOnce) { // sums of some of them have more digits
      parts = work.combined(work.keep(parts), n, number);
      number = 1;
    }
    parts = work.fewer(parts, n, number);
    std::vector<int64_t> sizes(work.x.sizes, work.x.sizes + work.x.rank);
    sizes[0] *= number;
    return work.result(parts, sizes);
  });
}

TensorRef deviceAllReduce(const ranks::Call &call) {
  return cuda::together([&] {
    Work work(call);
    const int64_t n = work.x.count();
    DeviceBlock *out = nullptr;
    if (kindOf(work.dtype) <= DKind::Int) {
      out = work.place(n);
      work.meet([&] { work.comm.allReduce(work.dtype, work.span(work.own, 0, n), out->address, call.reduction); });
    } else
      out = n * work.width <= few ? cuda::sumByGather(work) : cuda::sumByParts(work);
    return work.result(out, work.x.shape());
  });
}

TensorRef deviceReduceScatter(const ranks::Call &call, int64_t axis) {
  return cuda::together([&] {
    Work work(call);
    Rows rows(work.x, axis);
    std::vector<int64_t> begin;
    for (int64_t r = 0; r <= work.p; ++r)
      begin.push_back(ranks::shardBegin(rows.n, work.p, r));
    std::vector<Work::Part> leaving = work.parts(rows, begin);
    const int64_t mine = leaving[ranks::rank()].count;
    DeviceBlock *arrived = work.keep(work.place(mine * work.p));
    work.meet([&] {
      work.comm.exchange(work.dtype, work.spans(leaving), work.spans(arrived, std::vector<int64_t>(work.p, mine)));
    });
    std::vector<int64_t> sizes(work.x.sizes, work.x.sizes + work.x.rank);
    sizes[axis] = begin[ranks::rank() + 1] - begin[ranks::rank()];
    return work.result(mine ? work.combined(arrived, mine, work.p) : work.place(0), sizes);
  });
}

TensorRef deviceAllGather(const ranks::Call &call, int64_t axis, std::span<const int64_t> sizes) {
  return cuda::together([&] {
    Work work(call);
    Rows rows(work.x, axis);
    int64_t total = 0;
    std::vector<int64_t> own(sizes.begin(), sizes.end()), counts;
    for (int64_t n : own) {
      counts.push_back(rows.outer * n * rows.row);
      total += n;
    }
    DeviceBlock *arrived = work.place(rows.outer * total * rows.row);
    const bool areEqual = std::adjacent_find(own.begin(), own.end(), std::not_equal_to<>()) == own.end();
    work.meet([&] {
      const cuda::Span mine = work.span(work.own, 0, counts[ranks::rank()]);
      if (areEqual)
        work.comm.allGather(work.dtype, mine, arrived->address);
      else
        work.comm.exchange(work.dtype, std::vector<cuda::Span>(work.p, mine), work.spans(arrived, counts));
    });
    std::vector<int64_t> shape(work.x.sizes, work.x.sizes + work.x.rank);
    shape[axis] = total;
    return work.result(work.joined(arrived, rows, own, total), shape);
  });
}

TensorRef deviceAllToAll(const ranks::Call &call, int64_t axis) {
  return cuda::together([&] {
    Work work(call);
    Rows rows(work.x, axis);
    std::vector<int64_t> begin;
    for (int64_t r = 0; r <= work.p; ++r)
      begin.push_back(rows.n / work.p * r);
    std::vector<Work::Part> leaving = work.parts(rows, begin);
    DeviceBlock *arrived = work.place(work.x.count());
    work.meet([&] {
      work.comm.exchange(work.dtype, work.spans(leaving),
                         work.spans(arrived, std::vector<int64_t>(work.p, work.x.count() / work.p)));
    });
    const std::vector<int64_t> sizes(work.p, rows.n / work.p);
    return work.result(work.joined(arrived, rows, sizes, rows.n), work.x.shape());
  });
}

TensorRef deviceBroadcast(const ranks::Call &call, int64_t from, std::span<const int64_t> sizes) {
  return cuda::together([&] {
    const bool isSource = from == ranks::rank();
    Work work(call, isSource);
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    DeviceBlock *block = isSource ? work.own : work.place(count);
    work.meet([&] { work.comm.broadcast(work.dtype, work.span(block, 0, count), static_cast<int>(from)); });
    if (!isSource)
      return work.result(block, sizes);
    auto *same = const_cast<Tensor *>(&work.x);
    retain(same);
    return TensorRef(same);
  });
}

TensorRef deviceShift(const ranks::Call &call, int64_t step) {
  return cuda::together([&] {
    Work work(call);
    const int64_t n = work.x.count(), p = work.p, rank = ranks::rank();
    DeviceBlock *out = work.place(n);
    work.meet([&] {
      std::vector<cuda::Span> leaving(p), arriving(p);
      leaving[(rank + step) % p] = work.span(work.own, 0, n);
      arriving[(rank + p - step) % p] = work.span(out, 0, n);
      work.comm.exchange(work.dtype, leaving, arriving);
    });
    return work.result(out, work.x.shape());
  });
}

void disconnectDevices(bool isWell) {
  if (Communicator *connected = Communicator::get())
    connected->disconnect(isWell);
}

} // namespace toy::rt
