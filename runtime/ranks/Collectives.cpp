// SPDX-License-Identifier: Apache-2.0
/// \file
/// What all ranks do together, from tensors to bytes and back.
#include "runtime/ranks/Opening.h"
#include "runtime/ranks/Schedules.h"

#include "runtime/DeviceRanks.h"
#include "runtime/Memory.h"
#include "support/Half.h"

#include <algorithm>

namespace toy::ranks {
namespace {

using rt::Tensor;
using rt::TensorRef;

/// The same value: tensors do not change while somebody holds them.
TensorRef same(const Tensor &x) {
  auto *t = const_cast<Tensor *>(&x);
  rt::retain(t);
  return TensorRef(t);
}

TensorRef made(const Tensor &like) { return TensorRef(rt::newTensor(like.dtype, like.shape())); }

/// With another size along an axis.
TensorRef made(const Tensor &like, int64_t axis, int64_t size) {
  std::vector<int64_t> sizes(like.sizes, like.sizes + like.rank);
  sizes[axis] = size;
  return TensorRef(rt::newTensor(like.dtype, sizes));
}

int64_t bytesOf(const Tensor &x) { return x.count() * sizeOf(x.dtype); }

// --- axes

/// A tensor seen from an axis: `outer` times n rows of `row` bytes.
struct Rows {
  int64_t outer = 1, n, row;
  Rows(const Tensor &x, int64_t axis) : n(x.sizes[axis]), row(sizeOf(x.dtype)) {
    for (int64_t i = 0; i < axis; ++i)
      outer *= x.sizes[i];
    for (int64_t i = axis + 1; i < x.rank; ++i)
      row *= x.sizes[i];
  }
};

/// Copies `count` rows at `begin` of each run to, or from, a block of their own.
void copyRows(char *block, char *whole, const Rows &rows, int64_t begin, int64_t count, bool toBlock) {
  const int64_t bytes = count * rows.row;
  for (int64_t i = 0; bytes && i < rows.outer; ++i) {
    char *part = whole + (i * rows.n + begin) * rows.row;
    toBlock ? std::memcpy(block + i * bytes, part, bytes) : std::memcpy(part, block + i * bytes, bytes);
  }
}

// --- sums

DType summedAs(DType dtype) { return isHalf(dtype) ? DType::F32 : dtype; }

/// Elements as they are summed: bf16 and f16 in f32.
struct Summed {
  DType dtype;
  std::vector<char> widened;
  const void *data;
  explicit Summed(const Tensor &x) : dtype(summedAs(x.dtype)), data(rt::onHost(x)) {
    if (dtype == x.dtype)
      return;
    int64_t n = x.count();
    widened.resize(n * sizeof(float));
    for (int64_t i = 0; i < n; ++i)
      reinterpret_cast<float *>(widened.data())[i] = fromHalf(x.dtype, x.as<uint16_t>()[i]);
    data = widened.data();
  }
};

template <typename T> void divide(void *data, int64_t count, int64_t by) {
  for (int64_t i = 0; i < count; ++i)
    static_cast<T *>(data)[i] /= static_cast<T>(by);
}

/// What is left to do with a sum: the mean, and the dtype of the result.
void finish(void *sum, DType dtype, Reduction reduction, Tensor &out) {
  const int64_t n = out.count();
  if (reduction == Reduction::Mean) {
    int64_t reals = isComplex(dtype) ? 2 * n : n;
    realOf(dtype) == DType::F32 ? divide<float>(sum, reals, count()) : divide<double>(sum, reals, count());
  }
  if (dtype != out.dtype)
    for (int64_t i = 0; i < n; ++i)
      out.as<uint16_t>()[i] = toHalf(out.dtype, static_cast<float *>(sum)[i]);
  else if (sum != out.data && n)
    std::memcpy(out.data, sum, n * sizeOf(dtype));
}

void needRank(std::string_view name, int64_t number) {
  if (number < 0 || number >= count())
    rt::fail(DiagId::NoSuchRank, {std::string(name), std::to_string(number), std::to_string(count())});
}

/// Opens a collective of more than openings carry; whether devices go on with it, which rank 0 decides, as ranks with
/// --device=auto may have their values in different places.
bool openOnDevices(const Call &call, bool isOffered) {
  const uint64_t offer = isOffered;
  return open(call, &offer, sizeof offer)[0].payload[0] && rt::connectDevices();
}

} // namespace

void barrier(Place place) {
  if (count() == 1)
    return;
  Call call{Collective::Barrier, place};
  Waiting waiting(call);
  open(call);
  countBytes(call.collective, 0);
}

void checkReplicated(Place place, const Tensor &x, std::string_view what) {
  if (count() == 1)
    return;
  Digest digest;
  for (int64_t size : x.shape())
    digest.add(size);
  digest.add(rt::onHost(x), bytesOf(x));
  const bool isTruth = x.dtype == DType::Bool && x.rank == 0;
  const uint64_t own[] = {digest.get(), isTruth ? *x.as<uint8_t>() : uint64_t(0)};
  Call call{Collective::Check, place, &x};
  Waiting waiting(call);
  std::span<const Opening> all = open(call, own, sizeof own);
  std::vector<std::vector<int>> alike; // ranks by what they have
  std::vector<size_t> firsts;
  for (size_t r = 0; r < all.size(); ++r) {
    auto has = [&](size_t first) { return std::memcmp(all[first].payload, all[r].payload, sizeof own) == 0; };
    auto known = std::find_if(firsts.begin(), firsts.end(), has);
    if (known == firsts.end()) {
      firsts.push_back(r);
      alike.push_back({static_cast<int>(r)});
    } else
      alike[known - firsts.begin()].push_back(static_cast<int>(r));
  }
  if (alike.size() == 1)
    return;
  std::string who;
  for (size_t i = 0; i < alike.size(); ++i) {
    uint64_t truth;
    std::memcpy(&truth, all[firsts[i]].payload + sizeof own[0], sizeof truth);
    who += (i == 0               ? ""
            : i == 1 && !isTruth ? ", another on "
                                 : ", ") +
           (isTruth  ? std::string(truth ? "true on " : "false on ")
            : i == 0 ? std::string("one on ")
                     : std::string()) +
           listOf(alike[i]);
  }
  rt::fail(DiagId::NotReplicated, {std::string(what), who});
}

/// With `leavesRest`, the last additions and the division of a mean are the caller's, where a device has the parts.
static TensorRef reduced(Place place, const Tensor &x, Reduction reduction, bool leavesRest) {
  if (count() == 1)
    return same(x);
  Sum sum = sumOf(summedAs(x.dtype), reduction);
  const int64_t n = x.count(), bytes = n * sum.width;
  const bool isSmall = bytes <= mostSummedInOpening(), isOffered = !isSmall && rt::offersDevice(x);
  TensorRef out = isOffered ? TensorRef() : made(x);
  Call call{Collective::AllReduce, place, &x, reduction};
  call.sizesAgree = true;
  Waiting waiting(call);
  countBytes(call.collective, bytes);
  if (!isSmall && openOnDevices(call, isOffered))
    return leavesRest ? rt::deviceAllReduceParts(call) : rt::deviceAllReduce(call);
  if (!out)
    out = made(x);
  Summed summed(x);
  std::vector<char> wide(summed.dtype == x.dtype ? 0 : bytes);
  void *target = wide.empty() ? out->data : wide.data();
  if (isSmall)
    openSum(call, sum, summed.data, target, n);
  else
    sumOverRanks(sum, summed.data, target, n, scheduleFor(bytes));
  finish(target, summed.dtype, leavesRest ? Reduction::Sum : reduction, *out);
  return out;
}

TensorRef allReduce(Place place, const Tensor &x, Reduction reduction) { return reduced(place, x, reduction, false); }

TensorRef allReduceParts(Place place, const Tensor &x, Reduction reduction) {
  return reduced(place, x, reduction, true);
}

TensorRef reduceScatter(Place place, const Tensor &x, int64_t axis, Reduction reduction) {
  if (count() == 1)
    return same(x);
  Call call{Collective::ReduceScatter, place, &x, reduction, axis};
  call.sizesAgree = true;
  Waiting waiting(call);
  countBytes(call.collective, x.count() * sumOf(summedAs(x.dtype), reduction).width);
  if (openOnDevices(call, rt::offersDevice(x)))
    return rt::deviceReduceScatter(call, axis);
  const int64_t p = count();
  Summed summed(x);
  Sum sum = sumOf(summed.dtype, reduction);
  Rows rows(x, axis);
  rows.row = rows.row / sizeOf(x.dtype) * sum.width;
  std::vector<char> leaving(x.count() * sum.width);
  std::vector<int64_t> sizes;
  char *at = leaving.data();
  for (int64_t r = 0; r < p; ++r) {
    int64_t begin = shardBegin(rows.n, p, r), own = shardBegin(rows.n, p, r + 1) - begin;
    copyRows(at, static_cast<char *>(const_cast<void *>(summed.data)), rows, begin, own, true);
    sizes.push_back(rows.outer * own * rows.row);
    at += sizes.back();
  }
  const int64_t own = sizes[rank()];
  std::vector<char> arrived(own * p);
  exchangeParts(leaving.data(), sizes, arrived.data(), std::vector<int64_t>(p, own));
  std::vector<char *> parts;
  for (int64_t r = 0; r < p; ++r)
    parts.push_back(arrived.data() + r * own);
  sumParts(sum, parts, own / sum.width);
  TensorRef out = made(x, axis, shardBegin(rows.n, p, rank() + 1) - shardBegin(rows.n, p, rank()));
  finish(arrived.data(), summed.dtype, reduction, *out);
  return out;
}

TensorRef allGather(Place place, const Tensor &x, int64_t axis) {
  if (count() == 1)
    return same(x);
  Call call{Collective::AllGather, place, &x};
  call.detail = axis;
  call.sizesAgree = true;
  call.freeAxis = static_cast<int>(axis);
  Waiting waiting(call);
  Rows rows(x, axis);
  const int64_t own[] = {rows.n, rt::offersDevice(x)};
  std::span<const Opening> all = open(call, own, sizeof own);
  std::vector<int64_t> sizes, bytes;
  int64_t total = 0, most = 0;
  for (const Opening &other : all) {
    int64_t n;
    std::memcpy(&n, other.payload, sizeof n);
    sizes.push_back(n);
    bytes.push_back(rows.outer * n * rows.row);
    total += n;
    most += bytes.back();
  }
  countBytes(call.collective, most);
  if (all[0].payload[sizeof rows.n] && rt::connectDevices())
    return rt::deviceAllGather(call, axis, sizes);
  TensorRef out = made(x, axis, total);
  std::vector<char> blocks(rows.outer == 1 ? 0 : most);
  char *target = rows.outer == 1 ? out->as<char>() : blocks.data();
  gatherBytes(rt::onHost(x), target, bytes);
  Rows whole(*out, axis);
  for (int64_t r = 0, begin = 0, at = 0; rows.outer != 1 && r < count(); at += bytes[r], begin += sizes[r], ++r)
    copyRows(target + at, out->as<char>(), whole, begin, sizes[r], false);
  return out;
}

TensorRef allToAll(Place place, const Tensor &x, int64_t axis) {
  const int64_t p = count();
  if (p == 1)
    return same(x);
  Rows rows(x, axis);
  if (rows.n % p)
    rt::fail(DiagId::UnevenParts, {"all_to_all", std::to_string(rows.n), std::to_string(axis), std::to_string(p)});
  Call call{Collective::AllToAll, place, &x};
  call.detail = axis;
  call.sizesAgree = true;
  Waiting waiting(call);
  countBytes(call.collective, bytesOf(x));
  if (openOnDevices(call, rt::offersDevice(x)))
    return rt::deviceAllToAll(call, axis);
  const int64_t part = rows.n / p, bytes = bytesOf(x) / p;
  TensorRef out = made(x);
  std::vector<int64_t> sizes(p, bytes);
  rt::onHost(x);
  if (rows.outer == 1) {
    exchangeParts(x.data, sizes, out->data, sizes);
    return out;
  }
  std::vector<char> leaving(bytesOf(x)), arrived(bytesOf(x));
  for (int64_t r = 0; r < p; ++r)
    copyRows(leaving.data() + r * bytes, x.as<char>(), rows, r * part, part, true);
  exchangeParts(leaving.data(), sizes, arrived.data(), sizes);
  for (int64_t r = 0; r < p; ++r)
    copyRows(arrived.data() + r * bytes, out->as<char>(), rows, r * part, part, false);
  return out;
}

/// The sizes, and the elements where they fit, come with the opening; where they do not, its last byte says whether
/// devices go on.
TensorRef broadcast(Place place, const Tensor &x, int64_t from) {
  needRank("broadcast", from);
  if (count() == 1)
    return same(x);
  constexpr int64_t most = Opening::payloadBytes;
  const int64_t sizeBytes = x.rank * static_cast<int64_t>(sizeof(int64_t)), bytes = bytesOf(x);
  const bool hasSizes = sizeBytes <= most;
  char payload[most] = {};
  if (hasSizes)
    std::memcpy(payload, x.sizes, sizeBytes);
  if (sizeBytes + bytes <= most && bytes)
    std::memcpy(payload + sizeBytes, rt::onHost(x), bytes);
  else if (sizeBytes < most)
    payload[most - 1] = static_cast<char>(rt::offersDevice(x));
  Call call{Collective::Broadcast, place, &x};
  call.detail = from;
  Waiting waiting(call);
  const Opening &source = open(call, payload, most)[from];
  std::vector<int64_t> sizes(x.sizes, x.sizes + x.rank);
  if (hasSizes)
    std::memcpy(sizes.data(), source.payload, sizeBytes);
  else
    mpi().broadcastBytes(sizes.data(), sizeBytes, static_cast<int>(from));
  const int64_t arriving = rt::checkedCount(sizes, x.dtype) * sizeOf(x.dtype);
  countBytes(call.collective, arriving);
  if (sizeBytes < most && sizeBytes + arriving > most && source.payload[most - 1] && rt::connectDevices())
    return rt::deviceBroadcast(call, from, sizes);
  TensorRef out = from == rank() ? same(x) : TensorRef(rt::newTensor(x.dtype, sizes));
  rt::onHost(*out);
  if (sizeBytes + arriving > most)
    mpi().broadcastBytes(out->data, arriving, static_cast<int>(from));
  else if (from != rank() && arriving)
    std::memcpy(out->data, source.payload + sizeBytes, arriving);
  return out;
}

TensorRef shift(Place place, const Tensor &x, int64_t by) {
  const int64_t p = count(), step = (by % p + p) % p;
  if (p == 1)
    return same(x);
  Call call{Collective::Shift, place, &x};
  call.detail = step;
  call.sizesAgree = true;
  Waiting waiting(call);
  countBytes(call.collective, bytesOf(x));
  const bool areDevices = openOnDevices(call, rt::offersDevice(x));
  if (step == 0)
    return same(x);
  if (areDevices)
    return rt::deviceShift(call, step);
  TensorRef out = made(x);
  mpi().exchangeBytes(rt::onHost(x), bytesOf(x), static_cast<int>((rank() + step) % p), out->data, bytesOf(x),
                      static_cast<int>((rank() + p - step) % p));
  return out;
}

std::string shareText(Place place, const std::function<std::string()> &make) {
  if (count() == 1)
    return make();
  std::string text = rank() == 0 ? make() : "";
  Call call{Collective::Text, place};
  Waiting waiting(call);
  int64_t bytes = static_cast<int64_t>(text.size());
  std::memcpy(&bytes, open(call, &bytes, sizeof bytes)[0].payload, sizeof bytes);
  text.resize(bytes);
  mpi().broadcastBytes(text.data(), bytes, 0);
  return text;
}

/// An error as a text: the code, then what stands in its message.
static std::string failureOf(const std::function<void()> &write) {
  try {
    write();
    return "";
  } catch (const rt::Error &error) {
    std::string text(infoOf(error.id).code);
    for (const std::string &argument : error.args)
      text += '\0' + argument;
    return text;
  }
}

void writeTogether(Place place, const std::string &path, const std::function<void()> &write) {
  if (count() == 1)
    return write();
  Digest digest;
  digest.add(path.data(), path.size());
  const uint64_t own = digest.get();
  bool isShared = true;
  {
    Call call{Collective::Write, place};
    Waiting waiting(call);
    for (const Opening &other : open(call, &own, sizeof own))
      isShared &= std::memcmp(other.payload, &own, sizeof own) == 0;
  }
  if (!isShared)
    return write();
  std::string failure = shareText(place, [&] { return failureOf(write); });
  if (failure.empty())
    return;
  std::vector<std::string> parts(1);
  for (char c : failure)
    if (c == '\0')
      parts.emplace_back();
    else
      parts.back() += c;
  DiagId id = *findDiagnostic(parts[0]);
  rt::fail(id, {parts.begin() + 1, parts.end()});
}

} // namespace toy::ranks
