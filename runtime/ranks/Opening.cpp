// SPDX-License-Identifier: Apache-2.0
/// \file
/// Openings, what ranks tell each other when theirs differ, and the watch over those who wait.
#include "runtime/ranks/Opening.h"

#include "runtime/Output.h"
#include "runtime/ranks/Mailboxes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

namespace toy::ranks {
namespace {

constexpr std::string_view names[] = {"the end",    "barrier",   "all_reduce", "reduce_scatter", "all_gather",
                                      "all_to_all", "broadcast", "shift",      "read_line",      "save",
                                      "send",       "recv",      "the start",  "check",          "another"};
constexpr std::string_view reductions[] = {"sum", "prod", "min", "max", "mean", "any", "all"};

double secondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Loops come back to the same place.
uint32_t digestOf(Place place) {
  static std::string lastFile;
  static unsigned lastLine = 0, lastColumn = 0;
  static uint32_t lastDigest = 0;
  if (place.line && place.line == lastLine && place.column == lastColumn && place.file == lastFile)
    return lastDigest;
  size_t slash = place.file.rfind('/');
  std::string_view name = slash == std::string_view::npos ? place.file : place.file.substr(slash + 1);
  Digest digest;
  digest.add(name.data(), name.size());
  digest.add(static_cast<int64_t>(place.line) << 32 | place.column);
  lastFile = place.file;
  lastLine = place.line;
  lastColumn = place.column;
  return lastDigest = digest.half();
}

Header headerOf(const Call &call) {
  static uint32_t sequence = 0;
  Digest digest;
  digest.add(call.detail);
  if (call.tensor && call.sizesAgree)
    for (int axis = 0; axis < call.tensor->rank; ++axis)
      digest.add(axis == call.freeAxis ? -1 : call.tensor->sizes[axis]);
  return {call.collective,
          call.reduction,
          call.tensor ? call.tensor->dtype : DType::Bool,
          call.tensor ? call.tensor->rank : uint8_t(0),
          sequence++,
          digestOf(call.place),
          digest.half()};
}

constexpr size_t detailBytes = 512;
using Detail = std::array<char, detailBytes>;

/// Who does what, in the order of ranks; those who do the same together.
std::string whoDoesWhat(const std::vector<Detail> &details) {
  std::string out;
  std::vector<bool> said(details.size());
  for (size_t i = 0; i < details.size(); ++i) {
    if (said[i])
      continue;
    std::vector<int> alike;
    for (size_t j = i; j < details.size(); ++j)
      if (details[j] == details[i]) {
        alike.push_back(static_cast<int>(j));
        said[j] = true;
      }
    bool ended = std::string_view(details[i].data()).empty();
    out += (out.empty() ? "" : "; ") + listOf(alike) +
           (ended ? std::string(alike.size() > 1 ? " have ended" : " has ended")
                  : (alike.size() > 1 ? " call " : " calls ") + std::string(details[i].data()));
  }
  return out;
}

} // namespace

std::string listOf(const std::vector<int> &numbers) {
  std::string out;
  for (size_t i = 0; i < numbers.size(); ++i)
    out += (i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ") + std::to_string(numbers[i]);
  return out;
}

/// A text of each rank, which all are here to show. The lowest one that has something to say will speak.
static std::vector<Detail> tellEachOther(const std::string &text) {
  constexpr double others = 2.5;
  std::vector<Detail> details(count());
  Detail own{};
  text.copy(own.data(), detailBytes - 1);
  mpi().check(
      mpi().allgather(own.data(), detailBytes, mpi().byte, details.data(), detailBytes, mpi().byte, mpi().world));
  int speaker = 0;
  while (speaker + 1 < count() && details[speaker][0] == '\0')
    ++speaker;
  speakAfter(speaker == rank() ? 0 : others);
  return details;
}

/// All ranks are here, because none goes on without the others. One that is at its end has no place to show.
[[noreturn]] static void explain(const Call &call) {
  std::string text = call.collective == Collective::End ? "" : call.text();
  rt::fail(DiagId::RanksDisagree, {whoDoesWhat(tellEachOther(text))});
}

void meetAtEnd(const Call &call) {
  const int64_t own = sentLessReceived();
  int64_t left = 0;
  for (const Opening &other : open(call, &own, sizeof own)) {
    int64_t n;
    std::memcpy(&n, other.payload, sizeof n);
    left += n;
  }
  if (left == 0)
    return;
  std::string all;
  for (const Detail &detail : tellEachOther(notReceived()))
    if (detail[0] != '\0')
      all += (all.empty() ? "" : ", ") + std::string(detail.data());
  rt::fail(DiagId::NotReceived, {all});
}

std::string Call::text() const {
  if (!said.empty())
    return said;
  std::string out(nameOf(collective));
  if (tensor)
    out += " of " + typeOf(tensor->dtype, tensor->shape());
  if (collective == Collective::AllReduce || collective == Collective::ReduceScatter)
    out += fmt::format(" ({})", reductions[static_cast<size_t>(reduction)]);
  if (collective == Collective::Broadcast)
    out += fmt::format(" from {}", detail);
  if (!place.file.empty())
    out += fmt::format(" at {}:{}:{}", place.file, place.line, place.column);
  return out;
}

std::string typeOf(DType dtype, std::span<const int64_t> sizes) {
  std::string out;
  for (int64_t size : sizes)
    out += (out.empty() ? "" : ", ") + std::to_string(size);
  return std::string(toy::nameOf(dtype)) + (sizes.empty() ? "" : "[" + out + "]");
}

std::string_view nameOf(Collective collective) { return names[static_cast<size_t>(collective)]; }

Reduction reductionNamed(std::string_view name) {
  size_t i = 0;
  while (reductions[i] != name)
    ++i;
  return static_cast<Reduction>(i);
}

namespace {

constexpr int64_t mostSummed = 4 << 10; // bytes
bool maySumInOpening = true;

bool isPowerOfTwo() {
  static const bool is = std::has_single_bit(static_cast<unsigned>(count()));
  return is;
}

/// The steps of an opening among a power of two of ranks: at each of them partners show each other what they know from
/// twice as many ranks, in as many bytes as it takes, of which the first are a header. Where somebody has seen another
/// one, all hear of it by the end.
class Exchange {
public:
  explicit Exchange(const Header &own) : own(own) {}

  /// Where the message of a step is written, which begins with the header.
  char *room(int step) {
    if (hasMailbox(step))
      return letterTo(step);
    static std::vector<char> memory(mostBytes());
    return memory.data();
  }
  /// What the partner sends, behind its header; null where that is another one, or was before.
  const char *at(int step, int64_t bytes) {
    static const Header other = {Collective::Disagreement, {}, {}, 0, 0, 0, 0};
    if (!agrees)
      std::memcpy(room(step), &other, bytes = sizeof other);
    const char *arrived = hasMailbox(step) ? exchangeLetters(step) : byMpi(step, bytes);
    agrees = agrees && std::memcmp(arrived, &own, sizeof own) == 0;
    return agrees ? arrived : nullptr;
  }
  bool agrees = true;

private:
  static int64_t mostBytes() { return std::max<int64_t>(sizeof(Opening) * count() / 2, sizeof(Header) + mostSummed); }
  const char *byMpi(int step, int64_t bytes) {
    static std::vector<char> memory(mostBytes());
    mpi().exchangeUpTo(room(step), bytes, memory.data(), mostBytes(), rank() ^ 1 << step);
    return memory.data();
  }
  const Header &own;
};
static_assert(sizeof(Opening) << (mostMailboxes - 1) <= mailboxBytes && sizeof(Header) + mostSummed <= mailboxBytes);

bool gatherInSteps(std::vector<Opening> &all, const Opening &own) {
  Exchange exchange(own.header);
  all[rank()] = own;
  for (int step = 0; 1 << step < count(); ++step) {
    const int distance = 1 << step, known = rank() & ~(distance - 1); // the first of those whose openings are here
    const auto bytes = static_cast<int64_t>(distance * sizeof own);
    std::memcpy(exchange.room(step), &all[known], bytes);
    if (const char *others = exchange.at(step, bytes))
      std::memcpy(static_cast<void *>(&all[known ^ distance]), others, bytes);
  }
  return exchange.agrees;
}

} // namespace

std::span<Opening> open(const Call &call, const void *payload, int64_t bytes) {
  static std::vector<Opening> all(count());
  static Opening own;
  carryOn();
  own.header = headerOf(call);
  if (bytes)
    std::memcpy(own.payload, payload, bytes);
  if (isPowerOfTwo()) {
    if (!gatherInSteps(all, own))
      explain(call);
    return all;
  }
  mpi().check(mpi().allgather(&own, sizeof own, mpi().byte, all.data(), sizeof own, mpi().byte, mpi().world));
  for (const Opening &other : all)
    if (std::memcmp(&other.header, &own.header, sizeof own.header) != 0)
      explain(call);
  return all;
}

void devicesMayBeUsed() { maySumInOpening = false; }

int64_t mostSummedInOpening() {
  static const bool isForced = std::getenv("TOY_RANKS_SCHEDULE") != nullptr;
  return isPowerOfTwo() && maySumInOpening && !isForced ? mostSummed : Opening::payloadBytes;
}

void openSum(const Call &call, const Sum &sum, const void *x, void *out, int64_t elements) {
  const int64_t bytes = elements * sum.width;
  if (!isPowerOfTwo()) {
    static std::vector<char *> parts(count());
    std::span<Opening> all = open(call, x, bytes);
    for (size_t r = 0; r < all.size(); ++r)
      parts[r] = reinterpret_cast<char *>(all[r].payload);
    sumParts(sum, parts, elements);
    if (bytes)
      std::memcpy(out, parts[0], bytes);
    return;
  }
  carryOn();
  const Header own = headerOf(call);
  Exchange exchange(own);
  for (int step = 0; 1 << step < count(); ++step) {
    char *message = exchange.room(step);
    std::memcpy(message, &own, sizeof own);
    if (bytes)
      std::memcpy(message + sizeof own, x, bytes);
    const char *others = exchange.at(step, static_cast<int64_t>(sizeof own) + bytes);
    if (!others)
      continue;
    const char *arrived = others + sizeof own;
    const bool isLower = (rank() & 1 << step) == 0;
    sum.combine(out, isLower ? x : arrived, isLower ? arrived : x, elements);
    x = out;
  }
  if (!exchange.agrees)
    explain(call);
}

// --- who waits

namespace {

std::atomic<const Call *> waitsIn = nullptr;
std::atomic<uint64_t> waits = 0; ///< grows with each
std::atomic<bool> ends = false, isLooking = false;
bool isTimed = false;
Statistics counters[std::size(names)];

void say(const std::string &text) { [[maybe_unused]] ssize_t n = ::write(STDERR_FILENO, text.data(), text.size()); }

/// The lowest rank that waits speaks, which ends all; others give it the time.
[[noreturn]] void endByTimeout(int64_t timeout, const std::string &where) {
  rt::writeOutFromOtherThread();
  usleep(250000 * std::min(rank(), 4));
  say(fmt::format("error[{}]: {}\n", infoOf(DiagId::RankTimeout).code,
                  formatDiagnostic(DiagId::RankTimeout, {std::to_string(timeout), std::to_string(rank()), where})));
  endAll(1);
}

/// What a call that is still waited in says of itself; it does not end meanwhile.
std::string textOf(const Call *call, uint64_t known) {
  isLooking = true;
  std::string text = waitsIn == call && waits == known ? call->text() : "";
  isLooking = false;
  return text;
}

/// Looks now and then whether the rank still waits for the same; so who does not wait pays nothing.
void *watch(void *argument) {
  const auto timeout = static_cast<int64_t>(reinterpret_cast<intptr_t>(argument));
  constexpr double noteAfter = 10;
  uint64_t known = 0;
  double since = 0;
  bool noted = false;
  while (!ends) {
    usleep(50000);
    uint64_t now = waits;
    const Call *call = waitsIn;
    if (!call || now != known) {
      known = now;
      since = secondsNow();
      noted = false;
      continue;
    }
    double waited = secondsNow() - since;
    bool isLate = timeout > 0 && waited > static_cast<double>(timeout);
    if (!isLate && (noted || waited < noteAfter))
      continue;
    std::string where = textOf(call, known);
    if (where.empty())
      continue;
    if (isLate)
      endByTimeout(timeout, where);
    noted = true;
    say(fmt::format("note: rank {} has waited for {} s in {}\n", rank(), static_cast<int>(noteAfter), where));
  }
  return nullptr;
}

} // namespace

void startWatch(int64_t timeout) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, watch, reinterpret_cast<void *>(static_cast<intptr_t>(timeout))) == 0)
    pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}
void stopWatch() { ends = true; }
void measureTime() { isTimed = true; }

Waiting::Waiting(const Call &call)
    : began(isTimed ? secondsNow() : 0), collective(call.collective), outer(waitsIn.load(std::memory_order_relaxed)) {
  waits.store(waits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); // this thread alone counts
  waitsIn.store(&call, std::memory_order_release);
}
Waiting::~Waiting() {
  waitsIn = outer;
  while (isLooking)
    usleep(100);
  if (isTimed)
    counters[static_cast<size_t>(collective)].seconds += secondsNow() - began;
}

void countBytes(Collective collective, int64_t bytes) {
  Statistics &row = counters[static_cast<size_t>(collective)];
  row.name = nameOf(collective);
  ++row.count;
  row.bytes += bytes;
}

std::vector<Statistics> statistics() {
  std::vector<Statistics> out;
  for (const Statistics &row : counters)
    if (row.count > 0)
      out.push_back(row);
  return out;
}

} // namespace toy::ranks
