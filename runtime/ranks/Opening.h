// SPDX-License-Identifier: Apache-2.0
/// \file
/// How every collective begins: each rank shows all others in 128 bytes what it is about to do. Who takes part and how
/// many messages there are never depends on the program, so MPI is not misused whatever ranks do, and where they
/// disagree they can still tell each other so.
#pragma once

#include "runtime/ranks/Mpi.h"
#include "runtime/ranks/Ranks.h"
#include "runtime/ranks/Schedules.h"

#include <cstring>
#include <span>

namespace toy::ranks {

/// What ranks do together: the name in the language, and what stands before it in messages.
enum class Collective : uint8_t {
  End,
  Barrier,
  AllReduce,
  ReduceScatter,
  AllGather,
  AllToAll,
  Broadcast,
  Shift,
  Text,
  Write,
  Send,
  Receive,
  Start,
  Check,
  Disagreement ///< somebody does something else
};

/// What one rank is about to do. Those of all ranks are the same where all is well.
struct Header {
  Collective collective;
  Reduction reduction;
  DType dtype;
  uint8_t rank; ///< of the tensor
  uint32_t sequence;
  uint32_t place;
  uint32_t digest; ///< of what has to be equal everywhere: sizes, an axis
};
static_assert(sizeof(Header) == 16);

struct Opening {
  static constexpr int64_t payloadBytes = 112;
  Header header;
  alignas(8) unsigned char payload[payloadBytes];
};
static_assert(sizeof(Opening) == 128);

/// A collective that begins: for the opening, for messages, and for the watch over those who wait.
struct Call {
  Collective collective;
  Place place;
  const rt::Tensor *tensor = nullptr;
  Reduction reduction = Reduction::Sum;
  int64_t detail = 0; ///< has to be equal as well: an axis, a rank
  bool sizesAgree = false;
  int freeAxis = -1;     ///< along which sizes may differ all the same
  std::string said = {}; ///< what `text` gives, where the tensor may be gone

  /// As the language writes it: `all_reduce of f32[1000] at k.toy:3:5`.
  std::string text() const;
};

/// While this lives, the rank is said to wait in a call.
class Waiting {
public:
  explicit Waiting(const Call &call);
  ~Waiting();
  Waiting(const Waiting &) = delete;

private:
  double began = 0;
  Collective collective;
  const Call *outer; ///< that it waits in, too
};

const Mpi &mpi();
/// How long this rank waits before it says an error.
void speakAfter(double seconds);
/// Shows and compares; the openings of all ranks, until the next one. Throws DiagId::RanksDisagree.
std::span<Opening> open(const Call &call, const void *payload = nullptr, int64_t bytes = 0);
/// The most bytes of a sum that come with its opening. Where the number of ranks is a power of two, openings are
/// exchanged in as many steps as such a sum, and go with it, unless a device may be asked to.
int64_t mostSummedInOpening();
/// Shows, compares and sums to `out`, which may be `x`.
void openSum(const Call &call, const Sum &sum, const void *x, void *out, int64_t elements);
/// Says, alike on all ranks and once, that some of them may use devices.
void devicesMayBeUsed();
/// The opening of all ranks' end. Throws DiagId::NotReceived where somebody was sent what he did not receive.
void meetAtEnd(const Call &call);
/// Values that other ranks have sent to this one and it has not received, in words; empty if there are none. All ranks
/// call it, at the end.
std::string notReceived();
/// How many values this rank has sent, less those that it has received.
int64_t sentLessReceived();
/// Bytes of a call, for statistics.
void countBytes(Collective collective, int64_t bytes);
std::string_view nameOf(Collective collective);
/// `0, 2 and 3`.
std::string listOf(const std::vector<int> &numbers);
std::string typeOf(DType dtype, std::span<const int64_t> sizes);

// Of the watch over ranks that wait.
void startWatch(int64_t timeout);
void stopWatch();
void measureTime();
/// Ends all ranks, from any thread; what was said is given time to arrive.
[[noreturn]] void endAll(int status);

/// The same on all machines: of bytes by FNV-1a, of a number in one step.
class Digest {
public:
  void add(const void *data, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
      value = (value ^ static_cast<const unsigned char *>(data)[i]) * 0x100000001b3;
  }
  void add(int64_t n) {
    value = (value ^ static_cast<uint64_t>(n)) * 0x9e3779b97f4a7c15;
    value ^= value >> 32;
  }
  uint64_t get() const { return value; }
  uint32_t half() const { return static_cast<uint32_t>(value * 0x9e3779b97f4a7c15 >> 32); }

private:
  uint64_t value = 0xcbf29ce484222325;
};

} // namespace toy::ranks
