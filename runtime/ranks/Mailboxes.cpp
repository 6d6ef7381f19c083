// SPDX-License-Identifier: Apache-2.0
/// \file
/// Memory for openings: how partners find it, and exchanges.
#include "runtime/ranks/Mailboxes.h"

#include "runtime/ranks/Opening.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace toy::ranks {
namespace {

/// What small sums show is in one line of a cache with the number that says it is there.
struct alignas(64) Letter {
  std::atomic<uint64_t> number;
  char message[mailboxBytes];
};

/// What a rank shows. Letters of a step take turns: one is written again when the partner has shown the next, which it
/// does when it has read this one.
struct Mailboxes {
  uint64_t mark;
  std::array<std::array<Letter, 2>, mostMailboxes> steps;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

/// Where partners find a rank's; the mark tells whether it is that.
struct Address {
  int64_t process = 0, file = -1;
  uint64_t mark = 0;
};

/// One end of a step.
struct Link {
  std::array<Letter, 2> *own = nullptr, *partner = nullptr; ///< null: MPI does it
  uint64_t exchanged = 0;
};
Link links[mostMailboxes];
bool isCrowded = false;

Mailboxes *mapped(int file) {
  void *memory = mmap(nullptr, sizeof(Mailboxes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Mailboxes *>(memory);
}

/// Memory without a name: nothing is left of it whatever happens to the ranks.
Mailboxes *made(Address &address) {
  const char *chosen = std::getenv("TOY_RANKS_MAILBOXES");
  if (chosen && std::string_view(chosen) == "0")
    return nullptr;
  const int file = memfd_create("toy-ranks", MFD_CLOEXEC);
  Mailboxes *own = file >= 0 && ftruncate(file, sizeof(Mailboxes)) == 0 ? mapped(file) : nullptr;
  if (!own) {
    close(file);
    return nullptr;
  }
  std::random_device random;
  own->mark = uint64_t(random()) << 32 | random();
  address = {getpid(), file, own->mark};
  return own;
}

/// A partner's; null where it is on another machine, or cannot be reached.
Mailboxes *found(const Address &address) {
  if (address.file < 0)
    return nullptr;
  const std::string path = fmt::format("/proc/{}/fd/{}", address.process, address.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  const bool fits = file >= 0 && fstat(file, &status) == 0 && status.st_size == sizeof(Mailboxes);
  Mailboxes *partners = fits ? mapped(file) : nullptr;
  close(file);
  if (partners && partners->mark != address.mark) {
    munmap(partners, sizeof(Mailboxes));
    return nullptr;
  }
  return partners;
}

template <typename T> T payloadOf(const Opening &opening) {
  T out;
  std::memcpy(&out, opening.payload, sizeof out);
  return out;
}

/// What comes soon is looked for without a pause. MPI is called now and then, as it goes on with others' messages in
/// its calls alone: by the clock, for where others use the processor it is some milliseconds until this one has it
/// again.
void wait(int turn, int partner) {
  using Clock = std::chrono::steady_clock;
  constexpr int looks = 4096, looksWhenCrowded = 8;
  constexpr std::chrono::microseconds betweenCalls(10);
  static Clock::time_point called;
  if (turn < (isCrowded ? looksWhenCrowded : looks))
    return;
  sched_yield();
  if (const Clock::time_point now = Clock::now(); now > called + betweenCalls) {
    called = now;
    mpi().goOn(partner);
  }
}

} // namespace

void connectMailboxes(const Call &call, bool crowded) {
  if (!std::has_single_bit(static_cast<unsigned>(count())))
    return;
  isCrowded = crowded;
  Address address;
  Mailboxes *own = made(address), *partners[mostMailboxes] = {};
  std::span<const Opening> all = open(call, &address, sizeof address);
  uint64_t reached = 0;
  auto partnerOf = [](int step) { return static_cast<size_t>(rank() ^ 1 << step); };
  for (int step = 0; own && step < mostMailboxes && 1 << step < count(); ++step)
    if ((partners[step] = found(payloadOf<Address>(all[partnerOf(step)]))))
      reached |= uint64_t(1) << step;
  all = open(call, &reached, sizeof reached);
  for (int step = 0; step < mostMailboxes; ++step)
    if (partners[step] && payloadOf<uint64_t>(all[partnerOf(step)]) >> step & 1)
      links[step] = {&own->steps[step], &partners[step]->steps[step]};
  close(static_cast<int>(address.file));
}

bool hasMailbox(int step) { return step < mostMailboxes && links[step].own; }

char *letterTo(int step) { return (*links[step].own)[(links[step].exchanged + 1) % 2].message; }

const char *exchangeLetters(int step) {
  Link &link = links[step];
  const uint64_t number = ++link.exchanged;
  (*link.own)[number % 2].number.store(number, std::memory_order_release);
  const Letter &arriving = (*link.partner)[number % 2];
  for (int turn = 0; arriving.number.load(std::memory_order_acquire) != number; turn += turn < INT32_MAX)
    wait(turn, rank() ^ 1 << step);
  return arriving.message;
}

} // namespace toy::ranks
