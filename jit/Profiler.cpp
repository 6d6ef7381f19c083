// SPDX-License-Identifier: Apache-2.0
/// \file
/// The timer, the log that its handler writes, and what the log says.
#include "jit/Profiler.h"

#include "passes/lowering/CodePlaces.h"
#include "support/CallLimit.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

extern "C" {
int64_t toy_rt_profile_places[toy::mostCalls + 2];
int64_t toy_rt_profile_depth = 0;
}

namespace toy {
namespace {

struct Range {
  uint64_t begin, end;
};

/// What the handler reads and writes; on the thread that is watched, or while that is not in compiled code.
struct Log {
  static constexpr size_t words = 8 << 20; ///< memory that nobody touches costs nothing
  int64_t *data = nullptr;
  size_t used = 0;
  int64_t lost = 0;
  volatile bool isRunning = false;
  std::vector<Range> code; ///< by address
  uint64_t stackEnd = 0;
};
Log log;

/// A record is followed by the places of the calls, the outermost first.
struct Record {
  int64_t count, address, returned, calls;
};
constexpr size_t recordWords = sizeof(Record) / sizeof(int64_t), mostKept = 256;

#if defined(__x86_64__)
uint64_t addressIn(const ucontext_t &c) { return c.uc_mcontext.gregs[REG_RIP]; }
uint64_t stackIn(const ucontext_t &c) { return c.uc_mcontext.gregs[REG_RSP]; }
/// Whether a call stands in front of an address of code.
[[clang::no_sanitize("address")]] bool isBehindCall(uint64_t address) {
  const auto *at = reinterpret_cast<const uint8_t *>(address);
  return at[-5] == 0xE8 || (at[-2] == 0xFF && (at[-1] & 0x38) == 0x10) || (at[-3] == 0xFF && (at[-2] & 0x38) == 0x10) ||
         (at[-6] == 0xFF && (at[-5] & 0x38) == 0x10);
}
#elif defined(__aarch64__)
uint64_t addressIn(const ucontext_t &c) { return c.uc_mcontext.pc; }
uint64_t stackIn(const ucontext_t &c) { return c.uc_mcontext.sp; }
bool isBehindCall(uint64_t) { return true; }
#endif

const Range *codeWith(uint64_t address) {
  auto it = std::upper_bound(log.code.begin(), log.code.end(), address,
                             [](uint64_t a, const Range &r) { return a < r.begin; });
  return it != log.code.begin() && address < std::prev(it)->end ? &*std::prev(it) : nullptr;
}

/// The innermost return address into compiled code, where that has left no place in front of a call: the functions of
/// elements that it calls so are leaves, or nearly. 0: none.
[[clang::no_sanitize("address")]] uint64_t returnIntoCode(uint64_t stack) {
  constexpr uint64_t most = 4096; // bytes of the frames of such functions
  for (uint64_t at = (stack + 7) & ~uint64_t(7), end = std::min(stack + most, log.stackEnd); at + 8 <= end; at += 8) {
    uint64_t word = *reinterpret_cast<const uint64_t *>(at);
    if (const Range *code = codeWith(word); code && word - code->begin >= 6 && isBehindCall(word))
      return word;
  }
  return 0;
}

/// While the thread waits for a processor, signals of the timer are one: that time is not the code's.
void onTimer(int, siginfo_t *, void *context) {
  const int error = errno;
  if (log.isRunning) {
    const ucontext_t &state = *static_cast<const ucontext_t *>(context);
    const uint64_t address = addressIn(state);
    const auto calls = static_cast<size_t>(std::clamp<int64_t>(toy_rt_profile_depth, 0, mostCalls) + 1);
    const size_t kept = std::min(calls, mostKept), head = kept / 2;
    if (log.used + recordWords + kept > Log::words)
      ++log.lost;
    else {
      auto *record = reinterpret_cast<Record *>(log.data + log.used);
      *record = {1, static_cast<int64_t>(address), 0, static_cast<int64_t>(kept)};
      if ((toy_rt_profile_places[calls - 1] & inCode) && !codeWith(address))
        record->returned = static_cast<int64_t>(returnIntoCode(stackIn(state)));
      int64_t *places = log.data + log.used + recordWords;
      for (size_t i = 0; i < kept; ++i) // of very deep calls both ends
        places[i] = toy_rt_profile_places[i < head ? i : calls - kept + i];
      log.used += recordWords + kept;
    }
  }
  errno = error;
}

} // namespace

struct Profiler::Timer {
  timer_t id;
  bool isSet = false;
  struct sigaction before;
};

Profiler::Profiler() : timer(std::make_unique<Timer>()) {
  void *memory =
      mmap(nullptr, Log::words * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return;
  log = {};
  log.data = static_cast<int64_t *>(memory);
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void *lowest;
    size_t size;
    pthread_attr_getstack(&attributes, &lowest, &size);
    log.stackEnd = reinterpret_cast<uint64_t>(lowest) + size;
    pthread_attr_destroy(&attributes);
  }
  struct sigaction action{};
  action.sa_sigaction = onTimer;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaction(SIGPROF, &action, &timer->before);
  struct sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event._sigev_un._tid = gettid();
  const auto nanoseconds = static_cast<long>(interval * 1e9);
  const itimerspec times = {{0, nanoseconds}, {0, nanoseconds}};
  timer->isSet = timer_create(CLOCK_MONOTONIC, &event, &timer->id) == 0;
  if (timer->isSet)
    timer_settime(timer->id, 0, &times, nullptr);
}

Profiler::~Profiler() {
  if (!log.data)
    return;
  log.isRunning = false;
  if (timer->isSet)
    timer_delete(timer->id);
  // What is still under way has a handler.
  struct sigaction ignored{};
  ignored.sa_handler = SIG_IGN; // drops it
  sigaction(SIGPROF, &ignored, nullptr);
  sigaction(SIGPROF, &timer->before, nullptr);
  munmap(log.data, Log::words * 8);
  log = {};
}

Profiler::Running::Running(bool isRunning) : before(log.isRunning) { log.isRunning = isRunning && log.data; }
Profiler::Running::~Running() { log.isRunning = before; }

void Profiler::addCode(std::vector<CodeFunction> functions) {
  const Running stopped(false);
  for (CodeFunction &f : functions) {
    if (!f.lines.empty()) // not the helpers that others call without leaving a place
      log.code.push_back({f.begin, f.end});
    code.push_back(std::move(f));
  }
  std::sort(code.begin(), code.end(), [](auto &a, auto &b) { return a.begin < b.begin; });
  std::sort(log.code.begin(), log.code.end(), [](auto &a, auto &b) { return a.begin < b.begin; });
}

/// That of an instruction, or of the last one before it that has one; 0: the address is not in code that tells.
uint32_t Profiler::lineAt(uint64_t address) const {
  auto f = std::upper_bound(code.begin(), code.end(), address,
                            [](uint64_t a, const CodeFunction &f) { return a < f.begin; });
  if (f == code.begin() || address >= (--f)->end)
    return 0;
  uint32_t line = 0;
  for (const CodeFunction::Line &l : f->lines) {
    if (l.address > address)
      break;
    line = l.line ? l.line : line;
  }
  return line;
}

std::vector<Profiler::Sample> Profiler::samples() const {
  std::map<std::vector<uint32_t>, int64_t> counts;
  for (size_t at = 0; at < log.used;) {
    const auto &record = *reinterpret_cast<const Record *>(log.data + at);
    std::vector<uint32_t> chain(log.data + at + recordWords, log.data + at + recordWords + record.calls);
    uint32_t own = lineAt(record.address);
    if (!own && record.returned)
      own = lineAt(record.returned - 1);
    if (own)
      chain.back() = own;
    std::erase(chain, 0u);
    counts[chain] += record.count;
    at += recordWords + record.calls;
  }
  std::vector<Sample> out;
  for (auto &[chain, count] : counts)
    out.push_back({chain, count});
  return out;
}

int64_t Profiler::lost() const { return log.lost; }

} // namespace toy
