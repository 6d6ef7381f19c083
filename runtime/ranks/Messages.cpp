// SPDX-License-Identifier: Apache-2.0
/// \file
/// What one rank sends to another: a header like that of an opening, then the elements. Sends are of a copy and do not
/// wait: MPI goes on with them in later calls.
#include "runtime/ranks/Opening.h"
#include "runtime/ranks/Schedules.h"

#include "runtime/Memory.h"
#include "runtime/Parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <list>
#include <map>
#include <sched.h>

namespace toy::ranks {
namespace {

constexpr int64_t largestTag = 32000, firstTag = 1; // tag 0 is that of collectives; MPI promises 32767
constexpr int64_t eagerBytes = 4096;                // up to about that, MPI sends without asking the receiver

/// What is sent: to this rank itself, or on its way to another one, which the requests stand for.
struct Parcel {
  Opening opening;
  rt::TensorRef elements;
  std::vector<intptr_t> requests;
};
std::map<int64_t, std::deque<Parcel>> &ownParcels() {
  static std::map<int64_t, std::deque<Parcel>> parcels;
  return parcels;
}

int64_t bytesOf(const rt::Tensor &x) { return x.count() * sizeOf(x.dtype); }
int64_t bytesOf(const Parcel &parcel) { return static_cast<int64_t>(sizeof parcel) + bytesOf(*parcel.elements); }

/// What is on its way. MPI reads the copies, so they stay where they are until it is done.
struct Outbox {
  std::list<Parcel> parcels;
  int64_t bytes = 0;
  std::chrono::steady_clock::time_point lookAt; ///< when a send looks at what is delivered

