// SPDX-License-Identifier: Apache-2.0
/// \file
/// Slices of tensors on the device replaced, in place where nobody else holds them.
#include "runtime/cuda/DeviceImpl.h"

#include "runtime/Error.h"
#include "runtime/Memory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace toy::rt {
namespace {

/// One axis of what is copied: its size, and the steps of both sides in elements.
struct Axis {
  int64_t size = 1, out = 0, in = 0;
};

constexpr size_t mostAxes = 4;

/// Without axes of one element, neighbours that are one in memory joined; `axes` from the innermost one, the result
/// from the outermost.
std::vector<Axis> joined(std::span<const Axis> axes) {
  std::vector<Axis> out;
  for (const Axis &axis : axes) {
    if (axis.size == 1)
      continue;
    if (!out.empty() && axis.out == out.back().out * out.back().size && axis.in == out.back().in * out.back().size)
      out.back().size *= axis.size;
    else
      out.push_back(axis);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<Axis> axesOf(const Tensor &x, const Tensor &values, std::span<const int64_t> counts,
                         std::span<const int64_t> steps) {
  std::vector<Axis> axes;
  int64_t out = 1, in = 1;
  for (int64_t i = x.rank; i-- > 0;) {
    int64_t at = i - (x.rank - values.rank), size = at >= 0 ? values.sizes[at] : 1;
    axes.push_back({counts[i], out * steps[i], size == 1 ? 0 : in});
    out *= x.sizes[i];
    in *= size;
  }
  return joined(axes);
}

/// Copies of rows in the widest accesses that they allow: how many bytes, of which everything is a multiple.
int64_t widen(std::vector<Axis> &axes, int64_t &base, int64_t &first, int64_t bytes) {
  for (; bytes < 16; bytes *= 2) {
    auto isEven = [](int64_t n) { return n % 2 == 0; };
    bool halves = !axes.empty() && axes.back().out == 1 && axes.back().in == 1 && isEven(axes.back().size) &&
                  isEven(base) && isEven(first) && std::all_of(axes.begin(), axes.end() - 1, [&](const Axis &axis) {
                    return isEven(axis.out) && isEven(axis.in);
                  });
    if (!halves)
      break;
    base /= 2;
    first /= 2;
    axes.back().size /= 2;
    for (auto axis = axes.begin(); axis != axes.end() - 1; ++axis) {
      axis->out /= 2;
      axis->in /= 2;
    }
  }
  return bytes;
}

/// `from`: the values, or null for one that the words hold.
cuda::Record storeRecord(DType dtype, std::vector<Axis> axes, int64_t base, DeviceBlock *from,
                         std::span<const int64_t> value, int64_t site, int64_t first = 0) {
  int64_t bytes = sizeOf(dtype);
  if (from)
    bytes = widen(axes, base, first, bytes);
  axes.insert(axes.begin(), mostAxes - axes.size(), Axis());
  int64_t count = 1;
  for (const Axis &axis : axes)
    count *= axis.size;
  cuda::Record record;
  record.kernel = &cuda::kernelAround(((from ? "store_" : "fill_") + std::to_string(bytes)).c_str());
  record.words = {count, base};
  for (size_t i = 1; i < mostAxes; ++i) {
    Divisor divisor = divisorFor(axes[i].size);
    record.words.insert(record.words.end(),
                        {axes[i].size, static_cast<int64_t>(divisor.multiplier), int64_t(divisor.shift)});
  }
  for (const Axis &axis : axes)
    record.words.push_back(axis.out);
  if (from) {
    record.operands = {from};
    record.words.push_back(first);
    for (const Axis &axis : axes)
      record.words.push_back(axis.in);
  } else
    record.words.insert(record.words.end(), value.begin(), value.end());
  record.grid = static_cast<unsigned>((count + cuda::blockThreads - 1) / cuda::blockThreads);
  record.site = site;
  return record;
}

/// Copies whose operand's elements are neighbours along another axis than the result's last one, by tiles; null where
/// they are not, or hardly.
std::optional<cuda::Record> turnRecord(DType dtype, std::vector<Axis> axes, DeviceBlock *from, int64_t site,
                                       int64_t first) {
  constexpr int64_t edge = 32, least = 8;
  auto row = std::find_if(axes.begin(), axes.end(), [](const Axis &axis) { return axis.in == 1; });
  if (axes.size() < 2 || row >= axes.end() - 1 || axes.back().out != 1 || std::min(row->size, axes.back().size) < least)
    return std::nullopt;
  std::rotate(row, row + 1, axes.end() - 1);
  axes.insert(axes.begin(), mostAxes - axes.size(), Axis());
  cuda::Record record;
  record.kernel = &cuda::kernelAround(("turn_" + std::to_string(sizeOf(dtype))).c_str());
  record.operands = {from};
  int64_t tiles = axes[0].size;
  for (size_t i = 1; i < mostAxes; ++i) {
    int64_t number = i < 2 ? axes[i].size : (axes[i].size + edge - 1) / edge;
    Divisor divisor = divisorFor(number);
    record.words.insert(record.words.end(), {number, static_cast<int64_t>(divisor.multiplier), int64_t(divisor.shift)});
    tiles *= number;
  }
  record.words.insert(record.words.end(), {axes[2].size, axes[3].size});
  for (const Axis &axis : axes)
    record.words.push_back(axis.out);
  record.words.push_back(first);
  for (const Axis &axis : axes)
    record.words.push_back(axis.in);
  record.grid = static_cast<unsigned>(tiles);
  record.site = site;
  return record;
}

} // namespace

Divisor divisorFor(int64_t size) {
  if (size <= 1)
    return {0, 0};
  int shift = std::bit_width(static_cast<uint64_t>(size - 1)) - 1;
  return {static_cast<uint64_t>((static_cast<unsigned __int128>(1) << (64 + shift)) / static_cast<uint64_t>(size)) + 1,
          shift};
}

DeviceBlock *cuda::copyDense(CudaDevice &device, DType dtype, DeviceBlock *from, int64_t offset,
                             std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t site) {
  std::vector<Axis> axes;
  int64_t count = 1;
  for (size_t i = sizes.size(); i-- > 0; count *= sizes[i])
    axes.push_back({sizes[i], count, strides[i]});
  axes = joined(axes);
  if (axes.size() > mostAxes || count > INT32_MAX * int64_t(blockThreads))
    return nullptr;
  if (std::optional<Record> tiles = turnRecord(dtype, axes, from, site, offset))
    return device.record(*std::move(tiles), count * sizeOf(dtype));
  return device.record(storeRecord(dtype, std::move(axes), 0, from, {}, site, offset), count * sizeOf(dtype));
}

void cuda::copyInto(CudaDevice &device, DType dtype, DeviceBlock *out, int64_t base, int64_t step, DeviceBlock *from,
                    int64_t first, int64_t rows, int64_t length, int64_t site) {
  const Axis axes[] = {{length, 1, 1}, {rows, step, length}};
  device.recordUpdate(storeRecord(dtype, joined(axes), base, from, {}, site, first), out);
}

TensorRef deviceStore(TensorRef &x, const Tensor &values, std::span<const int64_t> starts,
                      std::span<const int64_t> counts, std::span<const int64_t> steps, int64_t site) {
  cuda::CudaDevice *device = cuda::usableDevice();
  constexpr int64_t most = INT32_MAX * int64_t(cuda::blockThreads);
  bool mayMove = values.storage->device && deviceOptions().choice == DeviceChoice::Cuda; // x, to the device
  if (!device || (!x->storage->device && !mayMove) || x->dtype != values.dtype || values.rank > x->rank ||
      x->count() > most || std::find(counts.begin(), counts.end(), 0) != counts.end())
    return TensorRef();
  std::vector<Axis> axes = axesOf(*x, values, counts, steps);
  if (axes.size() > mostAxes)
    return TensorRef();
  int64_t base = 0, stride = 1;
  for (int64_t i = x->rank; i-- > 0; stride *= x->sizes[i])
    base += starts[i] * stride;
  int64_t value[2] = {};
  DeviceBlock *from = nullptr, *target = device->blockOf(*x);
  if (values.count() == 1 && values.data) // no transfer
    std::memcpy(value, values.data, sizeOf(values.dtype));
  else
    from = device->blockOf(const_cast<Tensor &>(values));
  if (x->refs.load(std::memory_order_acquire) == 1 && x->storage->refs.load(std::memory_order_acquire) == 1) {
    device->recordUpdate(storeRecord(x->dtype, std::move(axes), base, from, value, site), target);
    onDeviceOnly(*x);
    return std::move(x);
  }
  DeviceBlock *copy =
      device->record(storeRecord(x->dtype, {{x->count(), 1, 1}}, 0, target, {}, site), x->count() * sizeOf(x->dtype));
  TensorRef out(newDeviceTensor(x->dtype, x->shape(), copy));
  device->recordUpdate(storeRecord(x->dtype, std::move(axes), base, from, value, site), copy);
  return out;
}

} // namespace toy::rt
