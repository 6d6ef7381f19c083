// SPDX-License-Identifier: Apache-2.0
/// \file
/// sigsetjmp around bodies. What the abandoned frames owned is leaked, and a lock they held stays held: so the heap is
/// tried, with a time limit, before anything goes on.
#include "runtime/Guard.h"

#include "runtime/Memory.h"
#include "runtime/Output.h"
#include "runtime/Progress.h"
#include "support/Sanitizers.h"

#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <sys/time.h>
#include <unistd.h>

namespace toy::rt {
namespace {

struct Armed {
  sigjmp_buf jump;
  Armed *outer;
};
thread_local Armed *innermost = nullptr;
thread_local char lastReason[400];
thread_local const void *lastAddress = nullptr;
volatile sig_atomic_t tryingHeap = 0;

void complain(const char *text) { [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text)); }

[[noreturn]] void endProgram(const char *reason, const char *note) {
  writeOutNow();
  for (const char *part : {"error[X0002]: fault: ", reason, "\n", note})
    complain(part);
  _exit(70);
}

const char *nameOfSignal(int number) {
  switch (number) {
  case SIGSEGV:
    return "invalid memory access";
  case SIGBUS:
    return "bus error";
  case SIGFPE:
    return "arithmetic fault";
  case SIGILL:
    return "illegal instruction";
  default:
    return "abort";
  }
}

void onFault(int number, siginfo_t *info, void *) {
  lastAddress = number == SIGSEGV || number == SIGBUS ? info->si_addr : nullptr;
  abandon(nameOfSignal(number));
}

constexpr char lostHeap[] = "note: the fault left the memory of the session unusable; the session ends\n";

/// Blocks that the main thread has allocated before anything else: to give one up takes the lock of its arena, which
/// other threads' blocks do not. One is given up at each fault.
struct BlocksOfMainThread {
  void *blocks[16];
  int left = std::size(blocks);
  BlocksOfMainThread() {
    for (void *&block : blocks)
      block = std::malloc(4000); // too large for a thread's own cache
  }
};
BlocksOfMainThread ofMainThread;

/// Blocks of all ways of allocating. A fault inside of the allocator holds its lock for ever, or leaves its lists
/// broken: then this is the end.
void tryHeap() {
  struct sigaction action{}, before{};
  action.sa_handler = [](int) { endProgram(lastReason, lostHeap); };
  sigaction(SIGALRM, &action, &before);
  itimerval limit{{0, 0}, {1, 0}}, none{};
  setitimer(ITIMER_REAL, &limit, nullptr);
  tryingHeap = 1;
  for (size_t bytes : {16, 200, 1500, 5000, 60000, 120000, 1 << 20})
    if (void *volatile block = std::malloc(bytes))
      std::free(block);
  if (ofMainThread.left > 0)
    std::free(ofMainThread.blocks[--ofMainThread.left]);
  try {
    for (int64_t count : {1, 1000, 100000})
      TensorRef(newTensor(DType::U8, {&count, 1}));
  } catch (Error &) { // the limit, which is in order
  }
  tryingHeap = 0;
  setitimer(ITIMER_REAL, &none, nullptr);
  sigaction(SIGALRM, &before, nullptr);
}

} // namespace

void installFaultHandlers() {
#if !TOY_ADDRESS_SANITIZER // which reports faults itself, and owns the stack for it
  static char stack[1 << 16];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action{};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_ONSTACK | SA_NODEFER | SA_SIGINFO;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    sigaction(number, &action, nullptr);
#endif
}

void abandon(const char *reason) {
  if (tryingHeap)
    endProgram(lastReason, lostHeap);
  size_t length = strnlen(reason, sizeof lastReason - 1);
  std::memmove(lastReason, reason, length);
  lastReason[length] = '\0';
  if (!innermost)
    endProgram(lastReason, "");
  Armed &armed = *innermost;
  innermost = armed.outer;
  siglongjmp(armed.jump, 1);
}

const void *faultAddress() { return lastAddress; }

Error currentError() {
  try {
    throw;
  } catch (Error &error) {
    return error;
  } catch (std::bad_alloc &) {
    return {DiagId::OutOfMemory, {"more memory", "a value", "the system has none left"}};
  } catch (std::exception &error) {
    return {DiagId::Internal, {error.what()}};
  } catch (...) {
    return {DiagId::Internal, {"an exception without a text"}};
  }
}

std::optional<Error> guarded(const std::function<void()> &body) {
  Armed armed;
  armed.outer = innermost;
  const int running = activities();
  if (sigsetjmp(armed.jump, 1)) {
    unlockOutput();
    dropActivities(running);
    tryHeap();
    return Error{DiagId::Fault, {lastReason}};
  }
  innermost = &armed;
  std::optional<Error> error;
  try {
    body();
  } catch (...) {
    error = currentError();
  }
  innermost = armed.outer;
  return error;
}

} // namespace toy::rt