  static bool isDone(Parcel &parcel) {
    while (!parcel.requests.empty() && mpi().isDone(parcel.requests.back()))
      parcel.requests.pop_back();
    return parcel.requests.empty();
  }
  /// Looks at the first ones up to one that is not delivered, and in turn at one more: another rank, or one that waits
  /// for another tag, may have received a later one. To look at all of them would cost each send as much as there are.
  void carryOn() {
    for (auto first = parcels.begin(); first != parcels.end() && isTaken(first); first = parcels.begin())
      ;
    if (next == parcels.end())
      next = parcels.begin();
    if (next != parcels.end() && !isTaken(next))
      ++next;
  }

private:
  bool isTaken(std::list<Parcel>::iterator at) {
    if (!isDone(*at))
      return false;
    bytes -= bytesOf(*at);
    if (next == at)
      ++next;
    parcels.erase(at);
    return true;
  }
  std::list<Parcel>::iterator next = parcels.end(); ///< at which one to look next
};
Outbox &outbox() {
  static Outbox box;
  return box;
}

/// How many bytes may be on their way: a rank that sends more waits. TOY_RANKS_ON_THEIR_WAY=BYTES, for tests.
int64_t mostOnTheirWay() {
  static const int64_t most = [] {
    const char *own = std::getenv("TOY_RANKS_ON_THEIR_WAY");
    return own ? std::atoll(own) : int64_t(1) << 30;
  }();
  return most;
}

/// Values by the rank that they were sent to, and that they came from.
struct Counters {
  std::vector<int64_t> sent = std::vector<int64_t>(count()), received = sent;
};
Counters &counters() {
  static Counters own;
  return own;
}

void needRankAndTag(std::string_view name, int64_t number, int64_t tag) {
  if (number < 0 || number >= count())
    rt::fail(DiagId::NoSuchRank, {std::string(name), std::to_string(number), std::to_string(count())});
  if (tag < 0 || tag > largestTag)
    rt::fail(DiagId::OutsideRange,
             {std::string(name), "`tag`", fmt::format("from 0 to {}", largestTag), std::to_string(tag)});
}

Opening openingOf(const rt::Tensor &x) {
  Opening out{};
  Digest digest;
  for (int64_t size : x.shape())
    digest.add(size);
  out.header = {Collective::Send, Reduction::Sum, x.dtype, x.rank, 0, 0, digest.half()};
  std::memcpy(out.payload, x.sizes, std::min<int64_t>(8 * x.rank, Opening::payloadBytes));
  return out;
}

std::string typeOf(const Opening &opening) {
  std::vector<int64_t> sizes(std::min<int64_t>(opening.header.rank, Opening::payloadBytes / 8));
  std::memcpy(sizes.data(), opening.payload, 8 * sizes.size());
  return ranks::typeOf(opening.header.dtype, sizes);
}

rt::TensorRef copyOf(const rt::Tensor &x) {
  rt::TensorRef copy(rt::newTensor(x.dtype, x.shape()));
  if (const int64_t bytes = bytesOf(x))
    std::memcpy(copy->data, rt::onHost(x), bytes);
  return copy;
}

/// Where the receiving rank waits already, the value is there before it would have been copied once more.
void waitAMoment(Parcel &parcel, int64_t bytes) {
  using namespace std::chrono;
  const auto end = steady_clock::now() + microseconds(20 + bytes / 2000);
  while (!Outbox::isDone(parcel) && steady_clock::now() < end)
    ;
}

} // namespace

bool carryOn() {
  if (!outbox().parcels.empty())
    outbox().carryOn();
  return !outbox().parcels.empty();
}

void send(Place place, const rt::Tensor &x, int64_t to, int64_t tag) {
  needRankAndTag("send", to, tag);
  const int64_t bytes = bytesOf(x);
  countBytes(Collective::Send, bytes);
  Parcel made{openingOf(x), copyOf(x), {}};
  ++counters().sent[to];
  if (to == rank()) {
    ownParcels()[tag].push_back(std::move(made));
    return;
  }
  Call call{Collective::Send, place, &x};
  Waiting waiting(call);
  Outbox &box = outbox();
  const bool isAlone = box.parcels.empty();
  Parcel &parcel = box.parcels.emplace_back(std::move(made));
  box.bytes += bytesOf(parcel);
  const int target = static_cast<int>(to), mark = static_cast<int>(tag + firstTag);
  mpi().startBytes(&parcel.opening, sizeof parcel.opening, target, mark, parcel.requests);
  mpi().startBytes(parcel.elements->data, bytes, target, mark, parcel.requests);
  if (isAlone && bytes > eagerBytes)
    waitAMoment(parcel, bytes);
  // To ask MPI after each of many small values would hand the processor to others each time where ranks share it.
  const auto now = std::chrono::steady_clock::now();
  if (box.bytes <= mostOnTheirWay() && now < box.lookAt)
    return;
  box.lookAt = now + std::chrono::milliseconds(1);
  box.carryOn();
  while (box.bytes > mostOnTheirWay() && box.parcels.size() > 1) {
    rt::poll();
    sched_yield();
    box.carryOn();
  }
}

int64_t sentLessReceived() {
  int64_t difference = 0;
  for (int r = 0; r < count(); ++r)
    difference += counters().sent[r] - counters().received[r];
  return difference;
}

std::string notReceived() {
  std::vector<int64_t> sent(count()), sizes(count(), sizeof(int64_t));
  exchangeParts(counters().sent.data(), sizes, sent.data(), sizes);
  std::string out;
  for (int r = 0; r < count(); ++r)
    if (const int64_t left = sent[r] - counters().received[r])
      out += fmt::format("{}{} from rank {} to {}", out.empty() ? "" : ", ", left, r, rank());
  return out;
}

rt::TensorRef receive(Place place, const rt::Tensor &like, int64_t from, int64_t tag) {
  needRankAndTag("recv", from, tag);
  Opening expected = openingOf(like), arrived;
  const int64_t bytes = bytesOf(like);
  countBytes(Collective::Receive, bytes);
  Parcel own;
  Call call{Collective::Receive, place, &like};
  Waiting waiting(call);
  if (from == rank()) {
    std::deque<Parcel> &parcels = ownParcels()[tag];
    if (parcels.empty())
      rt::fail(DiagId::NothingSent, {std::to_string(tag)});
    own = std::move(parcels.front());
    parcels.pop_front();
    arrived = own.opening;
  } else {
    carryOn();
    mpi().receiveBytes(&arrived, sizeof arrived, static_cast<int>(from), static_cast<int>(tag + firstTag));
  }
  ++counters().received[from];
  if (std::memcmp(&arrived.header, &expected.header, sizeof arrived.header) != 0)
    rt::fail(DiagId::OtherArrived, {std::to_string(from), typeOf(arrived), typeOf(expected)});
  if (from == rank())
    return own.elements;
  rt::TensorRef out(rt::newTensor(like.dtype, like.shape()));
  mpi().receiveBytes(out->data, bytes, static_cast<int>(from), static_cast<int>(tag + firstTag));
  return out;
}

} // namespace toy::ranks
