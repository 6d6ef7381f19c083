// SPDX-License-Identifier: Apache-2.0
/// \file
/// What one rank sends to another: a header like that of an opening, then the elements.
#include "runtime/ranks/Opening.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

namespace toy::ranks {
namespace {

constexpr int64_t largestTag = 32000, firstTag = 1; // tag 0 is that of collectives; MPI promises 32767

/// What a rank sends to itself.
struct Parcel {
  Opening opening;
  std::vector<char> elements;
};
std::map<int64_t, std::deque<Parcel>> &ownParcels() {
  static std::map<int64_t, std::deque<Parcel>> parcels;
  return parcels;
}

void needRankAndTag(std::string_view name, int64_t number, int64_t tag) {
  if (number < 0 || number >= count())
    rt::fail(DiagId::NoSuchRank, {std::string(name), std::to_string(number), std::to_string(count())});
  if (tag < 0 || tag > largestTag)
    rt::fail(DiagId::OutsideRange,
             {std::string(name), "`tag`", fmt::format("from 0 to {}", largestTag), std::to_string(tag)});
}

int64_t bytesOf(const rt::Tensor &x) { return x.count() * sizeOf(x.dtype); }

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

} // namespace

void send(Place place, const rt::Tensor &x, int64_t to, int64_t tag) {
  needRankAndTag("send", to, tag);
  Opening opening = openingOf(x);
  const int64_t bytes = bytesOf(x);
  countBytes(Collective::Send, bytes);
  if (to == rank()) {
    ownParcels()[tag].push_back({opening, {x.as<char>(), x.as<char>() + bytes}});
    return;
  }
  Call call{Collective::Send, place, &x};
  Waiting waiting(call);
  mpi().sendBytes(&opening, sizeof opening, static_cast<int>(to), static_cast<int>(tag + firstTag));
  mpi().sendBytes(x.data, bytes, static_cast<int>(to), static_cast<int>(tag + firstTag));
}

rt::TensorRef receive(Place place, const rt::Tensor &like, int64_t from, int64_t tag) {
  needRankAndTag("recv", from, tag);
  Opening expected = openingOf(like), arrived;
  rt::TensorRef out(rt::newTensor(like.dtype, like.shape()));
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
  } else
    mpi().receiveBytes(&arrived, sizeof arrived, static_cast<int>(from), static_cast<int>(tag + firstTag));
  if (std::memcmp(&arrived.header, &expected.header, sizeof arrived.header) != 0)
    rt::fail(DiagId::OtherArrived, {std::to_string(from), typeOf(arrived), typeOf(expected)});
  if (from != rank())
    mpi().receiveBytes(out->data, bytes, static_cast<int>(from), static_cast<int>(tag + firstTag));
  else if (bytes)
    std::memcpy(out->data, own.elements.data(), bytes);
  return out;
}

} // namespace toy::ranks
